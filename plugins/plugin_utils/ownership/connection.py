# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database connection of Slurm accounting: what effective values must say (ADR-016 section 6, engine.md 5.6)."""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..artifacts.recipe import AccountingMode
from ..errors import AicrError, invalid
from .accounting import DATABASE, SLURM

STORAGE = "accounting.storageConfig"
_KEYS = ("host", "port", "database", "username", "passwordKeyRef")
_REFERENCE_KEYS = ("name", "key")

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DNS_NAME = re.compile(rf"(?!.{{254}}){_LABEL}(?:\.{_LABEL})*\.?")
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9A-Fa-f]*)\.?")
"""What a resolver takes for an address, such as 127.1 or 2130706433: the last label of a DNS name is no number."""
_THIS_MACHINE = re.compile(r"(?:(?:.*\.)?(?:localhost|localdomain)|localhost[46]|ip6-(?:localhost|loopback))\.?", re.I)
_POSTGRES = re.compile(r"(?:^|.*[:+])(?:postgres|postgresql|pgsql)(?:\+\w+)?://.*|.*:5432(?:/.*)?", re.I | re.S)
_DATABASE = re.compile(r"[A-Za-z0-9_]{1,64}")
_USER = re.compile(r"[A-Za-z0-9~!@%^&*()_+={}|\[\]:<>/.,-]{1,32}")
_SECRET = re.compile(r"(?!.{254})[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_SECRET_KEY = re.compile(r"[-._A-Za-z0-9]{1,253}")
_POSTGRES_PORT = 5432

PROVIDED: Mapping[str, Mapping[str, object]] = {
    SLURM: {
        f"{STORAGE}.host": "mariadb",
        f"{STORAGE}.port": 3306,
        f"{STORAGE}.database": "slurm_acct_db",
        f"{STORAGE}.username": "slurm",
        f"{STORAGE}.passwordKeyRef.name": "mariadb-password",
        f"{STORAGE}.passwordKeyRef.key": "password",
    },
    DATABASE: {
        "fullnameOverride": "mariadb",
        "namespaceOverride": "slurm",
        "mariadb.rootPasswordSecretKeyRef.name": "mariadb-root-password",
        "mariadb.rootPasswordSecretKeyRef.key": "root",
        "mariadb.rootPasswordSecretKeyRef.generate": True,
        "mariadb.username": "slurm",
        "mariadb.database": "slurm_acct_db",
        "mariadb.passwordSecretKeyRef.name": "mariadb-password",
        "mariadb.passwordSecretKeyRef.key": "password",
        "mariadb.passwordSecretKeyRef.generate": True,
        "mariadb.cleanupPolicy": "Skip",
        "users": [],
        "databases": [],
        "grants": [],
    },
}
"""Both ends of the connection that ``aicr-provided`` pins: what Slurm uses and what the MariaDB resource makes."""


def value_problems(mode: AccountingMode, values: Mapping[str, Mapping[str, object]]) -> list[AicrError]:
    """Where effective values contradict a mode; empty if nowhere.

    :param values: component name to its values after every override, of the components that will run.
    """
    slurm = values.get(SLURM)
    if mode is AccountingMode.DISABLED:
        if slurm is None or _at(slurm, "accounting.enabled") is False:
            return []
        return [_differs(mode, SLURM, "accounting.enabled", False, _at(slurm, "accounting.enabled"))]
    if slurm is None:
        return [_absent(mode, SLURM)]
    problems = []
    if _at(slurm, "accounting.enabled") is not True:
        problems.append(_differs(mode, SLURM, "accounting.enabled", True, _at(slurm, "accounting.enabled")))
    if mode is AccountingMode.CUSTOMER_MANAGED:
        return [*problems, *map(_wrong, connection_problems(_at(slurm, STORAGE)))]
    for component, contract in PROVIDED.items():
        present = values.get(component)
        if present is None:
            problems.append(_absent(mode, component))
            continue
        for path, due in contract.items():
            found = _at(present, path)
            if type(found) is not type(due) or found != due:
                problems.append(_differs(mode, component, path, due, found))
    return problems


class Wrong(NamedTuple):
    """What is wrong about a connection.

    :ivar key: where in it, with dots; empty for all of it.
    :ivar what: the predicate of a sentence about that place. It holds no value but that of a host.
    :ivar hint: the way out.
    """

    key: str
    what: str
    hint: str


def connection_problems(connection: object) -> Iterator[Wrong]:
    """A connection is closed, complete, and such that slurmdbd can read and use it (slurm-accounting.md 2.4, 4.4).

    :param connection: host, port, database, username, and passwordKeyRef with name and key.
    """
    if not isinstance(connection, Mapping):
        yield Wrong("", "must be a mapping", f"give {', '.join(_KEYS)}")
        return
    reference = connection.get("passwordKeyRef")
    for key in connection:
        if key not in _KEYS:
            yield Wrong(str(key), "is not part of the connection contract", f"its keys are {', '.join(_KEYS)}")
    for key in reference if isinstance(reference, Mapping) else ():
        if key not in _REFERENCE_KEYS:
            yield Wrong(
                f"passwordKeyRef.{key}",
                "is not part of the connection contract",
                "name a Secret by name and key; a password itself has no place in values",
            )
    port = connection.get("port")
    whole = type(port) is int or (type(port) is float and port.is_integer())
    if not (whole and isinstance(port, (int, float)) and 1 <= port <= 65535):
        yield Wrong("port", "must be a whole number from 1 to 65535", "MariaDB and MySQL listen on 3306")
    elif port == _POSTGRES_PORT:
        yield Wrong("port", f"is {_POSTGRES_PORT}, the port of PostgreSQL,", "slurmdbd speaks to MariaDB or MySQL only")
    yield from _host_problems(connection.get("host"))
    texts = {
        "database": (connection.get("database"), _DATABASE, "letters, digits and _, at most 64"),
        "username": (connection.get("username"), _USER, "1 to 32 characters, no blank, quote, #, ; or backslash"),
    }
    held = reference if isinstance(reference, Mapping) else {}
    texts["passwordKeyRef.name"] = (held.get("name"), _SECRET, "the name of a Secret")
    texts["passwordKeyRef.key"] = (held.get("key"), _SECRET_KEY, "a key of that Secret")
    for key, (text, form, hint) in texts.items():
        if not isinstance(text, str) or not text.strip():
            yield Wrong(key, "must be text that is not empty", hint)
        elif not form.fullmatch(text):
            yield Wrong(key, "has characters that slurmdbd or Kubernetes do not take", hint)


def _host_problems(host: object) -> Iterator[Wrong]:
    if not isinstance(host, str) or not host.strip():
        yield Wrong(
            "host", "must be text that is not empty", "give the name that the database has inside the cluster's network"
        )
    elif _POSTGRES.fullmatch(host):
        yield Wrong(
            "host",
            "is an address of PostgreSQL",
            "slurmdbd speaks to MariaDB or MySQL only; give the host of one alone",
        )
    elif "://" in host:
        yield Wrong(
            "host",
            "is a URL where a mere host name is due",
            "slurmdbd speaks to MariaDB or MySQL only; leave the scheme out",
        )
    elif _is_elsewhere_another(host):
        yield Wrong(
            "host",
            f'is "{host}", which is not the same machine from every node',
            "give a name that resolves everywhere",
        )
    elif _address(host) is None and (not _DNS_NAME.fullmatch(host) or _NUMBER.fullmatch(host)):
        yield Wrong("host", "is neither a DNS name nor an address", "give the host alone, without port, user or path")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    # A zone, as in fe80::1%eth0, is the name of an interface of one machine.
    return None if "%" in host else address


def _is_elsewhere_another(host: str) -> bool:
    """Whether a host is this machine, this link, or no single machine (case S11)."""
    if _THIS_MACHINE.fullmatch(host):
        return True
    address = _address(host.rstrip(".").partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if address is None:
        return False
    local = address.is_loopback or address.is_unspecified or address.is_link_local or address.is_multicast
    return local or (isinstance(address, ipaddress.IPv4Address) and address.is_reserved)


def _at(values: Mapping[str, object], path: str) -> object:
    found: object = values
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _wrong(wrong: Wrong) -> AicrError:
    path = f"{STORAGE}.{wrong.key}".rstrip(".")
    message = f"{SLURM}:{path} {wrong.what} in accounting mode customer-managed"
    return invalid(message, wrong.hint, component=SLURM, path=path)


def _differs(mode: AccountingMode, component: str, path: str, due: object, found: object) -> AicrError:
    shown = "is absent" if found is None else "differs"
    return invalid(
        f"{component}:{path} {shown} where accounting mode {mode.value} pins it to {_literal(due)}",
        "leave this path to the accounting mode, or generate the recipe with another one",
        component=component,
        path=path,
    )


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _absent(mode: AccountingMode, component: str) -> AicrError:
    return invalid(
        f"accounting mode {mode.value} needs component {component}, which is not in the output",
        "keep the component, or generate the recipe with another accounting mode",
        component=component,
    )
