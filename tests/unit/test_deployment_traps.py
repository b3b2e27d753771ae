# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the recorded words of operators and slurmdbd point at (spec/operators.md 1.3, slurm-accounting.md 2.9, 4.5)."""

from __future__ import annotations

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.explanation import last_errors
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.traps import ERRNOS, crashes, hints


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "Error reconciling Root Password: error creating SQL client: Error 1045 (28000): F",
            "kubectl delete secret internal-mariadb",
        ),
        (
            "Error connecting to MariaDB: Error 1045 (28000): Access denied for user 'root'@'127.0.0.1'",
            "Secret internal-<name>",
        ),
        (
            'Error creating u: 1 error occurred:\n\t* error reading user password secret: secret key "a" not found\n\n',
            "lacks this key",
        ),
        (
            'SyncFailed: Failed "Config" step: failed to build: Secret "mariadb-password" not found',
            "annotate the Account",
        ),
        ("Error connecting to MariaDB: dial tcp 127.0.0.1:3306: connect: connection refused", "does not answer"),
        (
            "slurmdbd: error: mysql_real_connect failed: 2005 Unknown MySQL server host",
            "2005: the database's host name",
        ),
        ("fatal: You are running with a database but for some reason we have no TRES from it", "see to slurmdbd"),
        (
            "fatal: No Assoc usage file (/var/spool/slurmctld/slurm_slinky-slurm/assoc_usage) to recover",
            "does not start from half of it",
        ),
        ("mysql_query failed: 1370 execute command denied", "1370: a right on a routine is missing"),
    ],
)
def test_a_trap_is_known_by_its_words(text: str, hint: str) -> None:
    assert any(hint in found for found in hints([text])), hints([text])


def test_words_without_a_trap_and_numbers_that_are_none() -> None:
    assert hints(["Ready=True StatefulSetReady: Running", "listening on 2003", "Error 9999", "0 of 1045 nodes"]) == []


def test_each_hint_is_given_once() -> None:
    assert len(hints(["failed: 2002 a", "failed: 2002 b"])) == 1
    assert all(hints([f"mysql_real_connect failed: {number} x"]) for number in ERRNOS)


def test_a_crash_loop_is_that_of_the_daemon() -> None:
    waiting = {"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}
    pod = {"metadata": {"labels": {"app.kubernetes.io/name": "slurmctld"}}, "status": waiting}
    assert crashes(pod, "slurmctld") and not crashes(pod, "slurmdbd")
    assert not crashes({**pod, "status": {}}, "slurmctld")


def test_of_a_log_the_last_errors_are_told_and_no_part_of_a_password() -> None:
    """A password with a blank ends in the middle for slurmdbd, which prints its rest (slurm-accounting.md 4.4)."""
    log = """slurmdbd: debug: all is well
slurmdbd: error: mysql_real_connect failed: 2005
slurmdbd: error: mysql_real_connect failed: 2005
slurmdbd: error: _parse_next_key: Parsing error at unrecognized key: rest-of-password
slurmdbd: fatal: Parse error in file /etc/slurm/slurmdbd.conf line 12: " rest-of-password"
"""
    assert last_errors(log) == [
        "slurmdbd: error: _parse_next_key: Parsing error at unrecognized key",
        "slurmdbd: fatal: Parse error in file /etc/slurm/slurmdbd.conf line 12",
    ]
    assert last_errors(log[: log.index("slurmdbd: error: _parse")]) == [
        "slurmdbd: error: mysql_real_connect failed: 2005"
    ]
    assert last_errors("") == []
