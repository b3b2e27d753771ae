# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a catalog has recipes for: its overlays with their criteria, profile and coverage (spec/surface.md 1.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..artifacts.recipe import ANY, AXES, PHASES, Criteria, Phase, RecipeResult
from ..catalog import Catalog, Overlay, Profile
from ..errors import AicrError
from .resolve import resolve


class Status(StrEnum):
    """Whether a leaf makes a recipe."""

    PASS = "pass"
    FAIL = "fail"


@dataclass(frozen=True)
class PhaseCoverage:
    """What a recipe checks in one phase.

    :ivar declared: whether it has the phase at all.
    :ivar checks: their names, sorted.
    :ivar constraints: how many floors or readings it wants.
    """

    declared: bool
    checks: tuple[str, ...]
    constraints: int


@dataclass(frozen=True)
class Health:
    """Whether a leaf's own criteria make a recipe, and what that covers.

    :ivar problem: why they make none; empty if they do.
    """

    status: Status
    coverage: Mapping[str, PhaseCoverage]
    problem: str = ""


@dataclass(frozen=True)
class Listed:
    """One overlay.

    :ivar is_leaf: whether no other overlay builds on it.
    :ivar source: ``embedded`` or ``external``.
    :ivar profile: the declared profile of the overlay or an ancestor.
    :ivar health: of leaves that state something, if it was asked for; what states nothing is part of other recipes.
    """

    name: str
    criteria: Criteria
    is_leaf: bool
    source: str
    profile: Profile | None
    health: Health | None


def list_recipes(
    catalog: Catalog, wanted: Mapping[str, str], *, leaves_only: bool = False, health: bool = True
) -> Iterator[Listed]:
    """The overlays whose criteria state exactly these values, by name.

    :param wanted: axis to value; an axis that is not there is free.
    :param leaves_only: leave out those on which others build.
    :param health: resolve each leaf and tell its coverage.
    """
    parents = {overlay.parent for overlay in catalog.overlays.values()}
    for overlay in catalog.overlays.values():
        criteria = overlay.criteria
        is_leaf = overlay.name not in parents
        if criteria is None or (leaves_only and not is_leaf):
            continue
        if all(getattr(criteria, axis) == value for axis, value in wanted.items()):
            yield Listed(
                overlay.name,
                criteria,
                is_leaf,
                "external" if catalog.is_external(overlay) else "embedded",
                _profile(catalog, overlay),
                _health(catalog, criteria) if health and is_leaf and criteria.stated() else None,
            )


def _profile(catalog: Catalog, overlay: Overlay) -> Profile | None:
    return next((link.profile for link in catalog.chain(overlay) if link.profile), None)


def _health(catalog: Catalog, criteria: Criteria) -> Health:
    axes: dict[str, Any] = {axis: getattr(criteria, axis) or ANY for axis in AXES}
    query = Criteria(**axes)
    try:
        recipe = resolve(catalog, query).recipe
    except AicrError as error:
        return Health(Status.FAIL, {}, str(error))
    return Health(Status.PASS, {name: _covered(recipe, name) for name in PHASES})


def _covered(recipe: RecipeResult, name: str) -> PhaseCoverage:
    found: Phase | None = getattr(recipe.validation, name, None)
    phase = found or Phase()
    return PhaseCoverage(found is not None, tuple(sorted(phase.checks or ())), len(phase.constraints or ()))
