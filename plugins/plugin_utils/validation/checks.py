# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Phases and the catalog's checks in them (spec/engine.md 7.1, spec/surface.md 2.10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..artifacts.recipe import PHASES, RecipeResult
from ..catalog import Catalog
from ..constraints import nearest
from ..errors import AicrError, invalid

RUN_ORDER = ("deployment", "conformance", "performance")
"""The phases that have checks, in the order in which they run; readiness comes before and has constraints alone."""

ALL = "all"


def requested_phases(phases: Sequence[str] | None) -> tuple[str, ...]:
    """The phases to run, in their order whatever the order of asking; nothing or ``all`` asks for every one.

    :raises AicrError: INVALID_REQUEST: an unknown phase, or ``all`` beside another one.
    """
    choices = f"one of: {', '.join(RUN_ORDER)}, {ALL}"
    for phase in phases or ():
        if phase not in (*RUN_ORDER, ALL):
            raise invalid(f'invalid phase "{phase}": must be {choices}', "readiness always runs and is not asked for")
    if not phases or set(phases) == {ALL}:
        return RUN_ORDER
    if ALL in phases:
        raise invalid(f'phase "{ALL}" stands beside others: {", ".join(phases)}', f'ask for "{ALL}" alone')
    return tuple(phase for phase in RUN_ORDER if phase in phases)


def declared_checks(recipe: RecipeResult, phase: str) -> tuple[str, ...]:
    """The names in the recipe's ``validation.<phase>.checks``."""
    declared = getattr(recipe.validation, phase) if recipe.validation else None
    return declared.checks or () if declared else ()


def unrunnable_checks(recipe: RecipeResult, catalog: Catalog) -> Iterator[AicrError]:
    """Why checks that the recipe declares can never run: unknown, of another phase, or named twice.

    Every phase is looked at, also one that nobody asked for: a misspelt check would be a gate that is not there.
    """
    phase_of = {entry.name: entry.phase for entry in catalog.validators}
    for phase in PHASES:
        names, place = declared_checks(recipe, phase), f"validation.{phase}.checks"
        for index, name in enumerate(names):
            if name in names[:index]:
                yield invalid(f'{place} names the check "{name}" twice', "keep one of them", check=name)
            elif name not in phase_of:
                meant = nearest(name, phase_of)
                hint = f'did you mean "{meant}"?' if meant else f"checks: {', '.join(sorted(phase_of))}"
                yield invalid(f'{place} names the check "{name}", which the catalog does not have', hint, check=name)
            elif phase_of[name] != phase:
                message = f'{place} names the check "{name}", which belongs to phase {phase_of[name]}'
                yield invalid(message, f"move it to validation.{phase_of[name]}.checks", check=name)


def unskippable_checks(
    recipe: RecipeResult, catalog: Catalog, phases: Sequence[str], skip: Sequence[str]
) -> Iterator[AicrError]:
    """Why checks cannot be left out: unknown ones, and all of a phase, which would say nothing then.

    :param phases: those that were asked for.
    """
    known = {entry.name for entry in catalog.validators}
    for name in dict.fromkeys(skip):
        if name not in known:
            meant = nearest(name, known)
            hint = f'did you mean "{meant}"?' if meant else f"checks: {', '.join(sorted(known))}"
            yield invalid(f'skip_checks names the check "{name}", which the catalog does not have', hint, check=name)
    for phase in phases:
        declared = declared_checks(recipe, phase)
        if declared and set(declared) <= set(skip):
            yield invalid(
                f"skip_checks names every check of phase {phase}: {', '.join(declared)}",
                "leave the phase out of phases instead",
                phase=phase,
            )
