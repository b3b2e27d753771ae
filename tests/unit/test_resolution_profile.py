# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration profiles (spec/engine.md section 6, ADR-015): declared once, chosen by name, verified by a snapshot."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from layered import layered, overlay

from ansible_collections.aicr.runtime.plugins.plugin_utils.admission import admit_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    RecipeResult,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import Snapshot, snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve, resolve_overlay

RKE2 = Criteria("rke2")
SLURM = Criteria("eks", "h100", "training", "ubuntu", "slurm")
POOLS = "K8s.aks-gpu-pools.gpu-driver"
ACCEPTED = 3
"""Values of the profile that these tests resolve; fewer would mean that nothing was looked at."""


def ref(name: str, **overrides: Any) -> dict[str, Any]:
    return {"name": name, "overrides": overrides}


def profile(**values: Any) -> dict[str, Any]:
    return {"name": "gpuStack", "default": next(iter(values)), "values": values}


PLATFORM = {
    "advertiser": "external",
    "componentRefs": [ref("gpu-operator", driver={"enabled": False}, toolkit={"enabled": False})],
    "constraints": [{"name": POOLS, "value": "Install", "remediation": "ask the platform team"}],
}
OPERATOR = {
    "componentRefs": [ref("gpu-operator", driver={"enabled": True}, toolkit={"enabled": True})],
    "constraints": [{"name": POOLS, "value": "None"}],
}
GPU_STACK = profile(platform=PLATFORM, operator=OPERATOR)


def rke2(**spec: Any) -> dict[str, Any]:
    return overlay("rke2", **{"criteria": {"service": "rke2"}, "profile": GPU_STACK, **spec})


def chosen(catalog: Catalog, selection: str | None = None, **options: Any) -> RecipeResult:
    return resolve(catalog, options.pop("criteria", RKE2), profile=selection, **options).recipe


def refused(catalog: Catalog, selection: str | None = None, **options: Any) -> AicrError:
    with pytest.raises(AicrError) as caught:
        chosen(catalog, selection, **options)
    return caught.value


def snapshot(driver: str | None = None, version: str = "v1.34.1") -> Snapshot:
    subtypes = [{"subtype": "server", "data": {"version": version}}]
    if driver is not None:
        subtypes.append({"subtype": "aks-gpu-pools", "data": {"gpu-driver": driver}})
    document = {
        "kind": "Snapshot", "apiVersion": "aicr.run/v1alpha2", "measurements": [{"type": "K8s", "subtypes": subtypes}],
    }  # fmt: skip
    return snapshot_from_document(document, "snapshot.yaml")[0]


def overrides(recipe: RecipeResult, name: str = "gpu-operator") -> Any:
    found = recipe.component(name)
    assert found is not None
    return found.overrides


def test_a_value_is_recorded_with_what_it_owns_and_sets(tmp_path: Path) -> None:
    catalog = layered(tmp_path, rke2())
    seen = set()
    for selection, value, enabled, advertiser in [
        (None, "platform", False, "external"),
        ("gpuStack=platform", "platform", False, "external"),
        ("gpuStack=operator", "operator", True, None),
    ]:
        recipe = chosen(catalog, selection)
        assert recipe.metadata is not None
        assert recipe.metadata.selected_profile is not None
        document = recipe_to_document(recipe)["metadata"]["selectedProfile"]
        owned = ["driver.enabled", "enabled", "toolkit.enabled"]
        expected = {"name": "gpuStack", "value": value, "ownedPaths": {"gpu-operator": owned}}
        assert document == expected | ({"advertiser": advertiser} if advertiser else {})
        assert overrides(recipe)["driver"]["enabled"] is enabled
        assert recipe.api_version == "aicr.run/v1alpha3"
        assert POOLS in [constraint.name for constraint in recipe.constraints or ()]
        admitted = admit_recipe(recipe_to_document(recipe), catalog, "recipe.yaml")
        assert admitted.recipe == recipe
        seen.add(selection)
    assert len(seen) == ACCEPTED


def test_the_default_named_and_unnamed_is_one_recipe(tmp_path: Path) -> None:
    catalog = layered(tmp_path, rke2())
    assert chosen(catalog) == chosen(catalog, "gpuStack=platform")


@pytest.mark.parametrize("selection", [
    "gpuStack", "=", "gpuStack=", "=platform", "gpuStack= platform", "gpuStack=a=b", "gpu/Stack=platform", " ",
])  # fmt: skip
def test_a_selection_is_name_and_value(tmp_path: Path, selection: str) -> None:
    assert f'"{selection}"' in refused(layered(tmp_path, rke2()), selection).message


@pytest.mark.parametrize("selection", ["gpustack=platform", "gpuStack=Platform", "gpuStack=none"])
def test_a_selection_that_is_not_declared_is_refused_with_the_valid_ones(tmp_path: Path, selection: str) -> None:
    error = refused(layered(tmp_path, rke2()), selection)
    assert f'"{selection}"' in error.message
    assert "gpuStack=operator, gpuStack=platform" in error.hint


def test_a_selection_where_no_overlay_declares_a_profile_is_refused(tmp_path: Path) -> None:
    error = refused(layered(tmp_path, rke2()), "gpuStack=platform", criteria=Criteria("eks"))
    assert "gpuStack=platform" in error.message


def test_two_declarations_make_no_recipe_and_both_are_named(tmp_path: Path) -> None:
    other = overlay("rke2-too", criteria={"service": "rke2", "intent": "training"}, profile=GPU_STACK)
    error = refused(layered(tmp_path, rke2(), other), criteria=Criteria("rke2", intent="training"))
    assert '"rke2"' in error.message
    assert '"rke2-too"' in error.message


def test_two_declarations_on_one_chain_do_not_load(tmp_path: Path) -> None:
    child = overlay("child", base="rke2", criteria={"service": "rke2", "intent": "training"}, profile=GPU_STACK)
    with pytest.raises(AicrError, match=r'child\.yaml:\d+: spec\.profile.*"rke2"'):
        layered(tmp_path, rke2(), child)


def test_a_component_that_any_value_names_must_run(tmp_path: Path) -> None:
    off = [{"name": "gpu-operator", "overrides": {"enabled": False}}]
    error = refused(layered(tmp_path, rke2(componentRefs=off)))
    assert 'component "gpu-operator", which is disabled' in error.message


@pytest.mark.parametrize(("selection", "driver"), [("gpuStack=platform", "Install"), ("gpuStack=operator", "None")])
def test_a_snapshot_verifies_and_never_chooses(tmp_path: Path, selection: str, driver: str) -> None:
    catalog = layered(tmp_path, rke2())
    assert chosen(catalog, selection, snapshot=snapshot(driver)).metadata
    wrong = refused(catalog, selection, snapshot=snapshot("Mixed"))
    assert all(word in wrong.message for word in (selection, POOLS, f'"{driver}"', '"Mixed"'))
    missing = refused(catalog, selection, snapshot=snapshot())
    assert missing.code is Code.INVALID_REQUEST
    assert all(word in missing.message for word in (selection, POOLS, "unavailable"))


def test_the_way_out_of_a_mismatch_is_the_catalogs(tmp_path: Path) -> None:
    catalog = layered(tmp_path, rke2())
    assert refused(catalog, snapshot=snapshot("None")).hint == "ask the platform team"
    assert "gpuStack=platform" in refused(catalog, "gpuStack=operator", snapshot=snapshot("Install")).hint


def test_a_profile_is_not_forgotten_when_a_snapshot_rules_its_overlay_out(tmp_path: Path) -> None:
    declaring = rke2(
        criteria={"service": "rke2", "intent": "training"},
        constraints=[{"name": "K8s.server.version", "value": ">= 1.40"}],
    )
    plain = [
        overlay("any-rke2", criteria={"service": "rke2"}),
        overlay("any-training", criteria={"intent": "training"}),
    ]
    catalog = layered(tmp_path, declaring, *plain)
    error = refused(catalog, criteria=Criteria("rke2", intent="training"), snapshot=snapshot("Install"))
    assert "gpuStack" in error.message
    assert '"rke2"' in error.message


def test_a_profile_narrows_a_constraint_and_does_not_widen_it(tmp_path: Path) -> None:
    def version(text: str) -> dict[str, Any]:
        value = {"componentRefs": [ref("gpu-operator", x=1)],
                 "constraints": [{"name": "K8s.server.version", "value": text}]}  # fmt: skip
        return rke2(profile=profile(a=value), constraints=[{"name": "K8s.server.version", "value": ">= 1.32"}])

    def value_of(recipe: RecipeResult) -> str:
        return next(one.value for one in recipe.constraints or () if one.name == "K8s.server.version")

    assert value_of(chosen(layered(tmp_path / "a", version(">= 1.34")))) == ">= 1.34"
    assert value_of(chosen(layered(tmp_path / "b", version(">= 1.28")))) == ">= 1.32"
    assert "K8s.server.version" in refused(layered(tmp_path / "c", version("< 1.40"))).message


def test_readiness_constraints_go_to_their_phase_and_collide_by_name(tmp_path: Path) -> None:
    wanted = [{"name": "OS.release.ID", "value": "ubuntu"}]
    declared = profile(a={"componentRefs": [ref("gpu-operator", x=1)], "readinessConstraints": wanted})
    recipe = chosen(layered(tmp_path / "a", rke2(profile=declared)))
    assert recipe.validation is not None
    assert recipe.validation.readiness is not None
    assert [one.name for one in recipe.validation.readiness.constraints or ()] == ["OS.release.ID"]
    clash = rke2(profile=declared, validation={"readiness": {"constraints": wanted}})
    assert "OS.release.ID" in refused(layered(tmp_path / "b", clash)).message


def test_an_observed_driver_leaves_what_the_profile_owns(tmp_path: Path) -> None:
    document = {"kind": "Snapshot", "apiVersion": "aicr.run/v1alpha2", "measurements": [
        {"type": "K8s", "subtypes": [{"subtype": "aks-gpu-pools", "data": {"gpu-driver": "None"}}]},
        {"type": "GPU", "subtypes": [{"subtype": "hardware", "data": {"gpu-present": True, "driver-loaded": True}}]},
    ]}  # fmt: skip
    taken = snapshot_from_document(document, "snapshot.yaml")[0]
    recipe = chosen(layered(tmp_path, rke2()), "gpuStack=operator", snapshot=taken)
    assert overrides(recipe)["driver"]["enabled"] is True


@pytest.mark.parametrize("mode", AccountingMode)
def test_profile_and_accounting_live_side_by_side_where_they_own_different_paths(
    tmp_path: Path, mode: AccountingMode
) -> None:
    leaf = "h100-eks-ubuntu-training-slurm"
    beside = overlay("beside", base=leaf, criteria=SLURM.stated(), profile=profile(
        platform={k: PLATFORM[k] for k in ("advertiser", "componentRefs")},
        operator={"componentRefs": OPERATOR["componentRefs"]},
    ))  # fmt: skip
    recipe = chosen(layered(tmp_path / "a", beside), "gpuStack=operator", criteria=SLURM, accounting_mode=mode)
    assert recipe.accounting_mode is mode
    assert recipe.metadata is not None
    assert recipe.metadata.selected_profile is not None
    clashing = profile(a={"componentRefs": [ref("slinky-slurm", accounting={"enabled": True})]})
    error = refused(
        layered(tmp_path / "b", overlay("clash", base=leaf, criteria=SLURM.stated(), profile=clashing)),
        criteria=SLURM, accounting_mode=mode,
    )  # fmt: skip
    assert all(word in error.message for word in ("slinky-slurm:accounting", "gpuStack=a", f"mode={mode.value}"))


@pytest.mark.parametrize(("values", "words"), [
    ({"a": {"componentRefs": [ref("gpu-operator", x={"y": 1})]}, "b": {"componentRefs": [ref("gpu-operator", x={})]}},
     "empty mapping"),
    ({"a": {"componentRefs": [ref("gpu-operator", x=1)]}, "b": {"componentRefs": [ref("gpu-operator", y=1)]}},
     "gpu-operator:y"),
    ({"a": {"componentRefs": [ref("gpu-operator", x=1)]}, "b": {}}, "gpu-operator:x"),
    ({"a": {"componentRefs": [ref("gpu-operator", **{"nvidia.com/gpu": 1})]}}, "nvidia.com/gpu"),
    ({"a": {"componentRefs": [ref("gpu-operator", install=False)]}}, "on or off"),
    ({"a": {"componentRefs": [ref("gpu-operator", x=2**53)]}}, "number"),
    ({"a": {"componentRefs": [ref("gpu-operator", x=1), ref("gpu-operator", y=1)]}}, "twice"),
])  # fmt: skip
def test_a_declaration_that_leaves_something_open_does_not_load(
    tmp_path: Path, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(AicrError, match=words) as caught:
        layered(tmp_path, rke2(profile=profile(**values)))
    assert "rke2.yaml:" in caught.value.message


def test_an_overlay_from_a_file_brings_no_declaration_of_its_own(tmp_path: Path) -> None:
    catalog = layered(tmp_path, rke2())
    assert resolve_overlay(catalog, rke2(), "my.yaml").recipe.metadata == chosen(catalog).metadata
    for changed in (rke2(profile=profile(operator=OPERATOR)), overlay("rke2", criteria={"service": "rke2"})):
        with pytest.raises(AicrError, match=r'my\.yaml: overlay "rke2"'):
            resolve_overlay(catalog, changed, "my.yaml")


def test_every_value_and_mode_of_the_references_catalog_resolves(shared: Path) -> None:
    catalog = Catalog.load(shared / "catalog" / "aicr-2026-08-19")
    leaves = [
        (one.criteria, choice)
        for one in catalog.overlays.values()
        for link in catalog.chain(one)
        if one.criteria and link.profile
        for choice in (f"{link.profile.name}={value}" for value in link.profile.values)
    ]
    resolved = 0
    for criteria, choice in leaves:
        modes = list(AccountingMode) if criteria.platform == "slurm" else [None]
        for mode in modes:
            recipe = chosen(catalog, choice, criteria=dataclasses.replace(criteria), accounting_mode=mode)
            admit_recipe(recipe_to_document(recipe), catalog, "recipe.yaml")
            resolved += 1
    assert resolved >= 60
