# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of Secrets and ConfigMaps that a check is about to use, before anything is made."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

from ..cluster.connection import Connection, Deadline
from ..cluster.read import Reader
from ..errors import AicrError, Code, invalid, not_found

_READ_SECONDS = 30.0


class Reference(NamedTuple):
    """A key of a Secret or of a ConfigMap.

    :ivar kind: ``Secret`` or ``ConfigMap``.
    """

    kind: str
    namespace: str
    name: str
    key: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def volume(self, path: str) -> dict[str, object]:
        """It as the source of a projected volume, as a file of that name."""
        source = "secret" if self.kind == "Secret" else "configMap"
        return {source: {"name": self.name, "items": [{"key": self.key, "path": path}]}}


def content(connection: Connection, reference: Reference) -> bytes:
    """What stands under a key.

    :raises AicrError: NOT_FOUND without the object or the key, INVALID_REQUEST for what is no base64; see
        :func:`request.ask`.
    """
    path = f"/api/v1/namespaces/{reference.namespace}/{reference.kind.lower()}s/{reference.name}"
    found = Reader(connection, Deadline(_READ_SECONDS)).find(path)
    if found is None:
        raise not_found(f"{reference}: there is none", f"make it in namespace {reference.namespace}")
    data = found.get("data") or {}
    if reference.key not in data:
        raise not_found(
            f"{reference}: has no key {reference.key}", f"name one that it has: {', '.join(sorted(data)) or 'none'}"
        )
    if reference.kind != "Secret":
        return str(data[reference.key]).encode()
    try:
        return base64.b64decode(data[reference.key], validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"{reference}: key {reference.key} is no base64") from None


def content_if_allowed(connection: Connection, reference: Reference, warnings: list[str]) -> bytes | None:
    """The same, or ``None`` and a warning where the caller may not read it, though its pods may use it."""
    try:
        return content(connection, reference)
    except AicrError as error:
        if error.code is not Code.UNAUTHORIZED or error.details.get("status") != 403:
            raise
        warnings.append(f"{reference}: may not be read, so nobody has looked at key {reference.key}")
        return None
