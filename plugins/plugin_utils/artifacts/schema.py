# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON Schemas of the documents that :mod:`codec` decodes: what it accepts they accept, unknown keys they refuse."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from . import codec

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SCALARS: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def schema_of(cls: type, title: str, header: Schema, *, strict: bool = True, without: Sequence[str] = ()) -> Schema:
    """The schema of a document.

    :param header: what ``kind`` and ``apiVersion`` must be, which the dataclass does not say.
    :param strict: whether unknown keys are refused everywhere; otherwise the fields called ``extra`` take them.
    :param without: attributes of the document that another form of it has.
    """
    definitions: dict[str, Schema] = {}
    document = _object(cls, strict, definitions)
    for name in without:
        document["properties"].pop(name, None)
    document["properties"].update(header)
    return {"$schema": DIALECT, "title": title, **document, "$defs": dict(sorted(definitions.items()))}


def _object(cls: type, strict: bool, definitions: dict[str, Schema]) -> Schema:
    hints = typing.get_type_hints(cls)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for field in dataclasses.fields(cls):
        if field.name == "extra":
            continue
        key, schema = codec.key_of(field), _schema(hints[field.name], strict, definitions)
        if codec.is_required(field):
            required.append(key)
        elif schema is not True and not _takes_null(schema):
            schema = {"anyOf": [schema, {"type": "null"}]}  # null says as much as leaving the key out
        properties[key] = schema
    keeps = not strict and any(field.name == "extra" for field in dataclasses.fields(cls))
    return {
        "type": "object",
        "properties": properties,
        **({"required": sorted(required)} if required else {}),
        "additionalProperties": keeps,
    }


def _schema(annotation: Any, strict: bool, definitions: dict[str, Schema]) -> Any:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (object, Any):
        return True
    if origin in (typing.Union, types.UnionType):
        choices = [_schema(each, strict, definitions) for each in arguments if each is not types.NoneType]
        nullable = [{"type": "null"}] if types.NoneType in arguments else []
        return {"anyOf": [*choices, *nullable]}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], strict, definitions)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], strict, definitions)}
    if dataclasses.is_dataclass(annotation):
        name = annotation.__name__  # type: ignore[union-attr]
        if name not in definitions:
            definitions[name] = {}  # a class that holds itself finds it here
            definitions[name] = _object(typing.cast(type, annotation), strict, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if issubclass(annotation, Enum):
        return {"enum": [member.value for member in annotation]}
    return {"type": _SCALARS[annotation]}


def _takes_null(schema: Schema) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())
