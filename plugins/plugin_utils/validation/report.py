# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a validation in the Common Test Report Format (spec/engine.md 7.3, spec/surface.md 2.5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from ..errors import AicrError, combined
from .readiness import Finding

TOOL = "aicr.runtime"
UNSPECIFIED = "unspecified"
"""The accounting mode of a Slurm recipe from before the choice existed: its absence proves nothing."""

VOLATILE = frozenset({"timestamp", "start", "stop", "duration", "tool"})
"""The keys, at any depth, in which two reports of the same findings may differ."""


class Status(Enum):
    """The states that the format knows; ``failed`` and ``other`` block."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    PENDING = "pending"
    OTHER = "other"


@dataclass(frozen=True)
class Test:
    """One line of the report.

    :ivar phase: the only entry of the format's ``suite``.
    :ivar message: never empty: a skip says why (spec/cases.md N18).
    :ivar duration: milliseconds.
    """

    __test__ = False  # this is no class of tests, whatever pytest thinks of its name

    name: str
    phase: str
    status: Status
    message: str
    duration: int = 0


@dataclass(frozen=True)
class Report:
    """What a validation found.

    :ivar readiness: the constraints of the recipe, judged.
    :ivar checks: the catalog's checks of the phases that were asked for.
    :ivar recipe_digest: ``sha256:…`` of the recipe that was judged; empty where there was none to be had.
    :ivar accounting: its Slurm accounting mode, :data:`UNSPECIFIED`, or ``None`` where Slurm is no part of it.
    :ivar at: when, aware of its zone.
    :ivar tool_version: this collection's, if known.
    :ivar warnings: what weakens the findings but changes none.
    """

    readiness: tuple[Finding, ...]
    checks: tuple[Test, ...]
    recipe_digest: str
    accounting: str | None
    at: datetime
    tool_version: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[Test, ...]:
        """Every line of the report: readiness first, then the checks in the order of phases and catalog."""
        judged = (
            Test(
                finding.constraint.name,
                "readiness",
                Status.PASSED if finding.passed else Status.FAILED,
                finding.message,
            )
            for finding in self.readiness
        )
        return (*judged, *self.checks)

    def counts(self) -> dict[str, int]:
        """How many tests there are in each state, also where there are none."""
        counter = Counter(test.status for test in self.tests)
        return {status.value: counter[status] for status in Status}

    def failure(self) -> AicrError | None:
        """All readiness constraints that do not hold or could not be evaluated, as one INVALID_REQUEST."""
        problems = [finding.problem for finding in self.readiness]
        found = [problem for problem in problems if problem is not None]
        return combined(found) if found else None

    def to_ctrf(self) -> dict[str, Any]:
        """The plain document; what changes from run to run stands in :data:`VOLATILE` keys alone."""
        start = int(self.at.timestamp() * 1000)
        stop = start + sum(test.duration for test in self.tests)
        tool = {"name": TOOL} | ({"version": self.tool_version} if self.tool_version else {})
        extra = {"recipeDigest": self.recipe_digest} if self.recipe_digest else {}
        extra |= {"slurmAccountingMode": self.accounting} if self.accounting else {}
        return {
            "reportFormat": "CTRF",
            "specVersion": "0.0.1",
            "timestamp": self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "generatedBy": TOOL,
            "results": {
                "tool": tool,
                "summary": {"tests": len(self.tests), **self.counts(), "start": start, "stop": stop},
                "tests": [
                    {
                        "name": test.name,
                        "status": test.status.value,
                        "duration": test.duration,
                        "suite": [test.phase],
                        "message": test.message,
                    }
                    for test in self.tests
                ],
                "environment": {"extra": extra},
            },
        }


def essence(ctrf: dict[str, Any]) -> dict[str, Any]:
    """A report without its :data:`VOLATILE` keys: a caller leaves one alone that says the same as the new one."""
    return {key: _essence(value) for key, value in ctrf.items() if key not in VOLATILE}


def _essence(value: Any) -> Any:
    if isinstance(value, list):
        return [_essence(item) for item in value]
    return essence(value) if isinstance(value, dict) else value
