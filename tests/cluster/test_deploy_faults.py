# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment while one request in twenty goes wrong, ours and Helm's alike: it ends like one without faults.

Two clusters are deployed at once, one of them through a proxy that throttles, fails, and breaks connections, also after
the API server has done what was asked. The tests of this file are one story, in the order in which they stand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.census import Wanted
from ansible_collections.aicr.runtime.tests.cluster.deployments import ASK, DEPLOY, LEASE, Deployments, absent
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible, Run

SEED = 20261130
PERCENT = 5.0
"""Of all requests. Helm makes 30 for a release, and gives up at the first that fails."""
KINDS = (Kind.THROTTLED, Kind.FAILED, Kind.CUT)


@dataclass
class Place:
    """A cluster, what is deployed to it by whom, and what that made of it."""

    bed: Bed
    deployments: Deployments
    objects: Wanted


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, charts: Path) -> Iterator[tuple[Place, Place]]:
    """One without faults, and one that is to have them."""

    def made(name: str) -> Place:
        bed = Bed.start(tmp_path_factory.mktemp(name) / "kind", "kind", nodes=1, workloads=False)
        stack.callback(bed.stop)
        return Place(bed, Deployments(Ansible(tmp_path_factory.mktemp("ansible")), bed, charts), Wanted(bed))

    with contextlib.ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        clean, faulty = pool.map(made, ("clean", "faulty"))
        yield clean, faulty


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return bundled(tmp_path_factory.mktemp("bundle"), "aicr-provided")


def test_a_deployment_comes_to_its_end_whatever_goes_wrong_on_the_way(
    places: tuple[Place, Place], bundle: Bundled, tmp_path: Path
) -> None:
    print(f"seed {SEED}")
    clean, faulty = places
    faults = [
        Fault(kind, method=".*", percent=PERCENT / len(KINDS), seed=SEED + number) for number, kind in enumerate(KINDS)
    ]

    def deploy(place: Place, **variables: object) -> Run:
        return place.deployments.run(DEPLOY, bundle.variables(**variables))

    with FaultyApi(faulty.bed, *faults) as proxy, ThreadPoolExecutor(2) as pool:
        kubeconfig = str(proxy.kubeconfig(tmp_path / "faulty"))
        runs = [pool.submit(deploy, clean), pool.submit(deploy, faulty, aicr_kubeconfig=kubeconfig)]
        for ran in [run.result() for run in runs]:
            assert ran.result(ASK)["summary"]["outcome"] == "ok"
        befallen = {fault.kind: fault.befallen for fault in faults}
        assert min(befallen.values()) >= 3, befallen
        assert PERCENT / 2 < 100 * sum(befallen.values()) / len(proxy.requests) < PERCENT * 2
    for place in places:
        assert place.deployments.record()["state"] == "deployed"
        assert absent(place.bed, LEASE)


def test_the_end_is_the_same(places: tuple[Place, Place]) -> None:
    clean, faulty = (place.objects.now() for place in places)
    assert sorted(faulty) == sorted(clean)
    assert {name: one for name, one in faulty.items() if one != clean[name]} == {
        name: clean[name] for name, one in faulty.items() if one != clean[name]
    }
    assert "MariaDB slurm/mariadb" in faulty and "Controller slurm/slinky-slurm" in faulty
    states = [
        {one["metadata"]["labels"]["name"] for one in place.bed.api.items("/api/v1/secrets", labelSelector=selector)}
        for place in places
        for selector in ("owner=helm,status=deployed", "owner=helm,status in (pending-install,pending-upgrade)")
    ]
    assert states == [states[0], set(), states[0], set()] and "slinky-slurm" in states[0]


def test_a_further_run_without_faults_changes_nothing(places: tuple[Place, Place], bundle: Bundled) -> None:
    ran = places[1].deployments.run(DEPLOY, bundle.variables())
    assert (ran.recap("cluster")["changed"], ran.changed) == (0, [])
