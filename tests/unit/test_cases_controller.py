# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller makes of answers: numbers and flags come as text, and text as numbers (spec/cases.md W3, W4).

Each case is tried on every option of its type that a playbook takes, nested ones included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import database_probe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Spec, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.variables import SPEC

ALL: Spec = {**SPEC, **{f"database_probe.{name}": option for name, option in database_probe.SPEC.items()}}

CHECKOUT = Path(__file__).resolve().parents[2]
TASKS = [
    line
    for folder in ("playbooks", "roles")
    for file in sorted((CHECKOUT / folder).rglob("*.yml"))
    if "meta" not in file.parts
    for line in file.read_text(encoding="utf-8").splitlines()
    if not line.lstrip().startswith("#")
]


def of_type(kind: str) -> list[tuple[str, ...]]:
    """The paths of options of a type; a list of them takes one as well."""

    def walk(spec: Spec, parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for name, option in spec.items():
            if option.get("type", "str") == kind:
                yield (*parent, name)
            if option.get("type") == "dict":
                yield from walk(option.get("options", {}), (*parent, name))

    return sorted(walk(ALL, ()))


def read(path: tuple[str, ...], value: object) -> Any:
    """What the option at a path becomes, with a value for whatever else its mapping requires."""
    outer: dict[str, Any] = {}
    spec, here = ALL[path[0]], outer
    for name in path[1:]:
        for other, option in spec["options"].items():
            if option.get("required") and other != name:
                here[other] = _filler(option)
        spec = spec["options"][name]
        if name != path[-1]:
            here[name] = {}
            here = here[name]
    whole: object = value if len(path) == 1 else _placed(outer, path[1:], value)
    found: Any = parse({path[0]: {**ALL[path[0]], "required": False}}, {path[0]: whole})[path[0]]
    for name in path[1:]:
        found = found[name]
    return found


def _filler(option: Mapping[str, Any]) -> object:
    if option.get("type") == "dict":
        inner = option.get("options", {})
        return {name: _filler(one) for name, one in inner.items() if one.get("required")}
    return 1 if option.get("type") in ("int", "float") else "x"


def _placed(outer: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    here = outer
    for name in path[:-1]:
        here = here.setdefault(name, {})
    here[path[-1]] = value
    return outer


def test_there_is_something_to_try() -> None:
    assert ("database_probe.database", "port") in of_type("int")
    assert ("aicr_criteria", "nodes") in of_type("int")
    assert len(of_type("float")) > 8 and len(of_type("bool")) > 10


@pytest.mark.parametrize("path", of_type("int"), ids=".".join)
def test_a_whole_number_may_come_as_text(path: tuple[str, ...]) -> None:
    """W3: a port is 3306 and "3306", and nothing else becomes a number or goes missing."""
    assert read(path, 3306) == read(path, "3306") == 3306
    assert isinstance(read(path, "3306"), int)
    for wrong in ("", " ", "3306x", "33.06", 33.06, True, [], {}):
        with pytest.raises(AicrError, match=path[-1]):
            read(path, wrong)


@pytest.mark.parametrize("path", of_type("float"), ids=".".join)
def test_a_number_may_come_as_text(path: tuple[str, ...]) -> None:
    assert read(path, 30) == read(path, "30") == read(path, 30.0) == 30
    assert read(path, "0.5") == 0.5
    for wrong in ("", "soon", True, []):
        with pytest.raises(AicrError, match=path[-1]):
            read(path, wrong)


@pytest.mark.parametrize("path", of_type("bool"), ids=".".join)
def test_a_flag_may_come_as_text(path: tuple[str, ...]) -> None:
    """W4: "false" is false, whatever its spelling, and empty text is neither."""
    for no in (False, "false", "False", "FALSE", "no", "off", "0", 0, "n", "f"):
        assert read(path, no) is False
    for yes in (True, "true", "True", "yes", "on", "1", 1, "y", "t"):
        assert read(path, yes) is True
    for wrong in ("", " ", "maybe", "2", 2, [], {}):
        with pytest.raises(AicrError, match=path[-1]):
            read(path, wrong)


@pytest.mark.parametrize("name", [path[0] for path in of_type("bool") if path[0].startswith("aicr_")])
def test_a_flag_is_read_as_one_wherever_a_playbook_decides_by_it(name: str) -> None:
    """W4: what does not go to an action, which has a type for it, goes through ``bool``."""
    used = [line.strip() for line in TASKS if re.search(rf"\b{name}\b", line)]
    undecided = [line for line in used if not re.search(r"default\(omit\)+ }}|\| bool\b|^(- )?name:", line)]
    assert undecided == []


@pytest.mark.parametrize("path", of_type("str"), ids=".".join)
def test_text_that_a_controller_has_made_a_number_of_is_refused(path: tuple[str, ...]) -> None:
    """ansible-core from 2.19 on reads the answer "1.30" as 1.3, and "no" as false; what it was cannot be known."""
    for wrong in (1.3, 3306, False, "", []):
        with pytest.raises(AicrError, match=path[-1]):
            read(path, wrong)
