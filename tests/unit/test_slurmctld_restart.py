# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When slurmctld is started anew: only where it has not registered for a while, and never twice."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import slurmctld_restart
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.accounting_check import Accounting
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.finding import Finding, Outcome, Severity
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.reference import Reference
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.slurmctld_restart import Restart

ACCOUNTING = Accounting(
    "slurm",
    "slinky-slurm",
    "slurm_slinky-slurm",
    Reference("Secret", "slurm", "key", "slurm.key"),
    Reference("ConfigMap", "slurm", "config", "slurm.conf"),
)
POD = "/api/v1/namespaces/slurm/pods/slinky-slurm-controller-0"


class Berlin:
    name = "berlin"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    return clock


@pytest.fixture
def deleted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    paths: list[str] = []

    def delete(_connection: Any, path: str) -> bool:
        paths.append(path)
        return True

    monkeypatch.setattr(slurmctld_restart, "delete", delete)
    return paths


def restart(told: list[str]) -> Restart:
    return Restart(cast(Connection, Berlin()), ACCOUNTING, told.append)


def found(outcome: Outcome, severity: Severity = Severity.FAILURE) -> list[Finding]:
    return [Finding(outcome, severity, "what is wrong")]


@pytest.mark.parametrize("severity", [Severity.FAILURE, Severity.WARNING])
def test_it_is_started_anew_once_after_half_a_minute(now: list[float], deleted: list[str], severity: Severity) -> None:
    """Also where slurmdbd knew the cluster before, which is a warning without it."""
    told: list[str] = []
    one = restart(told)
    for seconds in (0, 10, 19):
        now[0] += seconds
        assert one.treat(found(Outcome.NOT_REGISTERED, severity))[0].severity is Severity.FAILURE, (
            "to be looked at again"
        )
        assert not deleted
    now[0] += 2
    one.treat(found(Outcome.NOT_REGISTERED, severity))
    assert (deleted, one.is_done) == ([POD], True)
    assert told == ["berlin: pod slurm/slinky-slurm-controller-0 is started anew, for slurmctld does not register"]
    now[0] += 100
    one.treat(found(Outcome.NOT_REGISTERED, severity))
    assert deleted == [POD]
    assert one.treat([]) == []


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {Outcome.NOT_REGISTERED}))
def test_nothing_else_is_cured_by_it(now: list[float], deleted: list[str], outcome: Outcome) -> None:
    one = restart([])
    for _try in range(5):
        now[0] += 60
        assert one.treat(found(outcome)) == found(outcome)
    assert not deleted
    one.treat(found(Outcome.NOT_REGISTERED))
    assert not deleted, "its half minute begins when slurmdbd answers"


def test_a_slurmdbd_that_was_away_meanwhile_begins_the_half_minute_anew(now: list[float], deleted: list[str]) -> None:
    one = restart([])
    one.treat(found(Outcome.NOT_REGISTERED))
    now[0] += 40
    one.treat(found(Outcome.DAEMON_WITHOUT_DATABASE))
    one.treat(found(Outcome.NOT_REGISTERED))
    assert not deleted


def test_a_pod_that_is_not_there_is_looked_for_again(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [False, True]
    monkeypatch.setattr(slurmctld_restart, "delete", lambda _connection, _path: answers.pop(0))
    one = restart([])
    one.treat(found(Outcome.NOT_REGISTERED))
    now[0] += 31
    one.treat(found(Outcome.NOT_REGISTERED))
    assert not one.is_done
    one.treat(found(Outcome.NOT_REGISTERED))
    assert one.is_done
