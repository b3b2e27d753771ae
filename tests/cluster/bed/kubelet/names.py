# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of Services without a DNS server: the hosts file of a pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..api import Object
from .proxy import Endpoint, service_address


def hosts(pod: Object, address: str, services: Iterable[Object], endpoints: Iterable[Endpoint]) -> str:
    """A hosts file with this machine, the pod, its aliases, and every Service that has an address or an endpoint.

    :param address: the pod's own.
    """
    namespace = pod["metadata"]["namespace"]
    lines = ["127.0.0.1 localhost", f"{address} {pod['metadata']['name']}"]
    lines += [" ".join([alias["ip"], *alias.get("hostnames", ())]) for alias in pod["spec"].get("hostAliases", ())]
    lines += sorted(_lines(services, list(endpoints), namespace))
    return "\n".join(lines) + "\n"


def _lines(services: Iterable[Object], endpoints: list[Endpoint], namespace: str) -> Iterator[str]:
    for service in services:
        name, own = service["metadata"]["name"], service["metadata"]["namespace"]
        serving = [one for one in endpoints if one.serves(service)]
        address = service_address(service) or (serving[0].address if serving else None)
        if address:
            yield _line(address, name, own, namespace)
        for one in serving:
            if one.pod["spec"].get("subdomain") == name:
                yield _line(one.address, f"{one.pod['metadata']['name']}.{name}", own, namespace)


def _line(address: str, name: str, own: str, namespace: str) -> str:
    names = [f"{name}.{own}{end}" for end in (".svc.cluster.local", ".svc", "")]
    return " ".join([address, *names, *([name] if own == namespace else [])])
