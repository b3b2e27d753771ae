# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images that stand for real daemons: MariaDB, slurmdbd, slurmctld, and whatever runs as an operator."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, Bed, BedError, Database, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.test_bed_kubelet import finished, make_job, shown
from ansible_collections.aicr.runtime.tests.cluster.test_bed_life import commands_that_name

MARIADB, LOGIN = "mariadb:11.8.8", "ghcr.io/slinkyproject/login:26.05-ubuntu26.04"
SECONDS = 60
"""More than any daemon here takes to come up while others use the machine."""


def create(api: Api, kind: str, namespace: str, name: str, **content: Any) -> Object:
    group = {"statefulsets": "/apis/apps/v1", "deployments": "/apis/apps/v1"}.get(kind, "/api/v1")
    return api.create(f"{group}/namespaces/{namespace}/{kind}", {"metadata": {"name": name}, **content})


def make_daemon(api: Api, namespace: str, name: str, port: int, spec: Object, **more: Any) -> str:
    """A StatefulSet of one, behind a Service of its name; the path of its pod."""
    labels = {"app": name}
    ports = [{"port": port, "targetPort": "main"}]
    create(api, "services", namespace, name, spec={"selector": labels, "ports": ports})
    spec["containers"][0] |= {"name": name, "ports": [{"name": "main", "containerPort": port}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    wanted = {"serviceName": name, "selector": {"matchLabels": labels}, "template": template, **more}
    create(api, "statefulsets", namespace, name, spec=wanted)
    return f"/api/v1/namespaces/{namespace}/pods/{name}-0"


def make_mariadb(api: Api, namespace: str, password: str | None) -> str:
    """As mariadb-operator makes it; the path of its pod."""
    variables = [{"name": "MARIADB_ROOT_PASSWORD", "value": password}] if password else []
    mounts = [{"name": "storage", "mountPath": "/var/lib/mysql"}]
    identity = {"runAsUser": 999, "runAsGroup": 999, "fsGroup": 999}
    container = {"image": MARIADB, "env": variables, "volumeMounts": mounts}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec = {"securityContext": identity, "containers": [container]}
    claims = [{"metadata": {"name": "storage"}, "spec": claim}]
    return make_daemon(api, namespace, "mariadb", 3306, spec, volumeClaimTemplates=claims)


def is_ready(api: Api, pod: str) -> Callable[[], bool]:
    return lambda: exists(api, pod) and shown(api, pod) == ("Running", "True", "")


def exists(api: Api, path: str) -> bool:
    namespace, name = path.split("/")[4], path.rpartition("/")[2]
    found = api.items(f"/api/v1/namespaces/{namespace}/pods", fieldSelector=f"metadata.name={name}")
    return any("deletionTimestamp" not in one["metadata"] for one in found)


def client(api: Api, namespace: str, *arguments: str, host: str = "mariadb", user: str = "root") -> tuple[int, str]:
    """Exit code and output of the mariadb client in a Job with the image of MariaDB."""
    command = ["mariadb", f"--host={host}", f"--user={user}", "--batch", "--skip-column-names", *arguments]
    return job(api, namespace, MARIADB, command)


def job(api: Api, namespace: str, image: str, command: list[str], **spec: Any) -> tuple[int, str]:
    container = {"image": image, "command": command, **spec.pop("container", {})}
    path = make_job(api, namespace, "", container=container, **spec)
    finished(api, path)
    selector = f"batch.kubernetes.io/controller-uid={api.get(path)['metadata']['uid']}"
    (pod,) = api.items(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)
    code = int(pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"])
    log = api.text(f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}/log")
    api.delete(path, {"propagationPolicy": "Background"})
    return code, log


def test_mariadb_keeps_on_its_claim_what_it_was_first_given(bed: Bed, namespace: str) -> None:
    api, password = bed.api, "it's \\ secret"
    pod = make_mariadb(api, namespace, password)
    assert eventually(is_ready(api, pod), SECONDS)
    login = f"--password={password}"
    assert client(api, namespace, login, "-e", "CREATE DATABASE kept; SELECT CURRENT_USER()") == (0, "root@%\n")
    assert "ready for connections" in api.text(f"{pod}/log")

    # The claim outlives the pod and its owner, and with it the password: a new one in the pod's spec changes nothing.
    api.delete(f"/apis/apps/v1/namespaces/{namespace}/statefulsets/mariadb")
    assert eventually(lambda: not exists(api, pod))
    api.delete(f"/api/v1/namespaces/{namespace}/services/mariadb")
    make_mariadb(api, namespace, "another")
    assert eventually(is_ready(api, pod), SECONDS)
    assert "Initializing database files" not in api.text(f"{pod}/log")
    code, said = client(api, namespace, "--password=another", "-e", "SELECT 1")
    assert code == 1
    assert "ERROR 1045 (28000): Access denied for user 'root'@'127.0.0.1' (using password: YES)" in said
    assert client(api, namespace, login, "-e", "SHOW DATABASES LIKE 'kept'") == (0, "kept\n")

    # A test can make it fail, and hold it short of Ready.
    api.patch(pod, {"metadata": {"annotations": {"bed/crash": "3"}}})
    assert eventually(lambda: shown(api, pod) == ("Running", "False", "CrashLoopBackOff"))
    assert api.get(pod)["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 3
    assert "Can't connect to server" in client(api, namespace, login, "-e", "SELECT 1")[1]
    api.patch(pod, {"metadata": {"annotations": {"bed/crash": None, "bed/hold": "unready"}}})
    assert eventually(lambda: shown(api, pod) == ("Running", "False", ""))
    assert api.get(pod)["status"]["containerStatuses"][0]["restartCount"] == 1
    api.patch(pod, {"metadata": {"annotations": {"bed/hold": None}}})
    assert eventually(is_ready(api, pod), SECONDS)


def test_mariadb_without_a_password_ends_again_and_again(bed: Bed, namespace: str) -> None:
    pod = make_mariadb(bed.api, namespace, None)
    assert eventually(lambda: exists(bed.api, pod) and shown(bed.api, pod)[2] == "CrashLoopBackOff", SECONDS)
    assert "Database is uninitialized and password option is not specified" in bed.api.text(f"{pod}/log")


def test_a_container_that_is_to_run_again_waits_for_its_secret(bed: Bed, namespace: str) -> None:
    api = bed.api
    create(api, "secrets", namespace, "root", stringData={"password": ""})
    variable = {"valueFrom": {"secretKeyRef": {"name": "root", "key": "password"}}}
    container = {"name": "mariadb", "image": MARIADB, "env": [{"name": "MARIADB_ROOT_PASSWORD", **variable}]}
    create(api, "pods", namespace, "pod", spec={"containers": [container]})
    pod = f"/api/v1/namespaces/{namespace}/pods/pod"
    assert eventually(lambda: shown(api, pod)[2] == "CrashLoopBackOff", SECONDS)
    api.delete(f"/api/v1/namespaces/{namespace}/secrets/root")
    assert eventually(lambda: shown(api, pod)[2] == "CreateContainerConfigError", SECONDS)
    create(api, "secrets", namespace, "root", stringData={"password": "s3cret"})
    assert eventually(is_ready(api, pod), SECONDS)


def test_a_program_starts_as_late_as_a_test_wants(bed: Bed, namespace: str) -> None:
    with bed.images.changed(MARIADB, delay=600, MARIADB_ROOT_PASSWORD="given"):
        pod = make_mariadb(bed.api, namespace, None)
        assert eventually(lambda: exists(bed.api, pod) and shown(bed.api, pod) == ("Running", "False", ""))
    with bed.images.changed(MARIADB, MARIADB_ROOT_PASSWORD="given"):
        bed.api.delete(pod)
        assert eventually(is_ready(bed.api, pod), SECONDS)
    assert client(bed.api, namespace, "--password=given", "-e", "SELECT 1") == (0, "1\n")


def test_a_pod_in_which_nothing_runs_is_as_late_as_its_image_is_to_be(bed: Bed, namespace: str) -> None:
    container = {"name": "main", "image": "stand-in.invalid/late:1"}
    pod = f"/api/v1/namespaces/{namespace}/pods/late"
    with bed.images.changed("*/late:*", delay=2):
        create(bed.api, "pods", namespace, "late", spec={"containers": [container]})
        assert eventually(lambda: shown(bed.api, pod) == ("Running", "False", ""))
        assert eventually(is_ready(bed.api, pod), SECONDS)
    status = bed.api.get(pod)["status"]
    (since,) = [one["lastTransitionTime"] for one in status["conditions"] if one["type"] == "Ready"]
    begun = status["startTime"]
    assert datetime.fromisoformat(since) - datetime.fromisoformat(begun) >= timedelta(seconds=1)


def test_the_customers_database(bed: Bed, namespace: str) -> None:
    """Each setting is one that the probe has to tell apart."""
    api = bed.api
    with Database(bed, namespace, tls=True, require_secure_transport=True, snapshot_isolation=True) as database:
        at = {"host": f"database.{namespace}", "user": "slurm"}
        assert "Can't connect to server" in client(api, namespace, **at)[1]
        database.start().account("slurm", "s3cret", "SELECT ON *.*")
        assert database.sql("SELECT 1, NULL; SELECT @@innodb_snapshot_isolation") == [["1", "NULL"], ["1"]]
        ask = ["--password=s3cret", "-e", "SHOW STATUS LIKE 'Ssl_version'"]
        create(api, "configmaps", namespace, "ca", data={"ca.crt": database.ca.read_text()})
        volume = {"volumes": [{"name": "ca", "configMap": {"name": "ca"}}]}
        mount = {"container": {"volumeMounts": [{"name": "ca", "mountPath": "/ca"}]}}
        login = ["mariadb", f"-hdatabase.{namespace}", "-uslurm", "-BN", *ask]
        strict = [*login, "--ssl-ca=/ca/ca.crt", "--ssl-verify-server-cert"]
        assert job(api, namespace, MARIADB, strict, **volume, **mount) == (0, "Ssl_version\tTLSv1.3\n")
        elsewhere = [f"-h{database.address}" if word.startswith("-hdatabase") else word for word in strict]
        assert "ERROR 2026" in job(api, namespace, MARIADB, elsewhere, **volume, **mount)[1]  # not in its certificate
        assert "ERROR 3159" in client(api, namespace, "--skip-ssl", *ask, **at)[1]
        database.stop()
        assert "Can't connect to server" in client(api, namespace, *ask, **at)[1]
        database.start()
        assert database.sql("SELECT User FROM mysql.user WHERE User = 'slurm'") == [["slurm"]]
    with Database(bed, namespace, read_only=True) as database:
        database.start().account("slurm", "s3cret", "ALL PRIVILEGES ON slurm_acct_db.*")
        assert "ERROR 2026" in client(api, namespace, "--ssl", *ask, **at)[1]
        create_database = ["--skip-ssl", "--password=s3cret", "-e", "CREATE DATABASE slurm_acct_db"]
        assert "--read-only option" in client(api, namespace, *create_database, **at)[1]
        place = database.ca.parents[1]
    assert commands_that_name(place) == []
    assert not place.exists()
    with Database(bed, namespace, flags=["--nonesuch=1"]) as wrong, pytest.raises(BedError, match="'nonesuch=1'"):
        wrong.start()


SLURM = """
ClusterName=slurm_test
SlurmUser=slurm
SlurmctldHost=slurm-controller-0(slurm-controller)
StateSaveLocation=/var/spool/slurmctld
AuthType=auth/slurm
CredType=cred/slurm
AuthInfo=use_client_ids
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=slurm-accounting
SlurmctldParameters=enable_configless
PartitionName=all Nodes=ALL Default=YES
"""
SLURMDBD = """
DbdHost=slurm-accounting-0
DbdPort=6819
SlurmUser=slurm
AuthType=auth/slurm
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=/etc/slurm/jwt.key
AuthInfo=use_client_ids
StorageType=accounting_storage/mysql
StorageHost=database
StoragePort=3306
StorageUser=slurm
StorageLoc=slurm_acct_db
StoragePass=s3cret
LogFile=/dev/null
"""
SACCTMGR = """
mkdir /tmp/slurm && cp /etc/slurm/* /tmp/slurm && chmod 600 /tmp/slurm/*
export SLURM_CONF=/tmp/slurm/slurm.conf
sackd -D & until test -S /run/slurm/sack.socket; do sleep 0.1; done
sacctmgr -n -P show cluster format=Cluster
kill %1
"""


def test_slurm_accounts_in_a_real_database(bed: Bed, namespace: str) -> None:
    api = bed.api
    keys = {name: base64.b64encode(secrets.token_bytes(1024)).decode() for name in ("slurm.key", "jwt.key")}
    create(api, "secrets", namespace, "conf", stringData={"slurmdbd.conf": SLURMDBD})
    create(api, "secrets", namespace, "keys", data=keys)
    create(api, "configmaps", namespace, "config", data={"slurm.conf": SLURM})

    def pod(*sources: Object, folders: tuple[str, ...] = (), **more: Any) -> Object:
        """The pod of one of Slurm's daemons, with /etc/slurm from these sources."""
        projected = {"defaultMode": 0o600, "sources": [*sources, {"secret": {"name": "keys"}}]}
        mounts = [{"name": "etc", "mountPath": "/etc/slurm", "readOnly": True}]
        mounts += [{"name": folder.rpartition("/")[2], "mountPath": folder} for folder in folders]
        empty = [{"name": folder.rpartition("/")[2], "emptyDir": {}} for folder in folders]
        return {
            "securityContext": {"runAsUser": 401, "runAsGroup": 401, "fsGroup": 401},
            "volumes": [{"name": "etc", "projected": projected}, *empty],
            "containers": [{"volumeMounts": mounts, **more}],
        }

    conf: Object = {"secret": {"name": "conf"}}
    config: Object = {"configMap": {"name": "config"}}
    slurmdbd = pod(conf, folders=("/run",), image="ghcr.io/slinkyproject/slurmdbd:26.05-ubuntu26.04")
    folders = ("/run", "/var/log/slurm", "/var/spool/slurmctld")
    slurmctld = pod(config, folders=folders, image="ghcr.io/slinkyproject/slurmctld:26.05-ubuntu26.04")
    sidecar = {"name": "logfile", "image": "docker.io/library/alpine:latest", "command": ["sh", "-c", "exit 1"]}
    slurmctld["initContainers"] = [{**sidecar, "name": "first"}, {**sidecar, "restartPolicy": "Always"}]
    probe = {"readinessProbe": {"httpGet": {"path": "/readyz", "port": "main"}}}
    slurmctld["containers"][0] |= probe
    with Database(bed, namespace) as database, bed.images.changed("*/slurmctld:*", BED_NO_TRES="1"):
        accounting = make_daemon(api, namespace, "slurm-accounting", 6819, slurmdbd)
        controller = make_daemon(api, namespace, "slurm-controller", 6817, slurmctld)
        # Without its database slurmdbd runs and waits; it is not ready, and so slurmctld ends.
        assert eventually(lambda: exists(api, accounting) and shown(api, accounting)[0] == "Running", SECONDS)
        assert eventually(lambda: "Trying again in 5 seconds" in api.text(f"{accounting}/log"), SECONDS)
        assert shown(api, accounting) == ("Running", "False", "")
        assert eventually(lambda: shown(api, controller)[2] == "CrashLoopBackOff", SECONDS)
        assert "we have no TRES from it" in api.text(f"{controller}/log", container="slurm-controller")
        database.start().account("slurm", "s3cret", "ALL PRIVILEGES ON slurm_acct_db.*")
        assert eventually(is_ready(api, accounting), SECONDS)
        assert eventually(is_ready(api, controller), SECONDS)
        assert database.sql("SELECT name FROM slurm_acct_db.cluster_table") == [["slurm_test"]]

        login = pod(config, command=["bash", "-c", SACCTMGR])
        container = login.pop("containers")[0]
        command = container.pop("command")
        code, said = job(api, namespace, LOGIN, command, container=container, **login)
        assert (code, said.splitlines()[-1]) == (0, "slurm_test"), said
        for path in (controller, accounting):
            api.delete(path)


OPERATOR = """#!/bin/sh
account=/var/run/secrets/kubernetes.io/serviceaccount
echo "$@" in $(cat $account/namespace) of $MARIADB_OPERATOR_NAME at $KUBERNETES_SERVICE_HOST
exec python3 -m http.server --bind "$BED_ADDRESS" 8081
"""


def test_two_beds_with_the_same_daemons_and_nothing_left_of_one(
    bed: Bed, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other bed also runs a program in place of a stand-in operator."""
    (tmp_path / "operator").write_text(OPERATOR)
    (tmp_path / "operator").chmod(0o755)
    monkeypatch.setenv("AICR_TEST_MARIADB_OPERATOR", str(tmp_path / "operator"))
    other = Bed.start(tmp_path / "other", "kind", workloads=False)
    database = Database(other, "default")
    try:
        database.start()
        here, there = make_mariadb(bed.api, namespace, "here"), make_mariadb(other.api, "default", "there")
        path = "/api/v1/namespaces/default/pods"
        probe = {"httpGet": {"path": "/", "port": 8081}}
        container = {"name": "controller", "image": "ghcr.io/mariadb-operator/mariadb-operator:26.6.0"}
        spec = {"containers": [{**container, "args": ["--log-level=INFO"], "readinessProbe": probe}]}
        other.api.create(path, {"metadata": {"name": "operator"}, "spec": spec})
        for api, pod in ((bed.api, here), (other.api, there), (other.api, f"{path}/operator")):
            assert eventually(is_ready(api, pod), SECONDS), api.text(f"{pod}/log")
        assert client(bed.api, namespace, "--password=here", "-e", "SELECT 1") == (0, "1\n")
        assert client(other.api, "default", "--password=there", "-e", "SELECT 2") == (0, "2\n")
        flags = "--metrics-addr=0 --log-level=debug --log-sql --requeue-sql=15s --requeue-sql-max-offset=1s"
        log = other.api.text(f"{path}/operator/log").splitlines()[0]
        assert log.startswith(f"{flags} --health-addr=127.")
        assert log.endswith(f" in default of mariadb-operator at {other.slot.kubernetes_service}")
        volume = Path(next(other.api.items("/api/v1/persistentvolumes"))["spec"]["hostPath"]["path"])
        assert (volume / "mysql").is_dir()
        assert database.sql("SELECT 3") == [["3"]]
    finally:
        other.stop()
        database.stop()
    assert commands_that_name(other.directory) == []
    assert str(other.directory) not in Path("/proc/mounts").read_text()
    assert not volume.exists()
    assert client(bed.api, namespace, "--password=here", "-e", "SELECT 1") == (0, "1\n")
