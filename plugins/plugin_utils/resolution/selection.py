# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which overlays of a catalog take part in a recipe (spec/engine.md 1.2, 1.3, 1.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..catalog import Catalog, Overlay


@dataclass(frozen=True)
class Candidate:
    """An overlay as selection sees it.

    :ivar name: the overlay's.
    :ivar stated: the axes that its criteria name, and their values.
    :ivar pairs: the same as a set.
    :ivar chain: itself and its ancestors below the base, the nearest to the base first.
    """

    overlay: Overlay
    name: str
    stated: Mapping[str, str]
    pairs: frozenset[tuple[str, str]]
    chain: tuple[Overlay, ...]

    def matches(self, query: Mapping[str, str]) -> bool:
        """Whether the query states every value that the overlay does; a query's wildcard picks no named value."""
        return self.pairs <= query.items()

    def agrees_with(self, query: Mapping[str, str]) -> bool:
        """Whether no axis has two different values."""
        for axis, value in self.stated.items():  # noqa: SIM110 - asked 300,000 times for a matrix of criteria
            if query.get(axis, value) != value:
                return False
        return True


def candidates(catalog: Catalog) -> tuple[Candidate, ...]:
    """All overlays that criteria can select, in the order in which they are merged: specificity, then name."""
    found = [
        Candidate(overlay, overlay.name, stated, frozenset(stated.items()), catalog.chain(overlay)[1:])
        for overlay in catalog.overlays.values()
        if overlay.criteria is not None
        for stated in [overlay.criteria.stated()]
    ]
    return tuple(sorted(found, key=lambda candidate: (_specificity(candidate), candidate.name)))


Carrying = Mapping[tuple[str, str], Sequence[Candidate]]
"""The candidates by each pair of axis and value that they state."""


def carrying(all_candidates: Iterable[Candidate]) -> Carrying:
    """The candidates by what they state."""
    found: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in all_candidates:
        for pair in candidate.pairs:
            found.setdefault(pair, []).append(candidate)
    return found


def matching(all_candidates: Iterable[Candidate], query: Mapping[str, str]) -> list[Candidate]:
    """The candidates that a query picks, see :meth:`Candidate.matches`; their order stays."""
    pairs = frozenset(query.items())
    return [candidate for candidate in all_candidates if candidate.pairs <= pairs]


def maximal_leaves(matching: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates on which no other of them builds; their order stays."""
    among = tuple(matching)
    ancestors = {overlay.name for candidate in among for overlay in candidate.chain[:-1]}
    return tuple(candidate for candidate in among if candidate.name not in ancestors)


def _specificity(candidate: Candidate) -> int:
    criteria = candidate.overlay.criteria
    return len(candidate.stated) + bool(criteria and criteria.nodes)
