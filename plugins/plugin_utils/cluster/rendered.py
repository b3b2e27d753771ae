# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered objects as anybody may see them: what a Secret holds is not shown, only whether it changes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .. import yamlio
from ..errors import AicrError

_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)
_SOURCE = re.compile(r"^# Source: (.*)$", re.MULTILINE)
HIDDEN = "***"
LONGEST = 32 * 1024
"""Characters of one object that a difference shows: nobody reads a whole definition, and a result travels far."""


def compared(before: str, after: str, secrets: Iterable[str] = ()) -> tuple[str, str]:
    """Two texts of rendered objects, without those that are the same in both, and without secrets.

    :param secrets: further texts that must not be shown.
    """
    old, new = _objects(before), _objects(after)
    keys = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    shown: tuple[list[str], list[str]] = ([], [])
    for key in keys:
        for side, one, other, word in ((0, old, new, "before"), (1, new, old, "after")):
            if key in one:
                shown[side].append(_shown(key, one[key], other.get(key), word))
    return without("".join(shown[0]), secrets), without("".join(shown[1]), secrets)


def masked(document: Mapping[str, Any], other: Mapping[str, Any] | None = None, word: str = "") -> dict[str, Any]:
    """An object without what a Secret holds.

    :param other: the same object at another time; what differs from it is marked with ``word``.
    """
    result = dict(document)
    if document.get("kind") == "Secret":
        for part in ("data", "stringData"):
            held = document.get(part)
            if isinstance(held, Mapping):
                there = (other or {}).get(part)
                known = there if isinstance(there, Mapping) else {}
                result[part] = {
                    key: f"{HIDDEN} ({word})" if word and other is not None and known.get(key) != value else HIDDEN
                    for key, value in held.items()
                }
            elif held is not None:
                result[part] = HIDDEN
        metadata = document.get("metadata")
        if isinstance(metadata, Mapping) and "annotations" in metadata:  # kubectl keeps the whole object in one
            annotations = metadata["annotations"]
            keys = annotations if isinstance(annotations, Mapping) else ()
            kept = {key: HIDDEN if key.endswith("last-applied-configuration") else annotations[key] for key in keys}
            result["metadata"] = {**metadata, "annotations": kept}
    return result


def parts(text: str) -> list[str]:
    """The objects of a rendered text, each as its text."""
    return [part for part in _BOUNDARY.split(text) if part.strip()]


def _objects(text: str) -> dict[str, Any]:
    """Objects by kind, namespace and name; what cannot be read is told by its place alone, as it may be a secret."""
    found: dict[str, Any] = {}
    for part in parts(text):
        try:
            document = yamlio.load(part, "rendered")
        except AicrError:
            document = part
        if isinstance(document, dict):
            metadata = document.get("metadata") or {}
            name = metadata.get("name", "") if isinstance(metadata, dict) else ""
            place = metadata.get("namespace", "") if isinstance(metadata, dict) else ""
            found[f"{document.get('kind', '')} {f'{place}/' if place else ''}{name}"] = document
        elif document is not None:
            source = _SOURCE.search(part)
            found[f"{source[1] if source else 'an object'} (not shown, it cannot be read)"] = part
    return found


def _shown(key: str, one: Any, other: Any, word: str) -> str:
    if not isinstance(one, dict):
        return f"--- # {key}\n"
    text = yamlio.dump(masked(one, other if isinstance(other, dict) else None, word))
    if len(text) > LONGEST:
        text = f"# not shown: {len(text)} characters, sha256:{hashlib.sha256(text.encode()).hexdigest()}\n"
    return f"--- # {key}\n{text}"


def without(text: str, secrets: Iterable[str]) -> str:
    """A text in which each secret is hidden; a longer one before one that it holds."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
