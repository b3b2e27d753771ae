# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python reads this at its start where PYTHONPATH names the folder; from then on nothing connects to a network."""

from __future__ import annotations

import socket

_connect = socket.socket.connect


def _refuse(self: socket.socket, address: object) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        raise OSError(f"sockets are blocked, but something connects to {address}")
    _connect(self, address)


socket.socket.connect = _refuse  # type: ignore[method-assign]
socket.socket.connect_ex = _refuse  # type: ignore[method-assign, assignment]
