# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database of Slurm accounting, as whoever probes it has to know it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .reference import Reference


class TlsMode(StrEnum):
    """How to log in: as slurmdbd does without a CA, with TLS if there is any, or with TLS that is verified."""

    DISABLED = "disabled"
    PREFERRED = "preferred"
    REQUIRED = "required"


@dataclass(frozen=True)
class Database:
    """A database, and the way in.

    :ivar namespace: from where it is used, and where the Secret is.
    :ivar provided: whether it is the one of mode ``aicr-provided``, which mariadb-operator looks after.
    """

    namespace: str
    host: str
    port: int
    name: str
    user: str
    password: Reference
    tls: TlsMode = TlsMode.DISABLED
    provided: bool = False

    @property
    def place(self) -> str:
        """What to call it in messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"database {host}:{self.port}"
