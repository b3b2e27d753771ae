# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of Services without a DNS server: the hosts file of a pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..api import Object


def hosts(pod: Object, services: Iterable[Object]) -> str:
    """A hosts file with this machine, the pod, its aliases and every Service that has an address.

    A Service has its ClusterIP, or what its annotation `bed/address` says (for a headless one).
    """
    namespace = pod["metadata"]["namespace"]
    lines = ["127.0.0.1 localhost", f"127.0.0.1 {pod['metadata']['name']}"]
    lines += [" ".join([alias["ip"], *alias.get("hostnames", ())]) for alias in pod["spec"].get("hostAliases", ())]
    lines += sorted(_lines(services, namespace))
    return "\n".join(lines) + "\n"


def _lines(services: Iterable[Object], namespace: str) -> Iterator[str]:
    for service in services:
        name, own = service["metadata"]["name"], service["metadata"]["namespace"]
        address = service["metadata"].get("annotations", {}).get("bed/address") or service["spec"].get(
            "clusterIP", "None"
        )
        if address and address != "None":
            names = [f"{name}.{own}{end}" for end in (".svc.cluster.local", ".svc", "")]
            yield " ".join([address, *names, *([name] if own == namespace else [])])
