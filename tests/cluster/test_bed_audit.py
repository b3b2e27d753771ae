# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit log tells a test every request that was made, and which of them were to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, ApiError, Bed


def test_reads_and_writes_are_told_apart(bed: Bed, namespace: str) -> None:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    review = {"spec": {"resourceAttributes": {"verb": "list", "resource": "nodes"}}}
    with bed.audit.recording() as requests:
        bed.api.get(maps)
        bed.api.create(f"{maps}?dryRun=All", {"metadata": {"name": "a"}})
        bed.api.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
        bed.api.create(maps, {"metadata": {"name": "a"}, "data": {"k": "v"}})
        bed.api.patch(f"{maps}/a", {"data": {"k": "w"}})
        bed.api.delete(f"{maps}/a")
    ours = [request for request in requests if request.user == "admin"]
    assert [(r.verb, r.resource, r.writes) for r in ours] == [
        ("list", "configmaps", False),
        ("create", "configmaps", False),
        ("create", "selfsubjectaccessreviews", False),
        ("create", "configmaps", True),
        ("patch", "configmaps", True),
        ("delete", "configmaps", True),
    ]
    created = ours[3]
    assert (created.namespace, created.code) == (namespace, 201)
    assert created.body is not None
    assert created.body["data"] == {"k": "v"}


def test_refused_requests_and_those_of_programs_are_there(bed: Bed) -> None:
    with bed.audit.recording("nobody") as requests, bed.api_as("nobody") as nobody, pytest.raises(ApiError):
        nobody.get("/api/v1/secrets")
    assert [(r.verb, r.resource, r.code) for r in requests] == [("list", "secrets", 403)]
    with bed.audit.recording("admin") as requests:
        bed.run("kubectl", "get", "--raw", "/api/v1/nodes")
    assert [r.resource for r in requests] == ["nodes"]
    assert requests[0].user_agent.startswith("kubectl/")


def test_a_service_account_is_known_by_its_name(bed: Bed, namespace: str, tmp_path: Path) -> None:
    token = bed.service_account_token(namespace, "default")
    kubeconfig = bed.write_kubeconfig(tmp_path / "kubeconfig", token=token)
    user = f"system:serviceaccount:{namespace}:default"
    with bed.audit.recording(user) as requests, Api.of_kubeconfig(kubeconfig) as api, pytest.raises(ApiError):
        api.get("/api/v1/nodes")
    assert [(r.user, r.resource) for r in requests] == [(user, "nodes")]


def test_no_secret_stands_in_the_log(bed: Bed, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    with bed.audit.recording("admin") as requests:
        bed.api.create(path, {"metadata": {"name": "login"}, "stringData": {"password": "planted-7f3a"}})
    assert [r.body for r in requests] == [None]
    assert "planted-7f3a" not in bed.audit.path.read_text(encoding="utf-8")
