# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate: no override, by whatever surface, changes what the accounting mode owns (ADR-016, engine.md 5.5, 5.6)."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import versions
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership.accounting import COMPONENTS

from .conftest import JudgedOf, RecipeOf

DISABLED, CUSTOMER, PROVIDED = AccountingMode.DISABLED, AccountingMode.CUSTOMER_MANAGED, AccountingMode.AICR_PROVIDED
MODES = list(AccountingMode)

EVERYWHERE = [
    ("slinkyslurm", "accounting.enabled"),
    ("slurmcluster", "accounting.enabled"),
    ("slinky-slurm", "accounting.enabled"),
    ("slinky-slurm", "accounting"),
    ("slinky-slurm", "accounting.enabled.child"),
    ("slinky-slurm", "accounting.external"),
    ("slinky-slurm", "enabled"),
    ("mariadboperatorcrds", "install"),
    ("mariadb-operator-crds", "enabled"),
    ("mariadboperator", "install"),
    ("mariadb-operator", "enabled"),
    ("mariadb-operator", "crds.enabled"),
    ("mariadb-operator", "crds"),
    ("slurmaccountingmariadb", "install"),
    ("slurm-accounting-mariadb", "enabled"),
]
IN_PROVIDED = [
    ("slinky-slurm", "accounting.storageConfig"),
    ("slinky-slurm", "accounting.storageConfig.host"),
    ("slinky-slurm", "accounting.storageConfig.port"),
    ("slinky-slurm", "accounting.storageConfig.passwordKeyRef"),
    ("slurm-accounting-mariadb", "mariadb"),
    ("slurm-accounting-mariadb", "mariadb.cleanupPolicy"),
    ("slurm-accounting-mariadb", "mariadb.rootPasswordSecretKeyRef.generate"),
    ("slurm-accounting-mariadb", "users"),
    ("slurm-accounting-mariadb", "fullnameOverride"),
]


def surfaces(component: str, path: str, tmp_path: Path) -> list[dict[str, Any]]:
    """The same override by every surface; `true` is also what some of these paths already are."""
    nested: Any = True
    for key in reversed(path.split(".")):
        nested = {key: nested}
    file = tmp_path / "true.yaml"
    file.write_text("true\n")
    return [
        {"values": {component: nested}},
        {"set": [f"{component}:{path}=true"]},
        {"set_json": [f"{component}:{path}=true"]},
        {"set_json": [f"{component}:{path}={{}}"]},
        {"set_json": [f"{component}:{path}=null"]},
        {"set_file": [f"{component}:{path}={file}"]},
        {"dynamic": [f"{component}:{path}"]},
    ]


def refused(judged: JudgedOf, mode: AccountingMode | RecipeResult, **options: Any) -> AicrError:
    with pytest.raises(AicrError) as refusal:
        judged("eks", mode, **options) if isinstance(mode, AccountingMode) else judged(mode, **options)
    return refusal.value


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("component", "path"), EVERYWHERE)
def test_an_owned_path_its_ancestors_and_descendants_are_refused_by_every_surface(
    judged: JudgedOf, tmp_path: Path, mode: AccountingMode, component: str, path: str
) -> None:
    for options in surfaces(component, path, tmp_path):
        error = refused(judged, mode, **options)
        assert error.code is Code.INVALID_REQUEST
        assert f"owned by configuration.slurm.accounting.mode={mode.value}" in error.message
        assert next(iter(options)) in error.message
        assert component in error.message
        assert path in error.message


@pytest.mark.parametrize(("component", "path"), IN_PROVIDED)
def test_aicr_provided_owns_both_ends_of_the_connection(
    judged: JudgedOf, tmp_path: Path, component: str, path: str
) -> None:
    for options in surfaces(component, path, tmp_path):
        assert (
            "owned by configuration.slurm.accounting.mode=aicr-provided" in refused(judged, PROVIDED, **options).message
        )


def test_an_equal_value_is_refused_as_well(judged: JudgedOf) -> None:
    for mode, entry in (
        (PROVIDED, "mariadb-operator:install=true"),
        (DISABLED, "slinky-slurm:accounting.enabled=false"),
    ):
        assert "owned by" in refused(judged, mode, set=[entry]).message


@pytest.mark.parametrize(
    "entry",
    [
        "slinky-slurm:accounting.enabledX=true",
        "slinky-slurm:Accounting.enabled=true",
        "slinky-slurm:accounting.slurmdbd.args=x",
        "slinky-slurm:nodesets.slinky.replicas=7",
        "mariadb-operator:ha.enabled=true",
        "mariadb-operator-crds:x=1",
        "slurm-accounting-mariadb:mariadb.storage.size=100Gi",
        "slurm-accounting-mariadb:mariadb.storage.storageClassName=fast",
    ],
)
def test_a_neighbour_of_an_owned_path_is_free(judged: JudgedOf, entry: str) -> None:
    """In aicr-provided size and StorageClass of the volume stay the customer's (ADR-016 section 9)."""
    component, _unused, rest = entry.partition(":")
    path, _unused, value = rest.partition("=")
    held: Any = judged("eks", PROVIDED, set=[entry]).values[component]
    for key in path.split("."):
        held = held[key]
    assert str(held).lower() == value.lower()


def test_without_accounting_nothing_below_it_can_have_an_effect(judged: JudgedOf) -> None:
    error = refused(judged, DISABLED, set=["slinkyslurm:accounting.storageConfig.host=db"])
    assert "can have no effect" in error.message
    assert "slinky-slurm:accounting" in error.message


def storage(**changes: object) -> dict[str, Any]:
    connection = {
        "host": "db.example.com",
        "port": 3307,
        "database": "acct",
        "username": "svc",
        "passwordKeyRef": {"name": "dbpw", "key": "pw"},
    }
    return {"slinky-slurm": {"accounting": {"storageConfig": {**connection, **changes}}}}


@pytest.mark.parametrize("host", ["db.example.com", "mariadb.db.svc.cluster.local", "10.0.0.5", "mariadb"])
def test_a_customer_database_is_accepted_wherever_it_is(judged: JudgedOf, host: str) -> None:
    accounting: Any = judged("eks", CUSTOMER, values=storage(host=host)).values["slinky-slurm"]["accounting"]
    assert accounting["storageConfig"]["host"] == host
    assert accounting["enabled"] is True


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"host": "localhost"}, "storageConfig.host"),
        ({"host": "127.0.0.1"}, "storageConfig.host"),
        ({"host": "postgres://db"}, "storageConfig.host"),
        ({"host": None}, "storageConfig.host"),
        ({"port": 0}, "storageConfig.port"),
        ({"port": 65536}, "storageConfig.port"),
        ({"port": "3306"}, "storageConfig.port"),
        ({"port": 5432}, "storageConfig.port"),
        ({"zzz": 1}, "storageConfig.zzz"),
        ({"passwordKeyRef": {"name": "x", "key": "y", "extra": "z"}}, "passwordKeyRef.extra"),
        ({"passwordKeyRef": None}, "passwordKeyRef"),
    ],
)
def test_the_customers_connection_is_closed_and_complete(
    judged: JudgedOf, changes: dict[str, object], path: str
) -> None:
    assert path in refused(judged, CUSTOMER, values=storage(**changes)).message


def test_a_password_in_the_connection_is_refused_without_its_value(judged: JudgedOf) -> None:
    error = refused(judged, CUSTOMER, values=storage(password="hunter2"))
    assert "storageConfig.password" in error.message
    assert "hunter2" not in json.dumps(error.to_result())


@pytest.mark.parametrize("path", ["accounting.storageConfig", "accounting.storageConfig.host"])
def test_the_customers_connection_cannot_stand_open(judged: JudgedOf, path: str) -> None:
    assert (
        "defers slinky-slurm:accounting.storageConfig"
        in refused(judged, CUSTOMER, dynamic=[f"slinkyslurm:{path}"]).message
    )


@pytest.mark.parametrize("mode", [CUSTOMER, PROVIDED])
def test_a_component_filter_cannot_leave_out_what_the_mode_needs(judged: JudgedOf, mode: AccountingMode) -> None:
    needed = COMPONENTS if mode is PROVIDED else ("slinky-slurm",)
    error = refused(judged, mode, components=["gpuoperator"])
    for name in needed:
        assert f"components leaves out {name}" in str(error.to_result())
    assert set(judged("eks", mode, components=list(needed)).values) == set(needed)


def test_without_accounting_a_component_filter_is_free(judged: JudgedOf) -> None:
    assert set(judged("eks", DISABLED, components=["gpuoperator"]).values) == {"gpu-operator"}


def test_a_mode_that_was_cut_out_does_not_open_the_lock(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = dataclasses.replace(recipe_of("eks", PROVIDED), configuration=None)
    assert "configuration.slurm.accounting" in refused(judged, recipe, set=["slinkyslurm:x=1"]).message


SEVERAL: dict[str, Any] = {
    "set": [
        "slinkyslurm:accounting.enabled=false",
        "mariadboperator:install=false",
        "nosuch:a=1",
        "gpuoperator:a[0]=1",
    ],
    "set_json": ['slurmaccountingmariadb:users=["x"]', "slinky-slurm:accounting={}"],
    "dynamic": ["slinkyslurm:accounting.storageConfig.host", "nvsentinel:enabled"],
    "values": {"mariadb-operator-crds": {"enabled": True}, "gpu-operator": {"auth": {"password": "hunter2"}}},
    "components": ["gpu-operator", "nosuch"],
}

_SCRIPT = """
import json, sys
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode, Criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import BundleRequest, judge
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve
criteria = Criteria("eks", "h100", "training", "ubuntu", "slurm")
recipe = resolve(embedded(), criteria, accounting_mode=AccountingMode.AICR_PROVIDED).recipe
try:
    judge(BundleRequest(recipe=recipe, catalog=embedded(), **json.loads(sys.argv[1])))
except AicrError as error:
    print(json.dumps(error.to_result()))
"""


def test_all_violations_are_reported_at_once_and_in_the_same_order_with_every_hash_seed(judged: JudgedOf) -> None:
    error = refused(judged, PROVIDED, **SEVERAL)
    problems: Any = error.details["problems"]
    messages = [problem["message"] for problem in problems]
    assert messages == sorted(messages)
    for part in (
        "set slinkyslurm:accounting.enabled touches slinky-slurm:accounting.enabled",
        "set mariadboperator:install touches mariadb-operator:install",
        "set_json slurmaccountingmariadb:users touches slurm-accounting-mariadb:users",
        "set_json slinky-slurm:accounting touches slinky-slurm:accounting",
        "dynamic slinkyslurm:accounting.storageConfig.host touches slinky-slurm:accounting.storageConfig.host",
        "values mariadb-operator-crds:enabled touches mariadb-operator-crds:enabled",
        "values gpu-operator:auth.password would put a credential",
        'set nosuch:a cannot take effect: unknown component "nosuch"',
        "list position",
        "dynamic nvsentinel:enabled",
        'components: unknown component "nosuch"',
        "components leaves out slinky-slurm",
    ):
        assert any(part in message for message in messages), part
    assert "hunter2" not in json.dumps(error.to_result())
    for seed in ("0", "1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", _SCRIPT, json.dumps(SEVERAL)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(run.stdout) == error.to_result()


def legacy(recipe: RecipeResult) -> RecipeResult:
    """The recipe as a release from before the feature made it."""
    return dataclasses.replace(recipe, configuration=None, api_version="aicr.run/v1alpha2")


@pytest.mark.parametrize(
    "options",
    [
        {"set": ["slinkyslurm:accounting.enabled=true"]},
        {"set_json": ["slinkyslurm:accounting.enabled=true"]},
        {"set_json": ['slinky-slurm:accounting={"enabled": true}']},
        {"values": {"slurmcluster": {"accounting": {"enabled": True}}}},
    ],
)
def test_a_legacy_recipe_may_turn_accounting_on_with_a_warning_that_names_the_end(
    judged: JudgedOf, recipe_of: RecipeOf, options: dict[str, Any]
) -> None:
    found = judged(legacy(recipe_of("eks", DISABLED)), **options)
    accounting: Any = found.values["slinky-slurm"]["accounting"]
    assert accounting["enabled"] is True
    assert "slurm-accounting-mariadb" not in found.values
    (warning,) = [text for text in found.warnings if text.startswith("deprecated")]
    assert "customer-managed" in warning
    assert "release 2.0.0" in warning
    assert next(iter(options)) in warning


@pytest.mark.parametrize(
    "options",
    [
        {"set": ["slinkyslurm:accounting.enabled=false"]},
        {"values": {"slinky-slurm": {"accounting": {"enabled": False, "x": 1}}}},
    ],
)
def test_leaving_accounting_off_in_a_legacy_recipe_is_called_that(
    judged: JudgedOf, recipe_of: RecipeOf, options: dict[str, Any]
) -> None:
    found = judged(legacy(recipe_of("eks", DISABLED)), **options)
    (warning,) = [text for text in found.warnings if text.startswith("deprecated")]
    assert "leaves accounting off" in warning
    assert "=disabled" in warning
    assert "customer-managed" not in warning


@pytest.mark.parametrize(
    "options",
    [
        {"set": ["slinkyslurm:accounting.enabled='true'"]},
        {"values": {"slinky-slurm": {"accounting": {"enabled": 1}}}},
        {"values": {"slinky-slurm": {"accounting": {"enabled": None}}}},
        {"set_json": ["slinky-slurm:accounting=null"]},
        {"dynamic": ["slinkyslurm:accounting"]},
    ],
)
def test_the_switch_of_a_legacy_recipe_is_a_boolean(
    judged: JudgedOf, recipe_of: RecipeOf, options: dict[str, Any]
) -> None:
    assert (
        "accounting.enabled is true or false" in refused(judged, legacy(recipe_of("eks", DISABLED)), **options).message
    )


@pytest.mark.parametrize("release", ["2.0.0", "2.0.1", "3.0.0", "10.0.0"])
@pytest.mark.parametrize("value", ["true", "false"])
def test_from_the_end_of_the_window_on_a_legacy_recipe_switches_nothing(
    judged: JudgedOf, recipe_of: RecipeOf, monkeypatch: pytest.MonkeyPatch, release: str, value: str
) -> None:
    monkeypatch.setattr(versions, "RELEASE", release)
    error = refused(judged, legacy(recipe_of("eks", DISABLED)), set=[f"slinkyslurm:accounting.enabled={value}"])
    assert "ended with release 2.0.0" in error.message
    assert "set slinkyslurm:accounting.enabled" in error.message
    assert ("customer-managed" if value == "true" else "disabled") in error.hint


@pytest.mark.parametrize("release", ["0.1.0", "1.99.9"])
def test_until_then_it_does(
    judged: JudgedOf, recipe_of: RecipeOf, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    monkeypatch.setattr(versions, "RELEASE", release)
    assert judged(legacy(recipe_of("eks", DISABLED)), set=["slinkyslurm:accounting.enabled=true"])


def test_a_connection_that_nobody_gave_is_pointed_at(judged: JudgedOf) -> None:
    found = judged("eks", CUSTOMER)
    (warning,) = [text for text in found.warnings if "accounting.storageConfig" in text]
    assert "host mariadb, password in the Secret mariadb-password" in warning


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        (CUSTOMER, {"set": ["slinkyslurm:accounting.storageConfig.host=db.example.com"]}),
        (CUSTOMER, {"values": {"slurmcluster": {"accounting": {"storageConfig": {"port": 3307}}}}}),
        (CUSTOMER, {"components": ["slinky-slurm"], "set": ["slinkyslurm:accounting.storageConfig.port=3306"]}),
        (DISABLED, {}),
        (PROVIDED, {}),
    ],
)
def test_a_connection_that_somebody_gave_or_nobody_needs_is_not(
    judged: JudgedOf, mode: AccountingMode, options: dict[str, Any]
) -> None:
    assert not [text for text in judged("eks", mode, **options).warnings if "storageConfig" in text]


def test_a_connection_that_the_recipe_gives_is_not(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    recipe = recipe_of("eks", CUSTOMER)
    ref = recipe.component("slinky-slurm")
    assert ref
    own = {"accounting": {"enabled": True, "storageConfig": {"host": "db.example.com"}}}
    found = judged(recipe.with_component(dataclasses.replace(ref, overrides={**(ref.overrides or {}), **own})))
    assert not [text for text in found.warnings if "storageConfig" in text]


def test_a_legacy_recipe_with_accounting_keeps_the_customers_contract(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    options = {"set": ["slinkyslurm:accounting.enabled=true", "slinkyslurm:accounting.storageConfig.host=localhost"]}
    assert "storageConfig.host" in refused(judged, legacy(recipe_of("eks", DISABLED)), **options).message


def test_a_legacy_recipe_never_gets_a_database(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    error = refused(judged, legacy(recipe_of("eks", DISABLED)), set=["mariadboperator:install=true"])
    assert "cannot take effect" in error.message


def test_a_legacy_recipe_without_such_an_override_says_nothing(judged: JudgedOf, recipe_of: RecipeOf) -> None:
    found = judged(legacy(recipe_of("eks", DISABLED)), set=["slinkyslurm:accounting.slurmdbd.args=x"])
    assert not [text for text in found.warnings if text.startswith("deprecated")]


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"set": ["gpuoperator:registry.password=hunter2"]}, "gpuoperator:registry.password"),
        ({"set_json": ['gpuoperator:a={"apiKey": "hunter2"}']}, "gpuoperator:a.apiKey"),
        (
            {"values": {"gpu-operator": {"env": [{"name": "NGC_TOKEN", "value": "hunter2"}]}}},
            "gpu-operator:env.NGC_TOKEN",
        ),
    ],
)
def test_a_credential_is_refused_without_its_value(judged: JudgedOf, options: dict[str, Any], path: str) -> None:
    error = refused(judged, DISABLED, **options)
    assert f"{path} would put a credential into the bundle" in error.message
    assert "hunter2" not in json.dumps(error.to_result())


@pytest.mark.parametrize(
    "text",
    [
        '{"secretKey": "hunter2"}',
        '{"accessKey": "x", "secretAccessKey": "hunter2"}',
        '{"secret_key": "hunter2", "bucket": "b"}',
        '{"a": [{"secretKey": "hunter2"}]}',
    ],
)
def test_the_secret_half_of_a_key_pair_is_a_credential(judged: JudgedOf, text: str) -> None:
    error = refused(judged, DISABLED, set_json=[f"gpuoperator:y={text}"])
    assert "would put a credential into the bundle" in error.message
    assert "hunter2" not in json.dumps(error.to_result())


@pytest.mark.parametrize(
    "text",
    [
        '{"existingSecret": "s3", "secretKey": "secret"}',
        '{"secretName": "s3", "secretAccessKey": "secret"}',
        '{"data": [{"secretKey": "password", "remoteRef": {"key": "db/slurm"}}]}',
        '{"secretKeyRef": {"name": "s3", "key": "secret"}}',
        '{"passwordKey": "password", "userKey": "user"}',
    ],
)
def test_the_name_of_a_key_of_a_secret_is_none(judged: JudgedOf, text: str) -> None:
    assert judged("eks", DISABLED, set_json=[f"gpuoperator:y={text}"])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_is_refused_by_every_option(
    judged: JudgedOf, tmp_path: Path, number: float
) -> None:
    (tmp_path / "x.yaml").write_text(f"a: [{str(number).replace('inf', '.inf').replace('nan', '.nan')}]\n")
    for options in (
        {"values": {"gpu-operator": {"x": {"y": [1, number]}}}},
        {"set_file": [f"gpu-operator:x={tmp_path}/x.yaml"]},
        {"set": ["gpu-operator:x=1e999"]},
    ):
        assert "a number that is none" in refused(judged, DISABLED, **options).message
    assert "is none" in refused(judged, DISABLED, set_json=["gpu-operator:x=[1e999]"]).message


@pytest.mark.parametrize(
    "options",
    [
        {"values": {"gpu-operator": {"driver": {"version": 1.3}}}},
        {"set_json": ["gpu-operator:driver.version=1.30"]},
        {"set_json": ['gpu-operator:driver={"version": 2.20}']},
    ],
)
def test_a_version_that_was_rounded_on_its_way_here_is_refused(judged: JudgedOf, options: dict[str, Any]) -> None:
    assert "driver.version is a fraction" in refused(judged, DISABLED, **options).message


def test_a_large_number_is_warned_about_and_kept(judged: JudgedOf) -> None:
    found = judged("eks", DISABLED, set=["gpuoperator:some.size=1000000"])
    assert found.values["gpu-operator"]["some"] == {"size": 1_000_000}
    assert any("gpuoperator:some.size" in text and "1e+06" in text for text in found.warnings)
