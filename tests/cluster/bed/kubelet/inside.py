# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What turns a new process into a container: run by container.py in new mount, pid and uts namespaces.

The file system is this machine's or that of a tree in a folder, under a layer in memory that takes all writes and goes
with the namespace. Volumes are mounted over it, so a mount point that is lacking is made in the layer alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import sys

_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE = 1, 32, 4096, 16384  # <sys/mount.h>
_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str | None = None) -> None:
    arguments = [text.encode() if text is not None else None for text in (source, target, kind, options)]
    if _libc.mount(*arguments[:3], ctypes.c_ulong(flags), arguments[3]):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source}: {os.strerror(number)}", target)


def main(specification: str) -> None:
    with open(specification, encoding="utf-8") as stream:
        spec = json.load(stream)
    error = os.open(spec["start_error"], os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    problem = "executable file not found in $PATH"
    try:
        enter(spec)
        # Not os.execvpe: it imports, and this user may be one who cannot read Python's own files.
        program = spec["command"][0]
        folders = [""] if "/" in program else spec["environment"]["PATH"].split(":")
        for folder in folders:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.execve(os.path.join(folder, program), spec["command"], spec["environment"])
    except OSError as other:
        problem = str(other)
    os.write(error, f'exec: "{spec["command"][0]}": {problem}'.encode())
    os._exit(128)


def enter(spec: dict) -> None:  # type: ignore[type-arg]
    # The sources must be open before the new root hides them.
    mounts = [(os.open(m["source"], os.O_PATH | os.O_CLOEXEC), m) for m in spec["mounts"]]
    layer = spec["layer"]
    mount("tmpfs", layer, "tmpfs")
    for name in ("upper", "work", "root"):
        os.mkdir(os.path.join(layer, name))
    root = os.path.join(layer, "root")
    mount("overlay", root, "overlay", 0, f"lowerdir={spec['root']},upperdir={layer}/upper,workdir={layer}/work")
    mount("/sys", root + "/sys", None, _BIND | _RECURSIVE)
    # A /dev of its own, since containers write their last message there.
    mount("tmpfs", root + "/dev", "tmpfs", 0, "mode=755")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        open(f"{root}/dev/{name}", "wb").close()
        mount(f"/dev/{name}", f"{root}/dev/{name}", None, _BIND)
    os.mkdir(root + "/dev/shm")
    mount("tmpfs", root + "/dev/shm", "tmpfs", 0, "mode=1777")
    for name, number in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{number}", f"{root}/dev/{name}")
    os.chroot(root)
    os.chdir("/")
    mount("proc", "/proc", "proc")
    if spec["root"] == "/":  # what runs on this machine is not to be seen
        for name in ("/tmp", "/run"):
            mount("tmpfs", name, "tmpfs", 0, "mode=1777" if name == "/tmp" else "mode=755")
    for source, entry in mounts:
        target, file = entry["target"], not os.path.isdir(f"/proc/self/fd/{source}")
        os.makedirs(os.path.dirname(target) if file else target, exist_ok=True)
        if file and not os.path.exists(target):
            open(target, "wb").close()
        mount(f"/proc/self/fd/{source}", target, None, _BIND)
        if entry["read_only"]:
            mount("none", target, None, _BIND | _REMOUNT | _READ_ONLY)
    socket.sethostname(spec["hostname"])
    os.makedirs(spec["folder"], exist_ok=True)
    os.chdir(spec["folder"])
    os.setgroups(spec["groups"])
    os.setgid(spec["group"])
    os.setuid(spec["user"])
    os.umask(0o022)


if __name__ == "__main__":
    main(sys.argv[1])
