# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of one container as a process of this machine, and what became of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_INSIDE = Path(__file__).with_name("inside.py")
_MESSAGE_BYTES = 4096
_LOG_BYTES, _LOG_LINES = 2048, 80
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Mount:
    """A file or directory of this machine, and where the container sees it."""

    source: Path
    target: str
    read_only: bool = False


def launch(
    directory: Path,
    spec: Mapping[str, Any],
    hostname: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    mounts: Sequence[Mount],
    identity: Mapping[str, Any],
    root: Path = Path("/"),
) -> list[str]:
    """The command line that starts a container in a directory of its own, which is made.

    :param spec: the container as the pod states it.
    :param identity: the pod's and the container's securityContext, merged.
    :param root: the folder that is its root file system.
    """
    directory.mkdir(parents=True)
    (directory / "layer").mkdir()
    message = directory / "message"
    message.touch()
    message.chmod(0o666)
    place = spec.get("terminationMessagePath", "/dev/termination-log")
    user = identity.get("runAsUser", 0)
    specification = {
        "command": [*command],
        "environment": {"PATH": PATH, "HOME": "/root" if user == 0 else "/", "HOSTNAME": hostname, **environment},
        "folder": spec.get("workingDir", "/"),
        "hostname": hostname,
        "layer": str(directory / "layer"),
        "root": str(root),
        "start_error": str(directory / "start-error"),
        "mounts": [
            {"source": str(m.source), "target": m.target, "read_only": m.read_only}
            for m in (*mounts, Mount(message, place))
        ],
        "user": user,
        "group": identity.get("runAsGroup", 0),
        "groups": [*identity.get("supplementalGroups", ()), *filter(None, [identity.get("fsGroup")])],
    }
    written = directory / "specification.json"
    written.touch(mode=0o600)  # the environment may hold secrets
    written.write_text(json.dumps(specification), encoding="utf-8")
    namespaces = ["unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
    return [*namespaces, sys.executable, "-I", "-S", str(_INSIDE), str(written)]


@dataclass
class Container:
    """A started container. Its directory holds everything that the run needed and left."""

    process: subprocess.Popen[bytes]
    directory: Path
    started: str
    message_policy: str

    @classmethod
    def start(
        cls,
        directory: Path,
        log: Path,
        spec: Mapping[str, Any],
        hostname: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        mounts: Sequence[Mount],
        identity: Mapping[str, Any],
        root: Path = Path("/"),
    ) -> Container:
        """Start it, as `launch` has it; what it says goes to the log."""
        command_line = launch(directory, spec, hostname, command, environment, mounts, identity, root)
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "ab") as output:
            process = subprocess.Popen(command_line, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        return cls(process, directory, now(), spec.get("terminationMessagePolicy", "File"))

    def terminate(self, grace: float) -> None:
        """SIGTERM, and SIGKILL when the grace period is over.

        A runtime says it once. Here it is said again, since the first process of a container does not get a signal that
        it has no handler for yet, and pods come and go faster than theirs have begun.
        """
        end = time.monotonic() + grace
        while self.process.poll() is None and time.monotonic() < end:
            self._tell_to_end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(min(1.0, max(0.0, end - time.monotonic())))
        self.process.kill()  # takes all of the container along: unshare --kill-child
        self.process.wait()

    def _tell_to_end(self) -> None:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        with contextlib.suppress(OSError):
            for child in children.read_text(encoding="ascii").split():
                os.kill(int(child), signal.SIGTERM)

    def result(self, log: Path) -> dict[str, Any]:
        """The state `terminated` of an ended container."""
        code = self.process.returncode
        exit_code = 128 - code if code < 0 else code
        start_error = (self.directory / "start-error").read_text(encoding="utf-8") if self._has_start_error() else ""
        reason = "StartError" if start_error else "Completed" if exit_code == 0 else "Error"
        state = {"exitCode": exit_code, "reason": reason, "startedAt": self.started, "finishedAt": now()}
        text = start_error or _text((self.directory / "message").read_bytes()[:_MESSAGE_BYTES])
        if not text and exit_code and self.message_policy == "FallbackToLogsOnError":
            tail = _text(log.read_bytes()[-_LOG_BYTES:])
            text = "".join(tail.splitlines(keepends=True)[-_LOG_LINES:])
        return state | ({"message": text} if text else {})

    def _has_start_error(self) -> bool:
        place = self.directory / "start-error"
        return place.exists() and place.stat().st_size > 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
