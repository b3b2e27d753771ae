# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server asks of a kubelet."""

from __future__ import annotations

import http.server
import ssl
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from .kubelet import Kubelet


class _Handler(http.server.BaseHTTPRequestHandler):
    """`GET /containerLogs/NAMESPACE/POD/CONTAINER`, the one request that `kubectl logs` makes."""

    kubelet: Kubelet
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        parts, query = address.path.strip("/").split("/"), {k: v[0] for k, v in parse_qs(address.query).items()}
        logs = self.kubelet.logs(*parts[1:]) if parts[0] == "containerLogs" and len(parts) == 4 else None
        if logs is None:
            self._answer(404, b"the stand-in kubelet serves the logs of its pods only\n")
            return
        chosen = logs[-2:-1] if query.get("previous") == "true" else logs[-1:]
        text = b"".join(log.read_bytes() for log in chosen if log.exists())
        lines = text.splitlines(keepends=True)
        if "tailLines" in query:
            lines = lines[max(0, len(lines) - int(query["tailLines"])) :]
        self._answer(200, b"".join(lines))

    def _answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        pass


def serve(kubelet: Kubelet, port: int, pki: Path) -> None:
    """Serve in threads of their own until the process ends."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"kubelet": kubelet}))
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
