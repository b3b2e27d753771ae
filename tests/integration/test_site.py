# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way over the example inventory: what a new user runs first."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio

from .conftest import Ansible

CHECKOUT = Path(__file__).resolve().parents[2]
INVENTORY = str(CHECKOUT / "examples" / "inventory")
CLUSTERS = ("eks-h100-training", "eks-h100-inference", "this-machine")
AFTERWARDS = (
    "Note where it stopped",
    "Count it as stopped",
    "See whether a further wave may begin",
    "Ask whether to go on",
    "Note what is not begun",
    "Begin no further wave",
    "Say what was made",
    "Say how far each cluster came",
    "Say how many readings of each cluster have changed",
    "Note one that came to its end",
    "Fail",
)


def site(ansible: Ansible, *arguments: str, expect: int = 0) -> Any:
    return ansible.playbook("aicr.runtime.site", *arguments, inventory=INVENTORY, expect=expect)


def summary(run: Any) -> dict[str, str]:
    """The lines of the table at the end, by their first word."""
    return {line.split()[0]: line for line in next(iter(run.results["Say what was made"].values()))["msg"]}


def test_the_demo_makes_everything_once(ansible: Ansible) -> None:
    predicted = site(ansible, "--check", "--diff")
    assert not (ansible.folder / "artifacts").exists()
    assert "Make the bundle" in predicted.results
    assert list(summary(predicted)) == ["CLUSTER", *CLUSTERS]

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

    assert list(summary(first)) == ["CLUSTER", *CLUSTERS, "Next:"]


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
    rows = summary(run)
    assert "stopped" in rows["bad"]
    assert "artifacts/good" in rows["good"]
    assert "Next:" in rows
    alone = ansible.playbook("aicr.runtime.site", "--limit", "bad", inventory=str(inventory), expect=2)
    assert list(summary(alone)) == ["CLUSTER", "bad"], "nothing was made that could be read or deployed"


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"aicr_slurm_accounting_mode": "yes-please"}, "aicr_slurm_accounting_mode"),
        ({"aicr_criteria": {"gpu": "h100"}}, "gpu"),
        ({"aicr_scheduling": {"selector": {}}}, "selector"),
        ({"aicr_phases": ["readiness"]}, "aicr_phases"),
        ({"aicr_slurm_accounting_mod": "disabled"}, 'did you mean "aicr_slurm_accounting_mode"?'),
        ({"aicr_snapshot": ""}, "aicr_snapshot: must not be empty"),
        ({"aicr_artifacts_dir": " "}, "aicr_artifacts_dir: must not be empty"),
    ],
)
def test_variables_are_checked_before_anything_runs(ansible: Ansible, variables: dict[str, Any], named: str) -> None:
    run = site(ansible, "-e", json.dumps(variables), expect=2)
    assert {result["status"] for result in run.results["Check the variables"].values()} == {"failed"}
    assert run.results.keys() <= {"Check the variables", *AFTERWARDS}
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


CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu"}
STAGES = ("snapshot", "recipe", "validate", "bundle", "drift", "site")


@pytest.mark.parametrize("stage", STAGES)
def test_no_name_of_a_host_leads_out_of_the_artifacts(ansible: Ansible, stage: str) -> None:
    work = ansible.folder / "deep" / "work"
    work.mkdir(parents=True)
    own = work / "recipe.yaml"
    own.write_text("mine")
    names = ["../x", "..", ".", "a/../../y", str(ansible.folder / "abs"), ".hidden", "n" * 201, "a$HOME"]
    inventory = work / "hosts.json"
    inventory.write_text(
        json.dumps({"all": {"hosts": {name: {} for name in names}, "vars": {"aicr_criteria": CRITERIA}}})
    )
    before = ansible.tree("deep")
    there = Ansible(work)
    run = there.playbook(f"aicr.runtime.{stage}", inventory=str(inventory), expect=2)
    assert {result["error"]["code"] for result in run.results["Check the variables"].values()} == {"INVALID_REQUEST"}
    assert run.results.keys() <= {"Check the variables", *AFTERWARDS}
    (work / "record.jsonl").unlink()
    assert ansible.tree("deep") == before


@pytest.mark.parametrize("stage", STAGES)
def test_without_the_check_of_the_variables_nothing_is_written(ansible: Ansible, stage: str) -> None:
    """The folder comes from the check, so whoever skips it has none."""
    inventory = ansible.folder / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": {"../x": {"aicr_criteria": CRITERIA}}}}))
    first = {
        "snapshot": "Take a snapshot of the cluster",
        "validate": "Hold the recipe against the snapshot",
        "bundle": "Make the bundle",
        "drift": "Read the baseline",
    }
    name = first.get(stage, "Make the recipe")
    ansible.playbook(f"aicr.runtime.{stage}", "--start-at-task", name, inventory=str(inventory), expect=2)
    assert {path.name for path in ansible.folder.iterdir()} <= {"hosts.json", "record.jsonl", ".ansible"}
    assert not (ansible.folder.parent / "x").exists()


@pytest.mark.parametrize("wrong", ["", ".", "kubeconfig", "recipe", "none.yaml"])
@pytest.mark.parametrize("mode", [(), ("--check", "--diff")], ids=["run", "check"])
def test_nothing_but_a_snapshot_is_copied_to_the_artifacts(ansible: Ansible, wrong: str, mode: tuple[str, ...]) -> None:
    (ansible.folder / "id_rsa").write_text("t0ps3cret")
    (ansible.folder / "kubeconfig").write_text(json.dumps({"kind": "Config", "users": [{"token": "t0ps3cret"}]}))
    (ansible.folder / "recipe").write_text(json.dumps({"kind": "RecipeResult", "apiVersion": "aicr.run/v1alpha2"}))
    variables = json.dumps({"aicr_snapshot": wrong, "aicr_criteria": CRITERIA})
    run = ansible.playbook("aicr.runtime.site", *mode, "-e", variables, expect=2)
    assert not (ansible.folder / "artifacts").exists()
    assert "t0ps3cret" not in run.output


def test_a_variable_that_is_null_is_one_that_nobody_set(ansible: Ansible) -> None:
    names = (
        "snapshot",
        "kubeconfig",
        "host",
        "in_cluster",
        "host_snapshot",
        "recipe",
        "artifacts_dir",
        "config",
        "set",
    )
    variables = {"aicr_criteria": CRITERIA, **{f"aicr_{name}": None for name in names}}
    ansible.playbook("aicr.runtime.site", "-e", json.dumps(variables))
    assert ansible.tree("artifacts").keys() >= {"cluster/recipe.yaml", "cluster/bundle/README.md"}
    ansible.playbook("aicr.runtime.bundle", "-e", json.dumps(variables))


def test_a_tilde_is_the_home_of_the_user_for_artifacts_and_snapshot(ansible: Ansible) -> None:
    snapshot = (CHECKOUT / "examples" / "snapshots" / "eks-h100-training.yaml").read_bytes()
    (ansible.folder / "taken.yaml").write_bytes(snapshot)
    variables = {
        "aicr_criteria": {"intent": "training"},
        "aicr_snapshot": "~/taken.yaml",
        "aicr_artifacts_dir": "~/out",
    }
    ansible.playbook("aicr.runtime.site", "-e", json.dumps(variables))
    assert ansible.tree("out")["cluster/snapshot.yaml"] == snapshot
    assert not (ansible.folder / "~").exists()


def test_a_bundle_of_an_older_recipe_is_told(ansible: Ansible) -> None:
    """The newer recipe stands beside it, since a recipe is worth something on its own."""
    slurm = {"aicr_criteria": {**CRITERIA, "platform": "slurm"}}
    ansible.playbook("aicr.runtime.site", "-e", json.dumps(slurm))
    bad = {**slurm, "aicr_set": ["nonsense"], "aicr_slurm_accounting_mode": "aicr-provided"}
    run = ansible.playbook("aicr.runtime.site", "-e", json.dumps(bad), expect=2)
    assert "its bundle is of an older recipe" in summary(run)["cluster"]
    assert "holds the bundle of another recipe" in run.results["Make the bundle"]["cluster"]["error"]["hint"]
    bad = {**bad, "aicr_slurm_accounting_mode": "disabled"}
    run = ansible.playbook("aicr.runtime.site", "-e", json.dumps(bad), expect=2)
    assert "stopped at: " in summary(run)["cluster"]
    assert "older" not in summary(run)["cluster"], "recipe and bundle fit again"


def test_places_and_formats_of_a_configuration_file_do_not_break_what_the_stages_hand_on(ansible: Ansible) -> None:
    config = {
        "kind": "AICRConfig",
        "apiVersion": "aicr.run/v1alpha2",
        "spec": {"recipe": {"criteria": CRITERIA, "output": {"path": "my.yaml", "format": "table"}}},
    }
    (ansible.folder / "aicr.yaml").write_text(json.dumps(config))
    run = ansible.playbook("aicr.runtime.site", "-e", "aicr_config=aicr.yaml")
    assert (ansible.folder / "artifacts" / "cluster" / "bundle" / "recipe.yaml").is_file()
    assert not (ansible.folder / "my.yaml").exists()
    told = " ".join(run.results["Make the recipe"]["cluster"]["warnings"])
    assert "the option dest (" in told
    assert "not spec.recipe.output.format (table)" in told


def test_a_recipe_is_made_of_the_snapshot_that_the_stage_before_has_kept(ansible: Ansible) -> None:
    """As validate and site do; one that is named counts instead, and one that cannot be read is not left out."""
    kept = ansible.folder / "artifacts" / "cluster" / "snapshot.yaml"
    kept.parent.mkdir(parents=True)
    shutil.copy(CHECKOUT / "examples" / "snapshots" / "eks-h100-training.yaml", kept)
    intent = ("-e", json.dumps({"aicr_criteria": {"intent": "training"}}))
    run = ansible.playbook("aicr.runtime.recipe", *intent)
    assert run.result("Make the recipe", "cluster")["summary"]["criteria"] == {
        "service": "eks",
        "accelerator": "h100",
        "intent": "training",
        "os": "ubuntu",
    }
    assert ansible.playbook("aicr.runtime.recipe", *intent).recap("cluster")["changed"] == 0

    (ansible.folder / "aicr.yaml").write_text(
        json.dumps(
            {"kind": "AICRConfig", "apiVersion": "aicr.run/v1alpha2", "spec": {"recipe": {"criteria": CRITERIA}}}
        )
    )
    configured = ansible.playbook("aicr.runtime.recipe", "-e", "aicr_config=aicr.yaml")
    assert configured.recap("cluster")["changed"] == 0, "a configuration file stands beside it, not in its place"
    elsewhere = ansible.folder / "elsewhere.yaml"
    kept.rename(elsewhere)
    for unreadable in ("not a mapping", None):
        if unreadable is None:
            kept.unlink()
            kept.symlink_to(ansible.folder / "of a volume that is not there")
        else:
            kept.write_text(unreadable, encoding="utf-8")
        refused = ansible.playbook("aicr.runtime.recipe", *intent, "-e", "aicr_config=aicr.yaml", expect=2)
        assert f"{kept}: " in refused.output
        ansible.playbook("aicr.runtime.recipe", *intent, "-e", f"aicr_snapshot={elsewhere}")


@pytest.mark.parametrize("playbook", sorted((CHECKOUT / "playbooks").glob("*.yml")), ids=lambda path: path.stem)
def test_every_play_has_the_strategy_that_its_gates_and_summaries_need(playbook: Path) -> None:
    plays = yamlio.load_file(playbook)
    assert {play.get("strategy") for play in plays} == {"ansible.builtin.linear"}


def test_the_strategy_of_a_users_own_configuration_does_not_break_the_deployment(ansible: Ansible) -> None:
    ansible.environment["ANSIBLE_STRATEGY"] = "free"
    ran = ansible.playbook("aicr.runtime.deploy", inventory="one,two,", expect=2)
    assert "free strategy" not in ran.output
    lines = next(iter(ran.results["Say how far each cluster came"].values()))["msg"]
    assert sorted(line.split()[0] for line in lines) == ["CLUSTER", "one", "two"]
    assert all("stopped at: Lay out the deployment" in line for line in lines[1:])
