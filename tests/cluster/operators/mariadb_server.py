# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A login to the server of a MariaDB, with errors in the words of the real operator's driver."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pymysql

from ..bed.api import Object
from .objects import Objects, content

_STATES = {1044: "42000", 1045: "28000", 1064: "42000", 1115: "42000", 1133: "28000", 1227: "42000", 1396: "HY000"}
_TIMEOUT = 5.0


class Refused(Exception):
    """The server, or the way to it, refused; the message is the driver's text."""


class Server:
    """The server behind the Service of a MariaDB, as root."""

    def __init__(self, objects: Objects, mariadb: Object, password: bytes) -> None:
        self._objects, self._mariadb, self._password = objects, mariadb, password

    @contextlib.contextmanager
    def connect(self) -> Iterator[Any]:
        """A cursor of a connection that ends with the block.

        :raises Refused: no connection, no login, or a statement that failed.
        """
        metadata, spec = self._mariadb["metadata"], self._mariadb["spec"]
        namespace, name, port = metadata["namespace"], metadata["name"], spec["port"]
        service = self._objects.find("Service", namespace, name) or {"spec": {"clusterIP": ""}}
        address = service["spec"]["clusterIP"]
        tls = None
        if spec["tls"].get("enabled"):
            bundle = content(self._objects.find("Secret", namespace, f"{name}-ca-bundle") or {}, "ca.crt") or b""
            tls = ssl.create_default_context(cadata=bundle.decode())
        try:
            connection = pymysql.Connection(
                host=f"{name}.{namespace}.svc.cluster.local",
                user="root",
                password=self._password.decode(),
                ssl=tls,
                autocommit=True,
                read_timeout=30,
                write_timeout=30,
                defer_connect=True,
            )
            connection.connect(socket.create_connection((address, port), _TIMEOUT))
        except OSError as error:  # also TLS's
            raise Refused(_dialed(error, address, port)) from error
        except pymysql.MySQLError as error:
            cause = error.__context__ if isinstance(error.__context__, OSError) else None
            raise Refused(_dialed(cause, address, port) if cause else worded(error)) from error
        try:
            with connection.cursor() as cursor:
                yield cursor
        except pymysql.MySQLError as error:
            raise Refused(worded(error)) from error
        finally:
            connection.close()


def worded(error: pymysql.MySQLError) -> str:
    """As go-sql-driver has it: `Error 1045 (28000): Access denied …` (operators.md 1.3)."""
    number, text = (*error.args, "")[:2] if error.args else (0, str(error))
    return f"Error {number} ({_STATES.get(number, 'HY000')}): {text}"


def _dialed(error: OSError, address: str, port: int) -> str:
    if isinstance(error, ssl.SSLError):
        return f"tls: failed to verify certificate: x509: {getattr(error, 'verify_message', '') or error.reason}"
    if isinstance(error, ConnectionRefusedError):
        return f"dial tcp {address}:{port}: connect: connection refused"
    if isinstance(error, TimeoutError):
        return f"dial tcp {address}:{port}: i/o timeout"
    return "driver: bad connection"
