# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What leads from Services to the pods that are executed: a kube-proxy, by connections instead of packet filters."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..api import Object
from ..tunnel import Address, Server, forward


@dataclass(frozen=True)
class Endpoint:
    """An executed pod and the loopback address that is its own."""

    pod: Object
    address: str
    ready: bool

    def serves(self, service: Object) -> bool:
        """Whether connections to a Service may go to this pod."""
        selector = service["spec"].get("selector")
        metadata = self.pod["metadata"]
        return bool(
            selector
            and metadata["namespace"] == service["metadata"]["namespace"]
            and selector.items() <= metadata.get("labels", {}).items()
            and (self.ready or service["spec"].get("publishNotReadyAddresses"))
        )


class Proxy:
    """Listens on the addresses of all Services that have an endpoint, and on no other: those refuse connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[Address, tuple[Address, Server]] = {}

    def sync(self, services: Iterable[Object], endpoints: Iterable[Endpoint]) -> None:
        """Bring what listens to what should, before anyone is told about it."""
        with self._lock:
            wanted = dict(_routes(services, list(endpoints)))
            for here, (there, server) in list(self._servers.items()):
                if wanted.get(here) != there:
                    server.stop()
                    del self._servers[here]
            for here, there in wanted.items():
                if here not in self._servers:
                    try:
                        self._servers[here] = there, forward(here, there)
                    except OSError as error:  # a process of a test stands there
                        print(f"nothing of a pod behind {here[0]}:{here[1]}: {error}", file=sys.stderr, flush=True)


def service_address(service: Object) -> str | None:
    """The ClusterIP, or what the annotation `bed/address` says (for a headless Service)."""
    stated = service["metadata"].get("annotations", {}).get("bed/address")
    address: str = stated or service["spec"].get("clusterIP") or "None"
    return None if address == "None" else address


def _routes(services: Iterable[Object], endpoints: list[Endpoint]) -> Iterator[tuple[Address, Address]]:
    for service in services:
        address = service_address(service)
        endpoint = next((one for one in endpoints if one.serves(service)), None)
        if address is None or endpoint is None:
            continue
        for port in service["spec"].get("ports", ()):
            target = _target(port, endpoint.pod)
            if target is not None and port.get("protocol", "TCP") == "TCP":
                yield (address, port["port"]), (endpoint.address, target)


def _target(port: Object, pod: Object) -> int | None:
    wanted: int | str = port["targetPort"] if "targetPort" in port else port["port"]
    return wanted if isinstance(wanted, int) else named_port(wanted, pod["spec"]["containers"])


def named_port(name: str, containers: Iterable[Object]) -> int | None:
    """The port that containers declare by this name, if one does."""
    ports = (port for one in containers for port in one.get("ports", ()))
    return next((int(port["containerPort"]) for port in ports if port.get("name") == name), None)
