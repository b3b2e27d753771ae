# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the actions share that look at something by a script in the cluster, and change nothing that lasts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..cluster import job
from ..cluster.address import NAMESPACE
from ..cluster.connection import Connection
from ..cluster.script import Placement, Script
from ..deployment.finding import Finding, Outcome, Severity, failures
from ..deployment.patience import look_until_good
from ..errors import AicrError, Code, combined, invalid
from .lease import RUN, working
from .options import CLUSTER, Options, Spec
from .outcome import failed

CHECK: Spec = {
    **CLUSTER,
    **RUN,
    "namespace": {"type": "str", "default": "slurm"},
    "image_pull_secrets": {"type": "list", "elements": "str"},
    "node_selector": {"type": "dict", "default": {"kubernetes.io/os": "linux"}},
    "tolerations": {"type": "list", "elements": "dict"},
    "timeout": {"type": "float", "default": 120},
}
"""Options of such an action, beside what it looks at (fragment ``_options.check``)."""


@dataclass(frozen=True)
class Checked:
    """What was found.

    :ivar summary: small facts for people, and for conditions in a playbook.
    :ivar warnings: one sentence each, besides those of the findings.
    :ivar changed: whether something in the cluster is not as it was, which takes an option that asks for it.
    """

    findings: Sequence[Finding] = ()
    summary: Mapping[str, object] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    changed: bool = False

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        """The task's result; it fails if a finding is a failure."""
        del check_mode, diff, return_document
        told = [
            f"{one.message} ({one.hint})" if one.hint else one.message
            for one in self.findings
            if one.severity is Severity.WARNING
        ]
        result: dict[str, Any] = {
            "changed": self.changed,
            "summary": dict(self.summary),
            "findings": [one.to_result() for one in self.findings],
            "warnings": [*self.warnings, *told],
        }
        problems = [one.error for one in failures(self.findings)]
        return result | (failed(combined(problems)) if problems else {})


def placement(options: Options) -> Placement:
    """The placement that the options name."""
    return Placement(
        image=options["image"],
        image_pull_secrets=tuple(options["image_pull_secrets"] or ()),
        node_selector={str(key): str(value) for key, value in options["node_selector"].items()},
        tolerations=tuple(options["tolerations"] or ()),
    )


def option_problems(options: Options) -> Iterator[AicrError]:
    """What can be known to be wrong before the cluster is asked anything."""
    if not NAMESPACE.fullmatch(options["namespace"]):
        yield invalid(f'namespace: "{options["namespace"]}" is no name of one')


def fresh_run() -> str:
    """What tells the objects of one run from those of every other."""
    return uuid.uuid4().hex[:8]


def look(
    options: Options,
    connection: Connection,
    prepare: Callable[[], Script],
    judge: Callable[[str], Sequence[Finding]],
    patience: Callable[[Outcome], float],
    tell: Callable[[str], None],
) -> Sequence[Finding]:
    """Run a script until nothing fails any more, or patience is over, under the Lease of the run.

    :param prepare: makes the script of one look.
    :param judge: what its answer means.
    :raises AicrError: see :func:`cluster.job.run` and :func:`cluster.lease.keep`.
    """
    with working(options, connection, check_mode=False) as still_ours:

        def once() -> Sequence[Finding]:
            still_ours()
            return judge(job.run(connection, prepare(), tell))

        return look_until_good(once, patience, lambda line: tell(f"{connection.name}: {line}"))


def rehearsed(connection: Connection, script: Script, references: Callable[[], Sequence[str]]) -> list[str]:
    """What check mode has to say: the server judges what would be made, and an earlier step may make what is missing.

    :param references: looks at what the script uses, and says what is to be said of that.
    :raises AicrError: what the server would refuse.
    """
    warnings = [f"check mode: no Job {script.component} is run in namespace {script.namespace}"]
    try:
        job.rehearse(connection, script)
        warnings += references()
    except AicrError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        warnings.append(f"predicted, since it is not there yet: {error.message}")
    return warnings


def outcome(findings: Sequence[Finding]) -> str:
    """The name of what was found: that of the first failure, or ``ok``."""
    found = failures(findings)
    return found[0].outcome.value if found else "ok"
