# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Lease of a run on a real API server: one run at a time, by the server's time, and never in between."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import lease
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind
from ansible_collections.aicr.runtime.tests.cluster.conftest import Cluster
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible


def connected(kubeconfig: Path) -> Connection:
    return Connection(Access(kubeconfig=str(kubeconfig)), {})


@pytest.fixture
def place(namespace: str) -> lease.Place:
    return lease.Place(namespace, "aicr-deployment")


@pytest.fixture
def connection(cluster: Cluster) -> Connection:
    return connected(cluster.kubeconfig)


def spec(cluster: Cluster, place: lease.Place) -> dict[str, Any]:
    found: dict[str, Any] = cluster.api.get(place.path)["spec"]
    return found


def make(cluster: Cluster, place: lease.Place, run: str, renewed: datetime) -> None:
    """A Lease as another run left it."""
    stamp = renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    cluster.api.apply(
        place.path,
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": place.name, "namespace": place.namespace},
            "spec": {
                "holderIdentity": run,
                "leaseDurationSeconds": 120,
                "acquireTime": stamp,
                "renewTime": stamp,
                "leaseTransitions": 3,
            },
        },
    )


def test_a_run_takes_renews_and_gives_back(cluster: Cluster, connection: Connection, place: lease.Place) -> None:
    assert lease.take(connection, "one", place) == lease.Taken(acquired=True)
    first = spec(cluster, place)
    assert (first["holderIdentity"], first["leaseDurationSeconds"]) == ("one", 120)
    renewed = datetime.fromisoformat(first["renewTime"])
    threading.Event().wait(1.1)  # the server tells whole seconds
    assert lease.take(connection, "one", place) == lease.Taken(acquired=False)
    second = spec(cluster, place)
    assert second["acquireTime"] == first["acquireTime"]
    assert datetime.fromisoformat(second["renewTime"]) > renewed
    assert lease.give_back(connection, "one", place).run == "one"
    assert place.name not in [one["metadata"]["name"] for one in cluster.api.items(place.path.rpartition("/")[0])]


def test_another_run_is_told_who_works_since_when_and_until_when(
    cluster: Cluster, connection: Connection, place: lease.Place
) -> None:
    lease.take(connection, "one", place)
    with pytest.raises(AicrError) as caught:
        lease.take(connection, "two", place)
    since = spec(cluster, place)["acquireTime"][:19]
    assert caught.value.code is Code.CONFLICT
    assert all(word in caught.value.message for word in (str(place), '"one"', f"since {since}Z", "expires at"))
    assert caught.value.details["holder"] == "one"
    assert spec(cluster, place)["holderIdentity"] == "one"
    assert lease.give_back(connection, "two", place).run == "one"
    assert spec(cluster, place)["holderIdentity"] == "one", "a run removes no other's Lease"


@pytest.mark.parametrize("before", ["nobody's", "a dead run's"])
def test_of_many_that_take_it_at_once_one_succeeds(cluster: Cluster, place: lease.Place, before: str) -> None:
    if before == "a dead run's":
        make(cluster, place, "dead", datetime.now(UTC) - timedelta(hours=1))
    start = threading.Barrier(12)

    def take(number: int) -> str:
        connection = connected(cluster.kubeconfig)
        start.wait()
        try:
            lease.take(connection, f"run-{number}", place)
        except AicrError as error:
            return error.code.value
        return f"run-{number}"

    with ThreadPoolExecutor(12) as pool:
        ended = list(pool.map(take, range(12)))
    assert sorted(ended) == sorted(["CONFLICT"] * 11 + [spec(cluster, place)["holderIdentity"]])


@pytest.mark.parametrize(("seconds", "alive"), [(100, True), (130, False)])
def test_a_run_is_dead_two_minutes_after_its_last_sign_of_life(
    cluster: Cluster, connection: Connection, place: lease.Place, seconds: int, alive: bool
) -> None:
    make(cluster, place, "old", datetime.now(UTC) - timedelta(seconds=seconds))
    if alive:
        with pytest.raises(AicrError, match='"old"'):
            lease.take(connection, "new", place)
        return
    taken = lease.take(connection, "new", place)
    assert taken.acquired and taken.dead is not None and taken.dead.run == "old"
    now = spec(cluster, place)
    assert (now["holderIdentity"], now["leaseTransitions"]) == ("new", 4)


def test_the_clock_of_the_controller_does_not_count(
    cluster: Cluster, connection: Connection, place: lease.Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Self:
            return cls.fromtimestamp(datetime.now(tz).timestamp() + 86400, tz)

    lease.take(connection, "one", place)
    monkeypatch.setattr(lease, "datetime", Tomorrow)
    with pytest.raises(AicrError, match='"one"'):
        lease.take(connection, "two", place)
    lease.renew(connection, "one", place)
    assert datetime.fromisoformat(spec(cluster, place)["renewTime"]) < datetime.now(UTC) + timedelta(minutes=1)


def test_it_is_renewed_while_a_block_works(cluster: Cluster, connection: Connection, place: lease.Place) -> None:
    lease.take(connection, "one", place)
    versions = set()
    with lease.keep(connection, "one", place, every=0.2) as check:
        for _unused in range(6):
            threading.Event().wait(0.25)
            check()
            versions.add(cluster.api.get(place.path)["metadata"]["resourceVersion"])
    assert len(versions) > 1
    after = cluster.api.get(place.path)["metadata"]["resourceVersion"]
    threading.Event().wait(0.5)
    assert cluster.api.get(place.path)["metadata"]["resourceVersion"] == after, "and no longer"


def test_a_run_that_loses_it_fails_and_begins_nothing_more(
    cluster: Cluster, connection: Connection, place: lease.Place
) -> None:
    lease.take(connection, "one", place)
    begun: list[str] = []

    def work() -> None:
        with lease.keep(connection, "one", place, every=0.2) as check:
            check()
            begun.append("before")
            make(cluster, place, "two", datetime.now(UTC))
            threading.Event().wait(1)
            check()
            begun.append("after")

    with pytest.raises(AicrError, match='"two" holds it') as caught:
        work()
    assert caught.value.code is Code.CONFLICT
    assert begun == ["before"]

    def ends_well() -> None:
        with lease.keep(connection, "two", place, every=0.2):
            make(cluster, place, "three", datetime.now(UTC))
            threading.Event().wait(1)

    with pytest.raises(AicrError, match='"three" holds it'):
        ends_well()


def test_a_run_that_does_not_hold_it_begins_nothing(connection: Connection, place: lease.Place) -> None:
    def work() -> None:
        with lease.keep(connection, "one", place):
            pytest.fail("it began")

    with pytest.raises(AicrError, match="nobody holds it"):
        work()


def test_an_answer_that_is_lost_does_not_lose_the_lease(bed: Bed, namespace: str, tmp_path: Path) -> None:
    place = lease.Place(namespace, "aicr-deployment")
    lost = [Fault(Kind.CUT, "/leases", method=method, times=1, first_bytes=5) for method in ("POST", "PUT", "DELETE")]
    with FaultyApi(bed, *lost) as proxy:
        connection = connected(proxy.kubeconfig(tmp_path / "faulty"))
        lease.take(connection, "one", place)
        lease.renew(connection, "one", place)
        assert bed.api.get(place.path)["spec"]["holderIdentity"] == "one"
        lease.give_back(connection, "one", place)
    assert [fault.befallen for fault in lost] == [1, 1, 1]
    assert not list(bed.api.items(place.path.rpartition("/")[0]))


def test_a_namespace_that_is_not_there_is_named(connection: Connection) -> None:
    with pytest.raises(AicrError, match="has no namespace nowhere") as caught:
        lease.take(connection, "one", lease.Place("nowhere"))
    assert caught.value.code is Code.NOT_FOUND


@pytest.fixture
def task(cluster: Cluster, namespace: str) -> dict[str, Any]:
    return {"kubeconfig": str(cluster.kubeconfig), "namespace": namespace, "run": uuid.uuid4().hex[:8]}


def test_the_action_takes_it_and_gives_it_back(ansible: Ansible, cluster: Cluster, task: dict[str, Any]) -> None:
    place = lease.Place(task["namespace"])
    ran = ansible.tasks(
        [
            {"name": "take", "aicr.runtime.lease": task},
            {"name": "again", "aicr.runtime.lease": task},
            {"name": "other", "aicr.runtime.lease": {**task, "run": "other"}, "ignore_errors": True},
            {"name": "not theirs", "aicr.runtime.lease": {**task, "run": "other", "state": "absent"}},
            {"name": "give back", "aicr.runtime.lease": {**task, "state": "absent"}},
        ]
    )
    assert [ran.result(name)["acquired"] for name in ("take", "again")] == [True, False]
    assert not any(ran.result(name)["changed"] for name in ("take", "again", "give back"))
    refused = ran.result("other")
    assert refused["error"]["code"] == "CONFLICT" and task["run"] in refused["msg"]
    assert task["run"] in ran.result("not theirs")["warnings"][0]
    assert place.name not in [one["metadata"]["name"] for one in cluster.api.items(place.path.rpartition("/")[0])]


def test_a_run_that_takes_over_is_warned(ansible: Ansible, cluster: Cluster, task: dict[str, Any]) -> None:
    make(cluster, lease.Place(task["namespace"]), "dead-run", datetime.now(UTC) - timedelta(minutes=5))
    ran = ansible.tasks([{"name": "take", "aicr.runtime.lease": task}])
    assert ran.result("take")["acquired"]
    assert '"dead-run"' in ran.result("take")["warnings"][0] and '"dead-run"' in ran.output


def test_a_check_writes_nothing_and_refuses_what_a_run_would(
    ansible: Ansible, bed: Bed, cluster: Cluster, task: dict[str, Any]
) -> None:
    with bed.audit.recording("admin") as requests:
        ran = ansible.tasks(
            [
                {"name": "take", "aicr.runtime.lease": task},
                {"name": "give back", "aicr.runtime.lease": {**task, "state": "absent"}},
            ],
            "--check",
        )
    assert ran.result("take")["acquired"]
    assert requests and not [request for request in requests if request.writes or request.dry_run]
    make(cluster, lease.Place(task["namespace"]), "busy", datetime.now(UTC))
    assert "busy" in ansible.tasks([{"name": "take", "aicr.runtime.lease": task}], "--check", expect=2).output
