# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of JMESPath with the types of go-jmespath: a number is a float, a whole number of an object is none.

``sum`` is missing, since Kyverno has another one of that name, and so are Kyverno's own: no check needs them.
"""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer
from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Expression = Callable[[Any], Any]


class Unevaluable(Exception):
    """A tree or an expression makes no sense of the value that it met; Chainsaw takes that for a failure."""


def equal(left: object, right: object) -> bool:
    """Whether two values are the same, in type, too: neither 1 and 1.0 are, nor 1 and true."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    return left == right


def is_false(value: object) -> bool:
    """Whether a value counts as false: null, false, and what is empty; 0 does not."""
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


def is_number(value: object) -> bool:
    """Whether a value has an order."""
    return type(value) in (int, float)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """What a function of :data:`FUNCTIONS` makes of evaluated arguments.

    :raises Unevaluable: too few or too many of them, or of a type that it does not take.
    """
    kinds, function = FUNCTIONS[name]
    variadic = kinds[-1] is ...
    types = kinds[:-1] if variadic else kinds
    if len(arguments) < len(types) or (len(arguments) > len(types) and not variadic):
        raise Unevaluable(
            f"{name}() takes {len(types)}{' or more' if variadic else ''} arguments, not {len(arguments)}"
        )
    for index, argument in enumerate(arguments):
        expected = types[min(index, len(types) - 1)]
        if not any(_HAS_TYPE[kind](argument) for kind in expected.split()):
            raise Unevaluable(f"{name}() takes {expected.replace(' ', ' or ')}, not {_type_name(argument)}")
    return function(*arguments)


def _is_float(value: object) -> bool:
    return type(value) is float


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


_HAS_TYPE: Mapping[str, Callable[[Any], bool]] = {
    "any": lambda _unused: True,
    "number": _is_float,
    "string": _is_text,
    "array": _is_list,
    "object": lambda value: isinstance(value, dict),
    "numbers": lambda value: isinstance(value, list) and all(map(_is_float, value)),
    "strings": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "expression": callable,
}


def _type_name(value: object) -> str:
    return "a whole number of an object" if type(value) is int else _type(value)


def _type(value: object) -> str:
    names = {float: "number", str: "string", list: "array", dict: "object", bool: "boolean", type(None): "null"}
    if type(value) not in names:
        raise Unevaluable("type() knows no whole numbers of an object")
    return names[type(value)]


def _contains(subject: Any, search: Any) -> bool:
    if isinstance(subject, str):
        return isinstance(search, str) and search in subject
    return any(equal(search, item) for item in subject)


def _join(separator: str, texts: list[str]) -> str:
    return separator.join(texts)


def _merge(*objects: dict[str, Any]) -> dict[str, Any]:
    return {key: value for one in objects for key, value in one.items()}


def _keyed(items: list[Any], expression: Expression) -> list[Any]:
    keys = [expression(item) for item in items]
    if not (all(map(_is_float, keys)) or all(map(_is_text, keys))):
        raise Unevaluable("it is not always a number, or always a string, by which items are to be ordered")
    return keys


def _best_by(choose: Any) -> Callable[[list[Any], Expression], Any]:
    def best(items: list[Any], expression: Expression) -> Any:
        if len(items) < 2:
            return items[0] if items else None
        keys = _keyed(items, expression)
        return items[keys.index(choose(keys))]

    return best


def _sort_by(items: list[Any], expression: Expression) -> list[Any]:
    if len(items) < 2:
        return items
    keys = _keyed(items, expression)
    return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]


def _to_number(value: object) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value, re.ASCII):
        return float(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _to_string(value: object) -> str:
    return value if isinstance(value, str) else _go_json(value)


def _go_json(value: object) -> str:
    """JSON as Go writes it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if isinstance(value, list):
        return f"[{','.join(map(_go_json, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_go_json(key)}:{_go_json(value[key])}" for key in sorted(value)) + "}"
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[<>&\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", text)


FUNCTIONS: Mapping[str, tuple[tuple[Any, ...], Callable[..., Any]]] = {
    "abs": (("number",), abs),
    "avg": (("numbers",), lambda numbers: math.fsum(numbers) / len(numbers) if numbers else None),
    "ceil": (("number",), lambda number: float(math.ceil(number))),
    "contains": (("array string", "any"), _contains),
    "ends_with": (("string", "string"), str.endswith),
    "floor": (("number",), lambda number: float(math.floor(number))),
    "join": (("string", "strings"), _join),
    "keys": (("object",), list),
    "length": (("string array object",), lambda value: float(len(value))),
    "map": (("expression", "array"), lambda expression, items: [expression(item) for item in items]),
    "max": (("numbers strings",), lambda items: max(items, default=None)),
    "max_by": (("array", "expression"), _best_by(max)),
    "merge": (("object", ...), _merge),
    "min": (("numbers strings",), lambda items: min(items, default=None)),
    "min_by": (("array", "expression"), _best_by(min)),
    "not_null": (("any", ...), lambda *values: next((value for value in values if value is not None), None)),
    "reverse": (("array string",), lambda value: value[::-1]),
    "sort": (("strings numbers",), sorted),
    "sort_by": (("array", "expression"), _sort_by),
    "starts_with": (("string", "string"), str.startswith),
    "to_array": (("any",), lambda value: value if isinstance(value, list) else [value]),
    "to_number": (("any",), _to_number),
    "to_string": (("any",), _to_string),
    "type": (("any",), _type),
    "values": (("object",), lambda value: list(value.values())),
}
"""What an expression may call: which types each takes, ``...`` for more of the last, and what it does."""
