# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the database of Slurm accounting from where slurmdbd will: by a Job that logs in and reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..cluster.connection import Connection
from ..cluster.script import Placement, Script
from ..errors import AicrError, Code, invalid, not_found, raise_all
from .database import Database
from .password import SIGNS, password_flaws
from .reference import Reference, content_if_allowed

COMPONENT = "database-probe"
IMAGE = "mariadb:11.8.8"
"""The engine that mode ``aicr-provided`` installs, so that a mirror needs no other image."""

_SCRIPT = Path(__file__).with_name("database_probe.sh")
_LOGIN_SECONDS = 15
_CA_FOLDER = "/aicr-ca"
_PROVIDED_HINT = (
    "mariadb-operator makes it with its MariaDB, and completes none that is there without the key: its User stays "
    "Failed, and there is no Grant, until somebody adds the key"
)
"""spec/operators.md 1.4, cases b8."""


def script(
    database: Database, ca: Reference | None, placement: Placement, run: str, seconds: float, under_lease: bool
) -> Script:
    """The probe as something to run.

    :param ca: the certificates of the CA.
    :param run: what tells its objects from those of every other run.
    :param seconds: how long it may take.
    """
    plain = {
        "DB_HOST": database.host,
        "DB_PORT": str(database.port),
        "DB_NAME": database.name,
        "DB_USER": database.user,
        "TLS_MODE": database.tls.value,
        "SECONDS_EACH": str(_LOGIN_SECONDS),
    }
    mounts: dict[str, dict[str, Any]] = {}
    if ca is not None:
        mounts[_CA_FOLDER] = {"projected": {"sources": [ca.volume("ca.crt")]}}
        plain["TLS_CA"] = f"{_CA_FOLDER}/ca.crt"
    secret = {"secretKeyRef": {"name": database.password.name, "key": database.password.key}}
    return Script(
        component=COMPONENT,
        run=run,
        namespace=database.namespace,
        text=_SCRIPT.read_text(encoding="utf-8"),
        placement=placement,
        environment=[
            *({"name": name, "value": value} for name, value in plain.items()),
            {"name": "MYSQL_PWD", "valueFrom": secret},
        ],
        mounts=mounts,
        seconds=seconds,
        under_lease=under_lease,
    )


def check_references(connection: Connection, database: Database, ca: Reference | None) -> list[str]:
    """Whether the password and the CA are there, and the password survives its way, before anything is made.

    :returns: what is to be said of them, one sentence each; among it what the caller may not read.
    :raises AicrError: NOT_FOUND for what is missing, INVALID_REQUEST for a password that would break something.
    """
    warnings: list[str] = []
    problems: list[AicrError] = []
    for reference in filter(None, (database.password, ca)):
        try:
            held = content_if_allowed(connection, reference, warnings)
        except AicrError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            hint = _PROVIDED_HINT if database.provided and reference is database.password else error.hint
            problems.append(not_found(error.message, hint))
        else:
            if reference is database.password and held is not None:
                problems += _password_problems(held, reference, warnings)
    raise_all(problems)
    return warnings


def _password_problems(password: bytes, reference: Reference, warnings: list[str]) -> Iterator[AicrError]:
    for flaw in password_flaws(password):
        message = f"{reference}: the password under key {reference.key} {flaw.what}: {flaw.why}"
        if flaw.fatal:
            yield invalid(message, f"take another one, of letters, digits and {SIGNS}")
        else:
            warnings.append(message)
