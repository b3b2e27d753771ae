# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a probe's answer means, number by number: the table of spec/slurm-accounting.md 4.5, and what its pod is.

What a real server answers stands in tests/cluster/test_database_probe.py; here is what no server says on request.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.script import Placement
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import database_probe as probes
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import patience as waiting
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.database import Database, TlsMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.database_diagnosis import diagnose
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.database_server import RIGHTS
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.finding import (
    PASSING,
    Finding,
    Outcome,
    Severity,
    failures,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.reference import Reference
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

SECRET = Reference("Secret", "slurm", "db", "password")
DATABASE = Database("slurm", "db.example.com", 3306, "slurm_acct_db", "slurm", SECRET)
VARIABLES = {
    "version": "11.8.8-MariaDB",
    "Ssl_cipher": "",
    "engine": "DEFAULT",
    "read_only": "OFF",
    "innodb_snapshot_isolation": "OFF",
    "innodb_buffer_pool_size": str(4 << 30),
    "innodb_log_file_size": str(1 << 30),
    "innodb_lock_wait_timeout": "900",
    "max_allowed_packet": str(16 << 20),
    "role": "NULL",
}
ROWS = ("database\tslurm_acct_db\tutf8mb4_general_ci", f"granted\tslurm\\\\_acct\\\\_db\t{','.join(RIGHTS)}")


def facts(*rows: str, **variables: str | None) -> str:
    """What a fit server says, with other variables and other rows."""
    held = {name: value for name, value in {**VARIABLES, **variables}.items() if value is not None}
    return "\n".join([*(f"{name}\t{value}" for name, value in held.items()), *(rows or ROWS)])


def found(database: Database = DATABASE, **said: str) -> list[Finding]:
    return diagnose(json.dumps({"login": "", **said}), database)


def test_a_fit_server_leaves_nothing_to_say() -> None:
    assert found(facts=facts(), unread="") == []


@pytest.mark.parametrize(
    ("number", "text", "outcome"),
    [
        (2002, "Can't connect to server on 'db.example.com' (115)", Outcome.UNREACHABLE),
        (2003, "Can't connect to MySQL server on 'db.example.com' (110)", Outcome.UNREACHABLE),
        (2013, "Lost connection to server at 'handshake: reading initial communication packet'", Outcome.UNREACHABLE),
        (2005, "Unknown server host 'db.example.com' (-2)", Outcome.UNKNOWN_HOST),
        (1045, "Access denied for user 'slurm'@'10.0.0.7' (using password: YES)", Outcome.WRONG_PASSWORD),
        (3159, "Connections using insecure transport are prohibited", Outcome.TLS_REQUIRED),
        (2026, "TLS/SSL error: SSL is required, but the server does not support it", Outcome.TLS_UNAVAILABLE),
        (2026, "TLS/SSL error: self-signed certificate in certificate chain", Outcome.TLS_UNVERIFIABLE),
        (2026, "TLS/SSL error: Hostname verification failed", Outcome.TLS_UNVERIFIABLE),
        (1044, "Access denied for user 'slurm'@'%' to database 'slurm_acct_db'", Outcome.NO_RIGHT_ON_DATABASE),
        (1040, "Too many connections", Outcome.TOO_MANY_CONNECTIONS),
        (1203, "User slurm already has more than 'max_user_connections'", Outcome.TOO_MANY_CONNECTIONS),
        (1226, "User 'slurm' has exceeded the 'max_user_connections' resource", Outcome.TOO_MANY_CONNECTIONS),
        (1129, "Host '10.0.0.7' is blocked because of many connection errors", Outcome.HOST_REFUSED),
        (1130, "Host '10.0.0.7' is not allowed to connect to this MariaDB server", Outcome.HOST_REFUSED),
        (1290, "The MariaDB server is running with the --read-only option", Outcome.READ_ONLY),
        (1862, "Your password has expired", Outcome.ACCOUNT_UNUSABLE),
        (9999, "Something that nobody has seen", Outcome.FAILED),
    ],
)
def test_each_number_has_its_outcome_and_its_words_are_kept(number: int, text: str, outcome: Outcome) -> None:
    (one,) = found(login=f"ERROR {number} (HY000): {text}")
    assert (one.outcome, one.severity) == (outcome, Severity.FAILURE)
    assert one.message.startswith("database db.example.com:3306: ")
    if outcome in (Outcome.TLS_UNVERIFIABLE, Outcome.FAILED, Outcome.TOO_MANY_CONNECTIONS, Outcome.HOST_REFUSED):
        assert text in one.message
    assert one.error.details == {"outcome": outcome.value}


DENIED = "ERROR 1045 (28000): Access denied for user 'slurm'@'10.0.0.7' (using password: YES)"
MEANINGS = ("the user or the password is wrong", "REQUIRE SSL", "require_secure_transport")


@pytest.mark.parametrize(
    ("encrypted", "outcome", "told"),
    [
        ("", Outcome.TLS_REQUIRED, ()),
        ("ERROR 1049 (42000): Unknown database", Outcome.TLS_REQUIRED, ()),
        (DENIED, Outcome.WRONG_PASSWORD, MEANINGS[:1]),
        ("ERROR 2026 (HY000): TLS/SSL error: the server does not support it", Outcome.WRONG_PASSWORD, MEANINGS),
        (None, Outcome.WRONG_PASSWORD, MEANINGS[:1]),  # the login was one with TLS
    ],
)
def test_1045_says_what_it_can_still_mean(encrypted: str | None, outcome: Outcome, told: tuple[str, ...]) -> None:
    (one,) = found(login=DENIED, **({} if encrypted is None else {"encrypted": encrypted}))
    assert one.outcome is outcome
    if told:
        assert tuple(meaning for meaning in MEANINGS if meaning in one.message) == told


def test_the_way_out_of_a_wrong_password_depends_on_whose_database_it_is() -> None:
    (theirs,) = found(login=DENIED, encrypted=DENIED)
    (ours,) = found(replace(DATABASE, provided=True), login=DENIED, encrypted=DENIED)
    assert "ALTER USER 'slurm'@'%'" in theirs.hint
    assert "internal-mariadb" not in theirs.hint
    assert "kubectl -n slurm delete secret internal-mariadb" in ours.hint


@pytest.mark.parametrize(
    ("variables", "words", "severity"),
    [
        ({"read_only": "ON"}, "read_only", Severity.FAILURE),
        ({"read_only": "NO_LOCK"}, "read_only", Severity.FAILURE),  # MariaDB 12
        ({"innodb_read_only": "ON"}, "innodb_read_only", Severity.FAILURE),  # a replica of Aurora
        ({"transaction_read_only": "ON"}, "transaction_read_only", Severity.FAILURE),
        ({"innodb_snapshot_isolation": "ON"}, "first write conflict", Severity.FAILURE),
        ({"engine": "NO"}, "no engine InnoDB", Severity.FAILURE),
        ({"engine": None}, "no engine InnoDB", Severity.FAILURE),
        ({"version": "10.0.4-MariaDB"}, "10.0.4-MariaDB", Severity.FAILURE),
        ({"version": "5.7.44-log"}, "5.7.44-log", Severity.FAILURE),
        ({"innodb_buffer_pool_size": "134217728"}, "innodb_buffer_pool_size", Severity.WARNING),
        ({"innodb_log_file_size": "1048576"}, "innodb_log_file_size", Severity.WARNING),
        ({"innodb_redo_log_capacity": "8388608"}, "innodb_redo_log_capacity", Severity.WARNING),
        ({"innodb_lock_wait_timeout": "50"}, "innodb_lock_wait_timeout", Severity.WARNING),
        ({"max_allowed_packet": "4194304"}, "max_allowed_packet", Severity.WARNING),
    ],
)
def test_what_a_server_is_not_fit_for(variables: dict[str, str | None], words: str, severity: Severity) -> None:
    (one,) = found(facts=facts(**variables))
    assert words in one.message
    assert one.severity is severity


@pytest.mark.parametrize("version", ["8.0.35", "8.4.3-log", "10.6.18-MariaDB-log", "12.3.3-MariaDB-ubu2404"])
def test_servers_of_either_make_are_fit(version: str) -> None:
    """MySQL knows neither innodb_snapshot_isolation nor, before version 8, roles."""
    unread = "ERROR 1305 (42000) at line 15: FUNCTION CURRENT_ROLE does not exist"
    said = facts(version=version, innodb_snapshot_isolation=None, role=None)
    assert found(facts=said, unread=unread) == []


@pytest.mark.parametrize("number", [1548, 1558, 1728])
def test_system_tables_of_another_version_are_told(number: int) -> None:
    (one,) = found(facts=facts(), unread=f"ERROR {number} (HY000) at line 16: Column count of mysql.proc is wrong")
    assert one.outcome is Outcome.NOT_UPGRADED
    assert "Column count of mysql.proc is wrong" in one.message


@given(st.sets(st.sampled_from(RIGHTS)), st.sets(st.sampled_from(RIGHTS)))
def test_rights_here_and_everywhere_add_up_and_each_missing_one_is_named(here: set[str], everywhere: set[str]) -> None:
    rows = [ROWS[0]]
    rows += [f"granted\tslurm\\\\_acct\\\\_db\t{','.join(here)}"] if here else []
    rows += [f"granted\t*.*\t{','.join(everywhere)}"] if everywhere else []
    missing = [right for right in RIGHTS if right not in here | everywhere]
    told = [one.message.rpartition(": ")[2] for one in failures(found(facts=facts(*rows)))]
    assert told == ([", ".join(missing)] if missing else [])


def test_tls_is_proven_by_the_cipher_and_by_a_refusal_of_clear_text() -> None:
    required = replace(DATABASE, tls=TlsMode.REQUIRED)
    secured = facts(Ssl_cipher="TLS_AES_256_GCM_SHA384")
    assert found(required, facts=secured, clear=DENIED) == []
    assert found(required, facts=secured, clear="ERROR 3159 (HY000): insecure transport") == []
    (let_in,) = found(required, facts=secured, clear="")
    assert (let_in.outcome, let_in.severity) == (Outcome.CLEAR_TEXT_ACCEPTED, Severity.WARNING)
    (unknown,) = found(required, facts=secured, clear="ERROR 2002 (HY000): Can't connect")
    assert "could not be tried" in unknown.message
    (bare,) = found(required, facts=facts(), clear=DENIED)
    assert (bare.outcome, bare.severity) == (Outcome.TLS_UNAVAILABLE, Severity.FAILURE)


@pytest.mark.parametrize("answer", ["", "no JSON", "[]", "{}", '{"login": 1}', "[" * 100_000])
def test_anything_else_is_no_answer(answer: str) -> None:
    with pytest.raises(AicrError, match="of no use") as caught:
        diagnose(answer, DATABASE)
    assert caught.value.code.value == "SERVICE_UNAVAILABLE"


@given(st.text(), st.text(), st.text())
def test_whatever_a_server_says_is_judged_or_refused(login: str, said: str, unread: str) -> None:
    for one in found(login=login, facts=said, unread=unread):
        assert one.message


def test_the_page_says_what_each_outcome_means() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "accounting.md").read_text(encoding="utf-8")
    rows = page.partition("| Outcome | What was found | Way out |\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert [row.split("`")[1] for row in rows] == [outcome.value for outcome in Outcome]


# ---- what is run


def pod_of(placement: Placement, ca: Reference | None = None) -> dict[str, Any]:
    script = probes.script(DATABASE, ca, placement, "0a1b2c3d", 60.0, under_lease=False)
    spec: dict[str, Any] = script.job()["spec"]
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (0, 120, 600)
    pod: dict[str, Any] = spec["template"]["spec"]
    return pod


def test_the_pod_has_no_rights_and_the_password_by_reference_alone() -> None:
    pod = pod_of(Placement("mariadb:11.8.8"))
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    writable = [mount["mountPath"] for mount in container["volumeMounts"] if not mount["readOnly"]]
    assert writable == ["/tmp"]
    environment = {one["name"]: one for one in container["env"]}
    assert environment["MYSQL_PWD"]["valueFrom"] == {"secretKeyRef": {"name": "db", "key": "password"}}
    assert container["command"] == ["bash", "/aicr/script.sh"]


def test_the_image_is_the_one_that_the_catalog_installs_anyway() -> None:
    recipes = Path(__file__).resolve().parents[2] / "recipes"
    values = yamlio.load_file(recipes / "components" / "slurm-accounting-mariadb" / "values.yaml")
    assert values["mariadb"]["image"] == probes.IMAGE


def test_what_the_workload_has_the_pod_has() -> None:
    tolerations = ({"key": "dedicated", "operator": "Exists"},)
    pod = pod_of(Placement("r/mariadb:1", ("pull",), {"pool": "system"}, tolerations))
    assert pod["containers"][0]["image"] == "r/mariadb:1"
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert (pod["nodeSelector"], pod["tolerations"]) == ({"pool": "system"}, [*tolerations])


@pytest.mark.parametrize(("kind", "source"), [("Secret", "secret"), ("ConfigMap", "configMap")])
def test_the_ca_is_mounted_from_where_it_is(kind: str, source: str) -> None:
    pod = pod_of(Placement("mariadb:11.8.8"), Reference(kind, "slurm", "db-ca", "root.pem"))
    (projected,) = [volume["projected"] for volume in pod["volumes"] if "projected" in volume]
    assert projected == {"sources": [{source: {"name": "db-ca", "items": [{"key": "root.pem", "path": "ca.crt"}]}}]}
    environment = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
    assert environment["TLS_CA"] == "/aicr-ca/ca.crt"


STAND_IN = """#!/bin/bash
printf '%s ' "$@" >> "$0.arguments"
printf '%s' "ERROR 1045 (28000): \\"quoted\\" \\\\ $MYSQL_PWD ü
\tend" >&2
exit 1
"""


@pytest.mark.skipif(not shutil.which("timeout"), reason="needs coreutils' timeout")
def test_the_answer_is_small_plain_json_whatever_the_client_says(tmp_path: Path) -> None:
    """A client that repeats the password, as none does, still tells nobody."""
    client = tmp_path / "mariadb"
    client.write_text(STAND_IN, encoding="utf-8")
    client.chmod(0o755)
    script = tmp_path / "script.sh"
    script.write_text(probes.script(DATABASE, None, Placement(""), "r", 1.0, under_lease=False).text, encoding="utf-8")
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "ANSWER": str(tmp_path / "answer"),
        "SCRATCH": str(tmp_path),
        "MYSQL_PWD": "se*cret[1]?",
        "DB_HOST": "h",
        "DB_PORT": "1",
        "DB_NAME": "d",
        "DB_USER": "u",
        "TLS_MODE": "disabled",
        "SECONDS_EACH": "5",
    }
    subprocess.run(["bash", str(script)], env=environment, check=True, timeout=60)
    answer = (tmp_path / "answer").read_bytes()
    assert answer.isascii()
    assert len(answer) < 4096
    said = json.loads(answer)
    assert said["login"] == 'ERROR 1045 (28000): "quoted" \\ *** ??\n\tend'
    assert "se*cret" not in (tmp_path / "mariadb.arguments").read_text(encoding="utf-8")


# ---- how long


def finding(outcome: Outcome) -> Finding:
    return Finding(outcome, Severity.FAILURE, f"{outcome.value}!")


@pytest.mark.parametrize(
    ("looks", "seconds", "count"),
    [
        ([Outcome.UNREACHABLE, Outcome.UNKNOWN_HOST, None], 60.0, 3),
        ([Outcome.UNREACHABLE, Outcome.MISSING_RIGHTS, None], 60.0, 2),
        ([Outcome.UNREACHABLE] * 100, 10.0, 5),
        ([Outcome.WRONG_PASSWORD, None], 60.0, 1),
        ([Outcome.UNREACHABLE], 0.0, 1),
    ],
)
def test_only_what_may_pass_is_waited_for_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, looks: list[Outcome | None], seconds: float, count: int
) -> None:
    clock = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(waiting.time, "sleep", lambda wait: clock.__setitem__(0, clock[0] + wait))
    told: list[str] = []
    answers = iter(looks)

    def look() -> list[Finding]:
        outcome = next(answers)
        return [finding(outcome)] if outcome else []

    waiting.look_until_good(look, lambda outcome: seconds if outcome in PASSING else 0.0, told.append)
    assert len(looks) - len(list(answers)) == count
    assert len(told) == count - 1
    assert clock[0] <= seconds
