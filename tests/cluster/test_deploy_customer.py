# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm with the customer's own database: whatever is wrong with it is named before anything of Slurm is there.

The tests of this file are one story on one cluster, in the order in which they stand. All its nodes are tainted from
the start (case N35), and every run tells all it knows (`-vvvv`), for the search for the password at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster import leaks
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Database
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.census import census
from ansible_collections.aicr.runtime.tests.cluster.deployments import (
    ASK,
    DEPLOY,
    LEASE,
    PROBE,
    Deployments,
    absent,
    releases,
    written,
)
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible, Run

PASSWORD = "planted-K7x_customer-2vQ"
WRONG = "planted-9fW_another-0aZ"
SECRET = "slurm-accounting-db"
SECRETS = "/api/v1/namespaces/slurm/secrets"
SETTINGS = (  # as slurmdbd wants them, in small
    "--innodb-lock-wait-timeout=900",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=64M",
    "--max-allowed-packet=16M",
)
TAINT = {"key": "dedicated", "value": "slurm", "effect": "NoSchedule"}
TOLERATED = ["dedicated=slurm:NoSchedule"]
REFUSED = "stopped at: Log in to the database: "


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster in which nothing is deployed at first, and no node takes a pod that does not tolerate its taint."""
    bed = Bed.start(tmp_path_factory.mktemp("customer") / "kind", "kind")
    for node in list(bed.api.items("/api/v1/nodes")):
        taints = [*node["spec"].get("taints", []), TAINT]
        bed.api.patch(f"/api/v1/nodes/{node['metadata']['name']}", {"spec": {"taints": taints}})
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": "slurm"}})
    yield bed
    bed.stop()


@pytest.fixture(scope="module")
def database(own: Bed) -> Iterator[Database]:
    """A server with TLS that lets clear text in. It is down at first."""
    with Database(own, "slurm", tls=True, flags=SETTINGS) as server:
        yield server


@pytest.fixture(scope="module")
def answering(database: Database) -> Database:
    """The same, up, with an account that is fit."""
    database.start().account("slurm", PASSWORD, "ALL PRIVILEGES ON slurm_acct_db.*")
    return database


def made_for(folder: Path, host: str) -> Bundled:
    """A bundle for a database; its Slurm tolerates the taint wherever it runs."""
    storage = {
        "host": host,
        "port": 3306,
        "database": "slurm_acct_db",
        "username": "slurm",
        "passwordKeyRef": {"name": SECRET, "key": "password"},
    }
    return bundled(
        folder,
        "customer-managed",
        values={"slinky-slurm": {"accounting": {"storageConfig": storage}}},
        scheduling={"system_node_tolerations": TOLERATED, "accelerated_node_tolerations": TOLERATED},
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return made_for(tmp_path_factory.mktemp("bundle"), "database.slurm")


@pytest.fixture(scope="module")
def deployments(own: Bed, charts: Path, tmp_path_factory: pytest.TempPathFactory) -> Deployments:
    return Deployments(Ansible(tmp_path_factory.mktemp("ansible")), own, charts, ["-vvvv"])


@pytest.fixture(scope="module", autouse=True)
def processes() -> Iterator[leaks.Processes]:
    with leaks.Processes() as watched:
        yield watched


def put_secret(bed: Bed, password: str) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "stringData": {"password": password}}
    bed.api.apply(f"{SECRETS}/{SECRET}", secret)


def in_slurm(bed: Bed) -> list[str]:
    """Everything in the namespace of Slurm except what the cluster itself notes; pods that are going do not count."""
    found = census(bed.api, "slurm")
    return sorted(
        name
        for name, one in found.items()
        if one["kind"] not in ("Event", "EndpointSlice", "Endpoints") and "deletionTimestamp" not in one["metadata"]
    )


BEFORE = [
    "ConfigMap slurm/kube-root-ca.crt",
    f"Secret slurm/{SECRET}",
    "Service slurm/database",
    "ServiceAccount slurm/default",
]
"""What is in the namespace before Slurm is."""


def told(ran: Run) -> str:
    """The line of the summary that says how far it came, and why not further."""
    (line,) = [one for one in ran.output.splitlines() if "stopped at: " in one and "customer-managed" in one]
    return line


def test_a_secret_that_is_not_there_stops_it_before_the_first_write(
    own: Bed, deployments: Deployments, made: Bundled, database: Database
) -> None:
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, made.variables(), expect=2)
    assert "stopped at: See whether the cluster can take it" in told(ran)
    assert f"Secret slurm/{SECRET}" in told(ran)
    assert written(requests) == []
    put_secret(own, PASSWORD)


def test_a_database_that_is_down_stops_it_before_anything_of_slurm(
    own: Bed, deployments: Deployments, made: Bundled, database: Database
) -> None:
    """Case S1. Everything that Slurm needs is there by now, and stays."""
    ran = deployments.run(DEPLOY, made.variables(), expect=2)
    assert (
        f"{REFUSED}[SERVICE_UNAVAILABLE] database database.slurm:3306: cannot be reached from namespace slurm"
        in told(ran)
    )
    record = deployments.record()
    assert (record["state"], record["mode"]) == ("deploying", "customer-managed")
    assert absent(own, LEASE)
    assert set(releases(own)) == {"cert-manager", "slinky-slurm-operator-crds", "slinky-slurm-operator"}
    assert eventually(lambda: in_slurm(own) == BEFORE)


@dataclass(frozen=True)
class Wrong:
    """Something that is wrong with a database.

    :ivar said: by the probe, in this order.
    :ivar planted: what root says to make it so, and `mended` to undo it.
    """

    outcomes: tuple[str, ...]
    said: tuple[str, ...]
    planted: str = "SELECT 1"
    mended: str = "SELECT 1"
    host: str = "database.slurm"
    password: str = PASSWORD


WRONGS = {
    "the host": Wrong(
        ("unknown-host",), ("the name nowhere.slurm is not known in namespace slurm",), host="nowhere.slurm"
    ),
    "the password": Wrong(
        ("wrong-password",),
        ("user slurm was refused", f"the user or the password is wrong (Secret slurm/{SECRET})"),
        password=WRONG,
    ),
    "no right CREATE": Wrong(
        ("missing-rights", "missing-database"),
        ("user slurm lacks rights on slurm_acct_db: CREATE",),
        "REVOKE CREATE ON slurm_acct_db.* FROM slurm@'%'",
        "GRANT CREATE ON slurm_acct_db.* TO slurm@'%'",
    ),
    "no right EXECUTE": Wrong(
        ("missing-rights",),
        ("user slurm lacks rights on slurm_acct_db: EXECUTE",),
        "CREATE DATABASE slurm_acct_db; REVOKE EXECUTE ON slurm_acct_db.* FROM slurm@'%'",
        "DROP DATABASE slurm_acct_db; GRANT EXECUTE ON slurm_acct_db.* TO slurm@'%'",
    ),
    "TLS is required": Wrong(
        ("tls-required",),
        ("user slurm is refused in clear text, and let in with TLS", "StorageParameters=SSL_CA="),
        "ALTER USER slurm@'%' REQUIRE SSL",
        "ALTER USER slurm@'%' REQUIRE NONE",
    ),
    "it only reads": Wrong(("read-only",), ("read",), "SET GLOBAL read_only=ON", "SET GLOBAL read_only=OFF"),
}


@pytest.mark.parametrize("what", WRONGS)
def test_what_is_wrong_is_named_and_nothing_of_slurm_is_made(
    own: Bed, deployments: Deployments, made: Bundled, answering: Database, tmp_path: Path, what: str
) -> None:
    """Case S15: each by a message of its own. Neither Slinky's objects nor a Job of ours are left."""
    wrong = WRONGS[what]
    chosen = made if wrong.host == "database.slurm" else made_for(tmp_path, wrong.host)
    answering.sql(wrong.planted)
    put_secret(own, wrong.password)
    try:
        with own.audit.recording("admin") as requests:
            ran = deployments.run(DEPLOY, chosen.variables(), expect=2)
    finally:
        answering.sql(wrong.mended)
        put_secret(own, PASSWORD)
    result = ran.result(PROBE)
    failures = [one for one in result["findings"] if one["severity"] == "failure"]
    assert tuple(one["outcome"] for one in failures) == wrong.outcomes
    for words in wrong.said:
        assert words in result["msg"], result["msg"]
    assert REFUSED + result["msg"][:60] in told(ran)
    assert absent(own, LEASE)
    assert {resource for _verb, resource, _name in written(requests)} == {"configmaps", "jobs", "leases"}
    assert eventually(lambda: in_slurm(own) == BEFORE)


def test_a_database_that_comes_late_is_waited_for_before_anything_of_slurm(
    own: Bed, deployments: Deployments, made: Bundled, answering: Database
) -> None:
    """Cases S1, and N35: every node is tainted, and the probe tolerates what slurmdbd does."""
    assert all(TAINT in node["spec"]["taints"] for node in own.api.items("/api/v1/nodes"))
    answering.stop()
    ran: list[Run] = []

    def deploy() -> None:
        ran.append(deployments.run(DEPLOY, made.variables(aicr_probe_wait=120)))

    with own.audit.recording("admin") as requests:
        run = threading.Thread(target=deploy)
        run.start()
        looked = eventually(lambda: [one for one in in_slurm(own) if one.startswith("Job ")], 60)
        eventually(lambda: [one for one in in_slurm(own) if one.startswith("Job ") and one not in looked], 60)
        slurms = [one for one in in_slurm(own) if "slinky" in one]
        answering.start()
        run.join()
    assert slurms == []
    assert ran and ran[0].recap("cluster")["changed"] > 0
    assert ran[0].result(PROBE)["summary"]["outcome"] == "ok"
    jobs = [one.body for one in requests if one.resource == "jobs" and one.namespace == "slurm" and one.body]
    for job in (one for one in jobs if one.get("spec")):
        assert {"operator": "Equal", **TAINT} in job["spec"]["template"]["spec"]["tolerations"]
    assert not [one for one in in_slurm(own) if one.startswith("Job ")]


def test_slurmdbd_accounts_in_the_customers_database(own: Bed, deployments: Deployments, answering: Database) -> None:
    record = deployments.record()
    assert (record["state"], record["mode"]) == ("deployed", "customer-managed")
    sets = {
        one["metadata"]["name"]: one["status"] for one in own.api.items("/apis/apps/v1/namespaces/slurm/statefulsets")
    }
    assert sets["slinky-slurm-accounting"]["readyReplicas"] == 1
    assert sets["slinky-slurm-controller"]["readyReplicas"] == 1
    assert answering.sql("SELECT name FROM slurm_acct_db.cluster_table WHERE deleted = 0") == [["slurm_slinky-slurm"]]


def test_a_second_run_changes_nothing(own: Bed, deployments: Deployments, made: Bundled) -> None:
    before = deployments.record()
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, made.variables())
    assert (ran.recap("cluster")["changed"], ran.changed) == (0, [])
    assert {resource for _verb, resource, _name in written(requests)} == {"configmaps", "jobs", "leases"}
    assert deployments.record() == before
    assert ran.result(ASK)["summary"]["outcome"] == "ok"


def test_nothing_of_mariadb_is_there(own: Bed) -> None:
    assert absent(own, "/apis/k8s.mariadb.com")
    assert absent(own, "/api/v1/namespaces/mariadb-system")
    assert not [name for name in census(own.api) if "mariadb" in name.lower()]
    names = {"cert-manager", "slinky-slurm-operator-crds", "slinky-slurm-operator", "slinky-slurm-pre", "slinky-slurm"}
    assert set(releases(own)) == names


def test_the_password_is_nowhere_but_in_its_secret_and_in_slurmdbds(
    own: Bed, deployments: Deployments, made: Bundled, processes: leaks.Processes
) -> None:
    """Neither after what failed nor after what went well; also not in what Helm keeps of a release."""
    objects = census(own.api)
    held = {f"Secret slurm/{SECRET}", "Secret slurm/slinky-slurm-accounting"}
    assert leaks.in_objects([PASSWORD], objects) == held
    assert leaks.in_objects([WRONG], objects) == set()
    releases_that_name_it = {name for name in leaks.in_objects([SECRET], objects) if "sh.helm.release" in name}
    assert "Secret slurm/sh.helm.release.v1.slinky-slurm.v1" in releases_that_name_it  # so they were looked into
    assert leaks.in_texts([PASSWORD, WRONG], deployments.told) == []
    assert any("<127.0.0.1>" in text or "TASK PATH" in text.upper() for text in deployments.told)  # -vvvv
    for folder in (deployments.ansible.folder, made.bundle, made.recipe.parent):
        assert leaks.in_files([PASSWORD, WRONG], folder) == []
    assert leaks.in_texts([PASSWORD, WRONG], processes.seen) == []
    assert any("ansible-playbook" in one for one in processes.seen)
    assert any("sacctmgr" in one for one in processes.seen)
