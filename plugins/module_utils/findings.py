# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a collector brings home."""

from __future__ import annotations


class Findings:
    """The readings of one collector by subtype, the gaps it had to leave, and what else a reader should know.

    Whatever was added before a collector failed or ran out of time still counts.
    """

    def __init__(self, type_name: str) -> None:
        self.type = type_name
        self.subtypes: dict[str, dict[str, object]] = {}
        self.gaps: list[str] = []
        self.warnings: list[str] = []

    def add(self, subtype: str, data: dict[str, object]) -> None:
        """Note the readings of a subtype; one without any is left out, as the format wants (spec/surface.md 2.1)."""
        if data:
            self.subtypes[subtype] = data

    def gap(self, reason: object, subtype: str = "") -> None:
        """Note that readings are missing, and why; the text says the same on every run."""
        if isinstance(reason, OSError):
            text = reason.strerror or type(reason).__name__
            reason = f"{reason.filename}: {text}" if reason.filename else text
        self.gaps.append(f"{self.type}.{subtype}: {reason}" if subtype else f"{self.type}: {reason}")
