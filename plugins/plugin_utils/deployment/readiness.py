# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until what is expected of components holds, all of it at once and for a while, or say what does not.

A passing failure is not final and a first success not lasting. Before anybody is told that all is ready, everything is
read once more: a watch whose connection died unnoticed cannot say so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from ..cluster.connection import Connection, Deadline
from ..cluster.discovery import Kind
from ..cluster.read import Reader
from ..cluster.request import AT_ONCE, is_gap
from ..cluster.review import Right, require
from ..cluster.watch import QUEUE, REQUEST_SECONDS, Event, Listed, Target, Unserved, Watcher, find_target, list_target
from ..constraints.assertion import Trouble
from ..errors import AicrError, Code
from .board import Aim, Board, Component
from .expectations import Expectation, Expected
from .explanation import SECONDS as EXPLAIN_SECONDS
from .explanation import Explanation, explain
from .traps import crashes

STABLE_SECONDS = 1.0
TELL_SECONDS = 15.0
"""How often a line says what is waited for."""

_HINT = "readiness only looks: let the caller list and watch these, and give the right for the namespaces named"


@dataclass(frozen=True)
class Verdict:
    """What became of one component.

    :ivar ready: whether everything held, for as long as it had to.
    :ivar seconds: how long it took to hold, or was waited for.
    :ivar assertions: each expectation: what it is about, where it comes from, why it does not hold.
    :ivar explanations: what the cluster says of the objects that it does not hold of.
    """

    component: str
    ready: bool
    seconds: float
    assertions: tuple[Assertion, ...]
    explanations: tuple[Explanation, ...] = ()

    @property
    def troubles(self) -> list[Trouble]:
        """Why it is not ready."""
        return [trouble for assertion in self.assertions for trouble in assertion.troubles]


@dataclass(frozen=True)
class Assertion:
    """One expectation, judged.

    :ivar of: which objects it is about.
    :ivar forbids: whether it is about what must not be.
    :ivar troubles: why it does not hold; empty if it does.
    """

    of: str
    source: str
    forbids: bool
    troubles: tuple[Trouble, ...]


def look(connection: Connection, expected: Sequence[Expected]) -> list[Verdict]:
    """What holds right now.

    :raises AicrError: see :func:`await_ready`.
    """
    board = Board(expected)
    kinds = _kinds(connection, board)
    _read(connection, board, kinds)
    return [_verdict(board, component, not component.open, 0.0) for component in board.components]


@dataclass(frozen=True)
class Unread:
    """An expectation of which nothing is known, since the API server does not show what it is about."""

    component: str
    expectation: Expectation
    why: AicrError


def readable(connection: Connection, expected: Sequence[Expected]) -> tuple[list[Expected], list[Unread]]:
    """Part what can be judged from what cannot be read, each by itself.

    A component of which nothing can be read is among the former no longer. It is for when :func:`look` or
    :func:`await_ready` has raised: every target is asked for alone, which takes many requests.
    """
    board = Board(expected)
    blocked: dict[Target, AicrError] = {}
    served: dict[tuple[str, str], Kind | None] = {}
    lost: AicrError | None = None
    for target, fields in board.targets.items():
        try:
            if lost is not None:
                raise lost
            kind = find_target(Reader(connection, Deadline(REQUEST_SECONDS)), target, served)
            if kind is not None:
                require(connection, _rights(target, kind), _HINT)
                list_target(connection, target, kind, fields)
        except AicrError as error:
            blocked[target] = error
            lost = error if _concerns_everything(error) else None
    seen: list[Expected] = []
    unread: list[Unread] = []
    for each, component in zip(expected, board.components, strict=True):
        left = tuple(aim.expectation for aim in component.aims if aim.target not in blocked)
        unread += [
            Unread(each.component, aim.expectation, blocked[aim.target])
            for aim in component.aims
            if aim.target in blocked
        ]
        if left or not each.expectations:
            seen.append(replace(each, expectations=left))
    return seen, unread


def _concerns_everything(error: AicrError) -> bool:
    """Whether what is asked next would end likewise: no answer in time, a lost transport, a rejected login."""
    status = error.details.get("status")
    return status == 401 or (status is None and error.code in (Code.SERVICE_UNAVAILABLE, Code.TIMEOUT))


def await_ready(
    connection: Connection,
    expected: Sequence[Expected],
    *,
    timeout: float | None = None,
    stable: float = STABLE_SECONDS,
    tell: Callable[[str], None] = lambda _unused: None,
    check: Callable[[], None] = lambda: None,
) -> list[Verdict]:
    """Wait until everything holds.

    :param timeout: how many seconds each component may take, in place of what its health check says.
    :param stable: for how many seconds everything must hold.
    :param tell: takes a line about what is waited for, every :data:`TELL_SECONDS`.
    :param check: raises what ends the wait (a lost Lease).
    :returns: one verdict for each component; those of a wait that ended too soon say what does not hold.
    :raises AicrError: INVALID_REQUEST for an object without its namespace; UNAUTHORIZED with every right that is
        missing; see :func:`request.ask` for what else the cluster refuses. What only passes is waited out.
    """
    board = Board(expected)
    kinds = _kinds(connection, board)
    limits = {component.name: timeout or component.seconds for component in board.components}
    begun = told = time.monotonic()
    ready_at: dict[str, float] = {}
    with Watcher(connection, board.targets, kinds) as watcher:
        board.settle(begun)
        while True:
            check()
            pending = _take_pending(watcher, board, _until_next(board, stable, told + TELL_SECONDS))
            now = time.monotonic()
            ready = [component for component in board.components if board.is_ready(component, now, stable)]
            for component in ready:
                ready_at.setdefault(component.name, now - begun)
            if len(ready) == len(board.components) and not pending:
                if _still(connection, expected, kinds):
                    return [_verdict(board, component, True, ready_at[component.name]) for component in ready]
                board.restart(time.monotonic())
                ready = []
            passed = now - begun
            late = [name for name, limit in limits.items() if passed >= limit and name not in ready_at]
            if late or passed >= max(limits.values()):
                break
            if now - told >= TELL_SECONDS:
                told = now
                tell(_progress(board, ready, max(limits.values()) - passed))
    reader = Reader(connection, Deadline(EXPLAIN_SECONDS))
    return [
        _verdict(board, component, True, ready_at[component.name])
        if component in ready
        else _verdict(board, component, False, passed, explain(reader, board, component))
        for component in board.components
    ]


def _take_pending(watcher: Watcher, board: Board, seconds: float) -> bool:
    """Wait for an event, and take all that there are by then; returns whether there may be more."""
    event = watcher.next(seconds)
    for _number in range(QUEUE):
        if event is None:
            return False
        board.take(event, time.monotonic())
        event = watcher.next(0)
    if event is not None:
        board.take(event, time.monotonic())
    return True


def _until_next(board: Board, stable: float, tell_at: float) -> float:
    """How long nothing need be done unless something happens."""
    now = time.monotonic()
    due = [tell_at, now + 1.0, *(one.since + stable for one in board.components if one.since is not None)]
    return max(0.01, min(moment for moment in due if moment > now) - now) if tell_at > now else 0.01


def _kinds(connection: Connection, board: Board) -> dict[Target, Kind | None]:
    """How each target is served, after the rights to look at them were asked for."""
    reader = Reader(connection, Deadline(REQUEST_SECONDS))
    served: dict[tuple[str, str], Kind | None] = {}
    kinds = {target: find_target(reader, target, served) for target in board.targets}
    rights = [right for target, kind in kinds.items() if kind is not None for right in _rights(target, kind)]
    require(connection, rights, _HINT)
    return kinds


def _rights(target: Target, kind: Kind) -> list[Right]:
    """What it takes to follow a target."""
    return [Right(verb, kind.group, kind.resource, target.namespace, target.name) for verb in ("list", "watch")]


def _read(connection: Connection, board: Board, kinds: Mapping[Target, Kind | None]) -> None:
    def read(target: Target) -> Event:
        kind = kinds[target]
        return (
            Listed(target, list_target(connection, target, kind, board.targets[target])[0])
            if kind
            else Unserved(target)
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for event in pool.map(read, board.targets):
            board.take(event, 0.0)
    board.settle(0.0)


def _still(connection: Connection, expected: Sequence[Expected], kinds: Mapping[Target, Kind | None]) -> bool:
    """Whether everything holds of what the API server says now; it does not while there is no answer."""
    board = Board(expected)
    reader = Reader(connection, Deadline(REQUEST_SECONDS))
    try:
        fresh = {target: kind or find_target(reader, target) for target, kind in kinds.items()}
        _read(connection, board, fresh)
    except AicrError as error:
        if not is_gap(error) and error.code is not Code.SERVICE_UNAVAILABLE:
            raise
        return False
    return not any(component.open for component in board.components)


def _verdict(
    board: Board, component: Component, ready: bool, seconds: float, explanations: tuple[Explanation, ...] = ()
) -> Verdict:
    assertions = tuple(
        Assertion(
            str(aim.expectation.selection),
            aim.expectation.source,
            aim.expectation.forbids,
            () if ready else tuple(_troubles(board, component, aim)),
        )
        for aim in component.aims
    )
    return Verdict(component.name, ready, round(seconds, 1), assertions, explanations)


def _troubles(board: Board, component: Component, aim: Aim) -> Iterator[Trouble]:
    of = str(aim.expectation.selection)
    lost = board.lost(aim.target, time.monotonic())
    if lost is not None:
        yield Trouble(of, "", "to be in sight", lost.message)
    elif aim.troubles is None:
        yield Trouble(of, "", "to be read", "no answer of the API server")
    yield from aim.troubles or ()
    if aim.holds and component.open:
        return
    yield from aim.before if aim.holds else ()
    if aim.changes > 1:
        yield Trouble(of, "", "to last", f"a state that changed {aim.changes} times")


def _slurmctld_waits(board: Board, component: Component) -> bool:
    """Whether slurmctld ends again and again for want of slurmdbd (spec/slurm-accounting.md 2.9, case S1)."""
    down = any(
        aim.expectation.rolled_out and "-accounting" in (aim.expectation.selection.name or "") for aim in component.open
    )
    return down and any(
        crashes(pod, "slurmctld")
        for aim in component.open
        if aim.expectation.selection.kind == "Pod"
        for pod in board.offenders(aim)
    )


def _progress(board: Board, ready: Sequence[Component], left: float) -> str:
    waiting = [component for component in board.components if component not in ready]
    parts = []
    for component in waiting[:3]:
        aims = component.open
        first = next((trouble for aim in aims for trouble in aim.troubles or ()), None)
        more = f" and {len(aims) - 1} more" if len(aims) > 1 else ""
        why = f"{first}{more}" if first else "its state to last" if not aims else "the API server's answer"
        note = (
            "; slurmctld restarts until slurmdbd answers, which is expected"
            if _slurmctld_waits(board, component)
            else ""
        )
        parts.append(f"{component.name} waits for {why}{note}")
    if len(waiting) > len(parts):
        parts.append(f"{len(waiting) - len(parts)} more wait")
    blind = next(iter(board.blind.values()), None)
    parts += [f"not seen at present: {blind.message}"] if blind else []
    return f"readiness: {len(ready)} of {len(board.components)} ready; {'; '.join(parts)}; {max(0, left):.0f} s left"
