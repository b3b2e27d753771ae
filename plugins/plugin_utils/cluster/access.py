# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster is meant, and as whom: what a user said, or what the environment says in its place.

A cluster is never guessed: neither ``~/.kube/config`` nor the credentials of a pod are taken unless somebody says
so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import AicrError, Code, invalid, raise_all

_HINT = (
    "name a kubeconfig (and its context), or a host with an api_key, or set K8S_AUTH_KUBECONFIG or K8S_AUTH_HOST;"
    " a pod's own credentials are taken with in_cluster alone"
)
_TRUE, _FALSE = ("1", "true", "yes", "on", "t", "y"), ("0", "false", "no", "off", "f", "n")


@dataclass(frozen=True)
class Access:
    """The way to one cluster.

    :ivar kubeconfig: the path of a kubeconfig, or the kubeconfig itself.
    :ivar context: the context in it; without one its own ``current-context``.
    :ivar host: the URL of an API server, in place of a kubeconfig.
    :ivar api_key: the bearer token for ``host``.
    :ivar ca_cert: the path of a bundle of certificates that the server's own must be signed by.
    :ivar validate_certs: whether the server's certificate is checked at all; ``None`` leaves it to the kubeconfig.
    :ivar proxy: the URL of a proxy.
    :ivar in_cluster: take the ServiceAccount of the pod that this runs in.
    """

    kubeconfig: str | Mapping[str, object] | None = dataclasses.field(default=None, repr=False)
    context: str | None = None
    host: str | None = None
    api_key: str | None = dataclasses.field(default=None, repr=False)
    ca_cert: str | None = None
    validate_certs: bool | None = None
    proxy: str | None = None
    impersonate_user: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    in_cluster: bool = False

    def resolve(self, environ: Mapping[str, str]) -> Access:
        """The same with what ``K8S_AUTH_*`` says where nothing else was said.

        Variables that belong to one cluster never mix with options that name another: a token of the environment is
        not sent to a host that a task names.

        :raises AicrError: INVALID_REQUEST: no cluster is named, or two are.
        """
        said = {name: value for name in _VARIABLES if (value := environ.get(f"K8S_AUTH_{_VARIABLES[name]}", ""))}
        access = self
        if not self._ways():
            access = dataclasses.replace(
                self,
                kubeconfig=said.get("kubeconfig"),
                host=said.get("host"),
                api_key=self.api_key or said.get("api_key"),
                ca_cert=self.ca_cert or said.get("ca_cert"),
                validate_certs=_bool(said, "validate_certs") if self.validate_certs is None else self.validate_certs,
                proxy=self.proxy or said.get("proxy"),
            )
            if access.kubeconfig:  # what is meant for a host does not belong to it
                access = dataclasses.replace(access, api_key=self.api_key)
        if access.kubeconfig is not None and not access.context:
            access = dataclasses.replace(access, context=said.get("context"))
        if not access.impersonate_user and not access.impersonate_groups:
            groups = tuple(group.strip() for group in said.get("impersonate_groups", "").split(",") if group.strip())
            access = dataclasses.replace(
                access, impersonate_user=said.get("impersonate_user"), impersonate_groups=groups
            )
        access._check()
        return access

    def is_meant(self, environ: Mapping[str, str]) -> bool:
        """Whether anything says that there is a cluster to look at: a way to it, or a context to be looked up.

        The way may still be wrong, or lack the kubeconfig of its context; :meth:`resolve` says so.
        """
        return bool(self._ways() or self.context or any(environ.get(f"K8S_AUTH_{name}") for name in _WAYS))

    def _ways(self) -> list[str]:
        ways = {"kubeconfig": self.kubeconfig, "host": self.host, "in_cluster": self.in_cluster}
        return [name for name, value in ways.items() if value]

    def _check(self) -> None:
        ways = self._ways()
        if not ways:
            raise invalid("no cluster is named", _HINT)
        problems: list[AicrError] = []
        if len(ways) > 1:
            problems.append(invalid(f"{' and '.join(ways)} each name a cluster", "keep the one that is meant"))
        if self.context and not self.kubeconfig:
            problems.append(invalid(f'context "{self.context}" has no kubeconfig to be looked up in', _HINT))
        if self.api_key and not self.host:
            problems.append(invalid("api_key goes with host alone", "a kubeconfig holds its own credentials"))
        if self.impersonate_groups and not self.impersonate_user:
            problems.append(invalid("impersonate_groups has no effect without impersonate_user", "name the user, too"))
        raise_all(problems)


_VARIABLES = {
    "kubeconfig": "KUBECONFIG",
    "context": "CONTEXT",
    "host": "HOST",
    "api_key": "API_KEY",
    "ca_cert": "SSL_CA_CERT",
    "validate_certs": "VERIFY_SSL",
    "proxy": "PROXY",
    "impersonate_user": "IMPERSONATE_USER",
    "impersonate_groups": "IMPERSONATE_GROUPS",
}
"""The names that kubernetes.core reads and AWX's credential types write."""

_WAYS = ("KUBECONFIG", "HOST")
"""Those of them that name a cluster."""


def _bool(said: Mapping[str, str], name: str) -> bool | None:
    word = said.get(name, "").strip().lower()
    if word in ("", *_TRUE, *_FALSE):
        return None if not word else word in _TRUE
    raise AicrError(
        Code.INVALID_REQUEST, f"K8S_AUTH_{_VARIABLES[name]} is neither true nor false", "set it to one of the two"
    )
