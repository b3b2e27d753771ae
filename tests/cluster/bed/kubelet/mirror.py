# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of objects that a watch keeps up to date."""

from __future__ import annotations

import http.client
import sys
import time
from collections.abc import Callable

from ..api import Api, ApiError, Object


class Mirror:
    """The objects at one path of the API by uid, as the last event left them."""

    def __init__(self, api: Api, path: str, changed: Callable[[str], None], fields: str = "") -> None:
        """:param fields: the field selector of what is in it."""
        self._api, self._path, self._changed, self._fields = api, path, changed, fields
        self._objects: dict[str, Object] = {}

    def get(self, uid: str) -> Object | None:
        return self._objects.get(uid)

    def all(self) -> list[Object]:
        return list(self._objects.values())

    def run(self) -> None:
        """Work until the process ends; `changed` is called with the uid of what came, changed or went."""
        while True:
            try:
                self._watch()
            except (OSError, ApiError, http.client.HTTPException) as error:
                print(f"watch of {self._path}: {error!r}", file=sys.stderr, flush=True)
                time.sleep(0.2)

    def _watch(self) -> None:
        page = self._api.get(self._path, fieldSelector=self._fields)
        version = page["metadata"]["resourceVersion"]
        there = {one["metadata"]["uid"]: one for one in page["items"]}
        gone = self._objects.keys() - there.keys()
        self._objects = there
        for uid in (*gone, *there):
            self._changed(uid)
        for kind, one in self._api.watch(self._path, version, fieldSelector=self._fields):
            uid = one["metadata"].get("uid")
            if kind == "BOOKMARK" or uid is None:
                continue
            if kind == "DELETED":
                self._objects.pop(uid, None)
            else:
                self._objects[uid] = one
            self._changed(uid)
