# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of an artifact in a cluster, ``cm://namespace/name``, and what tells an address from a path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from ..errors import invalid

SCHEME = "cm://"
_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
NAMESPACE = re.compile(_LABEL)
NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_ADDRESS = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://(.*?)\s*", re.DOTALL)


def scheme(text: str) -> str:
    """The scheme of an address, in lower case; empty for what is none, as a path."""
    found = _ADDRESS.fullmatch(text)
    return found[1].lower() if found else ""


def spelled(text: str) -> str:
    """An address as all spellings of it are compared: without blanks around it, its scheme in lower case (RFC 3986).

    Any other text is what it was.
    """
    found = _ADDRESS.fullmatch(text)
    return f"{found[1].lower()}://{found[2]}" if found else text


def url_parts(url: str) -> SplitResult | None:
    """A URL in its parts; ``None`` if no host and port can be read from it to which a connection could lead."""
    try:
        parts = urlsplit(url)
        host, _port = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:
        return None
    return parts if host else None


def holds_credentials(address: str) -> bool:
    """Whether a user or a password stands in an address, before its server."""
    return "@" in address.partition("://")[2].partition("/")[0]


@dataclass(frozen=True)
class Address:
    """A ConfigMap."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read ``cm://namespace/name``.

        :raises AicrError: INVALID_REQUEST for anything else.
        """
        namespace, _unused, name = text.removeprefix(SCHEME).partition("/")
        if not text.startswith(SCHEME) or not NAMESPACE.fullmatch(namespace) or not NAME.fullmatch(name):
            shown = f"{SCHEME}…" if "@" in text or "?" in text else text  # a password or a token of another address
            raise invalid(f'"{shown}" names no ConfigMap', "write cm://namespace/name, both as Kubernetes allows them")
        return cls(namespace, name)

    def __str__(self) -> str:
        return f"{SCHEME}{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Where the API serves it."""
        return f"/api/v1/namespaces/{self.namespace}/configmaps/{self.name}"
