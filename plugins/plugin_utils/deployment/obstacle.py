# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a deployment, or should be known before it begins."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import AicrError, Code

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Obstacle:
    """One finding of a preflight.

    :ivar check: the rule, as one word for programs.
    :ivar what: a sentence that names the offender; it holds no secret.
    :ivar way_out: what a person can do about it.
    :ivar severity: ``error`` keeps the deployment from beginning, ``warning`` does not.
    """

    check: str
    what: str
    way_out: str
    severity: str = ERROR
    code: Code = field(default=Code.CONFLICT)

    @classmethod
    def of(cls, check: str, error: AicrError) -> Obstacle:
        """An error that keeps the deployment from beginning."""
        return cls(check, error.message, error.hint, ERROR, error.code)

    @property
    def error(self) -> AicrError:
        """The same as an error."""
        return AicrError(self.code, self.what, self.way_out, {"check": self.check})

    def to_result(self) -> dict[str, str]:
        """The same as a return value."""
        return {"severity": self.severity, "check": self.check, "what": self.what, "way_out": self.way_out}


def warning(check: str, what: str, way_out: str) -> Obstacle:
    """What should be known, though the deployment can begin."""
    return Obstacle(check, what, way_out, WARNING)
