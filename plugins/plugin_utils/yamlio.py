# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML as the reference reads it, and as nobody can misread it.

Go's yaml.v3 is the model for reading (spec/engine.md section 0): only ``true`` and ``false`` are booleans, an untagged
date is text, ``0755`` is octal, a duplicate key is an error. The writer sorts keys and quotes every text that YAML 1.1
or YAML 1.2 would take for something else. Nothing else in the project calls ``yaml``.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml import CSafeDumper, CSafeLoader  # an ImportError where PyYAML lacks libyaml

from .errors import AicrError, invalid, not_found

MAX_BYTES = 64 * 1024 * 1024
MAX_EXPANDED_NODES = 250_000
MAX_DEPTH = 200
PART_NODES = 2_000
"""A document with more nodes is written in parts: each entry of its own that has as many, runs of the others."""
RUN_ENTRIES = 100

NOT_FINITE = "a number that is none (.nan), or is infinite; JSON, and so Kubernetes and Helm, have neither"

_KEEP_ONE = "keep one of the two"
_FINITE = "write a finite number, or text in quotes"
_MEND = "mend that place; text with signs that mean something to YAML stands in quotes"
_SPLIT = "name the file that is meant; no artifact comes near this bound"

_MAY_BE_DEEP = re.compile(rf"\n[-? \t]{{{MAX_DEPTH}}}")
_NOT_EMPTY = re.compile("^(?=.)", re.MULTILINE)
_NULL, _BOOL, _INT, _FLOAT, _TEXT, _MERGE, _MAP, _SEQ = (
    f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "merge", "map", "seq")
)
_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|0o?[0-7_]*|[1-9][0-9_]*)$")
_NUMBER = re.compile(
    r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*\.[0-9_]*)(?:[eE][-+]?[0-9]+)?$"
    r"|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$|[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$"
)


class _Loader(CSafeLoader):
    """The C parser with the scalar rules of this module instead of PyYAML's."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return _tag_read(value)
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: dict[str, Any] = {}
        for key, _value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                first = seen.setdefault(key.value, key)
                if first is not key:
                    problem = f'duplicate key "{key.value}", first in line {first.start_mark.line + 1}'
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
        return super().construct_mapping(node, deep)


def _integer(_loader: Any, node: Any) -> int:
    text = node.value.replace("_", "")
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.lstrip("+"))
    if digits.isdigit():
        return sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)
    return sign * int(digits, 0)


def _float(_loader: Any, node: Any) -> float:
    number = float(
        node.value.replace("_", "")
        .replace(".inf", "inf")
        .replace(".Inf", "inf")
        .replace(".INF", "inf")
        .replace(".nan", "nan")
        .replace(".NaN", "nan")
        .replace(".NAN", "nan")
    )
    if not math.isfinite(number):
        raise yaml.MarkedYAMLError(problem=NOT_FINITE, problem_mark=node.start_mark)
    return number


_Loader.yaml_implicit_resolvers = {}
_Loader.add_implicit_resolver(_NULL, re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(_INT, _INTEGER, list("-+0123456789"))
_Loader.add_implicit_resolver(_FLOAT, _NUMBER, list("-+.0123456789"))
_Loader.add_implicit_resolver(_MERGE, re.compile("<<$"), ["<"])
_Loader.add_constructor(_BOOL, lambda _loader, node: node.value.lower() == "true")
_Loader.add_constructor(_INT, _integer)
_Loader.add_constructor(_FLOAT, _float)


class _Dumper(CSafeDumper):
    """The C emitter; resolves by YAML 1.1 (PyYAML's own) and 1.2, so that it quotes what either would misread."""

    def represent_data(self, data: Any) -> Any:
        """The node of a value; those of which documents consist do not take the way by PyYAML's tables."""
        kind = type(data)
        if kind is str:
            return yaml.ScalarNode(_TEXT, data, style="|" if "\n" in data else None)
        if kind is dict:
            pairs = [(self.represent_data(key), self.represent_data(data[key])) for key in _sorted(data)]
            return yaml.MappingNode(_MAP, pairs, flow_style=False)
        if kind is list:
            return yaml.SequenceNode(_SEQ, [self.represent_data(item) for item in data], flow_style=False)
        return super().represent_data(data)

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return _tag_written(value)
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]


def _sorted(mapping: dict[Any, Any]) -> Iterable[Any]:
    try:
        return sorted(mapping)
    except TypeError:  # keys of several types have no order but their own
        return mapping


_Dumper.add_implicit_resolver(_BOOL, re.compile("[yYnN]$"), list("yYnN"))
_Dumper.add_implicit_resolver(_INT, _INTEGER, list("-+0123456789"))
_Dumper.add_implicit_resolver(_FLOAT, _NUMBER, list("-+.0123456789"))


@lru_cache(maxsize=8192)  # keys and words recur by the thousand, and PyYAML resolves in Python
def _tag_read(plain: str) -> str:
    return _tag_of(_Loader.yaml_implicit_resolvers, plain)


@lru_cache(maxsize=8192)
def _tag_written(plain: str) -> str:
    return _tag_of(_Dumper.yaml_implicit_resolvers, plain)


def _tag_of(resolvers: Any, plain: str) -> str:
    candidates = [*resolvers.get(plain[:1], ()), *resolvers.get(None, ())]
    return next((tag for tag, pattern in candidates if pattern.match(plain)), _TEXT)


def load(text: str | bytes, source: str, max_bytes: int = MAX_BYTES) -> Any:
    """The one document in a YAML or JSON text, in plain builtins.

    :param text: the document; bytes are UTF-8.
    :param source: what to call it in an error (a path, an option's name).
    :param max_bytes: refuse a longer text.
    :raises AicrError: INVALID_REQUEST with source, line and column: syntax, encoding, duplicate key, more than one
        document, size, nesting or alias bound.
    """
    documents = list(load_all(text, source, max_bytes))
    if len(documents) > 1:
        raise invalid(f"{source}: holds {len(documents)} documents where one is due", "keep one document per file")
    return documents[0] if documents else None


def load_all(text: str | bytes, source: str, max_bytes: int = MAX_BYTES) -> Iterator[Any]:
    """All documents of a text; see :func:`load`."""
    if len(text) > max_bytes:
        raise invalid(f"{source}: {len(text)} bytes are more than the {max_bytes} that are read", _SPLIT)
    try:
        content = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise invalid(
            f"{source}: is not UTF-8 text (byte {error.start})", "save it as UTF-8, or name the file that is meant"
        ) from error
    if content.lstrip()[:1] in ("{", "["):
        try:
            yield json.loads(content, object_pairs_hook=_unique_pairs, parse_float=_finite, parse_constant=_finite)
            return
        except _DuplicateKey as error:
            raise invalid(f'{source}: duplicate key "{error}"', _KEEP_ONE) from error
        except _NotFinite:
            raise invalid(f"{source}: holds {NOT_FINITE}", _FINITE) from None
        except (ValueError, RecursionError):
            pass  # flow-style YAML begins in the same way
    try:
        _refuse_depth(content, source)
        for document in yaml.load_all(content, _Loader):
            if "&" in content:
                _refuse_expansion(document, source)
            yield document
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, source) from error
    except yaml.YAMLError as error:
        raise invalid(f"{source}: is not valid YAML: {' '.join(str(error).split())}", _MEND) from error
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        # What went wrong in a constructor would be told with the value, which may be a password.
        raise invalid(
            f"{source}: is not valid YAML: a value is not of the type that it claims",
            "write the value as its tag (!!…) says, or drop the tag",
        ) from None


def load_file(path: Path, max_bytes: int = MAX_BYTES) -> Any:
    """The one document in a file; see :func:`load`. NOT_FOUND if there is no such file."""
    return load(read_bytes(path, max_bytes), str(path), max_bytes)


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a regular file within a size bound.

    :raises AicrError: NOT_FOUND if it does not exist, INVALID_REQUEST if it cannot be read or is too large.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise invalid(f"{path}: is a directory, a file is due", "name a file in it")
        if not stat.S_ISREG(mode):  # a pipe would be waited for, and a device may never end
            raise invalid(f"{path}: is no regular file", "write its content into a file first")
        with path.open("rb") as stream:
            content = stream.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise not_found(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise invalid(f"{path}: cannot be read: {reason}", "let the user who runs Ansible read it") from error
    if len(content) > max_bytes:
        raise invalid(f"{path}: is larger than the {max_bytes} bytes that are read", _SPLIT)
    return content


def dump(document: Any) -> str:
    """A document as YAML: sorted keys, no anchors, no folding, long text as block, ending in one line feed.

    A large one is written part by part, since the tree of its nodes takes many times the memory of its text.
    """
    text = ""
    for part in _parts(document, ""):
        # Grows in place, where join() would need the memory of the text twice.
        text += part  # pylint: disable=consider-using-join
    return text


def _parts(value: Any, indent: str) -> Iterator[str]:
    if not _is_large(value):
        yield _indented(_dump(value), indent)
    elif isinstance(value, list):
        for large, items in itertools.groupby(value, _is_large):
            if large:
                for item in items:
                    parts = _parts(item, indent + "  ")
                    first = next(parts, "")
                    yield f"{indent}- {first[len(indent) + 2 :]}"
                    yield from parts
            else:
                while run := list(itertools.islice(items, RUN_ENTRIES)):
                    yield _indented(_dump(run), indent)
    else:
        for large, keys in itertools.groupby(sorted(value), lambda key: _is_large(value[key])):
            if large:
                for key in keys:
                    yield _indented(_dump({key: None}).removesuffix(" null\n") + "\n", indent)
                    yield from _parts(value[key], indent if isinstance(value[key], list) else indent + "  ")
            else:
                while run := list(itertools.islice(keys, RUN_ENTRIES)):
                    yield _indented(_dump({key: value[key] for key in run}), indent)


def _is_large(value: Any) -> bool:
    """Whether a container has so many nodes that it is worth taking apart, and keys that can be set apart."""
    count, rest = 0, [value]
    while rest and count <= PART_NODES:
        node = rest.pop()
        count += 1
        if isinstance(node, dict):
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)
    simple = not isinstance(value, dict) or all(isinstance(key, str) and len(key) < 100 for key in value)
    return count > PART_NODES and isinstance(value, (dict, list)) and bool(value) and simple


def _indented(text: str, indent: str) -> str:
    return _NOT_EMPTY.sub(indent, text) if indent else text


def _dump(document: Any) -> str:
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=1_000_000, default_flow_style=False
    )
    return text.removesuffix("...\n")


@lru_cache(maxsize=1)
def _composed(text: str | bytes) -> yaml.Node | None:
    """The nodes of a text; many places of the same one are asked for in a row."""
    return yaml.compose(text, _Loader)


def line_of(text: str | bytes, path: Sequence[str | int]) -> int | None:
    """The line (from 1) at which a path of keys and positions stands, or of its nearest existing ancestor."""
    try:
        node = _composed(text)
    except yaml.YAMLError:
        return None
    line: int | None = None if node is None else node.start_mark.line + 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(step)]
            if not found:
                break
            key, node = found[-1]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def not_finite(value: object, path: str = "") -> Iterator[str]:
    """The paths of numbers that are none or infinite, in a document that did not come through :func:`load`."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from not_finite(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from not_finite(item, f"{path}[{position}]")


class _DuplicateKey(ValueError):
    pass


class _NotFinite(ValueError):
    pass


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotFinite
    return number


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        keys = [key for key, _value in pairs]
        raise _DuplicateKey(next(key for key in keys if keys.count(key) > 1))
    return mapping


def _syntax_error(error: yaml.MarkedYAMLError, source: str) -> AicrError:
    mark = error.problem_mark or error.context_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    problem = str(error.problem or error.context or "not valid YAML")
    hints = {NOT_FINITE: _FINITE} | ({problem: _KEEP_ONE} if problem.startswith("duplicate key ") else {})
    return invalid(f"{source}: {place}{problem}", hints.get(problem, _MEND))


def _refuse_depth(content: str, source: str) -> None:
    """The C composer recurses on the machine's stack, and libyaml bounds the depth of flow collections only."""
    if not _MAY_BE_DEEP.search("\n" + content):
        return
    depth = 0
    for event in yaml.parse(content, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise invalid(f"{source}: is nested deeper than {MAX_DEPTH} levels", _SPLIT)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse_expansion(document: Any, source: str) -> None:
    """A handful of aliases can stand for billions of nodes once it is written out again."""
    count, rest = 0, [document]
    while rest:
        count += 1
        if count > MAX_EXPANDED_NODES:
            raise invalid(f"{source}: its aliases expand to more than {MAX_EXPANDED_NODES} nodes", _SPLIT)
        node = rest.pop()
        if isinstance(node, dict):
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)
