# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Artifacts in ConfigMaps (spec/surface.md 2.1): keys, labels and field manager as the reference has them."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import AicrError, Code, invalid, not_found
from .address import Address
from .apply import SECONDS, apply
from .connection import Connection, Deadline
from .request import get

MAX_BYTES = 1024 * 1024
"""What the API server accepts as the sum of all values (MaxSecretSize)."""

_ENDINGS = {"yaml": "yaml", "json": "json", "table": "txt"}
_FORMATS = {ending: form for form, ending in _ENDINGS.items()}
_NAMES = {"Snapshot": "snapshot", "RecipeResult": "recipe"}


@dataclass(frozen=True)
class Stored:
    """An artifact as it stands in a ConfigMap.

    :ivar format: ``yaml``, ``json`` or ``table``.
    """

    text: str
    format: str


def load(connection: Connection, address: Address) -> Stored:
    """The artifact in a ConfigMap.

    :raises AicrError: NOT_FOUND without such a ConfigMap, INVALID_REQUEST if it holds no artifact or more than one;
        see :func:`request.ask`.
    """
    try:
        document = get(connection, address.path, Deadline(SECONDS))
    except AicrError as error:
        if error.code is Code.NOT_FOUND:
            raise not_found(f"{address}: there is no such ConfigMap", f"looked for in {connection.name}") from error
        raise
    data = document.get("data") or {}
    artifacts = [key for key in data if "." in key and key.rpartition(".")[2] in _FORMATS]
    if len(artifacts) != 1:
        raise invalid(
            f"{address}: holds {'no artifact' if not artifacts else 'several artifacts'}, one is due",
            "an artifact has a key such as snapshot.yaml or recipe.json",
            keys=sorted(data),
        )
    return Stored(data[artifacts[0]], _FORMATS[artifacts[0].rpartition(".")[2]])


def store(
    connection: Connection,
    address: Address,
    kind: str,
    artifact: Stored,
    *,
    timestamp: str,
    tool_version: str,
    dry_run: bool = False,
) -> None:
    """Write an artifact by server-side apply; what others manage in the ConfigMap stays, except under these keys.

    :param kind: the artifact's, such as ``Snapshot``; it names key and label.
    :param timestamp: when the artifact was made.
    :param dry_run: let the server judge everything, and store nothing.
    :raises AicrError: INVALID_REQUEST if it is larger than a ConfigMap may be, before anything is sent; NOT_FOUND
        without such a namespace; see :func:`request.ask`.
    """
    data = {
        f"{_NAMES.get(kind, kind.lower())}.{_ENDINGS[artifact.format]}": artifact.text,
        "format": artifact.format,
        "timestamp": timestamp,
    }
    size = sum(len(value.encode()) for value in data.values())
    if size > MAX_BYTES:
        raise invalid(
            f"{address}: {size} bytes are more than the {MAX_BYTES} that a ConfigMap may hold; nothing was written",
            "write to a file, or make it smaller: max_nodes_per_entry shortens the lists of nodes in a snapshot",
            size=size,
        )
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": address.name,
            "namespace": address.namespace,
            "labels": {
                "app.kubernetes.io/name": "aicr",
                "app.kubernetes.io/component": kind,
                "app.kubernetes.io/version": tool_version,
            },
        },
        "data": data,
    }
    apply(connection, body, dry_run=dry_run)
