# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlays and their mixins laid over each other, once for each sequence of overlays (spec/engine.md 1.5 to 1.7).

Recipes share most of what they are made of: a sequence of overlays is merged on top of the sequence without its last
one, and both are kept with the catalog, as documents and dataclasses never change.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..admission import coherence_problems
from ..artifacts.recipe import ComponentRef, Constraint, Validation
from ..catalog import Catalog, Overlay
from ..errors import AicrError, invalid, raise_all
from ..inventory import deployment_order
from . import component, mixin, phases
from .selection import Candidate, Carrying, candidates, carrying


@dataclass(frozen=True)
class Composition:
    """What a sequence of overlays makes, complete but for what the query decides.

    :ivar mixin_constraints: those that mixins brought, by mixin; a snapshot can rule out every overlay that uses it.
    """

    constraints: tuple[Constraint, ...]
    refs: tuple[ComponentRef, ...]
    order: tuple[str, ...]
    validation: Validation | None
    mixin_constraints: Mapping[str, tuple[Constraint, ...]]


@dataclass(frozen=True)
class _Layers:
    constraints: Mapping[str, Constraint]
    refs: Mapping[str, ComponentRef]
    validation: Validation | None
    mixins: tuple[str, ...]


class Composer:
    """Composes the overlays of one catalog and remembers what it has composed."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.candidates: tuple[Candidate, ...] = candidates(catalog)
        self.carrying: Carrying = carrying(self.candidates)
        self.by_name: Mapping[str, Candidate] = {candidate.name: candidate for candidate in self.candidates}
        self._layers: dict[tuple[str, ...], _Layers] = {(): _layers_of(catalog.base)}
        self._compositions: dict[tuple[str, ...], Composition] = {}
        self._texts: dict[str, str] = {}

    def compose(self, overlays: Iterable[Overlay]) -> Composition:
        """The base with these overlays over it, one after the other.

        :raises AicrError: INVALID_REQUEST with every component that makes no sense, unknown dependencies, circles,
            mixins that collide; NOT_FOUND for a mixin or a file that the catalog does not have.
        """
        sequence = tuple(overlays)
        names = tuple(overlay.name for overlay in sequence)
        known = self._compositions.get(names)
        if known is None:
            known = self._compositions[names] = self._complete(self._layered(sequence, names))
        return known

    def _layered(self, sequence: tuple[Overlay, ...], names: tuple[str, ...]) -> _Layers:
        known = self._layers.get(names)
        if known is None:
            known = self._layers[names] = _over(self._layered(sequence[:-1], names[:-1]), sequence[-1])
        return known

    def _complete(self, layers: _Layers) -> Composition:
        constraints, refs = dict(layers.constraints), dict(layers.refs)
        mixin_constraints: dict[str, tuple[Constraint, ...]] = {}
        problems: list[AicrError] = []
        for name in layers.mixins:
            found = mixin.find(self.catalog, name)
            mixin_constraints[name] = found.constraints
            for constraint in found.constraints:
                if constraint.name in constraints:
                    problems.append(_twice(found.source, name, constraint))
                constraints[constraint.name] = constraint
            for ref in found.component_refs:
                changed, refused = mixin.with_component(refs, ref, found, self.catalog)
                problems += refused
                if changed is not None:
                    refs[ref.name] = changed
        raise_all(problems)
        if layers.mixins:
            constraints, refs = dict(sorted(constraints.items())), dict(sorted(refs.items()))
        order = deployment_order(refs.values())
        complete = tuple(component.completed(ref, self.catalog, self._read_text) for ref in refs.values())
        raise_all(coherence_problems(complete))
        return Composition(
            tuple(constraints.values()), complete, order, phases.normal(layers.validation), mixin_constraints
        )

    def _read_text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = self.catalog.read_text(path)
        return self._texts[path]


_composers: weakref.WeakKeyDictionary[Catalog, Composer] = weakref.WeakKeyDictionary()


def composer(catalog: Catalog) -> Composer:
    """The composer of a catalog, kept as long as the catalog is."""
    known = _composers.get(catalog)
    if known is None:
        known = _composers[catalog] = Composer(catalog)
    return known


def _layers_of(overlay: Overlay) -> _Layers:
    return _Layers(
        {constraint.name: constraint for constraint in overlay.constraints},
        {ref.name: ref for ref in overlay.component_refs},
        overlay.validation,
        overlay.mixins,
    )


def _over(below: _Layers, overlay: Overlay) -> _Layers:
    refs = dict(below.refs)
    for ref in overlay.component_refs:
        base = refs.get(ref.name)
        refs[ref.name] = ref if base is None else component.merged(base, ref)
    return _Layers(
        dict(sorted(phases.by_name(below.constraints.values(), overlay.constraints).items())),
        dict(sorted(refs.items())),
        phases.merged(below.validation, overlay.validation),
        component.joined(below.mixins, overlay.mixins),
    )


def _twice(source: str, name: str, constraint: Constraint) -> AicrError:
    return invalid(
        f'{source}: mixin "{name}" sets constraint "{constraint.name}", which the recipe has already',
        "keep it in one place: the overlay or one mixin",
        mixin=name,
        constraint=constraint.name,
    )
