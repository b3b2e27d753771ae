# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets of a MariaDB with TLS, which it has unless told otherwise (spec/operators.md 1.2)."""

from __future__ import annotations

from ..bed.api import Object
from . import mariadb_children as children
from .certificates import Pair, described
from .objects import Objects, content, digest, owned, secret

_WATCHED = {"k8s.mariadb.com/watch": ""}


def certify(objects: Objects, mariadb: Object) -> dict[str, str]:
    """Make what is lacking; the digests that the pods carry as annotations."""
    metadata = mariadb["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    authority = _pair(objects, mariadb, f"{name}-ca", None)
    host = f"{name}.{namespace}.svc.cluster.local"
    inner = [f"*.{name}-internal.{namespace}.svc.cluster.local", f"*.{name}-internal.{namespace}.svc"]
    hosts = [host, f"{name}.{namespace}.svc", f"{name}.{namespace}", name, *inner, f"*.{name}-internal", "localhost"]
    server = _pair(objects, mariadb, f"{name}-server-cert", authority, host, hosts)
    client = _pair(objects, mariadb, f"{name}-client-cert", authority, f"{name}-client", [f"{name}-client"])
    objects.put("Secret", secret(owned(mariadb, f"{name}-ca-bundle"), {"ca.crt": authority.certificate}))
    settings = children.tls_configuration(mariadb)
    objects.put("ConfigMap", settings)
    state = {
        "caBundle": [described(authority.certificate)],
        "serverCert": described(server.certificate),
        "clientCert": described(client.certificate),
    }
    if mariadb.get("status", {}).get("tls") != state:
        objects.patch("MariaDB", namespace, name, {"status": {"tls": state}}, True)
    return {
        "k8s.mariadb.com/ca": digest(authority.certificate),
        "k8s.mariadb.com/server-cert": digest(server.certificate),
        "k8s.mariadb.com/client-cert": digest(client.certificate),
        "k8s.mariadb.com/config-tls": digest(settings["data"]),
    }


def _pair(
    objects: Objects, mariadb: Object, name: str, issuer: Pair | None, subject: str = "", hosts: list[str] | None = None
) -> Pair:
    certificate, key = ("tls.crt", "tls.key") if issuer else ("ca.crt", "ca.key")
    there = objects.find("Secret", mariadb["metadata"]["namespace"], name)
    if there is not None:
        return Pair(content(there, certificate) or b"", content(there, key) or b"")
    made = Pair.make(subject or name, 90 if issuer else 1095, hosts or (), ca=issuer is None, issuer=issuer)
    kind = {"type": "kubernetes.io/tls"} if issuer else {}
    # The server sends its authority along.
    sent = made.certificate + (issuer.certificate if issuer and "server" in name else b"")
    objects.create("Secret", secret(owned(mariadb, name, labels=_WATCHED), {certificate: sent, key: made.key}, **kind))
    return Pair(sent, made.key)
