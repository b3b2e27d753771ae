# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Temporary folders for what nobody else may read, which do not outlast their process for long, however that one ends.

A process that is killed removes nothing. So each folder holds a file that stays locked while a process works in it, and
whoever makes the next folder first removes those whose lock is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PREFIX = "aicr-"
LOCK = ".lock"

_UNLOCKED = ".lock.new"
_LEAST = 10
"""No shell that inherits the lock uses a descriptor from here on by its number."""


@dataclass(frozen=True)
class PrivateFolder:
    """A folder of ours.

    :ivar lock: a descriptor. Every process that has it keeps the folder, so one that may outlive this process must
        inherit it (``pass_fds``).
    """

    path: Path
    lock: int


@contextlib.contextmanager
def private_folder(kind: str) -> Iterator[PrivateFolder]:
    """A folder for this user alone, which goes with the block; those that dead processes left go first.

    :param kind: a word for its name.
    :raises OSError: it cannot be made.
    """
    sweep(Path(tempfile.gettempdir()))
    path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}-"))
    try:
        lock = _locked(path)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    try:
        yield PrivateFolder(path, lock)
    finally:
        with contextlib.suppress(OSError):  # what cannot be removed keeps its lock file, and is tried again
            _remove(path)
        os.close(lock)


def sweep(parent: Path) -> None:
    """Remove the folders that processes of this user have left, and nothing else. It never fails."""
    try:
        names = [name for name in os.listdir(parent) if name.startswith(PREFIX)]
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            _sweep_one(parent / name)


def _locked(path: Path) -> int:
    """The descriptor of the lock of a new folder. The file has its name only once it is locked: nobody may find it
    free before."""
    opened = os.open(path / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        descriptor = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _LEAST)
    finally:
        os.close(opened)
    with contextlib.suppress(OSError):  # a file system without locks: then nobody can tell whether it is in use
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (path / _UNLOCKED).rename(path / LOCK)
    return descriptor


def _sweep_one(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mine = os.fstat(lock)
        if not stat.S_ISREG(mine.st_mode) or mine.st_uid != os.geteuid():
            return
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(mine, (path / LOCK).lstat()):  # else another sweeper was quicker
            _remove(path)
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    """Remove a folder whose lock is held, and the file of the lock last: without it nobody would try again."""
    for name in os.listdir(path):
        with contextlib.suppress(OSError):  # the next one may be the one with the credential
            inner = path / name
            if stat.S_ISDIR(inner.lstat().st_mode):
                shutil.rmtree(inner)
            elif name != LOCK:
                inner.unlink()
    if set(os.listdir(path)) <= {LOCK}:
        (path / LOCK).unlink(missing_ok=True)
        path.rmdir()
