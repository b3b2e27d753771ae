# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in of slurm-operator against the recordings of the real one: objects, order, surprises."""

from __future__ import annotations

import base64
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ansible_collections.aicr.runtime.tests.cluster import recorded_objects, timeline
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.installed import Helm
from ansible_collections.aicr.runtime.tests.cluster.operators.objects import path
from ansible_collections.aicr.runtime.tests.cluster.test_operators_mariadb import answers, find, make_secret
from ansible_collections.aicr.runtime.tests.cluster.timeline import Timeline

KINDS = ("Secret", "ConfigMap", "Service", "StatefulSet", "Deployment", "PodDisruptionBudget")
CUSTOM = ("Accounting", "Controller", "LoginSet", "NodeSet", "RestApi")
OPERATOR = "slinky"
HASH = "slinky.slurm.net/slurmdbd-conf-hash"


@pytest.fixture(scope="module")
def helm(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Helm]:
    """Helm, with the operator installed and no webhook, as it was recorded."""
    helm = Helm(bed, charts_folder(tmp_path_factory.mktemp("charts")))
    off = ["--set", "webhook.enabled=false,certManager.enabled=false", "--wait"]
    with (
        helm.installed("slurm-operator-crds", "slurm-operator-crds", OPERATOR),
        helm.installed("slurm-operator", "slurm-operator", OPERATOR, *off),
    ):
        for kind in CUSTOM:
            eventually(lambda kind=kind: answers(bed, kind))  # type: ignore[misc]
        yield helm


@pytest.fixture(scope="module")
def values(shared: Path) -> tuple[str, ...]:
    """Those of the recording."""
    return "-f", str(shared / "recordings" / "case-c-values.yaml")


@pytest.fixture
def password(bed: Bed, helm: Helm, namespace: str) -> str:
    """The namespace of a test, with the Secret of the database's password."""
    make_secret(bed, namespace, "mariadb-password", password="first-password")
    return namespace


def events(bed: Bed, namespace: str, reason: str) -> list[Object]:
    return [one for one in bed.api.items(path("Event", namespace)) if one["reason"] == reason]


def configuration(bed: Bed, namespace: str) -> str:
    """What slurmdbd is to read; empty while there is none."""
    found = find(bed, "Secret", namespace, "slurm-accounting")
    return base64.b64decode(found["data"]["slurmdbd.conf"]).decode() if found else ""


def slurm_conf(bed: Bed, namespace: str) -> str:
    found = find(bed, "ConfigMap", namespace, "slurm-config") or {"data": {}}
    text: str = found["data"].get("slurm.conf", "")
    return text


def annotations(bed: Bed, namespace: str, kind: str, name: str) -> dict[str, str]:
    """Those of a workload's pods."""
    found = find(bed, kind, namespace, name) or {"spec": {"template": {"metadata": {}}}}
    notes: dict[str, str] = found["spec"]["template"]["metadata"].get("annotations", {})
    return notes


def test_makes_the_recorded_objects_in_the_recorded_order(
    bed: Bed, helm: Helm, password: str, shared: Path, values: tuple[str, ...]
) -> None:
    recording = shared / "recordings"
    mine = {name for name, _change in timeline.recorded(recording / "case-c1-slurm-accounting-on.tsv", KINDS)}
    with Timeline(bed, password, KINDS) as seen:
        helm.release("slurm", "slurm", password, *values)
        eventually(lambda: find(bed, "Deployment", password, "slurm-login-slinky"), 30)
        eventually(lambda: find(bed, "PodDisruptionBudget", password, "slurm-workers-pdb-slurm"), 30)
        steps = seen.steps()
    assert mine <= set(timeline.made(steps))
    # Several controllers work at once, so the order is that of each one's children.
    of_each = {
        "Accounting": ["Service slurm-accounting", "Secret slurm-accounting", "StatefulSet slurm-accounting"],
        "Controller": ["Service slurm-controller", "ConfigMap slurm-config", "StatefulSet slurm-controller"],
        "RestApi": ["Service slurm-restapi", "Deployment slurm-restapi"],
        "NodeSet": ["Service slurm-workers-slurm", "PodDisruptionBudget slurm-workers-pdb-slurm"],
    }
    recorded = timeline.made(timeline.recorded(recording / "case-c1-slurm-accounting-on.tsv", KINDS))
    for owner, children in of_each.items():
        assert [name for name in recorded if name in children] == children, "the recording"
        assert [name for name in timeline.made(steps) if name in children] == children, owner
    assert timeline.made(steps)[-1] == "Deployment slurm-login-slinky"  # seconds later than the rest
    objects = recorded_objects.recorded(recording / "case-c1-slurm-accounting-on.yaml")
    there = recorded_objects.present(bed, password, KINDS)
    ours = {key for key in objects if key[0] in KINDS and "slurm" in key[1] and "helm" not in key[1]}
    assert len(ours) > 15
    for key in ours:
        assert yaml.safe_dump(there[key]) == yaml.safe_dump(objects[key]), key
    masked = (recording / "case-c1-slurmdbd.conf").read_text(encoding="utf-8")
    assert configuration(bed, password) == masked.replace("<masked>", "first-password")
    for name in ("Accounting slurm", "Controller slurm", "RestApi slurm"):
        kind, of = name.split()
        assert "status" not in (find(bed, kind, password, of) or {})
    created = {one["note"].replace(password, "slurm") for one in events(bed, password, "CreateSucceeded")}
    assert "Created *v1.Secret: slurm/slurm-accounting" in created
    assert not events(bed, password, "SyncFailed") or {
        one["regarding"]["kind"] for one in events(bed, password, "SyncFailed")
    } == {"NodeSet"}


def test_waits_in_vain_for_a_password_that_comes_late(
    bed: Bed, helm: Helm, namespace: str, values: tuple[str, ...]
) -> None:
    helm.release("slurm", "slurm", namespace, *values)
    eventually(lambda: find(bed, "StatefulSet", namespace, "slurm-accounting"))
    assert find(bed, "Service", namespace, "slurm-accounting")
    assert annotations(bed, namespace, "StatefulSet", "slurm-accounting")[HASH] == ""
    note = 'Failed "Config" step: failed to build: Secret "mariadb-password" not found'
    eventually(lambda: note in {one["note"] for one in events(bed, namespace, "SyncFailed")})
    eventually(lambda: 2 in {one.get("series", {}).get("count") for one in events(bed, namespace, "SyncFailed")})
    assert configuration(bed, namespace) == ""
    make_secret(bed, namespace, "mariadb-password", password="late")
    # It is not watched: the pending retry, or any event of the workload, finds it.
    eventually(lambda: "StoragePass=late\n" in configuration(bed, namespace), 60)
    eventually(lambda: annotations(bed, namespace, "StatefulSet", "slurm-accounting")[HASH] != "", 60)


def test_rotated_password_waits_for_an_annotation(bed: Bed, helm: Helm, password: str, values: tuple[str, ...]) -> None:
    helm.release("slurm", "slurm", password, *values, "--set", "nodesets.slinky.enabled=false")
    eventually(lambda: annotations(bed, password, "StatefulSet", "slurm-accounting").get(HASH))
    eventually(lambda: (find(bed, "Pod", password, "slurm-accounting-0") or {}).get("status", {}).get("podIP"), 60)
    rotations = itertools.count()

    def goes_unseen() -> bool:
        """The Secret is not watched. Another event of the workload may fall together with the change, so try again."""
        word = f"rotated-{next(rotations)}"
        new = {"data": {"password": base64.b64encode(word.encode()).decode()}}
        bed.api.patch(path("Secret", password, "mariadb-password"), new)
        time.sleep(2)
        return f"StoragePass={word}\n" not in configuration(bed, password)

    eventually(goes_unseen, 60)
    before = annotations(bed, password, "StatefulSet", "slurm-accounting")[HASH]
    note = {"metadata": {"annotations": {"example/restartedAt": "1"}}}
    bed.api.patch(path("Accounting", password, "slurm"), note)
    eventually(lambda: "example/restartedAt" in annotations(bed, password, "StatefulSet", "slurm-accounting"))
    assert annotations(bed, password, "StatefulSet", "slurm-accounting")[HASH] != before
    assert f"StoragePass=rotated-{next(rotations) - 1}\n" in configuration(bed, password)
    # All annotations of the resource go to its children and to the pods (operators.md 2.1).
    for kind in ("Service", "Secret", "StatefulSet"):
        found = find(bed, kind, password, "slurm-accounting") or {}
        assert found["metadata"]["annotations"]["example/restartedAt"] == "1"


def test_accounting_switched_off_and_nodes_register(
    bed: Bed, helm: Helm, password: str, shared: Path, values: tuple[str, ...]
) -> None:
    helm.release("slurm", "slurm", password, *values)
    eventually(lambda: find(bed, "StatefulSet", password, "slurm-accounting"))
    eventually(lambda: find(bed, "Deployment", password, "slurm-restapi"))
    assert (find(bed, "NodeSet", password, "slurm-worker-slinky") or {}).get("status") is None
    eventually(lambda: find(bed, "StatefulSet", password, "slurm-controller"))
    config = annotations(bed, password, "StatefulSet", "slurm-controller")["slinky.slurm.net/slurm-config-hash"]
    off = ["accounting.enabled=false", "partitions.all.enabled=false"]
    helm.release("slurm", "slurm", password, *values, *(word for one in off for word in ("--set", one)))
    eventually(lambda: not any(find(bed, kind, password, "slurm-accounting") for kind in ("StatefulSet", "Secret")), 30)
    assert find(bed, "Secret", password, "mariadb-password")
    recorded = (shared / "recordings" / "case-c4-slurm.conf").read_text(encoding="utf-8").replace("slurm-b", password)
    # That one had no nodes, which come last.
    eventually(lambda: slurm_conf(bed, password).startswith(recorded))
    eventually(
        lambda: (
            annotations(bed, password, "StatefulSet", "slurm-controller")["slinky.slurm.net/slurm-config-hash"]
            != config
        )
    )
    restapi = find(bed, "Deployment", password, "slurm-restapi") or {}
    container = restapi["spec"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["-s", "openapi/slurmctld", "0.0.0.0:6820"]

    def idle() -> bool:
        state = (find(bed, "NodeSet", password, "slurm-worker-slinky") or {}).get("status", {})
        return bool(state.get("availableReplicas") == 2 == state.get("slurmIdle"))

    eventually(idle, 90)


def test_absent_keys_are_empty_hashes_and_no_events(
    bed: Bed, helm: Helm, password: str, values: tuple[str, ...]
) -> None:
    given = [f"{kind}Key.{field}" for kind in ("slurm", "jwt") for field in _given(kind)]
    helm.release("slurm", "slurm", password, *values, "--set", ",".join(given))
    eventually(lambda: find(bed, "StatefulSet", password, "slurm-accounting"))
    hashes = annotations(bed, password, "StatefulSet", "slurm-accounting")
    assert hashes["slinky.slurm.net/slurm-key-hash"] == hashes["slinky.slurm.net/jwt-key-hash"] == ""
    assert not [one for one in events(bed, password, "SyncFailed") if one["regarding"]["kind"] == "Accounting"]
    key = {"metadata": {"name": "given-slurm"}, "stringData": {"slurm.key": "a key"}}
    bed.api.create(path("Secret", password), key)
    for name in ("slurm-accounting", "slurm-controller"):
        eventually(
            lambda name=name: annotations(bed, password, "StatefulSet", name).get("slinky.slurm.net/slurm-key-hash")  # type: ignore[misc]
        )
    after = annotations(bed, password, "StatefulSet", "slurm-accounting")
    assert after["slinky.slurm.net/jwt-key-hash"] == ""


def test_uninstalling_leaves_claim_and_own_secrets(
    bed: Bed, helm: Helm, password: str, values: tuple[str, ...]
) -> None:
    helm.release("slurm", "slurm", password, *values)
    eventually(lambda: find(bed, "Deployment", password, "slurm-login-slinky"), 30)
    eventually(lambda: find(bed, "StatefulSet", password, "slurm-controller"), 30)
    key = value_of(bed, password)
    helm.release("slurm", "slurm", password, *values)
    assert value_of(bed, password) == key  # kept by Helm's lookup
    with Timeline(bed, password, ("StatefulSet", "Secret")) as seen:
        helm("uninstall", "slurm", "-n", password)
        eventually(
            lambda: not any(list(bed.api.items(path(kind, password))) for kind in ("StatefulSet", "Service")), 30
        )
        # Made again for a moment, since its cache lags behind (operators.md 2.3, c6).
        eventually(lambda: ("Secret slurm-accounting", "ADDED") in seen.steps())
    eventually(lambda: find(bed, "Secret", password, "slurm-accounting") is None, 30)
    assert find(bed, "Secret", password, "mariadb-password")
    claims = bed.api.items(f"/api/v1/namespaces/{password}/persistentvolumeclaims")
    assert [one["metadata"]["name"] for one in claims] == ["statesave-slurm-controller-0"]


def value_of(bed: Bed, namespace: str) -> str:
    data: str = bed.api.get(path("Secret", namespace, "slurm-auth-slurm"))["data"]["slurm.key"]
    return data


def _given(kind: str) -> list[str]:
    return ["create=false", f"secretRef.name=given-{kind}", f"secretRef.key={kind}.key"]
