# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check has found, in a form for people and for programs: an outcome with a name, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..errors import AicrError, Code


class Severity(StrEnum):
    """What a finding means for the deployment: it stops, it goes on with a warning, or it is as it should be."""

    FAILURE = "failure"
    WARNING = "warning"
    INFO = "info"


class Outcome(StrEnum):
    """Of the probe of a database, and of the check of accounting."""

    UNREACHABLE = "unreachable"
    UNKNOWN_HOST = "unknown-host"
    TOO_MANY_CONNECTIONS = "too-many-connections"
    WRONG_PASSWORD = "wrong-password"
    ACCOUNT_UNUSABLE = "account-unusable"
    HOST_REFUSED = "host-refused"
    TLS_REQUIRED = "tls-required"
    TLS_UNAVAILABLE = "tls-unavailable"
    TLS_UNVERIFIABLE = "tls-unverifiable"
    CLEAR_TEXT_ACCEPTED = "clear-text-accepted"
    READ_ONLY = "read-only"
    NO_RIGHT_ON_DATABASE = "no-right-on-database"
    MISSING_DATABASE = "missing-database"
    MISSING_RIGHTS = "missing-rights"
    UNSUITABLE_SETTINGS = "unsuitable-settings"
    UNSUITABLE_SERVER = "unsuitable-server"
    NOT_UPGRADED = "not-upgraded"
    UNREADABLE = "unreadable"

    DAEMON_WITHOUT_DATABASE = "slurmdbd-without-database"
    KEY_REFUSED = "key-refused"
    NOT_REGISTERED = "not-registered"
    UNUSABLE_CONFIGURATION = "unusable-configuration"

    FAILED = "failed"


PASSING = frozenset((Outcome.UNREACHABLE, Outcome.UNKNOWN_HOST, Outcome.TOO_MANY_CONNECTIONS))
"""What may be gone in a minute, without anybody's doing."""

_CODES = {
    **dict.fromkeys((*PASSING, Outcome.DAEMON_WITHOUT_DATABASE, Outcome.FAILED), Code.SERVICE_UNAVAILABLE),
    **dict.fromkeys(
        (
            Outcome.WRONG_PASSWORD,
            Outcome.ACCOUNT_UNUSABLE,
            Outcome.HOST_REFUSED,
            Outcome.NO_RIGHT_ON_DATABASE,
            Outcome.MISSING_RIGHTS,
            Outcome.KEY_REFUSED,
        ),
        Code.UNAUTHORIZED,
    ),
    **dict.fromkeys((Outcome.MISSING_DATABASE, Outcome.NOT_REGISTERED), Code.NOT_FOUND),
}
"""Of failures; the others contradict a fact elsewhere, which is a CONFLICT."""


@dataclass(frozen=True)
class Finding:
    """One thing that a check has found.

    :ivar message: a sentence that names the offender and holds no secret.
    :ivar hint: the way out.
    """

    outcome: Outcome
    severity: Severity
    message: str
    hint: str = ""

    @property
    def error(self) -> AicrError:
        """The same as an error."""
        code = _CODES.get(self.outcome, Code.CONFLICT)
        return AicrError(code, self.message, self.hint, {"outcome": self.outcome.value})

    def to_result(self) -> dict[str, str]:
        """The same as a return value, plain types only."""
        return {
            "outcome": self.outcome.value,
            "severity": self.severity.value,
            "message": self.message,
            "hint": self.hint,
        }


def failures(findings: Iterable[Finding]) -> list[Finding]:
    """Those that stop a deployment."""
    return [one for one in findings if one.severity is Severity.FAILURE]
