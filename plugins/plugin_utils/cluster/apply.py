# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write and remove objects of our own (spec/surface.md 3.6): by server-side apply, as one field manager."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import AicrError, not_found
from .connection import Connection, Deadline
from .read import Object
from .request import ask, document_of

FIELD_MANAGER = "aicr"
SECONDS = 30.0
"""How long one write may take."""

SERVED: Mapping[str, str] = {
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Lease": "/apis/coordination.k8s.io/v1/namespaces/{}/leases",
    "Namespace": "/api/v1/namespaces",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
}
"""The kinds that we write, and nothing else: charts are installed by Helm."""

REMOVED: Mapping[str, str] = {"PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims"}
"""The kinds that we may remove, and never write."""


def path_of(manifest: Mapping[str, Any]) -> str:
    """Where the API serves an object."""
    metadata = manifest["metadata"]
    kinds = {**SERVED, **REMOVED}
    return f"{kinds[manifest['kind']].format(metadata.get('namespace'))}/{metadata['name']}"


def apply(connection: Connection, manifest: Mapping[str, Any], *, dry_run: bool = False) -> Object:
    """Bring an object about; what others manage in it stays, except under the fields that the manifest has.

    :param dry_run: let the server judge everything, and store nothing.
    :returns: the object as the server has it.
    :raises AicrError: NOT_FOUND without such a namespace; see :func:`request.ask`.
    """
    path = path_of(manifest)
    query = {"fieldManager": FIELD_MANAGER, "force": "true"} | ({"dryRun": "All"} if dry_run else {})
    try:
        answer = ask(
            connection,
            path,
            Deadline(SECONDS),
            query,
            method="PATCH",
            body=json.dumps(manifest).encode(),
            content_type="application/apply-patch+yaml",
        )
    except AicrError as error:
        metadata = manifest["metadata"]
        if error.details.get("status") == 404 and "namespace" in metadata:
            raise not_found(
                f"{manifest['kind']} {metadata['namespace']}/{metadata['name']}: {connection.name} has no namespace "
                f"{metadata['namespace']}",
                "make it first, or name another",
                **error.details,
            ) from error
        raise
    return document_of(answer, path)


def delete(connection: Connection, path: str, *, dry_run: bool = False) -> bool:
    """Remove an object, and in the background what belongs to it.

    :param dry_run: let the server judge it, and remove nothing.
    :returns: whether it was there.
    :raises AicrError: see :func:`request.ask`.
    """
    how: dict[str, Any] = {"propagationPolicy": "Background"}
    if dry_run:
        how["dryRun"] = ["All"]  # with a body the server ignores the query, which stands in its audit log
    query = {"dryRun": "All"} if dry_run else None
    try:
        ask(connection, path, Deadline(SECONDS), query, method="DELETE", body=json.dumps(how).encode())
    except AicrError as error:
        if error.details.get("status") == 404:
            return False
        raise
    return True
