# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Namespaces that a release needs: made by us before helm is started, so that helm 3 and 4 find the same."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import conflict, raise_all
from .apply import apply
from .connection import Connection, Deadline
from .read import Reader

LABELS = {"app.kubernetes.io/managed-by": "aicr.runtime"}
_READ_SECONDS = 30.0


def missing(connection: Connection, names: Iterable[str]) -> set[str]:
    """Those that are not there.

    :raises AicrError: CONFLICT with every one that is going away; see :func:`request.ask`.
    """
    reader = Reader(connection, Deadline(_READ_SECONDS))
    present = {name: reader.find(f"/api/v1/namespaces/{name}") for name in sorted(set(names))}
    raise_all(
        conflict(
            f"namespace {name}: is being deleted",
            "wait until it is gone, then run again; what holds it stands in its conditions",
            namespace=name,
        )
        for name, found in present.items()
        if found and found["metadata"].get("deletionTimestamp")
    )
    return {name for name, found in present.items() if found is None}


def make(connection: Connection, name: str) -> None:
    """Make one; see :func:`apply.apply` for what it raises."""
    apply(connection, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(LABELS)}})
