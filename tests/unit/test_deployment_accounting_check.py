# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sacctmgr's answers mean: its words as the real one says them (26.05), each with an outcome of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.script import Placement
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import accounting_check as check
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.accounting_check import Accounting, diagnose
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.finding import Finding, Outcome, Severity
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.reference import Reference
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
ACCOUNTING = Accounting(
    "slurm",
    "slurm",
    "slurm_slurm",
    Reference("Secret", "slurm", "slurm-auth-slurm", "slurm.key"),
    Reference("ConfigMap", "slurm", "slurm-config", "slurm.conf"),
)


def found(daemon: Callable[[], str] = lambda: "its pod is Running", **said: str) -> list[Finding]:
    return diagnose(json.dumps(said), ACCOUNTING, daemon)


def test_a_cluster_that_has_registered_leaves_nothing_to_say() -> None:
    assert found(clusters="slurm_slurm|10.0.3.17") == []
    assert check.control_host('{"clusters": "slurm_slurm|10.0.3.17"}') == "10.0.3.17"
    assert check.control_host('{"clusters": "slurm_slurm|"}') == ""


def test_a_cluster_whose_slurmctld_has_not_come_back_is_a_warning() -> None:
    """Its row is there, without the address that slurmctld gives when it registers."""
    (one,) = found(clusters="slurm_slurm|")
    assert (one.outcome, one.severity) == (Outcome.NOT_REGISTERED, Severity.WARNING)
    assert "kubectl -n slurm delete pod slurm-controller-0" in one.hint


INIT = "sacctmgr: error: slurm_persist_conn_open: Something happened with the receiving/processing of the persistent "
REFUSED = (
    "sacctmgr: error: _open_persist_conn: failed to open persistent connection to host:slurm-accounting:6819: "
    "Connection refused\nsacctmgr: error: Sending PersistInit msg: Connection refused"
)


@pytest.mark.parametrize(
    ("complaint", "outcome"),
    [
        (REFUSED, Outcome.UNREACHABLE),
        (
            (
                f"{INIT}connection init message to slurm-accounting:6819: Unable to connect to database\n"
                "sacctmgr: error: Sending PersistInit msg: Unable to connect to database"
            ),
            Outcome.DAEMON_WITHOUT_DATABASE,
        ),
        (
            (
                f"{INIT}connection init message to slurm-accounting:6819: Failed to unpack SLURM_PERSIST_INIT message\n"
                "sacctmgr: error: Sending PersistInit msg: Protocol authentication error"
            ),
            Outcome.KEY_REFUSED,
        ),
        (
            (
                "sacctmgr: error: _xgetaddrinfo: getaddrinfo() failed: Name or service not known: No such file "
                "or directory, attempt number 5\nsacctmgr: error: _open_persist_conn: failed to open persistent "
                "connection to host:slurm-accounting:6819: No such file or directory"
            ),
            Outcome.UNKNOWN_HOST,
        ),
        (
            (
                "You are not running a supported accounting_storage plugin\n"
                "Only 'accounting_storage/slurmdbd' is supported."
            ),
            Outcome.UNUSABLE_CONFIGURATION,
        ),
        (
            (
                "sacctmgr: error: _parse_next_key: Parsing error at unrecognized key: Nonsense\n"
                "sacctmgr: fatal: Unable to process configuration file"
            ),
            Outcome.UNUSABLE_CONFIGURATION,
        ),
        (" no answer within 20 s", Outcome.UNREACHABLE),
        ("sacctmgr: error: something that nobody has seen", Outcome.FAILED),
    ],
)
def test_each_complaint_has_its_outcome(complaint: str, outcome: Outcome) -> None:
    (one,) = found(clusters="", complaint=complaint)
    assert one.outcome is outcome
    assert "attempt number" not in one.message


def test_s15_a_slurmdbd_that_its_database_does_not_let_in_is_told_from_one_that_is_down() -> None:
    why = "its pod is Running; its database refuses it: 1045 Access denied for user 'slurm'@'10.0.0.7'"
    (refused,) = found(lambda: why, clusters="", complaint=REFUSED)
    (down,) = found(lambda: "there is no pod of slurmdbd slurm", clusters="", complaint=REFUSED)
    assert (refused.outcome, down.outcome) == (Outcome.DAEMON_WITHOUT_DATABASE, Outcome.UNREACHABLE)
    assert "1045 Access denied" in refused.message
    assert "there is no pod" in down.message


def test_a_cluster_that_has_not_registered_is_told_with_those_that_have() -> None:
    (none,) = found(clusters="", others="")
    (other,) = found(clusters="", others="slurm_other\nlab")
    assert {none.outcome, other.outcome} == {Outcome.NOT_REGISTERED}
    assert "(it knows: none)" in none.message
    assert "(it knows: slurm_other, lab)" in other.message
    assert none.error.code.value == "NOT_FOUND"
    assert "kubectl -n slurm delete pod slurm-controller-0" in none.hint


def test_stored_procedures_that_may_not_be_called_are_a_missing_right() -> None:
    (one,) = found(clusters="slurm_slurm|", associations="sacctmgr: error: Unknown error 1370")
    assert one.outcome is Outcome.MISSING_RIGHTS
    assert "EXECUTE" in one.message


def test_sackd_that_does_not_start_is_told_with_its_reason() -> None:
    (one,) = found(sackd="[2026-11-30T15:06:11] fatal: auth/slurm: Could not load key file (/tmp/slurm/slurm.key)")
    assert one.outcome is Outcome.UNUSABLE_CONFIGURATION
    assert "Could not load key file" in one.message
    assert "Secret slurm/slurm-auth-slurm" in one.message


@pytest.mark.parametrize("answer", ["", "no JSON", "[]", "{}", "[" * 100_000])
def test_anything_else_is_no_answer(answer: str) -> None:
    with pytest.raises(AicrError, match="of no use"):
        diagnose(answer, ACCOUNTING, lambda: "")


@given(st.dictionaries(st.sampled_from(["complaint", "associations", "others", "sackd"]), st.text()), st.text())
def test_whatever_is_said_is_judged(said: dict[str, str], clusters: str) -> None:
    for one in found(clusters=clusters, **said):
        assert one.message


def test_the_pod_is_slurms_user_with_the_key_for_itself() -> None:
    script = check.script(ACCOUNTING, Placement("login:1"), "0a1b2c3d", 60.0, under_lease=False)
    pod: dict[str, Any] = script.job()["spec"]["template"]["spec"]
    assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["fsGroup"]) == (401, 401)
    (projected,) = [volume["projected"] for volume in pod["volumes"] if "projected" in volume]
    assert projected["defaultMode"] == 0o400
    assert [list(source) for source in projected["sources"]] == [["configMap"], ["secret"]]
    writable = [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"] if not mount["readOnly"]]
    assert writable == ["/tmp", "/run/slurm"]


def test_the_image_is_the_one_that_the_catalog_installs_anyway() -> None:
    values = yamlio.load_file(RECIPES / "components" / "slinky-slurm" / "values.yaml")
    image = values["loginsets"]["slinky"]["login"]["image"]
    assert f"{image['repository']}@{image['digest']}" == check.IMAGE
