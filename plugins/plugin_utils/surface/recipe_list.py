# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a catalog has recipes for, as plain documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..catalog import Catalog, Profile
from ..catalog.criteria import parse
from ..errors import invalid
from ..resolution.listing import Health, Listed, list_recipes
from .catalogs import catalog as catalog_of
from .options import Options


@dataclass(frozen=True)
class Listing:
    """The result of the action, which writes nothing."""

    recipes: Sequence[Mapping[str, Any]]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        """The task's result."""
        del check_mode, diff, return_document
        return {
            "changed": False,
            "recipes": list(self.recipes),
            "summary": {"recipes": len(self.recipes), "leaves": sum(each["is_leaf"] for each in self.recipes)},
        }


def list_all(options: Options) -> Listing:
    """The overlays that the options select.

    :raises AicrError: what is wrong with the catalog, or INVALID_REQUEST for criteria that it does not know.
    """
    catalog = catalog_of(options["catalog"])
    return Listing([_document(each) for each in _listed(catalog, options)])


def look_up_list(terms: Sequence[str], options: Options) -> tuple[list[Any], tuple[str, ...]]:
    """The same as a list; see :func:`list_all`.

    :raises AicrError: INVALID_REQUEST for terms, which mean nothing here.
    """
    if terms:
        raise invalid(f"the lookup recipe_list takes no terms, got {', '.join(terms)}", "filter by the option criteria")
    return list(list_all(options).recipes), ()


def _listed(catalog: Catalog, options: Options) -> list[Listed]:
    wanted = parse(options["criteria"] or {}, catalog).stated()
    return list(list_recipes(catalog, wanted, leaves_only=options["leaves_only"], health=options["health"]))


def _document(listed: Listed) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": listed.name,
        "criteria": {axis: value for axis, value in vars(listed.criteria).items() if value is not None},
        "is_leaf": listed.is_leaf,
        "source": listed.source,
    }
    if listed.profile:
        document["profile"] = _profile(listed.profile)
    if listed.health:
        document["health"] = _health(listed.health)
    return document


def _profile(profile: Profile) -> dict[str, Any]:
    told = {"description": profile.description} if profile.description else {}
    return {"name": profile.name, **told, "default": profile.default, "values": sorted(profile.values)}


def _health(health: Health) -> dict[str, Any]:
    status = health.status.value
    # A catalog with an unpinned chart or a constraint that is none does not load, so that these two never fail alone.
    dimensions = {"chart_pinned": "pass", "constraints_wellformed": "pass", "resolves": status}
    coverage = {
        name: {
            "declared": phase.declared,
            **({"checks": list(phase.checks)} if phase.checks else {}),
            "constraints": phase.constraints,
        }
        for name, phase in health.coverage.items()
    }
    problem = {"problem": health.problem} if health.problem else {}
    return {"status": status, "dimensions": dimensions, "coverage": coverage, **problem}
