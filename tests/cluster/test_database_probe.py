# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe of a database, by its real Job against a real MariaDB: every outcome, every right, no secret anywhere."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import job
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.database_server import RIGHTS
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.database_probe import SPEC, probe_database
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Database
from ansible_collections.aicr.runtime.tests.cluster.bed.certificates import Authority
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

DATABASE = "slurm_acct_db"
ALL = f"ALL PRIVILEGES ON {DATABASE}.*"
PASSWORD = "uYr4-dRkM_2Qx"
SETTINGS = "unsuitable-settings"


@pytest.fixture(scope="module")
def slurm(bed: Bed) -> Iterator[str]:
    """A namespace with the Secret, for all tests of the module."""
    name = f"aicr-test-{uuid.uuid4().hex[:8]}"
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    eventually(lambda: list(bed.api.items(f"/api/v1/namespaces/{name}/serviceaccounts")))
    secret(bed, name, "database", PASSWORD)
    yield name
    bed.api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="module")
def server(bed: Bed, slurm: str) -> Iterator[Database]:
    """A server with TLS that lets clear text in, with the database and an account that may do everything in it."""
    flags = ("--innodb-lock-wait-timeout=900", "--innodb-buffer-pool-size=64M")
    with Database(bed, slurm, "database", tls=True, flags=flags) as database:
        database.start()
        database.sql(f"CREATE DATABASE {DATABASE} COLLATE utf8mb4_general_ci")
        database.account("slurm", PASSWORD, ALL)
        configmap(bed, slurm, "ca", database.ca)
        yield database


def secret(bed: Bed, namespace: str, name: str, password: str, key: str = "password") -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
    data = {key: base64.b64encode(password.encode()).decode()}
    bed.api.apply(path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data})


def configmap(bed: Bed, namespace: str, name: str, certificate: Path) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    data = {"ca.crt": certificate.read_text(encoding="ascii")}
    bed.api.apply(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def arguments(kubeconfig: Path, namespace: str, host: str, **options: Any) -> dict[str, Any]:
    """Of the action; what is part of the database may stand among the options."""
    names = ("port", "database", "username", "password_secret")
    given = {name: options.pop(name) for name in names if name in options}
    database = {"host": host, "password_secret": {"name": "database"}, **given}
    return {"kubeconfig": str(kubeconfig), "namespace": namespace, "database": database, "timeout": 60, **options}


def probe(bed: Bed, namespace: str, host: str, *, told: list[str] | None = None, **options: Any) -> dict[str, Any]:
    """What the action returns."""
    given = arguments(options.pop("kubeconfig", bed.kubeconfig), namespace, host, **options)
    tell: Callable[[str], None] = [].append if told is None else told.append
    made = probe_database(parse(SPEC, given), check_mode=False, tell=tell)
    return made.deliver(check_mode=False, diff=False, return_document=False)


def outcomes(result: dict[str, Any]) -> set[str]:
    """The failures, by name."""
    return {one["outcome"] for one in result["findings"] if one["severity"] == "failure"}


def message(result: dict[str, Any], outcome: str) -> str:
    (found,) = [one["message"] for one in result["findings"] if one["outcome"] == outcome]
    return str(found)


def left(bed: Bed, namespace: str) -> list[str]:
    """Whatever of ours is in a namespace; pods may take a moment to go."""
    kinds = ("/api/v1/{}/configmaps", "/apis/batch/v1/{}/jobs", "/api/v1/{}/pods")
    paths = [path.format(f"namespaces/{namespace}") for path in kinds]
    found = [item["metadata"]["name"] for path in paths for item in bed.api.items(path)]
    return [name for name in found if name.startswith("aicr-")]


# ---- a database that is fit, and what is left of the probe


def test_a_fit_database_passes_and_nothing_of_the_probe_is_left(bed: Bed, slurm: str, server: Database) -> None:
    with bed.audit.recording("admin") as requests:
        result = probe(bed, slurm, server.host)
    assert "failed" not in result
    assert (result["changed"], result["summary"]["outcome"]) == (False, "ok")
    assert [one["outcome"] for one in result["findings"]] == [SETTINGS]  # 64 MiB of buffers are few
    assert "innodb_buffer_pool_size is 67108864" in result["warnings"][0]
    written = sorted((one.verb, one.resource) for one in requests if one.writes)
    assert written == [
        ("delete", "configmaps"),
        ("delete", "jobs"),
        ("patch", "configmaps"),
        ("patch", "configmaps"),  # the second time with the Job as its owner
        ("patch", "jobs"),
    ]
    assert {one.namespace for one in requests if one.writes} == {slurm}
    assert eventually(lambda: not left(bed, slurm))


# ---- every right


def test_each_right_is_missed_by_name(bed: Bed, slurm: str, server: Database) -> None:
    def lacking(right: str) -> str:
        user = "no_" + right.lower().replace(" ", "_")
        rest = ", ".join(one for one in RIGHTS if one != right)
        server.account(user, PASSWORD, f"{rest} ON `slurm\\_acct\\_db`.*")
        result = probe(bed, slurm, server.host, username=user)
        assert outcomes(result) == {"missing-rights"}
        assert result["error"]["code"] == "UNAUTHORIZED"
        assert "GRANT ALL PRIVILEGES ON `slurm_acct_db`.*" in result["error"]["hint"]
        return message(result, "missing-rights").rpartition(": ")[2]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lacking, RIGHTS)) == list(RIGHTS)


@pytest.mark.parametrize(
    ("user", "grants", "missing"),
    [
        ("exact", ["ALL PRIVILEGES ON `slurm\\_acct\\_db`.*"], ""),
        ("everywhere", ["ALL PRIVILEGES ON *.*"], ""),
        ("pattern", ["ALL PRIVILEGES ON `slurm%`.*"], ""),
        ("readwrite", [f"SELECT, INSERT, UPDATE, DELETE ON {DATABASE}.*"], ", ".join(RIGHTS[4:])),
        # The server lets the grant that names the database count, and no other.
        ("narrowed", ["ALL PRIVILEGES ON `slurm%`.*", "SELECT ON `slurm\\_acct\\_db`.*"], ", ".join(RIGHTS[1:])),
        ("elsewhere", ["ALL PRIVILEGES ON `slurmXacctXdb`.*", "SELECT ON slurm_acct_db.*"], ", ".join(RIGHTS[1:])),
    ],
)
def test_n43_rights_are_those_that_the_server_lets_count(
    bed: Bed, slurm: str, server: Database, user: str, grants: list[str], missing: str
) -> None:
    server.account(user, PASSWORD, *grants)
    result = probe(bed, slurm, server.host, username=user)
    assert outcomes(result) == ({"missing-rights"} if missing else set())
    if missing:
        assert message(result, "missing-rights").rpartition(": ")[2] == missing


def test_rights_through_a_role_cannot_be_seen_and_are_a_warning(bed: Bed, slurm: str, server: Database) -> None:
    server.sql(f"CREATE ROLE accounting; GRANT {ALL} TO accounting")
    server.account("actor", PASSWORD)
    server.sql("GRANT accounting TO actor@'%'; SET DEFAULT ROLE accounting FOR actor@'%'")
    result = probe(bed, slurm, server.host, username="actor")
    assert outcomes(result) == set()
    assert "its role accounting may give them" in message(result, "missing-rights")


# ---- databases that are not there


@pytest.mark.parametrize(
    ("user", "grants", "severities"),
    [
        ("maker", ["ALL PRIVILEGES ON not_yet.*"], {"missing-database": "info"}),
        ("reader", ["SELECT ON not_yet.*"], {"missing-rights": "failure", "missing-database": "failure"}),
        ("stranger", [], {"no-right-on-database": "failure"}),
    ],
)
def test_a_missing_database_matters_only_to_those_who_cannot_make_it(
    bed: Bed, slurm: str, server: Database, user: str, grants: list[str], severities: dict[str, str]
) -> None:
    server.account(user, PASSWORD, *grants)
    result = probe(bed, slurm, server.host, username=user, database="not_yet")
    found = {one["outcome"]: one["severity"] for one in result["findings"] if one["outcome"] != SETTINGS}
    assert found == severities


# ---- logins that fail


def test_a_refused_login_says_what_it_can_mean(bed: Bed, slurm: str, server: Database) -> None:
    secret(bed, slurm, "wrong", "another-Password1")
    result = probe(bed, slurm, server.host, password_secret={"name": "wrong"})
    assert outcomes(result) == {"wrong-password"}
    assert (result["error"]["code"], result["error"]["details"]) == ("UNAUTHORIZED", {"outcome": "wrong-password"})
    assert f"the user or the password is wrong (Secret {slurm}/wrong)" in result["msg"]
    provided = probe(
        bed,
        slurm,
        server.host,
        password_secret={"name": "wrong"},
        slurm_accounting_mode="aicr-provided",
    )
    assert 'label --overwrite secret wrong k8s.mariadb.com/watch=""' in provided["error"]["hint"]
    assert "delete secret internal-mariadb" in provided["error"]["hint"]


@pytest.mark.parametrize("of", ["account", "server"])
def test_tls_that_the_server_wants_is_no_wrong_password(bed: Bed, slurm: str, server: Database, of: str) -> None:
    if of == "account":
        server.account("secured", PASSWORD, ALL, require="SSL")
        result = probe(bed, slurm, server.host, username="secured")
        assert "let in with TLS" in message(result, "tls-required")
    else:
        server.sql("SET GLOBAL require_secure_transport=ON")
        try:
            result = probe(bed, slurm, server.host)
        finally:
            server.sql("SET GLOBAL require_secure_transport=OFF")
        assert "takes no connection in clear text" in message(result, "tls-required")
    assert outcomes(result) == {"tls-required"}
    assert "StorageParameters=SSL_CA" in result["error"]["hint"]


@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        ("WITH MAX_CONNECTIONS_PER_HOUR 1", "too-many-connections"),
        ("WITH MAX_USER_CONNECTIONS -1", "too-many-connections"),
        ("ACCOUNT LOCK", "account-unusable"),
        ("PASSWORD EXPIRE", "account-unusable"),
    ],
)
def test_an_account_that_cannot_be_used_is_told_from_a_wrong_password(
    bed: Bed, slurm: str, server: Database, what: str, outcome: str
) -> None:
    user = f"u{uuid.uuid4().hex[:8]}"
    server.account(user, PASSWORD, ALL)
    server.sql(f"ALTER USER {user}@'%' {what}")
    assert outcomes(probe(bed, slurm, server.host, username=user)) == {outcome}


def test_s15_hosts_that_do_not_answer_are_told_apart(bed: Bed, slurm: str, server: Database) -> None:
    unknown = probe(bed, slurm, f"nowhere.{slurm}.svc.cluster.local")
    assert outcomes(unknown) == {"unknown-host"}
    closed = probe(bed, slurm, server.host, port=3307)
    assert outcomes(closed) == {"unreachable"}
    assert "Connection refused" in message(closed, "unreachable")
    with socket.create_server((server.address, 3308)) as silent:
        mute = probe(bed, slurm, server.host, port=silent.getsockname()[1])
    assert outcomes(mute) == {"unreachable"}
    assert "does not speak as a database does" in message(mute, "unreachable")
    assert {one["error"]["code"] for one in (unknown, closed, mute)} == {"SERVICE_UNAVAILABLE"}


# ---- TLS


@pytest.mark.parametrize(
    ("user", "require", "warned"), [("enforced", "SSL", False), ("lenient", "NONE", True)], ids=["enforced", "lenient"]
)
def test_required_tls_is_verified_and_clear_text_tried(
    bed: Bed, slurm: str, server: Database, user: str, require: str, warned: bool
) -> None:
    server.account(user, PASSWORD, ALL, require=require)
    tls = {"mode": "required", "ca_config_map": {"name": "ca"}}
    result = probe(bed, slurm, server.host, username=user, tls=tls)
    assert outcomes(result) == set()
    names = {one["outcome"] for one in result["findings"]}
    assert ("clear-text-accepted" in names) is warned


def test_a_certificate_that_cannot_be_verified_is_told_with_its_reason(
    bed: Bed, slurm: str, server: Database, tmp_path: Path
) -> None:
    configmap(bed, slurm, "other-ca", Authority.make(tmp_path / "other").certificate)
    wrong = probe(bed, slurm, server.host, tls={"mode": "required", "ca_config_map": {"name": "other-ca"}})
    assert outcomes(wrong) == {"tls-unverifiable"}
    assert "certificate" in message(wrong, "tls-unverifiable")
    alias = {"name": "alias", "annotations": {"bed/address": server.address}}
    bed.api.create(
        f"/api/v1/namespaces/{slurm}/services",
        {"metadata": alias, "spec": {"clusterIP": "None", "ports": [{"port": 3306}]}},
    )
    other = probe(bed, slurm, f"alias.{slurm}", tls={"mode": "required", "ca_config_map": {"name": "ca"}})
    assert outcomes(other) == {"tls-unverifiable"}
    assert "ostname" in message(other, "tls-unverifiable")
    assert f"alias.{slurm} must be a name in it" in other["error"]["hint"]
    bed.api.delete(f"/api/v1/namespaces/{slurm}/services/alias")


def test_a_server_without_tls(bed: Bed, slurm: str, tmp_path: Path) -> None:
    """What slurmdbd would do without a word, in clear text, the probe does not; without TLS it finds nothing wrong."""
    configmap(bed, slurm, "some-ca", Authority.make(tmp_path / "some").certificate)
    with Database(bed, slurm, "plain") as plain:
        plain.start()
        plain.sql(f"CREATE DATABASE {DATABASE}")
        plain.account("slurm", PASSWORD, ALL)
        result = probe(bed, slurm, plain.host, tls={"mode": "required", "ca_config_map": {"name": "some-ca"}})
        assert outcomes(result) == {"tls-unavailable"}
        for mode in ("preferred", "disabled"):
            assert outcomes(probe(bed, slurm, plain.host, tls={"mode": mode})) == set()


# ---- servers that are not fit


@pytest.mark.parametrize(
    ("variable", "value", "outcome", "severity"),
    [
        ("read_only", "1", "read-only", "failure"),
        ("innodb_snapshot_isolation", "ON", SETTINGS, "failure"),
        ("innodb_lock_wait_timeout", "50", SETTINGS, "warning"),
        ("max_allowed_packet", "1048576", SETTINGS, "warning"),
    ],
)
def test_a_server_that_slurmdbd_would_fail_on_is_not_fit(
    bed: Bed, slurm: str, server: Database, variable: str, value: str, outcome: str, severity: str
) -> None:
    before = server.sql(f"SELECT @@global.{variable}")[0][0]
    server.sql(f"SET GLOBAL {variable}={value}")
    try:
        result = probe(bed, slurm, server.host)
    finally:
        server.sql(f"SET GLOBAL {variable}={before}")
    (found,) = [one for one in result["findings"] if variable in one["message"]]
    assert (found["outcome"], found["severity"]) == (outcome, severity)


def test_a_collation_that_slurmdbd_complains_of_is_a_warning(bed: Bed, slurm: str, server: Database) -> None:
    server.sql("CREATE DATABASE strict COLLATE utf8mb4_bin")
    server.account("strict", PASSWORD, "ALL PRIVILEGES ON strict.*")
    result = probe(bed, slurm, server.host, username="strict", database="strict")
    assert any("utf8mb4_bin" in warning for warning in result["warnings"])


# ---- Secrets


def test_what_is_missing_is_said_before_anything_is_made(bed: Bed, slurm: str, server: Database) -> None:
    secret(bed, slurm, "keyless", PASSWORD, key="pass")
    tls = {"mode": "required", "ca_secret": {"name": "no-ca"}}
    with bed.audit.recording("admin") as requests, pytest.raises(AicrError) as caught:
        probe(bed, slurm, server.host, password_secret={"name": "keyless"}, tls=tls)
    assert caught.value.code.value == "NOT_FOUND"
    assert f"Secret {slurm}/keyless: has no key password" in caught.value.message
    assert "name one that it has: pass" in caught.value.hint
    assert f"Secret {slurm}/no-ca: there is none" in caught.value.message
    assert not [one for one in requests if one.writes]
    mode = "aicr-provided"
    with pytest.raises(AicrError) as caught:
        probe(bed, slurm, server.host, password_secret={"name": "keyless"}, slurm_accounting_mode=mode)
    assert "completes none that is there without the key" in caught.value.hint


@pytest.mark.parametrize("password", ["pass#word1", "two words1", "back\\slash", "line-feed\n", "it's-mine1", "Qz7-x"])
def test_a_password_that_does_not_survive_is_refused_and_not_shown(
    bed: Bed, slurm: str, server: Database, password: str
) -> None:
    secret(bed, slurm, "flawed", password)
    with bed.audit.recording("admin") as requests, pytest.raises(AicrError) as caught:
        probe(bed, slurm, server.host, password_secret={"name": "flawed"})
    assert caught.value.code.value == "INVALID_REQUEST"
    assert f"Secret {slurm}/flawed: the password under key password" in caught.value.message
    assert password.strip() not in str(caught.value)
    assert not [one for one in requests if one.writes if one.name != "flawed"]


# ---- databases that come late


def test_s1_a_database_that_comes_late_is_waited_for(bed: Bed, slurm: str) -> None:
    told: list[str] = []
    with Database(bed, slurm, "late") as late:
        assert outcomes(probe(bed, slurm, late.host)) == {"unreachable"}

        def come() -> None:
            time.sleep(4)
            late.start()
            late.sql(f"CREATE DATABASE {DATABASE}")
            late.account("slurm", PASSWORD, ALL)

        thread = threading.Thread(target=come)
        thread.start()
        result = probe(bed, slurm, late.host, wait=60, grace=20, told=told)
        thread.join()
    assert result["summary"]["outcome"] == "ok"
    assert any("cannot be reached" in line and "s are left for that" in line for line in told)


@pytest.mark.parametrize("where", ["server", "secret"])
def test_a_password_that_is_put_right_is_seen_only_where_it_is_waited_for(
    bed: Bed, slurm: str, server: Database, where: str
) -> None:
    """Each look is a Job of its own: it sees the Secret as it is then."""
    user, wrong = f"rotated-{where}", "the-old-Password"
    server.account(user, wrong if where == "server" else PASSWORD, ALL)
    secret(bed, slurm, "rotated", PASSWORD if where == "server" else wrong)
    asked = {"username": user, "password_secret": {"name": "rotated"}}
    assert outcomes(probe(bed, slurm, server.host, wait=60, **asked)) == {"wrong-password"}
    told: list[str] = []

    def put_right() -> None:
        eventually(lambda: told, 60)
        if where == "server":
            server.sql(f"ALTER USER `{user}`@'%' IDENTIFIED BY '{PASSWORD}'")
        else:
            secret(bed, slurm, "rotated", PASSWORD)

    thread = threading.Thread(target=put_right)
    thread.start()
    found = probe(bed, slurm, server.host, grace=60, told=told, **asked)
    thread.join()
    assert outcomes(found) == set()
    assert any("was refused" in line for line in told)


# ---- where it runs, and with what rights


@contextlib.contextmanager
def tainted(bed: Bed) -> Iterator[None]:
    """Every node of the bed with one more taint."""
    taint = {"key": "dedicated", "value": "slurm", "effect": "NoSchedule"}
    before = {node["metadata"]["name"]: node["spec"].get("taints") for node in bed.api.items("/api/v1/nodes")}
    for name, taints in before.items():
        bed.api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [*(taints or ()), taint]}})
    try:
        yield
    finally:
        for name, taints in before.items():
            bed.api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": taints}})


def test_n35_the_probe_bears_what_its_workload_bears(bed: Bed, slurm: str, server: Database) -> None:
    with tainted(bed):
        with pytest.raises(AicrError) as caught:
            probe(bed, slurm, server.host, timeout=3)
        assert caught.value.code.value == "TIMEOUT"
        assert "untolerated taint" in caught.value.message
        tolerations = [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]
        assert outcomes(probe(bed, slurm, server.host, tolerations=tolerations)) == set()
    assert eventually(lambda: not left(bed, slurm))


def test_a_strict_namespace_admits_the_probe(bed: Bed, slurm: str, server: Database) -> None:
    path = f"/api/v1/namespaces/{slurm}"
    bed.api.patch(path, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    try:
        assert outcomes(probe(bed, slurm, server.host)) == set()
    finally:
        bed.api.patch(path, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": None}}})


@pytest.fixture
def caller(bed: Bed, slurm: str, tmp_path: Path) -> tuple[Path, str]:
    """A kubeconfig of an account with the documented rights, but that to read Secrets, and the path of its Role."""
    name = f"prober-{uuid.uuid4().hex[:8]}"
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{slurm}"
    bed.api.create(f"/api/v1/namespaces/{slurm}/serviceaccounts", {"metadata": {"name": name}})
    rules = [{key: list(values) for key, values in rule.items()} for rule in job.RULES]
    bed.api.create(f"{rbac}/roles", {"metadata": {"name": name}, "rules": rules})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": slurm}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    bed.api.create(f"{rbac}/rolebindings", {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]})
    return bed.write_kubeconfig(tmp_path / name, token=bed.service_account_token(slurm, name)), f"{rbac}/roles/{name}"


def test_the_documented_rights_suffice_and_a_vanished_secret_is_told_by_the_pod(
    bed: Bed, slurm: str, server: Database, caller: tuple[Path, str]
) -> None:
    def admitted() -> dict[str, Any] | None:
        with contextlib.suppress(AicrError):
            return probe(bed, slurm, server.host, kubeconfig=caller[0])
        return None

    result = eventually(admitted, 30)
    assert result["summary"]["outcome"] == "ok"
    assert f"Secret {slurm}/database: may not be read" in result["warnings"][0]
    with pytest.raises(AicrError) as caught:
        probe(bed, slurm, server.host, kubeconfig=caller[0], password_secret={"name": "vanished"}, timeout=3)
    assert caught.value.code.value == "TIMEOUT"
    assert 'secret "vanished" not found' in caught.value.message
    assert eventually(lambda: not left(bed, slurm))


def test_missing_rights_are_named_all_at_once(bed: Bed, slurm: str, server: Database, tmp_path: Path) -> None:
    nobody = bed.write_kubeconfig(tmp_path / "nobody", token=bed.settings.tokens["nobody"])
    with bed.audit.recording("nobody") as requests, pytest.raises(AicrError) as caught:
        probe(bed, slurm, server.host, kubeconfig=nobody)
    for right in ("create configmaps", "delete jobs.batch", "patch jobs.batch", "list pods"):
        assert f"{right} in namespace {slurm}" in caught.value.message
    assert not [one for one in requests if one.writes]


# ---- check mode


def test_check_mode_writes_nothing_and_predicts_what_is_not_there_yet(
    bed: Bed, slurm: str, server: Database, ansible: Ansible
) -> None:
    absent = arguments(bed.kubeconfig, "not-there-yet", "mariadb")
    secretless = arguments(bed.kubeconfig, slurm, server.host, password_secret={"name": "not-yet"})
    flawed = arguments(bed.kubeconfig, slurm, server.host, password_secret={"name": "blank"})
    secret(bed, slurm, "blank", "two words1")
    tasks = [
        {"name": name, "aicr.runtime.database_probe": given, "ignore_errors": True}
        for name, given in (
            ("whole", arguments(bed.kubeconfig, slurm, server.host)),
            ("absent", absent),
            ("secretless", secretless),
            ("flawed", flawed),
        )
    ]
    with bed.audit.recording("admin") as requests:
        ran = ansible.tasks(tasks, "--check")
    assert not [one for one in requests if one.writes]
    assert {one.resource for one in requests if one.dry_run} == {"configmaps", "jobs"}
    assert "no Job database-probe is run" in ran.result("whole")["warnings"][0]
    assert "has no namespace not-there-yet" in ran.result("absent")["warnings"][1]
    assert f"Secret {slurm}/not-yet: there is none" in ran.result("secretless")["warnings"][1]
    assert ran.result("flawed")["error"]["code"] == "INVALID_REQUEST"
    assert not left(bed, slurm)


# ---- what a killed run leaves


def family(pid: int) -> list[int]:
    """A process and all that descend from it; Ansible's workers are in sessions of their own."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = place.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1]
            parents.setdefault(int(parent), []).append(int(place.parent.name))
    found = [pid]
    for one in found:
        found += parents.get(one, ())
    return found


def test_what_a_killed_run_has_left_goes_with_the_next_one(
    bed: Bed, slurm: str, server: Database, tmp_path: Path
) -> None:
    """The Lease says that nobody waits for it any more."""
    lease = {"lease": {"namespace": slurm, "name": "probe"}}
    runs = [f"run-{uuid.uuid4().hex[:6]}" for _unused in range(2)]
    with socket.create_server((server.address, 3309)):  # takes connections, says nothing
        given = arguments(bed.kubeconfig, slurm, server.host, port=3309, run=runs[0], **lease)
        tasks = [
            {"aicr.runtime.lease": {"kubeconfig": str(bed.kubeconfig), "run": runs[0], **lease["lease"]}},
            {"aicr.runtime.database_probe": given},
        ]
        (tmp_path / "play.yml").write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        process = subprocess.Popen([program, "-i", "cluster,", "play.yml"], cwd=tmp_path, stdout=subprocess.DEVNULL)
        eventually(lambda: len(left(bed, slurm)) == 3, 60)
        for pid in family(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    lost = set(left(bed, slurm))
    assert lost
    bed.api.patch(
        f"/apis/coordination.k8s.io/v1/namespaces/{slurm}/leases/probe", {"spec": {"holderIdentity": runs[1]}}
    )
    assert outcomes(probe(bed, slurm, server.host)) == set()  # of a run beside it nobody knows whether it lives
    assert lost <= set(left(bed, slurm))
    assert outcomes(probe(bed, slurm, server.host, run=runs[1], **lease)) == set()
    assert eventually(lambda: not left(bed, slurm))


# ---- secrets


class Watcher:
    """Notes, while a block runs, the command line of every process of this machine, and every object of a namespace."""

    def __init__(self, bed: Bed, namespace: str) -> None:
        self._bed, self._namespace, self._over = bed, namespace, threading.Event()
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._processes, self._objects)]
        self.processes: set[str] = set()
        self.objects: dict[tuple[str, ...], str] = {}

    def __enter__(self) -> Watcher:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _processes(self) -> None:
        while not self._over.wait(0.02):
            for place in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    self.processes.add(place.read_bytes().replace(b"\0", b" ").decode(errors="replace"))

    def _objects(self) -> None:
        kinds = ("/api/v1/{}/configmaps", "/apis/batch/v1/{}/jobs", "/api/v1/{}/pods", "/api/v1/{}/events")
        while not self._over.wait(0.1):
            for kind in kinds:
                for item in self._bed.api.items(kind.format(f"namespaces/{self._namespace}")):
                    metadata = item["metadata"]
                    self.objects[kind, metadata["name"], metadata["resourceVersion"]] = json.dumps(item)


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_the_password_is_nowhere(bed: Bed, slurm: str, server: Database, ansible: Ansible, status: str) -> None:
    user, planted = f"p{uuid.uuid4().hex[:8]}", f"planted-{uuid.uuid4().hex}"
    server.account(user, planted if status == "ok" else "something-Else1", ALL)
    secret(bed, slurm, "planted", planted)
    hashed = server.sql(f"SELECT authentication_string FROM mysql.user WHERE User='{user}'")[0][0]
    given = arguments(bed.kubeconfig, slurm, server.host, username=user, password_secret={"name": "planted"})
    task = {"name": "probe", "aicr.runtime.database_probe": given}
    server.sql("SET GLOBAL init_connect='DO SLEEP(0.5)'")  # so that the client can be seen at work
    try:
        with Watcher(bed, slurm) as watcher:
            ran = ansible.tasks([task], "-vvvv", "--diff", expect=0 if status == "ok" else 2)
    finally:
        server.sql("SET GLOBAL init_connect=''")
    assert ran.result("probe")["status"] == status
    assert status == "failed" or any(f"--user={user}" in line for line in watcher.processes)
    assert any("secretKeyRef" in text for text in watcher.objects.values())
    haystack = "\n".join([ran.output, *watcher.processes, *watcher.objects.values()])
    encoded = base64.b64encode(planted.encode()).decode()
    for needle in (planted, encoded, hashed):
        assert needle not in haystack


def test_a_connection_that_cannot_work_is_refused_before_the_cluster_is_asked(bed: Bed, slurm: str) -> None:
    """Cases S8 and S11, in the words of the option."""
    for host, options, words in (
        ("localhost", {}, 'database.host is "localhost", which is not the same machine from every node'),
        ("db", {"port": 5432}, "database.port is 5432, the port of PostgreSQL,"),
        ("postgres://db", {}, "database.host is an address of PostgreSQL"),
        ("db", {"database": "slurm-acct"}, "database.database has characters"),
        ("db", {"username": "o'hara"}, "database.username has characters"),
        ("db", {"tls": {"mode": "required"}}, "tls.mode required: nothing is verified without a CA"),
        ("db", {"timeout": 0}, "timeout: 0 s is no time"),
    ):
        with bed.audit.recording("admin") as requests, pytest.raises(AicrError) as caught:
            probe(bed, slurm, host, **options)
        assert words in caught.value.message
        assert caught.value.code.value == "INVALID_REQUEST"
        assert not requests
