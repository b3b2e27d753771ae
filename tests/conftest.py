# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every test run has in common: the shared material, and a count in which no skip goes unnoticed.

A skip must stand in expected-skips.txt, or come from the fixture `shared` where there is no shared material; any other
makes the run fail. With AICR_TOTALS set, the run adds one line `PASSED FAILED SKIPPED` to that file.
"""

from __future__ import annotations

import fnmatch
import os
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis
import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("AICR_SHARED", CHECKOUT.parent / "shared"))
NO_SHARED = "there is no ../shared (AICR_SHARED points elsewhere)"

# The gate must say the same thing twice; whoever looks for new counterexamples unsets CI.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("soak", deadline=None, max_examples=5000)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The material that developers share (specification, recordings); who has none skips."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


def expected_skips() -> list[str]:
    lines = (CHECKOUT / "tests" / "expected-skips.txt").read_text(encoding="utf-8").splitlines()
    patterns = [line.split("#")[0].strip() for line in lines]
    return [pattern for pattern in patterns if pattern]


class Count:
    """Counts outcomes where all reports arrive: in the one process, or in the one that steers the workers of xdist."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.unexpected: list[str] = []

    def add(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.outcomes["skipped"] += 1
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            lacks_shared = NO_SHARED in reason and not SHARED.is_dir()
            if not lacks_shared and not any(fnmatch.fnmatchcase(report.nodeid, p) for p in expected_skips()):
                self.unexpected.append(f"{report.nodeid}: {reason}")
        elif report.failed:
            self.outcomes["failed"] += 1
        elif report.when == "call":  # an expected failure counts as a test that did its work
            self.outcomes["passed"] += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.add(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self.add(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        totals = os.environ.get("AICR_TOTALS")
        if totals:
            failed = self.outcomes["failed"] + len(self.unexpected)
            skipped = self.outcomes["skipped"] - len(self.unexpected)
            with open(totals, "a", encoding="utf-8") as out:
                out.write(f"{self.outcomes['passed']} {failed} {skipped}\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.unexpected:
            terminalreporter.section("skips that are not in tests/expected-skips.txt", red=True)
            for line in self.unexpected:
                terminalreporter.line(line)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Count(), "aicr-count")
