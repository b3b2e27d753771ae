# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove Helm releases, one after the other: an operator must still be there while its objects go.

Helm waits until everything of a release is gone, dependents first (spec/slurm-accounting.md 3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import AicrError, conflict, raise_all
from .connection import Connection, Deadline
from .helm import Helm
from .read import Reader
from .release_state import UNINSTALLING, Installed, find, way_out

_READ_SECONDS = 60.0


@dataclass(frozen=True)
class Leaving:
    """A release that shall not be, and what there is of it."""

    namespace: str
    name: str
    installed: Installed | None

    @property
    def is_in_between(self) -> bool:
        """Whether a helm may be at work on it."""
        return self.installed is not None and self.installed.is_pending and self.installed.status != UNINSTALLING

    @property
    def is_there(self) -> bool:
        """Whether there is something to remove; a history that was kept on purpose is none."""
        return self.installed is not None and not self.installed.is_uninstalled

    def __str__(self) -> str:
        return f"release {self.namespace}/{self.name}"


def plan_removal(connection: Connection, places: Sequence[tuple[str, str]], *, recover: bool = False) -> list[Leaving]:
    """What there is of releases that shall not be; no helm is started.

    :param places: namespaces and names.
    :param recover: take one whose helm a dead run has left in the middle for one that is there.
    :raises AicrError: CONFLICT with every release that a helm may be at work on; see :func:`release_state.find`.
    """
    reader = Reader(connection, Deadline(_READ_SECONDS))
    leaving = [Leaving(namespace, name, find(reader, namespace, name)) for namespace, name in places]
    raise_all(
        _in_between(one, one.installed)
        for one in leaving
        if one.installed and one.is_in_between and not (recover and one.installed.is_left_by_a_run)
    )
    return leaving


def remove(helm: Helm, leaving: Sequence[Leaving], begin: Callable[[], None]) -> tuple[list[Leaving], AicrError | None]:
    """Remove releases in the order given; the first failure leaves the rest.

    :param begin: raises if nothing new may be begun.
    :returns: those that are gone now, and what went wrong.
    """
    gone: list[Leaving] = []
    try:
        for one in leaving:
            begin()
            helm.uninstall(one.namespace, one.name)
            gone.append(one)
    except AicrError as error:
        return gone, error
    return gone, None


def _in_between(one: Leaving, state: Installed) -> AicrError:
    return conflict(
        f"{one}: its revision {state.revision} is {state.status} since {state.changed}: "
        "another helm works on it, or one was ended in the middle; nothing was removed",
        way_out(one.namespace, one.name, state, "recover", removing=True),
        release=one.name,
        namespace=one.namespace,
    )
