# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of a real API server: with the documented rights and no other, with reads alone, through faults."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.digest import without_header
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_to_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import rights
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.address import Address
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.configmap import Stored, load, store
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.snapshot import TIMEOUTS, Collected, collect
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.api import ApiError
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES = "/apis/rbac.authorization.k8s.io/v1"
SERVED = {
    "nvidia.com": {"clusterpolicies": "ClusterPolicy"},
    "k8s.mariadb.com": {"mariadbs": "MariaDB"},
    "slinky.slurm.net": {
        "controllers": "Controller",
        "nodesets": "NodeSet",
        "loginsets": "LoginSet",
        "restapis": "RestApi",
        "accountings": "Accounting",
    },
}
GAPS = {
    "nodes": {"K8s.node", "NodeTopology"},
    "pods": {"K8s.image"},
    "clusterpolicies": {"K8s.policy"},
    "mariadbs": {"K8s.mariadb-operator"},
    "controllers": {"K8s.slinky-slurm"},
    "nodesets": {"K8s.slinky-slurm.nodeset-count"},
    "loginsets": {"K8s.slinky-slurm.loginset-count"},
    "restapis": {"K8s.slinky-slurm.restapi-count"},
    "accountings": {"K8s.slinky-slurm.accounting-count"},
    "deployments": {"K8s.slinky-operator"},
}


def crd(group: str, plural: str, kind: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "singular": kind.lower()},
            "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


@pytest.fixture(scope="module")
def kinds(bed: Bed) -> Iterator[None]:
    """All kinds that a collector looks for are served, and there is one Slurm controller."""
    remove(bed)  # what charts of other tests have left: Helm keeps CRDs
    for group, resources in SERVED.items():
        for plural, kind in resources.items():
            bed.api.create(CRDS, crd(group, plural, kind))
    controllers = "/apis/slinky.slurm.net/v1beta1/namespaces/default/controllers"

    def served() -> bool:
        for group, resources in SERVED.items():
            listed = bed.api.get(f"/apis/{group}/v1beta1")["resources"]
            if not {resource["name"] for resource in listed} >= set(resources):
                return False
        return True

    controller = {
        "apiVersion": "slinky.slurm.net/v1beta1",
        "kind": "Controller",
        "metadata": {"name": "slurm"},
        "spec": {},
    }
    eventually(lambda: found(served))
    eventually(lambda: found(lambda: bool(bed.api.create(controllers, controller))))
    yield
    remove(bed)


def found(ask: Callable[[], bool]) -> bool:
    """What it says, or no as long as the API server does not know the kind yet."""
    try:
        return ask()
    except ApiError as error:
        if error.code not in (404, 429):
            raise
        return False


def remove(bed: Bed) -> None:
    """All kinds that a collector looks for, whoever has made them."""
    there = {one["metadata"]["name"] for one in bed.api.items(CRDS)}
    for group, resources in SERVED.items():
        for name in there & {f"{plural}.{group}" for plural in resources}:
            bed.api.delete(f"{CRDS}/{name}")
    names = {f"{plural}.{group}" for group, resources in SERVED.items() for plural in resources}
    eventually(lambda: not names & {one["metadata"]["name"] for one in bed.api.items(CRDS)})


@pytest.fixture(scope="module")
def reader(bed: Bed, kinds: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A kubeconfig of the documented ServiceAccount."""
    account, role, binding = rights.manifests()
    bed.api.create("/api/v1/namespaces/default/serviceaccounts", account)
    bed.api.create(f"{ROLES}/clusterroles", role)
    bed.api.create(f"{ROLES}/clusterrolebindings", binding)
    token = bed.service_account_token("default", "aicr-snapshot")
    yield bed.write_kubeconfig(tmp_path_factory.mktemp("reader") / "kubeconfig", token=token)
    for path in (
        f"{ROLES}/clusterrolebindings/aicr-snapshot",
        f"{ROLES}/clusterroles/aicr-snapshot",
        "/api/v1/namespaces/default/serviceaccounts/aicr-snapshot",
    ):
        bed.api.delete(path)


def take(kubeconfig: Path, *collectors: str, **options: Any) -> Collected:
    connection = Connection(Access(kubeconfig=str(kubeconfig)), {})
    return collect(connection, collectors or TIMEOUTS, now=datetime.now(UTC), tool_version="0.1.0", **options)


def essence(taken: Collected) -> dict[str, Any]:
    return without_header(snapshot_to_document(taken.snapshot))


def undisturbed(bed: Bed, ask: Callable[[], Collected]) -> tuple[Collected, dict[str, Any]]:
    """A snapshot, and the essence of one that an administrator takes at the same time.

    Pods of tests before this one may be on their way out; what was taken while the cluster changed is taken again.
    """

    def once() -> tuple[Collected, dict[str, Any]] | None:
        before = essence(take(bed.kubeconfig))
        asked = ask()
        return (asked, before) if essence(take(bed.kubeconfig)) == before else None

    found = eventually(once)
    assert found is not None
    return found


def names(taken: Collected) -> set[str]:
    return {gap.partition(": ")[0] for gap in taken.incomplete}


def test_the_documented_rights_are_enough_and_only_reads_are_made(bed: Bed, reader: Path) -> None:
    with bed.audit.recording("system:serviceaccount:default:aicr-snapshot") as requests:
        eventually(lambda: take(reader).incomplete == ())
        taken, administrators = undisturbed(bed, lambda: take(reader))
    assert essence(taken) == administrators
    assert {request.verb for request in requests} <= {"get", "list"}
    assert taken.snapshot.reading("K8s", "slinky-slurm", "collection-state") == "detected"
    assert taken.snapshot.reading("K8s", "mariadb-operator", "collection-state") == "api-detected"


def test_each_right_is_missed_by_name(bed: Bed, reader: Path) -> None:
    """The rest of the snapshot stands."""
    path, whole = f"{ROLES}/clusterroles/aicr-snapshot", rights.rules(TIMEOUTS)
    assert {resource for rule in whole for resource in rule["resources"]} == set(GAPS)
    try:
        for lost, named in GAPS.items():
            left = [{**rule, "resources": [one for one in rule["resources"] if one != lost]} for rule in whole]
            bed.api.patch(path, {"rules": [rule for rule in left if rule["resources"]]})
            taken = eventually(lambda named=named: names(one := take(reader)) == named and one)
            assert "cannot list resource" in taken.incomplete[0]
            assert taken.snapshot.reading("K8s", "server", "version") is not None
    finally:
        bed.api.patch(path, {"rules": whole})


@pytest.mark.parametrize(
    "fault",
    [
        Fault(Kind.THROTTLED, times=3, retry_after=1),
        Fault(Kind.FAILED, times=3),
        Fault(Kind.CUT, times=3),
        Fault(Kind.CUT, "/api/v1/nodes", times=2, first_bytes=2000),
    ],
    ids=["429", "500", "cut", "cut in the middle"],
)
def test_passing_faults_change_nothing(bed: Bed, tmp_path: Path, fault: Fault) -> None:
    def through_faults() -> Collected:
        own = replace(fault)
        with FaultyApi(bed, own) as proxy:
            taken = take(proxy.kubeconfig(tmp_path / "kubeconfig"))
        assert own.befallen == own.times
        return taken

    taken, direct = undisturbed(bed, through_faults)
    assert essence(taken) == direct


@pytest.mark.parametrize("kind", [Kind.ENDLESS, Kind.SILENT, Kind.THROTTLED, Kind.FAILED])
def test_lasting_faults_of_one_list_leave_a_gap_in_time(bed: Bed, tmp_path: Path, kind: Kind) -> None:
    with FaultyApi(bed, Fault(kind, "/api/v1/pods", retry_after=1)) as proxy:
        begin = time.monotonic()
        taken = take(proxy.kubeconfig(tmp_path / "kubeconfig"), timeouts={"k8s": 4})
    assert time.monotonic() - begin < 15
    assert names(taken) == {"K8s.image"}


def test_an_api_that_only_breaks_off_is_an_error(bed: Bed, tmp_path: Path) -> None:
    with FaultyApi(bed, Fault(Kind.CUT, first_bytes=0)) as proxy, pytest.raises(AicrError) as caught:
        take(proxy.kubeconfig(tmp_path / "kubeconfig"))
    assert caught.value.code.value == "SERVICE_UNAVAILABLE"


def test_an_artifact_in_a_configmap_of_a_real_server(bed: Bed, namespace: str) -> None:
    connection, address = Connection(Access(kubeconfig=str(bed.kubeconfig)), {}), Address(namespace, "aicr-snapshot")
    header = {"timestamp": "2026-11-30T10:30:00Z", "tool_version": "0.1.0"}
    store(connection, address, "Snapshot", Stored("a: 1\n", "yaml"), **header, dry_run=True)
    with pytest.raises(AicrError, match="no such ConfigMap"):
        load(connection, address)
    store(connection, address, "Snapshot", Stored("a: 1\n", "yaml"), **header)
    assert load(connection, address) == Stored("a: 1\n", "yaml")
    store(connection, address, "Snapshot", Stored('{"a": 2}\n', "json"), **header)
    assert load(connection, address) == Stored('{"a": 2}\n', "json")
    managed = bed.api.get(address.path)["metadata"]["managedFields"]
    assert [(entry["manager"], entry["operation"]) for entry in managed] == [("aicr", "Apply")]
    with pytest.raises(AicrError, match="no namespace nowhere"):
        store(connection, Address("nowhere", "x"), "Snapshot", Stored("a", "yaml"), **header)
