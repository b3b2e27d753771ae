# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a snapshot rules out: overlays whose constraints it does not meet (spec/engine.md 1.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..artifacts.recipe import Constraint, ConstraintWarning, ExcludedOverlay
from ..artifacts.snapshot import Snapshot
from ..constraints import evaluate
from ..errors import AicrError, Code
from .selection import Candidate

OWN, OF_MIXIN = "constraint-failed", "mixin-constraint-failed"


def failures(
    overlay: str, constraints: Iterable[Constraint], snapshot: Snapshot, mixin: str = ""
) -> Iterator[ConstraintWarning]:
    """A warning for each constraint that fails or whose reading is not in the snapshot.

    :param mixin: the mixin that brought the constraints.
    :raises AicrError: for a constraint that cannot be judged for any other reason; guessing would be a default.
    """
    prefix = f"{OF_MIXIN}: {mixin}: " if mixin else ""
    for constraint in constraints:
        try:
            outcome = evaluate(constraint, snapshot)
        except AicrError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            yield ConstraintWarning(overlay, constraint.name, constraint.value, reason=prefix + error.message)
            continue
        if not outcome.passed:
            reason = f"{prefix}expected {outcome.expected}, got {outcome.actual}"
            yield ConstraintWarning(overlay, constraint.name, outcome.expected, outcome.actual, reason)


def excluded(candidates: Iterable[Candidate], reason: str) -> list[ExcludedOverlay]:
    """The record of excluded overlays."""
    return [ExcludedOverlay(candidate.name, reason) for candidate in candidates]
