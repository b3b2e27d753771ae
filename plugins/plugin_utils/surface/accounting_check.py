# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether accounting works, end to end: what slurmdbd answers to a user of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..cluster import job
from ..cluster.address import NAME
from ..cluster.script import Script
from ..deployment import accounting_check as check
from ..deployment.accounting_check import Accounting
from ..deployment.finding import PASSING, Finding, Outcome
from ..deployment.reference import Reference, content_if_allowed
from ..deployment.slurmctld_restart import Restart
from ..deployment.slurmdbd import why_silent
from ..errors import AicrError, invalid, raise_all
from .check import CHECK, Checked, fresh_run, look, option_problems, outcome, placement, rehearsed
from .cluster import connect
from .options import Options, Spec

_PASSING = PASSING | {Outcome.DAEMON_WITHOUT_DATABASE, Outcome.NOT_REGISTERED, Outcome.KEY_REFUSED}
"""A key and a controller may be on their way as well."""

SPEC: Spec = {
    **CHECK,
    "name": {"type": "str", "default": "slurm"},
    "cluster": {"type": "str"},
    "auth_secret": {
        "type": "dict",
        "default": {},
        "options": {"name": {"type": "str"}, "key": {"type": "str", "default": "slurm.key"}},
    },
    "config_map": {
        "type": "dict",
        "default": {},
        "options": {"name": {"type": "str"}, "key": {"type": "str", "default": "slurm.conf"}},
    },
    "image": {"type": "str", "default": check.IMAGE},
    "restart_slurmctld": {"type": "bool", "default": False},
    "wait": {"type": "float", "default": 300},
}


def check_accounting(options: Options, *, check_mode: bool, tell: Callable[[str], None]) -> Checked:
    """Ask slurmdbd for the cluster, from the namespace of Slurm.

    :param check_mode: make nothing in the cluster, but let it judge what would be made.
    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: as :func:`surface.database_probe.probe_database`.
    """
    accounting = _accounting(options)
    raise_all([*option_problems(options), *_problems(accounting)])
    connection = connect(options)
    summary: dict[str, object] = {"cluster": accounting.cluster, "control_host": None}
    restart = Restart(connection, accounting, tell) if options["restart_slurmctld"] else None

    def prepare() -> Script:
        run, seconds = fresh_run(), options["timeout"]
        return check.script(accounting, placement(options), run, seconds, under_lease=bool(options["run"]))

    def references() -> list[str]:
        warnings: list[str] = []
        for reference in (accounting.config, accounting.key):
            content_if_allowed(connection, reference, warnings)
        return warnings

    def judge(answer: str) -> Sequence[Finding]:
        findings = check.diagnose(
            answer, accounting, lambda: why_silent(connection, accounting.namespace, accounting.name)
        )
        summary["control_host"] = check.control_host(answer) or None
        return restart.treat(findings) if restart else findings

    if check_mode:
        return Checked(summary=summary, warnings=rehearsed(connection, prepare(), references))
    job.require_rights(connection, accounting.namespace)
    if restart:
        restart.require_right()
    warnings = references()
    findings = look(
        options, connection, prepare, judge, lambda found: options["wait"] if found in _PASSING else 0.0, tell
    )
    changed = restart is not None and restart.is_done
    return Checked(findings, {**summary, "outcome": outcome(findings)}, warnings, changed)


def _accounting(options: Options) -> Accounting:
    namespace, name = options["namespace"], options["name"]
    secret, config = options["auth_secret"], options["config_map"]
    return Accounting(
        namespace=namespace,
        name=name,
        cluster=options["cluster"] or f"{namespace}_{name}",
        key=Reference("Secret", namespace, secret.get("name") or f"{name}-auth-slurm", secret["key"]),
        config=Reference("ConfigMap", namespace, config.get("name") or f"{name}-config", config["key"]),
    )


def _problems(accounting: Accounting) -> Iterator[AicrError]:
    if not NAME.fullmatch(accounting.name):
        yield invalid(f'name: "{accounting.name}" is no name of an object')
    if not check.CLUSTER.fullmatch(accounting.cluster):
        yield invalid(
            f'cluster: "{accounting.cluster}" is no name of a Slurm cluster', "letters, digits, _, . and -, at most 40"
        )
