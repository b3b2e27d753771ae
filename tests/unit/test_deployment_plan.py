# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a deployment: levels, releases, what comes before and after, what is left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    Accounting,
    AccountingMode,
    ComponentRef,
    Configuration,
    Criteria,
    RecipeResult,
    SlurmConfiguration,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.installed import read_record, record
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.plan import Plan, Release, make_plan
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

STORAGE = {
    "host": "db.example.com",
    "port": 3307,
    "database": "acct",
    "username": "svc",
    "passwordKeyRef": {"name": "db", "key": "word"},
}
NAMESPACES = {
    "nfd": "node-feature-discovery",
    "mariadb-operator-crds": "mariadb-system",
    "mariadb-operator": "mariadb-system",
    "slurm-accounting-mariadb": "slurm",
    "slinky-slurm": "slurm",
}
NEEDS = {
    "mariadb-operator": ("mariadb-operator-crds",),
    "slurm-accounting-mariadb": ("mariadb-operator",),
    "slinky-slurm": ("slurm-accounting-mariadb",),
}


def recipe(mode: AccountingMode | None, *names: str, off: tuple[str, ...] = ()) -> RecipeResult:
    """Components by name, with what they need of each other."""
    refs = tuple(
        ComponentRef(
            name,
            namespace=NAMESPACES[name],
            dependency_refs=tuple(need for need in NEEDS.get(name, ()) if need in names) or None,
            overrides={"install": False} if name in off else None,
        )
        for name in names
    )
    chosen = Configuration(SlurmConfiguration(Accounting(mode))) if mode else None
    return RecipeResult(refs, criteria=Criteria(platform="slurm"), configuration=chosen)


def release(name: str, component: str | None = None, version: str | None = "1.0.0") -> Release:
    component = component or name
    repository = "oci://charts.example.com" if version else None
    return Release(name, NAMESPACES[component], component, f"chart-{name}", repository, version, (), {})


def planned(
    mode: AccountingMode | None, slurm: Mapping[str, object] | None = None, only: tuple[str, ...] = (), **more: Any
) -> Plan:
    """The plan of a bundle with everything that a mode runs."""
    provided = mode is AccountingMode.AICR_PROVIDED
    off = () if provided else ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb")
    declared = recipe(mode, *NAMESPACES, off=off)
    running = [name for name in NAMESPACES if name not in off]
    releases = [release(name) for name in running]
    releases.insert(-1, release("slinky-slurm-pre", "slinky-slurm", version=None))
    values: dict[str, Mapping[str, object]] = {name: {} for name in running}
    values["slinky-slurm"] = slurm or {"accounting": {"enabled": False}}
    values |= more.pop("values", {})
    return make_plan(
        declared,
        recipe(mode, *running),
        releases,
        values,
        recipe_digest="sha256:r",
        bundle_digest="sha256:b",
        only=only,
    )


def accounting(**more: object) -> dict[str, object]:
    return {"accounting": {"enabled": True, "storageConfig": STORAGE, **more}}


def test_what_needs_another_component_comes_in_a_later_level() -> None:
    plan = planned(AccountingMode.AICR_PROVIDED, accounting())
    assert plan.levels == (
        ("mariadb-operator-crds", "nfd"),
        ("mariadb-operator",),
        ("slurm-accounting-mariadb",),
        ("slinky-slurm",),
    )
    assert [one.name for one in plan.components["slinky-slurm"].releases] == ["slinky-slurm-pre", "slinky-slurm"]


@pytest.mark.parametrize("mode", [AccountingMode.DISABLED, AccountingMode.CUSTOMER_MANAGED])
def test_a_mode_without_a_database_says_why_it_is_left_out(mode: AccountingMode) -> None:
    plan = planned(mode)
    assert plan.skipped == dict.fromkeys(
        ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb"),
        f"Slurm accounting mode {mode.value} installs no database",
    )


def test_only_what_is_meant_is_planned_and_a_name_that_nobody_knows_is_refused() -> None:
    plan = planned(AccountingMode.DISABLED, only=("nfd", "mariadb-operator"))
    assert plan.levels == (("nfd",),)
    assert list(plan.skipped) == ["mariadb-operator"]
    with pytest.raises(AicrError, match='unknown component "nfdd"'):
        planned(AccountingMode.DISABLED, only=("nfdd",))


def test_without_accounting_nothing_is_probed() -> None:
    component = planned(AccountingMode.DISABLED).components["slinky-slurm"]
    assert (component.before, component.after) == ((), ())


@pytest.mark.parametrize("mode", [AccountingMode.CUSTOMER_MANAGED, AccountingMode.AICR_PROVIDED])
def test_with_accounting_the_database_is_probed_before_and_slurmdbd_asked_after(mode: AccountingMode) -> None:
    values = {"slurm-accounting-mariadb": {"mariadb": {"image": "mariadb:11.8.8"}}}
    component = planned(mode, accounting(), values=values if mode is AccountingMode.AICR_PROVIDED else {}).components[
        "slinky-slurm"
    ]
    (before,), (after,) = component.before, component.after
    image = {"image": "mariadb:11.8.8"} if mode is AccountingMode.AICR_PROVIDED else {}
    assert before == {
        "action": "database_probe",
        "namespace": "slurm",
        "slurm_accounting_mode": mode.value,
        "database": {
            "host": "db.example.com",
            "port": 3307,
            "database": "acct",
            "username": "svc",
            "password_secret": {"name": "db", "key": "word"},
        },
        "tls": {"mode": "disabled"},
        **image,
    }
    assert after == {
        "action": "accounting_check",
        "namespace": "slurm",
        "name": "slinky-slurm",
        "cluster": "slurm_slinky-slurm",
    }


def test_the_probe_goes_where_slurmdbd_goes() -> None:
    pod = {
        "nodeSelector": {"pool": "system"},
        "tolerations": [{"operator": "Exists"}],
        "imagePullSecrets": [{"name": "b"}],
    }
    slurm = {**accounting(podSpec=pod), "imagePullSecrets": [{"name": "a"}, {"name": "b"}]}
    step = planned(AccountingMode.CUSTOMER_MANAGED, slurm).components["slinky-slurm"].before[0]
    assert step["node_selector"] == {"pool": "system"}
    assert step["tolerations"] == [{"operator": "Exists"}]
    assert step["image_pull_secrets"] == ["a", "b"]


SECRET = {"name": "tls", "secret": {"secretName": "db-ca", "items": [{"key": "ca", "path": "ca.crt"}]}}
MAP = {"name": "tls", "configMap": {"name": "bundle"}}
MOUNT = {"name": "tls", "mountPath": "/etc/db"}
LINE = "StorageParameters=SSL_CA=/etc/db/ca.crt"


@pytest.mark.parametrize(
    ("volume", "mount", "more", "expected"),
    [
        (SECRET, MOUNT, {"extraConf": LINE}, {"mode": "required", "ca_secret": {"name": "db-ca", "key": "ca"}}),
        (MAP, MOUNT, {"extraConf": LINE}, {"mode": "required", "ca_config_map": {"name": "bundle", "key": "ca.crt"}}),
        (
            MAP,
            {**MOUNT, "mountPath": "/etc/db/ca.crt", "subPath": "root.pem"},
            {"extraConf": f"DebugLevel=info\n {LINE},SSL_CIPHER=x\n"},
            {"mode": "required", "ca_config_map": {"name": "bundle", "key": "root.pem"}},
        ),
        (
            MAP,
            MOUNT,
            {"extraConfMap": {"StorageParameters": "SSL_CA=/etc/db/ca.crt"}},
            {"mode": "required", "ca_config_map": {"name": "bundle", "key": "ca.crt"}},
        ),
        # A file of the image: another image has it not, so nothing can be verified by it.
        (MAP, {**MOUNT, "mountPath": "/elsewhere"}, {"extraConf": LINE}, {"mode": "preferred"}),
        (MAP, MOUNT, {"extraConf": "# StorageParameters=SSL_CA=/etc/db/ca.crt"}, {"mode": "disabled"}),
        (MAP, MOUNT, {}, {"mode": "disabled"}),
    ],
)
def test_the_probe_speaks_to_the_database_as_slurmdbd_will(
    volume: object, mount: object, more: dict[str, object], expected: object
) -> None:
    slurm = accounting(podSpec={"volumes": [volume]}, slurmdbd={"volumeMounts": [mount]}, **more)
    assert planned(AccountingMode.CUSTOMER_MANAGED, slurm).components["slinky-slurm"].before[0]["tls"] == expected


@pytest.mark.parametrize(
    ("values", "name", "cluster"),
    [
        ({}, "slinky-slurm", "slurm_slinky-slurm"),
        ({"fullnameOverride": "other"}, "other", "slurm_other"),
        ({"nameOverride": "x"}, "slinky-slurm-x", "slurm_slinky-slurm-x"),
        ({"clusterName": "prod"}, "slinky-slurm", "prod"),
    ],
)
def test_slurmdbd_is_asked_for_the_cluster_by_the_name_that_the_chart_gives_it(
    values: dict[str, object], name: str, cluster: str
) -> None:
    step = planned(AccountingMode.CUSTOMER_MANAGED, {**accounting(), **values}).components["slinky-slurm"].after[0]
    assert (step["name"], step["cluster"]) == (name, cluster)


def test_a_recipe_from_before_the_modes_means_what_its_values_say() -> None:
    assert planned(None, accounting()).mode is AccountingMode.CUSTOMER_MANAGED
    assert planned(None).mode is AccountingMode.DISABLED


def test_a_record_says_again_what_was_recorded() -> None:
    plan = planned(AccountingMode.DISABLED)
    found = read_record(record(plan))
    assert (found.state, found.mode, found.recipe_digest) == ("deployed", AccountingMode.DISABLED, "sha256:r")
    assert [(one.name, one.version) for one in found.releases] == [
        ("nfd", "1.0.0"),
        ("slinky-slurm-pre", ""),
        ("slinky-slurm", "1.0.0"),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (dict.fromkeys(("state", "mode", "recipe-digest", "bundle-digest", "releases")), "it has no state"),
        ({"state": None}, "it has no state"),
        ({"state": "ü"}, "its state, ü, is none of deploying, deployed, uninstalling, uninstalled"),
        ({"mode": "foo"}, "its mode, foo, is none of disabled, customer-managed, aicr-provided"),
        ({"bundle-digest": None}, "it has no bundle-digest"),
        ({"releases": "no"}, "its releases, no, is no JSON"),
        ({"releases": ""}, "its releases, which is empty, is no JSON"),
        ({"releases": "[" * 100_000}, "is no JSON"),
        ({"releases": "{}"}, "its releases, {}, is no list of releases"),
        ({"releases": '"xy"'}, "is no list of releases"),
        ({"releases": "[7]"}, "has a release, number 1, without the text name, namespace, component, chart"),
        (
            {"releases": '[{"name":7}]'},
            'its releases, [{"name":7}], has a release, number 1, without the text name, namespace, component, chart',
        ),
        ({"kept": "[{}]"}, "its kept, [{}], has a release, number 1"),
    ],
)
def test_a_record_that_cannot_be_read_is_never_taken_for_none(change: dict[str, Any], said: str) -> None:
    """What is wrong is named, and the way out is one that works: a deployment refuses such a record itself."""
    held = record(planned(AccountingMode.DISABLED))
    data = {key: value for key, value in {**held["data"], **change}.items() if value is not None}
    with pytest.raises(AicrError) as caught:
        read_record({**held, "data": data})
    assert caught.value.code.value == "CONFLICT"
    assert "default/aicr-deployment" in caught.value.message
    assert said in caught.value.message
    assert len(caught.value.message) < 400
    assert "kubectl delete configmap aicr-deployment --namespace default" in caught.value.hint


@pytest.mark.parametrize("state", ["deploying", "deployed", "uninstalling", "uninstalled"])
def test_every_state_that_is_written_can_be_read(state: str) -> None:
    held = record(planned(AccountingMode.DISABLED))
    assert read_record({**held, "data": {**held["data"], "state": state}}).state == state
