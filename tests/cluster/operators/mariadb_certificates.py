# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cert controller of mariadb-operator: the webhook's authority and certificate, and who has to know them.

Until it has run, the caBundle of the webhook configuration is empty, so that every write of a MariaDB fails
(spec/operators.md 3; case M5).
"""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence

from ..bed.api import MERGE, Api, Object
from .certificates import Pair
from .loop import forever, watch
from .objects import Objects, content, secret
from .session import connect, delay, option
from .webhook import health

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_OURS = "k8s.mariadb.com/webhook"
_USUAL = 0.7
"""Seconds from the start to the Secrets."""


def main(arguments: Sequence[str]) -> None:
    health(int(option(arguments, "health-addr", ":8081").rpartition(":")[2]))
    time.sleep(_USUAL + delay("CERTIFICATES"))
    objects = Objects(connect(), "cert-controller")
    authority = _authority(objects, arguments)
    _certificate(objects, arguments, authority)
    time.sleep(delay("CA_BUNDLE"))
    api = connect()
    watch(connect(), _CONFIGURATIONS, lambda event, one: inject(api, event, one, authority.certificate, _OURS))
    forever()


def inject(api: Api, event: str, configuration: Object, certificate: bytes, annotation: str, value: str = "") -> None:
    """Write an authority into a webhook configuration that asks for it by annotation."""
    metadata = configuration["metadata"]
    if event == "DELETED" or metadata.get("annotations", {}).get(annotation) != value:
        return
    bundle = base64.b64encode(certificate).decode()
    webhooks = [
        {**one, "clientConfig": {**one["clientConfig"], "caBundle": bundle}} for one in configuration["webhooks"]
    ]
    if webhooks != configuration["webhooks"]:
        plural = "mutating" if configuration.get("kind", "").startswith("Mutating") else "validating"
        place = _CONFIGURATIONS.replace("validating", plural)
        api.patch(f"{place}/{metadata['name']}", {"webhooks": webhooks}, MERGE, fieldManager="ca-injector")


def _authority(objects: Objects, arguments: Sequence[str]) -> Pair:
    namespace, name = option(arguments, "ca-secret-namespace"), option(arguments, "ca-secret-name")
    there = objects.find("Secret", namespace, name)
    if there is not None:
        return Pair(content(there, "tls.crt") or b"", content(there, "tls.key") or b"")
    made = Pair.make(name, 1095, ca=True)
    _keep(objects, namespace, name, made)
    return made


def _certificate(objects: Objects, arguments: Sequence[str], authority: Pair) -> None:
    namespace, name = option(arguments, "cert-secret-namespace"), option(arguments, "cert-secret-name")
    service, place = option(arguments, "service-name"), option(arguments, "service-namespace")
    if objects.find("Secret", namespace, name) is None:
        host = f"{service}.{place}.svc"
        hosts = [host, f"{host}.cluster.local", f"{service}.{place}", service]
        _keep(objects, namespace, name, Pair.make(host, 90, hosts, issuer=authority))


def _keep(objects: Objects, namespace: str, name: str, pair: Pair) -> None:
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    objects.create("Secret", secret({"name": name, "namespace": namespace}, data, type="kubernetes.io/tls"))
