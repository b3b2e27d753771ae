# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a selected profile (spec/engine.md section 6): what it owns is in the bundle as it is in the recipe."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from conftest import JudgedOf, RecipeOf

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import RecipeResult, SelectedProfile
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import read_scheduling
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

OWNED = {"gpu-operator": ("driver.enabled", "enabled", "toolkit.enabled")}
ADVERTISES = {"gpu-operator": ("devicePlugin.enabled", "enabled")}


def with_profile(
    recipe: RecipeResult, owned: dict[str, tuple[str, ...]], advertiser: str | None = None
) -> RecipeResult:
    """The recipe with a profile that owns these paths, and sets each that is not there to true."""
    assert recipe.metadata is not None
    ref = recipe.component("gpu-operator")
    assert ref is not None
    overrides: dict[str, Any] = json.loads(json.dumps(ref.overrides or {}))
    for path in owned.get("gpu-operator", ()):
        if path != "enabled":
            section, key = path.split(".")
            overrides.setdefault(section, {}).setdefault(key, True)
    profile = SelectedProfile("gpuStack", "mine", owned, advertiser)
    return dataclasses.replace(
        recipe.with_component(dataclasses.replace(ref, overrides=overrides)),
        metadata=dataclasses.replace(recipe.metadata, selected_profile=profile),
    )


def refused(judged: JudgedOf, recipe: RecipeResult, **options: Any) -> str:
    with pytest.raises(AicrError) as caught:
        judged(recipe, **options)
    return str(caught.value.to_result())


@pytest.fixture
def locked(recipe_of: RecipeOf) -> RecipeResult:
    return with_profile(recipe_of("inference"), OWNED)


def test_a_profile_is_bundled_as_it_is(judged: JudgedOf, locked: RecipeResult) -> None:
    driver = judged(locked).values["gpu-operator"]["driver"]
    assert isinstance(driver, dict)
    assert driver["enabled"] is True


@pytest.mark.parametrize("same", [
    {"set": ["gpuoperator:driver.enabled=true"]},
    {"set_json": ['gpu-operator:driver={"enabled": true, "x": 1}']},
    {"values": {"gpuoperator": {"driver": {"enabled": True}}}},
    {"set_json": ['gpu-operator:driver={"x": 1}']},
    {"dynamic": ["gpuoperator:driver.version"]},
])  # fmt: skip
def test_an_override_that_says_the_same_or_something_else_beside_it_passes(
    judged: JudgedOf, locked: RecipeResult, same: dict[str, Any]
) -> None:
    assert judged(locked, **same).values["gpu-operator"]["driver"]["enabled"] is True  # type: ignore[index]


@pytest.mark.parametrize("other", [
    {"set": ["gpuoperator:driver.enabled=false"]},
    {"set_json": ['gpu-operator:driver={"enabled": "true"}']},
    {"set_json": ['gpu-operator:driver={"enabled": null}']},
    {"set_json": ['gpu-operator:driver=[]']},
    {"values": {"gpuoperator": {"driver": {"enabled": False}}}},
])  # fmt: skip
def test_an_override_that_says_something_else_is_refused_with_path_profile_and_cause(
    judged: JudgedOf, locked: RecipeResult, other: dict[str, Any]
) -> None:
    said = refused(judged, locked, **other)
    assert "gpu-operator:driver.enabled" in said
    assert "profile gpuStack=mine" in said
    assert next(iter(other)) in said


@pytest.mark.parametrize("path", ["driver.enabled", "driver"])
def test_an_owned_path_is_not_left_open(judged: JudgedOf, locked: RecipeResult, path: str) -> None:
    said = refused(judged, locked, dynamic=[f"gpuoperator:{path}"])
    assert "gpu-operator:driver.enabled" in said


def test_a_component_of_the_profile_stays_in_the_bundle(judged: JudgedOf, locked: RecipeResult) -> None:
    assert "gpu-operator" in refused(judged, locked, set=["gpuoperator:enabled=false"])
    assert "gpu-operator" in refused(judged, locked, components=["nfd"])


def test_who_hands_out_gpus_is_locked_where_it_is_the_profiles_matter(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe, other = recipe_of("inference"), ["dradriver:gpuResourcesEnabledOverride=true"]
    judged(with_profile(recipe, OWNED), set=other)
    for decides in (with_profile(recipe, OWNED, "external"), with_profile(recipe, ADVERTISES)):
        said = refused(judged, decides, set=other)
        assert "nvidia-dra-driver-gpu:gpuResourcesEnabledOverride" in said
        assert "nvidia-dra-driver-gpu" in refused(judged, decides, set=["dradriver:enabled=false"])


def test_scheduling_reaches_no_owned_path(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = with_profile(recipe_of("inference"), {"gpu-operator": ("enabled", "operator.nodeSelector")})
    said = refused(judged, recipe, scheduling=read_scheduling({"system_node_selector": {"a": "b"}}))
    assert "gpu-operator:operator.nodeSelector" in said
