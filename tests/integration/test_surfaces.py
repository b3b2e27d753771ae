# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipe, validate and bundle as a user runs them: the same on every surface, check mode, failures, no network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import Ansible

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
MODE = "aicr-provided"
SNAPSHOT = str(CHECKOUT / "examples" / "snapshots" / "eks-h100-training.yaml")
SCHEDULING = {
    "system_node_selector": {"nodeGroup": "system-worker"},
    "accelerated_node_selector": {"nodeGroup": "gpu-worker"},
    "accelerated_node_tolerations": ["nvidia.com/gpu=present:NoSchedule"],
    "workload_selector": {"workload": "training"},
    "storage_class": "gp3",
}
CONFIG = {
    "kind": "AICRConfig",
    "apiVersion": "aicr.run/v1alpha2",
    "spec": {
        "recipe": {"criteria": CRITERIA, "configuration": {"slurm": {"accounting": {"mode": MODE}}}},
        "bundle": {
            "scheduling": {
                "systemNodeSelector": {"nodeGroup": "system-worker"},
                "acceleratedNodeSelector": {"nodeGroup": "gpu-worker"},
                "acceleratedNodeTolerations": ["nvidia.com/gpu=present:NoSchedule"],
                "workloadSelector": {"workload": "training"},
                "storageClass": "gp3",
            }
        },
    },
}

RECIPE = {
    "name": "recipe",
    "aicr.runtime.recipe": {"criteria": CRITERIA, "slurm_accounting_mode": MODE, "dest": "out/recipe.yaml"},
}
VALIDATE = {
    "name": "validate",
    "aicr.runtime.validate": {"recipe": "out/recipe.yaml", "snapshot": SNAPSHOT, "dest": "out/report.json"},
}
BUNDLE = {
    "name": "bundle",
    "aicr.runtime.bundle": {"recipe": "out/recipe.yaml", "dest": "out/bundle", "scheduling": SCHEDULING},
}
STAGES = [RECIPE, VALIDATE, BUNDLE]


def test_every_surface_makes_the_same_bytes(ansible: Ansible) -> None:
    (ansible.folder / "aicr.yaml").write_text(json.dumps(CONFIG))
    selection = f"criteria={json.dumps(CRITERIA)}, slurm_accounting_mode='{MODE}'"
    ansible.tasks(
        [
            RECIPE,
            {"aicr.runtime.recipe": {"config": "aicr.yaml", "dest": "config/recipe.yaml"}},
            {
                "ansible.builtin.copy": {
                    "content": f"{{{{ lookup('aicr.runtime.recipe', {selection}) }}}}",
                    "dest": f"{ansible.folder}/lookup.yaml",
                },
                "delegate_to": "localhost",
            },
            BUNDLE,
            {"aicr.runtime.bundle": {"recipe": "out/recipe.yaml", "config": "aicr.yaml", "dest": "config/bundle"}},
        ]
    )
    variables = {"aicr_criteria": CRITERIA, "aicr_slurm_accounting_mode": MODE, "aicr_scheduling": SCHEDULING}
    for name in ("recipe", "bundle"):
        ansible.playbook(f"aicr.runtime.{name}", "-e", json.dumps(variables))
    by_python = subprocess.run(
        [sys.executable, "-c", PYTHON, json.dumps(CRITERIA), MODE], capture_output=True, text=True, check=True
    ).stdout

    recipe = (ansible.folder / "out" / "recipe.yaml").read_bytes()
    assert MODE.encode() in recipe
    assert {
        "config": (ansible.folder / "config" / "recipe.yaml").read_bytes() == recipe,
        "lookup": (ansible.folder / "lookup.yaml").read_bytes() == recipe,
        "playbook": (ansible.folder / "artifacts" / "cluster" / "recipe.yaml").read_bytes() == recipe,
        "python": by_python.encode() == recipe,
    } == dict.fromkeys(("config", "lookup", "playbook", "python"), True)
    bundle = ansible.tree("out/bundle")
    assert len(bundle) > 50
    assert ansible.tree("config/bundle") == bundle
    assert ansible.tree("artifacts/cluster/bundle") == bundle


PYTHON = """
import json, sys
from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import recipe_to_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.versions import RELEASE
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.criteria import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership import parse_mode
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

catalog = embedded()
made = resolve(catalog, parse(json.loads(sys.argv[1]), catalog), accounting_mode=parse_mode(sys.argv[2]),
               tool_version=RELEASE)
sys.stdout.write(yamlio.dump(recipe_to_document(made.recipe)))
"""


def test_no_mode_and_the_default_mode_are_one_choice(ansible: Ansible) -> None:
    ansible.tasks(
        [
            {"aicr.runtime.recipe": {"criteria": CRITERIA, "dest": "default.yaml"}},
            {"aicr.runtime.recipe": {"criteria": CRITERIA, "slurm_accounting_mode": "disabled", "dest": "stated.yaml"}},
        ]
    )
    assert (ansible.folder / "default.yaml").read_bytes() == (ansible.folder / "stated.yaml").read_bytes()


def test_the_three_stages_need_no_network(ansible: Ansible) -> None:
    ansible.environment["PYTHONPATH"] = str(HERE / "no_sockets")
    connect = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    refused = ansible.command("python", "-c", connect)
    assert "sockets are blocked" in refused.stderr, "the block itself must work, or this test looks at nothing"
    run = ansible.tasks(STAGES)
    assert {task: run.result(task)["changed"] for task in run.results} == dict.fromkeys(run.results, True)


def test_a_second_run_changes_nothing_and_check_mode_knows_it(ansible: Ansible) -> None:
    predicted = ansible.tasks([RECIPE], "--check", "--diff")
    assert predicted.result("recipe")["changed"] is True
    assert "+kind: RecipeResult" in predicted.output
    assert not (ansible.folder / "out").exists()

    first = ansible.tasks(STAGES)
    made = ansible.tree("out")
    second = ansible.tasks(STAGES)
    checked = ansible.tasks(STAGES, "--check", "--diff")
    assert [first.recap("cluster")["changed"], second.recap("cluster")["changed"]] == [3, 0]
    assert checked.recap("cluster")["changed"] == 0
    assert ansible.tree("out") == made
    for stage in ("recipe", "validate", "bundle"):
        assert first.result(stage)["digest"] == second.result(stage)["digest"]

    options = {**BUNDLE["aicr.runtime.bundle"], "set": ["k8s-ephemeral-storage-metrics:enabled=false"]}
    fewer = ansible.tasks([{"name": "bundle", "aicr.runtime.bundle": options}], "--check", "--diff")
    assert fewer.result("bundle")["changed"] is True
    removed = [line for line in fewer.output.splitlines() if line.startswith("-") and "ephemeral" in line]
    assert any(line.endswith("k8s-ephemeral-storage-metrics/values.yaml") for line in removed)
    assert ansible.tree("out") == made


def test_the_results_are_small_and_complete(ansible: Ansible) -> None:
    run = ansible.tasks(STAGES)
    recipe, report, bundle = (run.result(stage) for stage in ("recipe", "validate", "bundle"))
    for result, path in ((recipe, "out/recipe.yaml"), (report, "out/report.json"), (bundle, "out/bundle")):
        assert result["path"] == path
        assert result["digest"].startswith("sha256:")
        assert result["incomplete"] == []
        assert "document" not in result
    assert recipe["summary"]["criteria"] == CRITERIA
    assert recipe["summary"]["accounting"] == report["summary"]["accounting"] == bundle["summary"]["accounting"] == MODE
    assert recipe["summary"]["components"] == bundle["summary"]["components"]
    assert report["summary"]["failed"] == report["summary"]["unreadable"] == 0 < report["summary"]["passed"]
    assert sorted(ansible.tree("out/bundle")) == bundle["files"]
    report_file = json.loads((ansible.folder / "out" / "report.json").read_text())
    assert report_file["results"]["environment"]["extra"] == {
        "recipeDigest": recipe["digest"],
        "slurmAccountingMode": MODE,
    }


def rescue(task: dict[str, Any]) -> list[dict[str, Any]]:
    """A task whose failure is reported by its code."""
    told = "{{ ansible_failed_result.error.code }}: {{ ansible_failed_result.error.message }}"
    return [{"block": [task], "rescue": [{"name": "told", "ansible.builtin.debug": {"msg": told}}]}]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"aicr.runtime.recipe": {"criteria": {"service": "esk"}}}, "INVALID_REQUEST: criteria: service"),
        ({"aicr.runtime.recipe": {"criteria": CRITERIA, "snapshot": "absent.yaml"}}, "NOT_FOUND: absent.yaml"),
        ({"aicr.runtime.recipe": {"criteria": CRITERIA, "dest": "/"}}, "INVALID_REQUEST: /"),
        ({"aicr.runtime.recipe": {"critria": CRITERIA}}, 'INVALID_REQUEST: unknown option "critria"'),
        ({"aicr.runtime.recipe": {"criteria": CRITERIA}, "async": 10, "poll": 1}, "INVALID_REQUEST: "),
        ({"aicr.runtime.recipe": {"criteria": {"service": 1.30}}}, "INVALID_REQUEST: criteria.service: must be text"),
        ({"aicr.runtime.validate": {"recipe": "absent.yaml", "snapshot": SNAPSHOT}}, "NOT_FOUND: absent.yaml"),
        ({"aicr.runtime.bundle": {"recipe": "absent.yaml"}}, "INVALID_REQUEST: dest is missing"),
    ],
    ids=["value", "file", "place", "option", "async", "float", "recipe", "dest"],
)
def test_a_playbook_can_rescue_on_the_code(ansible: Ansible, task: dict[str, Any], told: str) -> None:
    assert told in ansible.tasks(rescue(task)).result("told")["msg"]


def test_an_owned_path_is_refused_before_anything_is_written(ansible: Ansible) -> None:
    options = {**BUNDLE["aicr.runtime.bundle"], "set": ["slinkyslurm:accounting.enabled=false"]}
    run = ansible.tasks([RECIPE, *rescue({"aicr.runtime.bundle": options})])
    assert run.result("told")["msg"].startswith("INVALID_REQUEST: ")
    assert "slinky-slurm" in run.result("told")["msg"] or "slinkyslurm" in run.result("told")["msg"]
    assert not (ansible.folder / "out" / "bundle").exists()


def test_a_constraint_that_fails_fails_the_task_unless_told_otherwise(ansible: Ansible) -> None:
    old = Path(SNAPSHOT).read_text().replace("v1.36", "v1.29")
    (ansible.folder / "old.yaml").write_text(old)
    options = {**VALIDATE["aicr.runtime.validate"], "snapshot": "old.yaml"}
    run = ansible.tasks([RECIPE, *rescue({"name": "validate", "aicr.runtime.validate": options})])
    failed = run.result("validate")
    assert "K8s.server.version" in run.result("told")["msg"]
    assert (failed["changed"], failed["summary"]["failed"]) == (True, 1)
    assert '"failed"' in (ansible.folder / "out" / "report.json").read_text()

    told = ansible.tasks([{"name": "validate", "aicr.runtime.validate": {**options, "fail_on_error": "no"}}])
    assert told.result("validate")["status"] == "ok"
    assert [line.partition(":")[0] for line in told.result("validate")["failures"]] == ["K8s.server.version"]


def test_defaults_of_the_group_reach_every_action(ansible: Ansible) -> None:
    run = ansible.tasks(STAGES, module_defaults={"group/aicr.runtime.all": {"return_document": True}})
    kinds = [run.result(stage)["document"].get("kind", "CTRF") for stage in ("recipe", "validate", "bundle")]
    assert kinds == ["RecipeResult", "CTRF", "BundleInfo"]


def test_defaults_of_a_cluster_reach_the_actions_that_take_them_and_no_other(ansible: Ansible) -> None:
    tasks = [
        {"name": "list", "aicr.runtime.recipe_list": {"health": False}},
        *rescue({"name": "snapshot", "aicr.runtime.snapshot": {}}),
    ]
    defaults = {"group/aicr.runtime.cluster": {"kubeconfig": "nowhere/kubeconfig.yaml", "context": "x"}}
    run = ansible.tasks(tasks, module_defaults=defaults)
    assert run.result("list")["recipes"]
    assert "nowhere/kubeconfig.yaml" in run.result("snapshot")["error"]["message"]


def test_templated_and_unsafe_values_are_plain_to_the_engine(ansible: Ansible) -> None:
    variables = {
        "wanted": {"service": "{{ 'e' ~ 'ks' }}", "accelerator": "h100", "intent": "training"},
        "count": "{{ 4 + 4 }}",
    }
    task = {
        "name": "recipe",
        "aicr.runtime.recipe": {"criteria": "{{ wanted | combine({'nodes': count}) }}", "return_document": True},
    }
    criteria = ansible.tasks([task], vars=variables).result("recipe")["document"]["criteria"]
    assert (criteria["service"], criteria["nodes"]) == ("eks", 8)


def test_queries_answer_with_what_stands_there(ansible: Ansible) -> None:
    selection = f"criteria={json.dumps(CRITERIA)}, slurm_accounting_mode='{MODE}'"
    selectors = "'configuration.slurm.accounting.mode', 'components.slinky-slurm.values.accounting', 'deploymentOrder'"
    debug = "ansible.builtin.debug"
    run = ansible.tasks(
        [
            {"name": "plain", debug: {"msg": f"{{{{ query('aicr.runtime.query', {selectors}, {selection}) }}}}"}},
            {
                "name": "text",
                debug: {"msg": f"{{{{ query('aicr.runtime.query', {selectors}, {selection}, format='yaml') }}}}"},
            },
        ]
    )
    mode, accounting, order = run.result("plain")["msg"]
    assert mode == MODE
    assert accounting["enabled"] is True
    assert order.index("slurm-accounting-mariadb") < order.index("slinky-slurm")
    mode, accounting, order = run.result("text")["msg"]
    assert (mode, order.splitlines()[0][:2]) == (MODE, "- ")
    assert "enabled: true\n" in accounting


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("lookup('aicr.runtime.query', 'nothing', criteria={'service': 'eks'})", "[NOT_FOUND]"),
        ("lookup('aicr.runtime.recipe', criteria={'service': 'esk'})", "[INVALID_REQUEST]"),
        ("lookup('aicr.runtime.recipe', criteria={'service': 'eks'}, dest='x')", "dest"),
        ("lookup('aicr.runtime.recipe', 'eks')", "takes no terms"),
        ("query('aicr.runtime.query', criteria={'service': 'eks'})", "a term is missing (name a selector"),
        ("query('aicr.runtime.query', '', criteria={'service': 'eks'})", "term: must not be empty"),
        ("query('aicr.runtime.query', ['.'], criteria={'service': 'eks'})", "one by one"),
        ("query('aicr.runtime.query', none, criteria={'service': 'eks'})", "one by one"),
        ("query('aicr.runtime.snapshot', snapshot='s.yaml')", "a term is missing (name a constraint path"),
        ("query('aicr.runtime.query', '.', criterias={})", 'unknown option "criterias" (did you mean "criteria"?)'),
    ],
)
def test_a_lookup_says_what_is_wrong(ansible: Ansible, call: str, told: str) -> None:
    run = ansible.tasks([{"ansible.builtin.debug": {"msg": f"{{{{ {call} }}}}"}}], expect=2)
    assert told in run.output


def test_a_catalog_of_ones_own_is_laid_over_the_collections(ansible: Ansible) -> None:
    own = ansible.folder / "own"
    (own / "overlays").mkdir(parents=True)
    header = {"apiVersion": "aicr.run/v1alpha2"}
    (own / "registry.yaml").write_text(json.dumps({**header, "kind": "ComponentRegistry", "components": []}))
    overlay = {
        **header,
        "kind": "RecipeMetadata",
        "metadata": {"name": "in-house"},
        "spec": {
            "base": "eks-training",
            "criteria": {"service": "eks", "accelerator": "in-house", "intent": "training"},
        },
    }
    (own / "overlays" / "in-house.yaml").write_text(json.dumps(overlay))
    options = {"criteria": {"service": "eks", "accelerator": "in-house", "intent": "training"}}
    run = ansible.tasks(
        [
            {"name": "own", "aicr.runtime.recipe": {**options, "catalog": "own"}},
            *rescue({"aicr.runtime.recipe": options}),
        ]
    )
    assert run.result("own")["summary"]["overlays"][-1] == "in-house"
    assert "in-house" in run.result("told")["msg"]
