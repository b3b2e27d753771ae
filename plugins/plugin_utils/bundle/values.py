# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that a component really gets: recipe, overrides and scheduling in the order of spec/engine.md 4.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.recipe import ComponentRef, RecipeResult
from ..catalog import Catalog, merge_overrides, merge_values
from ..errors import AicrError
from .gateway import close_gateway
from .overrides import Override, Surface
from .rollout import mark_rollout
from .scheduling import Injection, Scheduling, Stated, unplaced
from .shared_storage import mount_shared_storage
from .value_path import Blocked, Values, blocked_problem, find, nest, put


@dataclass(frozen=True)
class Effective:
    """What came of the values of all components.

    :ivar values: component name to values; a component whose values could not be rebuilt is missing and has a problem.
    :ivar notes: what a user should know, though nothing is wrong.
    """

    values: Mapping[str, Values]
    problems: Sequence[AicrError]
    notes: Sequence[str]


def effective_values(
    recipe: RecipeResult,
    catalog: Catalog,
    overrides: Sequence[Override],
    scheduling: Scheduling,
) -> Effective:
    """The values of every component of a recipe that a bundle holds; nothing is written if any cannot be rebuilt."""
    found: dict[str, Values] = {}
    problems: list[AicrError] = []
    notes: list[str] = []
    for ref in recipe.component_refs:
        own = [override for override in overrides if override.component == ref.name and not override.is_toggle]
        try:
            base = catalog.values(ref)
        except AicrError as error:
            problems.append(error)
            continue
        found[ref.name] = _component_values(ref, catalog, base, own, scheduling, problems, notes)
    return Effective({name: mark_rollout(name, values, recipe) for name, values in found.items()}, problems, notes)


def _component_values(
    ref: ComponentRef,
    catalog: Catalog,
    base: Values,
    overrides: Sequence[Override],
    scheduling: Scheduling,
    problems: list[AicrError],
    notes: list[str],
) -> Values:
    by_surface = {surface: [one for one in overrides if one.surface is surface] for surface in Surface}
    given = nest([(one.path, one.value) for one in by_surface[Surface.VALUES]])
    values: Values = merge_values(base, given)
    stated: Values = merge_overrides(ref.overrides or {}, given)
    for override in by_surface[Surface.SET]:
        values = _applied(values, override, problems)
        stated = _applied(stated, override, [])
    entry = catalog.registry.component(ref.name)
    if entry:
        injection = Injection(
            entry,
            values,
            Stated(
                stated,
                [one.path for one in (*by_surface[Surface.VALUES], *by_surface[Surface.SET])],
                {one.path for one in by_surface[Surface.DYNAMIC]},
            ),
        )
        injection.place(scheduling)
        values = injection.values
        problems += injection.problems
        notes += injection.notes
    typed = [*by_surface[Surface.SET_FILE], *by_surface[Surface.SET_JSON]]
    for override in sorted(typed, key=lambda one: (len(one.path), one.path)):
        values = _applied(values, override, problems)
    for override in by_surface[Surface.DYNAMIC]:
        _applied(values, override, problems)  # what stands open must have a place, too
    if entry:
        problems += unplaced(entry, values, scheduling)
    values = mount_shared_storage(ref, values, problems)
    return close_gateway(ref.name, values, problems, notes)


def _applied(values: Values, override: Override, problems: list[AicrError]) -> Values:
    value, held = override.value, find(values, override.path)
    if isinstance(value, Mapping) and isinstance(held, Mapping):
        value = merge_values(held, value)
    try:
        return put(values, override.path, value)
    except Blocked as blocked:
        problems.append(blocked_problem(override.place, override.component, override.path, blocked))
        return values
