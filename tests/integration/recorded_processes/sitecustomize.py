# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python reads this at its start where PYTHONPATH names the folder; from then on the arguments of every process that it
starts stand in $AICR_PROCESSES. Unlike a look at /proc now and then, this misses none, however short it lives."""

from __future__ import annotations

import os
import sys

_STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system")


def _record(event: str, arguments: tuple[object, ...]) -> None:
    if event in _STARTS:
        with open(os.environ["AICR_PROCESSES"], "a", encoding="utf-8", errors="surrogateescape") as record:
            record.write(f"{event} {arguments[0]} {arguments[1:2]}\n")


sys.addaudithook(_record)
