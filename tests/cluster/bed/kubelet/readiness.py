# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a container is ready: what its probe asks for, or whether its port is open."""

from __future__ import annotations

import http.client
import socket
import ssl
import struct
from pathlib import Path

from ..api import Object
from .proxy import named_port

_LISTENS = "0A"


class Readiness:
    """One container's. A probe that executes a command counts as one of the port."""

    def __init__(self, container: Object, address: str, port: int | None) -> None:
        """:param port: of its image; what a probe names comes first, and without either it is ready as it runs."""
        probe = container.get("readinessProbe", {})
        self._request: Object | None = probe.get("httpGet")
        stated = (self._request or probe.get("tcpSocket") or {}).get("port")
        self._address = address
        self._port = named_port(stated, [container]) if isinstance(stated, str) else stated or port
        self._seconds = float(probe.get("timeoutSeconds", 1))
        self.interval = 1.0 if self._request else 0.3
        """Seconds between two looks at a container that is ready."""

    def holds(self) -> bool:
        """Look now; a request takes the probe's timeout at most."""
        if self._port is None:
            return True
        return listens(self._address, self._port) and (self._request is None or self._answers(self._request))

    def _answers(self, request: Object) -> bool:
        connection: http.client.HTTPConnection
        if request.get("scheme", "HTTP") == "HTTPS":
            tls = ssl._create_unverified_context()  # as a kubelet, which cannot know who signed
            connection = http.client.HTTPSConnection(self._address, self._port, timeout=self._seconds, context=tls)
        else:
            connection = http.client.HTTPConnection(self._address, self._port, timeout=self._seconds)
        try:
            connection.request("GET", request.get("path", "/"))
            return 200 <= connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def listens(address: str, port: int) -> bool:
    """Whether connections are accepted at that very address, without one that a server would have to account for.

    The kernel tells what listens before all else, and takes milliseconds to look for what else there is.
    """
    (number,) = struct.unpack("=I", socket.inet_aton(address))
    wanted = f"{number:08X}:{port:04X}"
    with Path("/proc/net/tcp").open(encoding="ascii") as table:
        next(table)
        for _n, local, _remote, state, *_more in map(str.split, table):
            if state != _LISTENS:
                return False
            if local == wanted:
                return True
    return False
