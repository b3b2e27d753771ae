# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the database of Slurm accounting is as slurmdbd needs it, asked before slurmdbd is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..cluster import job
from ..cluster.script import Script
from ..deployment import database_probe as probe
from ..deployment.database import Database, TlsMode
from ..deployment.database_diagnosis import diagnose
from ..deployment.finding import PASSING, Outcome
from ..deployment.reference import Reference
from ..errors import AicrError, invalid, raise_all
from ..ownership.connection import connection_problems
from .check import CHECK, Checked, fresh_run, look, option_problems, outcome, placement, rehearsed
from .cluster import connect
from .options import Options, Spec

_CA: Spec = {"name": {"type": "str", "required": True}, "key": {"type": "str", "default": "ca.crt"}}
_PASSWORD: Spec = {"name": {"type": "str", "required": True}, "key": {"type": "str", "default": "password"}}

SPEC: Spec = {
    **CHECK,
    "database": {
        "type": "dict",
        "required": True,
        "options": {
            "host": {"type": "str", "required": True},
            "port": {"type": "int", "default": 3306},
            "database": {"type": "str", "default": "slurm_acct_db"},
            "username": {"type": "str", "default": "slurm"},
            "password_secret": {"type": "dict", "required": True, "options": _PASSWORD},
        },
    },
    "slurm_accounting_mode": {
        "type": "str",
        "choices": ["customer-managed", "aicr-provided"],
        "default": "customer-managed",
    },
    "tls": {
        "type": "dict",
        "default": {},
        "options": {
            "mode": {"type": "str", "choices": [mode.value for mode in TlsMode], "default": "disabled"},
            "ca_secret": {"type": "dict", "options": _CA},
            "ca_config_map": {"type": "dict", "options": _CA},
        },
    },
    "image": {"type": "str", "default": probe.IMAGE},
    "wait": {"type": "float", "default": 0},
    "grace": {"type": "float", "default": 0},
}


def probe_database(options: Options, *, check_mode: bool, tell: Callable[[str], None]) -> Checked:
    """Look at a database from the namespace of Slurm.

    :param check_mode: make nothing in the cluster, but let it judge what would be made.
    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: what is wrong with the options, the way to the cluster, the caller's rights, the Secrets, or the
        Job; see :func:`cluster.job.run`.
    """
    database, ca = _database(options), _ca(options)
    raise_all([*option_problems(options), *_problems(options, database, ca)])
    connection = connect(options)
    summary: dict[str, object] = {
        "host": database.host,
        "port": database.port,
        "database": database.name,
        "username": database.user,
        "tls": database.tls.value,
    }

    def prepare() -> Script:
        run, seconds = fresh_run(), options["timeout"]
        return probe.script(database, ca, placement(options), run, seconds, under_lease=bool(options["run"]))

    def references() -> list[str]:
        return probe.check_references(connection, database, ca)

    def patience(found: Outcome) -> float:
        if found in PASSING:
            return float(options["wait"])
        return float(options["grace"]) if found is Outcome.WRONG_PASSWORD else 0.0

    if check_mode:
        return Checked(summary=summary, warnings=rehearsed(connection, prepare(), references))
    job.require_rights(connection, database.namespace)
    warnings = references()
    findings = look(options, connection, prepare, lambda answer: diagnose(answer, database), patience, tell)
    return Checked(findings, {**summary, "outcome": outcome(findings)}, warnings)


def _database(options: Options) -> Database:
    given = options["database"]
    secret = given["password_secret"]
    return Database(
        namespace=options["namespace"],
        host=given["host"],
        port=given["port"],
        name=given["database"],
        user=given["username"],
        password=Reference("Secret", options["namespace"], secret["name"], secret["key"]),
        tls=TlsMode(options["tls"]["mode"]),
        provided=options["slurm_accounting_mode"] == "aicr-provided",
    )


def _ca(options: Options) -> Reference | None:
    for option, kind in (("ca_secret", "Secret"), ("ca_config_map", "ConfigMap")):
        given = options["tls"].get(option)
        if given:
            return Reference(kind, options["namespace"], given["name"], given["key"])
    return None


def _problems(options: Options, database: Database, ca: Reference | None) -> Iterator[AicrError]:
    given = dict(options["database"])
    given["passwordKeyRef"] = given.pop("password_secret")
    for wrong in connection_problems(given):
        key = wrong.key.replace("passwordKeyRef", "password_secret")
        yield invalid(f"database.{key} {wrong.what}", wrong.hint)
    if options["tls"].get("ca_secret") and options["tls"].get("ca_config_map"):
        yield invalid("tls.ca_secret and tls.ca_config_map both say where the CA is", "keep one of them")
    if database.tls is TlsMode.REQUIRED and ca is None:
        yield invalid(
            "tls.mode required: nothing is verified without a CA", "name it by tls.ca_secret or tls.ca_config_map"
        )
