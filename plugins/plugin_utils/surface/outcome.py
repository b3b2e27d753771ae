# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stage has made before anything is written: the product, what to tell about it, how it gets to its place."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from .. import atomic, yamlio
from ..artifacts.digest import digest
from ..cluster.address import Address
from ..errors import AicrError, invalid
from .kind import kind_of, read_beginning
from .path import is_file, real, refuse_unwritable

Diff = list[dict[str, str]]

_STRETCH = 65_536


class Product(Protocol):
    """Something that stands at a place once it is stored: a path, or the address of a ConfigMap."""

    def differs(self, dest: Any) -> bool:
        """Whether what stands at a place says something else.

        :raises AicrError: what :meth:`store` would raise about the place.
        """

    def diff(self, dest: Any) -> Diff:
        """Before and after, as Ansible shows them."""

    def rehearse(self, dest: Any) -> None:
        """Make sure that it can be stored, as far as that can be known without writing."""

    def store(self, dest: Any) -> None:
        """Write the whole product to a place."""


@dataclass(frozen=True)
class Outcome:
    """The result of a stage.

    :ivar product: what is to be written.
    :ivar dest: where to; ``None`` if nobody wants a file.
    :ivar digest: ``sha256:…`` of what the product says (DESIGN, *Versions of artifacts*).
    :ivar summary: a few small facts for people and for conditions in a playbook.
    :ivar warnings: one sentence each.
    :ivar incomplete: what could not be read, by name.
    :ivar document: the product itself, for ``return_document``.
    :ivar also: further return values of the one plugin.
    :ivar failure: why the task fails although there is a product (a report of failed constraints).
    """

    product: Product
    dest: Path | Address | None
    digest: str
    summary: Mapping[str, object]
    warnings: Sequence[str] = ()
    incomplete: Sequence[str] = ()
    document: object = None
    also: Mapping[str, object] = field(default_factory=dict)
    failure: AicrError | None = None

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        """Write the product unless its place says the same already, and shape the task's result.

        :param check_mode: predict, and write nothing.
        :param diff: add what changes.
        """
        result: dict[str, Any] = {
            "changed": False,
            "path": None if self.dest is None else str(self.dest),
            "digest": self.digest,
            "summary": dict(self.summary),
            "warnings": list(self.warnings),
            "incomplete": list(self.incomplete),
            **self.also,
        }
        if return_document:
            result["document"] = self.document
        if self.dest is not None and self.product.differs(self.dest):
            result["changed"] = True
            if diff:
                result["diff"] = self.product.diff(self.dest)
            if check_mode:
                self.product.rehearse(self.dest)
            else:
                self.product.store(self.dest)
        if self.failure is not None:
            result.update(failed(self.failure))
        return result


def failed(error: AicrError) -> dict[str, Any]:
    """What a failing task returns; a playbook may rescue on ``error.code``."""
    return {"failed": True, "msg": str(error), "error": error.to_result()}


@dataclass(frozen=True)
class Document:
    """A document as one file.

    :ivar content: the document.
    :ivar text: how it is written.
    :ivar essence: what two files must share to say the same, header and times left aside; ``None`` compares bytes.
    :ivar header: what of the text changes from run to run, where two texts are compared since parsing a large one takes
        many times its memory.
    """

    content: Any
    text: str
    essence: Callable[[Any], Any] | None = None
    header: re.Pattern[str] | None = None

    @property
    def digest(self) -> str:
        """The document's digest, whatever its format in the file."""
        return digest(self.essence(self.content) if self.essence else self.content)

    def differs(self, dest: Path) -> bool:
        if is_file(dest):
            if not self._differs_at(dest):
                return False
            self.refuse_other(read_beginning(dest), dest)
        refuse_unwritable(dest)
        return True

    def refuse_other(self, present: bytes, place: object) -> None:
        """Refuse to write over a text that is no artifact of this one's kind, see :meth:`Kind.refuse_other`."""
        kind = kind_of(self.content)
        if kind is not None:
            kind.refuse_other(present, place)

    def _differs_at(self, dest: Path) -> bool:
        if self.header is None:
            return self.differs_from(yamlio.read_bytes(dest))
        try:
            with dest.open("rb") as present:
                return _differ_around(self.text, present, self.header)
        except OSError as error:
            raise invalid(f"{dest}: cannot be read: {error.strerror}") from error

    def differs_from(self, present: bytes) -> bool:
        """Whether a text says something else, or says it in another format."""
        if self.header is not None:
            return _differ_around(self.text, io.BytesIO(present), self.header)
        text, kind = self.text.encode(), kind_of(self.content)
        if present == text:
            return False
        if self.essence is None or present.startswith(b"{") != text.startswith(b"{"):
            return True
        if kind is not None and kind.is_table(text):
            return True  # a table cannot be read back, and has no time in it
        try:
            return bool(self.essence(yamlio.load(present, "dest")) != self.essence(self.content))
        except (AicrError, AttributeError, KeyError, TypeError):
            return True  # something else stands there

    def diff(self, dest: Path) -> Diff:
        before = yamlio.read_bytes(dest).decode(errors="replace") if is_file(dest) else ""
        return [{"before_header": str(dest), "before": before, "after_header": str(dest), "after": self.text}]

    def rehearse(self, dest: Path) -> None:
        """Nothing: what can be known of a path, :meth:`differs` has looked at."""

    def store(self, dest: Path) -> None:
        file = real(dest)  # a link stays one
        atomic.make_folder(file.parent)
        atomic.write_file(file, self.text)


def as_format(document: object, form: str, table: Callable[[], str]) -> str:
    """A document as text, ending in one line feed.

    :param form: ``yaml``, ``json`` or ``table``.
    :param table: makes the table.
    """
    if form == "json":
        return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return table() if form == "table" else yamlio.dump(document)


def columns(heading: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows as aligned columns under a heading."""
    lines = [heading, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(heading))]
    return "".join("  ".join(map(str.ljust, line, widths)).rstrip() + "\n" for line in lines)


def _differ_around(text: str, present: BinaryIO, header: re.Pattern[str]) -> bool:
    """Whether more differs than a header near the end; of what is present no more than a stretch is in memory."""
    found = header.search(text)
    start, end = found.span() if found else (len(text), len(text))
    for at in range(0, start, _STRETCH):
        stretch = text[at : min(at + _STRETCH, start)].encode()
        if present.read(len(stretch)) != stretch:
            return True
    rest = present.read(_STRETCH).decode(errors="replace")
    there = header.match(rest) if found else None
    return rest[there.end() if there else 0 :] != text[end:]
