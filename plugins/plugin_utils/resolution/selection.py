# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which overlays of a catalog take part in a recipe (spec/engine.md 1.2, 1.3, 1.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..catalog import Catalog, Overlay


@dataclass(frozen=True)
class Candidate:
    """An overlay as selection sees it.

    :ivar stated: the axes that its criteria name, and their values.
    :ivar chain: itself and its ancestors below the base, the nearest to the base first.
    """

    overlay: Overlay
    stated: Mapping[str, str]
    chain: tuple[Overlay, ...]

    @property
    def name(self) -> str:
        """The overlay's name."""
        return self.overlay.name

    def matches(self, query: Mapping[str, str]) -> bool:
        """Whether the query states every value that the overlay does; a query's wildcard picks no named value."""
        return all(query.get(axis) == value for axis, value in self.stated.items())

    def agrees_with(self, query: Mapping[str, str]) -> bool:
        """Whether no axis has two different values."""
        return all(query.get(axis, value) == value for axis, value in self.stated.items())


def candidates(catalog: Catalog) -> tuple[Candidate, ...]:
    """All overlays that criteria can select, in the order in which they are merged: specificity, then name."""
    found = [
        Candidate(overlay, overlay.criteria.stated(), catalog.chain(overlay)[1:])
        for overlay in catalog.overlays.values()
        if overlay.criteria is not None
    ]
    return tuple(sorted(found, key=lambda candidate: (_specificity(candidate), candidate.name)))


def maximal_leaves(matching: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The candidates on which no other of them builds; their order stays."""
    among = tuple(matching)
    ancestors = {overlay.name for candidate in among for overlay in candidate.chain[:-1]}
    return tuple(candidate for candidate in among if candidate.name not in ancestors)


def _specificity(candidate: Candidate) -> int:
    criteria = candidate.overlay.criteria
    return len(candidate.stated) + bool(criteria and criteria.nodes)
