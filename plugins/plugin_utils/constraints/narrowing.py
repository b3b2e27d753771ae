# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two constraints on one reading become one that holds exactly where both do (spec/engine.md 3.5, *Tighten*)."""

from __future__ import annotations

from ..artifacts.recipe import Constraint
from ..errors import AicrError, invalid
from .expression import Expression, Operator
from .version import Version

_FLOORS = (Operator.AT_LEAST, Operator.ABOVE)
_EXCLUSIVE = (Operator.ABOVE, Operator.BELOW)


def narrowed(existing: Constraint, candidate: Constraint) -> Constraint:
    """The stricter of two constraints on one path.

    :raises AicrError: INVALID_REQUEST if neither follows from the other: no reading meets both, or no single expression
        says what both say together. A guess would let through what one of them forbids.
    """
    if existing.value.strip() == candidate.value.strip():
        return existing
    try:
        mine, theirs = Expression.parse(existing.value), Expression.parse(candidate.value)
        if Operator.EXACT in (mine.operator, theirs.operator):
            fixed, free, other = (
                (existing, mine, theirs) if mine.operator is Operator.EXACT else (candidate, theirs, mine)
            )
            if other.holds(free.value):
                return fixed
        elif mine.orders and theirs.orders and _same_direction(mine, theirs):
            return candidate if _is_stricter(theirs, mine) else existing
    except AicrError as error:
        raise _apart(existing, candidate) from error
    raise _apart(existing, candidate)


def _same_direction(one: Expression, other: Expression) -> bool:
    return (one.operator in _FLOORS) == (other.operator in _FLOORS)


def _is_stricter(one: Expression, other: Expression) -> bool:
    """Whether all that satisfies ``one`` satisfies ``other``.

    :raises AicrError: INVALID_REQUEST if that hangs on how precisely a reading is written.
    """
    mine, theirs = Version.parse(one.value), Version.parse(other.value)
    order = mine.compare(theirs)
    if order == 0:
        if len(mine.numbers) != len(theirs.numbers):
            raise invalid("equal as far as both are written, and written to a different precision")
        return one.operator in _EXCLUSIVE
    stricter = (order > 0) == (one.operator in _FLOORS)
    winner, loser = (one, other) if stricter else (other, one)
    if winner.operator not in _EXCLUSIVE and loser.operator in _EXCLUSIVE:
        raise invalid("a reading of fewer numbers than both is level with both")
    return stricter


def _apart(existing: Constraint, candidate: Constraint) -> AicrError:
    return invalid(
        f'constraint {existing.name} "{candidate.value}" does not narrow the "{existing.value}" of the recipe',
        "the same operator with a stricter version does, or one of the values that the other allows",
        constraint=existing.name,
    )
