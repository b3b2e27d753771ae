# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an author probably meant."""

from __future__ import annotations

from collections.abc import Iterable

FARTHEST = 2
"""More changes than this make it another word (spec/engine.md 3.2)."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is fewest changes away, the first in alphabet of several; ``None`` if all are too far."""
    distances = ((edit_distance(word, candidate), candidate) for candidate in known)
    distance, candidate = min(distances, default=(FARTHEST + 1, ""))
    return candidate if distance <= FARTHEST else None


def edit_distance(one: str, other: str) -> int:
    """How many characters must be put in, taken out or replaced (Levenshtein)."""
    row = list(range(len(other) + 1))
    for line, character in enumerate(one, 1):
        diagonal, row[0] = row[0], line
        for column, another in enumerate(other, 1):
            diagonal, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, diagonal + (character != another)),
            )
    return row[-1]
