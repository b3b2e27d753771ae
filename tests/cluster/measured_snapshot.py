# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a snapshot to a file in a process of its own, and print as JSON what it cost: KUBECONFIG FILE."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import read, snapshot
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Answer
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot import make_snapshot


class Pages:
    """Counts the pages of lists that are in memory: on their way in, or still held by somebody."""

    def __init__(self) -> None:
        self.asked = self.alive = self.most = 0
        self._ask = read.ask
        self._lock = threading.Lock()
        read.ask = self.ask

    def ask(self, connection: Any, path: str, *arguments: Any) -> Answer:
        if not path.endswith(("/nodes", "/pods")):  # the only lists that grow with the cluster
            return self._ask(connection, path, *arguments)
        with self._lock:
            self.asked += 1
            self.alive += 1
            self.most = max(self.most, self.alive)
        answer = self._ask(connection, path, *arguments)
        weakref.finalize(answer, self.gone)
        return answer

    def gone(self) -> None:
        with self._lock:
            self.alive -= 1


def resident(which: str) -> int:
    """VmRSS or VmHWM, in bytes; getrusage() would answer with the parent's peak where that is higher."""
    found = re.search(rf"^{which}:\s*(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def main(kubeconfig: str, dest: str) -> None:
    options = parse(SNAPSHOT, {"kubeconfig": kubeconfig, "dest": dest}, {})
    assert callable(snapshot.collect)  # it is there before anything is measured, as in a fork of Ansible's
    pages = Pages()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # from here on VmHWM is the snapshot's own peak
    before, begin = resident("VmRSS"), time.monotonic()
    result = make_snapshot(options).deliver(check_mode=False, diff=False, return_document=False)
    seconds, peak = time.monotonic() - begin, resident("VmHWM")
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": peak - before,
                "pages": pages.most,
                "size": Path(dest).stat().st_size,
                "nodes": result["summary"]["nodes"],
                "requests": result["summary"]["requests"],
                "incomplete": result["incomplete"],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
