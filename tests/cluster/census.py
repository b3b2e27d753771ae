# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every object of a cluster, of every kind that it has, to be counted, compared and searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, Bed, Object
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


_HASH = re.compile("[0-9a-f]{64}")


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


class Wanted:
    """What was wanted of the objects that a deployment has made, by their names."""

    def __init__(self, bed: Bed) -> None:
        self._bed, self._before = bed, set(census(bed.api))

    def now(self) -> dict[str, Any]:
        """Without what the cluster makes of them, what Helm keeps of a release, and the roles' own record and Jobs.

        A namespace is what it is called: the roles label it as ours, and each Helm in its own way.
        """
        return {
            name: one["kind"] if one["kind"] == "Namespace" else _without_hashes(wanted(one))
            for name, one in census(self._bed.api).items()
            if name not in self._before
            and one["kind"] not in MADE_BY_THE_CLUSTER
            and one.get("type") != "helm.sh/release.v1"
            and "/aicr-" not in name
            and not name.endswith("/kube-root-ca.crt")  # each cluster has its own authority
        }


def _without_hashes(one: Object) -> Object:
    """Of a workload's pods that they carry hashes, not which: generated Secrets are in them."""
    metadata = one.get("spec", {}).get("template", {}).get("metadata") if isinstance(one.get("spec"), dict) else None
    if metadata:
        held = metadata.get("annotations") or {}
        metadata["annotations"] = {key: _HASH.sub("a hash", value) for key, value in held.items()}
    return one


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
