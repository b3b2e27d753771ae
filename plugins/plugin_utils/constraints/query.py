# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JMESPath as Chainsaw evaluates it; the library ``jmespath`` parses.

Chainsaw 0.2.12 evaluates with ``jmespath-community/go-jmespath``, which differs from the specification that the library
follows: whole numbers of an object are another type than numbers of an expression, only numbers have an order, what
follows ``.`` is not evaluated on null, and ``$name`` reads a binding. What that dialect adds besides (``let``,
arithmetic, the root node) the library does not parse: an expression with it is refused, and never means something else.
"""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer
from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

try:
    from jmespath.exceptions import JMESPathError
    from jmespath.parser import Parser
except ImportError as _missing:
    # ansible-test imports every file where no such package is; Query says what to install.
    JMESPATH_MISSING: ImportError | None = _missing
else:
    JMESPATH_MISSING = None

from ..errors import AicrError, internal, invalid
from .query_functions import FUNCTIONS, Unevaluable, call, equal, is_false, is_number

_READ = "binding of an assertion"
"""The name under which the library sees what reads a binding; nobody can write a function of this name."""
_TOKEN = re.compile(
    r"""'(?:\\'|[^'])*' | "(?:\\.|[^"\\])*" | `(?P<literal>(?:\\`|[^`])*)` | \$(?P<name>\w+) | (?P<root>\$)""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_ORDER = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}

Node = Mapping[str, Any]
Bindings = Mapping[str, object]


class Query:
    """A compiled expression.

    :ivar text: the expression as somebody wrote it.
    """

    def __init__(self, text: str) -> None:
        """Compile it.

        :raises AicrError: INVALID_REQUEST for what cannot be parsed, or calls an unknown function; INTERNAL if the
            package jmespath is missing.
        """
        if JMESPATH_MISSING is not None:
            raise internal(
                f"the Python package jmespath is missing on the controller ({JMESPATH_MISSING})",
                "python -m pip install jmespath, with the Python that runs Ansible",
            )
        self.text = text
        self._tree = _parsed(text)

    def __call__(self, value: object, bindings: Bindings) -> Any:
        """What the expression makes of a value.

        :raises Unevaluable: a function met a type that it does not take, or there is no such binding.
        """
        try:
            return _evaluated(self._tree, value, bindings)
        except Unevaluable as error:
            raise Unevaluable(f"({self.text}): {error}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Query({self.text!r})"


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Node:
    try:
        tree = Parser().parse(_TOKEN.sub(lambda token: _readable(token, text), text)).parsed
    except JMESPathError as error:
        said = str(error).partition("\n")[0].partition(" for expression")[0].rstrip(":. ")
        raise _refused(text, said) from error
    settled = _settled(tree)
    for name in _calls(settled):
        if name not in FUNCTIONS:
            raise _refused(text, f'there is no function "{name}"', f"there are {', '.join(sorted(FUNCTIONS))}")
    return settled


def _readable(token: re.Match[str], text: str) -> str:
    """A token in a form that the library parses: a binding is a field of a strange name."""
    if token["root"]:
        raise _refused(text, "the root node $ has no meaning in an assertion")
    if token["literal"] is not None:
        try:
            json.loads(token["literal"].replace("\\`", "`"))
        except ValueError:  # the library would take it for text
            raise _refused(text, f"`{token['literal']}` is no JSON", "write text as 'text'") from None
    return json.dumps(f"{_READ} {token['name']}") if token["name"] else token[0]


def _refused(text: str, why: str, hint: str = "") -> AicrError:
    return invalid(f'expression "({text})": {why}', hint or "see https://jmespath.org", expression=text)


def _settled(node: Node) -> Node:
    """The tree with bindings as nodes of their own, and with the numbers of its literals as Go decodes them."""
    kind, value = node["type"], node.get("value")
    children = [_settled(child) if isinstance(child, dict) else child for child in node["children"]]
    if kind == "field" and str(value).startswith(f"{_READ} "):
        return {"type": "binding", "value": str(value).removeprefix(f"{_READ} "), "children": []}
    if kind == "literal":
        return {**node, "value": _floats(value)}
    return {**node, "children": children}


def _floats(value: object) -> object:
    if type(value) is int:
        return float(value)
    if isinstance(value, list):
        return [_floats(item) for item in value]
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    return value


def _calls(node: Node) -> Iterator[str]:
    if node["type"] == "function_expression":
        yield node["value"]
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _calls(child)


def _evaluated(node: Node, value: Any, bindings: Bindings) -> Any:
    """The rules of pkg/interpreter/interpreter.go, node by node."""

    def of(child: Node, given: Any = value) -> Any:
        return _evaluated(child, given, bindings)

    def of_all(source: Any, child: Node) -> list[Any]:
        return [found for item in source if (found := of(child, item)) is not None]

    children = node["children"]
    match node["type"]:
        case "identity" | "current":
            return value
        case "literal":
            return node["value"]
        case "binding":
            if node["value"] not in bindings:
                raise Unevaluable(f"there is no binding ${node['value']} here")
            return bindings[node["value"]]
        case "field":
            return value.get(node["value"]) if isinstance(value, dict) else None
        case "index":
            length = len(value) if isinstance(value, list) else 0
            return value[node["value"]] if -length <= node["value"] < length else None
        case "slice":
            if children[2] == 0:  # a fault in a list alone, says the real Chainsaw
                if isinstance(value, list):
                    raise Unevaluable("the step of a slice cannot be 0")
                return None
            return value[slice(*children)] if isinstance(value, str | list) else None
        case "subexpression" | "index_expression":
            for child in children[:-1]:
                value = of(child, value)
                if value is None:
                    return None
            return of(children[-1], value)
        case "pipe":
            for child in children:
                value = of(child, value)
            return value
        case "or_expression":
            left = of(children[0])
            return of(children[1]) if is_false(left) else left
        case "and_expression":
            left = of(children[0])
            return left if is_false(left) else of(children[1])
        case "not_expression":
            return is_false(of(children[0]))
        case "comparator":
            left, right = of(children[0]), of(children[1])
            if node["value"] in ("eq", "ne"):
                return equal(left, right) is (node["value"] == "eq")
            return _ORDER[node["value"]](left, right) if is_number(left) and is_number(right) else None
        case "multi_select_list":
            return [of(child) for child in children]
        case "multi_select_dict":
            return {child["value"]: of(child["children"][0]) for child in children}
        case "function_expression":
            return call(node["value"], [of(child) for child in children])
        case "expref":
            return lambda item: of(children[0], item)
        case "projection":
            source = of(children[0])
            sliced = children[0]["type"] == "index_expression" and children[0]["children"][-1]["type"] == "slice"
            if sliced and isinstance(source, str):
                return source
            return of_all(source, children[1]) if isinstance(source, list) else None
        case kind:
            try:
                source = of(children[0])
            except Unevaluable:  # these three take an error there for null
                return None
            return _projected(kind, source, children, of, of_all)


def _projected(kind: str, source: Any, children: Any, of: Any, of_all: Any) -> Any:
    if kind == "value_projection":
        return of_all(source.values(), children[1]) if isinstance(source, dict) else None
    if not isinstance(source, list):
        return None
    if kind == "filter_projection":
        return of_all([item for item in source if not is_false(of(children[2], item))], children[1])
    return [part for item in source for part in (item if isinstance(item, list) else [item])]
