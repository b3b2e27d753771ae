# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waves over an inventory: their sizes as the play has them, and how many failures end it (spec/cases.md F1, F3)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import AicrError, invalid, raise_all
from .options import Spec

SERIAL, BUDGET = "aicr_serial", "aicr_max_failures"
VARIABLES: Spec = {
    "serial": {"type": "raw"},
    "max_failures": {"type": "raw"},
    "pause_between_waves": {"type": "bool"},
    "resume": {"type": "bool"},
}
ALL_AT_ONCE = ("100%",)
FIRST_FAILURE = 1

_SIZE = re.compile(r"([1-9][0-9]*)(%?)")


@dataclass(frozen=True)
class Waves:
    """What the end of a wave needs to know.

    :ivar canary: whether any failure of the first wave ends the play.
    :ivar budget: with so many clusters stopped, whatever their waves, no further wave begins.
    :ivar serial: whether there are waves at all.
    """

    canary: bool
    budget: int
    serial: bool

    def to_result(self) -> dict[str, Any]:
        """The same as a return value."""
        return {"canary": self.canary, "budget": self.budget, "serial": self.serial}


def waves(values: Mapping[str, Any], hosts: int, in_force: Sequence[object] | None) -> Waves:
    """The waves that variables ask for.

    :param hosts: how many clusters the play has.
    :param in_force: the play's own keyword ``serial``; ``None`` where nobody knows it.
    :raises AicrError: INVALID_REQUEST for what is no size of a wave and no number of failures, and for sizes that are
        not those of the play.
    """
    problems: list[AicrError] = []
    given = values.get(SERIAL)
    sizes: tuple[str, ...] = ALL_AT_ONCE
    if given not in (None, ""):
        sizes = _sizes(given)
        if not sizes or not all(_SIZE.fullmatch(size) for size in sizes):
            problems.append(
                invalid(
                    f"{SERIAL}: {given!r} is no list of sizes of waves",
                    'name numbers of clusters or percentages, such as [1, "25%", "100%"]',
                )
            )
        elif in_force is not None and tuple(map(str, in_force)) != sizes:
            problems.append(
                invalid(
                    f"{SERIAL}: {given!r} is set where the play does not see it: it would go over all clusters at once",
                    f"a play has one {SERIAL} for all hosts: give it with -e, or as vars of import_playbook",
                )
            )
    budget = FIRST_FAILURE
    try:
        budget = _budget(values.get(BUDGET), hosts)
    except AicrError as error:
        problems.append(error)
    raise_all(problems)
    return Waves(len(sizes) > 1, budget, sizes != ALL_AT_ONCE)


def _sizes(given: object) -> tuple[str, ...]:
    """A list, one size, or the text of a survey with commas."""
    items = given if isinstance(given, list) else str(given).strip("[] ").split(",")
    return tuple(str(item).strip(" \"'") for item in items if not isinstance(item, bool))


def _budget(given: object, hosts: int) -> int:
    """A count of failures; a percentage is one of all clusters of the play, and at least one."""
    if given in (None, ""):
        return FIRST_FAILURE
    found = None if isinstance(given, (bool, float)) else _SIZE.fullmatch(str(given).strip())
    if found is None or (found[2] and int(found[1]) > 100):
        raise invalid(
            f"{BUDGET}: {given!r} is no number of failures",
            'name a number above 0, or a percentage of all clusters such as "5%"; 1 ends with the first failure',
        )
    return max(1, math.floor(hosts * int(found[1]) / 100)) if found[2] else int(found[1])
