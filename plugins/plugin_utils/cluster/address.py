# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of an artifact in a cluster: ``cm://namespace/name``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import invalid

SCHEME = "cm://"
_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
NAMESPACE = re.compile(_LABEL)
NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


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
            raise invalid(f'"{text}" names no ConfigMap', "write cm://namespace/name, both as Kubernetes allows them")
        return cls(namespace, name)

    def __str__(self) -> str:
        return f"{SCHEME}{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Where the API serves it."""
        return f"/api/v1/namespaces/{self.namespace}/configmaps/{self.name}"
