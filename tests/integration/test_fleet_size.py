# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fleet in one play costs, by its shape; tests/benchmarks/fleet.py has the figures."""

from __future__ import annotations

import json
import resource
from pathlib import Path

from .conftest import Ansible, Run

CHECKOUT = Path(__file__).resolve().parents[2]
FEW, MANY = 6, 24
LINEAR = 1.5
"""How much more than in proportion many may take; what grows with the square of their number takes 4 times as much."""


def site(ansible: Ansible, clusters: int) -> tuple[Run, float]:
    """A run over contexts of one kubeconfig, and its processor seconds."""
    names = [f"cluster-{number:02}" for number in range(clusters)]
    contexts = [{"name": name, "context": {"cluster": "one", "user": "one"}} for name in names]
    config = {"kind": "Config", "contexts": contexts, "clusters": [{"name": "one", "cluster": {"server": "https://x"}}]}
    (ansible.folder / "kubeconfig.json").write_text(json.dumps(config), encoding="utf-8")
    entry = {
        "path": "kubeconfig.json",
        "criteria": {"intent": "training"},
        "snapshot": str(CHECKOUT / "examples/snapshots/eks-h100-training.yaml"),
        "scheduling": {"system_node_selector": {"a": "b"}},
        "artifacts_dir": f"of-{clusters}",
    }
    inventory = ansible.folder / "fleet.clusters.yml"
    inventory.write_text(json.dumps({"plugin": "aicr.runtime.clusters", "kubeconfigs": [entry]}), encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    nowhere = ("-e", "ansible_python_interpreter=/nowhere/python")
    ran = ansible.playbook("aicr.runtime.site", *nowhere, inventory=str(inventory))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ran, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_for_no_cluster_a_program_is_started_and_time_grows_with_their_number_alone(ansible: Ansible) -> None:
    """A module would need the interpreter that is not there, and take ten times as long as an action."""
    _ran, for_few = site(ansible, FEW)
    ran, for_many = site(ansible, MANY)
    made = ansible.tree(f"of-{MANY}")
    for number in range(MANY):
        kept = {"snapshot.yaml", "recipe.yaml", "report.ctrf.json", "bundle/README.md"}
        assert {f"cluster-{number:02}/{name}" for name in kept} <= made.keys()
    (told,) = (result["msg"] for result in ran.results["Say what was made"].values() if "msg" in result)
    assert [line.split()[0] for line in told] == ["CLUSTER", *sorted(ran.results["Make the bundle"]), "Next:"]
    assert len(told) == MANY + 2
    assert for_many <= LINEAR * MANY / FEW * for_few
