# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a cluster as an operator handles them, with no more rights than its chart grants: `list`, not `get`."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ..bed.api import Api, ApiError, Object

MARIADB, SLINKY = "k8s.mariadb.com/v1alpha1", "slinky.slurm.net/v1beta1"
_PATHS = {
    **dict.fromkeys(("ConfigMap", "Pod", "Secret", "Service", "ServiceAccount"), "v1"),
    **dict.fromkeys(("ControllerRevision", "Deployment", "StatefulSet"), "apps/v1"),
    **dict.fromkeys(("Database", "Grant", "MariaDB", "User"), MARIADB),
    **dict.fromkeys(("Accounting", "Controller", "LoginSet", "NodeSet", "RestApi"), SLINKY),
    "Event": "events.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
}


def path(kind: str, namespace: str = "", name: str = "") -> str:
    """The path of an object, or of all of a kind."""
    version = _PATHS[kind]
    group = f"/apis/{version}" if "/" in version else f"/api/{version}"
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"{group}{place}/{kind.lower()}s" + (f"/{name}" if name else "")


class Objects:
    """The API as one field manager."""

    def __init__(self, api: Api, manager: str) -> None:
        self._api, self._manager = api, manager

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """An object, if it is there."""
        found = self._api.items(path(kind, namespace), fieldSelector=f"metadata.name={name}")
        return next(found, None)

    def all(self, kind: str, namespace: str, **query: str) -> list[Object]:
        return list(self._api.items(path(kind, namespace), **query))

    def create(self, kind: str, body: Object) -> Object:
        place = path(kind, body["metadata"]["namespace"])
        whole = {"apiVersion": _PATHS[kind], "kind": kind, **body}
        return self._api.request("POST", place, whole, query={"fieldManager": self._manager})

    def patch(self, kind: str, namespace: str, name: str, body: Object, status: bool = False) -> Object:
        """Merge; an equal content is no change, and no event."""
        place = path(kind, namespace, name) + ("/status" if status else "")
        return self._api.patch(place, body, fieldManager=self._manager)

    def put(self, kind: str, body: Object) -> bool:
        """Create an object, or bring it to these fields; whether it was created."""
        metadata = body["metadata"]
        if self.find(kind, metadata["namespace"], metadata["name"]) is None:
            self.create(kind, body)
            return True
        # Fields of a Service or a StatefulSet that cannot change are left out by who calls.
        self.patch(kind, metadata["namespace"], metadata["name"], body)
        return False

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete an object; it may be gone already."""
        try:
            self._api.delete(path(kind, namespace, name))
        except ApiError as error:
            if error.code != 404:
                raise


def owned(owner: Object, name: str, controller: bool = True, **more: Any) -> Object:
    """The metadata of a child."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
        **({"controller": True} if controller else {}),
    }
    return {"name": name, "namespace": owner["metadata"]["namespace"], "ownerReferences": [reference], **more}


def owners(one: Object, kind: str) -> Iterable[str]:
    """The names of its owners of a kind."""
    return (ref["name"] for ref in one["metadata"].get("ownerReferences", ()) if ref["kind"] == kind)


def secret(metadata: Object, data: Mapping[str, bytes | str], **more: Any) -> Object:
    """A Secret with these contents."""
    plain = {key: value if isinstance(value, bytes) else value.encode() for key, value in data.items()}
    encoded = {key: base64.b64encode(value).decode() for key, value in plain.items()}
    return {"metadata": metadata, "type": "Opaque", **more, "data": encoded}


def content(one: Object, key: str) -> bytes | None:
    """What a Secret holds under a key."""
    value = one.get("data", {}).get(key)
    return None if value is None else base64.b64decode(value)


def digest(value: Any) -> str:
    """SHA-256 of a text or of a document, in hexadecimal."""
    text = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()


def condition(one: Object, kind: str = "Ready") -> Object:
    """A condition of an object, or an empty one."""
    found = (entry for entry in one.get("status", {}).get("conditions", ()) if entry["type"] == kind)
    return next(found, {})


def conditions(one: Object, *wanted: tuple[str, str, str, str]) -> list[Object]:
    """Its conditions with these (type, status, reason, message); the time changes with the status alone.

    There is no observedGeneration in them (operators.md 1.3).
    """
    found = {entry["type"]: dict(entry) for entry in one.get("status", {}).get("conditions", ())}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for kind, status, reason, message in wanted:
        before = found.get(kind, {})
        since = before["lastTransitionTime"] if before.get("status") == status else now
        found[kind] = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": since,
        }
    return list(found.values())
