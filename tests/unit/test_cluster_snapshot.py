# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of a cluster: what is read is there, what could not be read is named, and nothing is made up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fake_api import FakeApi, Reply, group, node, status
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import (
    Snapshot,
    snapshot_from_document,
    snapshot_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import request as requests
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import rights
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.findings import Findings
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.snapshot import TIMEOUTS, Collected, collect
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.topology import Topology
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.collected import COLLECTED
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

NOW = datetime(2026, 11, 30, 10, 30, tzinfo=UTC)
NODES, PODS, DEPLOYMENTS = "/api/v1/nodes", "/api/v1/pods", "/apis/apps/v1/deployments"
MARIADBS = "/apis/k8s.mariadb.com/v1alpha1/mariadbs"
SLINKY = "/apis/slinky.slurm.net/v1beta1"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
KINDS = {
    "controllers": "Controller",
    "nodesets": "NodeSet",
    "loginsets": "LoginSet",
    "restapis": "RestApi",
    "accountings": "Accounting",
}
HELM = {"meta.helm.sh/release-name": "slurm", "meta.helm.sh/release-namespace": "slurm"}


def pod(*images: str, **more: list[str]) -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "a", "image": image} for image in images]}
    return {
        "metadata": {"name": "p"},
        "spec": spec | {kind: [{"image": i} for i in some] for kind, some in more.items()},
    }


def slurm(name: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "slurm", "name": name, **metadata}, "spec": spec or {}}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A cluster without anything of interest: two nodes, a pod."""
    objects = {
        "/version": {
            "gitVersion": "v1.34.1-eks-3cfe0ce",
            "platform": "linux/amd64",
            "goVersion": "go1.24.9",
            "major": "1",
        },
        NODES: [
            node("cpu-1", {"pool": "system"}),
            node("gpu-1", {"pool": "gpu"}, (("nvidia.com/gpu", "present", "NoSchedule"),)),
        ],
        PODS: [pod("registry.k8s.io/coredns/coredns:v1.12.4")],
        DEPLOYMENTS: [],
    }
    with FakeApi(objects) as api:
        yield api


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(requests, "LONGEST_PAUSE_SECONDS", 0.02)


def take(api: FakeApi, *collectors: str, **options: Any) -> Collected:
    connection = Connection(Access(host=api.url), {})
    return collect(connection, collectors or tuple(TIMEOUTS), now=NOW, tool_version="0.1.0", **options)


def data(snapshot: Snapshot, subtype: str, type_name: str = "K8s") -> dict[str, Any] | None:
    found = next(snapshot.subtypes(type_name, subtype), None)
    return None if found is None else dict(found.data or {})


def items(snapshot: Snapshot, subtype: str, type_name: str = "K8s") -> list[tuple[Any, Any]]:
    found = next(snapshot.subtypes(type_name, subtype))
    return [(dict(item.context or {}), dict(item.data or {})) for item in found.items or ()]


def refuse(*paths: str, code: int = 403) -> Any:
    return lambda request: status(code, "no") if request.path in paths else None


def test_a_whole_snapshot(api: FakeApi) -> None:
    snapshot, warnings, incomplete = take(api)
    assert (warnings, incomplete) == ((), ())
    document = snapshot_to_document(snapshot)
    assert snapshot_from_document(document, "x") == (snapshot, [])
    assert document["metadata"] == {
        "timestamp": "2026-11-30T10:30:00Z",
        "version": "0.1.0",
        "source-node": "gpu-1",
    }
    assert [measurement["type"] for measurement in document["measurements"]] == ["K8s", "NodeTopology"]
    assert data(snapshot, "server") == {
        "version": "v1.34.1-eks-3cfe0ce",
        "platform": "linux/amd64",
        "goVersion": "go1.24.9",
    }
    assert data(snapshot, "node") == {
        "source-node": "gpu-1",
        "provider": "eks",
        "provider-id": "aws:///us-east-1a/gpu-1",
        "container-runtime-id": "containerd://1.7.28",
        "container-runtime-name": "containerd",
        "container-runtime-version": "1.7.28",
        "kubelet-version": "v1.34.1-eks-1",
        "kernel-version": "6.8.0-1041-aws",
        "operating-system": "linux",
        "os-image": "Ubuntu 24.04.3 LTS",
    }
    assert data(snapshot, "image") == {"coredns": "v1.12.4"}
    assert data(snapshot, "mariadb-operator") == {"collection-state": "absent", "api-available": False}
    assert data(snapshot, "slinky-slurm") == {
        "collection-state": "absent",
        "api-available": False,
        "detected": False,
    }
    assert data(snapshot, "summary", "NodeTopology") == {"node-count": 2, "taint-count": 1, "label-count": 2}


def test_a_snapshot_only_reads_and_lists_nodes_once(api: FakeApi) -> None:
    take(api)
    assert {request.method for request in api.requests} == {"GET"}
    assert api.paths.count(NODES) == 1
    assert len(api.requests) == 7


def test_every_subtype_and_key_can_be_addressed_by_a_constraint(api: FakeApi) -> None:
    full_cluster(api)
    for measurement in take(api).snapshot.measurements:
        for subtype in measurement.subtypes or ():
            readings = COLLECTED[measurement.type][subtype.subtype]
            for key in subtype.data or {}:
                assert readings.scalars is not None
                assert readings.scalars.allow(key), (subtype.subtype, key)
            for item in subtype.items or () if readings.items else ():
                for key in {**(item.context or {}), **(item.data or {})}:
                    assert readings.items is not None
                    assert readings.items.allow(key), (subtype.subtype, key)


@pytest.mark.parametrize(
    ("provider_id", "provider"),
    [
        ("aws:///us-east-1a/i-0", "eks"),
        ("gce://project/zone/name", "gke"),
        ("azure:///subscriptions/x", "aks"),
        ("oci://x", "oke"),
        ("ocid1.instance.oc1..x", "oke"),
        ("kind://docker/kind/kind-control-plane", "kind"),
        ("Other://x", "other"),
        (None, None),
    ],
)
def test_the_service_by_the_providers_id(api: FakeApi, provider_id: str | None, provider: str | None) -> None:
    one = node("n")
    one["spec"]["providerID"] = provider_id
    api.objects[NODES] = [one]
    assert (data(take(api, "k8s").snapshot, "node") or {}).get("provider") == provider


@pytest.mark.parametrize(
    "gpu",
    [
        {"metadata": {"labels": {"nvidia.com/gpu.present": "true"}}},
        {"metadata": {"labels": {"cloud.google.com/gke-accelerator": "nvidia-h100"}}},
        {"status": {"capacity": {"nvidia.com/gpu": "8"}}},
        {"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}},
    ],
)
def test_the_sampled_node_is_the_first_with_gpus(api: FakeApi, gpu: dict[str, Any]) -> None:
    def with_gpu(name: str) -> dict[str, Any]:
        return {
            "metadata": {"name": name, **gpu.get("metadata", {})},
            **{k: v for k, v in gpu.items() if k != "metadata"},
        }

    api.objects[NODES] = [node("a"), with_gpu("c"), with_gpu("b")]
    assert data(take(api, "k8s").snapshot, "node") == {"source-node": "b"}
    api.objects[NODES] = [node("b"), node("a", {"nvidia.com/gpu.present": "false"})]
    assert (data(take(api, "k8s").snapshot, "node") or {})["source-node"] == "a"


def test_images_of_all_containers_by_the_last_part_of_their_name(api: FakeApi) -> None:
    api.objects[PODS] = [
        pod(
            "localhost:5000/a/b/one:1",
            "two",
            initContainers=["r/three@sha256:abc"],
            ephemeralContainers=["r/four:4@sha256:d"],
        ),
        pod("other.registry/one:2"),
        pod("r/one:1"),
    ]
    snapshot = take(api, "k8s").snapshot
    assert data(snapshot, "image") == {"one": "2", "two": "latest", "three": "latest", "four": "4"}
    assert items(snapshot, "image") == [({"image": "one"}, {"tag": "1"}), ({"image": "one"}, {"tag": "2"})]


def test_the_policy_is_flattened_and_keeps_no_values_of_variables(api: FakeApi) -> None:
    spec = {
        "driver": {"enabled": True, "version": "580", "env": [{"name": "HTTPS_PROXY", "value": "http://u:sesame@p"}]},
        "proxy": "http://u:sesame@proxy:3128",
        "empty": [],
        "nothing": {},
        "none": None,
        "count": 3,
        "tolerations": [{"key": "a", "operator": "Exists"}],
    }
    api.objects |= dict(group("nvidia.com", "v1", clusterpolicies="ClusterPolicy"))
    api.objects[POLICIES] = [{"metadata": {"name": "cluster-policy"}, "spec": spec, "status": {"state": "ready"}}]
    snapshot = take(api, "k8s").snapshot
    assert data(snapshot, "policy") == {
        "driver.enabled": "true",
        "driver.version": "580",
        "driver.env": '[{"name":"HTTPS_PROXY"}]',
        "proxy": "http://proxy:3128",
        "none": "<nil>",
        "count": "3",
        "tolerations": '[{"key":"a","operator":"Exists"}]',
    }
    assert "sesame" not in str(snapshot)
    api.objects[POLICIES] += [{"metadata": {"name": "another"}, "spec": {"count": 4}}]
    snapshot = take(api, "k8s").snapshot
    assert {context["policy"]: values["count"] for context, values in items(snapshot, "policy")} == {
        "another": "4",
        "cluster-policy": "3",
    }


def mariadb(api: FakeApi) -> dict[str, Any] | None:
    return data(take(api, "mariadb").snapshot, "mariadb-operator")


def test_mariadb_by_group_resource_and_objects(api: FakeApi) -> None:
    assert mariadb(api) == {"collection-state": "absent", "api-available": False}
    api.objects |= dict(group("k8s.mariadb.com", "v1alpha1", backups="Backup"))
    assert mariadb(api) == {"collection-state": "api-detected", "api-available": False}
    api.objects |= dict(group("k8s.mariadb.com", "v1alpha1", mariadbs="MariaDB"))
    api.objects[MARIADBS] = []
    served = {"api-available": True, "api-version": "v1alpha1"}
    assert mariadb(api) == {"collection-state": "api-detected", **served}
    api.objects[MARIADBS] = [slurm("mariadb")]
    assert mariadb(api) == {"collection-state": "crs-detected", **served}


def test_mariadb_that_our_own_release_has_made_is_in_nobodys_way(api: FakeApi) -> None:
    """Else a cluster could not be taken through all stages a second time."""
    api.objects |= dict(group("k8s.mariadb.com", "v1alpha1", mariadbs="MariaDB"))
    ours = slurm("mariadb", annotations={**HELM, "meta.helm.sh/release-name": "slurm-accounting-mariadb"})
    served = {"api-available": True, "api-version": "v1alpha1"}
    api.objects[MARIADBS] = [ours]
    assert mariadb(api) == {"collection-state": "absent", **served}
    for other in (slurm("theirs"), slurm("theirs", annotations=HELM)):
        api.objects[MARIADBS] = [ours, other]
        assert mariadb(api) == {"collection-state": "crs-detected", **served}


def test_mariadb_in_a_version_that_is_not_the_preferred_one(api: FakeApi) -> None:
    api.objects |= dict(group("k8s.mariadb.com", "v1beta1", "v1alpha1", mariadbs="MariaDB"))
    api.objects["/apis/k8s.mariadb.com/v1beta1"] = {"resources": []}
    api.objects[MARIADBS] = [slurm("mariadb")]
    assert mariadb(api) == {"collection-state": "crs-detected", "api-available": True, "api-version": "v1alpha1"}


@pytest.mark.parametrize("path", ["/apis/k8s.mariadb.com", "/apis/k8s.mariadb.com/v1alpha1", MARIADBS])
@pytest.mark.parametrize("code", [403, 404, 500])
def test_mariadb_that_could_not_be_read_is_unknown_and_never_absent(api: FakeApi, path: str, code: int) -> None:
    api.objects |= dict(group("k8s.mariadb.com", "v1alpha1", mariadbs="MariaDB"))
    api.objects[MARIADBS] = []
    api.trouble = refuse(path, code=code)
    if (path, code) == ("/apis/k8s.mariadb.com", 404):
        return  # that is what absent means
    snapshot, warnings, incomplete = take(api, "k8s", "mariadb")
    assert data(snapshot, "mariadb-operator") == {"collection-state": "unknown"}
    assert [gap.partition(": ")[0] for gap in incomplete] == ["K8s.mariadb-operator"]
    assert path in incomplete[0]
    assert incomplete[0] in warnings[0]


def full_cluster(api: FakeApi) -> None:
    """Slurm with one controller, a GPU operator's policy, MariaDB."""
    api.objects |= dict(group("slinky.slurm.net", "v1beta1", tokens="Token", **KINDS))
    api.objects |= dict(group("nvidia.com", "v1", clusterpolicies="ClusterPolicy"))
    api.objects |= dict(group("k8s.mariadb.com", "v1alpha1", mariadbs="MariaDB"))
    ref = {"controllerRef": {"name": "slurm"}}
    api.objects |= {
        POLICIES: [{"metadata": {"name": "cluster-policy"}, "spec": {"driver": {"enabled": True}}}],
        MARIADBS: [slurm("mariadb")],
        f"{SLINKY}/controllers": [
            slurm(
                "slurm",
                {"clusterName": "alpha", "external": False, "accountingRef": {"name": "slurm"}},
                annotations=HELM,
                labels={"helm.sh/chart": "slurm-1.2.1", "app.kubernetes.io/version": "26.05"},
            )
        ],
        f"{SLINKY}/nodesets": [slurm("a", {**ref, "partition": {"enabled": True}}), slurm("b", ref)],
        f"{SLINKY}/loginsets": [slurm("login", ref)],
        f"{SLINKY}/restapis": [],
        f"{SLINKY}/accountings": [slurm("slurm", {"external": True, "passwordKeyRef": {"key": "sesame"}})],
        DEPLOYMENTS: [
            {
                "metadata": {
                    "namespace": "slinky",
                    "name": "slurm-operator",
                    "annotations": {"meta.helm.sh/release-name": "op", "meta.helm.sh/release-namespace": "slinky"},
                    "labels": {"helm.sh/chart": "slurm-operator-1.2.1", "app.kubernetes.io/version": "1.2.1"},
                }
            }
        ],
    }


def test_slinky_with_one_controller(api: FakeApi) -> None:
    full_cluster(api)
    snapshot, _unused, incomplete = take(api, "slinky")
    assert incomplete == ()
    assert data(snapshot, "slinky-slurm") == {
        "collection-state": "detected",
        "api-available": True,
        "api-version": "v1beta1",
        "detected": True,
        "controller-count": 1,
        "nodeset-count": 2,
        "loginset-count": 1,
        "restapi-count": 0,
        "accounting-count": 1,
    }
    rows = {context["id"]: (context, facts) for context, facts in items(snapshot, "slinky-slurm")}
    assert list(rows) == [
        "Accounting/slurm/slurm",
        "Controller/slurm/slurm",
        "LoginSet/slurm/login",
        "NodeSet/slurm/a",
        "NodeSet/slurm/b",
    ]
    assert rows["Controller/slurm/slurm"][1] == {
        "cluster-name": "alpha",
        "external": False,
        "accounting-ref-present": True,
    }
    assert rows["NodeSet/slurm/a"] == (
        {
            "id": "NodeSet/slurm/a",
            "kind": "NodeSet",
            "namespace": "slurm",
            "name": "a",
            "api-version": "v1beta1",
            "controller-id": "Controller/slurm/slurm",
        },
        {"partition-enabled": True},
    )
    assert rows["Accounting/slurm/slurm"][1] == {"external": True}
    assert (data(snapshot, "slinky-crds") or {})["controllers"] == "v1beta1"
    assert data(snapshot, "slinky-operator") == {"operator-count": 1}
    assert items(snapshot, "slinky-operator") == [
        ({"namespace": "slinky", "name": "slurm-operator"}, {"version": "1.2.1"})
    ]
    assert items(snapshot, "slinky-releases") == [
        ({"namespace": "slinky", "name": "op"}, {"chart": "slurm-operator-1.2.1", "app-version": "1.2.1"}),
        ({"namespace": "slurm", "name": "slurm"}, {"chart": "slurm-1.2.1", "app-version": "26.05"}),
    ]
    assert "sesame" not in str(snapshot)


def test_slinky_without_and_with_several_controllers(api: FakeApi) -> None:
    full_cluster(api)
    api.objects[f"{SLINKY}/controllers"] = []
    found = data(take(api, "slinky").snapshot, "slinky-slurm") or {}
    assert (found["collection-state"], found["detected"], found["controller-count"]) == ("absent", False, 0)
    assert found["api-available"] is True
    api.objects[f"{SLINKY}/controllers"] = [slurm("a"), slurm("b")]
    found = data(take(api, "slinky").snapshot, "slinky-slurm") or {}
    assert (found["collection-state"], found["detected"], found["controller-count"]) == (
        "unsupported-multicluster",
        True,
        2,
    )
    assert "nodeset-count" not in found


@pytest.mark.parametrize("code", [403, 404, 500])
def test_a_list_of_slinky_that_fails_is_never_a_zero(api: FakeApi, code: int) -> None:
    full_cluster(api)
    api.trouble = refuse(f"{SLINKY}/controllers", code=code)
    snapshot, _unused, incomplete = take(api, "slinky")
    assert data(snapshot, "slinky-slurm") == {
        "collection-state": "unknown",
        "api-available": True,
        "api-version": "v1beta1",
    }
    assert [gap.partition(": ")[0] for gap in incomplete] == ["K8s.slinky-slurm"]
    api.trouble = refuse(f"{SLINKY}/loginsets", code=code)
    snapshot, _unused, incomplete = take(api, "slinky")
    found = data(snapshot, "slinky-slurm") or {}
    assert (found["collection-state"], found["controller-count"]) == ("detected", 1)
    assert not [key for key in found if key.endswith("-count") and key != "controller-count"]
    assert [gap.partition(": ")[0] for gap in incomplete] == ["K8s.slinky-slurm.loginset-count"]


def test_a_kind_of_slinky_that_is_not_served_is_never_a_zero(api: FakeApi) -> None:
    full_cluster(api)
    api.objects |= dict(
        group("slinky.slurm.net", "v1beta1", **{name: kind for name, kind in KINDS.items() if name != "accountings"})
    )
    snapshot, _unused, incomplete = take(api, "slinky")
    assert "accounting-count" not in (data(snapshot, "slinky-slurm") or {})
    assert [gap.partition(": ")[0] for gap in incomplete] == ["K8s.slinky-slurm.accounting-count"]


GAPS = [
    (NODES, {"K8s.node", "NodeTopology"}),
    (PODS, {"K8s.image"}),
    ("/version", {"K8s.server"}),
    (POLICIES, {"K8s.policy"}),
    (MARIADBS, {"K8s.mariadb-operator"}),
    (f"{SLINKY}/controllers", {"K8s.slinky-slurm"}),
    (f"{SLINKY}/nodesets", {"K8s.slinky-slurm.nodeset-count"}),
    (DEPLOYMENTS, {"K8s.slinky-operator"}),
]


@pytest.mark.parametrize(("path", "named"), GAPS)
def test_a_missing_right_leaves_a_gap_by_name_and_all_else_stands(api: FakeApi, path: str, named: set[str]) -> None:
    full_cluster(api)
    whole = {subtype.subtype for m in take(api).snapshot.measurements for subtype in m.subtypes or ()}
    api.trouble = refuse(path)
    snapshot, warnings, incomplete = take(api)
    assert {gap.partition(": ")[0] for gap in incomplete} == named
    assert snapshot.incomplete == incomplete
    assert len(warnings) == 1
    lost = whole - {subtype.subtype for m in snapshot.measurements for subtype in m.subtypes or ()}
    assert lost <= {name.rpartition(".")[2] for name in named} | {"summary", "label", "taint"}
    assert take(api).incomplete == incomplete
    with pytest.raises(AicrError, match="the snapshot would have gaps") as caught:
        take(api, on_partial="fail")
    assert caught.value.details["incomplete"] == list(incomplete)


def test_a_right_for_each_list_and_for_nothing_else(api: FakeApi) -> None:
    full_cluster(api)
    for collector in TIMEOUTS:
        api.requests.clear()
        take(api, collector)
        listed = set()
        for request in api.requests:
            parts = request.path.split("/")
            if request.query.get("limit"):
                listed.add(("", parts[3]) if parts[1] == "api" else (parts[2], parts[4]))
        granted = {(rule["apiGroups"][0], name) for rule in rights.rules([collector]) for name in rule["resources"]}
        assert listed == granted
    assert all(rule["verbs"] == ["list"] for rule in rights.rules(TIMEOUTS))
    account, role, binding = rights.manifests(namespace="ops")
    assert role["rules"] == rights.rules(TIMEOUTS)
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": account["metadata"]["name"], "namespace": "ops"}]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


@pytest.mark.parametrize(
    ("collector", "path", "named"),
    [
        ("k8s", PODS, "K8s.image"),
        ("topology", NODES, "NodeTopology"),
        ("mariadb", "/apis/k8s.mariadb.com", "K8s.mariadb-operator"),
        ("slinky", "/apis/slinky.slurm.net", "K8s.slinky-slurm"),
    ],
)
@pytest.mark.parametrize("reply", [Reply(silence=30), Reply(drip=0.05)], ids=["silent", "endless"])
def test_a_collector_past_its_time_holds_nobody_up(
    api: FakeApi, collector: str, path: str, named: str, reply: Reply
) -> None:
    api.trouble = lambda request: reply if request.path == path else None
    begin = time.monotonic()
    snapshot, _unused, incomplete = take(api, timeouts={"k8s": 2, "topology": 2} | {collector: 0.5})
    assert time.monotonic() - begin < 4
    assert named in {gap.partition(": ")[0] for gap in incomplete}
    assert "0.5 s" in " ".join(incomplete)
    if collector in ("mariadb", "slinky"):
        assert (data(snapshot, named.removeprefix("K8s.")) or {})["collection-state"] == "unknown"
    assert data(snapshot, "server") is not None


def test_a_lost_transport_fails_the_snapshot_at_once(api: FakeApi) -> None:
    api.trouble = lambda request: Reply(body={}, cut=0) if request.path == PODS else None
    with pytest.raises(AicrError) as caught:
        take(api)
    assert caught.value.code.value == "SERVICE_UNAVAILABLE"


def test_a_rejected_login_fails_the_snapshot(api: FakeApi) -> None:
    api.trouble = lambda request: status(401, "Unauthorized")
    with pytest.raises(AicrError) as caught:
        take(api)
    assert caught.value.code.value == "UNAUTHORIZED"


def test_an_api_that_answers_nothing_but_faults_gives_no_snapshot(api: FakeApi) -> None:
    api.trouble = lambda request: status(503)
    with pytest.raises(AicrError) as caught:
        take(api)
    assert caught.value.code.value == "SERVICE_UNAVAILABLE"


def test_threads_end_with_the_snapshot(api: FakeApi) -> None:
    before = threading.active_count()
    take(api)
    end = time.monotonic() + 5
    while threading.active_count() > before + 8 and time.monotonic() < end:  # the fake server keeps one a connection
        time.sleep(0.05)
    assert not [thread for thread in threading.enumerate() if "_run" in thread.name]


# -- topology


def measured(nodes: list[dict[str, Any]], most: int = 0) -> Findings:
    topology, found = Topology(), Findings("NodeTopology")
    for one in nodes:
        topology.take(one)
    topology.measure(found, most)
    return found


def rows(found: Findings, subtype: str) -> dict[tuple[Any, ...], Any]:
    one = next((one for one in found.subtypes if one.subtype == subtype), None)
    return {tuple((item.context or {}).values()): dict(item.data or {}) for item in (one.items if one else None) or ()}


def folded(found: Findings, subtype: str) -> dict[str, Any]:
    return dict(next(one for one in found.subtypes if one.subtype == subtype).data or {})


def test_a_label_with_values_and_a_label_of_that_name_both_survive() -> None:
    """Case N25."""
    found = measured([node("a", {"k": "true", "k.true": "true"}), node("b", {"k": "false", "k.true": "true"})])
    assert {key: row["node-list"] for key, row in rows(found, "label").items()} == {
        ("k", "true"): "a",
        ("k", "false"): "b",
        ("k.true", "true"): "a,b",
    }
    assert folded(found, "label") == {"k.true": "true|a,b", "k.false": "false|b"}


def test_two_taints_with_one_key_and_effect_both_survive() -> None:
    """Case N25."""
    found = measured(
        [
            node("a", taints=(("t", "x", "NoSchedule"),)),
            node("b", taints=(("t", "y", "NoSchedule"), ("u", "", "NoExecute"))),
        ]
    )
    assert {key: row["node-list"] for key, row in rows(found, "taint").items()} == {
        ("t", "NoSchedule", "x"): "a",
        ("t", "NoSchedule", "y"): "b",
        ("u", "NoExecute", ""): "b",
    }
    assert folded(found, "taint")["u"] == "NoExecute||b"
    assert set(folded(found, "taint")) == {"t.NoSchedule", "u"}


def test_lists_of_nodes_are_cut_where_that_is_wanted() -> None:
    found = measured([node(name, {"k": "v", "own": name}) for name in "dcba"], most=2)
    assert rows(found, "label")["k", "v"] == {"node-count": 4, "node-list": "a,b (+2 more)", "truncated": True}
    assert rows(found, "label")["own", "a"] == {"node-count": 1, "node-list": "a", "truncated": False}
    assert folded(found, "label")["k"] == "v|a,b (+2 more)"


NAMES = st.sampled_from(["k", "k.true", "k.true.x", "true", "a/b", "k.NoSchedule"])
VALUES = st.sampled_from(["true", "false", "", "x", "true.x", "NoSchedule"])
LABELS = st.dictionaries(NAMES, VALUES, max_size=5)
TAINTS = st.lists(st.tuples(NAMES, VALUES, st.sampled_from(["NoSchedule", "NoExecute"])), max_size=4, unique=True)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(LABELS, TAINTS), max_size=6))
def test_no_label_and_no_taint_is_ever_lost(cluster: list[tuple[dict[str, str], list[tuple[str, str, str]]]]) -> None:
    names = [f"n{index}" for index in range(len(cluster))]
    found = measured([node(name, labels, tuple(taints)) for name, (labels, taints) in zip(names, cluster, strict=True)])
    labels = {
        (name, key, value)
        for name, (labels, _unused) in zip(names, cluster, strict=True)
        for key, value in labels.items()
    }
    taints = {
        (name, key, effect, value)
        for name, (_unused, taints) in zip(names, cluster, strict=True)
        for key, value, effect in taints
    }
    told = {
        subtype: {(name, *key) for key, row in rows(found, subtype).items() for name in row["node-list"].split(",")}
        for subtype in ("label", "taint")
    }
    assert told == {"label": labels, "taint": taints}
