# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed in a real cluster since its snapshot: nothing, then the label of a node, and never by us."""

from __future__ import annotations

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.audit import Request
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.deployments import written
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible, Run

COMPARE = "Compare the snapshots"
LABEL = "example.com/owner"


class Recorded:
    """Runs playbooks on a bed.

    :ivar asked: every request that they have made.
    """

    def __init__(self, bed: Bed, ansible: Ansible) -> None:
        self.bed, self.ansible = bed, ansible
        self.asked: list[Request] = []

    def run(self, playbook: str) -> Run:
        with self.bed.audit.recording("admin") as requests:
            ran = self.ansible.playbook(f"aicr.runtime.{playbook}", "-e", f"aicr_kubeconfig={self.bed.kubeconfig}")
        self.asked += requests
        return ran


def test_a_cluster_that_was_left_alone_has_not_drifted_and_one_with_a_new_label_has(bed: Bed, ansible: Ansible) -> None:
    recorded = Recorded(bed, ansible)

    def unchanged() -> bool:
        """Pods of tests before this one may be on their way out."""
        recorded.run("snapshot")
        return bool(recorded.run("drift").result(COMPARE)["summary"]["total"] == 0)

    eventually(unchanged)
    kept = ansible.tree("artifacts")
    name = next(iter(bed.api.items("/api/v1/nodes")))["metadata"]["name"]
    path = f"/api/v1/nodes/{name}"
    bed.api.patch(path, {"metadata": {"labels": {LABEL: "somebody"}}})
    try:
        found = recorded.run("drift").result(COMPARE)
    finally:
        bed.api.patch(path, {"metadata": {"labels": {LABEL: None}}})
    told = {"kind": "added", "path": f"NodeTopology.label.{LABEL}", "target": f"somebody|{name}"}
    assert told in found["changes"]
    nodes = {change["path"] for change in found["changes"] if change["path"].startswith("NodeTopology.")}
    assert {path for path in nodes if ".items" not in path} == {told["path"], "NodeTopology.summary.label-count"}
    made = ansible.tree("artifacts")
    assert {name for name in made if made[name] != kept.get(name)} == {
        "cluster/drift.yaml",
        "cluster/drift-snapshot.yaml",
    }
    assert recorded.asked and written(recorded.asked) == []
    assert {request.verb for request in recorded.asked} <= {"get", "list"}
