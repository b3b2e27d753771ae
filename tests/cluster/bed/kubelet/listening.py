# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether something on this machine listens on a port, without a connection that it would have to account for."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

_LISTENS = "0A"


def listens(address: str, port: int) -> bool:
    """Whether connections to an IPv4 address and TCP port of this machine are accepted at that very address."""
    (number,) = struct.unpack("=I", socket.inet_aton(address))
    wanted = f"{number:08X}:{port:04X}"
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return any(local == wanted and state == _LISTENS for _n, local, _remote, state, *_more in map(str.split, lines))
