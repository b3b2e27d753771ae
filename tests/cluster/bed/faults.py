# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server that fails: a proxy in front of a real one that does to requests what the network and servers do.

It ends TLS (with the bed's own certificate) and speaks HTTP/1.1, so tokens pass and client certificates do not.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import random
import re
import socket
import ssl
import struct
import threading
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from .bed import Bed


class Kind(Enum):
    """What happens to a request."""

    THROTTLED = "429 with Retry-After"
    FAILED = "500"
    CUT = "a true answer, of which only the first bytes come before the connection breaks"
    GONE = "410 for every page of a list but the first, and for every watch"
    SILENT = "no answer at all"
    ENDLESS = "an answer that begins and never ends"


@dataclass
class Fault:
    """One kind of trouble, and the requests that it befalls."""

    kind: Kind
    path: str = ""
    """A regular expression that is found in path and query."""
    method: str = "GET"
    """A regular expression for all of the method."""
    times: float = float("inf")
    """After so many, no more."""
    percent: float = 100.0
    """Of the requests that match, which share is befallen; the choice hangs on the seed, and on their order."""
    seed: int = 1
    retry_after: int = 1
    """Seconds."""
    first_bytes: int = 512
    befallen: int = 0
    _dice: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)

    def befalls(self, method: str, path: str) -> bool:
        if not re.fullmatch(self.method, method) or not re.search(self.path, path) or self.befallen >= self.times:
            return False
        if self.kind is Kind.GONE and "continue=" not in path and "watch=true" not in path:
            return False
        if self._dice.random() * 100 >= self.percent:
            return False
        self.befallen += 1
        return True


class FaultyApi:
    """The proxy, as a context manager; faults may be changed while it runs, and the first that matches counts."""

    def __init__(self, bed: Bed, *faults: Fault) -> None:
        self.faults = list(faults)
        self.requests: list[tuple[str, str]] = []
        """Method and path of each request that came in."""
        self._bed = bed
        self._upstream = urlsplit(bed.server)
        self._tls = ssl.create_default_context(cafile=str(bed.authority.certificate))
        self._closing = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> FaultyApi:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        pki = self._bed.authority.directory
        tls.load_cert_chain(pki / "server.crt", pki / "server.key")
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self._server.tls = tls
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def kubeconfig(self, place: Path) -> Path:
        """The administrator's, by way of this proxy."""
        return self._bed.write_kubeconfig(place, self.url, token=self._bed.settings.tokens["admin"])

    def fault_for(self, method: str, path: str) -> Fault | None:
        with self._lock:
            self.requests.append((method, path))
            return next((fault for fault in self.faults if fault.befalls(method, path)), None)

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            self._upstream.hostname or "", self._upstream.port, timeout=330, context=self._tls
        )

    def pause(self, seconds: float) -> bool:
        """Wait; false once the proxy closes."""
        return not self._closing.wait(seconds)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    tls: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        # Here, in the connection's own thread, a client that never speaks TLS holds up no other.
        with contextlib.suppress(OSError), self.tls.wrap_socket(request, server_side=True) as wrapped:
            self.RequestHandlerClass(wrapped, client_address, self)  # type: ignore[arg-type]


class _Handler(http.server.BaseHTTPRequestHandler):
    proxy: FaultyApi
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.proxy.fault_for(self.command, self.path)
        match fault.kind if fault else None:
            case Kind.THROTTLED:
                assert fault is not None
                self._refuse(429, "TooManyRequests", "too many requests", {"Retry-After": str(fault.retry_after)})
            case Kind.FAILED:
                self._refuse(500, "InternalError", "etcdserver: request timed out")
            case Kind.GONE:
                self._refuse(410, "Expired", "The provided continue parameter is too old")
            case Kind.SILENT:
                while self.proxy.pause(1):
                    pass
                self._break()
            case Kind.ENDLESS:
                self._begin(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
                self._chunk(b"{")
                while self.proxy.pause(0.2):
                    self._chunk(b" ")
                self._break()
            case _:
                self._pass_on(body, fault.first_bytes if fault else None)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _handle

    def _pass_on(self, body: bytes, first_bytes: int | None) -> None:
        upstream = self.proxy.connect()
        try:
            headers = {
                name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")
            }
            upstream.request(self.command, self.path, body or None, headers)
            answer = upstream.getresponse()
            own = ("connection", "transfer-encoding", "content-length", "date")
            passed = {name: value for name, value in answer.getheaders() if name.lower() not in own}
            if answer.status in (204, 304) or self.command == "HEAD":  # has no body, and so no end of one
                self._begin(answer.status, passed)
                return
            self._begin(answer.status, {**passed, "Transfer-Encoding": "chunked"})
            left = first_bytes
            while data := answer.read1(65536):
                self._chunk(data[:left])
                if left is not None and len(data) >= left:
                    self._break()
                    return
                left = None if left is None else left - len(data)
            if left is not None:
                self._break()  # the whole answer was shorter, but its end shall not come
                return
            self.wfile.write(b"0\r\n\r\n")
        finally:
            upstream.close()

    def _refuse(self, code: int, reason: str, message: str, headers: dict[str, str] | None = None) -> None:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
        text = json.dumps({**status, "reason": reason, "message": message}).encode()
        self._begin(code, {"Content-Type": "application/json", "Content-Length": str(len(text)), **(headers or {})})
        self.wfile.write(text)

    def _begin(self, code: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        if data:  # an empty one would be the end
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _break(self) -> None:
        """Reset the connection, as a firewall or a restarted load balancer does."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.socket(fileno=self.connection.detach()).close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        pass
