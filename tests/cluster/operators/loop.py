# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a controller: events wake it, failures wake it again, each time later."""

from __future__ import annotations

import http.client
import sys
import threading
import time
import traceback
from collections.abc import Callable

from ..bed.api import Api, ApiError, Object

Key = tuple[str, str]
"""Namespace and name."""
_FIRST_RETRY, _LAST_RETRY = 0.005, 1000.0  # operators.md 1.4, b5: 5 ms doubling
_PACE = 0.05
"""Seconds between passes that fail: 8 to 16 pairs of changes a second (operators.md 1.4, b7 and b8c)."""


class Failure(Exception):
    """A pass came to nothing; the next one is tried after a while."""


class Controller:
    """Passes over one kind of object, one at a time."""

    def __init__(self, name: str, reconcile: Callable[[str, str], float | None]) -> None:
        """
        :param reconcile: a pass over the object of this namespace and name; it may ask for another in so many seconds.
        """
        self._name, self._reconcile = name, reconcile
        self._changed = threading.Condition()
        self._due: dict[Key, float] = {}
        self._later: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._not_before: dict[Key, float] = {}

    def add(self, namespace: str, name: str) -> None:
        """Something happened to it."""
        with self._changed:
            key = namespace, name
            self._due.setdefault(key, self._not_before.get(key, 0.0))
            self._changed.notify()

    def start(self) -> None:
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            key = self._next()
            again: float | None
            try:
                again = self._reconcile(*key)
                self._failures.pop(key, None)
                self._not_before.pop(key, None)
            except (Failure, ApiError, OSError, http.client.HTTPException) as error:
                print(f"{self._name} {'/'.join(key)}: {error}", file=sys.stderr, flush=True)
                again = self._failed(key)
            except Exception:
                traceback.print_exc()
                sys.stderr.flush()
                again = self._failed(key)
            if again is not None:
                with self._changed:
                    due = time.monotonic() + again
                    # A retry that waits already stays the earlier one.
                    self._later[key] = min(due, self._later.get(key, due))

    def _failed(self, key: Key) -> float:
        count = self._failures[key] = self._failures.get(key, 0) + 1
        self._not_before[key] = time.monotonic() + _PACE
        return min(_FIRST_RETRY * 2.0 ** (count - 1), _LAST_RETRY)

    def _next(self) -> Key:
        with self._changed:
            while True:
                now = time.monotonic()
                for key in [key for key, due in self._later.items() if due <= now]:
                    del self._later[key]
                    self._due.setdefault(key, self._not_before.get(key, 0.0))
                ready = [key for key, due in self._due.items() if due <= now]
                if ready:
                    del self._due[ready[0]]
                    return ready[0]
                waits = [*self._due.values(), *self._later.values()]
                self._changed.wait(min(waits) - now if waits else None)


def watch(api: Api, path: str, happened: Callable[[str, Object], None], **query: str) -> None:
    """Tell of every object at a path and of every change to one (`DELETED` and others), in a thread of its own."""

    def run() -> None:
        while True:
            try:
                page = api.get(path, **query)
                for one in page["items"]:
                    happened("ADDED", one)
                for kind, one in api.watch(path, page["metadata"]["resourceVersion"], **query):
                    if kind != "BOOKMARK":
                        happened(kind, one)
            except (OSError, ApiError, http.client.HTTPException) as error:
                print(f"watch of {path}: {error!r}", file=sys.stderr, flush=True)
                time.sleep(0.5)

    threading.Thread(target=run, daemon=True).start()


def forever() -> None:
    """What the main thread does meanwhile."""
    threading.Event().wait()
