# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bed is a real control plane with the nodes that its cluster's file describes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, ApiError, Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually


def test_the_server_calls_itself_what_the_vendor_would(bed: Bed) -> None:
    assert bed.api.get("/version")["gitVersion"] == "v1.36.3-eks-3025e55"


def test_nodes_are_ready_and_look_like_the_vendors(bed: Bed) -> None:
    nodes = list(bed.api.items("/api/v1/nodes"))
    gpu = [node for node in nodes if node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "p5.48xlarge"]
    assert len(nodes) == 5
    assert len(gpu) == 3
    for node in nodes:
        conditions = {condition["type"]: condition["status"] for condition in node["status"]["conditions"]}
        assert conditions["Ready"] == "True"
        assert node["spec"]["providerID"].startswith("aws:///us-east-1a/i-")
        assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3-eks-3025e55"
    for node in gpu:
        assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
        assert node["metadata"]["labels"]["topology.kubernetes.io/region"] == "us-east-1"
    images = {name for image in gpu[0]["status"]["images"] for name in image["names"]}
    assert any("/amazon-k8s-cni:" in name for name in images)


def test_each_node_has_a_root_folder_of_its_own(bed: Bed) -> None:
    nodes = list(bed.api.items("/api/v1/nodes"))
    roots = [bed.node(node["metadata"]["name"]) for node in nodes]
    assert len(set(roots)) == len(roots)
    for node, root in zip(nodes, roots, strict=True):
        gpus = [
            device
            for device in (root / "sys/bus/pci/devices").iterdir()
            if ((device / "vendor").read_text(), (device / "class").read_text()) == ("0x10de\n", "0x030200\n")
        ]
        expected = 8 if node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "p5.48xlarge" else 0
        assert len(gpus) == expected
        assert 'VERSION_ID="24.04"' in (root / "etc/os-release").read_text()
        assert (root / "proc/sys/kernel/osrelease").read_text() == node["status"]["nodeInfo"]["kernelVersion"] + "\n"


def test_a_node_stays_not_ready_while_it_is_held(bed: Bed) -> None:
    path = "/api/v1/nodes/" + next(bed.api.items("/api/v1/nodes"))["metadata"]["name"]

    def ready() -> str:
        conditions = bed.api.get(path)["status"]["conditions"]
        return next(str(c["status"]) for c in conditions if c["type"] == "Ready")

    bed.api.patch(path, {"metadata": {"annotations": {"bed/hold": ""}}})
    condition = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "held by a test"}
    strategic = "application/strategic-merge-patch+json"
    bed.api.patch(f"{path}/status", {"status": {"conditions": [condition]}}, strategic)
    assert ready() == "False"
    bed.api.patch(path, {"metadata": {"annotations": {"bed/hold": None}}})
    assert eventually(lambda: ready() == "True")


def test_rights_are_checked(bed: Bed, tmp_path: Path) -> None:
    with bed.api_as("nobody") as nobody, pytest.raises(ApiError) as refused:
        nobody.get("/api/v1/nodes")
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    certificate, key = bed.authority.client("ann", ["system:masters"])
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    with Api.of_kubeconfig(bed.write_kubeconfig(tmp_path / "kubeconfig", **user)) as by_certificate:
        assert len(list(by_certificate.items("/api/v1/nodes"))) == 5


def test_a_workload_becomes_ready_with_its_volume(bed: Bed, namespace: str) -> None:
    """Controllers, scheduler and volume provisioner are real; only the containers do not run."""
    spec = {
        "selector": {"matchLabels": {"app": "db"}},
        "serviceName": "db",
        "template": {
            "metadata": {"labels": {"app": "db"}},
            "spec": {
                "containers": [
                    {"name": "db", "image": "example/db:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
                ]
            },
        },
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }
        ],
    }
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    bed.api.create(path, {"metadata": {"name": "db"}, "spec": spec})
    assert eventually(lambda: bed.api.get(f"{path}/db")["status"].get("readyReplicas") == 1)
    claim = bed.api.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/data-db-0")
    assert claim["status"]["phase"] == "Bound"


@pytest.mark.parametrize(("helm", "version"), [("helm", "v4.3.1"), ("helm3", "v3.18.0")])
def test_helm_installs_a_chart(bed: Bed, namespace: str, tmp_path: Path, helm: str, version: str) -> None:
    assert bed.run(helm, "version", "--short").stdout.startswith(version)
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: probe\nversion: 1.0.0\nkubeVersion: '>= 1.30.0-0'\n")
    (chart / "templates/configmap.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: probe\ndata:\n  by: {{ .Release.Name }}\n"
    )
    bed.run(helm, "install", "first", str(chart), "--namespace", namespace, "--wait")
    assert bed.api.get(f"/api/v1/namespaces/{namespace}/configmaps/probe")["data"] == {"by": "first"}


def test_kubectl_reaches_the_bed_and_only_the_bed(bed: Bed) -> None:
    assert len(bed.run("kubectl", "get", "nodes", "--output=name").stdout.splitlines()) == 5
    with pytest.raises(subprocess.CalledProcessError):
        bed.run("kubectl", "get", "nodes", KUBECONFIG="/nonexistent")
