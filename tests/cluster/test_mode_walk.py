# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm goes from the customer's database to none and back: whatever sacctmgr has written is there at the end.

The tests of this file are one story on one cluster, in the order in which they stand. That a step from one owner of the
database to another is refused, with what a person must do, is held in test_preflight.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Database
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.deployments import (
    ASK,
    DEPLOY,
    Deployments,
    absent,
)
from ansible_collections.aicr.runtime.tests.cluster.sacctmgr import sacctmgr

SECRET = "/api/v1/namespaces/slurm/secrets/slurm-accounting-db"
SLURMDBD = "/apis/apps/v1/namespaces/slurm/statefulsets/slinky-slurm-accounting"
PASSWORD = "planted-W4k_customer-7tR"
SETTINGS = ("--innodb-lock-wait-timeout=900", "--innodb-buffer-pool-size=64M", "--max-allowed-packet=16M")
CHECK = "See whether the cluster can take it"
LATE_SECONDS = 15


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    bed = Bed.start(tmp_path_factory.mktemp("walk") / "kind", "kind")
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": "slurm"}})
    secret = {"metadata": {"name": "slurm-accounting-db"}, "stringData": {"password": PASSWORD}}
    bed.api.create("/api/v1/namespaces/slurm/secrets", secret)
    yield bed
    bed.stop()


@pytest.fixture(scope="module")
def database(own: Bed) -> Iterator[Database]:
    with Database(own, "slurm", flags=SETTINGS) as server:
        server.start().account("slurm", PASSWORD, "ALL PRIVILEGES ON slurm_acct_db.*")
        yield server


@pytest.fixture(scope="module")
def customer(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    storage = {
        "host": "database.slurm",
        "port": 3306,
        "database": "slurm_acct_db",
        "username": "slurm",
        "passwordKeyRef": {"name": "slurm-accounting-db", "key": "password"},
    }
    values = {"slinky-slurm": {"accounting": {"storageConfig": storage}}}
    return bundled(tmp_path_factory.mktemp("customer"), "customer-managed", values=values)


def accounts(database: Database) -> list[str]:
    return [name for (name,) in database.sql("SELECT name FROM slurm_acct_db.acct_table WHERE deleted = 0")]


def test_sacctmgr_writes_into_the_customers_database(
    own: Bed, deployments: Deployments, customer: Bundled, database: Database
) -> None:
    deployments.run(DEPLOY, customer.variables())
    sacctmgr(own, "slurm", "-i", "add", "account", "physics", "description=kept", "organization=science")
    assert "physics" in accounts(database)


def test_without_accounting_the_customers_database_and_secret_stay(
    own: Bed, deployments: Deployments, database: Database, tmp_path: Path
) -> None:
    before = own.api.get(SECRET)
    disabled = bundled(tmp_path / "disabled", "disabled")
    ran = deployments.run(DEPLOY, disabled.variables(aicr_allow_mode_change=True))
    (said,) = ran.result(CHECK)["findings"]
    assert (said["severity"], said["check"]) == ("warning", "accounting-mode")
    assert deployments.record()["mode"] == "disabled"
    assert eventually(lambda: absent(own, SLURMDBD), 60)
    assert own.api.get(SECRET) == before
    assert "physics" in accounts(database)


def test_with_accounting_again_all_that_was_written_is_there(
    own: Bed, deployments: Deployments, customer: Bundled, database: Database
) -> None:
    """Case S1, too: slurmctld is there before slurmdbd answers, and then does not register, which is told."""
    before = own.api.get(SECRET)
    with own.images.changed("*/slurmdbd[:@]*", delay=LATE_SECONDS):
        ran = deployments.run(DEPLOY, customer.variables(aicr_allow_mode_change=True))
    asked = ran.result(ASK)
    assert asked["summary"]["outcome"] == "ok"
    told = any("slurmctld has not registered" in warning for warning in asked.get("warnings", ()))
    assert told is (asked["summary"]["control_host"] is None)
    assert deployments.record()["mode"] == "customer-managed"
    assert own.api.get(SECRET) == before
    found = sacctmgr(own, "slurm", "show", "account", "where", "name=physics", "format=Account,Descr,Org")
    assert found[-1] == "physics|kept|science"
    assert accounts(database).count("physics") == 1
    clusters = database.sql("SELECT name FROM slurm_acct_db.cluster_table WHERE deleted = 0")
    assert clusters == [["slurm_slinky-slurm"]]
