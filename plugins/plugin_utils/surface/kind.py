# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of artifacts, and how each is known in what stands at a destination."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..artifacts import versions
from ..errors import conflict, invalid

_FOREIGN = re.compile(rb"^(?![A-Za-z][\w.-]*:(?: |\r?$)|[ #]|-(?: |\r?$)|---|\r?$)", re.MULTILINE)
"""A line that begins as none does in YAML as programs, or people, write an artifact; prose does."""
_KIND = re.compile(rb"""^(?:kind|  "kind"): ["']?([A-Za-z]{1,60})["']?,?\r?$""", re.MULTILINE)


_BEGINNING = 1_000_000
"""Our fields, and those of the reference, stand within so many bytes of the beginning."""


@dataclass(frozen=True)
class Kind:
    """A kind of artifact.

    :ivar noun: what people call it.
    :ivar key: the field by whose value it is known.
    :ivar value: that value; ``None`` if the field alone tells.
    :ivar heading: the first line of it as a table.
    """

    noun: str
    key: str
    value: str | None
    heading: Sequence[str]

    def is_one(self, text: bytes) -> bool:
        """Whether a text is such an artifact, in any format.

        It is known by the look of its lines, since parsing a large one takes many times its memory.
        """
        if self.is_table(text):
            return True
        key, value = re.escape(self.key.encode()), rb".*" if self.value is None else re.escape(self.value.encode())
        if text.startswith(b"{"):
            return bool(re.search(rb'^  "%b": "%b",?\r?$' % (key, value), text, re.MULTILINE))
        known = re.search(rb"""^%b: ["']?%b["']?\r?$""" % (key, value), text, re.MULTILINE)
        return bool(known) and not _FOREIGN.search(text)

    def is_table(self, text: bytes) -> bool:
        """Whether a text is such an artifact as a table."""
        return text.partition(b"\n")[0].split() == [word.encode() for word in self.heading]

    def refuse_other(self, text: bytes, place: object) -> None:
        """Refuse to write over what is no such artifact; an empty file holds nothing that could be lost.

        :param text: all of it, or its beginning as :func:`read_beginning` reads it.
        :raises AicrError: CONFLICT, naming what it is.
        """
        if text.strip() and not self.is_one(text):
            raise conflict(
                f"{place}: what stands there is {_named(text)}, not a {self.noun}; nothing was touched",
                "name another dest, or remove it yourself",
                path=str(place),
            )


RECIPE = Kind("recipe", "kind", versions.RECIPE, ("COMPONENT", "VERSION", "NAMESPACE"))
SNAPSHOT = Kind("snapshot", "kind", versions.SNAPSHOT, ("TYPE", "SUBTYPE", "KEY", "VALUE"))
REPORT = Kind("report", "reportFormat", "CTRF", ("TEST", "PHASE", "STATUS", "MESSAGE"))
DRIFT = Kind("drift report", "baselineSource", None, ("CHANGE", "PATH", "BASELINE", "TARGET"))
KINDS = (RECIPE, SNAPSHOT, REPORT, DRIFT)


def kind_of(document: object) -> Kind | None:
    """The kind of a document, if it is an artifact."""
    if not isinstance(document, dict):
        return None
    return next((kind for kind in KINDS if kind.key in document and kind.value in (None, document[kind.key])), None)


def read_beginning(file: Path) -> bytes:
    """As much of a file as tells what it is, in whole lines.

    :raises AicrError: INVALID_REQUEST if it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            text = stream.read(_BEGINNING)
    except OSError as error:
        raise invalid(f"{file}: cannot be read: {error.strerror}", "name another dest") from error
    return text if len(text) < _BEGINNING else text[: text.rfind(b"\n") + 1]


def _named(text: bytes) -> str:
    """What to call a text in a message, which repeats nothing of it but a kind."""
    for kind in KINDS:
        if kind.is_one(text):
            return f"a {kind.noun}"
    told = _KIND.search(text)
    return f"of kind {told[1].decode()}" if told else "something else"
