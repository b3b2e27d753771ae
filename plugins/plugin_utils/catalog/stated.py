# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of constraints as a catalog states them."""

from __future__ import annotations

from collections.abc import Iterable

from ..artifacts import codec
from ..artifacts.recipe import Constraint
from ..constraints import addressability_problem


def check_constraints(
    constraints: Iterable[Constraint], reading: codec.Reading, at: codec.Path, *, addressable: bool = True
) -> None:
    """Note constraints without name or value, named twice or, if ``addressable``, on a path that no snapshot has."""
    names: set[str] = set()
    for index, constraint in enumerate(constraints):
        empty = [key for key in ("name", "value") if not getattr(constraint, key).strip()]
        for key in empty:
            reading.refuse((*at, index, key), "must not be empty")
        if constraint.name in names:
            reading.refuse(
                (*at, index, "name"), f'constraint "{constraint.name}" stands there twice', "keep one of them"
            )
        names.add(constraint.name)
        if addressable and not empty and (problem := addressability_problem(constraint.name, constraint.value)):
            reading.refuse((*at, index), problem.message, problem.hint)
