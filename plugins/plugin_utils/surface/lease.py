# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Lease of a run: its action, and the options of every action that works under it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ..cluster import lease
from ..cluster.address import NAME, NAMESPACE
from ..cluster.connection import Connection
from ..errors import invalid, raise_all
from .action import Result
from .cluster import connect
from .options import CLUSTER, Options, Spec

RUN: Spec = {
    "run": {"type": "str"},
    "lease": {
        "type": "dict",
        "default": {},
        "options": {
            "namespace": {"type": "str", "default": lease.NAMESPACE},
            "name": {"type": "str", "default": lease.NAME},
        },
    },
}
"""What every action has that works under a Lease (fragment ``_options.run``)."""
SPEC: Spec = {
    **CLUSTER,
    "run": {"type": "str", "required": True},
    "namespace": {"type": "str", "default": lease.NAMESPACE},
    "name": {"type": "str", "default": lease.NAME},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def working(
    options: Options, connection: Connection, *, check_mode: bool
) -> AbstractContextManager[Callable[[], None]]:
    """Hold the Lease that the options name while a block works; none in check mode, nor where no run is named.

    See :func:`cluster.lease.keep` for what it yields and raises.
    """
    given = options["lease"]
    place = _place(given["namespace"], given["name"], "lease.")
    return lease.keep(connection, None if check_mode else options["run"] or None, place)


def make_lease(options: Options, *, check_mode: bool) -> Result:
    """Take, renew or give back the Lease of a run.

    :param check_mode: write nothing, but refuse what would be refused.
    :raises AicrError: see :func:`cluster.lease.take` and :func:`cluster.lease.give_back`.
    """
    place = _place(options["namespace"], options["name"], "")
    connection, run = connect(options), options["run"]
    if options["state"] == "absent":
        holder = lease.give_back(connection, run, place, dry_run=check_mode)
        return _Made(str(place), run, acquired=False, warnings=_held(holder, run, place, check_mode=check_mode))
    taken = lease.check(connection, run, place) if check_mode else lease.take(connection, run, place)
    return _Made(str(place), run, acquired=taken.acquired, warnings=_inherited(taken.dead, place, check_mode))


def _held(holder: lease.Holder, run: str, place: lease.Place, *, check_mode: bool) -> list[str]:
    """Whose Lease is not given back. A check took none, so where the holder is dead it is the one that the run would
    have taken over, which was said then."""
    if holder.run in ("", run) or (check_mode and not holder.alive):
        return []
    return [f'Lease {place}: {"would stay" if check_mode else "stays"}, it is held by another run, "{holder.run}"']


def _inherited(dead: lease.Holder | None, place: lease.Place, check_mode: bool) -> list[str]:
    if dead is None:
        return []
    why = "states no time at which it expires"
    if dead.expires:
        why = f"gave no sign of life until it expired at {dead.expires:%Y-%m-%dT%H:%M:%SZ}"
    done = "would be taken over" if check_mode else "taken over"
    return [f'Lease {place}: {done} from the run "{dead.run}", which {why}; see what it has left half done']


def _place(namespace: str, name: str, prefix: str) -> lease.Place:
    problems = [
        invalid(f'{prefix}{key}: "{value}" is no name of a {noun}')
        for key, value, form, noun in (("namespace", namespace, NAMESPACE, "namespace"), ("name", name, NAME, "Lease"))
        if not form.fullmatch(value)
    ]
    raise_all(problems)
    return lease.Place(namespace, name)


@dataclass(frozen=True)
class _Made:
    """A Lease comes and goes with its run, so it is no change of the cluster."""

    place: str
    run: str
    acquired: bool
    warnings: list[str]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del check_mode, diff, return_document
        return {
            "changed": False,
            "lease": self.place,
            "run": self.run,
            "acquired": self.acquired,
            "warnings": self.warnings,
        }
