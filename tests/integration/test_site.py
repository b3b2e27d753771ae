# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way over the example inventory: what a new user runs first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio

if TYPE_CHECKING:
    from .conftest import Ansible

CHECKOUT = Path(__file__).resolve().parents[2]
INVENTORY = str(CHECKOUT / "examples" / "inventory")
CLUSTERS = ("eks-h100-training", "eks-h100-inference", "this-machine")


def site(ansible: Ansible, *arguments: str, expect: int = 0) -> Any:
    return ansible.playbook("aicr.runtime.site", *arguments, inventory=INVENTORY, expect=expect)


def test_the_demo_makes_everything_once(ansible: Ansible) -> None:
    predicted = site(ansible, "--check", "--diff")
    assert not (ansible.folder / "artifacts").exists()
    assert "Make the bundle" in predicted.results

    first = site(ansible)
    made = ansible.tree("artifacts")
    second = site(ansible)
    for cluster in CLUSTERS:
        assert predicted.recap(cluster)["changed"] > 0
        assert first.recap(cluster)["changed"] > 0
        assert (second.recap(cluster)["changed"], second.recap(cluster)["failed"]) == (0, 0)
        assert {"snapshot.yaml", "recipe.yaml", "report.ctrf.json"} <= {
            name.removeprefix(f"{cluster}/") for name in made if name.startswith(f"{cluster}/")
        }
        assert f"{cluster}/bundle/README.md" in made
        for stage in ("Make the recipe", "Hold the recipe against the snapshot", "Make the bundle"):
            assert predicted.results[stage][cluster]["changed"] is True
            assert predicted.results[stage][cluster]["digest"] == first.results[stage][cluster]["digest"]
    assert ansible.tree("artifacts") == made

    training = yamlio.load(made["eks-h100-training/recipe.yaml"], "recipe")
    assert training["configuration"]["slurm"]["accounting"]["mode"] == "aicr-provided"
    assert training["criteria"]["nodes"] == 7, "read off the snapshot"
    report = first.results["Hold the recipe against the snapshot"]["eks-h100-training"]["summary"]
    assert report["failed"] == report["unreadable"] == 0 < report["passed"]
    kind = yamlio.load(made["this-machine/recipe.yaml"], "recipe")
    assert kind["criteria"]["service"] == "kind"
    said = first.results["Say what does not hold"]["this-machine"]["msg"]
    assert any("K8s.server.version: could not be evaluated" in line for line in said)

    table = next(iter(first.results["Say what was made"].values()))["msg"]
    assert [line.split()[0] for line in table] == ["CLUSTER", *CLUSTERS, "Next:"]


def test_a_cluster_that_stops_is_told_and_stops_no_other(ansible: Ansible) -> None:
    bad = {"aicr_slurm_accounting_mode": "aicr-provided", "aicr_criteria": {"intent": "inference"}}
    inventory = ansible.folder / "inventory.json"
    shown = str(CHECKOUT / "examples" / "snapshots" / "eks-h100-inference.yaml")
    good = {
        "aicr_criteria": {"intent": "inference"},
        "aicr_snapshot": shown,
        "aicr_scheduling": {"system_node_selector": {"a": "b"}},
    }
    inventory.write_text(json.dumps({"all": {"hosts": {"bad": {**good, **bad}, "good": good}}}))
    run = ansible.playbook("aicr.runtime.site", inventory=str(inventory), expect=2)
    assert run.results["Make the recipe"]["bad"]["error"]["code"] == "INVALID_REQUEST"
    assert (run.recap("bad")["failed"], run.recap("good")["failed"]) == (1, 0)
    assert (ansible.folder / "artifacts" / "good" / "bundle" / "README.md").exists()
    assert not (ansible.folder / "artifacts" / "bad" / "bundle").exists()
    rows = {line.split()[0]: line for line in run.results["Say what was made"]["good"]["msg"]}
    assert "stopped" in rows["bad"]
    assert "artifacts/good" in rows["good"]


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"aicr_slurm_accounting_mode": "yes-please"}, "aicr_slurm_accounting_mode"),
        ({"aicr_criteria": {"gpu": "h100"}}, "gpu"),
        ({"aicr_scheduling": {"selector": {}}}, "selector"),
        ({"aicr_phases": ["readiness"]}, "aicr_phases"),
    ],
)
def test_variables_are_checked_before_anything_runs(ansible: Ansible, variables: dict[str, Any], named: str) -> None:
    run = site(ansible, "-e", json.dumps(variables), expect=2)
    assert {result["status"] for result in run.results["Check the variables"].values()} == {"failed"}
    assert list(run.results) == ["Check the variables"]
    assert named in run.output


def test_a_fleet_is_narrowed_by_a_variable_and_each_stage_runs_alone(ansible: Ansible) -> None:
    one = ("-e", "aicr_hosts=eks-h100-training", "-e", "aicr_artifacts_dir=elsewhere")
    site(ansible, *one)
    made = ansible.tree("elsewhere")
    assert {name.split("/")[0] for name in made} == {"eks-h100-training"}
    for stage in ("recipe", "validate", "bundle"):
        run = ansible.playbook(f"aicr.runtime.{stage}", *one, inventory=INVENTORY)
        assert run.recap("eks-h100-training")["changed"] == 0
    assert ansible.tree("elsewhere") == made
