# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server says of itself and of an account, held against slurmdbd's needs (slurm-accounting.md 4.1, 4.3, 4.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .database import Database, TlsMode
from .finding import Finding, Outcome, Severity

RIGHTS = (
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "INDEX",
    "ALTER",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "EXECUTE",
)
"""What slurmdbd needs on its database, each proven by taking it away."""

_MIB = 1024 * 1024
_READ_ONLY = ("read_only", "super_read_only", "innodb_read_only", "tx_read_only", "transaction_read_only")
_OLDEST_MARIADB, _OLDEST_MYSQL = (10, 0, 5), (8, 0, 4)


class Limit(NamedTuple):
    """A setting of which slurmdbd complains if it is lower."""

    variables: tuple[str, ...]
    least: int
    advised: str


LIMITS = (
    Limit(("innodb_buffer_pool_size",), 2048 * _MIB, "4G"),
    Limit(("innodb_redo_log_capacity", "innodb_log_file_size"), 32 * _MIB, "64M"),
    Limit(("innodb_lock_wait_timeout",), 450, "900"),
    Limit(("max_allowed_packet",), 16 * _MIB, "16M"),
)


class Facts:
    """What the probe has read, by name."""

    def __init__(self, text: str) -> None:
        """:param text: lines of columns, as the client writes them in batch mode."""
        self._rows = [[_plain(cell) for cell in line.split("\t")] for line in text.splitlines()]

    def __getitem__(self, name: str) -> str:
        """The value of a variable; empty if the server has none of that name."""
        return next((row[1] for row in self._rows if row[0] == name and len(row) == 2), "")

    def rows(self, name: str) -> list[list[str]]:
        """The other columns of all rows of that name."""
        return [row[1:] for row in self._rows if row[0] == name]

    def is_on(self, name: str) -> bool:
        """Whether a variable is switched on; ``read_only`` knows more than one way of that."""
        return self[name].upper() not in ("", "OFF", "0", "NO")

    def rights(self, database: str) -> set[str]:
        """What the account may do in a database.

        A grant names a pattern, in which ``_`` stands for any letter unless it is escaped. The server has matched them;
        it lets the most specific one count, so one that names exactly this database leaves the others out.
        """
        granted = {pattern: set(rights.split(",")) for pattern, rights in self.rows("granted")}
        everywhere = granted.pop("*.*", set())
        exact = [rights for pattern, rights in granted.items() if _unescaped(pattern) == database]
        return everywhere.union(*(exact or granted.values()))

    @property
    def role(self) -> str:
        """The role that the account has taken; empty for none."""
        return "" if self["role"] in ("NULL", "NONE") else self["role"]


def server_findings(facts: Facts, database: Database) -> Iterator[Finding]:
    """Everything that a login has shown, but for the login itself."""
    yield from _encryption(facts, database)
    yield from _version(facts, database)
    yield from _writable(facts, database)
    yield from _rights(facts, database)
    yield from _settings(facts, database)


def _encryption(facts: Facts, database: Database) -> Iterator[Finding]:
    if database.tls is TlsMode.REQUIRED and not facts["Ssl_cipher"]:
        yield Finding(
            Outcome.TLS_UNAVAILABLE,
            Severity.FAILURE,
            f"{database.place}: the connection is not encrypted (Ssl_cipher is empty) although TLS is required",
            "give the server a certificate",
        )


def _version(facts: Facts, database: Database) -> Iterator[Finding]:
    version = facts["version"]
    numbers = tuple(int(number) for number in re.findall(r"\d+", version.split("-")[0])[:3])
    oldest = _OLDEST_MARIADB if "mariadb" in version.lower() else _OLDEST_MYSQL
    if numbers and numbers < oldest:
        yield Finding(
            Outcome.UNSUITABLE_SERVER,
            Severity.FAILURE,
            f"{database.place}: its version {version} lacks what slurmdbd calls",
            "take MariaDB 10.0.5 or MySQL 8.0.4, or newer",
        )
    (engine, *_unused) = [row[0] for row in facts.rows("engine")] or [""]
    if engine not in ("YES", "DEFAULT"):
        yield Finding(
            Outcome.UNSUITABLE_SETTINGS,
            Severity.FAILURE,
            f"{database.place}: it has no engine InnoDB, which slurmdbd's tables need",
            "switch the engine on",
        )


def _writable(facts: Facts, database: Database) -> Iterator[Finding]:
    found = [name for name in _READ_ONLY if facts.is_on(name)]
    if found:
        yield Finding(
            Outcome.READ_ONLY,
            Severity.FAILURE,
            f"{database.place}: it only reads ({', '.join(found)})",
            "name the primary server, or the Service that follows it, and no replica",
        )


def _rights(facts: Facts, database: Database) -> Iterator[Finding]:
    grant = f"GRANT ALL PRIVILEGES ON `{database.name}`.* TO '{database.user}'@'%'"
    rights = facts.rights(database.name)
    missing = [right for right in RIGHTS if right not in rights]
    unless = Severity.WARNING if facts.role else Severity.FAILURE
    if missing:
        perhaps = f"; its role {facts.role} may give them, which nobody lists" if facts.role else ""
        yield Finding(
            Outcome.MISSING_RIGHTS,
            unless,
            f"{database.place}: user {database.user} lacks rights on {database.name}: {', '.join(missing)}{perhaps}",
            grant,
        )
    for _name, collation in facts.rows("database"):
        if not collation.endswith("_ci"):
            yield _advice(database, f"the collation of {database.name} is {collation}", "take one that ends in _ci")
    if not facts.rows("database"):
        made = "which slurmdbd cannot make without these rights" if missing else "which slurmdbd will make"
        yield Finding(
            Outcome.MISSING_DATABASE,
            unless if missing else Severity.INFO,
            f"{database.place}: there is no database {database.name}, {made}",
            f"CREATE DATABASE `{database.name}`" + (f"; {grant}" if missing else ""),
        )


def _settings(facts: Facts, database: Database) -> Iterator[Finding]:
    if facts.is_on("innodb_snapshot_isolation"):
        yield Finding(
            Outcome.UNSUITABLE_SETTINGS,
            Severity.FAILURE,
            f"{database.place}: innodb_snapshot_isolation is ON, with which slurmdbd ends at the first write conflict",
            "SET GLOBAL innodb_snapshot_isolation=OFF, and the same in the server's configuration",
        )
    for variables, least, advised in LIMITS:
        name, value = next(((name, facts[name]) for name in variables if facts[name].isdecimal()), ("", ""))
        if name and int(value) < least:
            yield _advice(
                database, f"{name} is {value}, of which slurmdbd complains below {least}", f"set {name}={advised}"
            )


def _advice(database: Database, what: str, hint: str) -> Finding:
    return Finding(Outcome.UNSUITABLE_SETTINGS, Severity.WARNING, f"{database.place}: {what}", hint)


def _plain(cell: str) -> str:
    """A column without the client's own escapes."""
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "0": ""}.get(match[1], match[1]), cell)


def _unescaped(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern)
