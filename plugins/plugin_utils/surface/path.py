# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths on the controller as destinations: what is there, and whether anything can be written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..cluster.address import scheme
from ..errors import AicrError, invalid

_ANOTHER = "name another dest"


def expanded(text: str) -> Path:
    """A path as a shell would read it: ``~`` is the user's home, ``$NAME`` a variable.

    :raises AicrError: INVALID_REQUEST for what can be no path.
    """
    if "\0" in text:
        raise invalid("a path holds a NUL character", "remove it")
    return Path(os.path.expanduser(os.path.expandvars(text)))


def remote_problem(text: str, option: str) -> AicrError | None:
    """What is wrong with text where a path is due if it is an address, or leads to one by a variable.

    An address may hold a password or a token, so no more of it is said than its scheme.
    """
    for spelling in (text, os.path.expandvars(text)):
        if "://" in spelling:
            kind = scheme(spelling)
            what = f"{kind}:// places are not supported in this release" if kind else "holds :// but is no address"
            return invalid(f"{option}: {what}", "name a file", option=option)
    return None


def real(path: Path) -> Path:
    """Where a path leads to, all links followed."""
    return Path(os.path.realpath(path))


def is_file(path: Path) -> bool:
    """Whether a file is there, links followed.

    :raises AicrError: INVALID_REQUEST if something else is, or nothing can be.
    """
    mode = _mode(path)
    if mode is None:
        return False
    if stat.S_ISDIR(mode):
        raise invalid(f"{path}: is a directory, so no file can be written there", "name a file as dest")
    if not stat.S_ISREG(mode):
        raise invalid(f"{path}: is no regular file", _ANOTHER)
    return True


def refuse_unwritable(path: Path) -> None:
    """Refuse a path at which nothing can be made, before anything is: by its folder, or the first one that exists.

    :raises AicrError: INVALID_REQUEST, naming that folder.
    """
    folder = next(parent for parent in real(path).parents if stands(parent))
    stands(path)
    if not folder.is_dir():
        raise invalid(f"{path}: cannot be written: {folder} is no directory", _ANOTHER)
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise invalid(f"{path}: cannot be written: {folder} may not be written", f"{_ANOTHER}, or let it be written")


def stands(path: Path) -> bool:
    """Whether anything is there, links followed.

    :raises AicrError: INVALID_REQUEST if nothing can be.
    """
    return _mode(path) is not None


def _mode(path: Path) -> int | None:
    """The mode of what is there, links followed; INVALID_REQUEST if nothing can be, as for a name that is too long."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise invalid(f"{path}: cannot be written: {error.strerror}", _ANOTHER) from error
