# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and directories that appear whole or not at all.

A sibling is built, the old one is moved aside, the sibling is renamed, the old one is removed. A run that is killed in
between leaves an orphan beside the target, which the next run puts back or clears away (docs/architecture.md, *Written
whole*).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import AicrError, Code, conflict, internal, invalid

FOLDER_MODE = 0o755

_STRETCH = 65_536

_SEGMENT = re.compile(r"[^/\\\x00-\x1f\x7f]{1,255}")


@dataclass(frozen=True)
class FileContent:
    """One file of a tree: its bytes, and whether it may be executed."""

    content: bytes
    executable: bool = False

    @property
    def mode(self) -> int:
        """The permission bits that the file gets."""
        return 0o755 if self.executable else 0o644


Tree = Mapping[str, FileContent]
"""A directory by POSIX path relative to its root."""


def write_file(path: Path, content: bytes | str, mode: int = 0o644) -> None:
    """Replace or create a file; readers see the old content or the new one, never a part.

    :param content: text is written as UTF-8, stretch by stretch, so that a large one is not in memory twice.
    :raises AicrError: INVALID_REQUEST if something else than a file stands there, or the place does not exist or may
        not be written.
    """
    refuse_special(path)
    sibling = path.with_name(f".{path.name}.new-{os.getpid()}")
    try:
        _write(sibling, content, mode, synced=True)
        sibling.replace(path)
    except BaseException as error:
        _forget(sibling)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


def refuse_special(path: Path) -> None:
    """Refuse a place at which :func:`write_file` can write no file; touches nothing, and opens nothing.

    :raises AicrError: INVALID_REQUEST for a directory, a pipe, a socket, a device, and for what can be no path.
    """
    mode = _mode(path)
    if mode is not None and stat.S_ISLNK(mode):
        try:
            mode = path.stat().st_mode
        except OSError:
            mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise invalid(f"{path}: is a directory, so no file can be written there", "name a file as dest")
    if mode is not None and not stat.S_ISREG(mode):
        raise invalid(f"{path}: is no regular file", "name a file as dest")


def make_folder(path: Path) -> None:
    """Make a directory with its parents; what is new gets the same permissions whatever the umask is.

    :raises AicrError: INVALID_REQUEST if it cannot be made.
    """
    try:
        _make_folder(path)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from error


def replace_tree(destination: Path, tree: Tree, is_ours: Callable[[Path], bool]) -> None:
    """Make a directory hold exactly a tree of files.

    :param destination: the directory; created with its parents, or replaced if it is empty or one of ours.
    :param tree: all of its files.
    :param is_ours: tells of an existing directory whether this program wrote it and may replace it; it may raise
        CONFLICT itself, to name what would be lost.
    :raises AicrError: CONFLICT if something else stands there, INVALID_REQUEST if it may not be written, INTERNAL if
        a name of the tree leads out of it, or is none on some system.
    """
    _refuse_names(tree)
    restore_orphan(destination)
    refuse_foreign(destination, is_ours)
    sibling, aside = _sibling(destination), _aside(destination)
    try:
        shutil.rmtree(sibling, ignore_errors=True)
        for folder in sorted({name.rpartition("/")[0] for name in tree}):
            _make_folder(sibling / folder)
        for name, file in tree.items():
            _write(f"{sibling}/{name}", file.content, file.mode)
        if destination.exists():
            destination.rename(aside)
        sibling.rename(destination)
    except OSError as error:
        shutil.rmtree(sibling, ignore_errors=True)
        restore_orphan(destination)
        raise cannot_write(destination, error) from error
    shutil.rmtree(aside, ignore_errors=True)


def refuse_foreign(destination: Path, is_ours: Callable[[Path], bool]) -> None:
    """Refuse a place that :func:`replace_tree` may not replace; touches nothing.

    :raises AicrError: CONFLICT if something that is not ours stands there, INVALID_REQUEST for what can be no path.
    """
    mode = _mode(destination)
    if mode is None:
        return
    if not stat.S_ISDIR(mode):
        what = "is a link, which would be lost" if stat.S_ISLNK(mode) else "is not a directory"
        raise conflict(f"{destination}: {what}", "name another dest, or remove it yourself")
    try:
        holds_something = any(destination.iterdir())
    except OSError as error:
        raise cannot_write(destination, error) from error
    if holds_something and not is_ours(destination):
        raise conflict(
            f"{destination}: holds files that are not a bundle of ours; nothing was touched",
            "name an empty or new directory as dest, or remove it yourself",
        )


def restore_orphan(destination: Path) -> None:
    """Undo a replacement that was killed half-way: the old directory comes back, a finished one stays."""
    aside = _aside(destination)
    if not stat.S_ISDIR(_mode(aside) or 0):
        return
    if _mode(destination) is None:
        aside.rename(destination)
    else:
        shutil.rmtree(aside, ignore_errors=True)


def cannot_write(path: Path, error: OSError | ValueError) -> AicrError:
    """Why a place could not be written, with the way out that fits the reason."""
    number = error.errno if isinstance(error, OSError) else None
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return AicrError(
        Code.INVALID_REQUEST, f"{path}: cannot be written: {reason}", _WAYS_OUT.get(number or 0, _CHECK_FOLDER)
    )


_CHECK_FOLDER = "check that its folder exists and may be written"
_WAYS_OUT = {
    errno.ENOSPC: "make room on that file system, or name a dest on another one; what stood there is untouched",
    errno.EDQUOT: "make room within the quota, or name a dest on another file system; what stood there is untouched",
    errno.EROFS: "name a dest on a file system that is not mounted read-only",
    errno.EACCES: "name a dest that the user who runs Ansible may write, or give that user the right to",
    errno.EPERM: "name a dest that the user who runs Ansible may write, or give that user the right to",
    errno.ENAMETOOLONG: "name a dest with a shorter path: file systems take 255 bytes for one name",
}


def _mode(path: Path) -> int | None:
    """Type and permissions of what stands at a path, links not followed; ``None`` if nothing does.

    :raises AicrError: INVALID_REQUEST for what can be no path, or may not be looked at.
    """
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise cannot_write(path, error) from error


def _refuse_names(names: Iterable[str]) -> None:
    """The last wall: whatever became of the checks before, no name leads out of the directory (CWE-22)."""
    for name in names:
        segments = name.split("/")
        if {".", ".."} & set(segments) or not all(map(_SEGMENT.fullmatch, segments)):
            raise internal(
                f"{name!r} cannot be the name of a file within a directory",
                "nothing was written; this is a fault of aicr.runtime: report it with the recipe",
            )


def _make_folder(path: Path) -> None:
    if path.is_dir():
        return
    _make_folder(path.parent)
    try:
        path.mkdir()
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & stat.S_ISGID | FOLDER_MODE)


def _forget(path: Path) -> None:
    with contextlib.suppress(OSError):  # what made the writing fail says more
        path.unlink(missing_ok=True)


def _sibling(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.aicr-new")


def _aside(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.aicr-old")


def _write(path: Path | str, content: bytes | str, mode: int, *, synced: bool = False) -> None:
    """Create a file. A tree is not synced file by file, at 3 ms each: what a power cut takes can be made again.

    A bundle is a hundred small files, and to open each as a stream takes as long as to write it.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    try:
        for start in range(0, len(content), _STRETCH):
            stretch = content[start : start + _STRETCH]
            rest = memoryview(stretch.encode() if isinstance(stretch, str) else stretch)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        os.fchmod(descriptor, mode)
        if synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
