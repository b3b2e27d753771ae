# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start slurmctld anew where it does not register with slurmdbd by itself (docs/accounting.md, not-registered)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..cluster import review
from ..cluster.apply import delete
from ..cluster.connection import Connection, Deadline
from .accounting_check import Accounting
from .finding import Finding, Outcome, Severity

REGISTERS_WITHIN_SECONDS = 30.0
"""A slurmctld that waits for slurmdbd asks for it every ten seconds."""


class Restart:
    """The deletion of the pod of slurmctld, at most once; its StatefulSet makes it again.

    :ivar is_done: whether the pod was deleted.
    """

    def __init__(self, connection: Connection, accounting: Accounting, tell: Callable[[str], None]) -> None:
        self._connection, self._accounting, self._tell = connection, accounting, tell
        self._patience: Deadline | None = None
        self.is_done = False

    def require_right(self) -> None:
        """:raises AicrError: UNAUTHORIZED if the caller may not delete the pod."""
        right = review.Right("delete", "", "pods", self._accounting.namespace)
        review.require(self._connection, [right], "without restart_slurmctld it is not needed")

    def treat(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        """What a look has found, after what is done about it.

        :returns: the same, but that slurmctld has not registered is no mere warning: a further look shall see it cured.
        :raises AicrError: see :func:`apply.delete`.
        """
        if all(one.outcome is not Outcome.NOT_REGISTERED for one in findings):
            self._patience = None
            return findings
        self._patience = self._patience or Deadline(REGISTERS_WITHIN_SECONDS)
        if not self.is_done and not self._patience.left:
            namespace, pod = self._accounting.namespace, self._accounting.controller
            self.is_done = delete(self._connection, f"/api/v1/namespaces/{namespace}/pods/{pod}")
            if self.is_done:
                told = f"pod {namespace}/{pod} is started anew, for slurmctld does not register"
                self._tell(f"{self._connection.name}: {told}")
        return [
            replace(one, severity=Severity.FAILURE) if one.outcome is Outcome.NOT_REGISTERED else one
            for one in findings
        ]
