# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A MariaDB that is no part of the cluster: the database that a customer has already."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from .bed import Bed, BedError
from .certificates import Authority
from .images import Image, find
from .kubelet.container import Mount, launch
from .kubelet.readiness import listens
from .processes import Processes

PORT = 3306
_IMAGE = "mariadb:11.8.8"
_SOCKET = "/var/lib/mysql/root.sock"
_MYSQL = {"runAsUser": 999, "runAsGroup": 999}
_SUFFIXES = ("", ".svc", ".svc.cluster.local")


class Database:
    """A real server on an address of its own, which pods reach by the name of a Service. Leaving the block removes it.

    It is not up before `start`; its data stay from `stop` to the next start.
    """

    def __init__(
        self,
        bed: Bed,
        namespace: str,
        name: str = "database",
        *,
        tls: bool = False,
        require_secure_transport: bool = False,
        read_only: bool = False,
        snapshot_isolation: bool = False,
        hosts: Sequence[str] | None = None,
        flags: Sequence[str] = (),
        root_password: str = "of the customer's root",
    ) -> None:
        """Prepare it, and make the Service.

        :param namespace: of the Service; pods elsewhere know it as NAME.NAMESPACE.
        :param tls: with a certificate of a CA of its own (`ca`) for the names of the Service; otherwise without TLS.
        :param snapshot_isolation: innodb_snapshot_isolation, which Slurm does not work with and which is on by default.
        :param hosts: names in the certificate instead of the Service's.
        :param flags: more of mariadbd's.
        """
        self._bed, self.namespace, self.name, self.root_password = bed, namespace, name, root_password
        self._directory = self._claim()
        self.address = bed.slot.outside(int(self._directory.name))
        self.host = f"{name}.{namespace}.svc.cluster.local"
        self._processes = Processes(self._directory)
        self._flags = [
            f"--innodb-snapshot-isolation={'ON' if snapshot_isolation else 'OFF'}",
            f"--read-only={'ON' if read_only else 'OFF'}",
            f"--require-secure-transport={'ON' if require_secure_transport else 'OFF'}",
            f"--socket={_SOCKET}",
            *(self._certify(hosts) if tls else ["--skip-ssl"]),
            *flags,
        ]
        (self._directory / "data").mkdir()
        os.chown(self._directory / "data", 999, 999)
        self._service = f"/api/v1/namespaces/{namespace}/services"
        metadata = {"name": name, "annotations": {"bed/address": self.address}}
        bed.api.create(self._service, {"metadata": metadata, "spec": {"clusterIP": "None", "ports": [{"port": PORT}]}})

    # ---- life

    def start(self, seconds: float = 30) -> Database:
        """Start it, and wait until it answers.

        :raises BedError: it does not; the message ends with its log.
        """
        image = find(_IMAGE)
        if image is None or image.start is None:
            raise BedError(f"the bed has no program for {_IMAGE}")
        environment = {"BED_ADDRESS": self.address, "MARIADB_ROOT_PASSWORD": self.root_password}
        command = self._launch(image, [*image.start(self.address, self._flags)], environment)
        self._processes.start("mariadbd", command)
        end = time.monotonic() + seconds
        while not listens(self.address, PORT):
            if time.monotonic() > end or self._processes.ended():
                log = self._processes.log("mariadbd").read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
                self.stop()
                raise BedError("\n  ".join(["the database does not come up; its log ends:", *log]))
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        """End it at once, as a machine that fails."""
        self._processes.stop()

    def remove(self) -> None:
        """End it, and leave neither data nor Service."""
        self.stop()
        shutil.rmtree(self._directory)
        self._bed.api.delete(f"{self._service}/{self.name}")

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    # ---- use

    @property
    def ca(self) -> Path:
        """The certificate of the CA that signed its own."""
        return Authority(self._directory / "pki").certificate

    def sql(self, statements: str) -> list[list[str]]:
        """Rows of what root gets for statements, without headings; NULL is `NULL`.

        :raises BedError: a statement fails; the message is the server's.
        """
        image = find(_IMAGE)
        assert image is not None
        client = ["mariadb", "--batch", "--skip-column-names", "--skip-ssl", f"--socket={_SOCKET}", "--user=root"]
        command = self._launch(image, client, {"MYSQL_PWD": self.root_password})
        answer = subprocess.run(command, input=statements, check=False, capture_output=True, text=True)
        if answer.returncode:
            raise BedError(answer.stderr.strip())
        return [line.split("\t") for line in answer.stdout.splitlines()]

    def account(self, user: str, password: str, *grants: str, require: str = "NONE") -> None:
        """Make an account that may log in from anywhere.

        :param grants: such as `ALL PRIVILEGES ON slurm_acct_db.*`.
        :param require: such as `SSL`.
        """
        statements = [
            f"CREATE USER {_quoted(user)}@'%' IDENTIFIED BY {_quoted(password)} REQUIRE {require}",
            *(f"GRANT {grant} TO {_quoted(user)}@'%'" for grant in grants),
        ]
        self.sql(";\n".join(statements))

    # ---- how

    def _claim(self) -> Path:
        """A folder named by the first number that no other has."""
        databases = self._bed.directory / "databases"
        databases.mkdir(exist_ok=True)
        number = 0
        while True:
            try:
                (databases / str(number)).mkdir()
            except FileExistsError:
                number += 1
                continue
            return databases / str(number)

    def _certify(self, hosts: Sequence[str] | None) -> list[str]:
        own = [f"{self.name}.{self.namespace}{suffix}" for suffix in _SUFFIXES]
        pki = self._directory / "pki"
        Authority.make(pki).server("server", [], [self.name, *own] if hosts is None else hosts)
        for place in (pki, *pki.iterdir()):
            os.chown(place, 999, 999)
        return [f"--ssl-{kind}=/pki/{file}" for kind, file in (("cert", "server.crt"), ("key", "server.key"))]

    def _launch(self, image: Image, command: Sequence[str], environment: dict[str, str]) -> list[str]:
        run = Path(tempfile.mkdtemp(dir=self._directory)) / "run"
        hosts = self._directory / "hosts"
        hosts.write_text("127.0.0.1 localhost\n", encoding="utf-8")
        mounts = [Mount(hosts, "/etc/hosts"), Mount(self._directory / "data", "/var/lib/mysql")]
        if (self._directory / "pki").exists():
            mounts.append(Mount(self._directory / "pki", "/pki", True))
        return launch(run, {}, self.name, command, environment, mounts, _MYSQL, image.root)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
