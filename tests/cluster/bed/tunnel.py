# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes from one connection to another: what stands behind a Service, and a proxy as `proxy-url` names one."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from types import TracebackType

Address = tuple[str, int]


def splice(one: socket.socket, other: socket.socket) -> None:
    """Copy both ways until either end closes, and close both."""
    back = threading.Thread(target=_copy, args=(other, one), daemon=True)
    back.start()
    _copy(one, other)
    back.join()
    one.close()
    other.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Server(socketserver.ThreadingTCPServer):
    """Serves in threads that keep no process alive, until `stop`."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])


def forward(here: Address, there: Address) -> Server:
    """Have every connection to an address of this machine reach another one, until the server is stopped.

    :raises OSError: this user may not listen there, or something listens already.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                splice(self.request, socket.create_connection(there))

    server = Server(here, Handler)
    server.start()
    return server


class ForwardProxy:
    """An HTTP proxy that knows CONNECT and writes down where it was asked to connect to."""

    def __enter__(self) -> ForwardProxy:
        self.targets: list[str] = []
        targets = self.targets

        class Handler(socketserver.StreamRequestHandler):
            rbufsize = 0  # what follows the request is not ours

            def handle(self) -> None:
                method, target, _version = self.rfile.readline().decode("ascii").split()
                while self.rfile.readline().strip():
                    pass
                if method != "CONNECT":
                    self.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
                    return
                targets.append(target)
                host, _colon, port = target.rpartition(":")
                with contextlib.suppress(OSError):
                    upstream = socket.create_connection((host, int(port)))
                    self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    splice(self.connection, upstream)

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.start()
        self.url = f"http://127.0.0.1:{self._server.port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()
