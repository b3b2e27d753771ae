# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in of mariadb-operator against the recordings of the real one: objects, order, surprises."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
import yaml

from ansible_collections.aicr.runtime.tests.cluster import recorded_objects, timeline
from ansible_collections.aicr.runtime.tests.cluster.bed import ApiError, Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.installed import Helm
from ansible_collections.aicr.runtime.tests.cluster.operators.objects import condition, path
from ansible_collections.aicr.runtime.tests.cluster.timeline import Timeline

KINDS = (
    "MariaDB",
    "Secret",
    "ConfigMap",
    "ServiceAccount",
    "StatefulSet",
    "Service",
    "Database",
    "User",
    "Grant",
)
SECONDS = 90
"""More than a server takes to come up while others use the machine."""
OPERATOR = "mariadb-system"
SPEC: Object = {
    "rootPasswordSecretKeyRef": {"name": "mariadb-root", "key": "password"},
    "image": "mariadb:11.8.8",
    "replicas": 1,
    "storage": {"ephemeral": True},
    "database": "slurm_acct_db",
    "username": "slurm",
    "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password", "generate": True},
    "cleanupPolicy": "Skip",
    "tls": {"enabled": False},
    "myCnf": "[mariadb]\ninnodb_lock_wait_timeout=900\n",
}
"""recordings/case-a-applied.yaml."""


@pytest.fixture(scope="module")
def helm(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Helm]:
    """Helm, with the operator installed and no webhook, as it was recorded."""
    helm = Helm(bed, charts_folder(tmp_path_factory.mktemp("charts")))
    off = ["--set", "webhook.enabled=false,certController.enabled=false"]
    with (
        helm.installed("mariadb-operator-crds", "mariadb-operator-crds", OPERATOR),
        helm.installed("mariadb-operator", "mariadb-operator", OPERATOR, *off, "--wait"),
    ):
        for kind in ("MariaDB", "Database", "User", "Grant"):
            eventually(lambda kind=kind: answers(bed, kind))  # type: ignore[misc]
        yield helm
        # Without the operator nobody would take their finalizers away (operators.md 1.4, b11).
        eventually(lambda: not any(one for kind in KINDS[-3:] for one in bed.api.items(path(kind))), SECONDS)


def answers(bed: Bed, kind: str) -> bool:
    """Whether objects of a new kind can be asked for: established is not yet served."""
    try:
        bed.api.get(path(kind))
    except ApiError as error:
        if error.code not in (404, 429):
            raise
        return False
    return True


def make_secret(bed: Bed, namespace: str, name: str, **data: str) -> None:
    bed.api.create(path("Secret", namespace), {"metadata": {"name": name}, "stringData": data})


def make_mariadb(bed: Bed, namespace: str, **more: Any) -> None:
    body = {"apiVersion": "k8s.mariadb.com/v1alpha1", "kind": "MariaDB", "metadata": {"name": "mariadb"}}
    bed.api.create(path("MariaDB", namespace), {**body, "spec": {**SPEC, **more}})


def make_sql(bed: Bed, namespace: str, kind: str, called: str, of: str = "mariadb", **spec: Any) -> None:
    body = {"apiVersion": "k8s.mariadb.com/v1alpha1", "kind": kind, "metadata": {"name": called}}
    bed.api.create(path(kind, namespace), {**body, "spec": {"mariaDbRef": {"name": of}, **spec}})


def find(bed: Bed, kind: str, namespace: str, name: str) -> Object | None:
    return next(bed.api.items(path(kind, namespace), fieldSelector=f"metadata.name={name}"), None)


def state(bed: Bed, kind: str, namespace: str, name: str = "mariadb") -> tuple[str, str, str]:
    """Status, reason and message of Ready."""
    ready = condition(find(bed, kind, namespace, name) or {})
    return ready.get("status", ""), ready.get("reason", ""), ready.get("message", "")


def is_ready(bed: Bed, kind: str, namespace: str, name: str) -> bool:
    return state(bed, kind, namespace, name)[0] == "True"


def wait_for_all(bed: Bed, namespace: str) -> None:
    """Until the last of its objects is Ready."""
    eventually(lambda: is_ready(bed, "Grant", namespace, "mariadb-user-all"), SECONDS)
    eventually(lambda: state(bed, "MariaDB", namespace) == ("True", "StatefulSetReady", "Running"), SECONDS)


def value(bed: Bed, namespace: str, name: str) -> str:
    found = bed.api.get(path("Secret", namespace, name))
    return base64.b64decode(found["data"]["password"]).decode()


def sql(bed: Bed, namespace: str, user: str, password: str, statement: str = "SELECT 1") -> list[tuple[Any, ...]]:
    """Rows, by a login at the address of the Service."""
    service = bed.api.get(path("Service", namespace, "mariadb"))
    with (
        pymysql.Connection(host=service["spec"]["clusterIP"], user=user, password=password) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
        return list(cursor.fetchall())


def logs_in(bed: Bed, namespace: str, password: str) -> bool:
    try:
        return bool(sql(bed, namespace, "slurm", password))
    except pymysql.OperationalError:
        return False


@pytest.fixture(scope="module")
def running(bed: Bed, helm: Helm) -> Iterator[str]:
    """The namespace of a MariaDB that is up, for tests that leave it so."""
    namespace = "aicr-test-mariadb"
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    make_secret(bed, namespace, "mariadb-root", password="a-root-pw-1")
    eventually(lambda: find(bed, "ServiceAccount", namespace, "default"))
    make_mariadb(bed, namespace)
    wait_for_all(bed, namespace)
    yield namespace
    bed.api.delete(f"/api/v1/namespaces/{namespace}")


def test_makes_the_recorded_objects_in_the_recorded_order(bed: Bed, helm: Helm, namespace: str, shared: Path) -> None:
    recording = shared / "recordings"
    expected = timeline.recorded(recording / "case-a-timeline.tsv", KINDS)
    make_secret(bed, namespace, "mariadb-root", password="a-root-pw-1")
    with Timeline(bed, namespace, KINDS) as seen:
        make_mariadb(bed, namespace)
        wait_for_all(bed, namespace)
        steps = seen.steps()
    assert timeline.made(steps) == timeline.made(expected)
    # Ready before Database, User and Grant, and each of these only after the one before (operators.md 1.1).
    there = timeline.ready_before(steps)
    assert {name: ready - there[name] for name, ready in timeline.ready_before(expected).items()} == dict.fromkeys(
        timeline.made(expected), frozenset()
    )
    for name in timeline.made(expected):
        changes = [change for change in timeline.of(steps, name) if "Ready=False/Failed" not in change]
        repeated = [change for number, change in enumerate(changes) if change not in changes[:number]]
        # Updated may come one patch earlier (operators.md 1.1), so the order of the two says nothing.
        assert sorted(repeated) == sorted(timeline.of(expected, name)), name
    objects = recorded_objects.recorded(recording / "case-a-provided.yaml")
    mine = recorded_objects.present(bed, namespace, KINDS)
    for key in {key for key in objects if key[0] in KINDS} - {("ConfigMap", "kube-root-ca.crt")}:
        assert yaml.safe_dump(mine[key]) == yaml.safe_dump(objects[key]), key
    mariadb = bed.api.get(path("MariaDB", namespace, "mariadb"))
    assert mariadb["metadata"]["generation"] == 2
    assert not any("observedGeneration" in one for one in mariadb["status"]["conditions"])
    grants = sql(bed, namespace, "slurm", value(bed, namespace, "mariadb-password"), "SHOW GRANTS")
    assert "WITH MAX_USER_CONNECTIONS 20" in grants[0][0]
    assert grants[1][0] == "GRANT ALL PRIVILEGES ON `slurm_acct_db`.* TO `slurm`@`%`"


def test_shows_a_failure_that_passes_in_a_good_run(bed: Bed, helm: Helm, namespace: str, shared: Path) -> None:
    recorded = timeline.recorded(shared / "recordings" / "case-b8c-password-secret-absent-then-created.tsv", KINDS)
    (passing,) = {change for name, change in recorded if name == "MariaDB mariadb" and "reconciling SQL" in change}
    make_secret(bed, namespace, "mariadb-root", password="a-root-pw-1")
    without = {"passwordSecretKeyRef": {"name": "mariadb-password", "key": "password"}}
    with Timeline(bed, namespace, ("MariaDB", "StatefulSet")) as seen:
        make_mariadb(bed, namespace, **without)
        missing = 'Error reconciling Secret: error reconciling password Secret: Secret "mariadb-password" not found'
        flapping = [f"Ready=False/Failed {missing}", "Ready=False/StatefulSetNotReady Not ready"]
        eventually(lambda: timeline.of(seen.steps(), "MariaDB mariadb").count(flapping[0]) > 5, 30)
        before = timeline.of(seen.steps(), "MariaDB mariadb")
        assert set(before) == {"ADDED", *flapping}
        assert not timeline.of(seen.steps(), "StatefulSet mariadb")
        make_secret(bed, namespace, "mariadb-password", password="given-by-hand")
        wait_for_all(bed, namespace)
        steps = timeline.of(seen.steps(), "MariaDB mariadb")
    assert passing in steps
    assert steps[-1] == "Ready=True/StatefulSetReady Running"
    assert logs_in(bed, namespace, "given-by-hand")


def test_password_secret_without_its_key_leaves_no_grant(bed: Bed, helm: Helm, namespace: str) -> None:
    make_secret(bed, namespace, "mariadb-root", password="a-root-pw-1")
    make_secret(bed, namespace, "mariadb-password", wrong="x")
    make_mariadb(bed, namespace)
    text = (
        "Error creating mariadb-user: 1 error occurred:\n\t* error reading user password secret: "
        'secret key "password" not found\n\n'
    )
    eventually(lambda: state(bed, "User", namespace, "mariadb-user") == ("False", "Failed", text), SECONDS)
    assert state(bed, "MariaDB", namespace)[:2] == ("True", "StatefulSetReady")
    assert is_ready(bed, "Database", namespace, "mariadb-database")
    assert find(bed, "Grant", namespace, "mariadb-user-all") is None
    assert sorted(bed.api.get(path("Secret", namespace, "mariadb-password"))["data"]) == ["wrong"]


def test_root_password_that_was_wrong_heals_only_without_internal_mariadb(bed: Bed, helm: Helm, namespace: str) -> None:
    kept = {"storage": {"size": "1Gi"}}
    make_secret(bed, namespace, "mariadb-root", password="right")
    make_mariadb(bed, namespace, **kept)
    wait_for_all(bed, namespace)
    bed.api.delete(path("MariaDB", namespace, "mariadb"))
    eventually(lambda: find(bed, "StatefulSet", namespace, "mariadb") is None)
    eventually(lambda: find(bed, "Pod", namespace, "mariadb-0") is None, 60)
    # Left are the passwords and the claim (operators.md 1.4, b2).
    assert find(bed, "Secret", namespace, "mariadb-password")
    assert find(bed, "Secret", namespace, "internal-mariadb") is None
    wrong = {"data": {"password": base64.b64encode(b"wrong").decode()}}
    bed.api.patch(path("Secret", namespace, "mariadb-root"), wrong)
    make_mariadb(bed, namespace, **kept)
    eventually(lambda: state(bed, "Database", namespace, "mariadb-database")[1] == "Failed", SECONDS)
    refused = state(bed, "Database", namespace, "mariadb-database")[2]
    assert refused.startswith("Error connecting to MariaDB: Error 1045 (28000): Access denied for user 'root'@'")
    assert refused.endswith("' (using password: YES)")
    right = {"data": {"password": base64.b64encode(b"right").decode()}}
    bed.api.patch(path("Secret", namespace, "mariadb-root"), right)
    with Timeline(bed, namespace, ("MariaDB",)) as seen:
        bed.api.patch(path("MariaDB", namespace, "mariadb"), {"metadata": {"annotations": {"poke": "1"}}})
        trap = "Ready=False/Failed Error reconciling Root Password: error creating SQL client for root password update"
        eventually(lambda: sum(one.startswith(trap) for one in timeline.of(seen.steps(), "MariaDB mariadb")) > 4, 30)
    bed.api.delete(path("Secret", namespace, "internal-mariadb"))
    wait_for_all(bed, namespace)
    assert find(bed, "Secret", namespace, "internal-mariadb")


def test_rotated_password_is_taken_over_by_the_label_alone(bed: Bed, running: str) -> None:
    before = value(bed, running, "mariadb-password")
    told = condition(find(bed, "User", running, "mariadb-user") or {})
    secret = path("Secret", running, "mariadb-password")
    bed.api.patch(secret, {"data": {"password": base64.b64encode(b"rotated").decode()}})
    time.sleep(2)
    assert logs_in(bed, running, before)
    bed.api.patch(secret, {"metadata": {"labels": {"k8s.mariadb.com/watch": ""}}})
    eventually(lambda: logs_in(bed, running, "rotated"))
    assert not logs_in(bed, running, before)
    assert condition(find(bed, "User", running, "mariadb-user") or {}) == told


def test_deleted_database_object_comes_back_with_the_next_event_only(bed: Bed, running: str) -> None:
    bed.api.delete(path("Database", running, "mariadb-database"))
    eventually(lambda: find(bed, "Database", running, "mariadb-database") is None)
    time.sleep(2)
    assert find(bed, "Database", running, "mariadb-database") is None
    rows = sql(bed, running, "root", "a-root-pw-1", "SHOW DATABASES LIKE 'slurm_acct_db'")
    assert rows, "with the policy Skip the database stays"
    bed.api.patch(path("MariaDB", running, "mariadb"), {"metadata": {"annotations": {"poke": "1"}}})
    eventually(lambda: is_ready(bed, "Database", running, "mariadb-database"))


def test_finalizer_drops_a_database_whose_policy_is_delete(bed: Bed, running: str) -> None:
    make_sql(bed, running, "Database", "passing", name="passing", cleanupPolicy="Delete")
    eventually(lambda: is_ready(bed, "Database", running, "passing"))
    sql(bed, running, "root", "a-root-pw-1", "CREATE TABLE passing.history (job INT)")
    bed.api.delete(path("Database", running, "passing"))
    eventually(lambda: find(bed, "Database", running, "passing") is None)
    assert not sql(bed, running, "root", "a-root-pw-1", "SHOW DATABASES LIKE 'passing'")


def test_says_what_is_wrong_with_objects_written_by_hand(bed: Bed, running: str, shared: Path) -> None:
    recorded = timeline.recorded(shared / "recordings" / "case-b10-sql-objects-without-server.tsv", ("User", "Grant"))
    make_secret(bed, running, "some", password="some")
    ref = {"passwordSecretKeyRef": {"name": "nosecret", "key": "password"}}
    make_sql(bed, running, "Database", "db1", of="nosuch")
    make_sql(bed, running, "User", "u1", **ref)
    make_sql(bed, running, "Grant", "g1", privileges=["SELECT"], database="x", username="nobody")
    good = {"passwordSecretKeyRef": {"name": "some", "key": "password"}}
    make_sql(bed, running, "User", "badpriv", name="in'jected", **good)
    eventually(lambda: state(bed, "Database", running, "db1")[1:] == ("Failed", "MariaDB not found"))
    for kind, name in (("User", "u1"), ("Grant", "g1"), ("User", "badpriv")):
        eventually(lambda kind=kind, name=name: state(bed, kind, running, name)[1] == "Failed")  # type: ignore[misc]
        status, reason, message = state(bed, kind, running, name)
        assert f"Ready={status}/{reason} {message}" in timeline.of(recorded, f"{kind} {name}")
    for kind, name in (("Database", "db1"), ("User", "u1"), ("Grant", "g1"), ("User", "badpriv")):
        bed.api.delete(path(kind, running, name))


def test_changed_configuration_is_pending_until_the_pod_is_another(bed: Bed, running: str) -> None:
    pod = (find(bed, "Pod", running, "mariadb-0") or {})["metadata"]["uid"]
    with Timeline(bed, running, ("MariaDB",)) as seen:
        new = {"myCnf": "[mariadb]\ninnodb_lock_wait_timeout=901\n"}
        bed.api.patch(path("MariaDB", running, "mariadb"), {"spec": new})
        eventually(lambda: ((find(bed, "Pod", running, "mariadb-0") or {}).get("metadata", {}).get("uid")) != pod, 60)
        wait_for_all(bed, running)
        steps = timeline.of(seen.steps(), "MariaDB mariadb")
    assert steps == [
        "Ready=True/PendingUpdate Pending update",
        "Updated=False/PendingUpdate Pending update",
        "Ready=True/StatefulSetReady Running",
        "Updated=True/Updated Updated",
    ]
    assert sql(bed, running, "root", "a-root-pw-1", "SELECT @@innodb_lock_wait_timeout") == [(901,)]


def test_objects_stay_true_when_the_server_is_lost(bed: Bed, running: str) -> None:
    pod = path("Pod", running, "mariadb-0")
    bed.api.patch(pod, {"metadata": {"annotations": {"bed/crash": "1"}}})
    eventually(lambda: state(bed, "MariaDB", running) == ("False", "StatefulSetNotReady", "Not ready"))
    assert "replicas" not in (find(bed, "MariaDB", running, "mariadb") or {})["status"]
    for kind, name in (("Database", "mariadb-database"), ("User", "mariadb-user"), ("Grant", "mariadb-user-all")):
        assert state(bed, kind, running, name) == ("True", "Created", "Created")
    bed.api.patch(pod, {"metadata": {"annotations": {"bed/crash": None}}})
    eventually(lambda: is_ready(bed, "MariaDB", running, "mariadb"), SECONDS)


def test_suspension_is_told_by_the_mariadb_alone(bed: Bed, running: str) -> None:
    bed.api.patch(path("MariaDB", running, "mariadb"), {"spec": {"suspend": True}})
    eventually(lambda: state(bed, "MariaDB", running) == ("False", "Suspended", "Suspended"))
    assert is_ready(bed, "User", running, "mariadb-user")
    bed.api.patch(path("MariaDB", running, "mariadb"), {"spec": {"suspend": False}})
    eventually(lambda: is_ready(bed, "MariaDB", running, "mariadb"))


def test_objects_hang_while_the_operator_is_away_and_delays_hold(bed: Bed, helm: Helm, namespace: str) -> None:
    operator = f"/apis/apps/v1/namespaces/{OPERATOR}/deployments/mariadb-operator"
    pods = f"/api/v1/namespaces/{OPERATOR}/pods"
    make_secret(bed, namespace, "mariadb-root", password="a-root-pw-1")
    make_mariadb(bed, namespace)
    wait_for_all(bed, namespace)
    bed.api.patch(operator, {"spec": {"replicas": 0}})
    eventually(lambda: not list(bed.api.items(pods)), 60)
    bed.api.delete(path("MariaDB", namespace, "mariadb"))
    eventually(lambda: "deletionTimestamp" in (find(bed, "Database", namespace, "mariadb-database") or {})["metadata"])
    eventually(lambda: find(bed, "StatefulSet", namespace, "mariadb") is None)
    assert is_ready(bed, "Database", namespace, "mariadb-database")
    with bed.images.changed("*mariadb-operator*", BED_DELAY_MARIADB="4"):
        bed.api.patch(operator, {"spec": {"replicas": 1}})
        eventually(lambda: find(bed, "Database", namespace, "mariadb-database") is None, 60)
        eventually(lambda: find(bed, "Pod", namespace, "mariadb-0") is None, 60)
        with Timeline(bed, namespace, ("MariaDB", "StatefulSet")) as seen:
            make_mariadb(bed, namespace)
            eventually(lambda: is_ready(bed, "MariaDB", namespace, "mariadb"), SECONDS)
            workload = find(bed, "StatefulSet", namespace, "mariadb") or {}
            assert workload["status"]["readyReplicas"] == 1
            assert timeline.of(seen.steps(), "MariaDB mariadb")[1] == "Ready=False/StatefulSetNotReady Not ready"
    # With the usual ones again for whoever comes next.
    bed.api.delete(pods + "/" + next(bed.api.items(pods))["metadata"]["name"])
