# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of a reading: ``Type.Subtype.Key`` or ``Type.Subtype[selector].Key`` (spec/engine.md 3.1, 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import AicrError, invalid
from .collected import ANY_READING, ANY_SUBTYPE, COLLECTED, Readings
from .expression import Expression
from .node_set import GPU_NODES_LABEL, LabelRule
from .spelling import nearest

_HINT = "write Type.Subtype.Key, such as K8s.server.version, or Type.Subtype[selector].Key"
_SELECTOR = r"(?:\[(?P<selector>[^\]]*)\])?"
_AT_FIRST_DOT = re.compile(rf"(?P<subtype>[^.\[\]]+){_SELECTOR}\.(?P<key>.+)")
_AT_LAST_DOT = re.compile(rf"(?P<subtype>[^\[\]]+?){_SELECTOR}\.(?P<key>[^.\[\]]+)")


class Predicate(NamedTuple):
    """Selects the one item whose reading of ``key`` is ``value``."""

    key: str
    value: str


@dataclass(frozen=True)
class ConstraintPath:
    """Where a reading stands in a snapshot.

    :ivar selector: ``None`` for a reading of the subtype, otherwise the position or the predicate that picks its item.
    """

    type: str
    subtype: str
    key: str
    selector: int | Predicate | None = None

    @classmethod
    def parse(cls, name: str) -> ConstraintPath:
        """Read a path. SystemD's units hold dots, so there the last one begins the key; elsewhere the first does.

        :raises AicrError: INVALID_REQUEST: an unknown type, a part that is missing, a bracket that is not closed, or
            a selector that is neither a position nor ``key=value``.
        """
        if name != name.strip() or not name:
            raise invalid(f'constraint path "{name}" is empty or has blanks around it', _HINT)
        type_name, _unused, rest = name.partition(".")
        if type_name not in COLLECTED:
            meant = nearest(type_name, COLLECTED)
            hint = f'did you mean "{meant}"?' if meant else f"known types: {', '.join(COLLECTED)}"
            raise invalid(f'constraint path "{name}": unknown measurement type "{type_name}"', hint)
        parts = (_AT_LAST_DOT if type_name in ANY_SUBTYPE else _AT_FIRST_DOT).fullmatch(rest)
        if not parts:
            raise invalid(f'constraint path "{name}" lacks a part or is not well-formed', _HINT)
        text = parts["selector"]
        selector = None if text is None else _parse_selector(name, text)
        return cls(type_name, parts["subtype"], parts["key"], selector)

    def __str__(self) -> str:
        selector = "" if self.selector is None else f"[{_selector_text(self.selector)}]"
        return f"{self.type}.{self.subtype}{selector}.{self.key}"


def addressability_problem(name: str, value: str) -> AicrError | None:
    """Why a constraint can never be evaluated, whatever the snapshot; ``None`` if it can.

    Read where constraints are loaded, since a typo would otherwise look like a reading that this cluster lacks. The
    expression is judged too. Positions and values of predicates depend on the snapshot and are not.
    """
    try:
        if name == GPU_NODES_LABEL:
            LabelRule.parse(value)
            return None
        path = ConstraintPath.parse(name)
        readings = _readings(path)
        if path.selector is None:
            _check_scalar(path, readings)
        else:
            _check_item(path, readings)
    except AicrError as error:
        return error
    try:
        Expression.parse(value)
    except AicrError as error:
        return invalid(f"constraint {name}: {error.message}", error.hint, path=name, value=value)
    return None


def _readings(path: ConstraintPath) -> Readings:
    if path.type in ANY_SUBTYPE:
        return ANY_READING
    subtypes = COLLECTED[path.type]
    if path.subtype not in subtypes:
        message = f'unknown subtype "{path.subtype}" for measurement type "{path.type}"'
        raise _unaddressable(path, message, nearest(path.subtype, subtypes), subtypes)
    return subtypes[path.subtype]


def _check_scalar(path: ConstraintPath, readings: Readings) -> None:
    where = f'subtype "{path.subtype}" of measurement type "{path.type}"'
    if readings.scalars is None:
        example = f"{path.type}.{path.subtype}[0].{path.key}"
        message = f"{where} exposes no scalar readings; it requires an item selector, e.g. {example}"
        raise _unaddressable(path, message)
    if not readings.scalars.allow(path.key):
        message = f'unknown key "{path.key}" in {where}'
        raise _unaddressable(path, message, readings.scalars.meant(path.key), readings.scalars.known)


def _check_item(path: ConstraintPath, readings: Readings) -> None:
    where = f'subtype "{path.subtype}" of measurement type "{path.type}"'
    if readings.items is None:
        raise _unaddressable(path, f"{where} has no items; an item selector is not valid here")
    predicate = {"item predicate key": path.selector.key} if isinstance(path.selector, Predicate) else {}
    for noun, key in ({"item key": path.key} | predicate).items():
        if not readings.items.allow(key):
            message = f'unknown {noun} "{key}" in {where}'
            raise _unaddressable(path, message, readings.items.meant(key), readings.items.known)


def _unaddressable(
    path: ConstraintPath, message: str, meant: str | None = None, known: Iterable[str] = ()
) -> AicrError:
    names = ", ".join(sorted(known))
    hint = f'did you mean "{meant}"?' if meant else f"known: {names}" if names else ""
    return invalid(f"constraint {path}: {message}", hint, path=str(path))


def _parse_selector(name: str, text: str) -> int | Predicate:
    if re.fullmatch("[0-9]+", text):
        return int(text)
    key, equals, value = text.partition("=")
    if not key or not equals:
        hint = "write a position, such as [0], or a key and its value, such as [kind=Controller]"
        raise invalid(f'constraint path "{name}": "{text}" selects no item', hint)
    return Predicate(key, value)


def _selector_text(selector: int | Predicate) -> str:
    return "=".join(selector) if isinstance(selector, Predicate) else str(selector)
