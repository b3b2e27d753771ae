# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first lines of every document of a catalog: its kind and its version."""

from __future__ import annotations

from typing import Any, TypeGuard

from ..artifacts import codec, versions


def has_header(document: object, kind: str, reading: codec.Reading) -> TypeGuard[dict[str, Any]]:
    """Whether a document is of this kind and of a version that is read; otherwise notes why not."""
    if not isinstance(document, dict):
        reading.refuse((), f"is no {kind} but {codec.type_name(document)}")
        return False
    if document.get("kind") != kind:
        reading.refuse(("kind",), f'is "{document.get("kind")}", must be "{kind}"')
        return False
    version = document.get("apiVersion")
    if versions.version_problem(kind, version, reading.source) is None:
        return True
    problem = versions.version_problem(kind, version, reading.place(("apiVersion",)))
    reading.problems += [problem] if problem else []
    return False
