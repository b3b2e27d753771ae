# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a helm that ends with the process that started it, however that one ends."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence

from ..private_folder import PrivateFolder

_SHELL = "/bin/sh"
_WATCH = """
room=$1 grace=$2
shift 2
trap : TERM
exec 3<&0
"$@" </dev/null >"$room/out.$$" 2>"$room/err.$$" 3<&- &
helm=$!
(
    PATH=/usr/bin:/bin
    read -r line <&3 && exit
    trap '' TERM
    kill -TERM "$helm"
    while [ "$grace" -gt 0 ] && kill -0 "$helm"; do sleep 1; grace=$((grace - 1)); done
    kill -KILL "$helm"
    rm -rf "$room"/*
    rm -rf "$room"
) >/dev/null 2>&1 &
watch=$!
exec 3<&- </dev/null
while wait "$helm"; code=$?; [ "$code" -eq 143 ] && kill -0 "$helm" 2>/dev/null; do :; done
PATH=/usr/bin:/bin
kill -TERM "$watch" 2>/dev/null
cat "$room/out.$$"
cat "$room/err.$$" >&2
rm -f "$room/out.$$" "$room/err.$$"
exit "$code"
"""
"""The end of a pipe that only we hold is read: it closes when we are gone, also by SIGKILL. Ansible ends its workers
by a signal that lets nothing be cleaned up (Ctrl-C), so nobody else is left to end helm, and to remove the room with
its credentials, the hidden file of its lock last. Both hold that lock: the room stays while either is at work.

Where all went well a line comes first: the watcher may not have been ready yet for the signal that ends it.

What helm says goes through files: it says that it was cancelled before it writes that down, and to speak into a pipe
without a reader would be its end."""


def watched(
    command: Sequence[str], folder: PrivateFolder, environ: Mapping[str, str], grace: float
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a helm.

    :param folder: its working directory, which is removed if this process is gone before helm.
    :param grace: whole seconds that helm may then take to write down that it did not succeed.
    :returns: the process, the leader of a session of its own, and a descriptor: helm ends when it is closed. Where helm
        has ended call :func:`let_go`.
    :raises OSError: there is no shell, or no descriptor or process is to be had.
    """
    gone, held = os.pipe()
    try:
        process = subprocess.Popen(
            [_SHELL, "-c", _WATCH, "helm", str(folder.path), f"{grace:.0f}", *command],
            stdin=gone,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder.path,
            env=environ,
            start_new_session=True,
            pass_fds=[folder.lock],
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(gone)
    return process, held


def let_go(held: int) -> None:
    """Close the descriptor of a helm that has ended: its working directory is still needed."""
    with contextlib.suppress(OSError):  # the watcher has ended as well
        os.write(held, b"\n")
    os.close(held)
