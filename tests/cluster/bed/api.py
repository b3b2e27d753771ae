# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small client of the Kubernetes API that owes nothing to what is tested: plain JSON over HTTPS, from any thread."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


class ApiError(Exception):
    """The API server refused a request; `code` is the HTTP status, `reason` the one of the Status object."""

    def __init__(self, code: int, status: Object) -> None:
        super().__init__(f"{code} {status.get('reason')}: {status.get('message')}")
        self.code = code
        self.reason = status.get("reason")


class Api:
    """One server and one identity. Connections stay open between requests; close() ends them."""

    def __init__(self, server: str, tls: ssl.SSLContext, headers: Mapping[str, str] | None = None) -> None:
        self.server = server
        self._address = urlsplit(server)
        self.tls = tls
        self._headers = {"Accept": "application/json", "User-Agent": "aicr-test", **(headers or {})}
        self._idle: list[http.client.HTTPSConnection] = []

    @classmethod
    def of_token(cls, server: str, ca: Path, token: str) -> Api:
        """By bearer token."""
        return cls(server, ssl.create_default_context(cafile=str(ca)), {"Authorization": f"Bearer {token}"})

    @classmethod
    def of_kubeconfig(cls, path: Path, context: str | None = None) -> Api:
        """By the current context of a kubeconfig, or by the one named: token or client certificate."""
        document = yaml.safe_load(path.read_text(encoding="utf-8"))

        def named(kind: str, name: str) -> Object:
            (entry,) = (item for item in document[f"{kind}s"] if item["name"] == name)
            found: Object = entry[kind]
            return found

        chosen = named("context", context or document["current-context"])
        cluster, user = named("cluster", chosen["cluster"]), named("user", chosen["user"])
        tls = ssl.create_default_context(
            cafile=cluster.get("certificate-authority"), cadata=_inline(cluster, "certificate-authority")
        )
        if "client-certificate-data" in user or "client-certificate" in user:
            with tempfile.TemporaryDirectory() as folder:
                pair = []
                for key in ("client-certificate", "client-key"):
                    inline = _inline(user, key)
                    place = Path(folder, key) if inline else Path(user[key])
                    if inline:
                        place.write_text(inline, encoding="ascii")
                    pair.append(str(place))
                tls.load_cert_chain(*pair)
        headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        return cls(cluster["server"], tls, headers)

    def get(self, path: str, **query: str) -> Object:
        return self.request("GET", path, query=query)

    def items(self, path: str, limit: int = 500, **query: str) -> Iterator[Object]:
        """Each object of a list, page by page."""
        more: dict[str, str] = {}
        while True:
            page = self.get(path, limit=str(limit), **query, **more)
            yield from page["items"]
            if not page["metadata"].get("continue"):
                return
            more = {"continue": page["metadata"]["continue"]}

    def create(self, path: str, body: Object) -> Object:
        return self.request("POST", path, body)

    def patch(self, path: str, body: Object, kind: str = MERGE, **query: str) -> Object:
        return self.request("PATCH", path, body, kind, query)

    def apply(self, path: str, body: Object) -> Object:
        """Server-side apply, in force."""
        return self.patch(path, body, APPLY, fieldManager="aicr-test", force="true")

    def delete(self, path: str, body: Object | None = None) -> Object:
        return self.request("DELETE", path, body)

    def request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        kind: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> Object:
        """:raises ApiError: the server refused; transport errors are those of http.client and ssl."""
        document: Object = json.loads(self._send(method, path, body, kind, query))
        return document

    def text(self, path: str, **query: str) -> str:
        """What is no JSON, such as a log."""
        return self._send("GET", path, None, "", query).decode()

    def watch(self, path: str, version: str, seconds: int = 300, **query: str) -> Iterator[tuple[str, Object]]:
        """Changes (type, object) since a resource version, until the server ends the watch after some time.

        :raises ApiError: 410 when the version is too old.
        """
        query |= {
            "watch": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
            "allowWatchBookmarks": "true",
        }
        connection = self._connect(seconds + 15)
        try:
            connection.request("GET", f"{path}?{urlencode(query)}", headers=self._headers)
            answer = connection.getresponse()
            if answer.status >= 400:
                raise _refusal(answer.status, answer.read())
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"].get("code", 500), event["object"])
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _connect(self, timeout: float) -> http.client.HTTPSConnection:
        host, port = self._address.hostname or "", self._address.port or 443
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self.tls)

    def _send(self, method: str, path: str, body: Object | None, kind: str, query: Mapping[str, str] | None) -> bytes:
        url = f"{self._address.path.rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = kind
        while True:
            try:
                connection, used = self._idle.pop(), True
            except IndexError:  # none, or another thread was quicker
                connection, used = self._connect(60), False
            try:
                connection.request(method, url, data, headers)
                answer = connection.getresponse()
                text = answer.read()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                if not used:
                    raise
                continue  # it was closed while nobody used it
            except BaseException:
                connection.close()
                raise
            break
        self._idle.append(connection)
        if answer.status >= 400:
            raise _refusal(answer.status, text)
        return text

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop().close()


def _inline(entry: Object, key: str) -> str | None:
    data = entry.get(f"{key}-data")
    return base64.b64decode(data).decode("ascii") if data else None


def _refusal(code: int, text: bytes) -> ApiError:
    try:
        return ApiError(code, json.loads(text))
    except ValueError:
        return ApiError(code, {"message": text.decode("utf-8", "replace").strip()})
