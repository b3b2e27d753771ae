# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a collector brings home: subtypes, and the gaps it had to leave, each by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping

from ..artifacts.snapshot import Item, Measurement, Subtype
from ..errors import AicrError
from .request import is_gap


class Findings:
    """The readings of one collector, which may fill up in another thread.

    What was added before a collector failed or ran out of time stands.

    :ivar type: the measurement type, such as ``K8s``.
    :ivar gaps: by the name of what is missing.
    """

    def __init__(self, type_name: str) -> None:
        self.type = type_name
        self.gaps: dict[str, AicrError] = {}
        self._subtypes: dict[str, Subtype] = {}

    def add(self, subtype: str, data: Mapping[str, object], items: Iterable[Item] = ()) -> None:
        """Note a subtype; one without any reading is left out, as the format wants (spec/surface.md 2.1)."""
        rows = tuple(items)
        if data or rows:
            self._subtypes[subtype] = Subtype(subtype, data=dict(data) or None, items=rows or None)

    def gap(self, error: AicrError, subtype: str = "") -> None:
        """Note that readings are missing, and why."""
        self.gaps[f"{self.type}.{subtype}" if subtype else self.type] = error

    @contextlib.contextmanager
    def tolerate(self, subtype: str = "") -> Iterator[None]:
        """Turn what concerns one source alone into a gap; anything else goes on up."""
        try:
            yield
        except AicrError as error:
            if not is_gap(error):
                raise
            self.gap(error, subtype)

    @property
    def subtypes(self) -> list[Subtype]:
        """What is there now."""
        return list(self._subtypes.values())


def measurements(findings: Iterable[Findings]) -> list[Measurement]:
    """One measurement for each type that has readings, its subtypes sorted by name."""
    by_type: dict[str, list[Subtype]] = {}
    for found in findings:
        by_type.setdefault(found.type, []).extend(found.subtypes)
    return [
        Measurement(name, tuple(sorted(subtypes, key=lambda subtype: subtype.subtype)))
        for name, subtypes in by_type.items()
        if subtypes
    ]
