# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``checksums.txt``: one line per file, sorted by path, as ``sha256sum -c`` reads it (spec/surface.md 2.6)."""

from __future__ import annotations

import hashlib
import re

from ..atomic import Tree
from ..errors import invalid

CHECKSUMS = "checksums.txt"

_LINE = re.compile(r"(?P<sum>[0-9a-f]{64})  (?P<path>[^/].*)")


def write_checksums(tree: Tree) -> str:
    """The lines for all files of a tree."""
    return "".join(f"{hashlib.sha256(tree[path].content).hexdigest()}  {path}\n" for path in sorted(tree))


def read_checksums(text: str, source: str) -> dict[str, str]:
    """Path to checksum.

    :raises AicrError: INVALID_REQUEST: a line that is none, a path twice, a path that leads out of the bundle.
    """
    sums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if not match or {".", ".."} & set(match["path"].split("/")) or match["path"] == CHECKSUMS:
            raise invalid(f"{source}:{number}: is no line of checksums", "make the bundle again", line=number)
        if match["path"] in sums:
            raise invalid(f'{source}:{number}: "{match["path"]}" is listed twice', "make the bundle again", line=number)
        sums[match["path"]] = match["sum"]
    return sums
