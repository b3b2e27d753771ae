# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user changes at bundling, by whatever surface, in one form (spec/surface.md 1.11, *Override semantics*)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path as FilePath

from .. import yamlio
from ..artifacts.codec import Reading, decode, type_name
from ..catalog.registry import RESERVED
from ..errors import AicrError, invalid, not_found
from .credential import credentials
from .scalar import read_scalar
from .value_path import Path, dotted, leaves, parse_path


class Surface(StrEnum):
    """The options by which values come in, as messages call them."""

    VALUES = "values"
    SET = "set"
    SET_FILE = "set_file"
    SET_JSON = "set_json"
    DYNAMIC = "dynamic"


@dataclass(frozen=True)
class Override:
    """One thing that a user said about one path.

    :ivar component: the component's own name, or the written one if nobody knows it.
    :ivar written: the name or alias that the user wrote.
    :ivar text: what was written as value, of ``set`` alone.
    """

    surface: Surface
    component: str
    written: str
    path: Path
    value: object = None
    text: str = ""

    @property
    def place(self) -> str:
        """The override as the user wrote it, without its value."""
        return f"{self.surface.value} {self.written}:{dotted(self.path)}"

    @property
    def where(self) -> str:
        """The same by the component's own name."""
        return f"{self.component}:{dotted(self.path)}"

    @property
    def is_toggle(self) -> bool:
        """Whether it is about the presence of the component: ``enabled`` is no value of a chart."""
        return self.path[0] == TOGGLE


TOGGLE = "enabled"

Resolve = Callable[[str], str]
"""A component's name or alias to its name; an unknown one to itself."""

_ENTRY = re.compile(r"(?P<component>[^:=]*):(?P<path>(?:[^=\\]|\\.)*)(?:=(?P<value>.*))?", re.DOTALL)


@dataclass(frozen=True)
class OverrideInput:
    """The override options of a request, as the user gave them."""

    values: Mapping[str, object]
    set: Sequence[str]
    set_json: Sequence[str]
    set_file: Sequence[str]
    dynamic: Sequence[str]


def read_overrides(given: OverrideInput, resolve: Resolve) -> tuple[list[Override], list[AicrError], list[str]]:
    """All overrides in the order in which they take effect, what could not be read as one, and what says two things.

    A canonical name wins over an alias, then the later entry over the earlier one, for the same path of one surface.
    """
    problems: list[AicrError] = []
    found: list[Override] = []
    notes: list[str] = []
    for surface, read in (
        (Surface.VALUES, _values(given.values, resolve, problems)),
        (Surface.SET, _entries(given.set, Surface.SET, resolve, problems)),
        (Surface.SET_FILE, _entries(given.set_file, Surface.SET_FILE, resolve, problems)),
        (Surface.SET_JSON, _entries(given.set_json, Surface.SET_JSON, resolve, problems)),
        (Surface.DYNAMIC, _entries(given.dynamic, Surface.DYNAMIC, resolve, problems)),
    ):
        latest: dict[tuple[str, Path], Override] = {}
        for override in sorted(read, key=lambda override: override.written == override.component):
            notes += _contradiction(latest.pop((override.component, override.path), None), override)
            latest[override.component, override.path] = override
        if surface is Surface.VALUES:
            found += latest.values()
        else:
            found += sorted(latest.values(), key=lambda override: (len(override.path), override.path))
    effective: dict[tuple[str, Path], Override] = {}
    for override in found:
        if override.surface is not Surface.DYNAMIC:  # what stands open may well have a value to begin with
            notes += _contradiction(effective.get((override.component, override.path)), override)
            effective[override.component, override.path] = override
    return found, problems, notes


def _contradiction(earlier: Override | None, later: Override) -> Iterator[str]:
    """One path with two values: the later one counts, as in the reference, but whoever wrote both should know."""
    if earlier is None or later.surface is Surface.DYNAMIC:
        return
    if (type(earlier.value), earlier.value) == (type(later.value), later.value):
        return
    if earlier.place == later.place:
        yield f"{later.place} is given twice with different values; the last one counts"
    else:
        yield f"{later.place} and {earlier.place} say different things; {later.place} counts"


def _values(given: Mapping[str, object], resolve: Resolve, problems: list[AicrError]) -> Iterator[Override]:
    for written, values in given.items():
        if not isinstance(values, Mapping):
            problems.append(
                invalid(
                    f"values {written}: must be a mapping of values, not {type_name(values)}",
                    "write values as {component: {key: value}}",
                    component=written,
                )
            )
            continue
        for path, value in leaves(values) if values else ():
            if path:
                yield Override(Surface.VALUES, resolve(written), written, path, value)
            else:
                problems.append(
                    invalid(f"values {written}: has keys that are not text", "quote them", component=written)
                )


def _entries(given: Sequence[str], surface: Surface, resolve: Resolve, problems: list[AicrError]) -> Iterator[Override]:
    for entry in given:
        try:
            override = _entry(entry, surface, resolve)
        except AicrError as error:
            problems.append(error)
        else:
            if override:
                yield override


def _entry(entry: str, surface: Surface, resolve: Resolve) -> Override | None:
    takes_value = surface is not Surface.DYNAMIC
    form = "component:path=value" if takes_value else "component:path"
    match = _ENTRY.fullmatch(entry)
    shown, _unused, rest = entry.partition("=")
    if not match:
        whole = shown if any(credentials(rest, (shown,))) else entry
        raise invalid(f'{surface.value}: "{whole}" names no component and path', f"write {form}")
    written, text, value = match["component"], match["path"], match["value"]
    if not written or not text:
        raise invalid(f'{surface.value}: "{shown}" has an empty component or path', f"write {form}")
    if written == RESERVED:
        return None
    if takes_value and not value:
        raise invalid(f'{surface.value}: "{shown}" has no value', f'write {form}; an empty text is ""', path=text)
    if not takes_value and value is not None:
        raise invalid(
            f'{surface.value}: "{shown}" has a value, but a dynamic path gets its value when it is installed',
            f"write {form} and keep the value in set",
            path=text,
        )
    path = parse_path(text, f"{surface.value} {written}")
    component = resolve(written)
    if surface is Surface.DYNAMIC:
        return Override(surface, component, written, path)
    place = f"{surface.value} {written}:{text}"
    return Override(surface, component, written, path, _VALUE_OF[surface](value, path, place), value)


def _scalar(text: str, path: Path, _place: str) -> object:
    return read_scalar(text, path)


def _json(text: str, _path: Path, place: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)
    except json.JSONDecodeError as error:
        raise invalid(
            f"{place}: is not JSON: {error.msg} at character {error.pos + 1}",
            'write text in double quotes, such as "x"; set takes bare words',
        ) from None
    except (ValueError, RecursionError) as error:
        raise invalid(f"{place}: is not JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _unused in pairs]
        raise ValueError(f'duplicate key "{next(key for key in keys if keys.count(key) > 1)}"')
    return mapping


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number that is none, or is too large")
    return number


def _file(name: str, path: Path, place: str) -> object:
    file = FilePath(name)
    if not file.exists():
        raise not_found(f"{place}: no such file: {name}", "name a YAML or JSON file", path=name)
    if not file.is_file():
        raise invalid(f"{place}: {name} is no regular file", "name a YAML or JSON file", path=name)
    content = yamlio.read_bytes(file)
    value = next(iter(yamlio.load_all(content, name)), None)
    if isinstance(value, (int, float)):
        # The file's one scalar is text of its own, like that of a set.
        return read_scalar(content.decode().partition("#")[0].strip(), path)
    return decode(object, value, Reading(name))


_VALUE_OF: Mapping[Surface, Callable[[str, Path, str], object]] = {
    Surface.SET: _scalar,
    Surface.SET_JSON: _json,
    Surface.SET_FILE: _file,
}


def deployer_options(entries: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options of the deployer among the entries of ``set``: ``deployer:key=value``."""
    for entry in entries:
        component, _unused, rest = entry.partition(":")
        if component == RESERVED:
            key, _unused, value = rest.partition("=")
            yield key, value
