# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring Helm releases about: what is installed decides whether anything is to be done, and for that alone helm starts.

The decision rests on what goes into a release (chart, version, content, values), never on what comes out of it: charts
that make random secrets render something else each time (spec/cases.md K1, K3).
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..errors import AicrError, Code, conflict, not_found, raise_all
from . import namespaces
from .chart_source import Chart, same_version
from .connection import Connection, Deadline
from .helm import Helm, Upgrade
from .helm_error import PASSING, SERVER_FAULT
from .presence import Presence
from .read import Reader
from .release_state import ATTEMPT_LABEL, DIGEST_LABEL, UNDER_LEASE, Installed, find, mark_failed, way_out
from .release_values import differences, texts
from .request import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS

AT_ONCE = 4
"""So many components are worked on side by side; each helm takes 100 MB."""

_READ_SECONDS = 60.0
_SHOWN = 6


@dataclass(frozen=True)
class Wanted:
    """A release as it shall be.

    :ivar component: releases of one component are brought about one after the other, in the order given.
    :ivar values: everything that its user gives, merged.
    :ivar private: those of them that are shown nowhere.
    """

    namespace: str
    name: str
    component: str
    chart: Chart
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    private: Mapping[str, Any] = field(default_factory=dict, repr=False)
    create_namespace: bool = True
    take_ownership: bool = False

    def __str__(self) -> str:
        return f"release {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Planned:
    """A release, what is installed of it, and why that is not what shall be.

    :ivar why: empty if nothing is to be done.
    """

    wanted: Wanted
    installed: Installed | None
    why: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """What became of a release, or would.

    :ivar installed: what is installed now.
    :ivar rendered: its objects as they are now, or would be, if anything changed; they may hold secrets.
    :ivar predicted: in check mode, why the cluster could not judge it.
    """

    planned: Planned
    installed: Installed | None
    rendered: str | None = field(default=None, repr=False)
    predicted: str = ""


@dataclass
class Report:
    """What became of all releases.

    :ivar problems: what went wrong, each with the release in ``details``.
    :ivar begun_not: the releases that were not begun after that.
    """

    done: list[Done] = field(default_factory=list)
    problems: list[AicrError] = field(default_factory=list)
    begun_not: list[Wanted] = field(default_factory=list)


def plan(connection: Connection, wanted: Sequence[Wanted], *, recover: bool = False) -> list[Planned]:
    """Compare what shall be with what is installed; no helm is started.

    :param recover: take a release whose helm a dead run has left in the middle for one that is not as it shall be.
    :raises AicrError: CONFLICT with every release that a helm is at work on, or was ended in the middle of; see
        :func:`release_state.find`.
    """
    reader = Reader(connection, Deadline(_READ_SECONDS))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda one: find(reader, one.namespace, one.name), wanted))
    pairs = list(zip(wanted, found, strict=True))
    raise_all(
        _in_between(one, installed)
        for one, installed in pairs
        if installed and installed.is_pending and not (recover and installed.is_left_by_a_run)
    )
    presence = Presence(reader)
    return [Planned(one, installed, reasons(one, installed, presence)) for one, installed in pairs]


def reasons(wanted: Wanted, installed: Installed | None, presence: Presence) -> tuple[str, ...]:
    """Why a release is to be installed or upgraded; values are named, never shown.

    :param presence: what else somebody may have removed of one that is recorded as it shall be.
    """
    recorded = tuple(_differing(wanted, installed))
    if recorded or installed is None:
        return recorded
    gone = presence.missing(installed.manifest, wanted.namespace)
    return (f"of its objects there are not: {_some(gone)}",) if gone else ()


def _differing(wanted: Wanted, installed: Installed | None) -> Iterator[str]:
    if installed is None or installed.is_uninstalled:
        yield "it is not installed"
        return
    if installed.status != "deployed":
        yield f"its revision {installed.revision} is {installed.status}"
    chart = wanted.chart
    if installed.chart != chart.name or not same_version(installed.version, chart.version):
        yield f"its chart is {installed.chart} {installed.version}, not {chart}"
    elif chart.digest is not None and installed.digest != chart.digest:
        yield "the content of its chart differs" if installed.digest else "the content of its chart is not known"
    paths = differences(installed.values, wanted.values)
    if paths:
        yield f"its values differ: {_some(paths)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def bring_about(
    connection: Connection,
    helm: Helm,
    planned: Sequence[Planned],
    begin: Callable[[], None],
    tell: Callable[[str], None],
    *,
    under_lease: bool = False,
) -> Report:
    """Install or upgrade what is to be; what cannot be done keeps no other component from being done.

    :param begin: raises if nothing new may be begun.
    :param tell: takes a line each time that a helm is started again.
    :param under_lease: whether ``begin`` watches over the Lease of a run.
    """
    absent = namespaces.missing(connection, (one.wanted.namespace for one in planned))

    def work(one: Planned) -> Done:
        _require_namespace(one, absent)
        if one.wanted.namespace in absent:
            namespaces.make(connection, one.wanted.namespace)
        if one.installed and one.installed.is_pending:
            mark_failed(connection, one.installed)
        installed = _in_force(connection, helm, one, begin, tell, under_lease)
        return Done(one, installed, installed.manifest if installed else None)

    return _side_by_side(planned, work, begin, helm.end)


def rehearse(connection: Connection, helm: Helm, planned: Sequence[Planned]) -> Report:
    """Have helm and the API server judge what would be installed or upgraded; nothing is written.

    What they cannot judge, since its namespace or kinds are not there yet, is predicted from what is installed.
    """
    absent = namespaces.missing(connection, (one.wanted.namespace for one in planned))

    def work(one: Planned) -> Done:
        _require_namespace(one, absent)
        if one.installed and one.installed.is_pending:
            return Done(one, one.installed, None, "helm judges it once its revision in between is marked as failed")
        try:
            rendered = helm.rehearse(_upgrade(one))
        except AicrError as error:
            if error.details.get("reason") not in ("kind-not-served", "namespace-missing"):
                raise _with_state(error, one, one.installed) from error
            return Done(one, one.installed, None, error.message)
        return Done(
            one,
            one.installed,
            rendered,
            f"namespace {one.wanted.namespace} is not there yet" if one.wanted.namespace in absent else "",
        )

    return _side_by_side(planned, work, lambda: None, helm.end)


def _in_force(
    connection: Connection,
    helm: Helm,
    one: Planned,
    begin: Callable[[], None],
    tell: Callable[[str], None],
    under_lease: bool,
) -> Installed | None:
    """Start helm until it succeeds or fails for good, since helm gives up at the first fault of the API server.

    To start it again does what the next run would do.

    :returns: what is installed now.
    """
    deadline, pause = Deadline(helm.timeout), FIRST_PAUSE_SECONDS
    while True:
        attempt = (UNDER_LEASE if under_lease else "task-") + uuid.uuid4().hex
        error: AicrError | None = None
        try:
            helm.upgrade(_upgrade(one, attempt))
        except AicrError as failure:
            error = failure
        state, unwritten = _state_after(connection, one, attempt)
        if state and state.attempt == attempt and state.status == "deployed":
            return state  # what went wrong, if anything, came after its last write
        if error is None:
            if not unwritten:
                return state
            error = AicrError(
                Code.SERVICE_UNAVAILABLE,
                f"{one.wanted}: helm ended well, and could not write that down",
                "see the log of the API server, then run again",
                {"reason": SERVER_FAULT},
            )
        passes = error.details.get("reason") in PASSING and not (state and state.is_pending)
        if not passes or pause >= deadline.left:
            raise _with_state(error, one, state) from error
        tell(f"{connection.name}: {error.message}; helm is started again, {deadline.left:.0f} s are left")
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        begin()


def _side_by_side(
    planned: Sequence[Planned], work: Callable[[Planned], Done], begin: Callable[[], None], end: Callable[[], None]
) -> Report:
    """Components in threads; within one the first failure leaves the rest undone.

    :param end: ends what is at work: the pool would wait for it, also after the task's own ``timeout``.
    """
    components: dict[str, list[Planned]] = {}
    for one in planned:
        components.setdefault(one.wanted.component, []).append(one)

    def all_of(component: list[Planned]) -> Report:
        report = Report()
        left = [one.wanted for one in component]
        try:
            for one in component:
                begin()
                left.remove(one.wanted)
                report.done.append(work(one))
        except AicrError as error:
            report.problems.append(error)
            report.begun_not += left
        return report

    whole = Report()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for report in pool.map(all_of, components.values()):
                whole.done += report.done
                whole.problems += report.problems
                whole.begun_not += report.begun_not
        except BaseException:
            end()
            raise
    return whole


def _upgrade(one: Planned, attempt: str = "") -> Upgrade:
    wanted, chart = one.wanted, one.wanted.chart
    marks = {ATTEMPT_LABEL: attempt} if attempt else {}
    known = one.installed is not None and one.installed.digest is not None
    return Upgrade(
        namespace=wanted.namespace,
        name=wanted.name,
        chart=chart.reference,
        version=chart.version,
        values=wanted.values,
        repository=chart.repository,
        labels=marks | ({DIGEST_LABEL: chart.digest} if chart.digest or known else {}),
        take_ownership=wanted.take_ownership,
        secrets=texts(wanted.private),
    )


def _require_namespace(one: Planned, absent: set[str]) -> None:
    wanted = one.wanted
    if wanted.namespace in absent and not wanted.create_namespace:
        raise not_found(
            f"{wanted}: there is no namespace {wanted.namespace}",
            "make it, or set create_namespace",
            release=wanted.name,
            namespace=wanted.namespace,
        )


def _state(connection: Connection, one: Planned) -> Installed | None:
    """What is installed after helm; that it cannot be asked must not hide what helm said."""
    with contextlib.suppress(AicrError):
        return find(Reader(connection, Deadline(_READ_SECONDS)), one.wanted.namespace, one.wanted.name)
    return None


def _state_after(connection: Connection, one: Planned, attempt: str) -> tuple[Installed | None, bool]:
    """What is installed after a helm of ours, and whether it could not write down how it ended.

    That is then written here: it has ended before our eyes, so nobody is at work on the revision that bears its mark.
    """
    state = _state(connection, one)
    if state is None or not state.is_pending or state.attempt != attempt:
        return state, False
    with contextlib.suppress(AicrError):  # it stays in between, and that is told
        mark_failed(connection, state)
    return _state(connection, one), True


def _with_state(error: AicrError, one: Planned, state: Installed | None) -> AicrError:
    """An error with the state that the release is in."""
    told = f"its revision {state.revision} is {state.status}" if state else "there is no revision of it"
    hint = error.hint
    if state and state.is_pending:
        hint = f"{hint}; {way_out(one.wanted.namespace, one.wanted.name, state, 'recover')}"
    where = {
        "release": one.wanted.name,
        "namespace": one.wanted.namespace,
        "component": one.wanted.component,
        "revision": state.revision if state else None,
        "status": state.status if state else "absent",
    }
    return AicrError(error.code, f"{error.message} ({told})", hint, {**error.details, **where})


def _in_between(wanted: Wanted, installed: Installed) -> AicrError:
    """Nobody but a person can tell a helm that works elsewhere from one that was killed (spec/cases.md H10).

    Of one that a run has begun the Lease tells, so a run may go on with it, if it is asked to.
    """
    return conflict(
        f"{wanted}: its revision {installed.revision} is {installed.status} since {installed.changed}: "
        "another helm works on it, or one was ended in the middle; nothing was changed",
        way_out(wanted.namespace, wanted.name, installed, "recover"),
        release=wanted.name,
        namespace=wanted.namespace,
        component=wanted.component,
        revision=installed.revision,
        status=installed.status,
        since=installed.changed,
        last_good=installed.last_good,
    )
