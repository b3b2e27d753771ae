# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One API server: TLS, proxy, credentials, impersonation, and one request after another, each bounded in size and time.

What went wrong comes back as an :class:`AicrError`; retrying is the business of ``request``.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import ipaddress
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

try:
    import urllib3
    from urllib3.exceptions import (
        HTTPError,
        InsecureRequestWarning,
        NameResolutionError,
        NewConnectionError,
        ProxyError,
    )
    from urllib3.util.ssl_ import create_urllib3_context
except ImportError as _missing:
    # ansible-test imports every file where no such package is; Connection says what to install.
    URLLIB3_MISSING: ImportError | None = _missing
else:
    URLLIB3_MISSING = None

from ..artifacts.versions import RELEASE
from ..errors import AicrError, Code, internal, invalid
from ..private_folder import private_folder
from .access import Access
from .address import url_parts
from .kubeconfig import Login, log_in

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""How long a server may say nothing at all; whole answers are bounded by the deadline of whoever asks."""
MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""Five hundred objects of the half megabyte that etcd allows are as much; none of ours comes near."""
CHUNK_BYTES = 64 * 1024
PROXY_HINT = "write http://host:port, and the signs # / ? @ of a password as %23 %2F %3F %40"
CONNECTIONS = 256
"""So many at most are kept for a next request; urllib3 warns of every further one. Each watch has one."""


class Deadline:
    """A point in monotonic time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds; never less than 0."""
        return max(0.0, self._end - time.monotonic())


@dataclass(frozen=True)
class Answer:
    """What came back, whole: its end and its size are known before anyone reads it.

    :ivar wire: the body as it came, compressed or not; a page of a list is a tenth of its size in this form.
    :ivar retry_after: how many seconds the server asks to wait.
    :ivar date: what time it was for the server, if it said so.
    """

    status: int
    wire: bytes | bytearray
    zipped: bool = False
    retry_after: float | None = None
    date: datetime | None = None

    def parts(self) -> Iterator[bytes]:
        """The body, piece by piece."""
        unzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
        for start in range(0, len(self.wire), CHUNK_BYTES):
            chunk = bytes(self.wire[start : start + CHUNK_BYTES])
            yield from _unzipped(unzip, chunk) if self.zipped else (chunk,)

    def body(self) -> bytes:
        """All of it."""
        return b"".join(self.parts())


class TransportLost(AicrError):
    """No answer could be had; the API itself has said nothing.

    :ivar certain: whether trying again is pointless (a certificate that is not trusted).
    """

    def __init__(self, message: str, hint: str, certain: bool = False) -> None:
        super().__init__(Code.SERVICE_UNAVAILABLE, message, hint)
        self.certain = certain

    def __reduce__(self) -> tuple[type[TransportLost], tuple[str, str, bool]]:  # type: ignore[override]
        return type(self), (self.message, self.hint, self.certain)


class Connection:
    """A connection to one cluster, for several threads at once.

    :ivar login: as whom; it changes when credentials are renewed.
    """

    def __init__(self, access: Access, environ: Mapping[str, str]) -> None:
        """Log in; asks nothing of the server yet.

        :raises AicrError: see :meth:`Access.resolve` and :func:`log_in`; INVALID_REQUEST for certificates or a proxy
            that make no sense; INTERNAL if the package urllib3 is missing.
        """
        if URLLIB3_MISSING is not None:
            raise internal(
                f"the Python package urllib3 is missing on the controller ({URLLIB3_MISSING})",
                "python -m pip install urllib3, with the Python that runs Ansible",
            )
        self._access, self._environ = access.resolve(environ), dict(environ)
        self._lock = threading.Lock()
        self._requests = 0
        self.login = log_in(self._access, self._environ)
        self._pool = _pool(self.login, self._environ)

    @property
    def name(self) -> str:
        """What to call the cluster in messages."""
        return self.login.name

    @property
    def requests(self) -> int:
        """How many requests have been sent."""
        return self._requests

    def renew(self, old: Login) -> bool:
        """Read the credentials again, unless another thread has done so since ``old``.

        :returns: whether they differ, so that it makes sense to ask again.
        """
        with self._lock:
            if self.login is not old:
                return True
            new = log_in(self._access, self._environ)
            if new == old:
                return False
            self._pool, self.login = _pool(new, self._environ), new
            return True

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        deadline: Deadline,
        body: bytes | None = None,
        content_type: str = "application/json",
    ) -> Answer:
        """One request and its whole answer, whatever its status.

        :raises AicrError: TIMEOUT if the deadline passes, SERVICE_UNAVAILABLE for an answer without end;
            :class:`TransportLost` if there is no answer.
        """
        login, pool = self._next()
        headers = _headers(login)
        if body is not None:
            headers["Content-Type"] = content_type
        url = _url(login, path, query)
        left = deadline.left
        timeout = urllib3.Timeout(connect=min(CONNECT_SECONDS, left or 0.01), read=min(SILENCE_SECONDS, left or 0.01))
        try:
            response = pool.request(
                method,
                url,
                headers=headers,
                body=body,
                timeout=timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            with contextlib.closing(response):
                answer = _read(response, path, deadline)
            response.release_conn()
        except (HTTPError, OSError) as error:
            raise _lost(login, error, deadline) from None  # its own text may hold a proxy's password
        return answer

    @contextlib.contextmanager
    def stream(self, path: str, query: Mapping[str, str], silence: float) -> Iterator[Stream]:
        """An answer that comes line by line, as that of a watch does.

        :param silence: how many seconds the server may say nothing before it counts as lost.
        :raises AicrError: as :meth:`send`, also from the lines.
        """
        login, pool = self._next()
        headers = _headers(login)
        headers["Accept-Encoding"] = "identity"  # what is compressed comes in blocks
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=silence)
        try:
            response = pool.request(
                "GET",
                _url(login, path, query),
                headers=headers,
                timeout=timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            with contextlib.closing(response):
                refused = None if response.status < 300 else _read(response, path, Deadline(silence))
                yield Stream(response, refused)
        except (HTTPError, OSError) as error:
            raise _lost(login, error, Deadline(silence)) from None

    def _next(self) -> tuple[Login, urllib3.PoolManager]:
        with self._lock:
            self._requests += 1
            return self.login, self._pool


class Stream:
    """The lines of an answer while they come in.

    :ivar refused: the whole answer, where it is none of success.
    """

    def __init__(self, response: urllib3.BaseHTTPResponse, refused: Answer | None) -> None:
        self._response = response
        self.refused = refused

    def lines(self) -> Iterator[bytes]:
        """Each line as soon as it is there; what comes after the last line feed is cut off, and no line."""
        rest = b""
        while chunk := self._response.read1(CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
            if len(rest) > MAX_ANSWER_BYTES:
                raise AicrError(Code.SERVICE_UNAVAILABLE, f"a line is longer than {MAX_ANSWER_BYTES} bytes")

    def abort(self) -> None:
        """End it from another thread."""
        with contextlib.suppress(OSError, ValueError):
            getattr(self._response, "shutdown", self._response.close)()  # urllib3 has shutdown() from 2.3 on


def _url(login: Login, path: str, query: Mapping[str, str]) -> str:
    return login.server + path + (f"?{urlencode(query, quote_via=quote)}" if query else "")


def _read(response: urllib3.BaseHTTPResponse, path: str, deadline: Deadline) -> Answer:
    """The answer, measured while it comes in, so that an endless one is noticed."""
    zipped = response.headers.get("Content-Encoding", "").lower() == "gzip"
    unzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    wire, size = bytearray(), 0
    while chunk := response.read1(CHUNK_BYTES, decode_content=False):
        wire += chunk
        try:
            for part in _unzipped(unzip, chunk) if zipped else (chunk,):
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    raise AicrError(
                        Code.SERVICE_UNAVAILABLE,
                        f"{path}: the answer is longer than {MAX_ANSWER_BYTES} bytes and was given up",
                        "is this an API server?",
                    )
        except zlib.error:
            raise TransportLost(f"{path}: the answer is no valid gzip", "is this an API server?") from None
        if not deadline.left:
            raise late(path, deadline)
    if zipped and not unzip.eof:
        raise urllib3.exceptions.ProtocolError("cut in the middle")
    headers = response.headers
    return Answer(response.status, wire, zipped, _seconds(headers.get("Retry-After")), _date(headers.get("Date")))


def _unzipped(unzip: Any, chunk: bytes) -> Iterator[bytes]:
    """What a chunk decompresses to, in parts, however much that is."""
    while chunk:
        yield unzip.decompress(chunk, CHUNK_BYTES)
        chunk = unzip.unconsumed_tail


def late(path: str, deadline: Deadline) -> AicrError:
    """The error of an answer that did not come in time."""
    return AicrError(
        Code.TIMEOUT,
        f"{path} was not answered to the end within {deadline.seconds:g} s",
        "allow more time, or see what keeps the API server busy",
    )


def _headers(login: Login) -> urllib3.HTTPHeaderDict:
    headers = urllib3.HTTPHeaderDict(
        {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"aicr.runtime/{RELEASE}"}
    )
    if login.token is not None:
        headers["Authorization"] = f"Bearer {login.token}"
    elif login.basic is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(":".join(login.basic).encode()).decode()
    if login.as_user:
        headers["Impersonate-User"] = _one_line(login.as_user)
    if login.as_uid:
        headers["Impersonate-Uid"] = _one_line(login.as_uid)
    for group in login.as_groups:
        headers.add("Impersonate-Group", _one_line(group))
    for key, values in login.as_extra.items():
        for value in values:
            headers.add("Impersonate-Extra-" + quote(key, safe=""), _one_line(value))
    return headers


def _one_line(text: str) -> str:
    if any(not " " <= letter < "\x7f" for letter in text):
        raise invalid(f"{text!r} cannot be impersonated, no header can carry it", "names are one line of ASCII")
    return text


def _pool(login: Login, environ: Mapping[str, str]) -> urllib3.PoolManager:
    if not login.verify:
        urllib3.disable_warnings(InsecureRequestWarning)  # it was asked for, by name
    settings: dict[str, Any] = {
        "ssl_context": _tls(login),
        "maxsize": CONNECTIONS,
        "assert_hostname": None if login.verify else False,
        "server_hostname": login.server_name,
    }
    proxy = login.proxy or ambient_proxy(login.server, environ)
    if proxy is None:
        return urllib3.PoolManager(**settings)
    parts = proxy_parts(proxy)
    if parts is None or (parts.scheme not in ("http", "https") and not parts.scheme.startswith("socks")):
        raise invalid(f"{login.name}: its proxy is not the URL of one", PROXY_HINT)
    if parts.scheme.startswith("socks"):
        if importlib.util.find_spec("socks") is None:
            raise invalid(
                f"{login.name}: a SOCKS proxy needs the Python package PySocks", "python -m pip install PySocks"
            )
        from urllib3.contrib.socks import SOCKSProxyManager

        return SOCKSProxyManager(proxy, **settings)
    headers = {}
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return urllib3.ProxyManager(address, proxy_headers=headers, **settings)


def proxy_parts(proxy: str) -> SplitResult | None:
    """The URL of a proxy; ``None`` if it is none, also one whose password ends it too soon. No part of it is told."""
    parts = url_parts(proxy)
    if parts is None or parts.port == 0 or parts.path.strip("/") or parts.query or parts.fragment:
        return None
    return parts


def ambient_proxy(server: str, environ: Mapping[str, str]) -> str | None:
    """What HTTPS_PROXY and NO_PROXY say, as kubectl reads them."""
    parts = urlsplit(server)
    lowered = {name.lower(): value for name, value in environ.items()}
    proxy = lowered.get(f"{parts.scheme}_proxy")
    if not proxy or _is_direct(parts.hostname or "", parts.port, lowered.get("no_proxy", "")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_direct(host: str, port: int | None, no_proxy: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if host == "localhost" or (address and address.is_loopback):
        return True
    for entry in filter(None, (part.strip().lower() for part in no_proxy.split(","))):
        if entry in ("*", host, f"{host}:{port}"):
            return True
        if address is None:
            if host.endswith("." + entry.removeprefix("*").lstrip(".")):
                return True
        elif "/" in entry:
            with contextlib.suppress(ValueError):
                if address in ipaddress.ip_network(entry, strict=False):
                    return True
    return False


def _tls(login: Login) -> ssl.SSLContext:
    context = create_urllib3_context()
    # Go checks chains less strictly than OpenSSL can, and certificates of many clusters rely on that.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not login.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif login.ca is None:
        context.load_default_certs()
    else:
        try:
            context.load_verify_locations(cadata=login.ca.decode("ascii", "ignore"))  # comments may be in any letters
        except ssl.SSLError as error:
            raise invalid(f"{login.name}: the CA bundle holds no certificate in PEM") from error
    if login.certificate is not None:
        with _files(*login.certificate) as (certificate, key):
            try:
                context.load_cert_chain(certificate, key, password=lambda: b"")
            except (ssl.SSLError, OSError, ValueError):
                raise invalid(f"{login.name}: client certificate and key are no valid pair in PEM") from None
    return context


@contextlib.contextmanager
def _files(*contents: bytes) -> Iterator[list[str]]:
    """Files for what OpenSSL reads from files alone; they are gone before anything else happens."""
    with private_folder("login") as folder:
        paths = [str(folder.path / str(index)) for index in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            Path(path).touch(0o600)
            Path(path).write_bytes(content)
        yield paths


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None


def _date(text: str | None) -> datetime | None:
    try:
        return None if text is None else parsedate_to_datetime(text).astimezone(UTC)
    except ValueError:
        return None


def _lost(login: Login, error: BaseException, deadline: Deadline) -> AicrError:
    """Why there is no answer, in the words of the system and not of the HTTP client."""
    chain: list[BaseException] = []
    rest: list[BaseException | None] = [error]
    while rest:
        link = rest.pop(0)
        if isinstance(link, BaseException) and link not in chain:
            chain.append(link)
            rest += [link.__cause__, link.__context__, getattr(link, "original_error", None)]
            rest += [inner for inner in link.args if isinstance(inner, BaseException)]
    proxied = any(isinstance(link, ProxyError) for link in chain)
    what = f"the proxy of {login.name}" if proxied else f"{login.name} at {login.server}"
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            return TransportLost(
                f"{what}: its certificate is not trusted: {link.verify_message}",
                "name the right CA bundle, or the name in the certificate (tls-server-name)",
                certain=True,
            )
    for link in chain:
        if isinstance(link, ssl.SSLError) and link.reason:
            return TransportLost(f"{what}: TLS failed: {link.reason}", "is the client certificate still valid?")
    if any(isinstance(link, NameResolutionError | socket.gaierror) for link in chain):
        return TransportLost(f"{what}: its name cannot be resolved", "check the URL, and the proxy if there is one")
    if any(isinstance(link, urllib3.exceptions.ReadTimeoutError) for link in chain):
        return TransportLost(f"{what}: said nothing for {min(SILENCE_SECONDS, deadline.seconds):g} s", "is it alive?")
    refused = any(isinstance(link, NewConnectionError) for link in chain)  # to urllib3 one that timed out as well
    if not refused and any(isinstance(link, urllib3.exceptions.ConnectTimeoutError) for link in chain):
        return TransportLost(f"{what}: cannot be reached, the connection timed out", "is there a way to it from here?")
    said = next((link.strerror for link in chain if isinstance(link, OSError) and link.strerror), None)
    hint = "is it running, and reachable from here?" if refused or proxied else ""
    return TransportLost(f"{what}: {said or 'the connection broke'}", hint)
