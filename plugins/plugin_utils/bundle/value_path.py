# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
r"""Paths into a component's values: ``controller.nodeSelector.nvidia\.com/gpu``.

Every change copies the mappings on the way and shares the rest, so that nothing that goes in is altered.
"""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..catalog import merge_overrides
from ..errors import AicrError, invalid
from ..ownership.paths import segments

Path = tuple[str, ...]
Values = Mapping[str, object]

_WRITTEN = re.compile(r"(?:[\w/-]|\\[.\\])+(?:\.(?:[\w/-]|\\[.\\])+)*", re.ASCII)


class Absent:
    """What :func:`find` gives where there is nothing; ``null`` is something."""

    def __bool__(self) -> bool:
        return False


ABSENT = Absent()


class Blocked(Exception):
    """A path leads through something that is no mapping."""

    def __init__(self, path: Path, value: object) -> None:
        super().__init__(dotted(path))
        self.path = path
        self.value = value


def parse_path(text: str, place: str) -> Path:
    r"""The keys of a path as a user writes it; ``\.`` is a dot within a key.

    :param place: what to call the option in messages.
    :raises AicrError: INVALID_REQUEST: empty, empty keys, positions of lists, characters that no key of a chart has.
    """
    if "[" in text or "]" in text:
        raise invalid(
            f'{place}: path "{text}" has a list position, which cannot be addressed',
            "give the whole list with set_json or set_file",
            path=text,
        )
    if not _WRITTEN.fullmatch(text):
        raise invalid(
            f'{place}: "{text}" is no path of keys joined by dots',
            r"keys have letters, digits, - _ and /; a dot within a key is written \.",
            path=text,
        )
    return segments(text)


def dotted(path: Path) -> str:
    r"""The path as a user writes it."""
    return ".".join(key.replace("\\", "\\\\").replace(".", "\\.") for key in path)


def find(values: object, path: Path) -> object:
    """What stands at a path, or :data:`ABSENT`."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return ABSENT
        values = values[key]
    return values


def put(values: Values, path: Path, value: object) -> dict[str, object]:
    """The values with one thing at a path; missing and ``null`` parents become mappings.

    :raises Blocked: a parent is there and is no mapping.
    """
    key, *rest = path
    changed = dict(values)
    if not rest:
        changed[key] = value
        return changed
    below = values.get(key)
    if below is None:
        below = {}
    if not isinstance(below, Mapping):
        raise Blocked((key,), below)
    try:
        changed[key] = put(below, tuple(rest), value)
    except Blocked as blocked:
        raise Blocked((key, *blocked.path), blocked.value) from None
    return changed


def drop(values: Values, path: Path) -> dict[str, object]:
    """The values without what stands at a path; parents that are left empty go with it."""
    key, *rest = path
    changed = dict(values)
    below = changed.get(key)
    if not rest or not isinstance(below, Mapping):
        changed.pop(key, None)
        return changed
    remaining = drop(below, tuple(rest))
    if remaining:
        changed[key] = remaining
    else:
        del changed[key]
    return changed


def leaves(values: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Everything in values that is no mapping with entries, by its path.

    A mapping with a key that is no text is one thing: merging takes it as a whole, too.
    """
    if isinstance(values, Mapping) and values and all(type(key) is str for key in values):
        for key, value in values.items():
            yield from leaves(value, (*path, key))
    else:
        yield path, values


def nest(entries: Iterable[tuple[Path, object]]) -> Values:
    """The values whose :func:`leaves` these are.

    Where two of them disagree about the shape (``a: null`` by an alias, ``a.b`` by the name), the later one is laid
    over the earlier.
    """
    values: Values = {}
    for path, value in entries:
        values = merge_overrides(values, _below(path, value))
    return values


def _below(path: Path, value: object) -> Values:
    key, *rest = path
    return {key: _below(tuple(rest), value) if rest else value}


def meets(one: Path, other: Path) -> bool:
    """Whether two paths are equal or one lies below the other."""
    return all(mine == theirs for mine, theirs in zip(one, other, strict=False))


def blocked_problem(place: str, component: str, path: Path, blocked: Blocked) -> AicrError:
    """The refusal of a path that leads through something that is no mapping."""
    kind = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list"}
    return invalid(
        f'{place}: "{dotted(blocked.path)}" of {component} is {kind.get(type(blocked.value), "a value")}, no mapping, '
        f"so {dotted(path)} cannot lie below it",
        "override the parent as a whole, or drop one of the two overrides",
        component=component,
        path=dotted(path),
    )
