# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must and must not be on a cluster: from the recipe, its mode and its runtime inventory alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    ComponentRef,
    ExpectedResource,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.expectations import (
    Expectation,
    Expected,
    expected_of,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.inventory import runtime_inventory

Object = dict[str, Any]
RecipeOf = Callable[..., RecipeResult]
DISABLED, CUSTOMER, PROVIDED = AccountingMode


def of(recipe: RecipeResult, name: str) -> Expected:
    (found,) = expected_of(recipe, [name])
    return found


def by_mode(expected: Expected, *, forbidden: bool) -> set[str]:
    return {
        str(one.selection)
        for one in expected.expectations
        if one.forbids is forbidden and one.source.startswith("configuration.slurm")
    }


def about(expected: Expected, selection: str) -> list[Expectation]:
    return [one for one in expected.expectations if str(one.selection) == selection]


def holds(expectations: list[Expectation], found: Object) -> bool:
    return all(not one.conclude([one.judge(found)]) for one in expectations if one.selection.selects(found))


@pytest.mark.parametrize("mode", AccountingMode)
def test_components_and_order_are_those_that_run(recipe_of: RecipeOf, mode: AccountingMode) -> None:
    recipe = recipe_of("eks", mode)
    assert tuple(each.component for each in expected_of(recipe)) == runtime_inventory(recipe).names


@pytest.mark.parametrize("mode", [DISABLED, CUSTOMER])
def test_a_database_that_a_change_of_mode_has_kept_is_no_fault(recipe_of: RecipeOf, mode: AccountingMode) -> None:
    (slurm,) = expected_of(recipe_of("eks", mode), ["slinky-slurm"], ["slurm-accounting-mariadb", "mariadb-operator"])
    strict = of(recipe_of("eks", mode), "slinky-slurm")
    lost = by_mode(strict, forbidden=True) - by_mode(slurm, forbidden=True)
    assert lost == {"MariaDB slurm/app.kubernetes.io/instance=slurm-accounting-mariadb"}


@pytest.mark.parametrize("leaf", ["eks", "gb200", "kind", "inference"])
def test_every_component_of_our_catalog_has_something_to_wait_for(recipe_of: RecipeOf, leaf: str) -> None:
    assert not [each.component for each in expected_of(recipe_of(leaf)) if not each.expectations]


def test_disabled(recipe_of: RecipeOf) -> None:
    slurm = of(recipe_of("eks", DISABLED), "slinky-slurm")
    assert by_mode(slurm, forbidden=True) == {
        "Accounting slurm/(any)",
        "StatefulSet slurm/app.kubernetes.io/name=slurmdbd",
        "MariaDB slurm/app.kubernetes.io/instance=slurm-accounting-mariadb",
    }
    assert by_mode(slurm, forbidden=False) == set()
    assert not about(slurm, "StatefulSet slurm/slinky-slurm-accounting")


def test_customer_managed(recipe_of: RecipeOf) -> None:
    slurm = of(recipe_of("eks", CUSTOMER), "slinky-slurm")
    assert by_mode(slurm, forbidden=True) == {"MariaDB slurm/app.kubernetes.io/instance=slurm-accounting-mariadb"}
    assert by_mode(slurm, forbidden=False) == {
        "Accounting slurm/slinky-slurm",
        "StatefulSet slurm/slinky-slurm-accounting",
    }
    assert all(one.rolled_out for one in about(slurm, "StatefulSet slurm/slinky-slurm-accounting"))


def test_aicr_provided(recipe_of: RecipeOf) -> None:
    recipe = recipe_of("eks", PROVIDED)
    assert by_mode(of(recipe, "slinky-slurm"), forbidden=True) == set()
    objects = by_mode(of(recipe, "slurm-accounting-mariadb"), forbidden=False)
    everything = {str(one.selection) for one in of(recipe, "slurm-accounting-mariadb").expectations}
    assert objects <= everything and everything >= {
        "MariaDB slurm/mariadb",
        "Database slurm/mariadb-database",
        "User slurm/mariadb-user",
        "Grant slurm/mariadb-user-all",
        "Secret slurm/mariadb-password",
        "Service slurm/mariadb",
    }
    definitions = {str(one.selection) for one in of(recipe, "mariadb-operator-crds").expectations}
    assert {f"CustomResourceDefinition {name}.k8s.mariadb.com" for name in ("mariadbs", "grants")} <= definitions


def test_the_mode_is_asked_for_without_a_health_check(recipe_of: RecipeOf) -> None:
    recipe = recipe_of("eks", PROVIDED)
    refs = tuple(dataclasses.replace(ref, health_check_skip=True) for ref in recipe.component_refs)
    found = of(dataclasses.replace(recipe, component_refs=refs), "slurm-accounting-mariadb")
    assert {one.source for one in found.expectations} == {"configuration.slurm.accounting.mode=aicr-provided"}
    assert len(found.expectations) == 7
    assert found.seconds == 300


def mariadb(*conditions: tuple[str, str]) -> Object:
    return {
        "apiVersion": "k8s.mariadb.com/v1alpha1",
        "kind": "MariaDB",
        "metadata": {"name": "mariadb", "namespace": "slurm"},
        "spec": {
            "database": "slurm_acct_db",
            "username": "slurm",
            "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password", "generate": True},
            "cleanupPolicy": "Skip",
        },
        "status": {"conditions": [{"type": kind, "status": status} for kind, status in conditions]},
    }


@pytest.mark.parametrize(
    ("found", "ready"),
    [
        (mariadb(("Ready", "True")), True),
        (mariadb(("Ready", "True"), ("Updated", "True")), True),
        (mariadb(("Ready", "True"), ("Updated", "False")), False),  # PendingUpdate
        (mariadb(("Ready", "False")), False),
        (mariadb(), False),
        ({**mariadb(), "status": {}}, False),
    ],
)
def test_a_mariadb(recipe_of: RecipeOf, found: Object, ready: bool) -> None:
    expected = of(recipe_of("eks", PROVIDED), "slurm-accounting-mariadb")
    assert holds(about(expected, "MariaDB slurm/mariadb"), found) is ready


@pytest.mark.parametrize(
    ("data", "ready"), [({"password": "***"}, True), ({"password": ""}, False), ({"pass": "***"}, False), (None, False)]
)
def test_a_secret_key(recipe_of: RecipeOf, data: object, ready: bool) -> None:
    expected = of(recipe_of("eks", PROVIDED), "slurm-accounting-mariadb")
    found = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "mariadb-password", "namespace": "slurm"},
        **({"data": data} if data is not None else {}),
    }
    assert holds(about(expected, "Secret slurm/mariadb-password"), found) is ready


def test_expected_resources(recipe_of: RecipeOf) -> None:
    recipe = recipe_of("inference")
    named = (ExpectedResource("DaemonSet", "d", "n"), ExpectedResource("Service", "s", "n"))
    first = dataclasses.replace(recipe.component_refs[0], expected_resources=named, health_check_asserts=None)
    changed = dataclasses.replace(recipe, component_refs=(first, *recipe.component_refs[1:]))
    found = of(changed, first.name)
    assert [(str(one.selection), one.rolled_out, one.source) for one in found.expectations] == [
        ("DaemonSet n/d", True, "expectedResources"),
        ("Service n/s", False, "expectedResources"),
    ]


def test_everything_wrong_is_told_at_once(recipe_of: RecipeOf) -> None:
    recipe = recipe_of("inference")

    def broken(ref: ComponentRef, index: int) -> ComponentRef:
        if index == 0:
            return dataclasses.replace(ref, expected_resources=(ExpectedResource("Gizmo", "g"),))
        return dataclasses.replace(ref, health_check_asserts="kind: Toast") if index == 1 else ref

    refs = tuple(broken(ref, index) for index, ref in enumerate(recipe.component_refs))
    with pytest.raises(AicrError) as caught:
        expected_of(dataclasses.replace(recipe, component_refs=refs))
    assert "2 problems" in caught.value.message
    assert "Gizmo g, a kind whose version is not known" in caught.value.message


def test_a_name_that_is_not_there(recipe_of: RecipeOf) -> None:
    with pytest.raises(AicrError, match='no component "slinky-slrm"') as caught:
        expected_of(recipe_of(), ["slinky-slrm"])
    assert caught.value.hint == 'did you mean "slinky-slurm"?'
    assert expected_of(recipe_of("eks", DISABLED), ["mariadb-operator"]) == ()
