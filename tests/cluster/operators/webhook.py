# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of admission webhooks over TLS, with the health port that its pod's readiness probe asks."""

from __future__ import annotations

import http.server
import json
import socketserver
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..bed.api import Object
from .session import address, delay


class Denied(Exception):
    """The webhook refuses: 403 and the message, unless a field is named as invalid, which is 422."""

    def __init__(self, message: str, causes: tuple[Object, ...] = ()) -> None:
        super().__init__(message)
        self.causes = causes


class _Server(socketserver.ThreadingTCPServer):
    """Without the look-up of its own name that http.server makes, for which a bed has no DNS."""

    allow_reuse_address = True
    daemon_threads = True


_ORDER = ("name", "key", "generate", "ephemeral", "size")
Review = Callable[[Object], None]
"""Looks at an AdmissionRequest; raises Denied."""


@dataclass(frozen=True)
class Webhook:
    """What it listens with."""

    port: int
    health_port: int
    certificates: Path
    """The folder of tls.crt and tls.key."""


def serve(webhook: Webhook, review: Review) -> None:
    """Answer reviews until the process ends; late by BED_DELAY_WEBHOOK, as case M5 has it."""
    time.sleep(delay("WEBHOOK"))
    server = _Server((address(), webhook.port), _handler(review))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(webhook.certificates / "tls.crt", webhook.certificates / "tls.key")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    health(webhook.health_port)
    server.serve_forever()


def health(port: int) -> None:
    """Answer /healthz and /readyz, in a thread of its own."""

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
            """Probes are not news."""

    server = _Server((address(), port), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def _handler(review: Review) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            response: Object = {"uid": asked["request"]["uid"], "allowed": True}
            try:
                review(asked["request"])
            except Denied as denied:
                response |= {"allowed": False, "status": _status(asked["request"], denied)}
            body = json.dumps({"apiVersion": asked["apiVersion"], "kind": asked["kind"], "response": response}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
            print(f"{self.path} {format % args}", flush=True)

    return Handler


def _status(request: Object, denied: Denied) -> Object:
    if not denied.causes:
        return {"status": "Failure", "code": 403, "reason": "Forbidden", "message": str(denied)}
    kind, group, name = request["kind"]["kind"], request["kind"]["group"], request.get("name", "")
    return {
        "status": "Failure",
        "code": 422,
        "reason": "Invalid",
        "message": f'{kind}.{group} "{name}" is invalid: {denied}',
        "details": {"name": name, "group": group, "kind": kind, "causes": list(denied.causes)},
    }


def shown(value: object) -> str:
    """A value as Go's encoder writes it: fields in the order of the type, those that are false by default left out."""
    if isinstance(value, dict):
        fields = [key for key in _ORDER if key in value and (value[key] or key != "generate")]
        value = {key: value[key] for key in [*fields, *sorted(value.keys() - set(_ORDER))]}
    return json.dumps(value, separators=(",", ":"))


def immutable(field: str, value: object) -> Denied:
    """The answer to a change of a field that must not change (case-w1)."""
    text = f"Invalid value: {shown(value)}: '{field}' field is immutable"
    cause = {"reason": "FieldValueInvalid", "message": text, "field": field}
    return Denied(f"{field}: {text}", (cause,))
