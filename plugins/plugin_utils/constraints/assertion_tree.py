# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of expectations against a value, as Kyverno's assertion trees are (kyverno-json, pkg/core/assertion).

A key is the name of a field, or ``(expression)`` for what JMESPath makes of the value; ``(expression)->name`` gives
that a name for what stands below, ``~.key`` and ``~index.key`` go through its items; ``\\key\\`` takes off the meaning
of signs. A list has as many items as the tree says. A leaf is compared, and may be an expression, too.
"""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.codec import type_name
from ..errors import AicrError, invalid
from .query import Bindings, Query
from .query_functions import Unevaluable, equal, is_number

_EACH = re.compile(r"~(\w+)?\.(.*)", re.ASCII)
_NAMED = re.compile(r"(.*)\s*->\s*(\w+)", re.ASCII)
_PLAIN = re.compile(r"\\(.+)\\")
_EXPRESSION = re.compile(r"\((?:(\w+);)?(.+)\)", re.ASCII)
_COMPILERS = (None, "jp", "default")


@dataclass(frozen=True)
class Mismatch:
    """Where a value is not what a tree expects.

    :ivar path: into the value, with expressions as they are written: ``status.conditions[0].status``.
    :ivar expected: what is due.
    :ivar actual: what is there.
    :ivar absent: whether there is nothing at all.
    """

    path: str
    expected: object
    actual: object
    absent: bool = False


@dataclass(frozen=True)
class _Leaf:
    expected: object

    def mismatches(self, value: object, bindings: Bindings, path: str) -> Iterator[Mismatch]:
        expected = self.expected(value, bindings) if isinstance(self.expected, Query) else self.expected
        if not _match(expected, value, path):
            yield Mismatch(path, expected, value)


@dataclass(frozen=True)
class _List:
    items: tuple[Tree, ...]

    def mismatches(self, value: object, bindings: Bindings, path: str) -> Iterator[Mismatch]:
        if value is None:
            yield Mismatch(path, f"a list of {len(self.items)}", None, absent=True)
            return
        if not isinstance(value, list):
            raise Unevaluable(f"{path}: a list is due, not {type_name(value)}")
        if len(value) != len(self.items):
            yield Mismatch(path, f"a list of {len(self.items)}", value)
            return
        for index, (tree, item) in enumerate(zip(self.items, value, strict=True)):
            yield from tree.mismatches(item, bindings, f"{path}[{index}]")


@dataclass(frozen=True)
class _Entry:
    """One key of a mapping and what is below it."""

    key: str
    projection: Query | str
    each: bool
    index_name: str | None
    name: str | None
    tree: Tree

    def mismatches(self, value: object, bindings: Bindings, path: str) -> Iterator[Mismatch]:
        if isinstance(self.projection, Query):
            projected = self.projection(value, bindings)
        elif value is None or (isinstance(value, dict) and self.projection not in value):
            yield Mismatch(path, shown(self.tree), None, absent=True)
            return
        elif isinstance(value, dict):
            projected = value[self.projection]
        else:
            raise Unevaluable(f"{path}: {type_name(value)} has no fields")
        if self.name is not None:
            bindings = {**bindings, self.name: projected}
        if not self.each:
            yield from self.tree.mismatches(projected, bindings, path)
            return
        for index, item in _items(projected, path):
            inner = bindings if self.index_name is None else {**bindings, self.index_name: index}
            yield from self.tree.mismatches(item, inner, f"{path}[{index}]")


@dataclass(frozen=True)
class Map:
    entries: tuple[_Entry, ...]

    def mismatches(self, value: object, bindings: Bindings, path: str) -> Iterator[Mismatch]:
        if not self.entries and value is None:
            yield Mismatch(path, "anything", None, absent=True)
        for entry in self.entries:
            yield from entry.mismatches(value, bindings, f"{path}.{entry.key}" if path else entry.key)


Tree = _Leaf | _List | Map


def tree_of(document: object, path: str = "") -> Tree:
    """A tree of YAML's values, compiled.

    :raises AicrError: INVALID_REQUEST, with the path, for what cannot be evaluated whatever it meets.
    """
    if isinstance(document, Mapping):
        return Map(tuple(_entry(key, value, f"{path}.{key}" if path else str(key)) for key, value in document.items()))
    if isinstance(document, list):
        return _List(tuple(tree_of(item, f"{path}[{index}]") for index, item in enumerate(document)))
    if not isinstance(document, str):
        return _Leaf(document)
    each, _unused, name, statement = _parts(document, path)
    if each or name:
        raise invalid(f'{path}: "{document}" goes through items or names something, which only a key can')
    return _Leaf(statement)


def mismatches(tree: Tree, value: object) -> list[Mismatch]:
    """Where a value is not what a tree expects; empty if it is.

    :raises Unevaluable: the tree makes no sense of the value. Chainsaw takes this for a failure, whatever else holds.
    """
    return list(tree.mismatches(value, {}, ""))


def states(tree: Tree, path: Sequence[str], value: object) -> bool:
    """Whether a tree asks for a plain value at a path of plain keys."""
    if not path:
        return isinstance(tree, _Leaf) and equal(tree.expected, value)
    entries = tree.entries if isinstance(tree, Map) else ()
    return any(states(entry.tree, path[1:], value) for entry in entries if entry.projection == path[0])


def fields_of(tree: Tree) -> frozenset[str] | None:
    """The fields of a value that a tree looks at; ``None`` if it may be any."""
    entries = tree.entries if isinstance(tree, Map) else ()
    names = frozenset(entry.projection for entry in entries if isinstance(entry.projection, str))
    return names if len(names) == len(entries) else None


def _entry(key: object, value: object, path: str) -> _Entry:
    if not isinstance(key, str):
        raise invalid(f"{path}: a key is text, not {type_name(key)}", "quote it")
    each, index_name, name, projection = _parts(key, path)
    return _Entry(key, projection, each, index_name, name, tree_of(value, path))


def _parts(text: str, path: str) -> tuple[bool, str | None, str | None, Query | str]:
    """Whether to go through items, their index's name, the name of the whole, and what is meant (expression.go)."""
    each = _EACH.fullmatch(text)
    text = each[2] if each else text
    named = _NAMED.fullmatch(text)
    text = named[1] if named else text
    return bool(each), each[1] if each else None, named[2] if named else None, _projection(text, path)


def _projection(text: str, path: str) -> Query | str:
    plain, expression = _PLAIN.fullmatch(text), _EXPRESSION.fullmatch(text)
    if plain or not expression:
        return plain[1] if plain else text
    if expression[1] not in _COMPILERS:
        raise invalid(f'{path}: "{expression[1]};" asks for a compiler that there is not', "write it in JMESPath")
    try:
        return Query(expression[2])
    except AicrError as error:
        raise AicrError(error.code, f"{path}: {error.message}", error.hint, error.details) from None


def _items(value: object, path: str) -> Sequence[tuple[object, object]]:
    if isinstance(value, list):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    raise Unevaluable(f"{path}: a list or a mapping is due, not {type_name(value)}")


def _match(expected: object, actual: object, path: str) -> bool:
    """A leaf's comparison (pkg/core/matching): what is expected of a mapping is a part of it, numbers are numbers."""
    if isinstance(expected, list):
        if not isinstance(actual, list):
            raise Unevaluable(f"{path}: a list is due, not {type_name(actual)}")
        same = len(expected) == len(actual)
        return same and all(_match(one, other, path) for one, other in zip(expected, actual, strict=True))
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            raise Unevaluable(f"{path}: a mapping is due, not {type_name(actual)}")
        return all(key in actual and _match(value, actual[key], path) for key, value in expected.items())
    if expected is None or actual is None:
        return expected is actual
    if is_number(expected) and is_number(actual):
        return expected == actual
    if type(expected) is not type(actual):
        raise Unevaluable(f"{path}: {type_name(expected)} is due, not {type_name(actual)}")
    return equal(expected, actual)


def shown(tree: Tree) -> object:
    """What a tree expects, in few words."""
    if isinstance(tree, _Leaf):
        return f"({tree.expected.text})" if isinstance(tree.expected, Query) else tree.expected
    if isinstance(tree, _List):
        return f"a list of {len(tree.items)}"
    return ", ".join(f"{entry.key}: {shown(entry.tree)}" for entry in tree.entries) or "anything"
