# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Effective values, and which components are there at all (spec/engine.md 4.2, case N30)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    ComponentRef,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import Scheduling
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

from .conftest import JudgedOf, RecipeOf

PROVIDED = AccountingMode.AICR_PROVIDED


def refused(judged: JudgedOf, recipe: RecipeResult | str = "eks", **options: Any) -> AicrError:
    with pytest.raises(AicrError) as refusal:
        judged(recipe, **options)
    return refusal.value


def at(values: Any, path: str) -> Any:
    for key in path.split("."):
        values = values[key]
    return values


def test_the_later_surface_wins_and_mappings_are_merged(judged: JudgedOf) -> None:
    found = judged(
        "eks",
        values={"gpuoperator": {"driver": {"version": "1", "a": 1, "b": {"c": 1}}}},
        set=["gpuoperator:driver.version=2", "gpuoperator:driver.a=2"],
        set_json=['gpuoperator:driver={"version": "3", "b": {"d": 2}}', "gpuoperator:driver.b.d=3"],
    ).values["gpu-operator"]
    driver: Any = found["driver"]
    assert (driver["version"], driver["a"], driver["b"]) == ("3", 2, {"c": 1, "d": 3})


def test_a_null_takes_a_key_out_of_a_mapping_and_stays_as_a_value_of_its_own(judged: JudgedOf) -> None:
    """At the path itself null is for Helm, which then drops its chart's default."""
    before: Any = judged("eks").values["gpu-operator"]["driver"]
    assert "version" in before
    inside: Any = judged("eks", set_json=['gpuoperator:driver={"version": null}']).values["gpu-operator"]["driver"]
    assert "version" not in inside
    itself: Any = judged("eks", set_json=["gpuoperator:driver.version=null"]).values["gpu-operator"]["driver"]
    assert itself["version"] is None


def test_a_typed_override_merges_with_what_scheduling_put_in(judged: JudgedOf) -> None:
    found: Any = judged(
        "eks",
        scheduling=Scheduling(system_node_selector={"a": "b"}),
        set_json=['gpuoperator:operator.nodeSelector={"c": "d"}'],
    ).values["gpu-operator"]
    assert found["operator"]["nodeSelector"] == {"a": "b", "c": "d"}


def test_a_set_of_a_selector_keeps_the_option_away(judged: JudgedOf) -> None:
    found: Any = judged(
        "eks",
        scheduling=Scheduling(system_node_selector={"a": "b"}),
        set=["gpuoperator:operator.nodeSelector.c=d"],
    ).values["gpu-operator"]
    assert found["operator"]["nodeSelector"] == {"c": "d"}


def test_a_parent_that_is_a_scalar_and_its_child_are_refused_in_either_order(judged: JudgedOf) -> None:
    for entries in (["a.b=1", "a=2"], ["a=2", "a.b=1"]):
        error = refused(judged, set=[f"certmanager:{entry}" for entry in entries])
        assert "set certmanager:a.b" in error.message
        assert "cert-manager" in error.message


def test_nothing_of_the_catalog_is_changed(judged: JudgedOf) -> None:
    before = judged("eks").values
    judged("eks", set=["gpuoperator:driver.version=9"], set_json=['certmanager:webhook={"x": 1}'])
    assert judged("eks").values == before


def test_values_that_cannot_be_rebuilt_stop_the_bundle(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = recipe_of("eks")
    ref = recipe.component("cert-manager")
    assert ref
    broken = recipe.with_component(dataclasses.replace(ref, values_file="components/cert-manager/none.yaml"))
    error = refused(judged, broken)
    assert error.code is Code.NOT_FOUND
    assert "none.yaml" in error.message


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"set": ["nvsentinl:x=1"]}, 'unknown component "nvsentinl"'),
        ({"dynamic": ["kubeflowtrainer:a"]}, 'unknown component "kubeflowtrainer"'),
        ({"set": ["slurmaccountingmariadb:x=1"]}, "the recipe disables it"),
        ({"values": {"slurmaccountingmariadb": {"x": 1}}}, "the recipe disables it"),
        ({"set": ["nvsentinel:enabled=false", "nv-sentinel:foo=bar"]}, "an enabled=false removed it"),
        ({"set": ["certmanager:x=1"], "components": ["nvsentinel"]}, "components leaves it out"),
    ],
)
def test_an_override_that_cannot_take_effect_is_refused_by_name(
    judged: JudgedOf, options: dict[str, Any], reason: str
) -> None:
    error = refused(judged, **options)
    assert "cannot take effect" in error.message
    assert reason in error.message


@pytest.mark.parametrize("spelling", ["false", "False", "0"])
def test_a_component_that_nobody_needs_can_be_switched_off(judged: JudgedOf, spelling: str) -> None:
    found = judged("eks", set=[f"nvsentinel:enabled={spelling}"])
    assert "nvsentinel" not in found.values
    assert found.recipe.component("nvsentinel") is None
    assert "nvsentinel" not in (found.recipe.deployment_order or ())


def test_a_toggle_is_no_value_of_the_chart(judged: JudgedOf) -> None:
    assert judged("eks", set=["nvsentinel:enabled=true"]).values == judged("eks").values


def test_a_component_that_another_one_needs_stays(judged: JudgedOf) -> None:
    error = refused(judged, set=["certmanager:enabled=false"])
    assert 'component "cert-manager" cannot be switched off' in error.message
    assert "gpu-operator" in error.message
    switched = ["certmanager:enabled=false", *(f"{name}:enabled=false" for name in _above("cert-manager", judged))]
    assert "cert-manager" not in judged("inference", set=switched).values


def _above(name: str, judged: JudgedOf) -> list[str]:
    """Everything that depends on a component, directly or not."""
    above = {name}
    refs = judged("inference").recipe.component_refs
    for _unused in refs:
        above |= {ref.name for ref in refs if above & set(ref.dependency_refs or ())}
    return sorted(above - {name})


def test_what_the_recipe_disables_cannot_be_switched_on(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = recipe_of("inference")
    ref = recipe.component("nvsentinel")
    assert ref
    without = recipe.with_component(dataclasses.replace(ref, overrides={"enabled": False}))
    assert "disabled by the recipe" in refused(judged, without, set=["nvsentinel:enabled=true"]).message
    assert "nvsentinel" not in judged(without, set=["nvsentinel:enabled=false"]).values


@pytest.mark.parametrize("surface", ["set_json", "values", "dynamic"])
def test_only_a_set_switches_a_component(judged: JudgedOf, surface: str) -> None:
    given: Any = {
        "set_json": ["nvsentinel:enabled=false"],
        "values": {"nvsentinel": {"enabled": False}},
        "dynamic": ["nvsentinel:enabled"],
    }
    error = refused(judged, **{surface: given[surface]})
    assert f"{surface} nvsentinel:enabled" in error.message
    assert "set nvsentinel:enabled=false" in error.hint


def test_a_toggle_that_is_neither_true_nor_false_is_refused(judged: JudgedOf) -> None:
    assert (
        "nvsentinel:enabled: is neither true nor false" in refused(judged, set=["nvsentinel:enabled=perhaps"]).message
    )


def test_a_bundle_of_nothing_is_refused(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = dataclasses.replace(
        recipe_of("inference"), component_refs=(ComponentRef("nfd", overrides={"enabled": False}),), deployment_order=()
    )
    assert "no enabled component" in refused(judged, recipe).message


def test_dependencies_on_what_is_left_out_count_as_satisfied(judged: JudgedOf) -> None:
    recipe = judged("inference", components=["gpuoperator"]).recipe
    (ref,) = recipe.component_refs
    assert (ref.name, ref.dependency_refs) == ("gpu-operator", None)
    assert recipe.deployment_order == ("gpu-operator",)


def test_size_and_storage_class_of_the_database_are_the_customers(judged: JudgedOf) -> None:
    found: Any = judged(
        "eks",
        PROVIDED,
        set=["slurmaccountingmariadb:mariadb.storage.size=100Gi"],
        scheduling=Scheduling(storage_class="fast"),
    ).values["slurm-accounting-mariadb"]
    assert found["mariadb"]["storage"] == {"size": "100Gi", "storageClassName": "fast"}


def test_the_dra_driver_restarts_with_a_new_operator(judged: JudgedOf) -> None:
    found = judged("eks")
    operator = found.recipe.component("gpu-operator")
    assert operator
    for part in ("controller", "kubeletPlugin"):
        annotations = at(found.values["nvidia-dra-driver-gpu"], f"{part}.podAnnotations")
        assert annotations == {"aicr.run/gpu-operator-chart-version": operator.version}


def test_the_gateway_is_closed_unless_someone_opens_it(judged: JudgedOf) -> None:
    closed = judged("inference")
    assert at(closed.values["agentgateway"], "allowedSourceRanges") == ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
    opened = judged("inference", set_json=['agentgateway:allowedSourceRanges=["0.0.0.0/0"]'])
    assert any("whole Internet" in text for text in opened.warnings)
    for wrong in ('"10.0.0.0/8"', '["10.0.0.1/8"]', '["host"]'):
        assert (
            "agentgateway"
            in refused(judged, "inference", set_json=[f"agentgateway:allowedSourceRanges={wrong}"]).message
        )


SHARED: dict[str, Any] = {
    "set": ["slinkyslurm:storage.enabled=true"],
    "scheduling": Scheduling(shared_storage_class="wide"),
}


def test_shared_storage_is_mounted_on_every_login_and_worker_set(judged: JudgedOf) -> None:
    values = judged("eks", **SHARED).values["slinky-slurm"]
    for sets, container in (("loginsets.slinky", "login"), ("nodesets.slinky", "slurmd")):
        mounts = {entry["name"]: entry["mountPath"] for entry in at(values, f"{sets}.{container}.volumeMounts")}
        assert mounts["shared-home"] == "/home"
        assert mounts["shared-data"] == "/scratch/fsw"
        assert {"shared-home", "shared-data", "enroot-config"} <= {
            one["name"] for one in at(values, f"{sets}.podSpec.volumes")
        }


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"scheduling": Scheduling()}, "storage.home.storageClassName"),
        ({"set_json": ['slinkyslurm:storage.data.name="shared-home"']}, "storage.data.name"),
        ({"set_json": ['slinkyslurm:storage.home.size="0"']}, "storage.home.size"),
        ({"set_json": ['slinkyslurm:storage.scratch={"name": "x"}']}, "storage.scratch"),
        ({"set_json": ['slinkyslurm:storage.enabled="yes"']}, "storage.enabled"),
    ],
)
def test_shared_storage_that_could_not_be_mounted_is_refused(
    judged: JudgedOf, options: dict[str, Any], path: str
) -> None:
    assert f"slinky-slurm:{path}" in refused(judged, **{**SHARED, **options}).message


def test_a_recipe_without_claims_has_no_shared_storage(judged: JudgedOf) -> None:
    assert "brings no claims" in refused(judged, "kind", **SHARED).message
