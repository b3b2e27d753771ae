# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of clusters as a user takes them: results, check mode, secrets, and no cluster that nobody named."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fake_api import FakeApi, Reply, node, status

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio

if TYPE_CHECKING:
    from .conftest import Ansible

TOKEN = "Zq8vR2mW5tKdSesame"
CRITERIA = {"intent": "training", "accelerator": "h100", "platform": "slurm"}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    one = node("gpu-1", {"nvidia.com/gpu.present": "true"})
    one["spec"]["providerID"] = "kind://docker/kind/gpu-1"  # whose recipe asks nothing of the operating system
    objects = {
        "/version": {"gitVersion": "v1.34.1-eks-3cfe0ce", "platform": "linux/amd64", "goVersion": "go1.24.9"},
        "/api/v1/nodes": [one],
        "/api/v1/pods": [{"spec": {"containers": [{"image": "r/coredns:v1"}]}}],
        "/apis/apps/v1/deployments": [],
    }
    with FakeApi(objects) as api:
        yield api


@pytest.fixture
def kubeconfig(api: FakeApi) -> dict[str, Any]:
    return {
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": api.url}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
    }


@pytest.fixture
def named(ansible: Ansible, kubeconfig: dict[str, Any]) -> str:
    path = ansible.folder / "kubeconfig"
    path.write_text(json.dumps(kubeconfig))
    return str(path)


def take(**options: object) -> dict[str, Any]:
    return {"name": "take", "aicr.runtime.snapshot": options}


def readings(ansible: Ansible, name: str) -> dict[str, Any]:
    document: dict[str, Any] = yamlio.load_file(ansible.folder / name)
    return document


def test_a_file_is_written_once_and_no_more_while_the_cluster_says_the_same(
    ansible: Ansible, api: FakeApi, named: str
) -> None:
    task = take(kubeconfig=named, dest="out/snapshot.yaml")
    predicted = ansible.tasks([task], "--check", "--diff")
    assert predicted.result("take")["changed"] is True
    assert not (ansible.folder / "out").exists()
    first, second = ansible.tasks([task]).result("take"), ansible.tasks([task]).result("take")
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["digest"] == second["digest"] == predicted.result("take")["digest"]
    assert first["summary"] == {
        "version": "v1.34.1-eks-3cfe0ce",
        "provider": "kind",
        "nodes": 1,
        "mariadb": "absent",
        "slinky": "absent",
        "requests": 7,
    }
    assert readings(ansible, "out/snapshot.yaml")["kind"] == "Snapshot"
    assert {request.method for request in api.requests} == {"GET"}


def test_formats_and_the_lookup(ansible: Ansible, named: str) -> None:
    lookup = (
        "query('aicr.runtime.snapshot', 'K8s.server.version', 'NodeTopology.summary.node-count', snapshot='s.json')"
    )
    tasks = [
        take(kubeconfig=named, dest="s.json", format="json"),
        take(kubeconfig=named, dest="s.txt", format="table"),
        {"name": "look", "ansible.builtin.debug": {"msg": f"{{{{ {lookup} }}}}"}},
    ]
    run = ansible.tasks(tasks)
    assert run.result("look")["msg"] == ["v1.34.1-eks-3cfe0ce", 1]
    table = (ansible.folder / "s.txt").read_text().splitlines()
    assert table[0].split() == ["TYPE", "SUBTYPE", "KEY", "VALUE"]
    assert ["K8s", "image", "coredns", "v1"] in [line.split() for line in table]
    call = "lookup('aicr.runtime.snapshot', 'K8s.server.verison', snapshot='s.json')"
    run = ansible.tasks([{"ansible.builtin.debug": {"msg": f"{{{{ {call} }}}}"}}], expect=2)
    assert "[NOT_FOUND]" in run.output


def test_a_configmap_is_written_read_and_left_alone(ansible: Ansible, api: FakeApi, named: str) -> None:
    task = take(kubeconfig=named, dest="cm://ops/aicr-snapshot")
    ansible.tasks([task], "--check")
    assert api.stored == {}
    assert [request.query.get("dryRun") for request in api.requests if request.method != "GET"] == ["All"]
    first, second = ansible.tasks([task]).result("take"), ansible.tasks([task]).result("take")
    assert (first["changed"], second["changed"], first["path"]) == (True, False, "cm://ops/aicr-snapshot")
    recipe = {
        "name": "recipe",
        "aicr.runtime.recipe": {
            "criteria": CRITERIA,
            "snapshot": "cm://ops/aicr-snapshot",
            "dest": "cm://ops/aicr-recipe",
            "kubeconfig": named,
        },
    }
    report = {
        "name": "report",
        "aicr.runtime.validate": {
            "recipe": "cm://ops/aicr-recipe",
            "snapshot": "cm://ops/aicr-snapshot",
            "kubeconfig": named,
            "fail_on_error": False,
        },
    }
    run = ansible.tasks([recipe, report])
    assert run.result("recipe")["summary"]["criteria"]["service"] == "kind"
    assert run.result("report")["summary"]["passed"] > 0
    assert sorted(path.rpartition("/")[2] for path in api.stored) == ["aicr-recipe", "aicr-snapshot"]
    assert ansible.tasks([recipe]).result("recipe")["changed"] is False


def test_check_mode_does_not_stumble_over_a_namespace_that_is_to_come(
    ansible: Ansible, api: FakeApi, named: str
) -> None:
    """Case K10."""
    api.trouble = lambda request: status(404) if request.method == "PATCH" else None
    task = take(kubeconfig=named, dest="cm://ops/aicr-snapshot")
    assert ansible.tasks([task], "--check").result("take")["changed"] is True
    assert ansible.tasks([task], expect=2).result("take")["error"]["code"] == "NOT_FOUND"


def test_no_cluster_is_ever_guessed(ansible: Ansible, api: FakeApi, kubeconfig: dict[str, Any], named: str) -> None:
    (ansible.folder / ".kube").mkdir()
    (ansible.folder / ".kube" / "config").write_text(json.dumps(kubeconfig))
    ansible.environment = {"KUBECONFIG": named, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}
    result = ansible.tasks([take()], expect=2).result("take")
    assert result["error"]["code"] == "INVALID_REQUEST"
    assert "K8S_AUTH_KUBECONFIG" in result["error"]["hint"]
    assert api.requests == []


def test_the_variables_of_awx_name_the_cluster(ansible: Ansible, api: FakeApi) -> None:
    ansible.environment = {"K8S_AUTH_HOST": api.url, "K8S_AUTH_API_KEY": TOKEN, "K8S_AUTH_VERIFY_SSL": "True"}
    ansible.tasks([take()])
    assert api.requests[-1].headers["authorization"] == [f"Bearer {TOKEN}"]


def test_the_keyword_environment_names_the_cluster(ansible: Ansible, api: FakeApi, named: str) -> None:
    ansible.tasks([take()], environment={"K8S_AUTH_KUBECONFIG": "{{ where }}"}, vars={"where": named})
    assert api.requests[-1].headers["authorization"] == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("how", ["dictionary", "api_key"])
def test_no_credential_is_ever_printed(ansible: Ansible, api: FakeApi, kubeconfig: dict[str, Any], how: str) -> None:
    """Case K12: whatever happens to the task, and however loud Ansible is."""
    way = {"kubeconfig": kubeconfig} if how == "dictionary" else {"host": api.url, "api_key": TOKEN}
    troubles = [None, status(401, f"bad {TOKEN}"), status(403, f"no {TOKEN}"), Reply(body=TOKEN.encode())]
    for trouble in troubles:
        api.trouble = lambda request, trouble=trouble: trouble
        task = {**take(**way, dest="s.yaml", return_document=True), "ignore_errors": True}
        run = ansible.tasks([task], "-vvvv", "--diff")
        assert TOKEN not in run.output
        assert TOKEN not in json.dumps(run.results)
    assert TOKEN not in "".join(
        path.read_text() for path in ansible.folder.rglob("*") if path.is_file() and path.name != "play.yml"
    )


def test_a_gap_is_told_and_a_lost_api_leaves_the_file_alone(ansible: Ansible, api: FakeApi, named: str) -> None:
    api.trouble = lambda request: status(403, "no") if request.path == "/api/v1/pods" else None
    task = take(kubeconfig=named, dest="s.yaml")
    result = ansible.tasks([task]).result("take")
    assert result["incomplete"] == readings(ansible, "s.yaml")["incomplete"]
    assert "K8s.image" in result["incomplete"][0]
    kept = (ansible.folder / "s.yaml").read_bytes()
    run = ansible.tasks([take(kubeconfig=named, dest="s.yaml", on_partial="fail")], expect=2)
    assert run.result("take")["error"]["details"]["incomplete"] == result["incomplete"]
    api.trouble = lambda request: Reply(body={}, cut=0)
    assert ansible.tasks([task], expect=2).result("take")["error"]["code"] == "SERVICE_UNAVAILABLE"
    assert (ansible.folder / "s.yaml").read_bytes() == kept
    assert [path.name for path in Path(ansible.folder).glob(".*new*")] == []


def test_a_configuration_file_says_where_to(ansible: Ansible, named: str) -> None:
    config = {
        "kind": "AICRConfig",
        "apiVersion": "aicr.run/v1alpha2",
        "spec": {
            "snapshot": {
                "output": {"path": str(ansible.folder / "from-config.json"), "format": "json"},
                "execution": {"maxNodesPerEntry": 1},
                "agent": {"namespace": "gpu-operator"},
            }
        },
    }
    (ansible.folder / "config.yaml").write_text(json.dumps(config))
    result = ansible.tasks([take(kubeconfig=named, config="config.yaml")]).result("take")
    assert result["path"].endswith("from-config.json")
    assert json.loads((ansible.folder / "from-config.json").read_text())["kind"] == "Snapshot"
    result = ansible.tasks([take(kubeconfig=named, config="config.yaml", max_nodes_per_entry=2)]).result("take")
    (warning,) = [text for text in result["warnings"] if "spec.snapshot.execution.maxNodesPerEntry" in text]
    assert "max_nodes_per_entry (2) counts" in warning


@pytest.mark.parametrize(
    "wrong",
    [{"timeouts": {"k8s": 0}}, {"max_nodes_per_entry": -1}, {"collectors": []}, {"kubeconfig": ["a"]}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_options_that_make_no_sense_are_refused_by_name(ansible: Ansible, named: str, wrong: dict[str, Any]) -> None:
    result = ansible.tasks([take(**{"kubeconfig": named, **wrong})], expect=2).result("take")
    assert next(iter(wrong)) in result["msg"]
    assert result["error"]["code"] == "INVALID_REQUEST"


def test_the_playbook_and_the_whole_way(ansible: Ansible, named: str) -> None:
    variables = {"aicr_kubeconfig": named, "aicr_criteria": CRITERIA, "aicr_fail_on_error": False}
    extra = ["-e", json.dumps(variables)]
    ansible.playbook("aicr.runtime.snapshot", *extra)
    assert readings(ansible, "artifacts/cluster/snapshot.yaml")["kind"] == "Snapshot"
    predicted = ansible.playbook("aicr.runtime.site", "--check", *extra)
    assert predicted.recap("cluster")["failed"] == 0
    ansible.playbook("aicr.runtime.site", *extra)
    again = ansible.playbook("aicr.runtime.site", *extra)
    assert again.recap("cluster")["changed"] == 0
    assert readings(ansible, "artifacts/cluster/recipe.yaml")["kind"] == "RecipeResult"


def of_node(name: str, version: str) -> dict[str, Any]:
    """The snapshot of a node."""
    return {
        "apiVersion": "aicr.run/v1alpha2",
        "kind": "Snapshot",
        "metadata": {"source-node": name},
        "measurements": [
            {"type": "OS", "subtypes": [{"subtype": "release", "data": {"ID": "ubuntu", "VERSION_ID": version}}]}
        ],
    }


def test_nodes_become_part_of_the_snapshot_and_a_constraint_must_hold_on_all(ansible: Ansible, named: str) -> None:
    """A recipe for Ubuntu 24.04 does not fit where one node is older, which the snapshot shows by name."""
    (ansible.folder / "new.yaml").write_text(yamlio.dump(of_node("gpu-2", "24.04")))
    task = take(kubeconfig=named, dest="s.yaml", nodes=["new.yaml", of_node("gpu-1", "22.04")])
    result = ansible.tasks([task]).result("take")
    assert result["summary"]["differing"] == 1
    assert "OS.release.VERSION_ID" in str(result["warnings"])
    (release,) = next(one for one in readings(ansible, "s.yaml")["measurements"] if one["type"] == "OS")["subtypes"]
    assert release["data"] == {"ID": "ubuntu"}
    assert [item["context"]["node"] for item in release["items"]] == ["gpu-1", "gpu-2"]
    criteria = {"service": "eks", "accelerator": "h100", "os": "ubuntu", "intent": "training"}
    tasks = [
        {"name": "make", "aicr.runtime.recipe": {"criteria": criteria, "dest": "r.yaml"}},
        {"name": "hold", "aicr.runtime.validate": {"recipe": "r.yaml", "snapshot": "s.yaml", "dest": "r.json"}},
    ]
    failures = [text for text in ansible.tasks(tasks, expect=2).result("hold")["failures"] if "OS.release" in str(text)]
    assert "OS.release.VERSION_ID" in str(failures) and "OS.release.ID" not in str(failures)
    assert "gpu-1" in str(failures) and "gpu-2" not in str(failures)
    refused = ansible.tasks([take(kubeconfig=named, nodes=["gone.yaml"])], expect=2).result("take")
    assert "gone.yaml" in refused["msg"]
    assert "host_snapshot" in refused["msg"]


def test_the_group_of_a_clusters_nodes_is_looked_at_by_ssh_and_is_no_cluster(ansible: Ansible, named: str) -> None:
    """This machine stands for the node; what a playbook takes for clusters is everything else."""
    node_variables = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = {
        "all": {
            "hosts": {"berlin": {"aicr_kubeconfig": named}, "paris": {"aicr_kubeconfig": named}},
            "children": {"aicr_nodes_berlin": {"hosts": {"gpu-1": node_variables}}},
        }
    }
    (ansible.folder / "inventory.yml").write_text(json.dumps(inventory))
    ansible.playbook("aicr.runtime.snapshot", "--check", inventory="inventory.yml")
    assert not (ansible.folder / "artifacts").exists()
    run = ansible.playbook("aicr.runtime.snapshot", inventory="inventory.yml")
    assert (run.recap("berlin")["changed"], run.recap("paris")["changed"]) == (2, 1)
    assert "gpu-1 " not in run.output.partition("PLAY RECAP")[2]
    assert sorted(ansible.tree("artifacts")) == [
        "berlin/nodes/gpu-1.yaml",
        "berlin/snapshot.yaml",
        "paris/snapshot.yaml",
    ]
    types = {
        name: {one["type"] for one in readings(ansible, f"artifacts/{name}/snapshot.yaml")["measurements"]}
        for name in ("berlin", "paris")
    }
    assert types["berlin"] - types["paris"] >= {"GPU", "OS"}
    again = ansible.playbook("aicr.runtime.snapshot", inventory="inventory.yml")
    assert (again.recap("berlin")["changed"], again.recap("paris")["changed"]) == (0, 0)
