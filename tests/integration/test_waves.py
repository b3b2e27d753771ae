# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waves over an inventory as a user runs them, without a cluster (cases F1, F3): what stops, and what goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import CHECKOUT, Ansible, Run

FLEET = ("a", "b", "c", "d")
CRITERIA = {"service": "kind", "accelerator": "h100", "intent": "training"}


def site(ansible: Ansible, broken: tuple[str, ...], expect: int, *arguments: str, **variables: Any) -> Run:
    hosts: dict[str, Any] = {
        name: {"aicr_criteria": {"service": "nonsense"}} if name in broken else {} for name in FLEET
    }
    inventory = ansible.folder / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": {"aicr_criteria": CRITERIA}}}), encoding="utf-8")
    given = ("-e", json.dumps(variables)) if variables else ()
    return ansible.playbook("aicr.runtime.site", *given, *arguments, inventory=str(inventory), expect=expect)


def outcome(ansible: Ansible, ran: Run) -> str:
    """One letter for each cluster: made, failed, not begun."""
    made = [(ansible.folder / "artifacts" / name / "recipe.yaml").exists() for name in FLEET]
    ends = {name: one["msg"] for name, one in ran.results.get("Fail", {}).items() if one["status"] == "failed"}
    letters = {name: "n" if ends.get(name, "").startswith("not begun") else "f" for name in ends}
    assert [letters.get(name, "m") == "m" for name in FLEET] == made
    return "".join(letters.get(name, "m") for name in FLEET)


@pytest.mark.parametrize(
    ("serial", "budget", "broken", "expected"),
    [
        ([1, "25%"], 4, ("a",), "fnnn"),
        ([2, 1], 4, ("b",), "mfnn"),
        (1, 2, ("a",), "fmmm"),
        (1, 2, ("a", "c"), "fmfn"),
        (1, "50%", ("a", "c"), "fmfn"),
        ("2", 1, ("b",), "mfnn"),
        (2, 2, ("a", "b"), "ffnn"),
        ("2,100%", None, ("c",), "mmfm"),
    ],
)
def test_what_is_begun_after_a_failure(
    ansible: Ansible, serial: Any, budget: Any, broken: tuple[str, ...], expected: str
) -> None:
    ran = site(ansible, broken, 2, aicr_serial=serial, aicr_max_failures=budget)
    assert outcome(ansible, ran) == expected


def test_a_wave_whose_variables_are_all_refused_ends_it(ansible: Ansible) -> None:
    """Nobody is there to say what the budget is, so there is none."""
    ran = site(ansible, (), 2, "-e", "aicr_nonsense=1", aicr_serial=1, aicr_max_failures=4)
    assert outcome(ansible, ran) == "fnnn"
    assert "the variables were refused: a" in ran.output


def test_sizes_in_the_inventory_are_refused_and_not_ignored(ansible: Ansible) -> None:
    hosts = {"all": {"hosts": dict.fromkeys(FLEET), "vars": {"aicr_criteria": CRITERIA, "aicr_serial": [1, 3]}}}
    inventory = ansible.folder / "inventory.json"
    inventory.write_text(json.dumps(hosts), encoding="utf-8")
    ran = ansible.playbook("aicr.runtime.site", inventory=str(inventory), expect=2)
    assert outcome(ansible, ran) == "ffff"
    assert "is set where the play does not see it" in ran.output


def test_where_nobody_says_yes_nothing_more_begins(ansible: Ansible) -> None:
    ran = site(ansible, (), 2, aicr_serial=2, aicr_pause_between_waves="true")
    assert outcome(ansible, ran) == "mmnn"
    assert "nobody said yes to this wave" in ran.output


def test_one_that_cannot_be_reached_is_counted_like_any_that_fails(ansible: Ansible) -> None:
    """Ansible itself would drop it, and end with a wave of which nobody is left: nothing would tell of the others."""
    machine = {"ansible_connection": "local"}
    gone = {"ansible_host": "127.0.0.1", "ansible_port": 1}
    hosts = {name: gone if name == "a" else machine for name in FLEET}
    common = {"aicr_host_snapshot": True, "aicr_criteria": CRITERIA, "aicr_fail_on_error": False}
    inventory = ansible.folder / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": common}}), encoding="utf-8")
    for variables, expected in (
        ({"aicr_serial": 1, "aicr_max_failures": 3}, "fmmm"),
        ({"aicr_serial": "1,100%"}, "fnnn"),
    ):
        given = ["-e", json.dumps(variables)]
        shutil.rmtree(ansible.folder / "artifacts", ignore_errors=True)
        ran = ansible.playbook("aicr.runtime.site", *given, inventory=str(inventory), expect=2)
        assert outcome(ansible, ran) == expected
        assert "the machine cannot be reached" in ran.result("Fail", "a")["msg"]


def test_nodes_that_cannot_be_reached_are_named_and_stop_their_cluster_alone(ansible: Ansible) -> None:
    gone = {"ansible_host": "127.0.0.1", "ansible_port": 1}
    inventory = ansible.folder / "inventory.json"
    document = {
        "all": {
            "hosts": {"a": {"aicr_host": "https://127.0.0.1:1", "aicr_api_key": "nobody-s"}, "b": {}},
            "vars": {"aicr_criteria": CRITERIA, "aicr_max_failures": 2},
            "children": {"aicr_nodes_a": {"hosts": {"n1": gone, "n2": gone}}},
        }
    }
    inventory.write_text(json.dumps(document), encoding="utf-8")
    ran = ansible.playbook("aicr.runtime.site", inventory=str(inventory), expect=2)
    why = ran.result("Fail", "a")["msg"]
    assert "nodes cannot be reached: n1 (" in why and ", n2 (" in why
    assert (ansible.folder / "artifacts" / "b" / "recipe.yaml").exists()


def test_the_others_come_to_their_end_whatever_ansible_cfg_says(ansible: Ansible) -> None:
    ansible.environment["ANSIBLE_ANY_ERRORS_FATAL"] = "true"
    assert outcome(ansible, site(ansible, ("b",), 2)) == "mfmm"


def test_after_it_those_that_are_well_go_on_to_the_next_play(ansible: Ansible) -> None:
    """As after any playbook. A play of which every host fails would end what imports it."""
    again = {"import_playbook": "aicr.runtime.site"}
    after = {"hosts": "all", "gather_facts": False, "tasks": [{"name": "Go on", "ansible.builtin.debug": {"msg": "x"}}]}
    playbook = ansible.folder / "after.yml"
    playbook.write_text(json.dumps([again, again, after]), encoding="utf-8")
    site(ansible, (), 0)
    hosts: dict[str, Any] = {name: {"aicr_criteria": {"service": "nonsense"}} if name == "b" else {} for name in FLEET}
    inventory = ansible.folder / "inventory.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": {"aicr_criteria": CRITERIA}}}), encoding="utf-8")
    ran = ansible.playbook(str(playbook), inventory=str(inventory), expect=2)
    assert set(ran.results["Go on"]) == {"a", "c", "d"}


@pytest.mark.parametrize(
    ("value", "said"),
    [("{{ omit }}", "Omit"), ("{{ nothing_such | default(omit) }}", "Omit"), ("{{ nothing_such }}", "nothing_such")],
)
def test_a_variable_that_cannot_be_had_is_named(ansible: Ansible, value: str, said: str) -> None:
    inventory = ansible.folder / "inventory.json"
    document = {"all": {"hosts": {"a": {"aicr_slurm_accounting_mode": value, "aicr_criteria": CRITERIA}}}}
    inventory.write_text(json.dumps(document), encoding="utf-8")
    ran = ansible.playbook("aicr.runtime.recipe", inventory=str(inventory), expect=2)
    error = ran.result("Check the variables", "a")["error"]
    assert error["code"] == "INVALID_REQUEST" and error["message"].startswith("aicr_slurm_accounting_mode: ")
    assert said in error["message"]


IN_WAVES = [path for path in sorted((CHECKOUT / "playbooks").glob("*.yml")) if "\n  serial:" in path.read_text("utf-8")]


@pytest.mark.parametrize("playbook", IN_WAVES, ids=lambda path: path.stem)
def test_only_one_play_works_on_clusters(playbook: Path) -> None:
    """F3: Ansible begins the next play though this one has ended early, so what comes after the waves only tells."""
    waves, *after = yaml.safe_load(playbook.read_text(encoding="utf-8"))
    assert "serial" in waves and waves["tasks"][-1]["ansible.builtin.import_tasks"] == "tasks/wave_end.yml"
    assert after
    tasks = [task for play in after for task in told_by(play["tasks"], playbook.parent)]
    used = {key for task in tasks for key in task if key.startswith(("ansible.", "aicr."))}
    assert used <= {f"ansible.builtin.{name}" for name in ("debug", "fail", "set_stats", "add_host")}


def told_by(tasks: list[dict[str, Any]], folder: Path) -> Iterator[dict[str, Any]]:
    """Tasks, with those of the files that they import in their place; what else nests is itself no task that tells."""
    for task in tasks:
        file = task.get("ansible.builtin.import_tasks")
        if file is None:
            yield task
        else:
            path = folder / file
            yield from told_by(yaml.safe_load(path.read_text(encoding="utf-8")), path.parent)


def test_the_playbooks_of_waves_are_those_that_work_on_clusters() -> None:
    assert {path.stem for path in IN_WAVES} == {"site", "deploy", "verify", "uninstall"}
