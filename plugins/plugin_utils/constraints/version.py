# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions as clusters report them: one to three numbers and whatever a vendor hangs on (spec/engine.md 3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import invalid

_SUFFIX = re.compile(r"(?<=[0-9])[-+]")
_NUMBER = re.compile(r"[0-9]+")
_GKE = re.compile(r"-gke\.([0-9]+)")


@dataclass(frozen=True)
class Version:
    """One to three numbers; how many there are is the precision to which it says anything.

    :ivar numbers: major, then minor and patch as far as they were written.
    :ivar suffix: what follows them, with its sign: ``-eks-3025e55``, ``+rke2r1``, ``+``.
    """

    numbers: tuple[int, ...]
    suffix: str = ""

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read ``v1.33.5-eks-3025e55``, ``6.8.0-1028-aws``, ``24.04`` or ``1.28+``.

        :raises AicrError: INVALID_REQUEST: nothing there, a part that is no number, or more than three of them.
        """
        bare = text.strip().removeprefix("v")
        start = _SUFFIX.search(bare)
        main, suffix = (bare[: start.start()], bare[start.start() :]) if start else (bare, "")
        parts = main.split(".")
        wrong = next((part for part in parts if not _NUMBER.fullmatch(part)), None)
        if wrong is not None:
            raise invalid(f'"{text}" is no version: its part "{wrong}" is not a number')
        if len(parts) > 3:
            raise invalid(f'"{text}" is no version: it has more than three numbers')
        return cls(tuple(map(int, parts)), suffix)

    def compare(self, other: Version) -> int:
        """Below, at or above zero as this is older than, level with or newer than the other.

        Only the numbers that both have count, so ``1.33.5`` is level with ``1.33``. A vendor's suffix says nothing
        about age, also ``-rc.1`` does not, except GKE's build number where all three numbers are the same.

        :raises AicrError: INVALID_REQUEST: a GKE suffix without a build number.
        """
        builds = self.gke_build(), other.gke_build()
        precision = min(len(self.numbers), len(other.numbers))
        mine, theirs = self.numbers[:precision], other.numbers[:precision]
        if mine != theirs:
            return 1 if mine > theirs else -1
        if precision < 3:
            return 0
        mine_built, theirs_built = (-1 if build is None else build for build in builds)
        return (mine_built > theirs_built) - (mine_built < theirs_built)

    def equals(self, other: Version) -> bool:
        """Whether the numbers are the same, missing ones counting as 0; suffixes do not count."""
        return self.filled() == other.filled()

    def filled(self) -> tuple[int, ...]:
        """Major, minor and patch."""
        return (*self.numbers, 0, 0)[:3]

    def gke_build(self) -> int | None:
        """GKE's build number in the suffix, ``None`` on any other version.

        :raises AicrError: INVALID_REQUEST: the suffix begins like GKE's and has no number.
        """
        if self.suffix != "-gke" and not self.suffix.startswith("-gke."):
            return None
        build = _GKE.fullmatch(self.suffix)
        if not build:
            raise invalid(
                f'the version suffix "{self.suffix}" is no GKE build', 'write "-gke." and a number, or leave it out'
            )
        return int(build[1])
