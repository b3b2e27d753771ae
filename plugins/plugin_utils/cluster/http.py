# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A document at an ``https://`` or ``http://`` address: bounded in size and time, from the server that was named."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from ..artifacts.versions import RELEASE
from ..errors import AicrError, Code, invalid, not_found
from .address import url_parts
from .connection import PROXY_HINT, ambient_proxy, proxy_parts

SCHEMES = ("https://", "http://")
SECONDS = 60.0
"""For everything together: connecting, redirections, the whole body."""
SILENCE_SECONDS = 15.0
MAX_BYTES = 64 * 1024 * 1024
MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class Limits:
    """How much a server may take."""

    seconds: float = SECONDS
    silence: float = SILENCE_SECONDS
    size: int = MAX_BYTES


def shown(address: str) -> str:
    """An address for messages, without what may be a credential: user, password, query."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def refuse_address(address: str) -> None:
    """Refuse what :func:`fetch` would refuse before it asks anybody.

    :raises AicrError: INVALID_REQUEST for an address that is none, or that holds a user or a password.
    """
    _parts(address)


def fetch(address: str, environ: Mapping[str, str], limits: Limits | None = None) -> bytes:
    """What a server has at an address.

    Certificates are verified by the system's store (or that of ``SSL_CERT_FILE``). Redirections are followed to the
    same scheme alone. Proxies count as ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` say.

    :raises AicrError: INVALID_REQUEST for an address that is none, that holds a password, or whose answer is too large;
        NOT_FOUND; UNAUTHORIZED for a refusal; TIMEOUT after all the time; SERVICE_UNAVAILABLE for anything else.
    """
    limits = limits or Limits()
    calls = _Calls()
    watch = threading.Timer(limits.seconds, calls.give_up)
    watch.daemon = True
    watch.start()
    try:
        content = _follow(address, environ, limits, calls)
        if calls.late:  # a body without a stated length just ends where it was cut
            raise TimeoutError
        return content
    except (OSError, http.client.HTTPException) as error:
        if calls.late or isinstance(error, TimeoutError):
            raise AicrError(
                Code.TIMEOUT, f"{shown(address)}: was not answered to the end in time", "download it, and name the file"
            ) from None
        raise _lost(address, error) from None
    finally:
        watch.cancel()
        calls.close()


class _Calls:
    """The connections of one fetch, which another thread ends when all the time is over."""

    def __init__(self) -> None:
        self.late = False
        self._sockets: list[socket.socket] = []

    def connect(self, connection: http.client.HTTPConnection) -> None:
        """Connect, and keep the socket: the connection forgets it when it reads the last answer."""
        connection.connect()
        self._sockets.append(connection.sock)
        if self.late:
            raise TimeoutError

    def give_up(self) -> None:
        """End whatever is being read."""
        self.late = True
        for one in self._sockets:
            with contextlib.suppress(OSError):  # it has just ended by itself
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all of them."""
        for one in self._sockets:
            one.close()


def _follow(address: str, environ: Mapping[str, str], limits: Limits, calls: _Calls) -> bytes:
    start = address
    for _unused in range(MAX_REDIRECTS + 1):
        parts = _parts(address)
        connection = _connection(parts, environ, limits)
        calls.connect(connection)
        target = parts.path or "/"
        target += f"?{parts.query}" if parts.query else ""
        if parts.scheme == "http" and ambient_proxy(_server(parts), environ):
            target = _server(parts) + target
        connection.request("GET", target, headers={"User-Agent": f"aicr.runtime/{RELEASE}", "Accept": "*/*"})
        with connection.getresponse() as response:
            if response.status not in _REDIRECTS:
                return _body(response, start, limits)
            following = urljoin(address, response.headers.get("Location", ""))
        if urlsplit(following).scheme != parts.scheme:
            raise invalid(
                f"{shown(start)}: leads on to {shown(following)}, another scheme",
                "name that address itself, if it is the right one",
            )
        address = following
    raise invalid(f"{shown(start)}: leads on more than {MAX_REDIRECTS} times", "name the last address")


def _parts(address: str) -> SplitResult:
    parts = url_parts(address)
    if parts is None or parts.scheme not in ("http", "https") or any(not "!" <= letter <= "~" for letter in address):
        raise invalid(f"{_shown_faulty(address)}: is no address", "write https://server/path")
    if parts.username is not None:
        raise invalid(f"{shown(address)}: holds a user or a password", "download it, and name the file")
    return parts


def _shown_faulty(address: str) -> str:
    """What is no address, for messages. Nobody can say which part of it is a password, if there may be one."""
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{'…' if '@' in rest else rest.partition('?')[0].partition('#')[0]}"


def _server(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}"


def _connection(parts: SplitResult, environ: Mapping[str, str], limits: Limits) -> http.client.HTTPConnection:
    host, proxy = parts.hostname or "", ambient_proxy(_server(parts), environ)
    via = proxy_parts(proxy) if proxy else None
    if proxy and (via is None or via.scheme != "http"):
        raise invalid("the proxy of the environment is not the URL of an HTTP proxy", PROXY_HINT)
    headers = {}
    if via is not None and via.username is not None:
        pair = f"{unquote(via.username)}:{unquote(via.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    first, port = (via.hostname or "", via.port or 80) if via is not None else (host, parts.port)
    if parts.scheme == "http":
        return http.client.HTTPConnection(first, port, timeout=limits.silence)
    context = ssl.create_default_context(cafile=environ.get("SSL_CERT_FILE") or None)
    secure = http.client.HTTPSConnection(first, port, timeout=limits.silence, context=context)
    if via is not None:
        secure.set_tunnel(host, parts.port or 443, headers)
    return secure


def _body(response: http.client.HTTPResponse, address: str, limits: Limits) -> bytes:
    place = shown(address)
    if response.status in (401, 403):
        raise AicrError(
            Code.UNAUTHORIZED, f"{place}: the server refuses it ({response.status})", "download it, and name the file"
        )
    if response.status in (404, 410):
        raise not_found(f"{place}: the server has nothing there ({response.status})", "correct the address")
    if response.status != 200:
        raise AicrError(
            Code.SERVICE_UNAVAILABLE, f"{place}: the server answers {response.status}", "try again, or name a file"
        )
    content = response.read(limits.size + 1)
    if len(content) > limits.size:
        raise invalid(f"{place}: is larger than {limits.size} bytes", "name a file that is an artifact")
    if response.length:
        raise http.client.IncompleteRead(content, response.length)
    return content


def _lost(address: str, error: Exception) -> AicrError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"{shown(address)}: its certificate is not trusted: {error.verify_message}",
            "let SSL_CERT_FILE name a bundle that has the certificate's authority, or name a file",
        )
    what = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return AicrError(Code.SERVICE_UNAVAILABLE, f"{shown(address)}: cannot be had: {what}", "name a file, or try again")
