# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validate a recipe against a snapshot, without a cluster (spec/engine.md 7.1, spec/surface.md 1.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from ..artifacts.recipe import RecipeResult
from ..artifacts.snapshot import Snapshot
from ..catalog import Catalog
from ..errors import raise_all
from .checks import declared_checks, requested_phases, unrunnable_checks, unskippable_checks
from .readiness import readiness
from .report import UNSPECIFIED, Report, Status, Test


def validate(
    recipe: RecipeResult,
    snapshot: Snapshot,
    catalog: Catalog,
    *,
    recipe_digest: str,
    now: datetime,
    phases: Sequence[str] | None = None,
    skip_checks: Sequence[str] = (),
    tool_version: str | None = None,
) -> Report:
    """Judge the recipe's constraints and list the catalog's checks, none of which runs without a cluster.

    A constraint that does not hold is no exception: it stands in the report, and :meth:`Report.failure` has it too.

    :param recipe: an admitted recipe.
    :param recipe_digest: its digest, for the report.
    :param now: the time of the report, aware of its zone.
    :param phases: of ``deployment``, ``conformance`` and ``performance`` those to report; all by default.
    :param skip_checks: checks to leave out by name; the report says so.
    :raises AicrError: INVALID_REQUEST: an unknown phase, declared checks that can never run, checks to leave out that
        are unknown or all that a phase declares, all of them together.
    """
    chosen = requested_phases(phases)
    raise_all([*unrunnable_checks(recipe, catalog), *unskippable_checks(recipe, catalog, chosen, skip_checks)])
    mode = recipe.accounting_mode
    return Report(
        readiness=readiness(recipe, snapshot),
        checks=tuple(check for phase in chosen for check in _checks(recipe, catalog, phase, skip_checks)),
        recipe_digest=recipe_digest,
        accounting=mode.value if mode else UNSPECIFIED if recipe.is_slurm else None,
        at=now,
        tool_version=tool_version,
        warnings=_version_skew(recipe, snapshot),
    )


def _checks(recipe: RecipeResult, catalog: Catalog, phase: str, skip: Sequence[str]) -> Iterator[Test]:
    declared = declared_checks(recipe, phase)
    for entry in catalog.validators:
        if entry.phase == phase:
            why = "no cluster was asked"
            if entry.name not in declared:
                why = f"the recipe's {phase} phase does not declare it"
            elif entry.name in skip:
                why = "named in skip_checks"
            yield Test(entry.name, phase, Status.SKIPPED, f"skipped: {why}")


def _version_skew(recipe: RecipeResult, snapshot: Snapshot) -> tuple[str, ...]:
    """A warning where two releases had a part in the inputs; builds without a release number do not count."""
    headers = (recipe.metadata, snapshot.metadata)
    first, second = (header.version.removeprefix("v") if header and header.version else "" for header in headers)
    if first == second or any(version in ("", "dev") or "-next" in version for version in (first, second)):
        return ()
    return (f"version skew: the recipe was written by release {first}, the snapshot by {second}",)
