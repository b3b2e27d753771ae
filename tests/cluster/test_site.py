# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way from clusters that answer: one play over several of them, straight from their APIs to bundles."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.audit import Request
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

SCHEDULING = {
    "system_node_selector": {"eks.amazonaws.com/nodegroup": "system"},
    "accelerated_node_selector": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
    "accelerated_node_tolerations": ["nvidia.com/gpu=present:NoSchedule"],
    "workload_selector": {"workload": "training"},
    "storage_class": "gp3",
}
TRAINING = {"intent": "training", "platform": "slurm"}
STAGES = (
    "Take a snapshot of the cluster",
    "Make the recipe",
    "Hold the recipe against the snapshot",
    "Make the bundle",
)


@pytest.fixture(scope="module")
def beds(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Bed]]:
    """By the name of their cluster."""
    folder = tmp_path_factory.mktemp("beds")
    found = {"eks-h100": bed}
    with contextlib.ExitStack() as stack:
        for name in ("mixed", "kind", "gke-h100"):
            found[name] = Bed.start(folder / name, name)
            stack.callback(found[name].stop)
        yield found


def nodes(bed: Bed, instance_type: str) -> list[str]:
    listed = bed.api.items("/api/v1/nodes", labelSelector=f"node.kubernetes.io/instance-type={instance_type}")
    return sorted(node["metadata"]["name"] for node in listed)


def inventory(ansible: Ansible, beds: Mapping[str, Bed], variables: Mapping[str, Mapping[str, Any]]) -> str:
    """An inventory of clusters, each named by its kubeconfig."""
    hosts = {name: {"aicr_kubeconfig": str(beds[name].kubeconfig), **given} for name, given in variables.items()}
    path = ansible.folder / "inventory.json"
    path.write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    return str(path)


@contextlib.contextmanager
def recording(beds: Mapping[str, Bed]) -> Iterator[dict[str, list[Request]]]:
    """What the administrator, as whom the playbooks come, asks of each cluster in the block."""
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(bed.audit.recording("admin")) for name, bed in beds.items()}


def written(requests: list[Request]) -> set[tuple[str, str]]:
    return {(request.verb, request.resource) for request in requests if request.writes}


def artifact(ansible: Ansible, name: str) -> Any:
    return yamlio.load_file(ansible.folder / "artifacts" / name)


def test_three_clusters_go_from_their_api_to_a_bundle(ansible: Ansible, beds: Mapping[str, Bed]) -> None:
    """What runs within the clusters is the agent's Jobs alone, and those of a check not even that."""
    clusters = {
        "eks-h100": {
            "aicr_agent": True,
            "aicr_agent_select": "all",
            "aicr_criteria": TRAINING,
            "aicr_slurm_accounting_mode": "aicr-provided",
            "aicr_scheduling": SCHEDULING,
        },
        "mixed": {
            "aicr_agent": True,
            "aicr_agent_nodes": nodes(beds["mixed"], "p5.48xlarge"),
            "aicr_criteria": TRAINING,
            "aicr_slurm_accounting_mode": "disabled",
            "aicr_scheduling": {**SCHEDULING, "system_node_selector": {"eks.amazonaws.com/nodegroup": "cpu"}},
        },
        "kind": {
            "aicr_criteria": {**TRAINING, "accelerator": "h100"},
            "aicr_slurm_accounting_mode": "customer-managed",
        },
    }
    where = inventory(ansible, beds, clusters)
    with recording(beds) as checked:
        predicted = ansible.playbook("aicr.runtime.site", "--check", inventory=where)
    with recording(beds) as made:
        first = ansible.playbook("aicr.runtime.site", inventory=where)
    files = ansible.tree("artifacts")
    with recording(beds) as checked_again:
        nothing = ansible.playbook("aicr.runtime.site", "--check", inventory=where)
    second = ansible.playbook("aicr.runtime.site", inventory=where)
    for name in clusters:
        assert written(checked[name]) == set(), "case K10: a check of a cluster that nobody has seen yet"
        assert predicted.recap(name)["failed"] == 0
        known = STAGES if name == "kind" else STAGES[:1]  # a check runs no agent, so it cannot know what nodes are
        assert {stage for stage in STAGES if predicted.results[stage][name].get("changed")} == set(known)
        assert written(checked_again[name]) == set()
        for run in (nothing, second):
            assert (run.recap(name)["changed"], run.recap(name)["failed"]) == (0, 0)
        assert f"{name}/bundle/README.md" in files
        report = first.result("Hold the recipe against the snapshot", name)["summary"]
        assert report["failed"] == report["unreadable"] == 0 < report["passed"]
    assert not made["gke-h100"]
    assert written(made["kind"]) == set()
    ours = {(verb, kind) for verb in ("patch", "delete") for kind in ("configmaps", "jobs", "serviceaccounts")}
    assert written(made["eks-h100"]) == written(made["mixed"]) == ours
    assert ansible.tree("artifacts") == files

    recipe = artifact(ansible, "eks-h100/recipe.yaml")
    assert recipe["criteria"] == {**TRAINING, "service": "eks", "accelerator": "h100", "os": "ubuntu", "nodes": 5}
    assert "h100-eks-ubuntu-training-slurm" in recipe["metadata"]["appliedOverlays"]
    assert artifact(ansible, "mixed/recipe.yaml")["criteria"]["os"] == "ubuntu"
    assert artifact(ansible, "kind/recipe.yaml")["criteria"]["service"] == "kind"


def test_nodes_that_are_not_alike_stop_a_recipe_for_one_kind_by_name(ansible: Ansible, beds: Mapping[str, Bed]) -> None:
    """A node of the mixed cluster has another release and GPU: the recipe for the others does not fit it."""
    criteria = {**TRAINING, "service": "eks", "accelerator": "h100", "os": "ubuntu"}
    variables = {
        "aicr_agent": True,
        "aicr_agent_select": "all",
        "aicr_criteria": criteria,
        "aicr_slurm_accounting_mode": "disabled",
    }
    run = ansible.playbook("aicr.runtime.site", inventory=inventory(ansible, beds, {"mixed": variables}), expect=2)
    (other,) = nodes(beds["mixed"], "p4d.24xlarge")
    failures = run.result("Make the recipe", "mixed")["msg"]
    assert "OS.release.VERSION_ID" in failures and other in failures
    assert not any(node in failures for node in nodes(beds["mixed"], "p5.48xlarge"))
    assert not (ansible.folder / "artifacts" / "mixed" / "bundle").exists()


def test_a_snapshot_of_a_cluster_of_another_vendor(ansible: Ansible, beds: Mapping[str, Bed]) -> None:
    where = inventory(ansible, beds, {"gke-h100": {"aicr_agent": True, "aicr_agent_select": "all"}})
    ansible.playbook("aicr.runtime.snapshot", inventory=where)
    taken = {one["type"]: one["subtypes"] for one in artifact(ansible, "gke-h100/snapshot.yaml")["measurements"]}
    assert set(taken) == {"GPU", "K8s", "NodeTopology", "OS"}
    node = next(one["data"] for one in taken["K8s"] if one["subtype"] == "node")
    assert (node["provider"], node["os-image"]) == ("gke", "Container-Optimized OS from Google")
    assert next(one["data"]["ID"] for one in taken["OS"] if one["subtype"] == "release") == "cos"
    again = ansible.playbook("aicr.runtime.snapshot", inventory=where)
    assert again.recap("gke-h100")["changed"] == 0


def test_a_configmap_is_written_by_one_request_and_by_none_in_a_check(
    ansible: Ansible, bed: Bed, namespace: str
) -> None:
    task = {
        "name": "take",
        "aicr.runtime.snapshot": {"kubeconfig": str(bed.kubeconfig), "dest": f"cm://{namespace}/aicr-snapshot"},
    }
    with bed.audit.recording("admin") as checked:
        assert ansible.tasks([task], "--check").result("take")["changed"] is True
    assert written(checked) == set()
    assert [(r.verb, r.resource) for r in checked if r.dry_run] == [("patch", "configmaps")]
    with bed.audit.recording("admin") as made:
        result = ansible.tasks([task]).result("take")
    assert [(r.verb, r.resource, r.name) for r in made if r.writes] == [("patch", "configmaps", "aicr-snapshot")]
    assert {r.verb for r in made if not r.writes} <= {"get", "list"}
    with bed.audit.recording("admin") as again:
        assert ansible.tasks([task]).result("take")["changed"] is False
    assert written(again) == set()
    assert Path(result["path"]) == Path(f"cm://{namespace}/aicr-snapshot")
