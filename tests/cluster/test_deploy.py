# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From nothing to a running Slurm without accounting, as a user runs it: checked first, deployed, deployed again.

The tests of this file are one story on one cluster, in the order in which they stand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import lease
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bundled import CRITERIA, SLURM, Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.deployments import (
    DEPLOY,
    INSTALL,
    LEASE,
    RECORD,
    Deployments,
    absent,
    written,
)

OPEN = ["slinky-slurm:restapi.replicas"]
"""The value that the bundle leaves open."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    """A bundle without accounting, in which a value is left open."""
    return bundled(tmp_path_factory.mktemp("disabled"), "disabled", dynamic=OPEN)


SITE = {
    "aicr_criteria": CRITERIA,
    "aicr_slurm_accounting_mode": "disabled",
    "aicr_components": list(SLURM),
    "aicr_dynamic": OPEN,
    "aicr_deploy": True,
    "aicr_fail_on_error": False,
}


def test_a_check_on_an_empty_cluster_walks_all_stages_and_writes_nothing(own: Bed, deployments: Deployments) -> None:
    """Case K10. What cannot be judged before its CRDs are there is predicted."""
    with own.audit.recording("admin") as requests:
        ran = deployments.run("aicr.runtime.site", SITE, "--check", "--diff")
    assert written(requests) == []
    assert absent(own, LEASE)
    assert absent(own, RECORD)
    assert ran.recap("cluster")["changed"] > 0
    assert "would be deployed" in ran.output
    assert not (deployments.ansible.folder / "artifacts").exists()
    releases = [one for one in ran.results[INSTALL]["cluster"]["releases"] if one["name"] == "slinky-slurm"]
    assert [one["changed"] for one in releases] == [True]


def test_a_run_that_finds_another_one_at_work_begins_nothing(own: Bed, deployments: Deployments, made: Bundled) -> None:
    connection = Connection(Access(kubeconfig=str(own.kubeconfig)), {})
    lease.take(connection, "another-run", lease.Place())
    try:
        with own.audit.recording("admin") as requests:
            ran = deployments.run(DEPLOY, made.variables(), expect=2)
        assert '"another-run"' in ran.output
        assert "stopped at: See whether the cluster can take it" in ran.output
        assert written(requests) == []
        assert lease.look(connection, lease.Place()).run == "another-run"
    finally:
        lease.give_back(connection, "another-run", lease.Place())


def test_a_deployment_goes_from_nothing_to_a_running_slurm(own: Bed, deployments: Deployments, made: Bundled) -> None:
    ran = deployments.run(DEPLOY, made.variables())
    assert ran.recap("cluster")["changed"] > 0
    assert absent(own, LEASE)
    record = deployments.record()
    assert (record["state"], record["mode"]) == ("deployed", "disabled")
    names = ["cert-manager", "slinky-slurm-operator-crds", "slinky-slurm-operator", "slinky-slurm-pre", "slinky-slurm"]
    assert [one["name"] for one in json.loads(record["releases"])] == names
    controllers = list(own.api.items("/apis/slinky.slurm.net/v1beta1/namespaces/slurm/controllers"))
    assert [one["metadata"]["name"] for one in controllers] == ["slinky-slurm"]
    assert not list(own.api.items("/apis/slinky.slurm.net/v1beta1/namespaces/slurm/accountings"))
    sets = [one["metadata"]["name"] for one in own.api.items("/apis/apps/v1/namespaces/slurm/statefulsets")]
    assert sets == ["slinky-slurm-controller"]
    assert absent(own, "/apis/k8s.mariadb.com")
    assert "cluster              disabled          sha256:" in ran.output


def test_the_levels_come_one_after_the_other_and_each_is_ready_before_the_next(own: Bed) -> None:
    """Helm's own records say when each release was made."""
    secrets = own.api.items("/api/v1/secrets", labelSelector="owner=helm")
    when = {one["metadata"]["labels"]["name"]: one["metadata"]["creationTimestamp"] for one in secrets}
    assert when["slinky-slurm-operator-crds"] <= when["slinky-slurm-operator"] <= when["slinky-slurm-pre"]
    assert when["cert-manager"] <= when["slinky-slurm-operator"]
    assert when["slinky-slurm-pre"] <= when["slinky-slurm"]
    webhook = own.api.get("/apis/apps/v1/namespaces/slinky/deployments/slurm-operator-webhook")
    ready = next(one for one in webhook["status"]["conditions"] if one["type"] == "Available")
    assert ready["lastTransitionTime"] <= when["slinky-slurm"]


def test_a_second_run_changes_nothing(own: Bed, deployments: Deployments, made: Bundled) -> None:
    """Case K3. Only the Lease comes and goes."""
    before = deployments.record()
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, made.variables())
    assert ran.recap("cluster")["changed"] == 0
    assert {resource for _verb, resource, _name in written(requests)} == {"leases"}
    assert deployments.record() == before
    assert absent(own, LEASE)


def test_a_check_on_a_deployed_cluster_writes_nothing(own: Bed, deployments: Deployments) -> None:
    with own.audit.recording("admin") as requests:
        ran = deployments.run("aicr.runtime.site", SITE, "--check", "--diff")
    assert written(requests) == []
    assert absent(own, LEASE)
    assert [one["changed"] for one in ran.results[INSTALL]["cluster"]["releases"]] == [False, False]


def test_a_check_says_whether_anything_would_change(own: Bed, deployments: Deployments, made: Bundled) -> None:
    ran = deployments.run(DEPLOY, made.variables(), "--check")
    assert "deployed already, nothing would change" in ran.output
    values = {"aicr_install_values": {"slurmcluster": {"restapi": {"replicas": 3}}}}
    ran = deployments.run(DEPLOY, made.variables(**values), "--check")
    assert "would be deployed" in ran.output


def test_a_role_alone_deploys_its_component_with_a_value_that_was_left_open(
    own: Bed, deployments: Deployments, made: Bundled
) -> None:
    play = [{"hosts": "all", "gather_facts": False, "roles": ["aicr.runtime.slinky_slurm"]}]
    playbook = deployments.ansible.folder / "play.json"
    playbook.write_text(json.dumps(play), encoding="utf-8")
    variables = made.variables(aicr_install_values={"slurmcluster": {"restapi": {"replicas": 2}}})
    assert deployments.run(str(playbook), variables).recap("cluster")["changed"] == 1
    assert own.api.get("/apis/apps/v1/namespaces/slurm/deployments/slinky-slurm-restapi")["spec"]["replicas"] == 2
    assert deployments.run(str(playbook), variables).recap("cluster")["changed"] == 0


def test_another_mode_is_refused_before_the_first_write(own: Bed, deployments: Deployments, tmp_path: Path) -> None:
    provided = bundled(tmp_path / "provided", "aicr-provided")
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, provided.variables(), expect=2)
    assert "Slurm accounting is installed in mode disabled" in ran.output
    assert "aicr_allow_mode_change=true" in ran.output
    assert written(requests) == []
    assert deployments.record()["mode"] == "disabled"


def test_a_deployment_that_stops_says_where_and_lets_others_in(
    own: Bed, deployments: Deployments, tmp_path: Path
) -> None:
    """A pod that no node takes: the step, the reason, the record of a deployment that did not end; then it goes on."""
    stuck = {"slinky-slurm": {"controller": {"podSpec": {"nodeSelector": {"no": "such"}}}}}
    broken = bundled(tmp_path / "broken", "disabled", values=stuck)
    ran = deployments.run(DEPLOY, broken.variables(aicr_readiness_timeout=25), expect=2)
    assert "stopped at: Wait until they are ready: [TIMEOUT]" in ran.output
    assert deployments.record()["state"] == "deploying"
    assert absent(own, LEASE)
    mended = bundled(tmp_path / "mended", "disabled")
    deployments.run(DEPLOY, mended.variables())
    assert deployments.record()["state"] == "deployed"
