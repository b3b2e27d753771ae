# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deployment while it runs, to be killed in the middle: all of it, ansible-playbook alone, or one helm of it."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.deployments import DEPLOY, Deployments

T = TypeVar("T")
SECONDS = 300.0


class Running:
    """A run of the playbook deploy."""

    def __init__(self, deployments: Deployments, variables: dict[str, object]) -> None:
        self.helm = str(deployments.common["aicr_helm"])
        self._file = deployments.ansible.folder / "output"
        arguments = ("-i", "cluster,", "-e", deployments.given(variables), DEPLOY)
        self._process = deployments.ansible.start(self._file, "ansible-playbook", *arguments)

    @property
    def output(self) -> str:
        """What it has said until now."""
        return self._file.read_text(encoding="utf-8", errors="replace")

    def until(self, check: Callable[[], T]) -> T:
        """Wait for something to be true.

        :raises AssertionError: the run has ended before.
        """

        def checked() -> T:
            ended = self._process.poll() is not None
            found = check()
            assert found or not ended, self.output
            return found

        return eventually(checked, SECONDS)

    def until_task(self, name: str, times: int = 1) -> None:
        """Wait until a task has begun, for the so-manieth time."""
        self.until(lambda: self.output.count(f"TASK [{name}]") >= times)

    def end(self) -> int:
        """Wait until it ends by itself.

        :returns: its exit code.
        """
        return self._process.wait(SECONDS)

    def helm_of(self, release: str) -> int:
        """The process that works on a release."""
        wanted = [self.helm, "upgrade", release]
        return next(pid for pid in _descendants(self._process.pid) if _arguments(pid)[:3] == wanted)

    def kill(self) -> None:
        """All of it at once, as when its machine or its container goes."""
        stopped: set[int] = set()
        while new := {self._process.pid, *_descendants(self._process.pid)} - stopped:
            for pid in new:  # what is stopped starts nothing more
                _send(pid, signal.SIGSTOP)
            stopped |= new
        for pid in stopped:
            _send(pid, signal.SIGKILL)
        self._process.wait()

    def kill_ansible(self) -> None:
        """It alone: the worker of a task, and the helms that it has started, are left."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()


def is_over(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has taken note."""
    return _stat(pid)[:1] in ([], ["Z"])


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _descendants(root: int) -> set[int]:
    parents = {pid: int(stat[1]) for pid in _all() if (stat := _stat(pid))}
    found, new = set[int](), {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


def _all() -> Iterator[int]:
    return (int(place.name) for place in Path("/proc").glob("[0-9]*"))


def _stat(pid: int) -> list[str]:
    """State, parent and more; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return []


def _arguments(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
    except OSError:
        return []
