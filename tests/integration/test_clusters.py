# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory plugin ``clusters`` as a user has it: in ansible-inventory and before the playbooks."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet import read_fleet
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet_contexts import KUBECONFIGS
from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT, HERE, Ansible
from ansible_collections.aicr.runtime.tests.integration.test_argument_specs import documented, specified, walk

SECRET = "sesame-0123456789"
FLEET = """
plugin: aicr.runtime.clusters
defaults: {vars: {site: "{{ lookup('ansible.builtin.env', 'AICR_TEST_SITE') }}"}}
clusters:
  berlin:
    kubeconfig: kc/berlin.yaml
    criteria: {service: eks, accelerator: h100, intent: training, os: ubuntu, platform: slurm}
    slurm_accounting_mode: aicr-provided
kubeconfigs:
  - path: kc/many.yaml
    hostname: context.split('@')[1]
    criteria: {service: gke, accelerator: h100, intent: inference, os: cos}
"""


def kubeconfig(*contexts: str) -> str:
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in contexts],
            "users": [{"name": "u", "user": {"token": SECRET, "exec": {"command": "/none", "args": [SECRET]}}}],
        }
    )


@pytest.fixture
def fleet(ansible: Ansible) -> Ansible:
    """Ansible in a folder with a fleet file, unable to reach a network, and told to stop at a source with errors."""
    ansible.environment |= {
        "PYTHONPATH": str(HERE / "no_sockets"),
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        "AICR_TEST_SITE": "north",
    }
    (ansible.folder / "kc").mkdir()
    (ansible.folder / "kc" / "many.yaml").write_text(kubeconfig("admin@paris", "admin@rome"), encoding="utf-8")
    write(ansible, FLEET)
    return ansible


def write(ansible: Ansible, text: str) -> None:
    (ansible.folder / "fleet.clusters.yml").write_text(textwrap.dedent(text), encoding="utf-8")


def listed(ansible: Ansible, *arguments: str) -> dict[str, Any]:
    ran = ansible.command("ansible-inventory", "-i", "fleet.clusters.yml", "--list", *arguments)
    assert ran.returncode == 0, ran.stderr
    assert "[WARNING]" not in ran.stderr and "[DEPRECATION" not in ran.stderr, ran.stderr
    assert SECRET not in ran.stdout + ran.stderr
    loaded: dict[str, Any] = json.loads(ran.stdout)
    return loaded


def refused(ansible: Ansible) -> str:
    ran = ansible.command("ansible-inventory", "-i", "fleet.clusters.yml", "--list")
    assert ran.returncode != 0
    assert SECRET not in ran.stdout + ran.stderr
    return ran.stderr


def groups(inventory: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: group["hosts"] for name, group in inventory.items() if "hosts" in group}


def test_clusters_are_hosts_with_variables_and_groups(fleet: Ansible) -> None:
    inventory = listed(fleet)
    criteria = {"service": "gke", "accelerator": "h100", "intent": "inference", "os": "cos"}
    path = str(fleet.folder / "kc" / "many.yaml")
    rome = inventory["_meta"]["hostvars"]["rome"]
    assert {name: value for name, value in rome.items() if name != "site"} == {
        "aicr_kubeconfig": path,
        "aicr_context": "admin@rome",
        "aicr_criteria": criteria,
    }
    assert groups(inventory) == {
        "service_eks": ["berlin"],
        "service_gke": ["paris", "rome"],
        "accelerator_h100": ["berlin", "paris", "rome"],
        "platform_slurm": ["berlin"],
        "mode_aicr_provided": ["berlin"],
    }


def test_the_playbooks_take_a_fleet_as_it_is(fleet: Ansible) -> None:
    """Text of the fleet file is a template, as that of any inventory is."""
    play = fleet.playbook("aicr.runtime.recipe", "-e", "aicr_hosts=berlin", inventory="fleet.clusters.yml")
    assert play.result("Make the recipe", "berlin")["summary"]["accounting"] == "aicr-provided"
    fleet.folder.joinpath("say.yml").write_text(
        json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [{"name": "Say", "debug": {"var": "site"}}]}]),
        encoding="utf-8",
    )
    said = fleet.playbook("say.yml", inventory="fleet.clusters.yml")
    assert {said.result("Say", host)["site"] for host in ("berlin", "paris", "rome")} == {"north"}


def test_what_is_composed_is_checked_and_grouped(fleet: Ansible) -> None:
    write(
        fleet,
        FLEET
        + """
compose:
  aicr_slurm_accounting_mode: "'disabled' if inventory_hostname == 'paris' else omitted_on_purpose"
  tier: inventory_hostname | length
groups:
  canary: inventory_hostname == 'rome'
keyed_groups:
  - {key: aicr_criteria.os, prefix: os}
""",
    )
    inventory = listed(fleet)
    made = groups(inventory)
    assert (made["mode_disabled"], made["canary"], made["os_cos"]) == (["paris"], ["rome"], ["paris", "rome"])
    assert inventory["_meta"]["hostvars"]["paris"]["tier"] == 5


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("compose: {aicr_slurm_accounting_mode: '''on'''}", [":13: compose.aicr_slurm_accounting_mode", "host berlin"]),
        ("strict: true\ncompose: {x: nobody.knows}", [":14: compose.x", "host berlin"]),
        ("strict: true\ngroups: {x: nobody.knows}", [":14: groups.x", "host berlin"]),
        ("strict: true\nkeyed_groups: [{key: nobody.knows}]", [":14: keyed_groups[0]", "host berlin"]),
        ("strict: [1]", ["fleet.clusters.yml", "strict"]),
        ("keyed_group: []", [":13: keyed_group", 'did you mean "keyed_groups"?']),
        ("cache: true\ncache_plugin: nobody.knows", ["fleet.clusters.yml", "nobody.knows"]),
    ],
)
def test_what_cannot_be_constructed_is_refused_by_file_and_key(fleet: Ansible, more: str, words: list[str]) -> None:
    write(fleet, f"{FLEET}{more}\n")
    said = refused(fleet)
    assert f"{fleet.folder}/fleet.clusters.yml" in said
    assert not [word for word in words if word not in said], said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("berlin:", "all:", [":5: clusters.all", "every inventory has a group of that name"]),
        ("berlin:", "service_gke:", [":5: clusters.service_gke", "the criteria or the mode of paris make", "rename"]),
        ("berlin:", "service_eks:", [":5: clusters.service_eks", "of service_eks make"]),
        ("berlin:", "canary:\n  rome_:\n  canary_:", ["groups.canary", ":5: clusters.canary"]),
        ("context.split('@')[1]", "\"'canary'\"", ["groups.canary", ":10: kubeconfigs[0]", "kc/many.yaml", "hostname"]),
        ("berlin:", "os_cos:", [":5: clusters.os_cos", "keyed_groups[0]"]),
        ("berlin:", "parent:", [":5: clusters.parent", "keyed_groups[0]"]),
        ("berlin:", "floor_1:", [":5: clusters.floor_1", "keyed_groups[1]"]),
    ],
)
def test_a_cluster_that_is_called_like_a_group_is_refused(fleet: Ansible, old: str, new: str, words: list[str]) -> None:
    """Ansible would take it for the group, or end with "can't add group to itself"."""
    text = FLEET.replace(old, new).replace("kc/many.yaml", "kc/one.yaml" if "canary'" in new else "kc/many.yaml")
    (fleet.folder / "kc" / "one.yaml").write_text(kubeconfig("admin@paris"), encoding="utf-8")
    write(
        fleet,
        text
        + """
groups: {canary: true}
compose: {floor: "'1'"}
keyed_groups:
- {key: aicr_criteria.os, prefix: os, parent_group: parent}
- {key: floor, prefix: floor}
""",
    )
    said = refused(fleet)
    assert f"{fleet.folder}/fleet.clusters.yml" in said and "recursive" not in said and "to itself" not in said
    assert not [word for word in words if word.replace("kc/many", "kc/one") not in said], said


def test_a_cluster_that_is_called_like_a_group_of_another_source_is_refused(fleet: Ansible) -> None:
    """That group would become a child of each of the cluster's; the other source stays as it is."""
    fleet.environment.pop("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED")
    (fleet.folder / "a.ini").write_text("[berlin]\nnode\n", encoding="utf-8")
    ran = fleet.command("ansible-inventory", "-i", "a.ini", "-i", "fleet.clusters.yml", "--list")
    assert ran.returncode == 0 and groups(json.loads(ran.stdout)) == {"berlin": ["node"]}
    assert "fleet.clusters.yml:5: clusters.berlin" in ran.stderr and "another inventory source" in ran.stderr


def test_a_problem_is_told_once(fleet: Ansible) -> None:
    """Ansible shows each failed plugin twice, and adds the words of every cause to those of its effect."""
    write(fleet, FLEET.replace("kubeconfigs:", "  berlin:\nkubeconfigs:"))
    said = refused(fleet)
    assert max(line.count('duplicate key "berlin", first in line 5') for line in said.splitlines()) == 1, said


def test_an_expression_that_fails_is_refused(fleet: Ansible) -> None:
    write(fleet, FLEET.replace("context.split('@')[1]", "nobody.knows"))
    said = refused(fleet)
    assert 'fleet.clusters.yml:10: kubeconfigs[0]: hostname "nobody.knows"' in said


def test_half_a_fleet_does_not_pass_for_the_whole(fleet: Ansible) -> None:
    """Without any_unparsed_is_failed Ansible goes on, so nothing may be there to go on with."""
    fleet.environment.pop("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED")
    write(
        fleet,
        FLEET + "compose: {aicr_slurm_accounting_mode: \"'x' if inventory_hostname == 'rome' else 'disabled'\"}\n",
    )
    ran = fleet.command("ansible-inventory", "-i", "fleet.clusters.yml", "--list")
    assert json.loads(ran.stdout)["_meta"]["hostvars"] == {}
    assert "host rome" in ran.stderr


def test_another_name_is_no_fleet_file(fleet: Ansible) -> None:
    (fleet.folder / "fleet.clusters.yml").rename(fleet.folder / "fleet.yml")
    ran = fleet.command("ansible-inventory", "-i", "fleet.yml", "--list")
    assert ran.returncode != 0 and "could not be verified" in ran.stderr


def test_contexts_are_kept_in_the_cache_and_nothing_else(fleet: Ansible) -> None:
    def names(*arguments: str) -> list[str]:
        return sorted(listed(fleet, *arguments)["_meta"]["hostvars"])

    cached = FLEET + "cache: true\ncache_plugin: ansible.builtin.jsonfile\ncache_connection: cache\n"
    write(fleet, cached)
    assert names() == ["berlin", "paris", "rome"]
    (kept,) = (fleet.folder / "cache").iterdir()
    assert SECRET not in kept.read_text(encoding="utf-8")

    (fleet.folder / "kc" / "many.yaml").write_text(kubeconfig("admin@oslo"), encoding="utf-8")
    write(fleet, cached.replace("berlin:", "bonn:"))
    assert names() == ["bonn", "paris", "rome"], "the fleet file is read, the kubeconfigs are not"
    assert names("--flush-cache") == ["bonn", "oslo"]

    (fleet.folder / "kc" / "many.yaml").write_text(kubeconfig("admin@oslo", "admin@lima"), encoding="utf-8")
    write(fleet, cached.replace("- path: kc/many.yaml", "- path: kc/m*.yaml"))
    assert names() == ["berlin", "lima", "oslo"], "what is looked for has changed"


def test_the_documentation_says_what_the_plugin_takes(tmp_path: Path) -> None:
    ran = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-doc")),
            *("--json", "-t", "inventory", "aicr.runtime.clusters"),
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=CHECKOUT,
    )
    assert "[WARNING]" not in ran.stderr, ran.stderr
    entry = json.loads(ran.stdout)["aicr.runtime.clusters"]
    options = entry["doc"]["options"]
    assert documented(options["kubeconfigs"]["suboptions"]) == specified(KUBECONFIGS)
    assert {"clusters", "defaults", "kubeconfigs", "strict", "compose", "groups", "keyed_groups", "cache"} <= set(
        options
    )
    assert not [path for path, option in walk(options, "suboptions") if not option.get("description")]
    for example in yaml.safe_load_all(entry["examples"]):
        file = tmp_path / "example.clusters.yml"
        file.write_text(yaml.safe_dump(example), encoding="utf-8")
        read_fleet(str(file), options)


def test_the_example_is_a_fleet(ansible: Ansible) -> None:
    ran = ansible.command("ansible-inventory", "-i", str(CHECKOUT / "examples" / "fleet.clusters.yml"), "--list")
    assert ran.returncode == 0 and "[WARNING]" not in ran.stderr, ran.stderr
    inventory = json.loads(ran.stdout)
    assert len(inventory["_meta"]["hostvars"]) >= 3 and "mode_customer_managed" in inventory
