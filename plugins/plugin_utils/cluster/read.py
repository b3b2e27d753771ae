# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists, page by page and object by object: of a list no more is in memory than the text of one page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import AicrError, not_found
from .connection import Connection, Deadline
from .request import EXPIRED, ask, get, no_json

PAGE = 500
"""Objects a page (spec/surface.md 3.1)."""

T = TypeVar("T")
Object = dict[str, Any]

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Reader:
    """Reads from one cluster until a deadline."""

    connection: Connection
    deadline: Deadline

    def get(self, path: str) -> Object:
        """One object; see :func:`request.ask` for what it raises."""
        return get(self.connection, path, self.deadline)

    def find(self, path: str) -> Object | None:
        """One object, or ``None`` if the API says that there is none."""
        try:
            return self.get(path)
        except AicrError as error:
            if error.details.get("status") == 404:
                return None
            raise

    def fold(
        self,
        path: str,
        start: Callable[[], T],
        take: Callable[[T, Object], None],
        query: Mapping[str, str] | None = None,
    ) -> T:
        """What all objects of a list add up to.

        When the list expires in the middle (410), everything starts again, once: what had been added up is thrown
        away, so that no object counts twice and none is missed.

        :param start: makes the empty sum.
        :param take: adds an object to it, and must not keep the object.
        :raises AicrError: as :func:`request.ask`; NOT_FOUND also where the kind is not served.
        """
        for last in (False, True):
            total = start()
            try:
                for item in self._items(path, query or {}):
                    take(total, item)
                return total
            except AicrError as error:
                if error.details.get("status") == 404:
                    raise not_found(f"{path}: the cluster has no such kind", "", **error.details) from error
                if last or error.details.get("status") != EXPIRED:
                    raise
        raise AssertionError("unreachable")

    def any(self, path: str) -> bool:
        """Whether a list holds any object; of its objects one is read at most."""
        return next(self._items(path, {}, limit=1), None) is not None

    def _items(self, path: str, query: Mapping[str, str], limit: int = PAGE) -> Iterator[Object]:
        token = ""
        while True:
            page = {**query, "limit": str(limit)} | ({"continue": token} if token else {})
            # Not in a variable: the page's bytes are gone before its text is taken apart.
            header = yield from _elements(_text(ask(self.connection, path, self.deadline, page), path), path)
            metadata = header.get("metadata")
            following = metadata.get("continue") if isinstance(metadata, dict) else None
            if not following:
                return
            if following == token:
                raise no_json(path)  # it would never end
            token = str(following)


def _text(body: bytearray, path: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise no_json(path) from None


def _elements(text: str, path: str) -> Generator[Object, None, Object]:
    """Decode ``items`` one by one, wherever they stand in the list's object; returns the rest of that object."""
    header: Object = {}
    try:
        at = _after(text, 0, "{")
        if text[at] == "}":
            return header
        while True:
            key, at = _DECODER.raw_decode(text, at)
            at = _after(text, at, ":")
            if key == "items" and text[at] == "[":
                at = _after(text, at, "[")
                while text[at] != "]":
                    item, at = _DECODER.raw_decode(text, at)
                    at = _blank(text, at)
                    if not isinstance(item, dict):
                        raise no_json(path)
                    yield item
                    if text[at] == ",":
                        at = _after(text, at, ",")
                at += 1
            else:
                header[str(key)], at = _DECODER.raw_decode(text, at)
            at = _blank(text, at)
            if text[at] == "}":
                return header
            at = _after(text, at, ",")
    except (ValueError, IndexError, RecursionError):
        raise no_json(path) from None


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _after(text: str, at: int, sign: str) -> int:
    """The place behind a sign and the blanks around it."""
    at = _blank(text, at)
    if text[at] != sign:
        raise ValueError(sign)
    return _blank(text, at + 1)
