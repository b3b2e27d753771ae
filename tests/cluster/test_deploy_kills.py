# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment whose every run is killed, each one step further than the one before, until one comes to its end.

The tests of this file are one story on one cluster, in the order in which they stand. The proxy before the API server
holds the write on which a run is to be killed, so that no machine is too quick or too slow for it.
"""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.deployments import (
    ASK,
    DEPLOY,
    LEASE,
    RECORD,
    Deployments,
    absent,
    written,
)
from ansible_collections.aicr.runtime.tests.cluster.running import Running, is_over
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

CHECK = "See whether the cluster can take it"
READY = "aicr.runtime.component : Wait until they are ready"
JOBS = "/apis/batch/v1/namespaces/slurm/jobs"
MADE_ONCE = (
    "/apis/apps/v1/namespaces/slurm/statefulsets",
    "/api/v1/namespaces/slurm/persistentvolumeclaims",
    *(
        f"/apis/k8s.mariadb.com/v1alpha1/namespaces/slurm/{kind}"
        for kind in ("mariadbs", "databases", "users", "grants")
    ),
    *(f"/apis/slinky.slurm.net/v1beta1/namespaces/slurm/{kind}" for kind in ("controllers", "accountings")),
)


class Story:
    """The cluster, its runs, and the UIDs of what must be made once, as they were first seen."""

    def __init__(self, bed: Bed, deployments: Deployments, made: Bundled, proxy: FaultyApi) -> None:
        self.bed, self.deployments, self.made, self.proxy = bed, deployments, made, proxy
        self.first: dict[str, str] = {}

    def begin(self, *held: Fault, **variables: object) -> Running:
        """Start a run under which the writes that match get no answer."""
        self.proxy.faults = list(held)
        return Running(self.deployments, self.made.variables(**variables))

    def killed_at(self, held: Fault, **variables: object) -> None:
        """A run that is killed as a whole when it makes a write."""
        run = self.begin(held, **variables)
        run.until(lambda: held.befallen)
        run.kill()
        self.look()

    def killed_in(self, task: str, times: int = 1) -> str:
        """A run that is killed as a whole when a task has begun.

        :returns: what it had said.
        """
        run = self.begin()
        run.until_task(task, times)
        run.kill()
        self.look()
        return run.output

    def expire(self) -> None:
        """What two minutes do to the Lease of a run that is dead."""
        past = {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}
        self.bed.api.patch(LEASE, past)

    def look(self) -> None:
        """Note what is there, and see that nothing of it was there before as another."""
        found = {}
        for path in MADE_ONCE:
            if not absent(self.bed, path):
                found |= {
                    f"{path}/{one['metadata']['name']}": one["metadata"]["uid"] for one in self.bed.api.items(path)
                }
        for one in self.bed.api.items("/api/v1/namespaces/slurm/secrets"):
            if one.get("type") != "helm.sh/release.v1":
                found[f"secret {one['metadata']['name']}"] = one["metadata"]["uid"]
        assert {name: found.get(name) for name in self.first} == self.first
        self.first = {**found, **self.first}

    def credentials(self) -> list[Path]:
        """The kubeconfigs of helms, with the token in clear."""
        return list(Path(self.deployments.ansible.environment["TMPDIR"]).glob("aicr-helm-*/kubeconfig*"))

    def newest(self) -> dict[str, str]:
        """By release, the state of its newest revision."""
        secrets = list(self.bed.api.items("/api/v1/secrets", labelSelector="owner=helm"))
        revisions = sorted((one["metadata"]["labels"] for one in secrets), key=lambda labels: int(labels["version"]))
        return {labels["name"]: labels["status"] for labels in revisions}

    def jobs(self) -> list[Object]:
        return list(self.bed.api.items(JOBS))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, charts: Path) -> Iterator[Story]:
    bed = Bed.start(tmp_path_factory.mktemp("kills") / "kind", "kind", nodes=1, workloads=False)
    try:
        with FaultyApi(bed) as proxy:
            deployments = Deployments(Ansible(tmp_path_factory.mktemp("ansible")), bed, charts)
            deployments.common["aicr_kubeconfig"] = str(proxy.kubeconfig(deployments.ansible.folder / "kubeconfig"))
            temporary = deployments.ansible.folder / "temporary"
            temporary.mkdir()
            deployments.ansible.environment["TMPDIR"] = str(temporary)
            yield Story(bed, deployments, bundled(tmp_path_factory.mktemp("bundle"), "aicr-provided"), proxy)
    finally:
        bed.stop()


def held(path: str, method: str) -> Fault:
    """A write that gets no answer and never reaches the API server."""
    return Fault(Kind.SILENT, path, method, times=1)


def last_record(release: str) -> Fault:
    """What Helm writes down when all objects of a release are made."""
    return held(rf"/secrets/sh\.helm\.release\.v1\.{release}\.v", "PUT")


# ---- before the first level


def test_the_lease_of_a_dead_run_keeps_the_next_one_away_until_it_expires(story: Story) -> None:
    run = story.begin(aicr_run="the-first")
    run.until_task("Deploy the components, one level after the other")
    run.kill_ansible()
    assert story.bed.api.get(RECORD)["data"]["state"] == "deploying"
    with story.bed.audit.recording("admin") as requests:
        refused = story.deployments.run(DEPLOY, story.made.variables(), expect=2)
    assert written(requests) == []
    (finding,) = [one for one in refused.result(CHECK)["findings"] if one["check"] == "lease"]
    assert '"the-first"' in finding["what"] and re.search(r"expires at 20\d\d-\d\d-\d\dT", finding["what"])
    story.expire()


# ---- the operators and their CRDs


def test_a_helm_that_is_killed_fails_the_run_and_is_no_obstacle_to_the_next(story: Story) -> None:
    """It takes over the Lease that has expired, and says from whom."""
    crd = held("/customresourcedefinitions/grants.k8s.mariadb.com", "PATCH")
    run = story.begin(crd)
    run.until(lambda: crd.befallen)
    assert story.newest()["mariadb-operator-crds"] == "pending-install"
    os.kill(run.helm_of("mariadb-operator-crds"), signal.SIGKILL)
    assert run.end() == 2, run.output
    assert 'taken over from the run "the-first"' in run.output
    assert "release mariadb-system/mariadb-operator-crds: Killed (its revision 1 is failed)" in run.output
    assert absent(story.bed, LEASE)
    assert story.newest() == {
        "cert-manager": "deployed",
        "mariadb-operator-crds": "failed",
        "slinky-slurm-operator-crds": "deployed",
    }


def test_a_run_is_killed_when_the_first_level_is_installed(story: Story) -> None:
    story.killed_in(READY)
    assert set(story.newest().values()) == {"deployed"}
    story.expire()


def test_what_a_dead_run_has_left_in_the_middle_is_explained_with_a_way_out_that_works(story: Story) -> None:
    """Case H10, by hand."""
    story.killed_at(last_record("mariadb-operator"))
    assert story.newest()["mariadb-operator"] == "pending-install"
    left = story.credentials()
    assert left
    story.expire()
    with story.bed.audit.recording("admin") as requests:
        refused = story.deployments.run(DEPLOY, story.made.variables(), expect=2)
    assert written(requests) == []
    assert not any(one.parent.exists() for one in left), "the next run has removed the credential"
    ways = [one["way_out"] for one in refused.result(CHECK)["findings"] if one["check"] == "release"]
    assert all("set aicr_recover_releases=true" in way for way in ways)
    commands = [re.search("`helm (.*?)`", way) for way in ways]
    assert "uninstall mariadb-operator --namespace mariadb-system" in [found and found[1] for found in commands]
    for found in commands:
        assert found is not None
        story.bed.run("helm", *found[1].split())


def test_a_run_is_killed_when_the_operators_are_installed(story: Story) -> None:
    said = story.killed_in(READY, 2)
    assert "taken over from the run" in said
    assert set(story.newest().values()) == {"deployed"}
    story.expire()


# ---- the database


def test_a_run_is_killed_when_all_of_the_database_is_asked_for(story: Story) -> None:
    story.killed_at(last_record("slurm-accounting-mariadb"))
    assert story.newest()["slurm-accounting-mariadb"] == "pending-install"
    story.expire()


def test_a_run_that_may_goes_on_with_it_and_makes_nothing_twice(story: Story) -> None:
    """Case H10, by `aicr_recover_releases`. It is killed in turn, when it has made the Job that logs in."""
    run = story.begin(aicr_recover_releases=True)
    run.until(lambda: not absent(story.bed, JOBS) and story.jobs())
    run.kill()
    assert "a run that died has left it" in run.output
    assert story.newest()["slurm-accounting-mariadb"] == "deployed"
    story.look()
    story.expire()


# ---- Slurm


def test_a_helm_without_its_ansible_ends_and_writes_that_down(story: Story) -> None:
    """It is left running, and its worker ends it as soon as it has seen that nobody waits."""
    loginset = held("/loginsets/", "PATCH")
    run = story.begin(loginset)
    run.until(lambda: loginset.befallen)
    helm = run.helm_of("slinky-slurm")
    run.kill_ansible()
    assert not is_over(helm)
    eventually(lambda: is_over(helm), 180)
    eventually(lambda: story.newest()["slinky-slurm"] == "failed", 30)
    story.look()
    story.expire()


def test_a_run_is_killed_when_slurm_is_installed(story: Story) -> None:
    story.killed_in(READY, 4)
    assert set(story.newest().values()) == {"deployed"}
    story.expire()


def test_a_run_is_killed_when_the_job_that_asks_slurmdbd_is_made(story: Story) -> None:
    run = story.begin()
    run.until_task(ASK, 2)
    run.until(lambda: [one for one in story.jobs() if "accounting" in one["metadata"]["name"]])
    run.kill()
    story.look()
    story.expire()


def test_a_run_is_killed_before_it_records_what_is_installed(story: Story) -> None:
    story.killed_at(held("/configmaps/aicr-deployment", "PATCH"))
    assert story.deployments.record()["state"] == "deploying"
    story.expire()


# ---- the end


def test_the_next_run_comes_to_the_same_end_as_if_nothing_had_been(story: Story) -> None:
    story.proxy.faults = []
    ran = story.deployments.run(DEPLOY, story.made.variables())
    assert ran.result(ASK)["summary"]["outcome"] == "ok"
    assert ran.result(ASK)["summary"]["cluster"] == "slurm_slinky-slurm"
    record = story.deployments.record()
    assert (record["state"], record["mode"]) == ("deployed", "aicr-provided")
    assert absent(story.bed, LEASE)
    story.look()


def test_nothing_is_left_and_nothing_was_made_twice(story: Story) -> None:
    assert list(Path(story.deployments.ansible.environment["TMPDIR"]).glob("aicr-*")) == []
    assert story.jobs() == []
    maps = [one["metadata"]["name"] for one in story.bed.api.items("/api/v1/namespaces/slurm/configmaps")]
    assert [name for name in maps if name.startswith("aicr-")] == []
    assert set(story.newest().values()) == {"deployed"}
    secrets = story.bed.api.items("/api/v1/secrets", labelSelector="owner=helm,status=deployed")
    assert set(Counter(one["metadata"]["labels"]["name"] for one in secrets).values()) == {1}
    kept = {name.rpartition("/")[2] for name in story.first}
    assert {"storage-mariadb-0", "secret mariadb-password", "secret mariadb-root-password"} <= kept
    assert {"mariadb", "mariadb-database", "mariadb-user", "mariadb-user-all", "slinky-slurm-accounting"} <= kept


def test_a_further_run_changes_nothing(story: Story) -> None:
    ran = story.deployments.run(DEPLOY, story.made.variables())
    assert (ran.recap("cluster")["changed"], ran.changed) == (0, [])
