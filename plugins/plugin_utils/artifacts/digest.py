# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests: what a document says, apart from when, where and by which release it was written."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from . import versions

_VOLATILE: dict[str, Sequence[Sequence[str]]] = {
    versions.SNAPSHOT: (("metadata", "timestamp"), ("metadata", "version"), ("metadata", "source-node")),
    versions.RECIPE: (("metadata", "version"),),
}

_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(document: dict[str, Any]) -> str:
    """``sha256:`` and the hex of canonical JSON: sorted keys, UTF-8, no blanks, no volatile header field.

    The version is hashed as the alpha track spells it, so that a document and its conversion to the other track have
    one digest. The value is this project's own: the reference hashes YAML text and gets another one.
    """
    essence = without_header(document)
    hashed = hashlib.sha256()
    # A snapshot is as large as its cluster, and its text would be as large again.
    for part in _CANONICAL.iterencode(essence) if "measurements" in essence else (_CANONICAL.encode(essence),):
        hashed.update(part.encode())
    return f"sha256:{hashed.hexdigest()}"


def without_header(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the fields that change from run to run; the original is left alone."""
    essence = copy.copy(document)
    kind, version = document.get("kind"), document.get("apiVersion")
    if kind in versions.kinds() and versions.version_problem(str(kind), version, "") is None and version:
        essence["apiVersion"] = versions.on_track(str(kind), str(version), versions.ALPHA)
    for *parents, last in _VOLATILE.get(str(document.get("kind")), ()):
        holder: dict[str, Any] = essence
        for parent in parents:
            if not isinstance(holder.get(parent), dict):
                break
            holder[parent] = copy.copy(holder[parent])
            holder = holder[parent]
        else:
            holder.pop(last, None)
    return essence
