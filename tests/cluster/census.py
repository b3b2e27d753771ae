# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every object of a cluster, of every kind that it has, to be counted, compared and searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.api import ApiError

MADE_BY_THE_CLUSTER = frozenset(
    {
        "ControllerRevision",
        "Endpoints",
        "EndpointSlice",
        "Event",
        "IPAddress",
        "Lease",
        "Node",
        "PersistentVolume",
        "Pod",
        "ReplicaSet",
    }
)
"""Kinds whose objects follow from others, or whose names are drawn by lot."""

_DRAWN = frozenset({"caBundle", "clusterIP", "clusterIPs", "healthCheckNodePort", "nodePort", "uid", "volumeName"})
"""What the cluster draws by lot for each object."""


def census(api: Api, *namespaces: str) -> dict[str, Object]:
    """Objects by `Kind namespace/name`; of some namespaces, or of all and of none."""
    found = {}
    for path, kind, namespaced in _listed(api):
        if namespaces and not namespaced:
            continue
        for one in _items(api, path):
            metadata = one["metadata"]
            if not namespaces or metadata.get("namespace") in namespaces:
                found[f"{kind} {metadata.get('namespace', '')}/{metadata['name']}"] = {"kind": kind, **one}
    return found


def wanted(one: Object) -> Any:
    """What somebody wanted of an object: without its state, its history, and what was drawn by lot.

    Of a Secret only the keys count, since what they hold is made anew in each cluster.
    """
    metadata = {key: one["metadata"].get(key) for key in ("name", "namespace", "labels", "annotations", "finalizers")}
    annotations = {
        key: value
        for key, value in (metadata["annotations"] or {}).items()
        if not key.startswith(("deployment.kubernetes.io/", "pv.kubernetes.io/", "volume."))
    }
    rest = {key: value for key, value in one.items() if key not in ("metadata", "status", "data", "stringData")}
    data = one.get("data") or {}
    held = sorted(data) if one["kind"] == "Secret" else data
    return _without_lots({"metadata": {**metadata, "annotations": annotations}, "data": held, **rest})


def _without_lots(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_lots(one) for key, one in value.items() if key not in _DRAWN}
    if isinstance(value, list):
        return [_without_lots(one) for one in value]
    return value


def _listed(api: Api) -> Iterator[tuple[str, str, bool]]:
    """Each kind that can be listed, once, by its path."""
    versions = ["/api/v1"]
    versions += [f"/apis/{group['preferredVersion']['groupVersion']}" for group in api.get("/apis")["groups"]]
    seen = set()
    for version in versions:
        for resource in api.get(version)["resources"]:
            if "list" in resource["verbs"] and "/" not in resource["name"]:
                key = (resource["kind"], version.split("/")[2])
                if key not in seen:
                    seen.add(key)
                    yield f"{version}/{resource['name']}", resource["kind"], resource["namespaced"]


def _items(api: Api, path: str) -> Iterator[Object]:
    try:
        yield from api.items(path)
    except ApiError as error:
        if error.code not in (404, 405):  # a kind that has just gone
            raise
