# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mixins: constraints and narrow additions that overlays share, applied after all chains (spec/engine.md 1.7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from ..artifacts.recipe import ComponentRef
from ..catalog import Catalog, Mixin
from ..errors import AicrError, invalid, not_found
from . import component

_MAY_ADD = ("name", "namespace", "overrides", "dependency_refs", "manifest_files", "pre_manifest_files")


def find(catalog: Catalog, name: str) -> Mixin:
    """The mixin of a name.

    :raises AicrError: NOT_FOUND.
    """
    mixin = catalog.mixins.get(name)
    if mixin is None:
        raise not_found(f'mixin "{name}" is not in the catalog', f"mixins: {', '.join(catalog.mixins)}", mixin=name)
    return mixin


def with_component(
    refs: Mapping[str, ComponentRef], ref: ComponentRef, mixin: Mixin, catalog: Catalog
) -> tuple[ComponentRef | None, list[AicrError]]:
    """A component with a mixin's reference laid over it, or the problems of that."""
    entry = catalog.registry.component(ref.name)
    safe = entry.mixin_safe_override_paths if entry else ()
    target = refs.get(ref.name)
    place = f'{mixin.source}: mixin "{mixin.name}": component "{ref.name}"'
    if target is None:
        if safe and ref.values_file:
            return None, [
                _refused(place, "valuesFile", "a component with mixin-safe paths gets its values from the overlay")
            ]
        return ref, []
    problems = [
        _refused(place, _key(field.name), f"a mixin may only set {', '.join(_key(name) for name in _MAY_ADD)}")
        for field in dataclasses.fields(ref)
        if field.name not in _MAY_ADD and getattr(ref, field.name)
    ]
    if ref.overrides:
        layers = [target.overrides or {}, *_value_files(target, catalog)]
        problems += _override_problems(place, ref.overrides, safe, layers)
    return component.merged(target, ref), problems


def _override_problems(
    place: str, overrides: Mapping[str, object], safe: tuple[str, ...], layers: list[Mapping[str, object]]
) -> Iterator[AicrError]:
    for keys, value in _leaves(overrides, ()):
        path = ".".join(keys)
        if isinstance(value, Mapping):
            yield _refused(place, f"overrides.{path}", "an empty mapping sets nothing")
        elif any(not key or "." in key for key in keys):
            yield _refused(place, f"overrides.{path}", "keys of a mixin's overrides are not empty and have no dot")
        elif path not in safe:
            yield _refused(place, f"overrides.{path}", f"paths that mixins may set: {', '.join(safe) or 'none'}")
        elif any(_reaches(layer, keys) for layer in layers):
            yield _refused(place, f"overrides.{path}", "the component's own values set this path already")


def _leaves(values: Mapping[str, object], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*above, str(key)))
        else:
            yield (*above, str(key)), value


def _reaches(layer: Mapping[str, object], keys: tuple[str, ...]) -> bool:
    """Whether a layer sets the path itself, one above it or one below it."""
    found: object = layer
    for key in keys:
        if not isinstance(found, Mapping):
            return True
        if key not in found:
            return False
        found = found[key]
    return True


def _value_files(ref: ComponentRef, catalog: Catalog) -> list[Mapping[str, object]]:
    own = f"components/{ref.name}/values.yaml"
    paths = [path for path in dict.fromkeys((own, ref.values_file)) if path and catalog.has(path)]
    return [catalog.values(ComponentRef(ref.name, values_file=path)) for path in paths]


def _refused(place: str, path: str, hint: str) -> AicrError:
    return invalid(f"{place} must not set {path}", hint, path=path)


def _key(attribute: str) -> str:
    head, *tail = attribute.split("_")
    return head + "".join(word.capitalize() for word in tail)
