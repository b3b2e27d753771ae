# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a workload has rolled out: what runs is what its spec says now, all of it, and some of it.

``availableReplicas > 0`` holds of the old revision, too, and of one pod of ten (case N45). What is judged by is what
``kubectl rollout status`` looks at, with two differences: nothing desired is not ready, and a StatefulSet whose
revision changes when pods are deleted (OnDelete, as MariaDB's) is judged by its updated pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..constraints.assertion import Trouble

API_VERSION = "apps/v1"
KINDS = ("Deployment", "StatefulSet", "DaemonSet")


def rollout_troubles(found: Mapping[str, Any], name: str) -> list[Trouble]:
    """Why a Deployment, StatefulSet or DaemonSet has not rolled out; empty if it has.

    :param name: what to call it.
    """
    return [Trouble(name, path, expected, actual) for path, expected, actual in _troubles(found)]


def _troubles(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    spec, status = found.get("spec") or {}, found.get("status") or {}
    generation, observed = found["metadata"].get("generation", 0), status.get("observedGeneration", 0)
    if observed < generation:
        yield "status.observedGeneration", f"{generation}, the generation", str(observed)
        return  # what else the status says is about an older spec
    if found["kind"] == "DaemonSet":
        desired = status.get("desiredNumberScheduled", 0)
        counts = {"updatedNumberScheduled": "of the new revision", "numberReady": "ready"}
        where = "status.desiredNumberScheduled"
    else:
        desired = spec.get("replicas", 1)
        counts = {"updatedReplicas": "of the new revision", "readyReplicas": "ready"}
        where = "spec.replicas"
    if desired < 1:
        yield where, "at least 1", str(desired)
        return
    held_back = _partition(spec) if found["kind"] == "StatefulSet" else 0
    for field, word in counts.items():
        due = max(0, desired - held_back) if field.startswith("updated") else desired
        if status.get(field, 0) < due:
            yield f"status.{field}", f"{due} {word}", str(status.get(field, 0))
    if found["kind"] == "Deployment":
        if status.get("replicas", 0) > status.get("updatedReplicas", 0):
            old = status.get("replicas", 0) - status.get("updatedReplicas", 0)
            yield "status.replicas", f"{desired}, all of the new revision", f"{old} of an old one as well"
        if status.get("availableReplicas", 0) < desired:
            yield "status.availableReplicas", f"{desired} available", str(status.get("availableReplicas", 0))
    if found["kind"] == "DaemonSet" and status.get("numberUnavailable", 0):  # omitted when 0
        yield "status.numberUnavailable", "0", str(status["numberUnavailable"])
    if found["kind"] == "StatefulSet" and _follows(spec) and not held_back:
        current, update = status.get("currentRevision"), status.get("updateRevision")
        if current != update:
            yield "status.currentRevision", f"{update}, the updateRevision", str(current)


def _strategy(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    strategy: Mapping[str, Any] = spec.get("updateStrategy") or {}
    return strategy


def _follows(spec: Mapping[str, Any]) -> bool:
    """Whether the controller moves the current revision on; with OnDelete it never does."""
    return str(_strategy(spec).get("type", "RollingUpdate")) == "RollingUpdate"


def _partition(spec: Mapping[str, Any]) -> int:
    """How many pods somebody keeps at an old revision on purpose."""
    return int((_strategy(spec).get("rollingUpdate") or {}).get("partition") or 0)
