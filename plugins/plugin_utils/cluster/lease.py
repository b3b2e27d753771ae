# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time on a cluster: a Lease that a run takes, that each of its actions renews, and that it gives back.

Time is the API server's, as its answers say: the clocks of two controllers need not agree. Every write names the
version that it was decided on, so of two that write at once one loses, and knows it.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import AicrError, Code, conflict, not_found
from .connection import Answer, Connection, Deadline
from .read import Object
from .request import ask, document_of

DURATION_SECONDS = 120
"""How long a run may give no sign of life."""
RENEW_SECONDS = 15.0
NAMESPACE, NAME = "default", "aicr-deployment"
LABELS: Mapping[str, str] = {"app.kubernetes.io/managed-by": "aicr.runtime"}

_REQUEST_SECONDS = 20.0
_LEEWAY_SECONDS = 60
"""By how much the clocks of two API servers of one cluster may differ."""
_ATTEMPTS = 5
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True)
class Place:
    """Where a Lease is."""

    namespace: str = NAMESPACE
    name: str = NAME

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Where the API serves it."""
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{self.name}"


@dataclass(frozen=True)
class Holder:
    """Who holds a Lease.

    :ivar run: its name; empty if nobody does.
    :ivar since: when it took it.
    :ivar expires: when it is taken for dead.
    :ivar now: what time it is for the API server.
    :ivar place: of the Lease.
    """

    run: str
    since: datetime | None
    expires: datetime | None
    now: datetime
    place: Place = Place()

    @property
    def alive(self) -> bool:
        """Whether somebody holds it. A holder that states no time never renews, so it cannot be said to be alive."""
        return bool(self.run) and self.expires is not None and self.now < self.expires

    @property
    def way_out(self) -> str:
        """What to do while somebody holds it. No run sets a Lease that lasts for longer than ours do."""
        longest = timedelta(seconds=DURATION_SECONDS + _LEEWAY_SECONDS)
        if self.expires is None or self.expires - self.now <= longest:
            return f"wait until it has ended; a run that has died is taken over after {DURATION_SECONDS} s"
        lease = f"lease {self.place.name}"
        return (
            f"no run of aicr.runtime makes a Lease that lasts until then: see who made it with "
            f"`kubectl -n {self.place.namespace} get {lease} -o yaml`, and if nobody works under it delete it with "
            f"`kubectl -n {self.place.namespace} delete {lease}`"
        )


@dataclass(frozen=True)
class Taken:
    """A Lease that is held now.

    :ivar acquired: whether it was somebody else's, or nobody's, before.
    :ivar dead: the run that held it before and gave no more sign of life.
    """

    acquired: bool
    dead: Holder | None = None


def look(connection: Connection, place: Place) -> Holder:
    """Who holds a Lease; see :func:`request.ask` for what it raises."""
    return _read(connection, place)[1]


def check(connection: Connection, run: str, place: Place) -> Taken:
    """What :func:`take` would do; nothing is written.

    :raises AicrError: CONFLICT if another run holds it.
    """
    return _judged(_read(connection, place)[1], run, place)


def take(connection: Connection, run: str, place: Place) -> Taken:
    """Take a Lease, or renew it where ``run`` holds it already. One whose holder is dead is taken over.

    :param run: the name of the run, which no other run has.
    :raises AicrError: CONFLICT if another run holds it, with its name and times; NOT_FOUND without the namespace; see
        :func:`request.ask`.
    """
    for _attempt in range(_ATTEMPTS):
        present, holder = _read(connection, place)
        taken = _judged(holder, run, place)
        if _write(connection, place, _held(present, run, place, holder.now, taken.acquired)):
            return taken
    raise conflict(f"Lease {place}: others kept changing it", "see who writes it: kubectl get lease -o yaml")


def renew(connection: Connection, run: str, place: Place) -> None:
    """Say that ``run``, which holds a Lease, is alive.

    :raises AicrError: CONFLICT if it holds it no longer; see :func:`request.ask`.
    """
    for _attempt in range(_ATTEMPTS):
        present, holder = _read(connection, place)
        if holder.run != run:
            raise _lost(holder, run, place)
        if _write(connection, place, _held(present, run, place, holder.now, False)):
            return
    raise conflict(f"Lease {place}: others kept changing it", "see who writes it: kubectl get lease -o yaml")


def give_back(connection: Connection, run: str, place: Place, *, dry_run: bool = False) -> Holder:
    """Remove a Lease that ``run`` holds; one of another run stays.

    :param dry_run: only look.
    :returns: who held it.
    :raises AicrError: see :func:`request.ask`.
    """
    present, holder = _read(connection, place)
    if present is None or holder.run != run or dry_run:
        return holder
    metadata = present["metadata"]
    only = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    body = json.dumps({"preconditions": only}).encode()
    try:
        ask(connection, place.path, Deadline(_REQUEST_SECONDS), method="DELETE", body=body)
    except AicrError as error:
        if error.details.get("status") not in (404, 409):  # it is gone, or somebody else's by now
            raise
    return holder


class Keeper:
    """A Lease while work is done under it."""

    def __init__(self, connection: Connection, run: str, place: Place, every: float) -> None:
        self._connection, self._run, self._place, self._every = connection, run, place, every
        self._stop = threading.Event()
        self._lost: AicrError | None = None
        self._renewed = Deadline(DURATION_SECONDS)
        self._thread = threading.Thread(target=self._work, name=f"lease {place}", daemon=True)

    def check(self) -> None:
        """:raises AicrError: the Lease is lost, so nothing more may be begun."""
        if self._lost is not None:
            raise self._lost

    def start(self) -> None:
        """Renew at once, and then again and again; see :func:`renew` for what it raises."""
        self._renew()
        self._thread.start()

    def stop(self) -> None:
        """End the renewing."""
        self._stop.set()
        self._thread.join(_REQUEST_SECONDS)

    def _renew(self) -> None:
        begun = Deadline(DURATION_SECONDS)  # before it is written: the server's time starts later
        renew(self._connection, self._run, self._place)
        self._renewed = begun

    def _work(self) -> None:
        while not self._stop.wait(self._every):
            if _orphaned():
                os.kill(os.getpid(), signal.SIGTERM)  # as ansible-playbook would have done at Ctrl-C
                return
            try:
                self._renew()
            except AicrError as error:
                if error.code is Code.CONFLICT:
                    self._lost = error
                    return
                if not self._renewed.left:
                    self._lost = AicrError(
                        Code.CONFLICT,
                        f"Lease {self._place}: could not be renewed for {DURATION_SECONDS} s, so another run may have "
                        f"taken it: {error.message}",
                        "see whether another run works on the cluster, then run again",
                        {"lease": str(self._place), "run": self._run},
                    )
                    return


def _orphaned() -> bool:
    """Whether the ansible-playbook that began this worker is gone: then the run has died, and must not look alive."""
    parent = multiprocessing.parent_process()
    return parent is not None and parent.pid != os.getppid()


@contextlib.contextmanager
def keep(
    connection: Connection, run: str | None, place: Place | None = None, *, every: float = RENEW_SECONDS
) -> Iterator[Callable[[], None]]:
    """Hold the Lease of a run while a block works: renewed at once, and every 15 s until the block ends.

    Yields what raises as soon as the Lease is lost; call it before something new is begun. A block that ends well after
    the Lease was lost fails, too.

    :param run: the name of the run that holds it; ``None`` works under no Lease, as in check mode.
    :raises AicrError: CONFLICT if the run holds it no longer; see :func:`request.ask`.
    """
    if run is None:
        yield lambda: None
        return
    keeper = Keeper(connection, run, place or Place(), every)
    keeper.start()
    try:
        yield keeper.check
    finally:
        keeper.stop()
    keeper.check()


def _read(connection: Connection, place: Place) -> tuple[Object | None, Holder]:
    try:
        answer = ask(connection, place.path, Deadline(_REQUEST_SECONDS))
    except AicrError as error:
        if error.details.get("status") != 404:
            raise
        # A refusal carries no time; whoever writes the first Lease of a place competes by its creation alone.
        return None, Holder("", None, None, _now(ask(connection, "/version", Deadline(_REQUEST_SECONDS))), place)
    present = document_of(answer, place.path)
    spec = present.get("spec") or {}
    renewed, seconds = _parsed(spec.get("renewTime")), spec.get("leaseDurationSeconds")
    expires = _after(renewed, seconds) if renewed and isinstance(seconds, int) else None
    run, since = str(spec.get("holderIdentity") or ""), _parsed(spec.get("acquireTime"))
    return present, Holder(run, since, expires, _now(answer), place)


def _judged(holder: Holder, run: str, place: Place) -> Taken:
    if holder.run == run:
        return Taken(False)
    if holder.alive:
        raise conflict(
            f'Lease {place}: another run, "{holder.run}", works on this cluster since {_told(holder.since)}; unless it '
            f"renews it, the Lease expires at {_told(holder.expires)}",
            holder.way_out,
            lease=str(place),
            holder=holder.run,
            since=_told(holder.since),
            expires=_told(holder.expires),
        )
    return Taken(True, holder if holder.run else None)


def _lost(holder: Holder, run: str, place: Place) -> AicrError:
    now = f'"{holder.run}" holds it since {_told(holder.since)}' if holder.run else "nobody holds it"
    return conflict(
        f'Lease {place}: the run "{run}" does not hold it: {now}',
        "a run takes the Lease before it works, and another takes it over when it gives no sign of life; "
        "see what the other one does, then run again",
        lease=str(place),
        run=run,
        holder=holder.run,
    )


def _held(present: Object | None, run: str, place: Place, now: datetime, acquired: bool) -> Object:
    """The Lease as it is written."""
    spec: dict[str, Any] = dict((present or {}).get("spec") or {})
    stamp = now.strftime(_TIME)
    if acquired or not spec.get("acquireTime"):
        transitions = spec.get("leaseTransitions")
        spec["acquireTime"] = stamp
        spec["leaseTransitions"] = (transitions if isinstance(transitions, int) else 0) + (present is not None)
    spec |= {"holderIdentity": run, "renewTime": stamp, "leaseDurationSeconds": DURATION_SECONDS}
    metadata = (present or {}).get("metadata") or {
        "name": place.name,
        "namespace": place.namespace,
        "labels": dict(LABELS),
    }
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def _write(connection: Connection, place: Place, lease: Object) -> bool:
    """Whether it was written; not if somebody was quicker.

    To write it twice, as a broken connection may make it, does no harm: the second one finds what the first one wrote.
    """
    fresh = "resourceVersion" not in lease["metadata"]
    path = place.path.rpartition("/")[0] if fresh else place.path
    try:
        ask(
            connection,
            path,
            Deadline(_REQUEST_SECONDS),
            {"fieldManager": "aicr"},
            method="POST" if fresh else "PUT",
            body=json.dumps(lease).encode(),
        )
    except AicrError as error:
        status = error.details.get("status")
        if status == 409 or (status == 404 and not fresh):  # deleted meanwhile
            return False
        if status == 404:
            raise not_found(
                f"Lease {place}: {connection.name} has no namespace {place.namespace}",
                "make it first, or name another",
                **error.details,
            ) from error
        raise
    return True


def _now(answer: Answer) -> datetime:
    return answer.date or datetime.now(UTC)


def _parsed(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC) if text else None
    except (ValueError, OverflowError):
        return None


def _after(time: datetime, seconds: int) -> datetime:
    try:
        return time + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _told(time: datetime | None) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else "an unknown time"
