# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists, page by page and object by object: of a list no more is in memory than one page as it came in."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import AicrError, not_found
from .connection import Answer, Connection, Deadline
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
        """What all objects of a list add up to; see :func:`fold_list`."""
        return fold_list(self.connection, path, lambda: self.deadline, start, take, query)[0]


def fold_list(
    connection: Connection,
    path: str,
    deadline: Callable[[], Deadline],
    start: Callable[[], T],
    take: Callable[[T, Object], None],
    query: Mapping[str, str] | None = None,
) -> tuple[T, Object | None]:
    """What all objects of a list add up to, and the metadata of the list, ``None`` if it has none.

    When the list expires in the middle (410), everything starts again, once: what had been added up is thrown
    away, so that no object counts twice and none is missed.

    :param deadline: asked before each page, until when to wait for it.
    :param start: makes the empty sum.
    :param take: adds an object to it, and must not keep the object.
    :raises AicrError: as :func:`request.ask`; NOT_FOUND also where the kind is not served.
    """
    for last in (False, True):
        total, pages = start(), _Pages(connection, path, deadline, query or {})
        try:
            for item in pages:
                take(total, item)
            return total, pages.metadata
        except AicrError as error:
            if error.details.get("status") == 404:
                raise not_found(f"{path}: the cluster has no such kind", "", **error.details) from error
            if last or error.details.get("status") != EXPIRED:
                raise
    raise AssertionError("unreachable")


@dataclass
class _Pages:
    """The objects of a list, from its first page to its last.

    :ivar metadata: that of the page that was read last; ``None`` if it has none.
    """

    connection: Connection
    path: str
    deadline: Callable[[], Deadline]
    query: Mapping[str, str]
    metadata: Object | None = None

    def __iter__(self) -> Iterator[Object]:
        token = ""
        while True:
            query = {**self.query, "limit": str(PAGE)} | ({"continue": token} if token else {})
            answer = ask(self.connection, self.path, self.deadline(), query)
            header = yield from _Text(answer, self.path).elements()
            metadata = header.get("metadata")
            self.metadata = metadata if isinstance(metadata, dict) else None
            if header.get("items") is not None:  # neither a list, whose objects are taken already, nor null
                raise no_json(self.path)
            following = (self.metadata or {}).get("continue")
            if not following:
                return
            if following == token:
                raise no_json(self.path)  # it would never end
            token = str(following)


class _Text:
    """The JSON text of an answer, of which a window is in memory."""

    def __init__(self, answer: Answer, path: str) -> None:
        self._parts = answer.parts()
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._path = path
        self._window, self._at, self._ended = "", 0, False

    def elements(self) -> Generator[Object, None, Object]:
        """Decode ``items`` one by one, wherever they stand in the list's object; returns the rest of that object.

        :raises AicrError: SERVICE_UNAVAILABLE for anything that is no such object.
        """
        header: Object = {}
        try:
            self._expect("{")
            while self._peek() != "}":
                key = str(self._value())
                self._expect(":")
                if key == "items" and self._peek() == "[":
                    self._expect("[")
                    while self._peek() != "]":
                        item = self._value()
                        if not isinstance(item, dict):
                            raise no_json(self._path)
                        yield item
                        if self._peek() != "]":
                            self._expect(",")
                    self._expect("]")
                else:
                    header[key] = self._value()
                if self._peek() != "}":
                    self._expect(",")
        except (ValueError, RecursionError):
            raise no_json(self._path) from None
        return header

    def _value(self) -> object:
        """The value at the window's beginning; one that ends with the window may go on behind it."""
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._window, self._at)
            except ValueError:
                if self._ended:
                    raise
            else:
                if self._ended or end < len(self._window):
                    self._at = end
                    return value
            self._fill()

    def _peek(self) -> str:
        """The next sign that is no blank."""
        while True:
            match = _BLANK.match(self._window, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._window):
                return self._window[self._at]
            if self._ended:
                raise ValueError("ends too soon")
            self._fill()

    def _expect(self, sign: str) -> None:
        if self._peek() != sign:
            raise ValueError(sign)
        self._at += 1

    def _fill(self) -> None:
        part = next(self._parts, None)
        self._ended = part is None
        self._window = self._window[self._at :] + self._decoder.decode(part or b"", self._ended)
        self._at = 0
