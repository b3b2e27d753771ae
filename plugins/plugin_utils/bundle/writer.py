# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle on disk: written whole, and not at all if it is there already."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from .. import atomic
from ..atomic import Tree
from .bundle_info import is_bundle


def write_tree(tree: Tree, destination: Path) -> bool:
    """Make a directory hold exactly these files; whether anything had to change.

    :raises AicrError: CONFLICT if something that is no bundle stands there, INVALID_REQUEST if it cannot be written.
    """
    atomic.restore_orphan(destination)
    if is_same(tree, destination):
        return False
    atomic.replace_tree(destination, tree, is_bundle)
    return True


def is_same(tree: Tree, destination: Path) -> bool:
    """Whether a directory holds exactly these files: content, permission to run, no other file, folder or link."""
    if destination.is_symlink() or not destination.is_dir():
        return False
    folders = {parent.as_posix() for path in tree for parent in Path(path).parents} - {"."}
    seen: set[str] = set()
    for path, entry in walk(destination):
        if entry.is_symlink():
            return False
        if entry.is_dir():
            if path not in folders:
                return False
            continue
        file = tree.get(path)
        if file is None or not _is_equal(Path(entry.path), file):
            return False
        seen.add(path)
    return len(seen) == len(tree)


def _is_equal(path: Path, file: atomic.FileContent) -> bool:
    try:
        found = path.stat()
        return (
            stat.S_ISREG(found.st_mode)
            and found.st_size == len(file.content)
            and stat.S_IMODE(found.st_mode) == file.mode
            and path.read_bytes() == file.content
        )
    except OSError:
        return False


def walk(directory: Path, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below a directory by its POSIX path, links not followed."""
    with os.scandir(directory) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            yield prefix + entry.name, entry
            if entry.is_dir(follow_symlinks=False):
                yield from walk(Path(entry.path), f"{prefix}{entry.name}/")
