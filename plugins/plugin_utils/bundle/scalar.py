# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the text of a ``set`` means, and which values lose something on their way through Helm (cases H1, H3, Y1)."""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .value_path import Path, dotted, leaves

_WORDS: dict[str, object] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~"), None),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FRACTION = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"\\]*\"")

_STAYS_TEXT = re.compile(r"(?:version|tag|digest)$", re.IGNORECASE)
_IS_NUMBERED = re.compile(r"id$", re.IGNORECASE)

_IS_VERSION = re.compile(r"(?:\w*image)?[_-]?(?:version|tag|digest)", re.IGNORECASE)

FIRST_EXPONENT, LAST_EXPONENT = 1e6, 1e-4
"""Helm reads numbers of values as floating point and prints them with an exponent from 1000000 on and below 0.0001."""


def read_scalar(text: str, path: Path) -> object:
    """A scalar by the rules of YAML 1.2, quotes included; no type is guessed for a version, tag, digest or id.

    Collections, anchors and the like have no meaning in here: they stay text.
    """
    if _QUOTED.fullmatch(text):
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1]
    if _STAYS_TEXT.search(path[-1]):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _IS_NUMBERED.search(path[-1]):
        return text
    if _DECIMAL.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FRACTION.fullmatch(text):
        return float(text)
    return text


def rounded_versions(value: object, path: Path) -> Iterator[str]:
    """Where a version, tag or digest is a fraction or a boolean: ``1.30`` has become ``1.3``, and ``no`` ``false``."""
    for leaf, item in _scalars(value, path):
        key = leaf[-1] if leaf else ""
        if (type(item) is float and _STAYS_TEXT.search(key)) or (type(item) is bool and _IS_VERSION.fullmatch(key)):
            yield dotted(leaf)


def exponents(value: object, path: Path) -> Iterator[str]:
    """Where a number is so large or so small that a chart prints it with an exponent."""
    for leaf, item in _scalars(value, path):
        number = abs(item) if isinstance(item, (int, float)) and type(item) is not bool else 0
        if number >= FIRST_EXPONENT or 0 < number < LAST_EXPONENT:
            yield dotted(leaf)


def _scalars(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    """Every scalar with its path; what stands in a list has the path of the list."""
    for leaf, item in leaves(value, path):
        if isinstance(item, list):
            for one in item:
                yield from _scalars(one, leaf)
        elif isinstance(item, Mapping):
            for key, one in item.items():
                yield from _scalars(one, (*leaf, str(key)))
        else:
            yield leaf, item
