# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes over Database, User and Grant resources: SQL, finalizer, condition (spec/operators.md 1.1)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pymysql

from ..bed.api import ApiError, Object
from .loop import Failure
from .mariadb_server import Refused, Server, worded
from .objects import Objects, condition, conditions, content
from .session import delay


class SqlObjects:
    """The controller of one of the three kinds."""

    def __init__(self, kind: str, objects: Objects) -> None:
        self._kind, self._objects = kind, objects
        self._finalizer = f"{kind.lower()}.k8s.mariadb.com/finalizer"
        self._make: Callable[[Object, Any], None]
        self._make, self._drop = {
            "Database": (self._make_database, _drop_database),
            "User": (self._make_user, _drop_user),
            "Grant": (self._make_grant, _revoke),
        }[kind]
        self._done_since: dict[str, float] = {}

    def reconcile(self, namespace: str, name: str) -> float | None:
        """One pass; after a good one the next look is in ten hours, so a server that is lost goes unseen (1.4, b6)."""
        one = self._objects.find(self._kind, namespace, name)
        if one is None:
            return None
        mariadb = self._mariadb(one)
        if "deletionTimestamp" in one["metadata"]:
            self._clean_up(one, mariadb)
            return None
        if mariadb is None:
            raise self._failed(one, "MariaDB not found")
        if condition(mariadb).get("status") != "True" and not condition(one):
            return 1.0
        self._run(one, mariadb)
        left = self._done_since.setdefault(one["metadata"]["uid"], time.monotonic())
        left += delay(self._kind.upper()) - time.monotonic()
        if left > 0:
            return left
        if self._kind == "Grant":
            one = self._patch(one, {"status": {"currentPrivileges": one["spec"]["privileges"]}}, status=True)
        if self._finalizer not in one["metadata"].get("finalizers", ()):
            finalizers = [*one["metadata"].get("finalizers", ()), self._finalizer]
            one = self._patch(one, {"metadata": {"finalizers": finalizers}})
        self._tell(one, "True", "Created", "Created")
        return None

    def _run(self, one: Object, mariadb: Object) -> None:
        name = one["metadata"]["name"]
        try:
            with self._server(mariadb).connect() as sql:
                try:
                    self._make(one, sql)
                except Failure as error:
                    # The messages are multi-line (1.3).
                    text = f"Error creating {name}: 1 error occurred:\n\t* {error}\n\n"
                    raise self._failed(one, text) from error
        except Refused as error:
            raise self._failed(one, f"Error connecting to MariaDB: {error}") from error

    # ---- SQL

    def _make_database(self, one: Object, sql: Any) -> None:
        spec, name = one["spec"], _sql_name(one)
        # Unescaped, as the real one has it (1.3).
        text = f"CREATE DATABASE IF NOT EXISTS `{name}` CHARACTER SET = '{spec.get('characterSet', 'utf8')}'"
        _do(sql, "creating database in MariaDB", f"{text} COLLATE = '{spec.get('collate', 'utf8_general_ci')}'")

    def _make_user(self, one: Object, sql: Any) -> None:
        spec, name, host = one["spec"], _sql_name(one), one["spec"].get("host", "%")
        who, ref = f"'{name}'@'{host}'", one["spec"].get("passwordSecretKeyRef")
        how = "ACCOUNT LOCK PASSWORD EXPIRE"
        if ref:
            found = self._objects.find("Secret", one["metadata"]["namespace"], ref["name"])
            if found is None:
                raise Failure(f'error reading user password secret: Secret "{ref["name"]}" not found')
            password = content(found, ref["key"])
            if password is None:
                raise Failure(f'error reading user password secret: secret key "{ref["key"]}" not found')
            how = f"IDENTIFIED BY '{password.decode()}'"
        sql.execute("SELECT 1 FROM mysql.user WHERE User = %s AND Host = %s", (name, host))
        if not sql.fetchone():
            _do(sql, "dropping User", f"DROP USER IF EXISTS {who}")
            limit = f"WITH MAX_USER_CONNECTIONS {spec.get('maxUserConnections', 10)}"
            options = f"{how} {limit}" if ref else f"{limit} {how}"
            _do(sql, "creating User", f"CREATE USER IF NOT EXISTS {who} {options}")
        elif ref:
            _do(sql, "altering User", f"ALTER USER {who} {how}")

    def _make_grant(self, one: Object, sql: Any) -> None:
        option = " WITH GRANT OPTION" if one["spec"].get("grantOption") else ""
        privileges = ",".join(one["spec"]["privileges"])
        _do(sql, "granting privileges in MariaDB", f"GRANT {privileges} ON {_scope(one)} TO {_grantee(one)}{option}")

    # ---- life

    def _clean_up(self, one: Object, mariadb: Object | None) -> None:
        """Drop with the policy Delete, as long as the MariaDB is there; else only let go (1.4, b2 to b4)."""
        metadata = one["metadata"]
        if self._finalizer not in metadata.get("finalizers", ()):
            return
        there = mariadb is not None and "deletionTimestamp" not in mariadb["metadata"]
        if there and one["spec"].get("cleanupPolicy", "Delete") == "Delete":
            try:
                with self._server(mariadb or {}).connect() as sql:
                    self._drop(one, sql)
            except Refused as error:
                raise self._failed(one, f"Error connecting to MariaDB: {error}") from error
        rest = [finalizer for finalizer in metadata["finalizers"] if finalizer != self._finalizer]
        try:
            self._patch(one, {"metadata": {"finalizers": rest}})
        except ApiError as error:
            if error.code != 404:
                raise

    def _mariadb(self, one: Object) -> Object | None:
        ref = one["spec"]["mariaDbRef"]
        return self._objects.find("MariaDB", ref.get("namespace", one["metadata"]["namespace"]), ref["name"])

    def _server(self, mariadb: Object) -> Server:
        ref = mariadb["spec"]["rootPasswordSecretKeyRef"]
        found = self._objects.find("Secret", mariadb["metadata"]["namespace"], ref["name"])
        return Server(self._objects, mariadb, content(found or {}, ref["key"]) or b"")

    def _failed(self, one: Object, message: str) -> Failure:
        self._tell(one, "False", "Failed", message)
        return Failure(message)

    def _tell(self, one: Object, status: str, reason: str, message: str) -> None:
        wanted = conditions(one, ("Ready", status, reason, message))
        if one.get("status", {}).get("conditions") != wanted:
            self._patch(one, {"status": {"conditions": wanted}}, status=True)

    def _patch(self, one: Object, body: Object, status: bool = False) -> Object:
        metadata = one["metadata"]
        return self._objects.patch(self._kind, metadata["namespace"], metadata["name"], body, status)


def _do(sql: Any, what: str, statement: str) -> None:

    try:
        sql.execute(statement)
    except pymysql.MySQLError as error:
        raise Failure(f"error {what}: {worded(error)}") from error


def _sql_name(one: Object) -> str:
    name: str = one["spec"].get("name") or one["metadata"]["name"]
    return name


def _scope(grant: Object) -> str:
    parts = grant["spec"].get("database", "*"), grant["spec"].get("table", "*")
    return ".".join(part if part == "*" else f"`{part}`" for part in parts)


def _grantee(grant: Object) -> str:
    return f"'{grant['spec']['username']}'@'{grant['spec'].get('host', '%')}'"


def _drop_database(one: Object, sql: Any) -> None:
    _do(sql, "dropping database in MariaDB", f"DROP DATABASE IF EXISTS `{_sql_name(one)}`")


def _drop_user(one: Object, sql: Any) -> None:
    _do(sql, "dropping user in MariaDB", f"DROP USER IF EXISTS '{_sql_name(one)}'@'{one['spec'].get('host', '%')}'")


def _revoke(one: Object, sql: Any) -> None:
    privileges = ",".join(one["spec"]["privileges"])
    _do(sql, "revoking grant in MariaDB", f"REVOKE {privileges} ON {_scope(one)} FROM {_grantee(one)}")
