# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-ins of the operators' webhooks: late (case M5), then with the recorded answers of the real ones."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.tests.cluster.bed import ApiError, Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.installed import Helm
from ansible_collections.aicr.runtime.tests.cluster.operators.objects import path
from ansible_collections.aicr.runtime.tests.cluster.test_operators_mariadb import SPEC, answers, find, make_secret

SECONDS = 60
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@pytest.fixture(scope="module")
def helm(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(bed, charts_folder(tmp_path_factory.mktemp("charts")))


@pytest.fixture(scope="module")
def mariadb(bed: Bed, helm: Helm) -> Iterator[str]:
    """The namespace of the operator of MariaDB, whose webhook is known late; the operator itself is away."""
    namespace = "mariadb-system"
    with (
        bed.images.changed("*mariadb-operator*", BED_DELAY_CA_BUNDLE="5"),
        helm.installed("mariadb-operator-crds", "mariadb-operator-crds", namespace),
        helm.installed("mariadb-operator", "mariadb-operator", namespace),
    ):
        bed.api.patch(f"/apis/apps/v1/namespaces/{namespace}/deployments/mariadb-operator", {"spec": {"replicas": 0}})
        for kind in ("MariaDB", "User"):
            eventually(lambda kind=kind: answers(bed, kind))  # type: ignore[misc]
        yield namespace


def bundles(bed: Bed, name: str) -> set[str]:
    webhooks = bed.api.get(f"{CONFIGURATIONS}/{name}")["webhooks"]
    return {webhook["clientConfig"].get("caBundle", "") for webhook in webhooks}


def accepts(bed: Bed, kind: str, namespace: str, body: dict[str, Any]) -> str:
    """Empty if a dry run passes, else what is said."""
    try:
        bed.api.request("POST", path(kind, namespace), body, query={"dryRun": "All"})
    except ApiError as error:
        return str(error)
    return ""


def a_mariadb(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"apiVersion": "k8s.mariadb.com/v1alpha1", "kind": "MariaDB", "metadata": {"name": name}}
    return {**metadata, "spec": {**SPEC, **spec}}


def kubectl(bed: Bed, *words: str) -> tuple[bool, str]:
    """Whether it went well, and what it wrote."""
    command = [str(bed.programs["kubectl"]), f"--kubeconfig={bed.kubeconfig}", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def recorded(file: Path) -> list[tuple[str, str]]:
    """Each command of a recording and its answer."""
    parts = re.split(r"^>> (.*)\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_mariadb_webhook_fails_every_write_until_its_authority_is_known(bed: Bed, mariadb: str, namespace: str) -> None:
    said = accepts(bed, "MariaDB", namespace, a_mariadb("early"))
    assert 'failed calling webhook "vmariadb-v1alpha1.kb.io"' in said
    # Its pod waits for the Secrets of the cert controller; even when it listens nobody trusts it yet.
    eventually(lambda: find(bed, "Secret", mariadb, "mariadb-operator-webhook-cert"), SECONDS)
    assert bundles(bed, "mariadb-operator-webhook") == {""}
    eventually(lambda: not accepts(bed, "MariaDB", namespace, a_mariadb("early")), SECONDS)
    authority = bed.api.get(path("Secret", mariadb, "mariadb-operator-webhook-ca"))["data"]["tls.crt"]
    assert bundles(bed, "mariadb-operator-webhook") == {authority}


def test_mariadb_webhook_answers_as_recorded(bed: Bed, mariadb: str, namespace: str, shared: Path) -> None:
    eventually(lambda: not accepts(bed, "MariaDB", namespace, a_mariadb("early")), SECONDS)
    make_secret(bed, namespace, "mariadb-root", password="x")
    bed.api.create(path("MariaDB", namespace), a_mariadb("mariadb"))
    asked = recorded(shared / "recordings" / "case-w1-mariadb-webhook-messages.txt")
    for change, answer in asked[:-1]:  # what follows the last one are other commands
        done, said = kubectl(
            bed, "patch", "mariadb", "mariadb", "-n", namespace, "--type=merge", "--dry-run=server", "-p", change
        )
        assert done == ("patched" in answer), change
        if not done:
            assert said == answer, change
    both = {"passwordSecretKeyRef": {"name": "a", "key": "b"}, "passwordHashSecretKeyRef": {"name": "a", "key": "b"}}
    user = {"mariaDbRef": {"name": "mariadb"}, **both}
    body = {"apiVersion": "k8s.mariadb.com/v1alpha1", "kind": "User", "metadata": {"name": "u"}, "spec": user}
    (refused,) = re.findall(r'admission webhook "vuser.*', asked[-1][1])
    assert refused in accepts(bed, "User", namespace, body)
    bed.api.delete(path("MariaDB", namespace, "mariadb"))


@pytest.mark.parametrize("certificates", ["cert-manager", "the chart"])
def test_slurm_webhook_answers_as_recorded(
    bed: Bed, helm: Helm, namespace: str, shared: Path, certificates: str
) -> None:
    with (
        helm.installed("cert-manager", "cert-manager", "cert-manager"),
        helm.installed("slurm-operator-crds", "slurm-operator-crds", "slinky"),
    ):
        managed = str(certificates == "cert-manager").lower()
        eventually(lambda: answers(bed, "Accounting"))
        with helm.installed("slurm-operator", "slurm-operator", "slinky", "--set", f"certManager.enabled={managed}"):
            bed.api.patch("/apis/apps/v1/namespaces/slinky/deployments/slurm-operator", {"spec": {"replicas": 0}})
            rendered = yaml.safe_load_all(
                helm("template", "slurm", str(next(helm.charts.glob("slurm-1*"))), "--set", "accounting.enabled=true")
            )
            ours = [one for one in rendered if one["kind"] in ("Accounting", "Controller")]
            for one in ours:
                one["metadata"].pop("namespace")
                eventually(lambda one=one: not accepts(bed, one["kind"], namespace, one), SECONDS)  # type: ignore[misc]
                bed.api.create(path(one["kind"], namespace), one)
            authority = bed.api.get(path("Secret", "slinky", "slurm-operator-webhook-ca"))["data"]["ca.crt"]
            assert bundles(bed, "slurm-operator-webhook") == {authority}
            assert base64.b64decode(authority).startswith(b"-----BEGIN CERTIFICATE-----")
            for command, answer in recorded(shared / "recordings" / "case-w2-slurm-webhook-messages.txt"):
                kind, _space, change = command.partition(" ")
                done, said = kubectl(
                    bed, "patch", kind, "slurm", "-n", namespace, "--type=merge", "--dry-run=server", "-p", change
                )
                assert done == ("patched" in answer), command
                if not done:
                    assert said == answer, command
            for one in ours:
                bed.api.delete(path(one["kind"], namespace, "slurm"))
    if certificates == "cert-manager":  # it keeps the Secrets of Certificates that are gone
        for name in ("slurm-operator-webhook-ca", "slurm-operator-webhook-root-ca"):
            bed.api.delete(path("Secret", "slinky", name))
