# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm with its provided database: verified, taken apart from Slurm down, set up again on its old data, all removed.

The tests of this file are one story on one cluster, in the order in which they stand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.deployments import (
    DEPLOY,
    LEASE,
    RECORD,
    Deployments,
    absent,
    written,
)
from ansible_collections.aicr.runtime.tests.cluster.sacctmgr import sacctmgr

VERIFY, UNINSTALL = "aicr.runtime.verify", "aicr.runtime.uninstall"
SLURM = "/apis/slinky.slurm.net/v1beta1/namespaces/slurm"
MARIADB = "/apis/k8s.mariadb.com/v1alpha1/namespaces/slurm"
CLAIM = "/api/v1/namespaces/slurm/persistentvolumeclaims/storage-mariadb-0"
STATE = "/api/v1/namespaces/slurm/persistentvolumeclaims/statesave-slinky-slurm-controller-0"
SECRETS = [f"/api/v1/namespaces/slurm/secrets/{name}" for name in ("mariadb-password", "mariadb-root-password")]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return bundled(tmp_path_factory.mktemp("bundle"), "aicr-provided")


@pytest.fixture(scope="module")
def volume(own: Bed, deployments: Deployments, made: Bundled) -> Path:
    """The folder of the database's tables, once all is deployed and sacctmgr has added an account."""
    deployments.run(DEPLOY, made.variables())
    sacctmgr(own, "slurm", "-i", "add", "account", "physics", "description=kept", "organization=science")
    name = own.api.get(CLAIM)["spec"]["volumeName"]
    place = own.api.get(f"/api/v1/persistentvolumes/{name}")["spec"]["hostPath"]["path"]
    return Path(place) / "slurm_acct_db"


def written_down(volume: Path) -> bool:
    """Whether the account is there that sacctmgr has added. A server that ended has flushed it."""
    return b"physics" in (volume / "acct_table.ibd").read_bytes()


def report(deployments: Deployments) -> dict[tuple[str, str], str]:
    path = deployments.ansible.folder / "artifacts" / "cluster" / "verify.ctrf.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["reportFormat"], document["specVersion"]) == ("CTRF", "0.0.1")
    return {(one["suite"][0], one["name"]): one["status"] for one in document["results"]["tests"]}


def deleted(own: Bed, requests: object) -> list[str]:
    assert isinstance(requests, list)
    return [f"{one.resource}/{one.name}" for one in requests if one.verb == "delete"]


def test_a_cluster_that_is_as_its_bundle_says_passes_every_test(
    own: Bed, deployments: Deployments, made: Bundled, volume: Path
) -> None:
    with own.audit.recording("admin") as requests:
        deployments.run(VERIFY, made.variables())
    found = report(deployments)
    assert set(found.values()) == {"passed"}
    assert {suite for suite, _name in found} >= {"record", "releases", "readiness", "accounting"}
    assert found["accounting", "an answer of slurmdbd"] == "passed"
    assert {resource for _verb, resource, _name in written(requests)} <= {"jobs", "configmaps"}
    assert (volume / "cluster_table.ibd").is_file()


def test_a_deployment_leaves_what_verify_has_found(own: Bed, deployments: Deployments, made: Bundled) -> None:
    """The gate at its end has fewer tests, and a report of its own; so a deployment after it changes nothing."""
    folder = deployments.ansible.folder / "artifacts" / "cluster"
    before = (folder / "verify.ctrf.json").read_bytes()
    assert deployments.run(DEPLOY, made.variables()).recap("cluster")["changed"] == 0
    assert (folder / "verify.ctrf.json").read_bytes() == before
    found = json.loads((folder / "deploy.ctrf.json").read_text(encoding="utf-8"))["results"]["summary"]
    assert (found["failed"], found["skipped"]) == (0, 2)


def test_without_the_probes_nothing_is_written_and_the_report_says_so(
    own: Bed, deployments: Deployments, made: Bundled
) -> None:
    with own.audit.recording("admin") as requests:
        deployments.run(VERIFY, made.variables(aicr_verify_probe=False))
    assert written(requests) == []
    found = report(deployments)
    assert found["accounting", "an answer of slurmdbd"] == found["accounting", "a login to the database"] == "skipped"


def test_what_differs_fails_by_name_after_the_report_is_written(
    own: Bed, deployments: Deployments, made: Bundled, tmp_path: Path
) -> None:
    disabled = bundled(tmp_path / "disabled", "disabled")
    variables = disabled.variables(aicr_readiness_timeout=3, aicr_verify_probe=False)
    ran = deployments.run(VERIFY, variables, expect=2)
    found = report(deployments)
    assert found["record", "the mode of Slurm accounting"] == "failed"
    assert found["record", "the digest of the recipe"] == "failed"
    assert found["releases", "release slurm/slinky-slurm"] == "failed"
    assert "failed" in [status for (suite, _name), status in found.items() if suite == "forbidden"]
    assert '"aicr-provided" is recorded, "disabled" is due' in ran.output
    deployments.run(VERIFY, {**variables, "aicr_fail_on_error": False})


def test_a_check_of_an_uninstallation_writes_nothing(own: Bed, deployments: Deployments, volume: Path) -> None:
    with own.audit.recording("admin") as requests:
        ran = deployments.run(UNINSTALL, {}, "--check", "--diff")
    assert written(requests) == []
    assert ran.recap("cluster")["changed"] > 0
    assert "would be removed" in ran.output
    assert (volume / "cluster_table.ibd").is_file()


def test_secrets_alone_and_a_policy_that_drops_are_refused(own: Bed, deployments: Deployments) -> None:
    """The policy is that of the Database itself, by which its operator goes, whatever the MariaDB says."""
    own.api.patch(f"{MARIADB}/databases/mariadb-database", {"spec": {"cleanupPolicy": "Delete"}})
    with own.audit.recording("admin") as requests:
        ran = deployments.run(UNINSTALL, {"aicr_remove_secrets": True}, expect=2)
    own.api.patch(f"{MARIADB}/databases/mariadb-database", {"spec": {"cleanupPolicy": "Skip"}})
    assert "nothing would open the volume that stays" in ran.output
    assert "Database slurm/mariadb-database has the cleanupPolicy Delete" in ran.output
    assert written(requests) == []
    assert absent(own, LEASE)


def test_slurm_goes_before_its_database_and_data_secrets_and_crds_stay(
    own: Bed, deployments: Deployments, volume: Path
) -> None:
    with own.audit.recording("admin") as requests:
        ran = deployments.run(UNINSTALL, {})
    gone = deleted(own, requests)
    assert (
        gone.index("controllers/slinky-slurm")
        < gone.index("mariadbs/mariadb")
        < gone.index("deployments/mariadb-operator")
    )
    assert "kept: " in ran.output
    assert absent(own, f"{SLURM}/controllers/slinky-slurm")
    assert absent(own, f"{MARIADB}/mariadbs/mariadb")
    assert not list(own.api.items(f"{MARIADB}/databases"))
    for claim in (CLAIM, STATE):
        assert own.api.get(claim)["status"]["phase"] == "Bound"
    for secret in SECRETS:
        own.api.get(secret)
    own.api.get(f"{CRDS}/mariadbs.k8s.mariadb.com")
    assert written_down(volume)
    record = own.api.get(RECORD)["data"]
    assert (record["state"], record["mode"], json.loads(record["releases"])) == ("uninstalled", "", [])
    assert {one["name"] for one in json.loads(record["kept"])} >= {"mariadb-operator-crds"}
    left = {f"{one['kind']} {one['name']}" for one in json.loads(record["data-left"])}
    assert left >= {f"PersistentVolumeClaim {claim.rpartition('/')[2]}" for claim in (CLAIM, STATE)}
    assert absent(own, LEASE)


def test_a_second_uninstallation_changes_nothing(own: Bed, deployments: Deployments) -> None:
    before = own.api.get(RECORD)["data"]
    with own.audit.recording("admin") as requests:
        ran = deployments.run(UNINSTALL, {})
    assert (ran.recap("cluster")["changed"], ran.changed) == (0, [])
    assert {resource for _verb, resource, _name in written(requests)} == {"leases"}
    assert own.api.get(RECORD)["data"] == before


def test_a_new_deployment_takes_up_the_old_data(
    own: Bed, deployments: Deployments, made: Bundled, volume: Path
) -> None:
    passwords = [own.api.get(secret)["data"] for secret in SECRETS]
    deployments.run(DEPLOY, made.variables())
    assert [own.api.get(secret)["data"] for secret in SECRETS] == passwords
    found = sacctmgr(own, "slurm", "show", "account", "where", "name=physics", "format=Account,Descr,Org")
    assert found[-1] == "physics|kept|science"
    deployments.run(VERIFY, made.variables())
    assert set(report(deployments).values()) == {"passed"}


def test_what_is_asked_for_by_name_goes_as_well(own: Bed, deployments: Deployments) -> None:
    every = {f"aicr_remove_{what}": True for what in ("data", "secrets", "crds")}
    ran = deployments.run(UNINSTALL, every)
    assert "nothing is left" in ran.output
    for path in (
        CLAIM,
        STATE,
        *SECRETS,
        f"{CRDS}/mariadbs.k8s.mariadb.com",
        f"{CRDS}/controllers.slinky.slurm.net",
        RECORD,
    ):
        assert absent(own, path), path
    assert not list(own.api.items("/api/v1/secrets", labelSelector="owner=helm"))
    assert deployments.run(UNINSTALL, every).recap("cluster")["changed"] == 0
