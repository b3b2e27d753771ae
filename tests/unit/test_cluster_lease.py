# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Lease in every state that somebody may leave it in, and an API server that fails while it is renewed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fake_api import FakeApi, Reply, Request, status, wait_for

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import lease
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection, Deadline
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import lease as surface
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse

PLACE = lease.Place("ops", "work")


class Kept:
    """The one Lease of an API server, with its version checked as etcd does."""

    def __init__(self, api: FakeApi) -> None:
        self.api = api
        self.spec: dict[str, Any] | None = None
        self.version = 1
        self.refuses: Callable[[Request], Reply | None] = lambda request: None
        api.trouble = self.answer

    def answer(self, request: Request) -> Reply | None:
        refused = self.refuses(request)
        if refused is not None:
            return refused
        if request.path == "/version":
            return Reply(200, {"major": "1"})
        if request.method in ("POST", "PUT"):
            sent = json.loads(request.body)
            fresh = request.method == "POST"
            if fresh is not (self.spec is None) or (
                not fresh and sent["metadata"]["resourceVersion"] != str(self.version)
            ):
                return status(409, "the object has been modified")
            self.spec, self.version = sent["spec"], self.version + 1
            return Reply(201 if fresh else 200, sent)
        if self.spec is None:
            return status(404, "not found")
        return Reply(200, {"metadata": {"uid": "u", "resourceVersion": str(self.version)}, "spec": self.spec})


@pytest.fixture
def served() -> Iterator[tuple[Kept, Connection]]:
    with FakeApi({}) as api:
        yield Kept(api), Connection(Access(host=api.url), {})


def stamp(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.mark.parametrize(
    ("spec", "free"),
    [
        ({}, True),
        ({"holderIdentity": ""}, True),
        ({"holderIdentity": None, "leaseTransitions": 3}, True),
        ({"holderIdentity": "old"}, True),
        ({"holderIdentity": "old", "renewTime": "nonsense", "leaseDurationSeconds": 120}, True),
        ({"holderIdentity": "old", "renewTime": -60, "leaseDurationSeconds": 120}, False),
        ({"holderIdentity": "old", "renewTime": -125, "leaseDurationSeconds": 120}, True),
        ({"holderIdentity": "old", "renewTime": -125, "leaseDurationSeconds": 3600}, False),
        ({"holderIdentity": "old", "renewTime": 500, "leaseDurationSeconds": 120}, False),
        ({"holderIdentity": "new", "renewTime": -9999, "leaseDurationSeconds": 120}, True),
    ],
)
def test_who_may_take_it(served: tuple[Kept, Connection], spec: dict[str, Any], free: bool) -> None:
    """A number is a time in seconds from now, which is not yet known when tests are collected."""
    kept, connection = served
    if isinstance(spec.get("renewTime"), int):
        spec = {**spec, "renewTime": stamp(spec["renewTime"])}
    kept.spec = dict(spec)
    if not free:
        with pytest.raises(AicrError) as caught:
            lease.take(connection, "new", PLACE)
        assert caught.value.code is Code.CONFLICT and kept.spec == spec
        return
    lease.take(connection, "new", PLACE)
    assert (kept.spec["holderIdentity"], kept.spec["leaseDurationSeconds"]) == ("new", 120)
    if spec.get("holderIdentity") != "new":
        assert kept.spec["leaseTransitions"] == spec.get("leaseTransitions", 0) + 1


@pytest.mark.parametrize(
    ("renewed", "seconds", "ours"),
    [
        (0, 120, True),
        (-60, 120, True),
        (30, 120, True),
        (0, 2_000_000_000, False),
        (500, 120, False),
        ("2099-01-01T00:00:00.000000Z", 2_000_000_000, False),
        ("9999-12-31T23:59:59.000000Z", 2_000_000_000, False),
    ],
)
def test_one_that_no_run_makes_is_not_waited_for(
    served: tuple[Kept, Connection], renewed: float | str, seconds: int, ours: bool
) -> None:
    kept, connection = served
    time = renewed if isinstance(renewed, str) else stamp(renewed)
    kept.spec = {"holderIdentity": "thief", "renewTime": time, "leaseDurationSeconds": seconds}
    with pytest.raises(AicrError, match='"thief"') as caught:
        lease.take(connection, "new", PLACE)
    assert ("wait until it has ended" in caught.value.hint) is ours
    assert (f"`kubectl -n {PLACE.namespace} delete lease {PLACE.name}`" in caught.value.hint) is not ours


def test_a_time_that_no_calendar_holds_is_none(served: tuple[Kept, Connection]) -> None:
    kept, connection = served
    kept.spec = {"holderIdentity": "old", "renewTime": "9999-12-31T23:59:59-09:00", "leaseDurationSeconds": 120}
    assert lease.take(connection, "new", PLACE).dead is not None


# "thief" holds it: dead, without a time, alive
HOLDERS = {"dead": -500.0, "timeless": None, "alive": 0.0}
WORDS = {
    ("present", "dead", False): "taken over from",
    ("present", "dead", True): "would be taken over from",
    ("present", "timeless", False): "taken over from",
    ("present", "timeless", True): "would be taken over from",
    ("absent", "dead", False): "stays, it is held by",
    ("absent", "dead", True): None,
    ("absent", "timeless", False): "stays, it is held by",
    ("absent", "timeless", True): None,
    ("absent", "alive", False): "stays, it is held by",
    ("absent", "alive", True): "would stay, it is held by",
}


@pytest.mark.parametrize(("state", "holder", "check"), WORDS)
def test_a_check_says_what_would_be_done_and_once(
    served: tuple[Kept, Connection], state: str, holder: str, check: bool
) -> None:
    kept, _connection = served
    renewed = HOLDERS[holder]
    kept.spec = {"holderIdentity": "thief", "leaseDurationSeconds": 120}
    if renewed is not None:
        kept.spec["renewTime"] = stamp(renewed)
    before, expected = dict(kept.spec), WORDS[state, holder, check]
    given = {"host": kept.api.url, "run": "new", "namespace": PLACE.namespace, "name": PLACE.name, "state": state}
    made = surface.make_lease(parse(surface.SPEC, given), check_mode=check)
    warnings = made.deliver(check_mode=check, diff=False, return_document=False)["warnings"]
    if expected is None:
        assert warnings == []
    else:
        (said,) = warnings
        assert f": {expected} " in said and '"thief"' in said
        if state == "present":
            times = "states no time at which it expires" if renewed is None else "gave no sign of life until it expired"
            assert times in said
    if check:
        assert kept.spec == before


def test_one_that_others_keep_changing_is_given_up(served: tuple[Kept, Connection]) -> None:
    kept, connection = served
    kept.refuses = lambda request: status(409, "modified") if request.method == "POST" else None
    with pytest.raises(AicrError, match="others kept changing it"):
        lease.take(connection, "new", PLACE)


def test_a_passing_failure_to_renew_loses_nothing(served: tuple[Kept, Connection]) -> None:
    kept, connection = served
    lease.take(connection, "new", PLACE)
    failures = 0

    def fail_for_a_while(request: Request) -> Reply | None:
        nonlocal failures
        if request.method == "PUT" and failures < 2:
            failures += 1
            return status(403, "not just now")
        return None

    with lease.keep(connection, "new", PLACE, every=0.05) as check:
        kept.refuses = fail_for_a_while
        version = kept.version
        wait_for(lambda: failures == 2 and kept.version > version)
        check()


def test_one_that_cannot_be_renewed_for_two_minutes_is_lost(
    served: tuple[Kept, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, connection = served
    lease.take(connection, "new", PLACE)

    def work() -> None:
        with lease.keep(connection, "new", PLACE, every=0.05) as check:
            check()
            kept.refuses = lambda request: status(403, "never again")
            for _unused in range(100):
                check()
                threading.Event().wait(0.05)
            pytest.fail("it was never lost")

    monkeypatch.setattr(lease, "Deadline", lambda seconds: Deadline(min(seconds, 0.5)))
    with pytest.raises(AicrError, match="could not be renewed for 120 s") as caught:
        work()
    assert caught.value.code is Code.CONFLICT


def test_what_goes_wrong_in_the_block_is_what_is_told(served: tuple[Kept, Connection]) -> None:
    _kept, connection = served
    lease.take(connection, "new", PLACE)

    def work() -> None:
        with lease.keep(connection, "new", PLACE):
            raise AicrError(Code.TIMEOUT, "something else")

    with pytest.raises(AicrError, match="something else"):
        work()
    names = [thread.name for thread in threading.enumerate()]
    assert f"lease {PLACE}" not in names, "and nothing renews it any more"


def test_without_a_run_nothing_is_asked(served: tuple[Kept, Connection]) -> None:
    _kept, connection = served
    with lease.keep(connection, None, PLACE) as check:
        check()
    assert connection.requests == 0


def test_a_worker_whose_run_was_killed_renews_nothing_any_more(served: tuple[Kept, Connection], tmp_path: Path) -> None:
    """SIGKILL ends ansible-playbook alone; what it forked for a task would hold the Lease as long as the task waits."""
    kept, connection = served
    lease.take(connection, "new", PLACE)
    fork, told = multiprocessing.get_context("fork"), tmp_path / "worker"

    def worker() -> None:
        with lease.keep(Connection(Access(host=connection.login.server), {}), "new", PLACE, every=0.1):
            told.write_text(str(os.getpid()))
            threading.Event().wait(60)

    def run() -> None:
        fork.Process(target=worker).start()
        signal.pause()

    begun = fork.Process(target=run)
    begun.start()
    wait_for(lambda: told.exists() and told.read_text() != "")
    version = kept.version
    wait_for(lambda: kept.version > version + 2)
    assert begun.pid is not None
    os.kill(begun.pid, signal.SIGKILL)
    begun.join(10)
    wait_for(lambda: _gone(int(told.read_text())))
    version = kept.version
    threading.Event().wait(0.5)
    assert kept.version == version


def _gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
