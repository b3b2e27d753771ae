# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed since a snapshot, as a user asks an inventory: files, second run, check mode, failures."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from fake_api import FakeApi, node

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio

from .conftest import CHECKOUT, Ansible, Run

EXAMPLES = CHECKOUT / "examples" / "snapshots"
FLEET = ("eks-h100-training", "eks-h100-inference")
COMPARE, READ, TAKE = "Compare the snapshots", "Read the baseline", "Take a snapshot of the cluster"


def drift(ansible: Ansible, *arguments: str, expect: int = 0, **variables: object) -> Run:
    given = ("-e", json.dumps(variables)) if variables else ()
    inventory = ansible.folder / "hosts.json"
    where = str(inventory) if inventory.exists() else "cluster,"
    return ansible.playbook("aicr.runtime.drift", *given, *arguments, inventory=where, expect=expect)


def rows(run: Run) -> dict[str, list[str]]:
    """The table at the end, by the names of the clusters."""
    said = next(iter(run.results["Say how many readings of each cluster have changed"].values()))["msg"]
    return {line.split()[0]: line.split(maxsplit=4)[1:] for line in said}


@pytest.fixture
def fleet(ansible: Ansible) -> Ansible:
    """Two clusters with what was kept of them and what they are now; one has a newer Kubernetes and lost an image."""
    hosts = {}
    for name in FLEET:
        document: Any = yamlio.load_file(EXAMPLES / f"{name}.yaml")
        kept = ansible.folder / "artifacts" / name / "snapshot.yaml"
        kept.parent.mkdir(parents=True)
        kept.write_bytes((EXAMPLES / f"{name}.yaml").read_bytes())
        if name == FLEET[0]:
            (cluster,) = [one for one in document["measurements"] if one["type"] == "K8s"]
            data = {one["subtype"]: one["data"] for one in cluster["subtypes"]}
            data["server"]["version"] = "v1.37.0-eks-1234567"
            data["image"].popitem()
        document["metadata"]["timestamp"] = "2026-12-24T00:00:00Z"
        (ansible.folder / f"{name}.yaml").write_text(yamlio.dump(document), encoding="utf-8")
        hosts[name] = {"aicr_snapshot": str(ansible.folder / f"{name}.yaml")}
    (ansible.folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
    return ansible


def test_a_fleet_is_compared_with_what_was_kept_of_it(fleet: Ansible) -> None:
    before = fleet.tree("artifacts")
    predicted = drift(fleet, "--check", "--diff")
    assert fleet.tree("artifacts") == before
    assert rows(predicted)[FLEET[0]] == ["0", "1", "1", "not written in a check"]

    first = drift(fleet)
    made = fleet.tree("artifacts")
    assert made.keys() - before.keys() == {f"{name}/drift.yaml" for name in FLEET}
    assert {name: made[name] for name in before} == before, "the baselines are left alone"
    second = drift(fleet)
    assert fleet.tree("artifacts") == made
    for name in FLEET:
        assert [run.recap(name)["changed"] for run in (predicted, first, second)] == [1, 1, 0]
        assert predicted.results[COMPARE][name]["digest"] == first.results[COMPARE][name]["digest"]
    assert rows(second) == rows(first)
    assert rows(first) == {
        "CLUSTER": ["ADDED", "REMOVED", "MODIFIED", "REPORT"],
        FLEET[0]: ["0", "1", "1", f"artifacts/{FLEET[0]}/drift.yaml"],
        FLEET[1]: ["0", "0", "0", "nothing has changed"],
    }
    report: Any = yamlio.load(made[f"{FLEET[0]}/drift.yaml"], "drift")
    assert report["baselineSource"] == str(fleet.folder / "artifacts" / FLEET[0] / "snapshot.yaml")
    assert report["targetSource"] == str(fleet.folder / f"{FLEET[0]}.yaml")
    lost, changed = report["changes"]
    assert lost["kind"] == "removed" and lost["path"].startswith("K8s.image.") and "target" not in lost
    assert (changed["kind"], changed["path"]) == ("modified", "K8s.server.version")
    assert changed["target"] == "v1.37.0-eks-1234567"


def test_a_baseline_may_be_another_one(fleet: Ansible) -> None:
    for name in FLEET:
        (fleet.folder / "artifacts" / name / "snapshot.yaml").unlink()
    baseline = "{{ inventory_hostname }}.yaml"
    run = drift(fleet, aicr_baseline=baseline)
    assert [rows(run)[name][:3] for name in FLEET] == [["0", "0", "0"]] * 2
    assert rows(drift(fleet, aicr_baseline=str(EXAMPLES / baseline)))[FLEET[0]][:3] == ["0", "1", "1"]


def test_a_cluster_without_baseline_is_told_what_to_run_first_and_stops_no_other(fleet: Ansible) -> None:
    (fleet.folder / "artifacts" / FLEET[1] / "snapshot.yaml").unlink()
    before = fleet.tree("artifacts")
    run = drift(fleet, expect=2)
    error = run.results[READ][FLEET[1]]["error"]
    assert (error["code"], error["hint"].partition(",")[0]) == ("NOT_FOUND", "run aicr.runtime.snapshot first")
    assert fleet.tree("artifacts").keys() - before.keys() == {f"{FLEET[0]}/drift.yaml"}
    assert [run.recap(name)["failed"] for name in FLEET] == [0, 1]
    assert rows(run)[FLEET[0]][:3] == ["0", "1", "1"]
    counts, said = rows(run)[FLEET[1]][:3], rows(run)[FLEET[1]][3]
    assert counts == ["-", "-", "-"] and "stopped at: Read the baseline" in said and "aicr.runtime.snapshot" in said


def test_where_drift_shall_fail_only_the_cluster_that_drifted_does_after_its_report(fleet: Ansible) -> None:
    run = drift(fleet, expect=2, aicr_fail_on_drift="true")
    assert run.results[COMPARE][FLEET[0]]["error"]["code"] == "CONFLICT"
    assert [run.recap(name)["failed"] for name in FLEET] == [1, 0]
    assert {f"{name}/drift.yaml" for name in FLEET} <= fleet.tree("artifacts").keys()
    assert rows(run)[FLEET[0]] == ["0", "1", "1", f"artifacts/{FLEET[0]}/drift.yaml"]
    assert "not what the baseline says" in run.result("Fail", FLEET[0])["msg"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [("now.yaml", "drift"), ("then.yaml", "none"), ("absent.yaml", "NOT_FOUND"), ("hosts", "INVALID_REQUEST")],
)
def test_a_playbook_rescues_drift_and_nothing_else(fleet: Ansible, target: str, expected: str) -> None:
    for name, source in (("then", EXAMPLES / f"{FLEET[0]}.yaml"), ("now", fleet.folder / f"{FLEET[0]}.yaml")):
        (fleet.folder / f"{name}.yaml").write_bytes(source.read_bytes())
    (fleet.folder / "hosts").write_text("kind: List\n", encoding="utf-8")
    say = {"name": "say", "ansible.builtin.debug": {"msg": "none"}}
    compare = {"baseline": "then.yaml", "target": target, "dest": "drift.yaml", "fail_on_drift": True}
    code = "ansible_failed_result.error.code"
    rescued = {
        "name": "say",
        "ansible.builtin.debug": {"msg": f"{{{{ 'drift' if {code} == 'CONFLICT' else {code} }}}}"},
    }
    block = [{"name": "compare", "aicr.runtime.snapshot_diff": compare}, say]
    run = fleet.tasks([{"block": block, "rescue": [rescued]}])
    assert run.result("say")["msg"] == expected
    assert (fleet.folder / "drift.yaml").exists() == (expected in ("drift", "none"))


def test_a_machine_is_compared_with_itself(ansible: Ansible) -> None:
    machine = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    first = drift(ansible, **machine, aicr_host_snapshot=True, expect=2)
    assert first.result(READ)["error"]["hint"].startswith("run aicr.runtime.snapshot first")
    given = ("-e", json.dumps({**machine, "aicr_host_snapshot": True}))
    ansible.playbook("aicr.runtime.snapshot", *given, "--check")
    assert ansible.tree("artifacts") == {}
    taken = ansible.playbook("aicr.runtime.snapshot", *given)
    assert taken.recap("cluster")["changed"] == 1 and taken.recap("cluster")["failed"] == 0
    kept = ansible.tree("artifacts")
    assert list(kept) == ["cluster/snapshot.yaml"]
    runs = [drift(ansible, **machine, aicr_host_snapshot=True) for _unused in range(2)]
    assert [run.recap("cluster")["changed"] for run in runs] == [2, 0]
    assert rows(runs[0])["cluster"] == ["0", "0", "0", "nothing has changed"]
    made = ansible.tree("artifacts")
    assert made.keys() == {f"cluster/{name}" for name in ("snapshot.yaml", "drift-snapshot.yaml", "drift.yaml")}
    assert made["cluster/snapshot.yaml"] == kept["cluster/snapshot.yaml"]


@pytest.mark.parametrize("layout", ["to the baseline", "to one file elsewhere"])
def test_a_baseline_is_replaced_through_no_link(ansible: Ansible, layout: str) -> None:
    machine = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    kept = ansible.folder / "artifacts" / "cluster" / "snapshot.yaml"
    kept.parent.mkdir(parents=True)
    taken, content = kept.with_name("drift-snapshot.yaml"), (EXAMPLES / f"{FLEET[0]}.yaml").read_bytes()
    if layout == "to the baseline":
        kept.write_bytes(content)
        taken.symlink_to("snapshot.yaml")
    else:
        (ansible.folder / "elsewhere.yaml").write_bytes(content)
        for link in (kept, taken):
            link.symlink_to(ansible.folder / "elsewhere.yaml")
    run = drift(ansible, **machine, aicr_host_snapshot=True, expect=2)
    error = run.result("Check the variables")["error"]
    assert error["code"] == "INVALID_REQUEST" and str(kept) in error["message"] and str(taken) in error["message"]
    assert kept.read_bytes() == content


def test_what_drift_takes_of_one_cluster_is_no_baseline_of_another(fleet: Ansible) -> None:
    """They take theirs at the same time, so which of the two is read would be chance."""
    other = fleet.folder / "artifacts" / FLEET[0] / "drift-snapshot.yaml"
    other.write_bytes((EXAMPLES / f"{FLEET[0]}.yaml").read_bytes())
    before = fleet.tree("artifacts")
    run = drift(fleet, "--limit", FLEET[1], aicr_baseline=str(other), expect=2)
    error = run.result("Check the variables", FLEET[1])["error"]
    assert (error["code"], error["hint"]) == ("INVALID_REQUEST", "copy it under another name first")
    assert fleet.tree("artifacts") == before


def test_without_a_cluster_or_a_snapshot_nothing_is_compared(fleet: Ansible) -> None:
    run = drift(fleet, "-e", json.dumps({"aicr_snapshot": None}), expect=2)
    assert {result["error"]["code"] for result in run.results[TAKE].values()} == {"INVALID_REQUEST"}
    assert COMPARE not in run.results


def test_a_cluster_is_read_and_nothing_else(ansible: Ansible) -> None:
    objects = {
        "/version": {"gitVersion": "v1.34.1-eks-3cfe0ce", "platform": "linux/amd64", "goVersion": "go1.24.9"},
        "/api/v1/nodes": [node("gpu-1", {"zone": "a"})],
        "/api/v1/pods": [],
        "/apis/apps/v1/deployments": [],
    }
    with FakeApi(objects) as api:
        access = {"aicr_host": api.url, "aicr_api_key": "t0ken"}
        ansible.playbook("aicr.runtime.snapshot", "-e", json.dumps(access))
        kept = ansible.tree("artifacts")
        assert rows(drift(ansible, "--check", **access))["cluster"] == ["0", "0", "0", "nothing has changed"]
        assert ansible.tree("artifacts") == kept
        first, second = drift(ansible, **access), drift(ansible, **access)
        assert [run.recap("cluster")["changed"] for run in (first, second)] == [2, 0]
        made = ansible.tree("artifacts")
        assert {name: made[name] for name in kept} == kept
        assert made.keys() - kept.keys() == {"cluster/drift-snapshot.yaml", "cluster/drift.yaml"}

        api.objects["/api/v1/nodes"] = [node("gpu-1", {"zone": "b"})]
        predicted = drift(ansible, "--check", **access)
        assert predicted.recap("cluster")["changed"] == 2 and ansible.tree("artifacts") == made
        changed = drift(ansible, **access)
        assert {change["path"] for change in changed.result(COMPARE)["changes"]} == {
            "NodeTopology.label.zone",
            "NodeTopology.label.items[0].context.value",
        }
        assert predicted.result(COMPARE)["digest"] == changed.result(COMPARE)["digest"]
        assert {request.method for request in api.requests} == {"GET"}

        asked = len(api.requests)
        refused = drift(ansible, **access, aicr_baseline="artifacts/cluster/drift-snapshot.yaml", expect=2)
        assert refused.result("Check the variables")["error"]["code"] == "INVALID_REQUEST"
        (ansible.folder / "artifacts" / "cluster" / "snapshot.yaml").unlink()
        assert drift(ansible, **access, expect=2).result(READ)["error"]["code"] == "NOT_FOUND"
        assert len(api.requests) == asked, "before a cluster is looked at for nothing"


def test_nodes_that_are_looked_at_leave_those_of_the_baseline_alone(ansible: Ansible) -> None:
    """They are files of a snapshot, too: one for each node that is reached by SSH."""
    machine = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    groups = {"aicr_nodes_cluster": {"hosts": {"gpu-1": machine}}}
    inventory = ansible.folder / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": {"cluster": {}}, "children": groups}}), encoding="utf-8")
    with FakeApi({"/version": {"gitVersion": "v1.34.1"}, "/api/v1/nodes": [node("gpu-1")], "/api/v1/pods": []}) as api:
        access = ("-e", json.dumps({"aicr_host": api.url, "aicr_api_key": "t0ken"}))
        ansible.playbook("aicr.runtime.snapshot", *access, inventory=str(inventory))
        kept = ansible.tree("artifacts")
        assert "cluster/nodes/gpu-1.yaml" in kept
        run = drift(ansible, *access)
    made = ansible.tree("artifacts")
    assert {name: made[name] for name in kept} == kept
    assert "cluster/drift-nodes/gpu-1.yaml" in made
    assert rows(run)["cluster"] == ["0", "0", "0", "nothing has changed"]
