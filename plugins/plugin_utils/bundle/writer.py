# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle on disk: written whole, and not at all if it is there already."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from .. import atomic, yamlio
from ..atomic import Tree
from ..errors import AicrError, conflict
from .bundle_info import describes_bundle
from .checksums import CHECKSUMS, read_checksums

MAX_NAMED = 5


def write_tree(tree: Tree, destination: Path) -> bool:
    """Make a directory hold exactly these files; whether anything had to change.

    :raises AicrError: CONFLICT if something that is no bundle stands there, or something that was added to one,
        INVALID_REQUEST if it cannot be written.
    """
    atomic.restore_orphan(destination)
    if is_same(tree, destination):
        return False
    atomic.replace_tree(destination, tree, is_bundle)
    return True


def is_bundle(directory: Path) -> bool:
    """Whether a directory is a bundle and nothing else, and so may be replaced by one; changed files are replaced too.

    :raises AicrError: CONFLICT if it is a bundle to which somebody added something, which would be lost.
    """
    if not describes_bundle(directory):
        return False
    added = list(_added(directory))
    if added:
        named = ", ".join(added[:MAX_NAMED]) + (f" and {len(added) - MAX_NAMED} more" if len(added) > MAX_NAMED else "")
        raise conflict(
            f"{directory}: the bundle there also holds {named}, which would be lost; nothing was touched",
            "move that away, or name another dest; for a Git repository make the bundle beside it and copy it in "
            "(rsync --archive --delete --exclude=.git)",
            path=str(directory),
            added=added[:MAX_NAMED],
        )
    return True


def _added(directory: Path) -> Iterator[str]:
    """What the bundle's own list does not know, sorted; of a folder its name alone, and every link."""
    try:
        ours = {CHECKSUMS, *read_checksums(yamlio.read_bytes(directory / CHECKSUMS).decode(), CHECKSUMS)}
    except (AicrError, UnicodeDecodeError):
        raise conflict(
            f"{directory}: the {CHECKSUMS} of the bundle there cannot be read, so nobody knows what was added to it; "
            "nothing was touched",
            "move the directory away, or name another dest",
            path=str(directory),
        ) from None
    folders = {parent.as_posix() for path in ours for parent in Path(path).parents}
    passed = ""
    for path, entry in walk(directory):
        if passed and path.startswith(passed):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.is_symlink() or path not in (folders if is_folder else ours):
            passed = f"{path}/"
            yield passed if is_folder else path


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
