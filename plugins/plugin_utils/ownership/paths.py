# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one path model of ownership: exact, ancestor and descendant paths intersect (ADR-016 section 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..errors import AicrError, invalid

_SEGMENT = re.compile(r"(?:\\.|[^.\\\[])+|\[[^\]]*]?")
_ESCAPE = re.compile(r"\\(.)")


@lru_cache(maxsize=4096)
def segments(path: str) -> tuple[str, ...]:
    r"""The keys of a values path: split at dots that no backslash escapes; ``users[0]`` lies below ``users``."""
    return tuple(_ESCAPE.sub(r"\1", segment) for segment in _SEGMENT.findall(path))


def intersects(one: str, other: str) -> bool:
    """Whether two paths are equal or one lies below the other; segments are compared, not text."""
    return all(mine == theirs for mine, theirs in zip(segments(one), segments(other), strict=False))


@dataclass(frozen=True)
class Ownership:
    """The paths that one decision owns.

    :ivar owner: the decision as messages call it, such as ``configuration.slurm.accounting.mode=disabled``.
    :ivar paths: component name to owned paths.
    """

    owner: str
    paths: Mapping[str, tuple[str, ...]]

    def touching(self, component: str, path: str) -> str | None:
        """The first owned path that an override of ``path`` would reach, or ``None``."""
        return next((owned for owned in self.paths.get(component, ()) if intersects(owned, path)), None)


def conflict(one: Ownership, other: Ownership) -> AicrError | None:
    """The first path that two decisions both claim, by component and path in sorted order; there is no precedence."""
    for component in sorted(one.paths.keys() & other.paths.keys()):
        for path in sorted(one.paths[component]):
            theirs = next((owned for owned in sorted(other.paths[component]) if intersects(owned, path)), None)
            if theirs is not None:
                return invalid(
                    f"{component}:{path} is owned by {one.owner} and {component}:{theirs} by {other.owner}",
                    "one of the two has to leave this path alone",
                    component=component,
                    path=path,
                    owners=[one.owner, other.owner],
                )
    return None
