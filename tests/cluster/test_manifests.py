# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of our own on a real API server: judged before any is written, written only if they differ, never shown."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.manifests import SPEC, make_manifests
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import failed
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.conftest import Cluster
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

SECRET = "planted-7d41f0-secret"


def run(kubeconfig: Path, *manifests: dict[str, Any], check: bool = False, **options: Any) -> dict[str, Any]:
    """What a task returns, if it fails, too."""
    try:
        given = parse(SPEC, {"kubeconfig": str(kubeconfig), "manifests": list(manifests), **options})
        made = make_manifests(given, check_mode=check)
        return made.deliver(check_mode=check, diff=True, return_document=False)
    except AicrError as error:
        return failed(error)


def configmap(namespace: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "ours", "namespace": namespace},
        "data": data,
    }


def secret(namespace: str, **held: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "ours", "namespace": namespace},
        "stringData": held,
    }


def job(namespace: str, command: str = "true") -> dict[str, Any]:
    container = {"name": "one", "image": "example.com/one", "command": [command]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "ours", "namespace": namespace},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def others(namespace: str) -> list[dict[str, Any]]:
    metadata = {"name": "ours", "namespace": namespace}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": {"holderIdentity": "one"},
        },
    ]


@pytest.fixture
def new(cluster: Cluster) -> Iterator[str]:
    """The name of a namespace that is not there yet."""
    name = f"aicr-test-{uuid.uuid4().hex[:8]}"
    yield name
    if name in [one["metadata"]["name"] for one in cluster.api.items("/api/v1/namespaces")]:
        cluster.api.delete(f"/api/v1/namespaces/{name}")


def test_all_kinds_are_written_once_and_removed_once(cluster: Cluster, new: str) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
    objects = [configmap(new, a="1"), secret(new, a="1"), job(new), *others(new)]
    written = run(cluster.kubeconfig, *objects, namespace)
    assert [(one["kind"], one["changed"]) for one in written["manifests"]] == [
        (kind, True) for kind in ("Namespace", "ConfigMap", "Secret", "Job", "ServiceAccount", "Lease")
    ]
    again = run(cluster.kubeconfig, *objects, namespace)
    assert not again["changed"] and "diff" not in again, again
    removed = run(cluster.kubeconfig, *objects, state="absent")
    assert [one["kind"] for one in removed["manifests"]] == ["Lease", "ServiceAccount", "Job", "Secret", "ConfigMap"]
    assert all(one["changed"] for one in removed["manifests"])
    assert not run(cluster.kubeconfig, *objects, state="absent")["changed"]
    kept = run(cluster.kubeconfig, namespace, state="absent")
    assert kept["error"]["code"] == "INVALID_REQUEST" and f"Namespace {new} would be removed" in kept["msg"]


def test_a_check_comes_to_the_same_result_and_writes_nothing(bed: Bed, new: str, namespace: str) -> None:
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}}
    run(bed.kubeconfig, configmap(namespace, a="1"))
    steps: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
        ([made, configmap(new, a="1")], {}),
        ([configmap(namespace, a="2")], {}),
        ([configmap(namespace, a="2")], {}),
        ([configmap(namespace)], {"state": "absent"}),
        ([configmap(namespace)], {"state": "absent"}),
    ]
    for manifests, options in steps:
        with bed.audit.recording("admin") as requests:
            checked = run(bed.kubeconfig, *manifests, check=True, **options)
        assert requests and not [request for request in requests if request.writes]
        before = {one["metadata"]["name"] for one in bed.api.items(f"/api/v1/namespaces/{namespace}/configmaps")}
        really = run(bed.kubeconfig, *manifests, **options)
        assert checked["changed"] == really["changed"]
        if options and really["changed"]:
            assert "ours" in before, "a rehearsed removal removes nothing"
    assert run(bed.kubeconfig, configmap("nowhere-yet", a="1"), check=True)["manifests"][0]["predicted"]


def test_what_is_as_it_shall_be_is_not_written(bed: Bed, namespace: str) -> None:
    manifests = [configmap(namespace, a="1"), secret(namespace, a="1"), job(namespace)]
    run(bed.kubeconfig, *manifests)
    with bed.audit.recording("admin") as requests:
        assert not run(bed.kubeconfig, *manifests)["changed"]
    assert requests and not [request for request in requests if request.writes]


def test_what_others_manage_stays_and_what_is_no_longer_given_goes(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/ours"
    run(cluster.kubeconfig, configmap(namespace, mine="1", gone="1"))
    cluster.api.patch(path, {"data": {"theirs": "1"}})
    assert not run(cluster.kubeconfig, configmap(namespace, mine="1", gone="1"))["changed"]
    assert run(cluster.kubeconfig, configmap(namespace, mine="2"))["changed"]
    assert cluster.api.get(path)["data"] == {"mine": "2", "theirs": "1"}
    cluster.api.patch(path, {"data": {"mine": "theirs"}})
    assert run(cluster.kubeconfig, configmap(namespace, mine="2"))["changed"]
    assert cluster.api.get(path)["data"]["mine"] == "2"


def test_nothing_is_written_before_the_server_has_judged_everything(cluster: Cluster, namespace: str) -> None:
    run(cluster.kubeconfig, job(namespace))
    refused = run(
        cluster.kubeconfig,
        configmap(namespace, a="1"),
        job(namespace, "false"),
        configmap("nowhere-at-all", a="1"),
    )
    assert len(refused["error"]["details"]["problems"]) == 2
    assert f"Job {namespace}/ours" in refused["msg"] and "nowhere-at-all" in refused["msg"]
    assert "remove it first" in refused["error"]["hint"]
    names = [one["metadata"]["name"] for one in cluster.api.items(f"/api/v1/namespaces/{namespace}/configmaps")]
    assert "ours" not in names


def test_no_secret_is_seen(cluster: Cluster, namespace: str, ansible: Ansible) -> None:
    def task(**held: str) -> dict[str, Any]:
        return {"kubeconfig": str(cluster.kubeconfig), "manifests": [secret(namespace, **held)]}

    broken = task(password=SECRET)
    broken["manifests"][0]["metadata"]["labels"] = {"one": "a label must not hold blanks"}
    broken["manifests"][0]["data"] = {"other": SECRET}
    steps = [task(password="former-secret-31"), task(password=SECRET), {**task(), "state": "absent"}]
    ran = ansible.tasks(
        [
            *({"name": str(index), "aicr.runtime.manifests": step} for index, step in enumerate(steps)),
            {"name": "refused", "aicr.runtime.manifests": broken, "ignore_errors": True},
        ],
        "--diff",
        "-vvvv",
    )
    assert [ran.result(str(index))["changed"] for index in range(3)] == [True, True, True]
    assert "data.other is not base64" in ran.result("refused")["msg"]
    encoded = base64.b64encode(SECRET.encode()).decode()
    for text in (ran.output, json.dumps(ran.results)):
        assert not [one for one in (SECRET, encoded, "former-secret-31") if one in text]
    assert "*** (before)" in ran.output and "*** (after)" in ran.output
