# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a host whose root is mounted somewhere: ``/`` itself, ``/host`` in a container, a tree of a test."""

from __future__ import annotations

import errno
import os

MAX_BYTES = 1024 * 1024
"""No more than this is read of one file (spec/surface.md 3.1)."""

MAX_LINKS = 40


class RootFs:
    """Names below are absolute on the host, whatever its root is here; each method may raise OSError."""

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.abspath(root)

    def place(self, name: str) -> str:
        """Where a name of the host stands here.

        Links are followed as the host would follow them: an absolute one, or one with too many ``..``, would otherwise
        lead out of the tree, and the facts of another system would pass for this one's.
        """
        if self.root == "/":
            return name
        rest, links = name.split("/")[::-1], 0
        done: list[str] = []
        while rest:
            part = rest.pop()
            here = os.path.join(self.root, *done, part)
            if part == "..":
                done = done[:-1]
            elif part not in ("", ".") and os.path.islink(here):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
                target = os.readlink(here)
                done = [] if target.startswith("/") else done
                rest.extend(target.split("/")[::-1])
            elif part not in ("", "."):
                done.append(part)
        return os.path.join(self.root, *done)

    def exists(self, name: str) -> bool:
        """Whether there is anything of that name."""
        return os.path.exists(self.place(name))

    def is_system(self) -> bool:
        """Whether there is anything by which the root of a machine is known."""
        return any(os.path.isdir(self.place(name)) for name in ("/etc", "/proc", "/sys", "/usr"))

    def names(self, name: str) -> list[str]:
        """What a directory holds, sorted."""
        return sorted(os.listdir(self.place(name)))

    def text(self, name: str) -> str:
        """The content of a file; one longer than MAX_BYTES is an error, since a part would be a wrong reading."""
        return read_text(self.place(name))


def read_text(path: str) -> str:
    """The content of a file here, bounded like :meth:`RootFs.text`."""
    with open(path, "rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"holds more than {MAX_BYTES} bytes", path)
    return content.decode("utf-8", "replace")
