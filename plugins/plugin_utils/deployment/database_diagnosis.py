# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the probe of a database has brought home, judged by number and name (spec/slurm-accounting.md 4.5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ..errors import AicrError, Code
from .database import Database
from .database_server import Facts, server_findings
from .finding import Finding, Outcome, Severity

_COMPLAINT = re.compile(r"ERROR (\d+)(?: \(\w+\))?(?: at line \d+)?: (.*)")
_NO_DATABASE, _NO_RIGHT, _DENIED, _INSECURE = 1049, 1044, 1045, 3159
_NOT_UPGRADED = frozenset((1548, 1558, 1728))
_NO_SUCH_FUNCTION = 1305
"""MySQL before 8 has no roles."""
_TLS_LESS = "server does not support"


def diagnose(answer: str, database: Database) -> list[Finding]:
    """Everything that is to be said of a database; what fails comes first.

    :param answer: what ``database_probe.sh`` said.
    :raises AicrError: SERVICE_UNAVAILABLE for anything that is no such answer.
    """
    findings = _findings(_read(answer, database), database)
    return sorted(findings, key=lambda one: list(Severity).index(one.severity))


def _read(answer: str, database: Database) -> dict[str, str]:
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or "login" not in said or not all(isinstance(one, str) for one in said.values()):
        raise AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"{database.place}: the answer of the probe is of no use",
            "does its image have bash, timeout and the client mariadb?",
        )
    return said


def _findings(said: Mapping[str, str], database: Database) -> Iterator[Finding]:
    number = _number(said["login"])
    if said["login"] and number != _NO_DATABASE:
        yield _refusal(number, said, database)
    if "facts" not in said:
        return
    facts, unread = Facts(said["facts"]), said.get("unread", "")
    if facts["version"]:
        # Without any right it has none of the single ones, and sees no database: that has been said.
        known = (Outcome.MISSING_RIGHTS, Outcome.MISSING_DATABASE) if number == _NO_RIGHT else ()
        yield from (one for one in server_findings(facts, database) if one.outcome not in known)
    if unread:
        yield from _unread(unread, facts, database)
    if "clear" in said:
        yield from _clear_text(said["clear"], database)


def _refusal(number: int, said: Mapping[str, str], database: Database) -> Finding:
    """Why there was no login."""
    where, user, text = database.place, database.user, _tail(said["login"])
    match number:
        case 2002 | 2003:
            return _failure(
                Outcome.UNREACHABLE,
                f"{where}: cannot be reached from namespace {database.namespace}: {said.get('tcp') or text}",
                "is the server up, has its Service endpoints, and do NetworkPolicies and firewalls let pods reach it?",
            )
        case 2012 | 2013 | 2027 | 1053:
            return _failure(
                Outcome.UNREACHABLE,
                f"{where}: something listens there but does not speak as a database does: {text}",
                "is it starting or stopping, is the port right, or does a proxy answer?",
            )
        case 2005:
            return _failure(
                Outcome.UNKNOWN_HOST,
                f"{where}: the name {database.host} is not known in namespace {database.namespace}",
                "a Service of another namespace is NAME.NAMESPACE.svc; else see to the DNS of the cluster",
            )
        case 1045:
            return _denied(said, database)
        case 3159:
            return _tls_required(database, "the server takes no connection in clear text")
        case 2026 if _TLS_LESS in text:
            return _failure(
                Outcome.TLS_UNAVAILABLE, f"{where}: the server has no TLS, which is required", "give it a certificate"
            )
        case 2026:
            return _failure(
                Outcome.TLS_UNVERIFIABLE,
                f"{where}: the server's certificate is not accepted: {text}",
                f"name the CA that signed it; {database.host} must be a name in it",
            )
        case 1044:
            return _failure(
                Outcome.NO_RIGHT_ON_DATABASE,
                f"{where}: user {user} has no right on database {database.name}, or there is none of that name",
                f"CREATE DATABASE `{database.name}`; GRANT ALL PRIVILEGES ON `{database.name}`.* TO '{user}'@'%'",
            )
        case 1040 | 1203 | 1226:
            return _failure(
                Outcome.TOO_MANY_CONNECTIONS,
                f"{where}: it takes no further connection: {text}",
                "the User of mariadb-operator may have 20 (maxUserConnections); who uses them?"
                if database.provided
                else "raise max_connections, or the limit of the account; who uses them?",
            )
        case 1129 | 1130:
            return _failure(
                Outcome.HOST_REFUSED,
                f"{where}: it refuses the address that pods of namespace {database.namespace} come from: {text}",
                f"the account must be '{user}'@'%', or name that network; FLUSH HOSTS lifts a block",
            )
        case 1290 | 1836:
            return _failure(Outcome.READ_ONLY, f"{where}: it only reads: {text}", "name the primary server")
        case 1820 | 1862 | 3118 | 4151:
            return _failure(
                Outcome.ACCOUNT_UNUSABLE, f"{where}: user {user} cannot be used: {text}", "ALTER USER lifts that"
            )
    if "no answer within" in text:
        return _failure(
            Outcome.UNREACHABLE, f"{where}: the server takes the connection, and then is silent", "see what keeps it"
        )
    return _failure(Outcome.FAILED, f"{where}: the login failed: {text}", "")


def _denied(said: Mapping[str, str], database: Database) -> Finding:
    """1045 has three meanings; where a login with TLS was tried as well, fewer are left."""
    user, encrypted = database.user, said.get("encrypted")
    if encrypted == "" or _number(encrypted or "") in (_NO_RIGHT, _NO_DATABASE):
        return _tls_required(database, f"user {user} is refused in clear text, and let in with TLS")
    meanings = f"the user or the password is wrong ({database.password})"
    if encrypted is not None and _number(encrypted) != _DENIED:
        meanings += ", the account has REQUIRE SSL, or the server has require_secure_transport (MariaDB before 11)"
    secret = f"kubectl -n {database.namespace} label --overwrite secret {database.password.name}"
    if database.provided:
        hint = (
            f'after a rotation {secret} k8s.mariadb.com/watch="" has the operator take the new password over; if User '
            "and Grant are not Ready, the root password may be wrong: once its Secret is right, "
            f"kubectl -n {database.namespace} delete secret internal-mariadb"
        )
    else:
        hint = f"ALTER USER '{user}'@'%' IDENTIFIED BY …, or put the right password into the Secret"
    message = f"{database.place}: user {user} was refused ({_tail(said['login'])}): {meanings}"
    return _failure(Outcome.WRONG_PASSWORD, message, hint)


def _tls_required(database: Database, why: str) -> Finding:
    return _failure(
        Outcome.TLS_REQUIRED,
        f"{database.place}: {why}, and slurmdbd without a CA uses clear text",
        "give the CA of the server: StorageParameters=SSL_CA=… for slurmdbd, and tls.mode required for this probe",
    )


def _unread(unread: str, facts: Facts, database: Database) -> Iterator[Finding]:
    numbers = {int(number) for number, _text in _COMPLAINT.findall(unread)}
    if numbers & _NOT_UPGRADED:
        yield _failure(
            Outcome.NOT_UPGRADED,
            f"{database.place}: the system tables are of another version than the server: {_tail(unread)}",
            "run mariadb-upgrade; slurmdbd uses stored procedures",
        )
    elif not facts["version"]:  # a second login was refused, or nothing but the login is allowed
        yield _refusal(_number(unread), {"login": unread}, database)
    elif numbers != {_NO_SUCH_FUNCTION}:
        text = f"{database.place}: not everything could be read: {_tail(unread)}"
        yield Finding(Outcome.UNREADABLE, Severity.WARNING, text)


def _clear_text(refusal: str, database: Database) -> Iterator[Finding]:
    """TLS that the client alone wants is lost as soon as somebody takes it out of the way."""
    if _number(refusal) in (_DENIED, _INSECURE):
        return
    how = f"could not be tried without TLS: {_tail(refusal)}" if refusal else "was let in without TLS as well"
    yield Finding(
        Outcome.CLEAR_TEXT_ACCEPTED,
        Severity.WARNING,
        f"{database.place}: user {database.user} {how}; slurmdbd falls back to clear text where TLS is missing",
        f"ALTER USER '{database.user}'@'%' REQUIRE SSL, or require_secure_transport=ON in the server",
    )


def _failure(outcome: Outcome, message: str, hint: str) -> Finding:
    return Finding(outcome, Severity.FAILURE, message, hint)


def _number(text: str) -> int:
    match = _COMPLAINT.search(text)
    return int(match[1]) if match else 0


def _tail(text: str) -> str:
    """What the client complains of, without its numbers and without what it was asked."""
    complaints = [said for _unused, said in _COMPLAINT.findall(text)]
    return " ".join("; ".join(dict.fromkeys(complaints)).split()) or " ".join(text.split())
