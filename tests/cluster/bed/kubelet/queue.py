# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that wait to be looked at: each once, never by two workers at a time, some only after a while."""

from __future__ import annotations

import heapq
import threading
import time


class WorkQueue:
    """A queue as the controllers of Kubernetes have it."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._due: list[tuple[float, str]] = []
        self._waiting: dict[str, float] = {}
        self._busy: set[str] = set()
        self._again: set[str] = set()

    def add(self, key: str, delay: float = 0.0) -> None:
        """Have a key looked at after a delay in seconds, or sooner if it was added with a shorter one."""
        with self._condition:
            if key in self._busy and not delay:
                self._again.add(key)
                return
            at = time.monotonic() + delay
            if at < self._waiting.get(key, float("inf")):
                self._waiting[key] = at
                heapq.heappush(self._due, (at, key))
                self._condition.notify()

    def get(self) -> str:
        """The next key, which no other worker gets before `done`."""
        with self._condition:
            while True:
                while self._due and self._waiting.get(self._due[0][1]) != self._due[0][0]:
                    heapq.heappop(self._due)  # it was added again for a sooner time
                left = self._due[0][0] - time.monotonic() if self._due else None
                if left is not None and left <= 0:
                    key = heapq.heappop(self._due)[1]
                    del self._waiting[key]
                    if key in self._busy:
                        self._again.add(key)
                        continue
                    self._busy.add(key)
                    return key
                self._condition.wait(left)

    def done(self, key: str) -> None:
        """The key was looked at; if it was added meanwhile, it is due again."""
        with self._condition:
            self._busy.discard(key)
            again = key in self._again
            self._again.discard(key)
        if again:
            self.add(key)
