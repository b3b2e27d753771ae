# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are looked at from within a cluster: with the documented rights and no other, and nothing left behind."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import rights
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT_AGENT, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot_agent import make_agent_snapshot
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.audit import Request
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind

CHECKOUT = Path(__file__).resolve().parents[2]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
NAME = "aicr-snapshot-agent"


def take(kubeconfig: Path, namespace: str, *, check_mode: bool = False, **options: Any) -> dict[str, Any]:
    """What the action returns."""
    told: list[str] = []
    given = {"kubeconfig": str(kubeconfig), "namespace": namespace, "timeout": 60, **options}
    made = make_agent_snapshot(parse(SNAPSHOT_AGENT, given), check_mode=check_mode, tell=told.append)
    return made.deliver(check_mode=check_mode, diff=False, return_document=True)


def refusal(kubeconfig: Path, namespace: str, **options: Any) -> AicrError:
    with pytest.raises(AicrError) as caught:
        take(kubeconfig, namespace, **options)
    return caught.value


def gpu_nodes(bed: Bed) -> list[str]:
    return sorted(n["metadata"]["name"] for n in bed.api.items("/api/v1/nodes") if n["spec"].get("taints"))


def left(bed: Bed, namespace: str) -> list[str]:
    """Whatever of ours is in a namespace; pods may take a moment to go."""
    kinds = ("/api/v1/{}/serviceaccounts", "/api/v1/{}/configmaps", "/apis/batch/v1/{}/jobs", "/api/v1/{}/pods")
    paths = [path.format(f"namespaces/{namespace}") for path in kinds]
    found = [item["metadata"]["name"] for path in paths for item in bed.api.items(path)]
    return [name for name in found if name.startswith("aicr-")]


def subtype(document: Object, kind: str, name: str) -> Object:
    (measurement,) = [one for one in document["measurements"] if one["type"] == kind]
    (found,) = [one for one in measurement["subtypes"] if one["subtype"] == name]
    return found


@pytest.fixture
def caller(bed: Bed, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """A kubeconfig of the documented ServiceAccount, in the namespace of the test."""
    name = f"agent-{uuid.uuid4().hex[:8]}"
    paths = {
        "ServiceAccount": f"/api/v1/namespaces/{namespace}/serviceaccounts",
        "Role": f"{RBAC}/namespaces/{namespace}/roles",
        "RoleBinding": f"{RBAC}/namespaces/{namespace}/rolebindings",
        "ClusterRole": f"{RBAC}/clusterroles",
        "ClusterRoleBinding": f"{RBAC}/clusterrolebindings",
    }
    for manifest in rights.agent_manifests(name=name, namespace=namespace):
        bed.api.create(paths[manifest["kind"]], manifest)
    yield bed.write_kubeconfig(tmp_path / name, token=bed.service_account_token(namespace, name))
    for kind in ("ClusterRole", "ClusterRoleBinding"):
        bed.api.delete(f"{paths[kind]}/{name}")


@contextlib.contextmanager
def changed(file: Path, text: str | None) -> Iterator[None]:
    """A file of a node with another text, or without the file."""
    kept = file.read_text(encoding="utf-8")
    file.unlink()
    if text is not None:
        file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
        file.write_text(kept, encoding="utf-8")


def granted(kubeconfig: Path, namespace: str) -> bool:
    """Whether the authorizer has noticed the rights of a new account."""
    try:
        take(kubeconfig, namespace, check_mode=True)
    except AicrError as error:
        if error.code.value != "UNAUTHORIZED":
            raise
        return False
    return True


def written(requests: list[Request]) -> set[tuple[str, str, str]]:
    """Verb, resource and name, the run's id and the Job's number left out."""
    return {
        (request.verb, request.resource, "-".join(request.name.split("-")[:3]))
        for request in requests
        if request.writes
    }


def test_one_node_is_looked_at_with_the_documented_rights(
    bed: Bed, namespace: str, caller: Path, tmp_path: Path
) -> None:
    eventually(lambda: granted(caller, namespace))
    dest = tmp_path / "nodes.yaml"
    account = f"system:serviceaccount:{namespace}:{caller.name}"
    with bed.audit.recording() as everybody:
        first = take(caller, namespace, dest=str(dest))
    requests = [request for request in everybody if request.user == account]
    node = gpu_nodes(bed)[0]
    assert (first["changed"], first["summary"]["nodes"], first["incomplete"]) == (True, [node], [])
    document = yamlio.load_file(dest)
    assert document["metadata"]["source-node"] == node
    assert subtype(document, "GPU", "hardware")["data"]["model"] == "h100"
    release = bed.node(node).joinpath("etc/os-release").read_text(encoding="utf-8")
    assert f'VERSION_ID="{subtype(document, "OS", "release")["data"]["VERSION_ID"]}"' in release
    assert eventually(lambda: not left(bed, namespace))

    objects = ("serviceaccounts", "configmaps", "jobs")
    assert written(requests) == {(verb, kind, NAME) for verb in ("patch", "delete") for kind in objects}
    assert {request.namespace for request in requests if request.writes} == {namespace}
    assert not [r for r in everybody if r.user.startswith(f"system:serviceaccount:{namespace}:{NAME}")]

    second = take(caller, namespace, dest=str(dest))
    assert (second["changed"], second["digest"]) == (False, first["digest"])


def test_check_mode_makes_nothing_and_says_what_it_takes_to_be_there(bed: Bed, namespace: str, tmp_path: Path) -> None:
    dest = tmp_path / "nodes.yaml"
    with bed.audit.recording("admin") as requests:
        predicted = take(bed.kubeconfig, namespace, check_mode=True, dest=str(dest), select="all")
    assert not [request for request in requests if request.writes]
    assert {r.resource for r in requests if r.dry_run} == {"serviceaccounts", "configmaps", "jobs"}
    assert (predicted["changed"], predicted["document"], predicted["digest"]) == (True, None, None)
    assert predicted["summary"]["nodes"] == gpu_nodes(bed)
    assert "what they are is not known" in predicted["warnings"][0]
    made = take(bed.kubeconfig, namespace, dest=str(dest))
    predicted = take(bed.kubeconfig, namespace, check_mode=True, dest=str(dest))
    assert (predicted["changed"], predicted["digest"]) == (False, made["digest"])
    assert predicted["document"] == made["document"]


def test_every_gpu_node_is_looked_at_and_one_that_differs_is_shown(bed: Bed, namespace: str) -> None:
    nodes = gpu_nodes(bed)
    assert len(nodes) > 2
    same = take(bed.kubeconfig, namespace, select="all")
    assert (same["summary"]["nodes"], same["summary"]["differing"], same["warnings"]) == (nodes, 0, [])
    assert "items" not in subtype(same["document"], "OS", "release")
    release = bed.node(nodes[1]) / "etc" / "os-release"
    with changed(release, release.read_text(encoding="utf-8").replace("24.04", "22.04")):
        taken = take(bed.kubeconfig, namespace, select="all")
    differing = subtype(taken["document"], "OS", "release")
    assert "VERSION_ID" not in differing["data"]
    assert {item["context"]["node"]: item["data"]["VERSION_ID"] for item in differing["items"]} == {
        nodes[0]: "24.04",
        nodes[1]: "22.04",
        nodes[2]: "24.04",
    }
    assert "OS.release.VERSION_ID; a constraint on these must hold on every node" in taken["warnings"][0]
    assert eventually(lambda: not left(bed, namespace))


def test_a_node_whose_pod_never_starts_is_named_with_the_reason(bed: Bed, namespace: str, tmp_path: Path) -> None:
    nodes, dest = gpu_nodes(bed), tmp_path / "nodes.yaml"
    with changed(bed.node(nodes[1]) / "etc" / "os-release", None):
        error = refusal(bed.kubeconfig, namespace, select="all", timeout=4, dest=str(dest))
    assert error.code.value == "TIMEOUT"
    assert error.message.startswith(f"{nodes[1]}: was not looked at within 4 s: its pod is Pending")
    assert "/etc/os-release is not a file" in error.message
    assert "FailedMount" in error.message
    assert error.details == {"node": nodes[1]}
    assert not dest.exists()
    assert eventually(lambda: not left(bed, namespace))


def test_a_namespace_that_admits_no_such_pods_is_the_reason(bed: Bed, namespace: str) -> None:
    enforce = {"pod-security.kubernetes.io/enforce": "baseline"}
    bed.api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": enforce}})
    error = refusal(bed.kubeconfig, namespace, timeout=3)
    assert "there is no pod; event FailedCreate" in error.message
    assert "violates PodSecurity" in error.message
    assert eventually(lambda: not left(bed, namespace))


def test_a_node_that_is_not_ready_is_refused_at_once(bed: Bed, namespace: str) -> None:
    node = gpu_nodes(bed)[0]
    path = f"/api/v1/nodes/{node}"
    bed.api.patch(path, {"metadata": {"annotations": {"bed/hold": ""}}})
    conditions = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
    try:
        bed.api.patch(
            f"{path}/status", {"status": {"conditions": conditions}}, "application/strategic-merge-patch+json"
        )
        error = refusal(bed.kubeconfig, namespace, select="all")
        assert (error.code.value, error.message.partition(":")[0]) == ("NOT_FOUND", node)
        assert take(bed.kubeconfig, namespace, check_mode=True)["summary"]["nodes"] == gpu_nodes(bed)[1:2]
    finally:
        bed.api.patch(path, {"metadata": {"annotations": {"bed/hold": None}}})
        eventually(
            lambda: "True" in [c["status"] for c in bed.api.get(path)["status"]["conditions"] if c["type"] == "Ready"]
        )
    assert left(bed, namespace) == []


def test_a_caller_without_rights_is_told_all_of_them(bed: Bed, namespace: str, tmp_path: Path) -> None:
    nobody = bed.write_kubeconfig(tmp_path / "nobody", token=bed.settings.tokens["nobody"])
    with bed.audit.recording("nobody") as requests:
        error = refusal(nobody, namespace)
    assert error.code.value == "UNAUTHORIZED"
    for right in ("create serviceaccounts", "delete jobs.batch", "patch configmaps", "list pods", "get pods/log"):
        assert f"{right} in namespace {namespace}" in error.message
    assert "list nodes in the cluster" in error.message
    assert "snapshot-agent-rbac.yaml" in error.hint
    assert not [request for request in requests if request.writes]


def test_each_right_is_missed_by_name(bed: Bed, namespace: str, caller: Path) -> None:
    """None of the documented rights is there for nothing, but that to read events, which makes errors say more."""
    eventually(lambda: granted(caller, namespace))
    path = f"{RBAC}/namespaces/{namespace}/roles/{caller.name}"
    whole = bed.api.get(path)["rules"]
    single = [
        {"apiGroups": rule["apiGroups"], "resources": [resource], "verbs": [verb]}
        for rule in whole
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    for lost in single:
        bed.api.patch(path, {"rules": [rule for rule in single if rule is not lost]})
        verb, resource = lost["verbs"][0], lost["resources"][0]
        if resource == "events":
            assert eventually(lambda: granted(caller, namespace))
            continue
        group = f".{lost['apiGroups'][0]}" if lost["apiGroups"][0] else ""
        expected = [f"{verb} {resource}{group} in namespace {namespace}"]

        def missed(expected: tuple[str, ...] = tuple(expected)) -> bool:
            with contextlib.suppress(AssertionError, pytest.fail.Exception):
                return refusal(caller, namespace, check_mode=True).details["missing"] == list(expected)
            return False

        assert eventually(missed), expected


@pytest.mark.parametrize(
    "fault",
    [
        Fault(Kind.THROTTLED, "/log", times=2, retry_after=1),
        Fault(Kind.FAILED, "/jobs", method="PATCH", times=2),
        Fault(Kind.CUT, "/pods", times=2),
    ],
    ids=["429 of the log", "500 of the Job", "cut list of pods"],
)
def test_passing_faults_change_nothing(bed: Bed, namespace: str, tmp_path: Path, fault: Fault) -> None:
    with FaultyApi(bed, fault) as proxy:
        taken = take(proxy.kubeconfig(tmp_path / "kubeconfig"), namespace)
    assert fault.befallen == fault.times
    assert taken["digest"] == take(bed.kubeconfig, namespace)["digest"]
    assert eventually(lambda: not left(bed, namespace))


def test_a_lost_transport_leaves_nothing_behind_that_could_be_removed(bed: Bed, namespace: str, tmp_path: Path) -> None:
    with FaultyApi(bed, Fault(Kind.CUT, "/pods", first_bytes=0)) as proxy:
        error = refusal(proxy.kubeconfig(tmp_path / "kubeconfig"), namespace)
    assert error.code.value == "SERVICE_UNAVAILABLE"
    assert eventually(lambda: not left(bed, namespace))


def test_a_namespace_that_is_not_there_is_named(bed: Bed) -> None:
    error = refusal(bed.kubeconfig, "nowhere", check_mode=True)
    assert (error.code.value, "has no namespace nowhere" in error.message) == ("NOT_FOUND", True)


def test_the_playbook_makes_what_nodes_are_part_of_the_snapshot(bed: Bed, namespace: str, tmp_path: Path) -> None:
    """By the role; a second run changes nothing."""
    variables = {
        "aicr_kubeconfig": str(bed.kubeconfig),
        "aicr_agent": True,
        "aicr_agent_namespace": namespace,
        "aicr_agent_select": "all",
        "aicr_collectors": ["topology"],
    }
    (tmp_path / "inventory.yml").write_text(yaml.safe_dump({"all": {"hosts": {"berlin": variables}}}))

    def play(*arguments: str) -> str:
        ran = subprocess.run(
            [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "inventory.yml", *arguments, PLAYBOOK],
            cwd=tmp_path,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(tmp_path),
                "LC_ALL": "C.UTF-8",
                "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    assert "changed=2" in play("--check")
    assert not (tmp_path / "artifacts").exists()
    assert "changed=2" in play()
    assert "changed=0" in play()
    assert "changed=0" in play("--check")
    document = yamlio.load_file(tmp_path / "artifacts" / "berlin" / "snapshot.yaml")
    assert [one["type"] for one in document["measurements"]] == ["GPU", "NodeTopology", "OS"]
    assert eventually(lambda: not left(bed, namespace))


PLAYBOOK = "aicr.runtime.snapshot"
