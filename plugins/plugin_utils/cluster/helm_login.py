# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubeconfig that helm gets: the credentials of a login, in a file that nobody else can read."""

from __future__ import annotations

import base64
from typing import Any

from .kubeconfig import Login


def kubeconfig_of(login: Login) -> dict[str, Any]:
    """A kubeconfig with one context.

    Whatever the login came from, an exec plugin or a pod's ServiceAccount, is in it as a token or a certificate, so
    helm runs no program of a user's and needs nothing of the environment.
    """
    cluster: dict[str, Any] = {"server": login.server}
    if not login.verify:
        cluster["insecure-skip-tls-verify"] = True
    elif login.ca is not None:
        cluster["certificate-authority-data"] = _encoded(login.ca)
    _put(cluster, "tls-server-name", login.server_name)
    _put(cluster, "proxy-url", login.proxy)
    user: dict[str, Any] = {}
    if login.token is not None:
        user["token"] = login.token
    elif login.basic is not None:
        user["username"], user["password"] = login.basic
    if login.certificate is not None:
        user["client-certificate-data"], user["client-key-data"] = map(_encoded, login.certificate)
    _put(user, "as", login.as_user)
    _put(user, "as-uid", login.as_uid)
    _put(user, "as-groups", list(login.as_groups))
    _put(user, "as-user-extra", {name: list(values) for name, values in login.as_extra.items()})
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "cluster",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "cluster", "context": {"cluster": "cluster", "user": "user"}}],
    }


def _put(entry: dict[str, Any], name: str, value: object) -> None:
    if value:
        entry[name] = value


def _encoded(text: bytes) -> str:
    return base64.b64encode(text).decode("ascii")
