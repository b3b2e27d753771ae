# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One component reference over another, and what the registry adds (spec/engine.md 1.6, 1.11)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from ..admission import HELM, KUSTOMIZE, effective_type
from ..artifacts.recipe import ComponentRef
from ..catalog import Catalog, merge_overrides

T = TypeVar("T")

_REPLACED = (
    "namespace", "chart", "type", "source", "version", "tag", "path", "values_file", "health_check_asserts",
    "patches", "expected_resources", "cleanup", "health_check_skip",
)  # fmt: skip
_FIELDS = tuple(each.name for each in dataclasses.fields(ComponentRef) if each.name != "name")
_JOINED = ("dependency_refs", "manifest_files", "pre_manifest_files")


def merged(base: ComponentRef, over: ComponentRef) -> ComponentRef:
    """``over`` laid over ``base``: what it leaves empty is inherited, overrides merge deeply, lists of names grow."""
    changes: dict[str, object] = {name: value for name in _REPLACED if (value := getattr(over, name))}
    if over.overrides:
        changes["overrides"] = merge_overrides(base.overrides, over.overrides) if base.overrides else over.overrides
    for name in _JOINED:
        if more := getattr(over, name):
            changes[name] = joined(getattr(base, name) or (), more)
    return dataclasses.replace(base, **changes) if changes else base  # type: ignore[arg-type]


def joined(base: Sequence[T], more: Sequence[T]) -> tuple[T, ...]:
    """Both lists, the first one first, nothing twice."""
    return tuple(dict.fromkeys([*base, *more]))


def completed(ref: ComponentRef, catalog: Catalog, read_text: Callable[[str], str]) -> ComponentRef:
    """A reference with the registry's defaults in its empty fields, and with no empty field left.

    :param read_text: reads a file of the catalog.
    """
    fields: dict[str, object] = {name: getattr(ref, name) or None for name in _FIELDS}
    entry = catalog.registry.component(ref.name)
    fields["type"] = effective_type(ref, catalog)
    if entry is not None:
        defaults: dict[str, str | None] = {}
        if fields["type"] == HELM and entry.helm:
            defaults = {
                "source": entry.helm.default_repository,
                "version": entry.helm.default_version,
                "namespace": entry.helm.default_namespace,
                "chart": (entry.helm.default_chart or "").rpartition("/")[2],
            }
        elif fields["type"] == KUSTOMIZE and entry.kustomize:
            defaults = {
                "source": entry.kustomize.default_source,
                "tag": entry.kustomize.default_tag,
                "path": entry.kustomize.default_path,
            }
        if entry.manifest and not defaults.get("namespace"):
            defaults["namespace"] = entry.manifest.default_namespace
        for name, default in defaults.items():
            fields[name] = fields[name] or default or None
        fields["manifest_files"] = fields["manifest_files"] or entry.manifest_files or None
        check = entry.health_check.assert_file if entry.health_check else None
        if check and not fields["health_check_asserts"] and not ref.health_check_skip:
            fields["health_check_asserts"] = read_text(check)
    fields["source"] = fields["source"] or ""  # recipes of the reference always have this key
    return ComponentRef(ref.name, **fields)  # type: ignore[arg-type]
