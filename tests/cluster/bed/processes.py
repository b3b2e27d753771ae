# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bed has started, on disk, so that exactly that is stopped: by process id and start time, never by a name."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process and its group; the start time tells it from a later one with the same number."""

    name: str
    pid: int
    started: str

    def alive(self) -> bool:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)  # one that this Python started and that has ended would stay as a zombie
        stat = _stat(self.pid)
        return stat is not None and stat.started == self.started

    def kill(self) -> None:
        """End the process and all of its group, if it is still the one that was started."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def wait(self, seconds: float) -> bool:
        """Whether it and all of its group have ended within this time."""
        end = time.monotonic() + seconds
        while self.alive() or any(stat.group == self.pid for stat in filter(None, map(_stat, _all()))):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True


@dataclass
class Processes:
    """The processes of one directory: their list `pids`, their logs in `logs/`."""

    directory: Path
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def _list(self) -> Path:
        return self.directory / "pids"

    def all(self) -> list[Process]:
        """In the order they were started."""
        if not self._list.exists():
            return []
        return [Process(**json.loads(line)) for line in self._list.read_text(encoding="utf-8").splitlines()]

    def log(self, name: str) -> Path:
        return self.directory / "logs" / f"{name}.log"

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None, keep: Sequence[int] = ()
    ) -> Process:
        """Start in a session of its own, so that it outlives the shell that asked for it.

        :param keep: file descriptors that it holds open.
        """
        self.log(name).parent.mkdir(exist_ok=True)
        with open(self.log(name), "ab") as log:
            child = subprocess.Popen(
                command,
                cwd=self.directory,
                env=environment,
                pass_fds=keep,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.children.append(child)
        stat = _stat(child.pid)
        process = Process(name, child.pid, stat.started if stat else "")
        with open(self._list, "a", encoding="utf-8") as pids:
            pids.write(json.dumps(vars(process)) + "\n")
        return process

    def ended(self) -> Process | None:
        """The first that has ended by itself, if any has."""
        return next((process for process in self.all() if not process.alive()), None)

    @contextlib.contextmanager
    def paused(self, *names: str) -> Iterator[None]:
        """Let some of them do nothing for a while."""
        processes = [process for process in self.all() if process.name in names]
        for process in processes:
            os.killpg(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.killpg(process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """End them all, the last started first. No one is asked to tidy up: what they hold is thrown away."""
        processes = self.all()[::-1]
        for process in processes:
            process.kill()
        for process in processes:
            if not process.wait(10):
                raise TimeoutError(f"{process.name} (process {process.pid}) does not end")
        for child in self.children:
            child.wait()
        self.children.clear()
        self._list.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Stat:
    group: int
    started: str


def _stat(pid: int) -> _Stat | None:
    """Group and start time (in ticks since the machine started) of a process that lives."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return None if fields[0] in "ZX" else _Stat(int(fields[2]), fields[19])


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
