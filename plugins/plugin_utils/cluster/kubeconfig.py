# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubeconfig, a host with a token, or a pod's ServiceAccount: how to log in to one API server.

Read here and not by the package ``kubernetes``, which leaves private keys in temporary files that outlive a forked
worker, goes on without credentials when an exec plugin fails, sends the line feed at the end of a token's file, and
knows no impersonation.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .. import yamlio
from ..artifacts.codec import type_name
from ..errors import AicrError, Code, invalid, not_found
from .access import Access
from .address import spelled, url_parts
from .exec_plugin import run_exec_plugin

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MAX_PATH = 4096
MAX_KUBECONFIG_BYTES = 16 * 1024 * 1024

Document = Mapping[str, object]


@dataclass(frozen=True)
class Login:
    """All that a connection needs; its credentials are never shown.

    :ivar name: what to call the cluster in messages.
    :ivar server: the URL of the API server.
    :ivar ca: the certificates that may have signed the server's, in PEM; ``None`` takes the system's.
    :ivar server_name: the name that the server's certificate must have, if it is not the one in the URL.
    :ivar certificate: the client's certificate and key, in PEM.
    :ivar as_user: whom to impersonate, with ``as_uid``, ``as_groups`` and ``as_extra``.
    """

    name: str
    server: str
    ca: bytes | None = field(default=None, repr=False)
    verify: bool = True
    server_name: str | None = None
    proxy: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    as_user: str | None = None
    as_uid: str | None = None
    as_groups: tuple[str, ...] = ()
    as_extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def log_in(access: Access, environ: Mapping[str, str]) -> Login:
    """How to reach the cluster that is meant.

    Files are read and exec plugins are run each time, since tokens in them expire.

    :param access: as :meth:`Access.resolve` returns it.
    :param environ: what an exec plugin sees.
    :raises AicrError: NOT_FOUND for a file or a context, INVALID_REQUEST for a kubeconfig that makes no sense,
        UNAUTHORIZED for an exec plugin that fails.
    """
    if access.in_cluster:
        login = _pod(environ)
    elif access.host:
        login = Login(access.host, server_url(access.host, "host"), token=_header_text(access.api_key, "api_key"))
    elif access.kubeconfig is not None:
        login = _from_kubeconfig(access.kubeconfig, access.context, environ)
    else:
        raise invalid("no cluster is named")
    if access.ca_cert:
        login = dataclasses.replace(login, ca=_read(Path(os.path.expanduser(access.ca_cert)), "ca_cert"))
    if access.validate_certs is not None:
        login = dataclasses.replace(login, verify=access.validate_certs)
    if access.proxy:
        login = dataclasses.replace(login, proxy=access.proxy)
    if access.impersonate_user:
        login = dataclasses.replace(
            login, as_user=access.impersonate_user, as_groups=access.impersonate_groups, as_uid=None, as_extra={}
        )
    return login


def _pod(environ: Mapping[str, str]) -> Login:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise invalid("in_cluster: this is no pod of a cluster", "name a kubeconfig, or a host with an api_key")
    address = f"[{host}]" if ":" in host else host
    return Login(
        "the cluster of this pod",
        f"https://{address}:{port}",
        ca=_read(SERVICE_ACCOUNT / "ca.crt", "in_cluster"),
        token=_token_file(SERVICE_ACCOUNT / "token", "in_cluster"),
    )


@dataclass(frozen=True)
class _Entry:
    """A mapping of a kubeconfig, and where it stands."""

    document: Document
    place: str
    base: Path

    def text(self, key: str) -> str | None:
        value = self.document.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise invalid(f"{self.place}: {key} must be text, not {type_name(value)}")
        return value

    def flag(self, key: str) -> bool:
        value = self.document.get(key)
        if value is not None and not isinstance(value, bool):
            raise invalid(f"{self.place}: {key} must be true or false, not {type_name(value)}")
        return bool(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.document.get(key) or []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise invalid(f"{self.place}: {key} must be a list of texts")
        return tuple(value)

    def mapping(self, key: str) -> _Entry | None:
        value = self.document.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise invalid(f"{self.place}: {key} must be a mapping, not {type_name(value)}")
        return _Entry(value, f"{self.place}: {key}", self.base)

    def path(self, key: str) -> Path | None:
        """A file; relative ones start where the kubeconfig is."""
        text = self.text(key)
        return None if text is None else self.base / Path(os.path.expanduser(text))

    def data(self, key: str) -> bytes | None:
        """What stands under ``<key>-data`` or in the file that ``key`` names."""
        encoded = self.text(f"{key}-data")
        if encoded is not None:
            try:
                return base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError) as error:
                raise invalid(f"{self.place}: {key}-data is not base64") from error
        path = self.path(key)
        return None if path is None else _read(path, f"{self.place}: {key}")


def _from_kubeconfig(given: str | Document, context: str | None, environ: Mapping[str, str]) -> Login:
    if isinstance(given, str):
        if _is_content(given):  # it may hold credentials, so nobody may see it as a path
            raise invalid(
                "kubeconfig: is the content of a kubeconfig, where a path or a mapping is due",
                "give the path of the file, or make a mapping of the text with the filter from_yaml",
            )
        path = Path(os.path.expanduser(os.path.expandvars(given)))
        document, source, base = yamlio.load_file(path, MAX_KUBECONFIG_BYTES), str(path), path.absolute().parent
    else:
        document, source, base = given, "the kubeconfig", Path.cwd()
    if not isinstance(document, dict) or "clusters" not in document:
        raise invalid(f"{source}: is no kubeconfig", "a kubeconfig has clusters, users and contexts")
    name = context or _Entry(document, source, base).text("current-context")
    contexts = named(document, "contexts", source)
    if not name:
        raise invalid(f"{source}: has no current-context, so a context must be named", f"it has: {_list(contexts)}")
    if name not in contexts:
        raise not_found(f'{source}: has no context "{name}"', f"it has: {_list(contexts)}", context=name)
    chosen = _entry(contexts[name], "context", f'{source}: context "{name}"', base)
    cluster_name, user_name = chosen.text("cluster"), chosen.text("user")
    clusters, users = named(document, "clusters", source), named(document, "users", source)
    if cluster_name not in clusters:
        raise invalid(f'{chosen.place}: its cluster "{cluster_name}" is missing', f"clusters: {_list(clusters)}")
    if user_name is not None and user_name not in users:
        raise invalid(f'{chosen.place}: its user "{user_name}" is missing', f"users: {_list(users)}")
    cluster = _entry(clusters[str(cluster_name)], "cluster", f'{source}: cluster "{cluster_name}"', base)
    server = cluster.text("server")
    if server is None:
        raise invalid(f"{cluster.place}: server is missing")
    login = Login(
        f'context "{name}" of {source}',
        server_url(server, f"{cluster.place}: server"),
        ca=cluster.data("certificate-authority"),
        verify=not cluster.flag("insecure-skip-tls-verify"),
        server_name=cluster.text("tls-server-name"),
        proxy=cluster.text("proxy-url"),
    )
    if user_name is None:
        return login
    user = _entry(users[user_name], "user", f'{source}: user "{user_name}"', base)
    return _with_user(login, user, cluster, environ)


def _is_content(text: str) -> bool:
    """Whether a text is no path, but what stands in a file, as YAML, JSON or base64."""
    return "\n" in text.strip() or text.lstrip().startswith("{") or len(text) > MAX_PATH


def _with_user(login: Login, user: _Entry, cluster: _Entry, environ: Mapping[str, str]) -> Login:
    token_file = user.path("tokenFile")
    token = _token_file(token_file, user.place) if token_file else _header_text(user.text("token"), user.place)
    certificate, key = user.data("client-certificate"), user.data("client-key")
    if (certificate is None) != (key is None):
        raise invalid(f"{user.place}: client-certificate and client-key go together")
    username, password = user.text("username"), user.text("password")
    plugin, provider = user.mapping("exec"), user.mapping("auth-provider")
    if plugin is not None:
        got = run_exec_plugin(plugin.document, plugin.place, user.base, environ, cluster.document)
        token = _header_text(got.token, plugin.place) or token
        certificate, key = got.certificate or (certificate, key)
    if provider is not None:
        token = _header_text(_id_token(provider), provider.place)
    extra = user.mapping("as-user-extra")
    return dataclasses.replace(
        login,
        token=token,
        basic=(username, password) if username is not None and password is not None else None,
        certificate=(certificate, key) if certificate is not None and key is not None else None,
        as_user=user.text("as"),
        as_uid=user.text("as-uid"),
        as_groups=user.texts("as-groups"),
        as_extra={name: extra.texts(name) for name in extra.document} if extra else {},
    )


def _id_token(provider: _Entry) -> str | None:
    """The one provider that kubectl still knows, too; its token is not renewed here."""
    name, config = provider.text("name"), provider.mapping("config")
    if name != "oidc" or config is None:
        raise invalid(
            f'{provider.place}: provider "{name}" is not supported, kubectl has dropped it, too',
            "use the exec plugin of your cloud, such as gke-gcloud-auth-plugin or kubelogin",
        )
    return config.text("id-token")


def named(document: Document, key: str, source: str) -> dict[str, Document]:
    """The entries of a list of a kubeconfig (``clusters``, ``users``, ``contexts``) by their names."""
    entries = document.get(key) or []
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in entries
    ):
        raise invalid(f"{source}: {key} must be a list of mappings with a name")
    found: dict[str, Document] = {}
    for entry in entries:
        found.setdefault(entry["name"], entry)  # as kubectl: the first of a name counts
    return found


def _entry(named: Document, key: str, place: str, base: Path) -> _Entry:
    found = _Entry(named, place, base).mapping(key)
    return _Entry({} if found is None else found.document, place, base)


def _list(named: Mapping[str, object]) -> str:
    return ", ".join(sorted(named)) or "none"


def server_url(text: str, place: str) -> str:
    """The URL of an API server as requests take it; without a scheme it is ``https``.

    :param place: what to call it in messages.
    :raises AicrError: INVALID_REQUEST for another scheme, and for a user or password in it.
    """
    url = spelled(text.strip()).rstrip("/")
    if "://" not in url:
        url = f"https://{url}"
    parts = url_parts(url)
    if parts is None or parts.port == 0 or not url.startswith(("https://", "http://")) or "@" in url:
        raise invalid(f"{place}: is not the URL of an API server", "write https://host:port")
    return url


def _read(path: Path, place: str) -> bytes:
    try:
        return yamlio.read_bytes(path, MAX_KUBECONFIG_BYTES)
    except AicrError as error:
        raise AicrError(error.code, f"{place}: {error.message}", error.hint, error.details) from error


def _token_file(path: Path, place: str) -> str:
    token = _header_text(_read(path, place).decode(errors="replace"), place)
    if not token:
        raise AicrError(Code.UNAUTHORIZED, f"{place}: {path} holds no token", "renew it")
    return token


def _header_text(token: str | None, place: str) -> str | None:
    """A token as a header can carry it; what cannot must not reach the HTTP client, which would show it."""
    text = (token or "").strip()
    if any(not " " < letter < "\x7f" for letter in text):
        raise invalid(f"{place}: the token holds letters that no header can carry", "it must be one line of ASCII")
    return text or None
