# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry's checks on effective values (spec/engine.md 4.7), and the evidence of a MariaDB operator (5.7)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import Scheduling
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.validations import applies
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import ComponentValidation, Severity
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

from .conftest import JudgedOf, RecipeOf

PROVIDED = AccountingMode.AICR_PROVIDED


def refused(judged: JudgedOf, recipe: RecipeResult | str = "eks", **options: Any) -> AicrError:
    with pytest.raises(AicrError) as refusal:
        judged(recipe, **options)
    return refusal.value


def with_header(recipe: RecipeResult, **header: object) -> RecipeResult:
    assert recipe.metadata
    return dataclasses.replace(recipe, metadata=dataclasses.replace(recipe.metadata, **header))  # type: ignore[arg-type]


def about_mariadb(judged: JudgedOf, recipe: RecipeResult) -> list[str]:
    return [text for text in judged(recipe).warnings if text.startswith("mariadb-operator")]


def test_without_evidence_the_bundle_says_that_nothing_was_evaluated(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    (warning,) = about_mariadb(judged, with_header(recipe_of("eks", PROVIDED), maria_db_operator_state=None))
    assert "not evaluated" in warning


def test_an_absent_operator_is_no_matter(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    assert not about_mariadb(judged, with_header(recipe_of("eks", PROVIDED), maria_db_operator_state="absent"))


def test_the_api_alone_is_a_warning(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    (warning,) = about_mariadb(judged, with_header(recipe_of("eks", PROVIDED), maria_db_operator_state="api-detected"))
    assert "api-detected" in warning


@pytest.mark.parametrize("state", ["crs-detected", "unknown"])
def test_a_foreign_database_or_no_answer_is_a_conflict_with_a_way_out(
    judged: JudgedOf, recipe_of: RecipeOf, state: str
) -> None:
    error = refused(judged, with_header(recipe_of("eks", PROVIDED), maria_db_operator_state=state))
    assert error.code is Code.CONFLICT
    assert state in error.message
    assert "configuration.slurm.accounting.mode=customer-managed" in error.hint


@pytest.mark.parametrize("state", ["crs-detected", "unknown", "anything"])
@pytest.mark.parametrize("mode", [AccountingMode.DISABLED, AccountingMode.CUSTOMER_MANAGED])
def test_in_the_other_modes_a_foreign_operator_is_welcome(
    judged: JudgedOf, recipe_of: RecipeOf, mode: AccountingMode, state: str
) -> None:
    assert not about_mariadb(judged, with_header(recipe_of("eks", mode), maria_db_operator_state=state))


@pytest.mark.parametrize("state", ["CRS-detected", "bogus"])
def test_evidence_that_says_nothing_known_is_refused(judged: JudgedOf, recipe_of: RecipeOf, state: str) -> None:
    error = refused(judged, with_header(recipe_of("eks", PROVIDED), maria_db_operator_state=state))
    assert error.code is Code.INVALID_REQUEST
    assert state in error.message


def test_a_conflict_is_told_together_with_violations_of_the_lock(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = with_header(recipe_of("eks", PROVIDED), maria_db_operator_state="unknown")
    error = refused(judged, recipe, set=["mariadboperator:install=false"])
    assert "unknown" in error.message
    assert "mariadb-operator:install" in error.message


MANAGED = ["gpuoperator:driver.enabled=true", "dradriver:nvidiaDriverRoot=/run/nvidia/driver"]


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"set_json": ["gpuoperator:driver=null"]}, "driver is null"),
        ({"set_json": ['gpuoperator:driver.enabled="false"']}, "driver.enabled is neither true nor false"),
        ({"set_json": ['gpuoperator:toolkit="x"']}, "toolkit is no mapping"),
        ({"set": ["gpuoperator:hostPaths.driverInstallDir=/"]}, "driverInstallDir is /"),
        ({"set": ["gpuoperator:hostPaths.driverInstallDir=run/nvidia"]}, "no absolute path"),
        ({"set": [*MANAGED, "gpuoperator:hostPaths.driverInstallDir=/opt/nvidia"]}, "/opt/nvidia"),
        ({"set": ["gpuoperator:driver.enabled=true", "dradriver:nvidiaDriverRoot=/"]}, "nvidiaDriverRoot /"),
        ({"set": ["gpuoperator:driver.enabled=false", *MANAGED[1:]]}, "which nobody fills then"),
        ({"set": ["dradriver:nvidiaDriverRoot=run/nvidia/driver"]}, "nvidiaDriverRoot is no absolute path"),
        ({"dynamic": ["gpuoperator:driver.enabled"]}, "dynamic gpuoperator:driver.enabled"),
        ({"dynamic": ["gpuoperator:driver"]}, "gpu-operator:driver.enabled"),
        ({"dynamic": ["dradriver:nvidiaDriverRoot"]}, "dynamic dradriver:nvidiaDriverRoot"),
    ],
)
def test_driver_and_dra_driver_say_the_same_about_who_installs(
    judged: JudgedOf, options: dict[str, Any], about: str
) -> None:
    assert about in refused(judged, **options).message


def test_an_operator_that_installs_the_driver_where_it_is_read_is_coherent(judged: JudgedOf) -> None:
    assert judged("eks", set=MANAGED)
    assert judged("eks", dynamic=["gpuoperator:driver.version"])


def test_nodes_without_a_driver_need_an_operator_that_installs_one(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = with_header(recipe_of("kind"), gpu_driver_state="absent")
    error = refused(judged, recipe)
    assert "gpu-operator: driver.enabled or toolkit.enabled is false" in error.message
    assert judged(
        recipe, set=[*MANAGED, "gpuoperator:toolkit.enabled=true", "gpuoperator:operator.runtimeClass=nvidia"]
    )
    assert "gpuDriverState" in refused(judged, with_header(recipe, gpu_driver_state="Absent")).message


def test_nvsentinel_is_told_of_a_driver_that_no_pod_installs(judged: JudgedOf) -> None:
    off = "nv-sentinel:labeler.assumeDriverInstalled=false"
    assert "labeler.assumeDriverInstalled=true" in refused(judged, "kind", set=[off]).message
    idle = [f"nv-sentinel:global.{name}.enabled=false" for name in ("metadataCollector", "syslogHealthMonitor")]
    assert judged("kind", set=[off, *idle])
    assert "defers nvsentinel:labeler" in refused(judged, "kind", dynamic=["nv-sentinel:labeler"]).message
    assert judged("eks", set=[off])


def test_nvsentinel_names_the_runtime_class_that_the_operator_makes(judged: JudgedOf) -> None:
    error = refused(judged, set=["gpuoperator:operator.runtimeClass=other"])
    assert "metadata-collector.runtimeClassName is nvidia" in error.message
    assert judged(
        "eks", set=["gpuoperator:operator.runtimeClass=other", "nv-sentinel:metadata-collector.runtimeClassName=other"]
    )


def test_missing_selectors_are_told_by_the_options_that_give_them(judged: JudgedOf) -> None:
    bare = " ".join(judged("eks").warnings)
    assert "scheduling.workload_selector" in bare
    assert "scheduling.accelerated_node_selector" in bare
    given = Scheduling(workload_selector={"a": "b"}, accelerated_node_selector={"c": "d"})
    assert not [text for text in judged("eks", scheduling=given).warnings if "selector" in text]


def test_a_change_of_who_hands_out_gpus_is_deprecated_and_cannot_stand_open(judged: JudgedOf) -> None:
    (warning,) = [
        text for text in judged("eks", set=["gpuoperator:devicePlugin.enabled=false"]).warnings
        if text.startswith("deprecated")
    ]  # fmt: skip
    assert "gpuoperator:devicePlugin.enabled" in warning
    error = refused(judged, dynamic=["gpuoperator:devicePlugin"])
    assert "gpu-operator:devicePlugin.enabled" in error.message


def test_what_decides_over_a_manifest_cannot_stand_open(judged: JudgedOf) -> None:
    assert "shared-storage-pvcs.yaml" in refused(judged, dynamic=["slinkyslurm:storage"]).message


@pytest.mark.parametrize(
    ("criteria", "met"),
    [
        (Criteria(service="aks"), True),
        (Criteria(service="eks"), False),
        (Criteria(service="any"), True),
        (Criteria(), True),
        (None, False),
    ],
)
def test_a_criterion_that_is_open_meets_every_condition(criteria: Criteria | None, met: bool) -> None:
    validation = ComponentValidation("Check", Severity.ERROR, conditions={"service": ("aks", "gke")})
    assert applies(validation, RecipeResult((), criteria=criteria)) is met
