# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run helm: a room of its own for each task, nothing of the environment, no credential among the arguments.

Helm 3 and 4 are told apart by asking once; what differs between them stands here.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..errors import AicrError, Code, invalid
from ..private_folder import PrivateFolder, private_folder
from .connection import Connection
from .helm_error import essence, explained
from .helm_login import kubeconfig_of
from .helm_watch import let_go, watched

_Started = TypeVar("_Started")

MINIMUM = (3, 13)
"""The first one with ``--labels`` and ``--dry-run=server``."""
TAKE_OWNERSHIP = (3, 17)
"""The first one with ``--take-ownership``."""
TELL_SECONDS = 15.0
GRACE_SECONDS = 20.0
"""How long a helm that was told to end may take to write down that it did not succeed."""

_LATE_SECONDS = 10.0
_PASSED = ("PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_VERSION = re.compile(r"v(\d+)\.(\d+)")


@dataclass(frozen=True)
class Settings:
    """How helm is run.

    :ivar program: the path of it; ``None`` takes the one on ``PATH``.
    :ivar timeout: seconds for one release.
    :ivar cache: the folder that charts are kept in; ``None`` keeps them for this task alone.
    :ivar registry_config: the file with the credentials of registries.
    """

    program: str | None = None
    timeout: float = 600.0
    cache: str | None = None
    registry_config: str | None = None


@dataclass(frozen=True)
class Upgrade:
    """What helm is to bring about.

    :ivar chart: a path, an address in a registry, or a name in ``repository``.
    :ivar values: everything that differs from the chart's own values.
    :ivar labels: of the release; ``None`` takes one away.
    :ivar secrets: texts that must not be shown.
    """

    namespace: str
    name: str
    chart: str
    version: str
    values: Mapping[str, Any]
    repository: str | None = None
    labels: Mapping[str, str | None] | None = None
    take_ownership: bool = False
    secrets: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"release {self.namespace}/{self.name}"


class Helm:
    """One helm, for several releases at once. Get one by :func:`open_helm`."""

    def __init__(
        self,
        connection: Connection,
        settings: Settings,
        folder: PrivateFolder,
        environ: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:
        self._connection, self._settings, self._folder, self._tell = connection, settings, folder, tell
        self._room = folder.path
        self._environ = _environment(environ, self._room, settings)
        self._program = _program(settings.program, environ)
        self._lock = threading.Lock()
        self._count = 0
        self._at_work: list[subprocess.Popen[bytes]] = []
        self._ended = False
        self._seen = self._probe()

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor."""
        return self._seen

    @property
    def timeout(self) -> float:
        """Seconds for one release."""
        return self._settings.timeout

    def upgrade(self, upgrade: Upgrade) -> None:
        """Install or upgrade a release, in force; its hooks are awaited, its pods are not.

        :raises AicrError: see :func:`helm_error.explained`; TIMEOUT if it had to be ended.
        """
        self._run(self._arguments(upgrade), upgrade)

    def rehearse(self, upgrade: Upgrade) -> str:
        """The objects that :meth:`upgrade` would render on this cluster as it is; nothing is written.

        :raises AicrError: see :meth:`upgrade`.
        """
        output = self._run([*self._arguments(upgrade), "--dry-run=server", "--output=json"], upgrade)
        try:
            return str(json.loads(output[output.index(b"{") :])["manifest"])
        except (ValueError, KeyError, TypeError):
            raise AicrError(
                Code.INTERNAL, f"{upgrade}: helm answered a dry run with something else than JSON"
            ) from None

    def _arguments(self, upgrade: Upgrade) -> list[str]:
        if upgrade.take_ownership and self._seen < TAKE_OWNERSHIP:
            raise AicrError(
                Code.SERVICE_UNAVAILABLE,
                f"{upgrade}: helm {'.'.join(map(str, self._seen))} cannot take over objects that are there already",
                f"use helm {'.'.join(map(str, TAKE_OWNERSHIP))} or newer, or helm 4",
            )
        labels = ",".join(
            f"{name}={'null' if value is None else value}" for name, value in (upgrade.labels or {}).items()
        )
        return [
            "upgrade",
            upgrade.name,
            upgrade.chart,
            "--install",
            "--reset-values",
            f"--namespace={upgrade.namespace}",
            f"--version={upgrade.version}",
            f"--timeout={self._settings.timeout:.3f}s",
            *([f"--repo={upgrade.repository}"] if upgrade.repository else ()),
            *([f"--labels={labels}"] if labels else ()),
            *(["--take-ownership"] if upgrade.take_ownership else ()),
        ]

    def uninstall(self, namespace: str, name: str) -> None:
        """Remove a release, and wait until all of it is gone, dependents first.

        :raises AicrError: see :meth:`upgrade`.
        """
        # The watcher of helm 4 takes what is still ending for an error, long before the time is up.
        wait = "--wait=legacy" if self.version >= (4, 0) else "--wait"
        arguments = [
            "uninstall",
            name,
            wait,
            "--cascade=foreground",
            f"--namespace={namespace}",
            f"--timeout={self._settings.timeout:.3f}s",
        ]
        self._logged_in(arguments, f"release {namespace}/{name}", frozenset())

    def _run(self, arguments: Sequence[str], upgrade: Upgrade) -> bytes:
        """Its output; values travel by a file that goes when it has ended."""
        with self._file("values", upgrade.values) as values:
            return self._logged_in([*arguments, f"--values={values}"], str(upgrade), upgrade.secrets)

    def _logged_in(self, arguments: Sequence[str], name: str, secrets: frozenset[str]) -> bytes:
        """Its output; credentials travel by a file that goes when it has ended.

        :param name: what it works on.
        """
        self._connection.renew(self._connection.login)  # a token of an exec plugin must outlast this one helm
        with self._file("kubeconfig", kubeconfig_of(self._connection.login)) as kubeconfig:
            command = [self._program, *arguments, f"--kubeconfig={kubeconfig}"]
            output, said, code = self._watched(command, name, secrets)
        if code:
            raise explained(said, name, secrets)
        return output

    def _watched(self, command: Sequence[str], name: str, secrets: frozenset[str]) -> tuple[bytes, str, int]:
        begun = time.monotonic()
        limit = self._settings.timeout + _LATE_SECONDS
        with self._lock:
            if self._ended:
                raise AicrError(Code.TIMEOUT, f"{name}: was not begun, since its task was ended")
            process, held = self._starting(lambda: watched(command, self._folder, self._environ, GRACE_SECONDS))
            self._at_work.append(process)
        try:
            while True:
                left = begun + limit - time.monotonic()
                try:
                    output, said = process.communicate(timeout=max(0.0, min(TELL_SECONDS, left)))
                except subprocess.TimeoutExpired:
                    passed = time.monotonic() - begun
                    if passed < limit:
                        self._tell(
                            f"{self._connection.name}: {name}: helm has worked for {passed:.0f} s, "
                            f"{limit - passed:.0f} s are left"
                        )
                        continue
                    last = _end(process)
                    raise AicrError(
                        Code.TIMEOUT,
                        f"{name}: helm did not end within {limit:.0f} s and was stopped"
                        + (f": {essence(last, secrets)}" if last.strip() else ""),
                        "see what its hooks or the API server wait for, or allow more time",
                    ) from None
                return output, said.decode(errors="replace"), process.returncode
        except BaseException:
            _end(process)  # whoever ends this task must not leave a helm at work
            raise
        finally:
            with self._lock:
                self._at_work.remove(process)
            let_go(held)

    def end(self) -> None:
        """Ask every helm to end that is at work, in whatever thread, and begin no further one."""
        with self._lock:
            self._ended = True
            at_work = list(self._at_work)
        for process in at_work:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)

    def _starting(self, start: Callable[[], _Started]) -> _Started:
        try:
            return start()
        except OSError as error:
            raise AicrError(
                Code.SERVICE_UNAVAILABLE,
                f"{self._program}: cannot be run: {error.strerror}",
                "name the path of helm 3 or 4",
            ) from error

    def _probe(self) -> tuple[int, int]:
        process = self._starting(
            lambda: subprocess.Popen(
                [self._program, "version", "--template={{.Version}}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._room,
                env=self._environ,
                start_new_session=True,
                pass_fds=[self._folder.lock],
            )
        )
        try:
            output, _said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            _end(process)
            output = b""
        found = _VERSION.search(output.decode(errors="replace"))
        if process.returncode or found is None:
            raise AicrError(
                Code.SERVICE_UNAVAILABLE, f"{self._program}: does not say its version", "is it helm 3 or 4?"
            )
        version = int(found[1]), int(found[2])
        if version < MINIMUM:
            raise AicrError(
                Code.SERVICE_UNAVAILABLE,
                f"{self._program}: is helm {found[1]}.{found[2]}, which does not know labels of a release",
                f"use helm {MINIMUM[0]}.{MINIMUM[1]} or newer, or helm 4",
            )
        return version

    @contextlib.contextmanager
    def _file(self, name: str, document: object) -> Iterator[Path]:
        """A file of JSON, which helm reads as YAML, for our eyes alone."""
        with self._lock:
            self._count += 1
            path = self._room / f"{name}-{self._count}.json"
        path.touch(0o600)
        try:
            path.write_text(json.dumps(document), encoding="utf-8")
            yield path
        finally:
            path.unlink()


@contextlib.contextmanager
def open_helm(
    connection: Connection, settings: Settings, environ: Mapping[str, str], tell: Callable[[str], None]
) -> Iterator[Helm]:
    """A helm that can be used; its files go with the block.

    :param environ: where ``PATH`` and the proxies stand.
    :param tell: takes a line about the progress, every 15 seconds.
    :raises AicrError: SERVICE_UNAVAILABLE if there is none, or one that is too old; INVALID_REQUEST for a file that is
        not there.
    """
    if settings.registry_config and not Path(settings.registry_config).is_file():
        raise invalid(f"registry_config: {settings.registry_config} is no file", "helm registry login writes one")
    with private_folder("helm") as folder:
        yield Helm(connection, settings, folder, environ, tell)


def _program(named: str | None, environ: Mapping[str, str]) -> str:
    found = shutil.which(named or "helm", path=environ.get("PATH"))
    if found is None:
        raise AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"{named or 'helm'}: there is no such program" + ("" if named else " on PATH"),
            "install helm 3 or 4 on the controller, or name its path in the option helm",
        )
    return os.path.abspath(found)


def _environment(environ: Mapping[str, str], room: Path, settings: Settings) -> dict[str, str]:
    """Nothing ambient: no variable of Helm's, no kubeconfig, no plugin, nobody's home."""
    passed = {name: environ[name] for name in _PASSED if environ.get(name)}
    passed |= {name: value for name, value in environ.items() if name.upper() in _PROXIES}
    homes = {f"HELM_{kind}_HOME": str(room / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    if settings.cache:
        homes["HELM_CACHE_HOME"] = os.path.abspath(settings.cache)
    if settings.registry_config:
        homes["HELM_REGISTRY_CONFIG"] = os.path.abspath(settings.registry_config)
    return {**passed, "HOME": str(room), **homes}


def _end(process: subprocess.Popen[bytes]) -> str:
    """End a helm and what it started: asked first, so that it writes down what became of the release.

    :returns: what it said in the end.
    """
    if process.poll() is not None:
        return ""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=GRACE_SECONDS)[1].decode(errors="replace")
    return ""
