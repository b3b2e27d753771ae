# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a snapshot: collectors side by side, each with its own time (spec/engine.md 8.1)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, cast

from ..artifacts.snapshot import Snapshot, SnapshotHeader, Subtype, new_snapshot
from ..errors import AicrError, Code, combined, not_found
from . import k8s, mariadb, slinky, topology
from .collectors import TIMEOUTS
from .connection import Connection, Deadline
from .findings import Findings, measurements
from .k8s import NodeSample
from .nodes import NodePass, NodeTotal
from .read import Reader
from .topology import Topology

GRACE_SECONDS = 0.5
"""A collector whose own request runs out of time says more than the clock can; it gets a moment for it."""

_TYPES = {"topology": topology.TYPE}
_ALONE = {"mariadb": mariadb.SUBTYPE, "slinky": slinky.SUBTYPE}


class Collected(NamedTuple):
    """A snapshot, what to tell about it, and its gaps."""

    snapshot: Snapshot
    warnings: tuple[str, ...]
    incomplete: tuple[str, ...]


def collect(
    connection: Connection,
    collectors: Iterable[str] = tuple(TIMEOUTS),
    timeouts: Mapping[str, float] | None = None,
    max_nodes_per_entry: int = 0,
    on_partial: str = "accept",
    *,
    now: datetime,
    tool_version: str,
) -> Collected:
    """Read a cluster; nothing is written there.

    A right, a kind or time that is lacking leaves a gap, by name; whatever else was read stands.

    :param timeouts: seconds by collector, in place of :data:`TIMEOUTS`.
    :param max_nodes_per_entry: name no more nodes for a label or taint; 0 names all.
    :param on_partial: ``accept`` or ``fail``: what to do about gaps.
    :raises AicrError: SERVICE_UNAVAILABLE if the API cannot be reached, UNAUTHORIZED if the login is rejected; what all
        gaps have in common if nothing at all could be read; NOT_FOUND for gaps with ``on_partial`` ``fail``.
    """
    seconds = {name: (timeouts or {}).get(name, TIMEOUTS[name]) for name in dict.fromkeys(collectors)}
    runs = _Runs(connection, seconds, max_nodes_per_entry)
    findings = runs.finish()
    gaps = {name: error for found in findings for name, error in found.gaps.items()}
    incomplete = tuple(sorted(f"{name}: {error.message}" for name, error in gaps.items()))
    measured = measurements(findings)
    if not any(map(_is_known, (subtype for found in findings for subtype in found.subtypes))):
        raise combined(list(gaps.values())) if gaps else not_found(f"{connection.name}: nothing could be read")
    if incomplete and on_partial == "fail":
        raise not_found(
            "the snapshot would have gaps: " + "; ".join(incomplete),
            "; ".join(sorted({error.hint for error in gaps.values() if error.hint} | {"or set on_partial to accept"})),
            incomplete=list(incomplete),
        )
    header = SnapshotHeader(now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), tool_version, runs.sampled)
    warnings = ("the snapshot has gaps: " + "; ".join(incomplete),) if incomplete else ()
    return Collected(new_snapshot(measured, header, incomplete), warnings, incomplete)


def _is_known(subtype: Subtype) -> bool:
    return subtype.data is None or subtype.data.get("collection-state") != "unknown"


class _Runs:
    """The collectors of one snapshot while they run."""

    def __init__(self, connection: Connection, seconds: Mapping[str, float], max_nodes_per_entry: int) -> None:
        self.sampled: str | None = None
        self._connection, self._most = connection, max_nodes_per_entry
        self._ended: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()
        self._findings = {name: Findings(_TYPES.get(name, k8s.TYPE)) for name in seconds}
        totals: dict[str, type[NodeTotal]] = {}
        if "k8s" in seconds:
            totals[k8s.SAMPLE] = NodeSample
        if "topology" in seconds:
            totals[topology.TYPE] = Topology
        self._nodes = (
            NodePass(connection, max(seconds[name] for name in seconds if name in ("k8s", "topology")), totals)
            if totals
            else None
        )
        self._deadlines = {name: Deadline(time_left) for name, time_left in seconds.items()}
        for name in seconds:
            threading.Thread(target=self._run, args=(name,), daemon=True).start()

    def _run(self, name: str) -> None:
        error: BaseException | None = None
        try:
            self._collect(name, Reader(self._connection, self._deadlines[name]), self._findings[name])
        except BaseException as raised:
            error = raised
        self._ended.put((name, error))

    def _collect(self, name: str, reader: Reader, found: Findings) -> None:
        if name == "mariadb":
            mariadb.collect(reader, found)
        elif name == "slinky":
            slinky.collect(reader, found)
        elif name == "k8s" and self._nodes:
            self.sampled = k8s.collect(reader, found, self._nodes)
        elif self._nodes:
            with found.tolerate():
                total = self._nodes.total(topology.TYPE, reader.deadline)
                cast(Topology, total).measure(found, self._most)

    def finish(self) -> list[Findings]:
        """Wait for all of them, each until its own time is over.

        :raises AicrError: the first error that is more than a gap; the others are not waited for.
        """
        running = dict(self._deadlines)
        while running:
            wait = min(deadline.left for deadline in running.values()) + GRACE_SECONDS
            try:
                name, error = self._ended.get(timeout=wait)
            except queue.Empty:
                for name in [name for name, deadline in running.items() if not deadline.left]:
                    self._leave_behind(name, running.pop(name).seconds)
                continue
            if name in running:
                del running[name]
                if error is not None:
                    raise error
        return list(self._findings.values())

    def _leave_behind(self, name: str, seconds: float) -> None:
        """The late one may go on writing into findings that nobody reads any more."""
        late, found = self._findings[name], Findings(_TYPES.get(name, k8s.TYPE))
        for subtype in late.subtypes:
            found.add(subtype.subtype, subtype.data or {}, subtype.items or ())
        found.gaps.update(late.gaps)
        found.gap(
            AicrError(Code.TIMEOUT, f"was not read to the end within {seconds:g} s", f"raise timeouts.{name}"),
            _ALONE.get(name, ""),
        )
        self._findings[name] = found
