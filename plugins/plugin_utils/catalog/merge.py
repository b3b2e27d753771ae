# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merge nested mappings (spec/engine.md 1.6, 1.15); no argument is changed, and what did not change is shared."""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def merge_values(base: Mapping[Any, Any], over: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Effective values: mappings merge, everything else replaces, ``null`` deletes the key.

    A mapping that meets none is taken as it is: a ``null`` in there is for Helm, which deletes its chart's default.
    """
    return _merge(base, over, delete=True)


def merge_overrides(base: Mapping[Any, Any], over: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Overrides of two layers: mappings merge, everything else replaces, ``null`` is kept for :func:`merge_values`."""
    return _merge(base, over, delete=False)


def _merge(base: Mapping[Any, Any], over: Mapping[Any, Any], *, delete: bool) -> Mapping[Any, Any]:
    if not over:
        return base
    merged = dict(base)
    for name, value in over.items():
        if value is None and delete:
            merged.pop(name, None)
            continue
        below = merged.get(name)
        merged[name] = _merge(below, value, delete=delete) if _is_tree(below) and _is_tree(value) else value
    return merged


def _is_tree(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is merged, not replaced: the reference looks only into mappings whose keys are all text."""
    return isinstance(value, Mapping) and all(type(name) is str for name in value)
