# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm with the database that AICR provides, from an empty cluster to another mode, whose price is not the data.

The tests of this file are one story on one cluster, in the order in which they stand. Every run tells all it knows
(`-vvvv`), for the search for the passwords that operators have made.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster import leaks
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.audit import Request
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.census import census
from ansible_collections.aicr.runtime.tests.cluster.deployments import (
    ASK,
    DEPLOY,
    INSTALL,
    LEASE,
    PROBE,
    Deployments,
    absent,
    releases,
    written,
)
from ansible_collections.aicr.runtime.tests.cluster.installed import Helm
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CLAIMS = "/api/v1/namespaces/slurm/persistentvolumeclaims"
MARIADB = "/apis/k8s.mariadb.com/v1alpha1/namespaces/slurm"
CHECK = "See whether the cluster can take it"
OPERATOR = "*mariadb-operator[:@]*"
CLUSTER = "slurm_slinky-slurm"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return bundled(tmp_path_factory.mktemp("bundle"), "aicr-provided")


@pytest.fixture(scope="module")
def deployments(own: Bed, charts: Path, tmp_path_factory: pytest.TempPathFactory) -> Deployments:
    return Deployments(Ansible(tmp_path_factory.mktemp("ansible")), own, charts, ["-vvvv"])


@pytest.fixture(scope="module", autouse=True)
def processes() -> Iterator[leaks.Processes]:
    with leaks.Processes() as watched:
        yield watched


@pytest.fixture(scope="module")
def asked() -> list[Request]:
    """What the runs have asked of the API from the first on that wrote, until there was a Slurm."""
    return []


def ready(one: Object) -> Object:
    """The condition Ready."""
    found: Object = next(one for one in one["status"]["conditions"] if one["type"] == "Ready")
    return found


def sql_objects(bed: Bed) -> list[Object]:
    """All that mariadb-operator makes of a MariaDB by SQL."""
    return [one for kind in ("databases", "users", "grants") for one in bed.api.items(f"{MARIADB}/{kind}")]


def data_of_the_database(bed: Bed) -> Path:
    """The folder in which the server keeps the tables of slurmdbd, on the volume of its claim."""
    volume = bed.api.get(f"{CLAIMS}/storage-mariadb-0")["spec"]["volumeName"]
    place = bed.api.get(f"/api/v1/persistentvolumes/{volume}")["spec"]["hostPath"]["path"]
    return Path(place) / "slurm_acct_db"


# ---- what is in the way


def test_all_that_is_in_the_way_is_told_at_once_and_before_the_first_write(
    own: Bed, deployments: Deployments, charts: Path, tmp_path: Path
) -> None:
    """Cases S3, M9, and CRDs of another owner: nothing of them is touched."""
    own.api.create("/api/v1/namespaces", {"metadata": {"name": "slurm"}})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}}
    own.api.create(CLAIMS, {"metadata": {"name": "storage-mariadb-0"}, "spec": claim})
    own.api.create(CRDS, old_slinky())
    helm = Helm(own, charts)
    without_crds = bundled(tmp_path / "bundle", "aicr-provided", without=("slinky-slurm-operator-crds",))
    with helm.installed("their-mariadb", "mariadb-operator-crds", "theirs"), own.audit.recording("admin") as requests:
        eventually(lambda: not absent(own, "/apis/k8s.mariadb.com/v1alpha1"))
        eventually(lambda: not absent(own, "/apis/slinky.slurm.net/v1alpha1"))
        ran = deployments.run(DEPLOY, without_crds.variables(), expect=2)
    findings = [one for one in ran.result(CHECK)["findings"] if one["severity"] == "error"]
    told = {one["check"]: [] for one in findings}  # type: ignore[var-annotated]
    for one in findings:
        told[one["check"]].append(one["what"])
        assert one["what"] in ran.output
    assert sorted(told) == ["crds", "orphan-volume"]
    old, foreign = sorted(told["crds"], key=lambda what: "theirs/their-mariadb" in what)
    assert "controllers.slinky.slurm.net do not serve v1beta1" in old
    assert "belong to the release theirs/their-mariadb (mariadb-operator-crds 26.6.0)" in foreign
    assert "slurm/storage-mariadb-0" in told["orphan-volume"][0]
    assert "Secret" in told["orphan-volume"][0]
    helm_alone = {one.user_agent for one in requests if one.writes and "elm" in one.user_agent}
    assert {one.user_agent for one in requests if one.writes} - {"aicr-test"} == helm_alone
    assert absent(own, LEASE)
    own.api.delete(f"{CRDS}/controllers.slinky.slurm.net")
    own.api.delete(f"{CLAIMS}/storage-mariadb-0")
    own.api.delete("/api/v1/namespaces/slurm")
    gone = (f"{CRDS}/controllers.slinky.slurm.net", f"{CRDS}/mariadbs.k8s.mariadb.com", "/api/v1/namespaces/slurm")
    eventually(lambda: all(absent(own, path) for path in gone), 30)


def old_slinky() -> Object:
    """A CRD of slurm-operator from before v1beta1."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Controller", "plural": "controllers", "singular": "controller"}
    spec = {"group": "slinky.slurm.net", "names": names, "scope": "Namespaced", "versions": [version]}
    return {"metadata": {"name": "controllers.slinky.slurm.net"}, "spec": spec}


# ---- from an empty cluster to accounting


def test_a_mariadb_that_is_ready_is_not_enough(
    own: Bed, deployments: Deployments, made: Bundled, asked: list[Request]
) -> None:
    """Case M8: without its Grant nothing of Slurm is touched. And M5: the webhook of the operator comes late."""
    own.images.set(OPERATOR, BED_DELAY_CA_BUNDLE="5", BED_DELAY_GRANT="3600")
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, made.variables(aicr_readiness_timeout=75), expect=2)
    asked += requests
    assert "stopped at: Wait until they are ready: [TIMEOUT]" in ran.output
    assert "Grant slurm/mariadb-user-all" in ran.result("aicr.runtime.component : Wait until they are ready")["msg"]
    assert ready(own.api.get(f"{MARIADB}/mariadbs/mariadb"))["status"] == "True"
    assert list(releases(own, "slurm")) == ["slurm-accounting-mariadb"]
    assert not list(own.api.items("/apis/slinky.slurm.net/v1beta1/controllers"))
    assert not [one for one in requests if one.resource == "jobs"]
    refused = [one for one in requests if one.resource == "mariadbs" and one.writes and one.code >= 400]
    assert {one.code for one in refused} <= {500}, "while the webhook could not be called, helm was started again"
    assert own.api.get("/api/v1/namespaces/default/configmaps/aicr-deployment")["data"]["state"] == "deploying"
    assert absent(own, LEASE)


def test_the_next_run_does_what_is_left(
    own: Bed, deployments: Deployments, made: Bundled, asked: list[Request]
) -> None:
    own.images.set(OPERATOR)
    own.api.request("DELETE", "/api/v1/namespaces/mariadb-system/pods")
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, made.variables())
    asked += requests
    assert INSTALL in ran.changed
    assert ran.result(PROBE)["summary"]["outcome"] == "ok"
    assert ran.result(ASK)["summary"]["outcome"] == "ok"
    assert ran.result(ASK)["summary"]["cluster"] == CLUSTER
    record = deployments.record()
    assert (record["state"], record["mode"]) == ("deployed", "aicr-provided")
    assert absent(own, LEASE)


def test_each_step_waits_for_the_one_that_it_needs(own: Bed, asked: list[Request]) -> None:
    """CRDs, operator, instance, Slurm; Database, User and Grant before anything of Slurm."""
    made = [one for one in asked if one.writes and one.code < 300]

    def first(resource: str, name: str) -> int:
        return next(at for at, one in enumerate(made) if one.resource == resource and created(one) == name)

    steps = [
        first("customresourcedefinitions", "mariadbs.k8s.mariadb.com"),
        first("deployments", "mariadb-operator"),
        first("mariadbs", "mariadb"),
        first("controllers", "slinky-slurm"),
    ]
    assert steps == sorted(steps)
    operator = [
        first("customresourcedefinitions", "controllers.slinky.slurm.net"),
        first("deployments", "slurm-operator"),
    ]
    assert operator == sorted(operator)
    when = releases(own, "slurm")
    assert list(when) == ["slurm-accounting-mariadb", "slinky-slurm-pre", "slinky-slurm"]
    for one in (own.api.get(f"{MARIADB}/mariadbs/mariadb"), *sql_objects(own)):
        assert ready(one)["status"] == "True", one
        assert one["metadata"]["creationTimestamp"] <= when["slinky-slurm-pre"]
    (grant,) = [one for one in sql_objects(own) if one["metadata"]["name"] == "mariadb-user-all"]
    assert ready(grant)["lastTransitionTime"] <= when["slinky-slurm-pre"]


def created(one: Request) -> str:
    """The name of what was created; where it stands depends on how."""
    return one.name or ((one.body or {}).get("metadata") or {}).get("name", "")


def test_the_mode_is_what_it_says(own: Bed) -> None:
    """MariaDB, its SQL objects, Secret, Service, slurmdbd; nothing that would drop the data (case N42)."""
    mariadb = own.api.get(f"{MARIADB}/mariadbs/mariadb")
    assert mariadb["spec"]["cleanupPolicy"] == "Skip"
    names = {one["metadata"]["name"] for one in sql_objects(own)}
    assert {"mariadb-database", "mariadb-user", "mariadb-user-all"} <= names
    assert {one["spec"].get("cleanupPolicy") for one in sql_objects(own) if "sys" not in one["metadata"]["name"]} == {
        "Skip"
    }
    assert list(own.api.get("/api/v1/namespaces/slurm/secrets/mariadb-password")["data"]) == ["password"]
    assert own.api.get("/api/v1/namespaces/slurm/services/mariadb")["spec"]["ports"][0]["port"] == 3306
    slurmdbd = own.api.get("/apis/apps/v1/namespaces/slurm/statefulsets/slinky-slurm-accounting")["status"]
    assert slurmdbd["readyReplicas"] == 1
    assert slurmdbd["currentRevision"] == slurmdbd["updateRevision"]
    (accounting,) = own.api.items("/apis/slinky.slurm.net/v1beta1/namespaces/slurm/accountings")
    storage = accounting["spec"]["storageConfig"]
    assert (storage["host"], storage["passwordKeyRef"]["name"]) == ("mariadb", "mariadb-password")
    assert data_of_the_database(own).is_dir()


def test_a_second_run_changes_nothing(own: Bed, deployments: Deployments, made: Bundled) -> None:
    before = deployments.record()
    with own.audit.recording("admin") as requests:
        ran = deployments.run(DEPLOY, made.variables())
    assert (ran.recap("cluster")["changed"], ran.changed) == (0, [])
    assert {resource for _verb, resource, _name in written(requests)} == {"configmaps", "jobs", "leases"}
    assert deployments.record() == before


def test_passwords_that_were_made_are_nowhere_but_in_their_secrets(
    own: Bed, deployments: Deployments, processes: leaks.Processes, made: Bundled
) -> None:
    """Neither in what runs told, failures among it, nor in what Helm keeps, in pods, in processes."""

    def held(name: str, key: str) -> str:
        data = own.api.get(f"/api/v1/namespaces/slurm/secrets/{name}")["data"]
        return base64.b64decode(data[key]).decode()

    root, user = held("mariadb-root-password", "root"), held("mariadb-password", "password")
    objects = census(own.api)
    assert leaks.in_objects([user], objects) == {
        "Secret slurm/mariadb-password",
        "Secret slurm/slinky-slurm-accounting",
    }
    assert leaks.in_objects([root], objects) == {
        "Secret slurm/internal-mariadb",
        "Secret slurm/mariadb-root-password",
    }
    assert "Secret slurm/sh.helm.release.v1.slinky-slurm.v1" in leaks.in_objects(["mariadb-password"], objects)
    assert leaks.in_texts([root, user], deployments.told) == []
    for folder in (deployments.ansible.folder, made.bundle.parent):
        assert leaks.in_files([root, user], folder) == []
    assert leaks.in_texts([root, user], processes.seen) == []
    assert any("mariadbd" in one for one in processes.seen)


# ---- to another mode


LASTING = ("MariaDB", "Database", "User", "Grant", "PersistentVolumeClaim", "Secret", "Service", "StatefulSet")


def of_mariadb(bed: Bed) -> dict[str, str]:
    """UIDs of what there is of the database in the namespace of Slurm."""
    found = census(bed.api, "slurm")
    names = [name for name in found if name.split()[0] in LASTING and "mariadb" in name]
    return {name: found[name]["metadata"]["uid"] for name in names}


def of_slurmdbd(bed: Bed) -> list[str]:
    kinds = ("Accounting", "Pod", "Service", "StatefulSet")
    return [name for name in census(bed.api, "slurm") if name.split()[0] in kinds and "slurm-accounting" in name]


def test_another_mode_keeps_volume_secrets_and_data(own: Bed, deployments: Deployments, tmp_path: Path) -> None:
    """Case N42, through `aicr_allow_mode_change`: slurmdbd goes, and nothing else."""
    disabled = bundled(tmp_path / "disabled", "disabled")
    before = of_mariadb(own)
    assert {"PersistentVolumeClaim slurm/storage-mariadb-0", "Secret slurm/mariadb-root-password"} <= set(before)
    assert of_slurmdbd(own)
    deployments.run(DEPLOY, disabled.variables(aicr_allow_mode_change=True))
    assert of_mariadb(own) == before
    assert (data_of_the_database(own) / "cluster_table.frm").is_file()
    eventually(lambda: not of_slurmdbd(own))
    record = deployments.record()
    assert (record["state"], record["mode"]) == ("deployed", "disabled")
    names = [one["name"] for one in json.loads(record["kept"])]
    assert sorted(names) == ["mariadb-operator", "mariadb-operator-crds", "slurm-accounting-mariadb"]
    ran = deployments.run(DEPLOY, disabled.variables())
    assert (ran.recap("cluster")["changed"], ran.changed) == (0, [])


def test_no_data_go_with_the_objects_of_the_operator(own: Bed) -> None:
    """Case N42: what Skip is for. Somebody removes Database, Grant, User, then the MariaDB itself."""
    tables = sorted(file.name for file in data_of_the_database(own).iterdir())
    for kind, name in (("grants", "mariadb-user-all"), ("databases", "mariadb-database"), ("users", "mariadb-user")):
        own.api.delete(f"{MARIADB}/{kind}/{name}")
        eventually(lambda path=f"{MARIADB}/{kind}/{name}": absent(own, path), 30)  # type: ignore[misc]
    assert sorted(file.name for file in data_of_the_database(own).iterdir()) == tables
    own.api.delete(f"{MARIADB}/mariadbs/mariadb")
    eventually(lambda: absent(own, "/apis/apps/v1/namespaces/slurm/statefulsets/mariadb"), 30)
    assert own.api.get(f"{CLAIMS}/storage-mariadb-0")["status"]["phase"] == "Bound"
    assert sorted(file.name for file in data_of_the_database(own).iterdir()) == tables
