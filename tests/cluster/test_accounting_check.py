# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of accounting, by its real Job: real sacctmgr, slurmdbd and MariaDB, and each way to fail by name."""

from __future__ import annotations

import base64
import secrets
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import accounting_check, slurmctld_restart
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.accounting_check import SPEC, check_accounting
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Database
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.sacctmgr import sacctmgr
from ansible_collections.aicr.runtime.tests.cluster.test_bed_images import (
    SLURM,
    SLURMDBD,
    create,
    exists,
    is_ready,
    make_daemon,
)

SECONDS = 90
PASSWORD = "uYr4-dRkM_2Qx"
ALL = "ALL PRIVILEGES ON slurm_acct_db.*"


def key() -> str:
    return base64.b64encode(secrets.token_bytes(1024)).decode()


@pytest.fixture
def slurm(bed: Bed) -> Iterator[str]:
    """A namespace with what the chart and the operator of Slurm make, but for the pods and the Service of slurmdbd."""
    name = f"aicr-test-{uuid.uuid4().hex[:8]}"
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    eventually(lambda: list(bed.api.items(f"/api/v1/namespaces/{name}/serviceaccounts")))
    create(bed.api, "secrets", name, "slurm-auth-slurm", data={"slurm.key": key()})
    create(bed.api, "secrets", name, "slurm-auth-jwt", data={"jwt.key": key()})
    create(
        bed.api, "secrets", name, "slurm-accounting", stringData={"slurmdbd.conf": SLURMDBD.replace("s3cret", PASSWORD)}
    )
    config = SLURM.replace("slurm_test", f"{name}_slurm")
    create(bed.api, "configmaps", name, "slurm-config", data={"slurm.conf": config})
    yield name
    bed.api.delete(f"/api/v1/namespaces/{name}")


def check(bed: Bed, namespace: str, *, check_mode: bool = False, **options: Any) -> dict[str, Any]:
    """What the action returns."""
    given = {"kubeconfig": str(bed.kubeconfig), "namespace": namespace, "timeout": 90, "wait": 0, **options}
    made = check_accounting(parse(SPEC, given), check_mode=check_mode, tell=lambda line: None)
    return made.deliver(check_mode=check_mode, diff=False, return_document=False)


def make_slurmdbd(bed: Bed, namespace: str) -> str:
    """Its pod, as the operator has it; the path."""
    sources = [{"secret": {"name": name}} for name in ("slurm-accounting", "slurm-auth-slurm", "slurm-auth-jwt")]
    container = {
        "name": "slurmdbd",
        "image": "ghcr.io/slinkyproject/slurmdbd:26.05-ubuntu26.04",
        "ports": [{"name": "slurmdbd", "containerPort": 6819}],
        "readinessProbe": {"tcpSocket": {"port": 6819}},
        "volumeMounts": [
            {"name": "etc", "mountPath": "/etc/slurm", "readOnly": True},
            {"name": "run", "mountPath": "/run"},
        ],
    }
    labels = {"app.kubernetes.io/name": "slurmdbd", "app.kubernetes.io/instance": "slurm"}
    projected = {"defaultMode": 0o600, "sources": sources}
    path = f"/api/v1/namespaces/{namespace}/pods"
    bed.api.create(
        path,
        {
            "metadata": {"name": "slurm-accounting-0", "labels": labels},
            "spec": {
                "securityContext": {"runAsUser": 401, "runAsGroup": 401, "fsGroup": 401},
                "volumes": [{"name": "etc", "projected": projected}, {"name": "run", "emptyDir": {}}],
                "containers": [container],
            },
        },
    )
    return f"{path}/slurm-accounting-0"


def register(bed: Bed, namespace: str) -> None:
    """Half of what slurmctld does when it starts: it tells where it is, too."""
    said = sacctmgr(bed, namespace, "-i", "add", "cluster", f"{namespace}_slurm", name="slurm")
    assert any("Adding Cluster" in line for line in said), said


def outcome(result: dict[str, Any]) -> str:
    name = str(result["summary"]["outcome"])
    failed = [one["outcome"] for one in result["findings"] if one["severity"] == "failure"]
    assert failed == ([name] if name != "ok" else [])
    return name


def left(bed: Bed, namespace: str) -> list[str]:
    kinds = ("/api/v1/{}/configmaps", "/apis/batch/v1/{}/jobs", "/api/v1/{}/pods")
    found = [one["metadata"]["name"] for kind in kinds for one in bed.api.items(kind.format(f"namespaces/{namespace}"))]
    return [name for name in found if name.startswith("aicr-")]


def test_s1_s15_every_way_to_fail_has_a_name_of_its_own(bed: Bed, slurm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From nothing to a cluster that is accounted for, and to a database that is lost."""
    monkeypatch.setattr(accounting_check, "QUESTION_SECONDS", 5)  # of a slurmdbd that does not answer
    assert outcome(check(bed, slurm)) == "unknown-host"

    ports = [{"port": 6819}]
    labels = {"app.kubernetes.io/name": "slurmdbd", "app.kubernetes.io/instance": "slurm"}
    create(bed.api, "services", slurm, "slurm-accounting", spec={"selector": labels, "ports": ports})
    nobody = check(bed, slurm)
    assert outcome(nobody) == "unreachable"
    assert "there is no pod of slurmdbd slurm" in nobody["msg"]

    with Database(bed, slurm) as database:
        daemon = make_slurmdbd(bed, slurm)
        assert eventually(lambda: "mysql_real_connect failed: 2002" in bed.api.text(f"{daemon}/log"), SECONDS)
        down = check(bed, slurm)
        assert outcome(down) == "slurmdbd-without-database"
        assert "its database refuses it: 2002" in down["msg"]

        database.start().account("slurm", "another-Password1", ALL)
        assert eventually(lambda: "mysql_real_connect failed: 1045" in bed.api.text(f"{daemon}/log"), SECONDS)
        refused = check(bed, slurm)
        assert outcome(refused) == "slurmdbd-without-database"
        assert "its database refuses it: 1045" in refused["msg"]
        assert "another-Password1" not in refused["msg"]

        monkeypatch.undo()
        database.sql(f"ALTER USER slurm@'%' IDENTIFIED BY '{PASSWORD}'")
        unregistered = check(bed, slurm, wait=SECONDS)
        assert outcome(unregistered) == "not-registered"
        assert "(it knows: none)" in unregistered["msg"]

        register(bed, slurm)
        assert eventually(is_ready(bed.api, daemon), SECONDS)
        good = check(bed, slurm)
        assert outcome(good) == "ok"
        assert (good["changed"], good["summary"]["cluster"]) == (False, f"{slurm}_slurm")
        assert "slurmctld has not registered" in good["warnings"][0]
        assert eventually(lambda: not left(bed, slurm))

        # What it may do, a connection learns when it begins. When slurmdbd begins, it makes its routines anew, and who
        # makes a routine may call it.
        database.sql("REVOKE EXECUTE ON slurm_acct_db.* FROM slurm@'%'; KILL USER slurm")
        lacking = check(bed, slurm, wait=SECONDS)
        assert outcome(lacking) == "missing-rights"
        assert "1370" in lacking["msg"]

        create(bed.api, "secrets", slurm, "other", data={"slurm.key": key()})
        assert outcome(check(bed, slurm, auth_secret={"name": "other"})) == "key-refused"
        assert outcome(check(bed, slurm, cluster="elsewhere")) == "not-registered"

        database.stop()  # the port stays open, and slurmdbd Ready
        lost = check(bed, slurm)
        assert outcome(lost) == "slurmdbd-without-database"
        assert "it answers, but cannot reach its database" in lost["msg"]


def make_slurmctld(bed: Bed, namespace: str) -> str:
    """Its StatefulSet, as the operator has it; the path of its pod."""
    sources = [
        {"configMap": {"name": "slurm-config"}},
        *({"secret": {"name": name}} for name in ("slurm-auth-slurm", "slurm-auth-jwt")),
    ]
    folders = {"run": "/run", "log": "/var/log/slurm", "statesave": "/var/spool/slurmctld"}
    mounts = [{"name": "etc", "mountPath": "/etc/slurm", "readOnly": True}]
    mounts += [{"name": name, "mountPath": folder} for name, folder in folders.items()]
    spec = {
        "securityContext": {"runAsUser": 401, "runAsGroup": 401, "fsGroup": 401},
        "volumes": [
            {"name": "etc", "projected": {"defaultMode": 0o600, "sources": sources}},
            {"name": "run", "emptyDir": {}},
            {"name": "log", "emptyDir": {}},
        ],
        "containers": [{"image": "ghcr.io/slinkyproject/slurmctld:26.05-ubuntu26.04", "volumeMounts": mounts}],
    }
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "4Gi"}}}
    claims = [{"metadata": {"name": "statesave"}, "spec": claim}]
    return make_daemon(bed.api, namespace, "slurm-controller", 6817, spec, volumeClaimTemplates=claims)


def controller_log(bed: Bed, pod: str) -> str:
    return bed.api.text(f"{pod}/log", container="slurm-controller")


def restart(bed: Bed, pod: str) -> None:
    """What `kubectl delete pod` does to one of a StatefulSet, until its successor is Ready."""
    before = bed.api.get(pod)["metadata"]["uid"]
    bed.api.delete(pod)
    assert eventually(lambda: exists(bed.api, pod) and bed.api.get(pod)["metadata"]["uid"] != before, SECONDS)
    assert eventually(is_ready(bed.api, pod), SECONDS)


def test_s1_a_slurmctld_that_went_on_without_slurmdbd_registers_when_it_is_started_again(
    bed: Bed, slurm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From accounting disabled to another mode: it has state of its own, so it does not wait, nor does it come back."""
    path = f"/api/v1/namespaces/{slurm}/configmaps/slurm-config"
    state = "StateSaveLocation=/var/spool/slurmctld"
    config = bed.api.get(path)["data"]["slurm.conf"].replace(state, f"{state}/slurm")  # as the operator has it
    disabled = "".join(line for line in config.splitlines(keepends=True) if not line.startswith("AccountingStorage"))
    bed.api.patch(path, {"data": {"slurm.conf": disabled}})
    controller = make_slurmctld(bed, slurm)
    assert eventually(is_ready(bed.api, controller), SECONDS)
    # Ended before that it saves no state, though its port is open; then it never starts with slurmdbd at all.
    assert eventually(lambda: "Running as primary controller" in controller_log(bed, controller), SECONDS)
    bed.api.patch(path, {"data": {"slurm.conf": config}})

    labels = {"app.kubernetes.io/name": "slurmdbd", "app.kubernetes.io/instance": "slurm"}
    create(bed.api, "services", slurm, "slurm-accounting", spec={"selector": labels, "ports": [{"port": 6819}]})
    with Database(bed, slurm) as database:
        database.start().account("slurm", PASSWORD, ALL)
        restart(bed, controller)
        assert "Association database appears down, reading from state files" in controller_log(bed, controller)
        daemon = make_slurmdbd(bed, slurm)
        assert eventually(is_ready(bed.api, daemon), SECONDS)
        # It looks for slurmdbd every ten seconds, and comes back to it without a word of who it is.
        unregistered = check(bed, slurm, wait=15)
        assert outcome(unregistered) == "not-registered"
        assert f"kubectl -n {slurm} delete pod slurm-controller-0" in unregistered["error"]["hint"]
        monkeypatch.setattr(slurmctld_restart, "REGISTERS_WITHIN_SECONDS", 4)
        registered = check(bed, slurm, wait=SECONDS, restart_slurmctld=True)
        assert (outcome(registered), registered["findings"], registered["changed"]) == ("ok", [], True)
        again = check(bed, slurm, restart_slurmctld=True)
        assert (outcome(again), again["changed"]) == ("ok", False)


def test_what_is_missing_is_said_before_anything_is_made_and_predicted_in_check_mode(bed: Bed, slurm: str) -> None:
    with bed.audit.recording("admin") as requests:
        with pytest.raises(AicrError, match=f"Secret {slurm}/none: there is none") as caught:
            check(bed, slurm, auth_secret={"name": "none"})
        with pytest.raises(AicrError, match=f"ConfigMap {slurm}/slurm-config: has no key other.conf"):
            check(bed, slurm, config_map={"key": "other.conf"})
        predicted = check(bed, slurm, check_mode=True, auth_secret={"name": "none"})
        elsewhere = check(bed, "not-there-yet", check_mode=True)
    assert caught.value.code.value == "NOT_FOUND"
    assert "predicted, since it is not there yet: Secret" in predicted["warnings"][1]
    assert "has no namespace not-there-yet" in elsewhere["warnings"][1]
    assert not [one for one in requests if one.writes]
    assert {one.resource for one in requests if one.dry_run} == {"configmaps", "jobs"}


def test_a_configuration_without_slurmdbd_is_told(bed: Bed, slurm: str) -> None:
    text = SLURM.replace("accounting_storage/slurmdbd", "accounting_storage/none")
    create(bed.api, "configmaps", slurm, "without", data={"slurm.conf": text})
    result = check(bed, slurm, config_map={"name": "without"})
    assert outcome(result) == "unusable-configuration"
    assert "accountingRef" in result["error"]["hint"]


@pytest.mark.parametrize(
    ("options", "words"),
    [({"cluster": "a b"}, 'cluster: "a b"'), ({"name": "A_b"}, 'name: "A_b"'), ({"wait": -1}, "wait: -1 s")],
)
def test_options_that_cannot_work_are_refused_at_once(bed: Bed, options: dict[str, Any], words: str) -> None:
    with bed.audit.recording("admin") as requests, pytest.raises(AicrError, match=words):
        check(bed, "slurm", **options)
    assert not requests
