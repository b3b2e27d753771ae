# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation phases of one layer over those of another: absent inherits, empty clears, lists join (engine.md 1.6)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ..artifacts.recipe import PHASES, Constraint, Phase, Validation
from .component import joined


def merged(base: Validation | None, over: Validation | None) -> Validation | None:
    """The phases of ``over`` laid field by field over those of ``base``."""
    if base is None or over is None:
        return over or base
    return dataclasses.replace(
        base,
        **{name: _phase(getattr(base, name), phase) for name in PHASES if (phase := getattr(over, name)) is not None},
    )


def normal(validation: Validation | None) -> Validation | None:
    """The phases as a recipe shows them: a cleared list is an absent one."""
    if validation is None:
        return None
    phases = {name: _without_empty(getattr(validation, name)) for name in PHASES}
    return Validation(**phases) if any(phases.values()) else None


def by_name(base: Iterable[Constraint], over: Iterable[Constraint]) -> dict[str, Constraint]:
    """Constraints by name; the later one replaces the whole earlier one."""
    return {constraint.name: constraint for constraints in (base, over) for constraint in constraints}


def _phase(base: Phase | None, over: Phase) -> Phase:
    if base is None:
        return over
    changes: dict[str, object] = {
        name: value for name in ("timeout", "infrastructure") if (value := getattr(over, name))
    }
    if over.checks is not None:
        changes["checks"] = joined(base.checks or (), over.checks) if over.checks else ()
    if over.constraints is not None:
        constraints = by_name(base.constraints or (), over.constraints)
        changes["constraints"] = tuple(constraints.values()) if over.constraints else ()
    if over.node_selection is not None:
        changes["node_selection"] = over.node_selection
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def _without_empty(phase: Phase | None) -> Phase | None:
    if phase is None or (phase.checks != () and phase.constraints != ()):
        return phase
    return dataclasses.replace(phase, checks=phase.checks or None, constraints=phase.constraints or None)
