# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decode documents into frozen dataclasses and encode them back; the dataclass is the one definition of an artifact.

A field's type says what is due: ``str``, ``bool``, ``int``, ``object`` (anything), ``Mapping[str, object]`` (a plain
mapping that is carried along), another dataclass, ``tuple`` of these, ``X | None`` (absent). Absent is ``None``, empty
is ``()``. A field called ``extra`` takes the keys that a lenient document has beyond the known ones.
"""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import dataclasses
import difflib
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from ..errors import AicrError, invalid, raise_all

T = TypeVar("T")
Path = tuple[str | int, ...]


@dataclasses.dataclass
class Reading:
    """What one decoding is told and what it finds.

    :param source: what to call the document in messages.
    :param strict: whether an unknown key is an error; otherwise it is kept in ``extra`` with a warning.
    :param locate: the line of a path within the source, for messages; ``None`` where lines mean nothing.
    """

    source: str
    strict: bool = True
    locate: Callable[[Path], int | None] | None = None
    problems: list[AicrError] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)

    def refuse(self, path: Path, message: str, hint: str = "") -> None:
        """Note a problem at a path; all of them are raised together at the end."""
        self.problems.append(invalid(f"{self.place(path)}: {message}", hint, path=dotted(path), source=self.source))

    def place(self, path: Path) -> str:
        """``source:line: path`` as far as they are known."""
        line = self.locate(path) if self.locate else None
        start = f"{self.source}:{line}" if line else self.source
        return f"{start}: {dotted(path)}" if path else start


def dotted(path: Path) -> str:
    """A path as people write it: ``componentRefs[3].version``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def key(name: str, default: Any = None) -> Any:
    """A dataclass field whose key in the document is not the camelCase of its name."""
    return dataclasses.field(default=default, metadata={"key": name})  # pylint: disable=invalid-field-call  # for one


def decode(cls: type[T], document: object, reading: Reading) -> T:
    """The artifact in a document.

    :raises AicrError: INVALID_REQUEST with every unknown key, missing key and wrong type, sorted.
    """
    result = decode_at(cls, document, reading, ())
    raise_all(reading.problems)
    return result


def decode_at(cls: type[T], document: object, reading: Reading, path: Path) -> T:
    """Decode a part of a document; problems are noted in ``reading`` for :func:`errors.raise_all`."""
    return typing.cast(T, _converter(typing.cast(Any, cls))(document, reading, path))


def encode(value: object) -> Any:
    """The plain document of an artifact: only builtins, absent fields left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        document: dict[str, Any] = {}
        for attribute, name in _names(type(value)):
            item = getattr(value, attribute)
            if item is not None:
                document[name] = encode(item)
        document.update(getattr(value, "extra", None) or {})
        return document
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, Mapping) and any(
        isinstance(item, tuple) or dataclasses.is_dataclass(item) for item in value.values()
    ):
        return {name: encode(item) for name, item in value.items()}
    return value


def type_name(value: object) -> str:
    """A value's type in the words of a YAML author."""
    names: dict[type, str] = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a mapping",
        type(None): "null",
    }
    return names.get(type(value), type(value).__name__)


def shown_number(value: object) -> str:
    """A value that should be a number, for a message; Python itself refuses to write out one of 5,000 digits."""
    if isinstance(value, (str, float)) or (type(value) is int and abs(value) < 10**40):
        return f'"{value}"'
    return "a number of more than 40 digits" if type(value) is int else type_name(value)


def key_problem(name: object) -> tuple[str, str] | None:
    """What is wrong with a key that is not text, and the way out; JSON, and so Kubernetes and Helm, have no other."""
    if isinstance(name, str):
        return None
    if isinstance(name, bool) or name is None:
        shown = json.dumps(name)
    else:
        shown = shown_number(name).strip('"') if isinstance(name, (int, float)) else type_name(name)
    hint = "write it in quotes"
    if isinstance(name, float):
        hint += "; without them 1.30 and 1.3 are the same number"
    return f"the key {shown} is not text", hint


Converter = Callable[[object, Reading, Path], object]


@cache
def _names(cls: type) -> tuple[tuple[str, str], ...]:
    fields = dataclasses.fields(cls)
    return tuple((field.name, key_of(field)) for field in fields if field.name != "extra")


def key_of(field: dataclasses.Field[Any]) -> str:
    """The key of a field in a document."""
    head, *tail = field.name.split("_")
    return str(field.metadata.get("key") or head + "".join(word.capitalize() for word in tail))


@cache
def _converter(annotation: Any) -> Converter:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (object, Any):
        return _anything
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is tuple:
        return _sequence(_converter(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_converter(arguments[1]))
    if dataclasses.is_dataclass(annotation):
        return _dataclass(typing.cast(type, annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _enum(annotation)
    return _scalar(annotation)


def _anything(value: object, reading: Reading, path: Path) -> object:
    """A value as it is, but for keys that are not text, at any depth."""
    if type(value) is dict:
        for name, item in value.items():
            if (type(name) is str or _is_text(name, reading, path)) and type(item) in (dict, list):
                _anything(item, reading, (*path, name))
    elif type(value) is list:
        for index, item in enumerate(value):
            if type(item) in (dict, list):
                _anything(item, reading, (*path, index))
    return value


def _is_text(name: object, reading: Reading, path: Path) -> bool:
    """Whether a key of the mapping at a path is text; one that is not is noted."""
    problem = key_problem(name)
    if problem:
        reading.refuse(path, *problem)
    return problem is None


def _scalar(expected: type) -> Converter:
    due = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}[expected]
    quotes: dict[type, str] = {}
    if expected is str:
        quotes = {
            int: "write it in quotes",
            bool: "write it in quotes",
            float: "write it in quotes; without them 1.30 and 1.3 are the same number",
        }

    def convert(value: object, reading: Reading, path: Path) -> object:
        if type(value) is expected or (expected is float and type(value) is int):
            return value
        hint = quotes.get(type(value), "")
        shown = f" ({shown_number(value) if type(value) is int else value})".replace('"', "") if hint else ""
        reading.refuse(path, f"must be {due}, not {type_name(value)}{shown}", hint)
        return None

    return convert


def _enum(expected: type[Enum]) -> Converter:
    values = {member.value: member for member in expected}

    def convert(value: object, reading: Reading, path: Path) -> object:
        if isinstance(value, str) and value in values:
            return values[value]
        reading.refuse(path, f'"{value}" is not one of {", ".join(map(str, values))}')
        return None

    return convert


def _union(arguments: tuple[Any, ...]) -> Converter:
    choices = [argument for argument in arguments if argument is not type(None)]
    nullable = len(choices) < len(arguments)
    of_text = str in choices and len(choices) > 1
    convert_choice = _converter(next(choice for choice in choices if not (of_text and choice is str)))

    def convert(value: object, reading: Reading, path: Path) -> object:
        if value is None and nullable:
            return None
        if of_text and type(value) is str:
            return value
        return convert_choice(value, reading, path)

    return convert


def _sequence(convert_item: Converter) -> Converter:
    def convert(value: object, reading: Reading, path: Path) -> object:
        if type(value) is not list:
            reading.refuse(path, f"must be a list, not {type_name(value)}")
            return ()
        return tuple(convert_item(item, reading, (*path, index)) for index, item in enumerate(value))

    return convert


def _mapping(convert_value: Converter) -> Converter:
    def convert(value: object, reading: Reading, path: Path) -> object:
        if type(value) is not dict:
            reading.refuse(path, f"must be a mapping, not {type_name(value)}")
            return {}
        return {
            name: convert_value(item, reading, (*path, name))
            for name, item in value.items()
            if type(name) is str or _is_text(name, reading, path)
        }

    return convert


def _dataclass(cls: type) -> Converter:
    hints = typing.get_type_hints(cls)
    fields = dataclasses.fields(cls)
    names = dict(_names(cls))
    converters = {
        names[field.name]: (field.name, _converter(hints[field.name])) for field in fields if field.name in names
    }
    required = {names[field.name] for field in fields if field.name in names and is_required(field)}
    keeps_extra = any(field.name == "extra" for field in fields)

    def convert(value: object, reading: Reading, path: Path) -> object:
        if type(value) is not dict:
            reading.refuse(path, f"must be a mapping, not {type_name(value)}")
            return None
        attributes: dict[str, object] = {}
        extra: dict[str, object] = {}
        for name, item in value.items():
            if name in converters:
                attribute, convert_item = converters[name]
                if item is not None or name in required:
                    attributes[attribute] = convert_item(item, reading, (*path, name))
            elif not _is_text(name, reading, path):
                continue
            elif reading.strict or not keeps_extra:
                reading.refuse((*path, name), f'unknown key "{name}"', _meant(name, converters))
            else:
                extra[name] = _anything(item, reading, (*path, name))
                reading.warnings.append(f"{reading.place((*path, name))}: unknown key is kept but has no effect")
        missing = [name for name in required if converters[name][0] not in attributes]
        for name in missing:
            reading.refuse(path, f'key "{name}" is missing')
        if missing:
            return None
        if extra:
            attributes["extra"] = extra
        return cls(**attributes)

    return convert


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Whether a document must have the field."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _meant(name: str, known: Mapping[str, object] | Sequence[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f'did you mean "{close[0]}"?' if close else f"known keys: {', '.join(sorted(known))}"
