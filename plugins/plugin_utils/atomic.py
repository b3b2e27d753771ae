# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and directories that appear whole or not at all.

A sibling is built, the old one is moved aside, the sibling is renamed, the old one is removed. A run that is killed in
between leaves an orphan beside the target, which the next run puts back or clears away (docs/architecture.md, *Written
whole*).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import AicrError, Code, conflict, invalid


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


def write_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Replace or create a file; readers see the old content or the new one, never a part.

    :raises AicrError: INVALID_REQUEST if the place is a directory, does not exist or may not be written.
    """
    if path.is_dir():
        raise invalid(f"{path}: is a directory, so no file can be written there", "name a file as dest")
    sibling = path.with_name(f".{path.name}.new-{os.getpid()}")
    try:
        _write(sibling, content, mode, synced=True)
        sibling.replace(path)
    except OSError as error:
        sibling.unlink(missing_ok=True)
        raise _cannot_write(path, error) from error


def replace_tree(destination: Path, tree: Tree, is_ours: Callable[[Path], bool]) -> None:
    """Make a directory hold exactly a tree of files.

    :param destination: the directory; created with its parents, or replaced if it is empty or one of ours.
    :param tree: all of its files.
    :param is_ours: tells of an existing directory whether this program wrote it and may replace it.
    :raises AicrError: CONFLICT if something else stands there, INVALID_REQUEST if it may not be written.
    """
    restore_orphan(destination)
    refuse_foreign(destination, is_ours)
    sibling, aside = _sibling(destination), _aside(destination)
    try:
        shutil.rmtree(sibling, ignore_errors=True)
        for name, file in tree.items():
            target = sibling / name
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, file.content, file.mode)
        if destination.exists():
            destination.rename(aside)
        sibling.rename(destination)
    except OSError as error:
        shutil.rmtree(sibling, ignore_errors=True)
        restore_orphan(destination)
        raise _cannot_write(destination, error) from error
    shutil.rmtree(aside, ignore_errors=True)


def refuse_foreign(destination: Path, is_ours: Callable[[Path], bool]) -> None:
    """Refuse a place that :func:`replace_tree` may not replace; touches nothing.

    :raises AicrError: CONFLICT if something that is not ours stands there.
    """
    if destination.is_symlink() or (destination.exists() and not destination.is_dir()):
        raise conflict(f"{destination}: is not a directory", "name another dest, or remove it yourself")
    if destination.exists() and any(destination.iterdir()) and not is_ours(destination):
        raise conflict(
            f"{destination}: holds files that are not a bundle of ours; nothing was touched",
            "name an empty or new directory as dest, or remove it yourself",
        )


def restore_orphan(destination: Path) -> None:
    """Undo a replacement that was killed half-way: the old directory comes back, a finished one stays."""
    aside = _aside(destination)
    if aside.is_dir():
        if destination.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(destination)


def _sibling(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.aicr-new")


def _aside(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.aicr-old")


def _write(path: Path, content: bytes, mode: int, *, synced: bool = False) -> None:
    """Create a file. A tree is not synced file by file, at 3 ms each: what a power cut takes can be made again."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        if synced:
            stream.flush()
            os.fsync(stream.fileno())
    path.chmod(mode)


def _cannot_write(path: Path, error: OSError) -> AicrError:
    return AicrError(
        Code.INVALID_REQUEST,
        f"{path}: cannot be written: {error.strerror}",
        "check that its folder exists and may be written",
    )
