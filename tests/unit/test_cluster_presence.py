# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects of a release are not in the cluster any more."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.presence import Presence
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

SERVED = {
    "/api/v1": [("services", "Service", True), ("secrets", "Secret", True), ("services/status", "Service", True)],
    "/apis/batch/v1": [("jobs", "Job", True)],
    "/apis/apps/v1": [("deployments", "Deployment", True)],
    "/apis/rbac.authorization.k8s.io/v1": [("clusterroles", "ClusterRole", False)],
    "/apis/apiextensions.k8s.io/v1": [("customresourcedefinitions", "CustomResourceDefinition", False)],
}
MANIFEST = """---
# Source: demo/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: web   # no namespace: that of the release
spec:
  selector: {kind: none}
---
apiVersion: "v1"
kind: 'Secret'
metadata: {name: key, namespace: other}
stringData:
  text: |
    metadata:
      name: not-me
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:

  labels:
    a: b

  name: reader
rules: []
---
metadata:
  name: demos.example.com
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
---
{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "api"}}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: listed}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
---
apiVersion: gone.example.com/v1
kind: Widget
metadata: {name: of-a-kind-that-is-not-served}
---
# nothing
"""
PLACES = {
    "/api/v1/namespaces/demo/services/web": "Service web",
    "/api/v1/namespaces/other/secrets/key": "Secret key",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/reader": "ClusterRole reader",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/demos.example.com": (
        "CustomResourceDefinition demos.example.com"
    ),
    "/apis/apps/v1/namespaces/demo/deployments/api": "Deployment api",
    "/api/v1/namespaces/demo/services/listed": "Service listed",
}


class Cluster:
    """Holds every object of the manifest but some; answers to some paths with a failure."""

    def __init__(self, without: set[str], failing: dict[str, AicrError] | None = None) -> None:
        self.without, self.failing = without, failing or {}
        self.asked: list[str] = []

    def find(self, path: str) -> dict[str, Any] | None:
        self.asked.append(path)
        if path in self.failing:
            raise self.failing[path]
        if path in SERVED:
            return {"resources": [dict(zip(("name", "kind", "namespaced"), one, strict=True)) for one in SERVED[path]]}
        return {} if path in PLACES and path not in self.without else None


def missing(cluster: Cluster, manifest: str = MANIFEST) -> list[str]:
    return Presence(cast(Any, cluster)).missing(manifest, "demo")


def test_nothing_is_missed_where_all_is_there() -> None:
    cluster = Cluster(set())
    assert missing(cluster) == []
    assert {path for path in cluster.asked if path in PLACES} == set(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_each_object_that_is_gone_is_named(place: str) -> None:
    assert missing(Cluster({place})) == [PLACES[place]]


def test_all_that_are_gone_are_named_in_the_order_of_the_manifest() -> None:
    assert missing(Cluster(set(PLACES))) == list(PLACES.values())


def test_a_job_may_be_over_and_a_kind_that_is_not_served_says_nothing() -> None:
    named = " ".join(missing(Cluster(set(PLACES))))
    assert "once" not in named
    assert "of-a-kind" not in named


def test_what_may_not_be_read_is_taken_to_be_there() -> None:
    place = next(iter(PLACES))
    refused = AicrError(Code.UNAUTHORIZED, "no", details={"status": 403})
    assert missing(Cluster({place}, {place: refused})) == []
    assert "Service web" not in missing(Cluster(set(PLACES), {"/api/v1": refused}))


def test_a_rejected_login_is_no_answer() -> None:
    rejected = AicrError(Code.UNAUTHORIZED, "who are you?", details={"status": 401})
    with pytest.raises(AicrError, match="who are you"):
        missing(Cluster(set(), {next(iter(PLACES)): rejected}))


@pytest.mark.parametrize(
    "manifest", ["", "---\n", "kind: [", "- a\n- b\n", "kind: Service\n", "metadata: x\nkind: Service"]
)
def test_what_is_no_object_is_passed_over(manifest: str) -> None:
    assert missing(Cluster(set()), manifest) == []
