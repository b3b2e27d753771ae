# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at nodes from within: which ones, with what pods, what is believed of their logs, and that nothing stays."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_api import FakeApi, Reply, Request, status
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.module_utils import host_agent
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import agent as agents
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.agent import Node, choose, look, read_answer
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.agent_job import IMAGE, SECONDS, Agent
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.pod import pod_trouble
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT_AGENT

AGENT = Agent(run="0a1b2c3d", namespace="ops", timeouts={"os": 10.0, "gpu": 10.0}, seconds=1.0)


# ---- which nodes

GPU_1, GPU_2, CPU = Node("gpu-1", True, True), Node("gpu-2", True, True), Node("cpu-1", False, True)


@pytest.mark.parametrize(
    ("nodes", "named", "every", "chosen"),
    [
        ([GPU_2, CPU, GPU_1], [], False, ("gpu-1",)),
        ([GPU_2, CPU, GPU_1], [], True, ("gpu-1", "gpu-2")),
        ([GPU_2, CPU, GPU_1], ["gpu-2", "cpu-1"], False, ("cpu-1", "gpu-2")),
        ([CPU], [], False, ("cpu-1",)),
        ([GPU_1._replace(is_ready=False), GPU_2], [], False, ("gpu-2",)),
    ],
)
def test_the_first_gpu_node_or_every_one_or_those_that_are_named(
    nodes: list[Node], named: list[str], every: bool, chosen: tuple[str, ...]
) -> None:
    assert choose(nodes, named, every) == chosen


@pytest.mark.parametrize(
    ("nodes", "named", "every", "message"),
    [
        ([CPU], [], True, "no node with GPUs"),
        ([], [], False, "no node that is Ready"),
        ([GPU_1], ["gpu-9"], False, 'no node "gpu-9"'),
        ([GPU_1._replace(is_ready=False), GPU_2], [], True, "gpu-1: the node is not Ready"),
        ([GPU_1._replace(is_ready=False)], [], False, "no node that is Ready"),
    ],
)
def test_no_node_is_left_out_without_a_word(nodes: list[Node], named: list[str], every: bool, message: str) -> None:
    with pytest.raises(AicrError, match=message) as caught:
        choose(nodes, named, every)
    assert caught.value.code.value == "NOT_FOUND"


# ---- with what pods


def pod_of(agent: Agent) -> dict[str, Any]:
    spec: dict[str, Any] = agent.job(0, "gpu-1")["spec"]["template"]["spec"]
    return spec


def test_the_pod_has_the_least_rights() -> None:
    pod = pod_of(AGENT)
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is AGENT.account()["automountServiceAccountToken"] is False
    assert not {"hostPID", "hostIPC", "hostNetwork"} & set(pod)
    assert container["securityContext"] == {
        "runAsUser": 0,
        "runAsGroup": 0,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert all(mount["readOnly"] for mount in container["volumeMounts"])
    assert pod["tolerations"] == [{"operator": "Exists"}]


@pytest.mark.parametrize(
    ("collectors", "paths"),
    [
        (["gpu"], {"/sys"}),
        (["os"], {"/etc/os-release", "/proc/cmdline", "/proc/modules", "/proc/sys"}),
        (["os", "gpu", "systemd"], {"/"}),
    ],
)
def test_the_pod_sees_of_the_host_what_its_collectors_read(collectors: list[str], paths: set[str]) -> None:
    pod = pod_of(Agent("r", "ops", dict.fromkeys(collectors, 10.0)))
    volumes = {volume["name"]: volume["hostPath"] for volume in pod["volumes"] if "hostPath" in volume}
    assert {volume["path"] for volume in volumes.values()} == paths
    assert {volume["type"] for volume in volumes.values()} <= {"File", "Directory"}  # nothing is made on a host
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    for name, volume in volumes.items():
        assert mounts[name] == f"/host{volume['path']}".rstrip("/")


def test_systemd_alone_takes_chroot() -> None:
    added = pod_of(Agent("r", "ops", {"systemd": 10.0}))["containers"][0]["securityContext"]["capabilities"]
    assert added == {"drop": ["ALL"], "add": ["SYS_CHROOT"]}


def test_what_is_asked_for_stands_in_the_pod() -> None:
    pod = pod_of(Agent("r", "ops", {"gpu": 10.0}, "r/p:3", ("a",), "spc_t", recursive=True))
    (container,) = pod["containers"]
    assert (container["image"], pod["imagePullSecrets"]) == ("r/p:3", [{"name": "a"}])
    assert container["securityContext"]["seLinuxOptions"] == {"type": "spc_t"}
    assert [m.get("recursiveReadOnly") for m in container["volumeMounts"]] == [None, "IfPossible"]


def test_every_object_of_a_run_has_its_label_and_a_name_of_its_own() -> None:
    objects = [AGENT.account(), AGENT.code(), AGENT.job(0, "a" * 253), AGENT.job(1, "gpu-2")]
    for manifest in objects:
        assert manifest["metadata"]["labels"]["aicr.run/run-id"] == "0a1b2c3d"
        assert manifest["metadata"]["labels"]["app.kubernetes.io/component"] == "snapshot-agent"
        assert manifest["metadata"]["namespace"] == "ops"
        assert len(manifest["metadata"]["name"]) <= 63
    assert len({(m["kind"], m["metadata"]["name"]) for m in objects}) == 4


def test_the_options_have_the_defaults_of_the_agent() -> None:
    assert (SNAPSHOT_AGENT["image"]["default"], SNAPSHOT_AGENT["timeout"]["default"]) == (IMAGE, SECONDS)


def test_the_configmap_holds_all_that_the_pod_runs(tmp_path: Path) -> None:
    """Run as in the pod: from the mounted files alone, by a Python without any package."""
    pod = pod_of(AGENT)
    (container,) = pod["containers"]
    data = AGENT.code()["data"]
    for item in pod["volumes"][0]["configMap"]["items"]:
        place = tmp_path / "code" / item["path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(data[item["key"]])
    root = tmp_path / "host"
    for name, text in {
        "etc/os-release": "ID=ubuntu\n",
        "proc/cmdline": "iommu=pt\n",
        "proc/modules": "nvme 1 0 - Live 0x0\n",
        "proc/sys/kernel/hostname": "pod-7\n",
        "proc/sys/kernel/shmmax": "1\n",
        "proc/sys/kernel/pid_max": "2\n",
        "proc/sys/vm/swappiness": "60\n",
        "sys/bus/pci/devices/0/vendor": "0x8086\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    command = [sys.executable, *container["command"][1:], str(root), container["args"][1]]
    ran = subprocess.run(
        command, cwd=tmp_path / "code", env={"NODE_NAME": "gpu-1"}, capture_output=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    observed = read_answer([ran.stdout], "gpu-1")
    assert observed["incomplete"] == []
    (os,) = [part for part in observed["measurements"] if part["type"] == "OS"]
    readings = {subtype["subtype"]: subtype["data"] for subtype in os["subtypes"]}
    assert readings["release"] == {"ID": "ubuntu"}
    assert readings["sysctl"] == {"/proc/sys/vm/swappiness": "60"}  # the rest is the pod's own


# ---- what is believed


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans()), st.text(), st.text())
def test_an_answer_is_read_as_it_was_given_whatever_stands_around_it(
    said: dict[str, Any], before: str, after: str
) -> None:
    observed = {**said, "node": "gpu-1"}
    log = before + host_agent.answer(observed) + after
    content = log.encode("utf-8", "replace")
    assert read_answer([content[:7], content[7:]], "gpu-1") == observed


def packed(content: bytes, hashed: bytes | None = None) -> bytes:
    text, digest = base64.b64encode(content).decode(), hashlib.sha256(content if hashed is None else hashed).hexdigest()
    return f"{host_agent.BEGIN}\n{text}\nsha256:{digest}\n{host_agent.END}\n".encode()


def as_json(value: object) -> bytes:
    return zlib.compress(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (b"", "there is none"),
        (b"Traceback (most recent call last):\n", "there is none"),
        (host_agent.answer({"node": "gpu-1"}).encode()[:-5], "not all of it"),
        (packed(as_json({"node": "gpu-1"}), b"other"), "damaged"),
        (packed(b"no zlib"), "damaged"),
        (packed(as_json({"node": "gpu-1"})[:-3]), "damaged"),
        (packed(zlib.compress(b"no json")), "damaged"),
        (packed(zlib.compress(b"[" * 100_000)), "damaged"),
        (packed(zlib.compress(b" " * (agents.MAX_ANSWER_BYTES + 1))), "larger than any node's"),
        (packed(as_json([1])), "something else"),
        (packed(as_json({"node": "gpu-2"})), "something else"),
        (b"x" * (agents.MAX_LOG_BYTES + 1), "longer than"),
    ],
)
def test_a_log_without_a_whole_answer_of_this_node_is_none(log: bytes, why: str) -> None:
    with pytest.raises(AicrError, match=why) as caught:
        read_answer([log], "gpu-1")
    assert (caught.value.code.value, caught.value.details) == ("SERVICE_UNAVAILABLE", {"node": "gpu-1"})


@pytest.mark.parametrize(
    ("pod", "events", "told"),
    [
        (None, [], "there is no pod"),
        (None, [("FailedCreate", "no quota", "1")], "there is no pod; event FailedCreate: no quota"),
        ({"phase": "Pending"}, [], "its pod is Pending"),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/5 nodes"}
                ],
            },
            [],
            "its pod is Pending; not scheduled: Unschedulable: 0/5 nodes",
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "no\nimage"}}}],
            },
            [("Failed", "b", "2"), ("Failed", "a", "1"), ("Failed", "b", "3")],
            "its pod is Pending; its container waits: ErrImagePull: no image; event Failed: a; event Failed: b",
        ),
        (
            {
                "phase": "Failed",
                "reason": "Evicted",
                "containerStatuses": [
                    {"state": {"terminated": {"exitCode": 1, "reason": "Error", "message": "x" * 999}}}
                ],
            },
            [],
            "its pod is Failed: Evicted; its container ended with exit code 1: Error: …" + "x" * 300,
        ),
    ],
)
def test_what_keeps_a_pod_is_told_in_one_line(
    pod: dict[str, Any] | None, events: list[tuple[str, str, str]], told: str
) -> None:
    given = [{"type": "Warning", "reason": r, "message": m, "lastTimestamp": at} for r, m, at in events]
    given.append({"type": "Normal", "reason": "Scheduled", "message": "assigned"})
    assert pod_trouble(pod and {"status": pod}, given) == told


# ---- and that nothing stays


class Cluster:
    """Jobs whose pods come to a given end, and what was made and removed."""

    def __init__(self, api: FakeApi, ends: Mapping[str, tuple[str, str]]) -> None:
        self.there: dict[str, dict[str, Any]] = {}
        self.kept: tuple[str, ...] = ()
        self._ends = ends
        api.trouble = self._answer

    def _answer(self, request: Request) -> Reply | None:
        if request.method == "PATCH":
            made = json.loads(request.body)
            made["metadata"]["uid"] = f"uid-of-{made['metadata']['name']}"
            self.there[request.path] = made
            return Reply(200, made)
        if request.method == "DELETE":
            if any(name in request.path for name in self.kept):
                return status(403, "you may not")
            return Reply(200, self.there.pop(request.path)) if request.path in self.there else status(404)
        if request.path.endswith("/log"):
            node = request.path.split("/")[-2].removeprefix("pod-of-")
            return Reply(200, self._ends[node][1].encode())
        if request.path.endswith("/pods"):
            return Reply(200, {"items": [self._pod(job) for job in self.there.values() if job["kind"] == "Job"]})
        return Reply(200, {"items": []})

    def _pod(self, job: Mapping[str, Any]) -> dict[str, Any]:
        node = job["metadata"]["annotations"]["aicr.run/node"]
        metadata = {"name": f"pod-of-{node}", "uid": node, "annotations": {"aicr.run/node": node}}
        return {"metadata": metadata, "status": {"phase": self._ends[node][0]}}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi({}) as api:
        yield api


def said(node: str) -> str:
    return host_agent.answer({"node": node, "measurements": []})


def looked(api: FakeApi, *nodes: str) -> agents.Looked:
    return look(Connection(Access(host=api.url), {}), AGENT, nodes, lambda line: None)


def test_every_node_answers_and_everything_is_removed(api: FakeApi, monkeypatch: Any) -> None:
    """Also where there are more nodes than are looked at at once."""
    monkeypatch.setattr(agents, "AT_ONCE", 2)
    nodes = ["a", "b", "c"]
    cluster = Cluster(api, {node: ("Succeeded", said(node)) for node in nodes})
    found = looked(api, *nodes)
    assert list(found.observed) == nodes
    assert found.left == ()
    assert cluster.there == {}


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        (("Failed", ""), "SERVICE_UNAVAILABLE", "b: could not be looked at: its pod is Failed"),
        (("Pending", ""), "TIMEOUT", "b: was not looked at within 1 s: its pod is Pending"),
        (("Succeeded", "nothing"), "SERVICE_UNAVAILABLE", "b: the answer in the log"),
        (("Succeeded", said("a")), "SERVICE_UNAVAILABLE", "b: the answer in the log"),
    ],
)
def test_one_node_that_does_not_answer_fails_all_and_everything_is_removed(
    api: FakeApi, end: tuple[str, str], code: str, message: str
) -> None:
    cluster = Cluster(api, {"a": ("Succeeded", said("a")), "b": end})
    with pytest.raises(AicrError) as caught:
        looked(api, "a", "b")
    assert caught.value.code.value == code
    assert caught.value.message.startswith(message)
    assert cluster.there == {}


def test_all_nodes_that_do_not_answer_are_named(api: FakeApi) -> None:
    Cluster(api, {"a": ("Failed", ""), "b": ("Failed", "")})
    with pytest.raises(AicrError, match=r"2 problems: a: .*; b: "):
        looked(api, "a", "b")


def test_what_cannot_be_removed_is_named_after_success_and_after_failure(api: FakeApi) -> None:
    cluster = Cluster(api, {"a": ("Succeeded", said("a"))})
    cluster.kept = ("serviceaccounts",)
    (left,) = looked(api, "a").left
    assert "serviceaccounts/aicr-snapshot-agent-0a1b2c3d: not allowed: you may not" in left
    cluster = Cluster(api, {"a": ("Pending", "")})
    cluster.kept = ("jobs", "configmaps")
    with pytest.raises(AicrError, match="its pod is Pending") as caught:
        looked(api, "a")
    assert "left behind" in caught.value.hint
    assert len(caught.value.details["left"]) == 2  # type: ignore[arg-type]
    assert [manifest["kind"] for manifest in cluster.there.values()] == ["ConfigMap", "Job"]


def test_an_interrupted_run_removes_its_objects(api: FakeApi, monkeypatch: Any) -> None:
    cluster = Cluster(api, {"a": ("Pending", "")})

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(agents.time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        looked(api, "a")
    assert cluster.there == {}
