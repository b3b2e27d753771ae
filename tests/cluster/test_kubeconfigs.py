# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way to name a cluster reaches it as whom it says, and no cluster is reached that nobody named.

Who came is what the audit log of the server says.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import kubeconfig as logins
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot import make_snapshot
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.certificates import Authority
from ansible_collections.aicr.runtime.tests.cluster.bed.tunnel import ForwardProxy
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

CREDENTIAL = "client.authentication.k8s.io/v1"
BY_CERTIFICATE = "carol"


def take(environ: Mapping[str, str] | None = None, **options: Any) -> dict[str, Any]:
    """What the action snapshot returns."""
    made = make_snapshot(parse(SNAPSHOT, {"collectors": ["k8s"], **options}, environ or {}))
    return made.deliver(check_mode=False, diff=False, return_document=False)


def users(bed: Bed, environ: Mapping[str, str] | None = None, **options: Any) -> set[str]:
    """As whom a whole snapshot was taken."""
    with bed.audit.recording() as requests:
        assert take(environ, **options)["incomplete"] == []
    return {request.user for request in requests if request.user_agent.startswith("aicr.runtime/")}


def plugin(place: Path, **status: str) -> dict[str, Any]:
    """The user entry of a kubeconfig whose program answers with a credential."""
    answer = json.dumps({"apiVersion": CREDENTIAL, "kind": "ExecCredential", "status": status})
    place.write_text(f"#!{sys.executable}\nprint({answer!r})\n", encoding="utf-8")
    place.chmod(0o700)
    return {"exec": {"apiVersion": CREDENTIAL, "command": str(place), "interactiveMode": "Never"}}


def token_entry(bed: Bed, folder: Path) -> dict[str, Any]:
    return {"token": bed.settings.tokens["admin"]}


def token_file(bed: Bed, folder: Path) -> dict[str, Any]:
    (folder / "token").write_text(f"{bed.settings.tokens['admin']}\n", encoding="utf-8")
    return {"tokenFile": "token"}


def certificate_files(bed: Bed, folder: Path) -> dict[str, Any]:
    certificate, key = bed.authority.client(BY_CERTIFICATE, ["system:masters"])
    return {"client-certificate": str(certificate), "client-key": str(key)}


def certificate_data(bed: Bed, folder: Path) -> dict[str, Any]:
    files = certificate_files(bed, folder)
    return {f"{name}-data": base64.b64encode(Path(file).read_bytes()).decode() for name, file in files.items()}


def plugin_token(bed: Bed, folder: Path) -> dict[str, Any]:
    return plugin(folder / "get-token", token=bed.settings.tokens["admin"])


def plugin_certificate(bed: Bed, folder: Path) -> dict[str, Any]:
    certificate, key = bed.authority.client(BY_CERTIFICATE, ["system:masters"])
    pair = {"clientCertificateData": certificate.read_text(), "clientKeyData": key.read_text()}
    return plugin(folder / "get-certificate", **pair)


def as_somebody(bed: Bed, folder: Path) -> dict[str, Any]:
    return {"token": bed.settings.tokens["admin"], "as": "dora", "as-groups": ["system:masters"]}


@pytest.mark.parametrize(
    ("entry", "user"),
    [
        (token_entry, "admin"),
        (token_file, "admin"),
        (certificate_files, BY_CERTIFICATE),
        (certificate_data, BY_CERTIFICATE),
        (plugin_token, "admin"),
        (plugin_certificate, BY_CERTIFICATE),
        (as_somebody, "dora"),
    ],
)
def test_a_user_of_a_kubeconfig_logs_in(
    bed: Bed, tmp_path: Path, entry: Callable[[Bed, Path], dict[str, Any]], user: str
) -> None:
    path = bed.write_kubeconfig(tmp_path / "kubeconfig", **entry(bed, tmp_path))
    assert users(bed, kubeconfig=str(path)) == {user}
    if entry is not token_file:  # its path has no place to start from
        assert users(bed, kubeconfig=yaml.safe_load(path.read_text())) == {user}


def test_an_expired_token_of_a_plugin_is_fetched_again(bed: Bed, tmp_path: Path) -> None:
    path = tmp_path / "get-token"
    answers = [
        json.dumps({"apiVersion": CREDENTIAL, "kind": "ExecCredential", "status": {"token": token}})
        for token in ("expired", bed.settings.tokens["admin"])
    ]
    used = tmp_path / "used"
    path.write_text(
        f"#!{sys.executable}\nimport pathlib\nused = pathlib.Path({str(used)!r})\n"
        f"print({answers!r}[used.exists()])\nused.touch()\n",
        encoding="utf-8",
    )
    path.chmod(0o700)
    entry = {"exec": {"apiVersion": CREDENTIAL, "command": str(path), "interactiveMode": "Never"}}
    kubeconfig = bed.write_kubeconfig(tmp_path / "kubeconfig", **entry)
    assert users(bed, kubeconfig=str(kubeconfig)) == {"", "admin"}


def test_whom_to_act_as_has_their_rights_alone(bed: Bed) -> None:
    with bed.audit.recording("nobody") as requests:
        result = take(kubeconfig=str(bed.kubeconfig), impersonate_user="nobody")
    assert {request.resource: request.code for request in requests if request.resource} == {"nodes": 403, "pods": 403}
    assert [gap.partition(":")[0] for gap in result["incomplete"]] == ["K8s.image", "K8s.node"]
    assert all('User "nobody" cannot list' in gap for gap in result["incomplete"])


def test_only_the_right_bundle_of_certificates_is_trusted(bed: Bed, tmp_path: Path) -> None:
    path = bed.write_kubeconfig(tmp_path / "kubeconfig", token=bed.settings.tokens["admin"])
    document = yaml.safe_load(path.read_text())
    cluster = document["clusters"][0]["cluster"]
    right = cluster.pop("certificate-authority")
    other = str(Authority.make(tmp_path / "other").certificate)
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(Path(other).read_text() + Path(right).read_text())
    for wrong in ({}, {"ca_cert": other}):  # without any, those of this machine count
        with bed.audit.recording("admin") as requests, pytest.raises(AicrError, match="is not trusted") as caught:
            take(kubeconfig=document, **wrong)
        assert (caught.value.code.value, requests) == ("SERVICE_UNAVAILABLE", [])
    assert users(bed, kubeconfig=document, ca_cert=str(bundle)) == {"admin"}
    cluster["certificate-authority-data"] = base64.b64encode(bundle.read_bytes()).decode()
    assert users(bed, kubeconfig=document) == {"admin"}
    assert users(bed, kubeconfig=document, ca_cert=other, validate_certs=False) == {"admin"}


def test_a_proxy_of_the_kubeconfig_is_the_way(bed: Bed, tmp_path: Path) -> None:
    path = bed.write_kubeconfig(tmp_path / "kubeconfig", **certificate_files(bed, tmp_path))
    document = yaml.safe_load(path.read_text())
    with ForwardProxy() as proxy:
        document["clusters"][0]["cluster"]["proxy-url"] = proxy.url
        assert users(bed, kubeconfig=document) == {BY_CERTIFICATE}
        assert set(proxy.targets) == {bed.server.removeprefix("https://")}
    with pytest.raises(AicrError, match="the proxy of") as caught:
        take(kubeconfig=document)
    assert caught.value.code.value == "SERVICE_UNAVAILABLE"


def several(bed: Bed, folder: Path) -> Path:
    """A kubeconfig with a context for each of two users, and one for a cluster that is gone."""
    path = bed.write_kubeconfig(folder / "several", token=bed.settings.tokens["admin"])
    document = yaml.safe_load(path.read_text())
    certificate, key = bed.authority.client(BY_CERTIFICATE, ["system:masters"])
    pair = {"client-certificate": str(certificate), "client-key": str(key)}
    document["users"].append({"name": BY_CERTIFICATE, "user": pair})
    document["clusters"].append({"name": "gone", "cluster": {"server": "https://127.0.0.1:1"}})
    document["contexts"] += [
        {"name": "second", "context": {"cluster": "bed", "user": BY_CERTIFICATE}},
        {"name": "gone", "context": {"cluster": "gone", "user": "bed"}},
    ]
    document["current-context"] = "gone"
    path.write_text(yaml.safe_dump(document))
    return path


def test_of_several_contexts_the_named_one_counts(bed: Bed, tmp_path: Path) -> None:
    path = str(several(bed, tmp_path))
    assert users(bed, kubeconfig=path, context="bed") == {"admin"}
    assert users(bed, kubeconfig=path, context="second") == {BY_CERTIFICATE}
    with bed.audit.recording() as requests:
        with pytest.raises(AicrError) as caught:
            take(kubeconfig=path, context="secnod")
        with pytest.raises(AicrError, match=r"127\.0\.0\.1:1"):
            take(kubeconfig=path)
    assert (caught.value.code.value, caught.value.hint) == ("NOT_FOUND", "it has: bed, gone, second")
    assert not [request for request in requests if request.user_agent.startswith("aicr.runtime/")]


def test_the_variables_that_awx_injects(bed: Bed, tmp_path: Path) -> None:
    """Its credential type for Kubernetes gives host, token and CA; a custom one may give a kubeconfig."""
    ca = str(bed.authority.certificate)
    host = {"K8S_AUTH_HOST": bed.server, "K8S_AUTH_API_KEY": bed.settings.tokens["admin"]}
    assert users(bed, {**host, "K8S_AUTH_VERIFY_SSL": "True", "K8S_AUTH_SSL_CA_CERT": ca}) == {"admin"}
    assert users(bed, {**host, "K8S_AUTH_VERIFY_SSL": "False"}) == {"admin"}
    with pytest.raises(AicrError, match="is not trusted"):
        take({**host, "K8S_AUTH_VERIFY_SSL": "True"})
    file = {"K8S_AUTH_KUBECONFIG": str(several(bed, tmp_path)), "K8S_AUTH_CONTEXT": "second"}
    assert users(bed, file) == {BY_CERTIFICATE}
    acting = {"K8S_AUTH_IMPERSONATE_USER": "dora", "K8S_AUTH_IMPERSONATE_GROUPS": "system:masters"}
    assert users(bed, {**file, **acting}) == {"dora"}


def test_the_ambient_cluster_is_never_asked(bed: Bed, ansible: Ansible) -> None:
    """Neither kubectl's own file nor KUBECONFIG nor the variables of a pod name a cluster for any plugin."""
    (ansible.folder / ".kube").mkdir()
    (ansible.folder / ".kube" / "config").write_bytes(bed.kubeconfig.read_bytes())
    ansible.environment = {
        "KUBECONFIG": str(bed.kubeconfig),
        "KUBERNETES_SERVICE_HOST": bed.slot.kubernetes_service,
        "KUBERNETES_SERVICE_PORT": "443",
    }
    lookup = "lookup('aicr.runtime.snapshot', 'K8s.server.version', snapshot='cm://default/x')"
    actions: dict[str, Any] = {
        "aicr.runtime.snapshot": {},
        "aicr.runtime.snapshot_agent": {},
        "aicr.runtime.recipe": {"criteria": {"intent": "training"}, "snapshot": "cm://default/x"},
        "aicr.runtime.validate": {"recipe": "cm://default/x", "snapshot": "cm://default/y"},
        "aicr.runtime.bundle": {"recipe": "cm://default/x", "dest": "bundle"},
        "ansible.builtin.debug": {"msg": f"{{{{ {lookup} }}}}"},
    }
    tasks = [{"name": name, name: options, "ignore_errors": True} for name, options in actions.items()]
    with bed.audit.recording() as requests:
        run = ansible.tasks(tasks)
    assert not [r for r in requests if r.user == "admin" or r.user_agent.startswith("aicr.runtime/")]
    for name in actions:
        assert run.result(name)["status"] == "failed"
        assert "no cluster is named" in run.result(name)["msg"]


def test_the_account_of_a_pod_is_taken_where_that_is_asked_for(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.crt").write_bytes(bed.authority.certificate.read_bytes())
    (tmp_path / "token").write_text(bed.settings.tokens["admin"], encoding="utf-8")
    monkeypatch.setattr(logins, "SERVICE_ACCOUNT", tmp_path)
    host, _colon, port = bed.server.removeprefix("https://").partition(":")
    pod = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    with bed.audit.recording("admin") as requests, pytest.raises(AicrError, match="no cluster is named"):
        take(pod)
    assert requests == []
    assert users(bed, pod, in_cluster=True) == {"admin"}
