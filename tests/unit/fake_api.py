# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small API server for the tests of requests: lists in pages, and any trouble that a test sends in its place."""

from __future__ import annotations

import gzip
import http.server
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]


@dataclass
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, list[str]]
    body: bytes = b""


@dataclass
class Reply:
    """An answer, whole or not.

    :ivar cut: send so many bytes of the body, then break the connection.
    :ivar drip: send one byte at a time, for ever, so many seconds apart.
    :ivar silence: say nothing for so many seconds first.
    """

    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    drip: float | None = None
    silence: float = 0.0


def status(code: int, message: str = "") -> Reply:
    return Reply(code, {"kind": "Status", "code": code, "message": message})


Trouble = Callable[[Request], Reply | None]


class FakeApi:
    """Serves ``objects`` by path: a list of objects as a list in pages, a mapping as it is, anything else is 404.

    :ivar trouble: asked first; what it returns is sent.
    """

    def __init__(self, objects: Mapping[str, Any], tls: ssl.SSLContext | None = None) -> None:
        self.objects = dict(objects)
        self.requests: list[Request] = []
        self.trouble: Trouble = lambda request: None
        self.stored: dict[str, Object] = {}
        self._stopped = threading.Event()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except (OSError, ValueError):
                    self.close_connection = True

            def answer(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
                headers = {name.lower(): self.headers.get_all(name) or [] for name in self.headers}
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, parts.path, query, headers, body)
                api.requests.append(request)
                self.send(api.trouble(request) or api.reply(request), request)

            do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = answer

            def send(self, reply: Reply, request: Request) -> None:
                api._stopped.wait(reply.silence)
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.drip is not None:
                    self.end_headers()
                    self.close_connection = True
                    while not api._stopped.wait(reply.drip):
                        self.wfile.write(b" ")
                    return
                if "gzip" in "".join(request.headers.get("accept-encoding", [])) and len(body) > 1000:
                    body = gzip.compress(body, 1)
                    self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if reply.cut is None:
                    self.wfile.write(body)
                    return
                self.wfile.write(body[: reply.cut])
                self.wfile.flush()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> FakeApi:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def reply(self, request: Request) -> Reply:
        if request.method == "PATCH":
            document = json.loads(request.body)
            if "dryRun" not in request.query:
                self.stored[request.path] = document
            return Reply(200, document)
        found = self.stored.get(request.path) or self.objects.get(request.path)
        if found is None:
            return status(404, f"{request.path} is not there")
        if not isinstance(found, list):
            return Reply(200, found)
        start, limit = int(request.query.get("continue") or 0), int(request.query.get("limit") or len(found) or 1)
        metadata = {"resourceVersion": "1"}
        if start + limit < len(found):
            metadata["continue"] = str(start + limit)
        return Reply(200, {"kind": "List", "items": found[start : start + limit], "metadata": metadata})


def group(name: str, *versions: str, **resources: str) -> Iterator[tuple[str, Object]]:
    """Discovery of an API group whose resources (name to kind) all versions serve; the first version is preferred."""
    entries = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    yield f"/apis/{name}", {"kind": "APIGroup", "name": name, "versions": entries, "preferredVersion": entries[0]}
    listed = [{"name": resource, "kind": kind} for resource, kind in resources.items()]
    for version in versions:
        yield f"/apis/{name}/{version}", {"kind": "APIResourceList", "resources": listed}


def node(name: str, labels: Mapping[str, str] | None = None, taints: tuple[tuple[str, str, str], ...] = ()) -> Object:
    return {
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {
            "providerID": f"aws:///us-east-1a/{name}",
            "taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in taints],
        },
        "status": {
            "nodeInfo": {
                "kubeletVersion": "v1.34.1-eks-1",
                "kernelVersion": "6.8.0-1041-aws",
                "operatingSystem": "linux",
                "osImage": "Ubuntu 24.04.3 LTS",
                "containerRuntimeVersion": "containerd://1.7.28",
            }
        },
    }


def wait_for(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
