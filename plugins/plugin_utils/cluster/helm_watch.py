# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a helm that ends with the process that started it, however that one ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

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
    read -r gone <&3
    trap '' TERM
    kill -TERM "$helm"
    while [ "$grace" -gt 0 ] && kill -0 "$helm"; do sleep 1; grace=$((grace - 1)); done
    kill -KILL "$helm"
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
its credentials.

What helm says goes through files: it says that it was cancelled before it writes that down, and to speak into a pipe
without a reader would be its end."""


def watched(
    command: Sequence[str], room: Path, environ: Mapping[str, str], grace: float
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a helm.

    :param room: its working directory, which is removed if this process is gone before helm.
    :param grace: whole seconds that helm may then take to write down that it did not succeed.
    :returns: the process, the leader of a session of its own, and a descriptor: helm ends when it is closed.
    :raises OSError: there is no shell, or no descriptor or process is to be had.
    """
    gone, held = os.pipe()
    try:
        process = subprocess.Popen(
            [_SHELL, "-c", _WATCH, "helm", str(room), f"{grace:.0f}", *command],
            stdin=gone,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=room,
            env=environ,
            start_new_session=True,
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(gone)
    return process, held
