# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pass over all nodes, for every collector that needs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from .connection import Connection, Deadline, late
from .read import Object, Reader

PATH = "/api/v1/nodes"


class NodeTotal(Protocol):
    """Something that all nodes add up to."""

    def take(self, node: Object) -> None:
        """Add a node, without keeping the object."""


class NodePass:
    """Lists the nodes once, in a thread of its own; several collectors wait for what they add up to."""

    def __init__(self, connection: Connection, seconds: float, totals: Mapping[str, Callable[[], NodeTotal]]) -> None:
        """Begin.

        :param seconds: how long it may take: the longest that any of those who wait for it has.
        :param totals: by name; each makes an empty one.
        """
        self._reader = Reader(connection, Deadline(seconds))
        self._makers = totals
        self._totals: Mapping[str, NodeTotal] = {}
        self._done = threading.Event()
        self._error: BaseException | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        def take(totals: Mapping[str, NodeTotal], node: Object) -> None:
            for total in totals.values():
                total.take(node)

        try:
            self._totals = self._reader.fold(PATH, lambda: {name: make() for name, make in self._makers.items()}, take)
        except BaseException as error:
            self._error = error
        self._done.set()

    def total(self, name: str, deadline: Deadline) -> NodeTotal:
        """What all nodes add up to.

        :raises AicrError: what kept the list from being read; TIMEOUT if one's own deadline passes before its end.
        """
        if not self._done.wait(deadline.left):
            raise late(PATH, deadline)
        if self._error is not None:
            raise self._error
        return self._totals[name]
