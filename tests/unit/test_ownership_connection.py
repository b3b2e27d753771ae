# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ADR-016 section 6, spec/slurm-accounting.md 4.4, cases S8 and S11: the connection in the effective values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership import value_problems
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership.connection import PROVIDED

CUSTOMER = AccountingMode.CUSTOMER_MANAGED
STORAGE = {
    "host": "db.example.com",
    "port": 3307,
    "database": "acct",
    "username": "svc",
    "passwordKeyRef": {"name": "dbpw", "key": "pw"},
}


def customer_values(**changes: object) -> dict[str, dict[str, Any]]:
    return {"slinky-slurm": {"accounting": {"enabled": True, "storageConfig": {**copy.deepcopy(STORAGE), **changes}}}}


def provided_values() -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, Any]] = {
        "slinky-slurm": {"accounting": {"enabled": True}},
        "slurm-accounting-mariadb": {},
    }
    for component, contract in PROVIDED.items():
        for path, value in contract.items():
            holder = values[component]
            *parents, last = path.split(".")
            for parent in parents:
                holder = holder.setdefault(parent, {})
            holder[last] = value
    return values


@pytest.mark.parametrize("host", ["db.example.com", "mariadb", "10.0.0.7", "fd00::7", "db.prod.svc.cluster.local."])
def test_a_name_or_an_address_is_a_host_wherever_it_lies(host: str) -> None:
    assert value_problems(CUSTOMER, customer_values(host=host)) == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"host": ""}, "host"),
        ({"host": "  "}, "host"),
        ({"host": None}, "host"),
        ({"host": 7}, "host"),
        ({"host": "postgres://db"}, "host"),
        ({"host": "mysql://db:3306"}, "host"),
        ({"host": "db:3306"}, "host"),
        ({"host": "localhost"}, "localhost"),
        ({"host": "127.0.0.1"}, "127.0.0.1"),
        ({"host": "::1"}, "host"),
        ({"host": "LocalHost."}, "host"),
        ({"host": "0.0.0.0"}, "host"),
        ({"host": "a b"}, "host"),
        ({"host": "db\nx"}, "host"),
        ({"port": 0}, "port"),
        ({"port": 65536}, "port"),
        ({"port": "3306"}, "port"),
        ({"port": 3306.5}, "port"),
        ({"port": True}, "port"),
        ({"port": None}, "port"),
        ({"port": 5432}, "PostgreSQL"),
        ({"database": "a-b"}, "database"),
        ({"database": ""}, "database"),
        ({"database": "x" * 65}, "database"),
        ({"username": "a b"}, "username"),
        ({"username": "a'b"}, "username"),
        ({"username": "x" * 33}, "username"),
        ({"username": "svc\n"}, "username"),
        ({"passwordKeyRef": {"name": "dbpw"}}, "passwordKeyRef.key"),
        ({"passwordKeyRef": None}, "passwordKeyRef.name"),
        ({"passwordKeyRef": {"name": "dbpw", "key": "pw", "value": "hunter2"}}, "passwordKeyRef.value"),
        ({"passwordKeyRef": {"name": "Bad_Name", "key": "pw"}}, "passwordKeyRef.name"),
        ({"password": "hunter2"}, "storageConfig.password"),
    ],
)
def test_what_slurmdbd_cannot_use_is_refused_by_path(changes: dict[str, object], named: str) -> None:
    problems = value_problems(CUSTOMER, customer_values(**changes))
    assert any(named in problem.message for problem in problems)
    assert not any("hunter2" in str(problem) for problem in problems)


@pytest.mark.parametrize("port", [1, 3306, 3306.0, 65535])
def test_a_whole_number_is_a_port(port: object) -> None:
    assert value_problems(CUSTOMER, customer_values(port=port)) == []


def test_everything_wrong_is_said_at_once() -> None:
    assert len(value_problems(CUSTOMER, {"slinky-slurm": {"accounting": {"enabled": True, "storageConfig": {}}}})) == 6


def test_the_provided_contract_holds_as_shipped() -> None:
    assert value_problems(AccountingMode.AICR_PROVIDED, provided_values()) == []


@pytest.mark.parametrize(
    ("component", "path"), [(component, path) for component in PROVIDED for path in PROVIDED[component]]
)
@pytest.mark.parametrize(
    "change", [lambda holder, key: holder.pop(key), lambda holder, key: holder.update({key: "other"})]
)
def test_each_end_of_the_provided_connection_is_pinned(
    component: str, path: str, change: Callable[[dict[str, Any], str], object]
) -> None:
    values = provided_values()
    holder = values[component]
    *parents, last = path.split(".")
    for parent in parents:
        holder = holder[parent]
    change(holder, last)
    problems = value_problems(AccountingMode.AICR_PROVIDED, values)
    assert len(problems) == 1
    assert f"{component}:{path}" in problems[0].message


def test_a_text_is_not_the_number_it_looks_like() -> None:
    values = provided_values()
    values["slinky-slurm"]["accounting"]["storageConfig"]["port"] = "3306"
    assert "port" in value_problems(AccountingMode.AICR_PROVIDED, values)[0].message


@pytest.mark.parametrize("component", ["slinky-slurm", "slurm-accounting-mariadb"])
def test_the_output_must_hold_what_the_mode_needs(component: str) -> None:
    values = provided_values()
    del values[component]
    assert component in value_problems(AccountingMode.AICR_PROVIDED, values)[0].message


@pytest.mark.parametrize("enabled", [True, None, "false"])
def test_disabled_wants_accounting_false(enabled: object) -> None:
    problems = value_problems(AccountingMode.DISABLED, {"slinky-slurm": {"accounting": {"enabled": enabled}}})
    assert "slinky-slurm:accounting.enabled" in problems[0].message


def test_disabled_is_content_with_false_or_without_slurm() -> None:
    assert value_problems(AccountingMode.DISABLED, {"slinky-slurm": {"accounting": {"enabled": False}}}) == []
    assert value_problems(AccountingMode.DISABLED, {}) == []
