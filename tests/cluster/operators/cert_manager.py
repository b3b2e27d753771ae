# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of cert-manager as the charts of the catalog ask for: self-signed issuers, authorities, injection."""

from __future__ import annotations

import threading
import time

from ..bed.api import MERGE, Api, ApiError, Object
from .certificates import Pair
from .loop import Controller, forever, watch
from .mariadb_certificates import inject
from .objects import Objects, conditions, content, secret
from .session import connect, delay, end_when_told

_GROUP = "/apis/cert-manager.io/v1"
_INJECT = "cert-manager.io/inject-ca-from"
_HOOKS = "/apis/admissionregistration.k8s.io/v1"


class Certificates:
    """The controller of Certificates."""

    def __init__(self, api: Api) -> None:
        self._api, self._objects = api, Objects(api, "cert-manager")

    def reconcile(self, namespace: str, name: str) -> float | None:
        """Issue one that is lacking; ask again while its issuer is not there."""
        place = f"{_GROUP}/namespaces/{namespace}/certificates"
        one = next(self._api.items(place, fieldSelector=f"metadata.name={name}"), None)
        if one is None or self._objects.find("Secret", namespace, one["spec"]["secretName"]) is not None:
            return None
        spec = one["spec"]
        issuer = self._issuer(namespace, spec["issuerRef"]["name"])
        if issuer is None:
            return 0.2
        authority = None
        if "ca" in issuer["spec"]:
            found = self._objects.find("Secret", namespace, issuer["spec"]["ca"]["secretName"])
            if found is None:
                return 0.2
            authority = Pair(content(found, "tls.crt") or b"", content(found, "tls.key") or b"")
        made = Pair.make(
            spec.get("commonName", name), 365, spec.get("dnsNames", ()), spec.get("isCA", False), authority
        )
        trusted = authority.certificate if authority else made.certificate
        data = {"tls.crt": made.certificate, "tls.key": made.key, "ca.crt": trusted}
        metadata = {"name": spec["secretName"], "namespace": namespace}
        self._objects.create("Secret", secret(metadata, data, type="kubernetes.io/tls"))
        message = "Certificate is up to date and has not expired"
        told = {"status": {"conditions": conditions(one, ("Ready", "True", "Ready", message))}}
        self._api.patch(f"{place}/{name}/status", told, MERGE)
        return None

    def _issuer(self, namespace: str, name: str) -> Object | None:
        issuers = self._api.items(f"{_GROUP}/namespaces/{namespace}/issuers", fieldSelector=f"metadata.name={name}")
        return next(issuers, None)


def main() -> None:
    end_when_told()
    time.sleep(delay("CERTIFICATES"))
    controller = Controller("Certificate", Certificates(connect()).reconcile)
    watch(
        connect(),
        f"{_GROUP}/certificates",
        lambda _event, one: controller.add(one["metadata"]["namespace"], one["metadata"]["name"]),
    )
    controller.start()
    for kind in ("Validating", "Mutating"):
        threading.Thread(target=_inject, args=(kind,), daemon=True).start()
    forever()


def _inject(kind: str) -> None:
    """Write authorities into webhook configurations that name a Certificate, as soon as its Secret is there."""
    api, place = connect(), f"{_HOOKS}/{kind.lower()}webhookconfigurations"
    objects = Objects(api, "cert-manager")

    def look(namespace_less: str, name: str) -> float | None:
        one = next(api.items(place, fieldSelector=f"metadata.name={name}"), None)
        wanted = (one or {}).get("metadata", {}).get("annotations", {}).get(_INJECT)
        if one is None or not wanted:
            return None
        namespace, _slash, certificate = wanted.partition("/")
        # The Secret has the name of the Certificate in every chart here.
        found = objects.find("Secret", namespace, certificate)
        if found is None:
            return 0.2
        try:
            inject(
                api,
                "ADDED",
                {**one, "kind": f"{kind}WebhookConfiguration"},
                content(found, "ca.crt") or b"",
                _INJECT,
                wanted,
            )
        except ApiError as error:
            if error.code != 404:
                raise
        return None

    controller = Controller(kind, look)
    watch(connect(), place, lambda _event, one: controller.add("", one["metadata"]["name"]))
    controller.start()
    time.sleep(delay("CA_BUNDLE"))


if __name__ == "__main__":
    main()
