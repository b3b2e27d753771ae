# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet file as it was written, and what is wrong with it: each problem by file, line and key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .. import yamlio
from ..artifacts.codec import dotted, type_name
from ..errors import AicrError, Code, invalid, raise_all

MAX_PROBLEMS = 20
"""How many problems are told; one slip is often there once for each cluster."""

Keys = tuple[str | int, ...]


@dataclass
class FleetFile:
    """The file, with the problems that were found so far."""

    path: Path
    text: bytes = field(repr=False)
    problems: list[AicrError] = field(default_factory=list)

    def place(self, keys: Keys) -> str:
        """``path:line: key``."""
        line = yamlio.line_of(self.text, keys) if keys else None
        start = f"{self.path}:{line}" if line else str(self.path)
        return f"{start}: {dotted(keys)}" if keys else start

    def note(self, keys: Keys, error: AicrError) -> None:
        """Keep a problem with the value at a path of keys; beyond the first ones they are only counted.

        Each problem goes with its own way out, since many are told at once.
        """
        inner = error.details.get("problems")
        for one in inner if isinstance(inner, list) else [error.to_result()]:
            way_out = f" ({one['hint']})" if one["hint"] else ""
            here = self.place(keys) if len(self.problems) < MAX_PROBLEMS else ""
            self.problems.append(AicrError(Code(str(one["code"])), f"{here}: {one['message']}{way_out}"))

    def raise_all(self) -> None:
        """Raise what was noted, if anything was.

        :raises AicrError: all of it as one, the first ones by name.
        """
        told, more = self.problems[:MAX_PROBLEMS], len(self.problems) - MAX_PROBLEMS
        self.problems = []
        if more > 0:
            told.append(invalid(f"{self.path}: there are {more} more problems"))
        raise_all(told)

    def mapping(self, keys: Keys, value: object) -> Mapping[str, object]:
        """A mapping with text as keys; null is an empty one, and anything else a problem."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.note(keys, invalid(f"must be a mapping, not {type_name(value)}"))
            return {}
        for key in value:
            if not isinstance(key, str):
                self.note(keys, invalid(f"the key {key} is not text", "write it in quotes"))
        return {key: item for key, item in value.items() if isinstance(key, str)}

    def sequence(self, keys: Keys, value: object) -> Sequence[object]:
        """A list; null is an empty one, and anything else a problem."""
        if value is None:
            return ()
        if not isinstance(value, list):
            self.note(keys, invalid(f"must be a list, not {type_name(value)}"))
            return ()
        return value

    def resolved(self, path: str) -> Path:
        """A path that starts where the file is; ``~`` and ``$NAME`` are known."""
        return Path(os.path.abspath(self.path.parent / os.path.expanduser(os.path.expandvars(path))))
