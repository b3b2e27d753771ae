# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster is meant is said by options or by K8S_AUTH_*, never guessed, and credentials go to no other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

AWX = {
    "K8S_AUTH_HOST": "https://awx:6443",
    "K8S_AUTH_API_KEY": "awx-token",
    "K8S_AUTH_VERIFY_SSL": "False",
    "K8S_AUTH_SSL_CA_CERT": "/awx/ca.pem",
}


def refusal(access: Access, environ: dict[str, str]) -> str:
    with pytest.raises(AicrError) as caught:
        access.resolve(environ)
    assert caught.value.code.value == "INVALID_REQUEST"
    return str(caught.value)


def test_without_a_word_there_is_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the one in ~/.kube/config, not KUBECONFIG's, and not the one of the pod that this runs in."""
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("{clusters: [], contexts: [], users: []}")
    ambient = {
        "HOME": str(tmp_path),
        "KUBECONFIG": str(tmp_path / ".kube" / "config"),
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
    }
    for name, value in ambient.items():
        monkeypatch.setenv(name, value)
    for environ in ({}, ambient, {**ambient, "K8S_AUTH_CONTEXT": "prod", "K8S_AUTH_API_KEY": "x"}):
        with pytest.raises(AicrError, match="no cluster is named") as caught:
            Connection(Access(), environ)
        assert "kubeconfig" in caught.value.hint
        assert "K8S_AUTH_KUBECONFIG" in caught.value.hint


def test_awx_says_host_token_and_certificates() -> None:
    access = Access().resolve(AWX)
    assert (access.host, access.api_key, access.ca_cert) == ("https://awx:6443", "awx-token", "/awx/ca.pem")
    assert access.validate_certs is False


@pytest.mark.parametrize(
    ("access", "environ", "meant"),
    [
        (Access(), {}, False),
        (Access(), {"KUBECONFIG": "/kube", "K8S_AUTH_CONTEXT": "prod", "K8S_AUTH_API_KEY": "x"}, False),
        (Access(), {"K8S_AUTH_KUBECONFIG": ""}, False),
        (Access(), {"K8S_AUTH_KUBECONFIG": "/kube"}, True),
        (Access(), AWX, True),
        (Access(context="prod"), {}, True),
        (Access(in_cluster=True), {}, True),
    ],
)
def test_a_cluster_is_meant_where_anything_leads_to_one(access: Access, environ: dict[str, str], meant: bool) -> None:
    """A context without a kubeconfig leads nowhere; to go on as if there were no cluster would hide that."""
    assert access.is_meant(environ) is meant


def test_a_kubeconfig_of_the_environment_comes_with_its_context() -> None:
    environ = {"K8S_AUTH_KUBECONFIG": "/kube", "K8S_AUTH_CONTEXT": "prod"}
    assert Access().resolve(environ) == Access(kubeconfig="/kube", context="prod")
    assert Access(context="test").resolve(environ).context == "test"


@pytest.mark.parametrize(
    "access", [Access(kubeconfig="/other"), Access(host="https://other", api_key="own"), Access(in_cluster=True)]
)
def test_nothing_that_the_environment_says_of_one_cluster_reaches_another(access: Access) -> None:
    resolved = access.resolve({**AWX, "K8S_AUTH_KUBECONFIG": "/kube", "K8S_AUTH_PROXY": "http://proxy:1"})
    assert resolved == access


def test_a_token_of_the_environment_is_not_sent_to_a_host_that_a_task_names() -> None:
    assert Access(host="https://other").resolve(AWX).api_key is None


def test_whom_to_impersonate_may_come_from_the_environment() -> None:
    environ = {"K8S_AUTH_IMPERSONATE_USER": "viewer", "K8S_AUTH_IMPERSONATE_GROUPS": "a, b"}
    resolved = Access(kubeconfig="/kube").resolve(environ)
    assert (resolved.impersonate_user, resolved.impersonate_groups) == ("viewer", ("a", "b"))
    assert Access(kubeconfig="/kube", impersonate_user="me").resolve(environ).impersonate_groups == ()


@pytest.mark.parametrize(
    ("access", "environ", "told"),
    [
        (Access(kubeconfig="/kube", host="https://h"), {}, "kubeconfig and host each name a cluster"),
        (Access(kubeconfig="/kube", in_cluster=True), {}, "kubeconfig and in_cluster"),
        (Access(), {"K8S_AUTH_KUBECONFIG": "/kube", **AWX}, "kubeconfig and host"),
        (Access(host="https://h", context="prod"), {}, 'context "prod" has no kubeconfig'),
        (Access(kubeconfig="/kube", api_key="x"), {}, "api_key goes with host alone"),
        (Access(kubeconfig="/kube", impersonate_groups=("a",)), {}, "impersonate_groups"),
        (Access(), {**AWX, "K8S_AUTH_VERIFY_SSL": "perhaps"}, "K8S_AUTH_VERIFY_SSL"),
    ],
)
def test_what_cannot_be_meant_is_refused(access: Access, environ: dict[str, str], told: str) -> None:
    assert told in refusal(access, environ)


@pytest.mark.parametrize("word", ["1", "true", "Yes", "on", "TRUE"])
def test_true_has_many_spellings(word: str) -> None:
    assert Access().resolve({**AWX, "K8S_AUTH_VERIFY_SSL": word}).validate_certs is True


def test_a_token_is_never_shown() -> None:
    shown: Any = repr(Access(host="https://h", api_key="sesame"))
    assert "sesame" not in shown
