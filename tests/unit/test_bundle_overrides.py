# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Overrides of every surface in one form (spec/surface.md 1.11, *Override semantics*)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.overrides import (
    Override,
    OverrideInput,
    Surface,
    deployer_options,
    read_overrides,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

ALIASES = {"gpuoperator": "gpu-operator", "slinkyslurm": "slinky-slurm"}


def read(**given: Any) -> tuple[list[Override], list[AicrError]]:
    empty: dict[str, Any] = {"values": {}, "set": (), "set_json": (), "set_file": (), "dynamic": ()}
    return read_overrides(OverrideInput(**{**empty, **given}), lambda name: ALIASES.get(name, name))[:2]


def noted(**given: Any) -> list[str]:
    empty: dict[str, Any] = {"values": {}, "set": (), "set_json": (), "set_file": (), "dynamic": ()}
    return read_overrides(OverrideInput(**{**empty, **given}), lambda name: ALIASES.get(name, name))[2]


def only(**given: Any) -> Override:
    found, problems = read(**given)
    assert not problems
    (override,) = found
    return override


def refusal(**given: Any) -> AicrError:
    found, problems = read(**given)
    assert not found
    (problem,) = problems
    return problem


def test_an_alias_is_resolved_and_what_was_written_is_remembered() -> None:
    override = only(set=["gpuoperator:driver.version=570"])
    assert (override.component, override.written, override.path, override.value) == (
        "gpu-operator",
        "gpuoperator",
        ("driver", "version"),
        "570",
    )
    assert override.place == "set gpuoperator:driver.version"


def test_the_value_begins_after_the_first_equals_sign() -> None:
    assert only(set=["c:a.b=x=y:z"]).value == "x=y:z"


def test_values_are_taken_apart_into_what_they_name() -> None:
    found, _unused = read(values={"gpuoperator": {"driver": {"version": "1", "env": [{"name": "A"}]}, "empty": {}}})
    assert [(one.path, one.value) for one in found] == [
        (("driver", "version"), "1"),
        (("driver", "env"), [{"name": "A"}]),
        (("empty",), {}),
    ]


def test_a_later_entry_beats_an_earlier_one_and_the_own_name_beats_an_alias() -> None:
    assert only(set=["gpuoperator:x=1", "gpuoperator:x=2"]).value == 2
    for entries in (["gpu-operator:x=1", "gpuoperator:x=2"], ["gpuoperator:x=2", "gpu-operator:x=1"]):
        assert only(set=entries).value == 1


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({"set": ["c:a.b=1", "c:a.b=2"]}, "set c:a.b is given twice with different values; the last one counts"),
        (
            {"set": ["gpu-operator:x=1", "gpuoperator:x=2"]},
            "set gpu-operator:x and set gpuoperator:x say different things; set gpu-operator:x counts",
        ),
        (
            {"values": {"gpuoperator": {"a": {"b": 1}}, "gpu-operator": {"a": {"b": 2}}}},
            "values gpu-operator:a.b and values gpuoperator:a.b say different things; values gpu-operator:a.b counts",
        ),
        (
            {"values": {"c": {"a": {"b": "1"}}}, "set": ["c:a.b=1"]},
            "set c:a.b and values c:a.b say different things; set c:a.b counts",
        ),
        (
            {"set": ["c:a=1"], "set_json": ["c:a=true"]},
            "set_json c:a and set c:a say different things; set_json c:a counts",
        ),
        (
            {"set": ["nfd:enabled=true", "nfd:enabled=false"]},
            "set nfd:enabled is given twice with different values; the last one counts",
        ),
    ],
)
def test_two_values_for_one_path_are_pointed_at_without_being_shown(given: dict[str, Any], note: str) -> None:
    assert noted(**given) == [note]


@pytest.mark.parametrize(
    "given",
    [
        {"set": ["c:a=1", "c:a=1", "d:a=2"]},
        {"values": {"c": {"a": 1}}, "set": ["c:a=1"]},
        {"set": ["c:a=1"], "dynamic": ["c:a"]},
        {"set": ["c:a.b=1", "c:a.c=2"]},
    ],
)
def test_what_says_one_thing_is_not_pointed_at(given: dict[str, Any]) -> None:
    assert noted(**given) == []


def test_parents_come_before_their_children() -> None:
    found, _unused = read(set=["c:a.b.c=1", "c:z=1", "c:a=1"])
    assert [one.path for one in found] == [("a",), ("z",), ("a", "b", "c")]


@pytest.mark.parametrize(
    ("text", "value"), [('"x"', "x"), ("null", None), ("3", 3), ("9007199254740993", 9007199254740993), ("[1]", [1])]
)
def test_json_keeps_types_and_digits(text: str, value: object) -> None:
    override = only(set_json=[f"c:a={text}"])
    assert (override.value, type(override.value)) == (value, type(value))


@pytest.mark.parametrize("text", ["{a: 99}", "9x", "{", "[99,]", "NaN", "-Infinity", "1e999", '{"a":99,"a":98}'])
def test_what_is_no_json_is_refused_without_being_shown(text: str) -> None:
    problem = refusal(set_json=[f"gpuoperator:secretive={text}"])
    assert problem.message.startswith("set_json gpuoperator:secretive: is not JSON")
    assert "9" not in problem.message


def test_a_file_gives_its_first_document(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("a: 1\n---\nb: 2\n")
    assert only(set_file=[f"c:d={file}"]).value == {"a": 1}


def test_a_file_that_holds_one_scalar_is_read_like_a_set(tmp_path: Path) -> None:
    file = tmp_path / "version.yaml"
    file.write_text("1.30\n")
    assert only(set_file=[f"c:driver.version={file}"]).value == "1.30"
    assert only(set_file=[f"c:driver.factor={file}"]).value == 1.3


def test_a_file_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    missing = refusal(set_file=[f"c:d={tmp_path / 'none.yaml'}"])
    assert missing.code is Code.NOT_FOUND
    assert "none.yaml" in missing.message
    assert "no regular file" in refusal(set_file=[f"c:d={tmp_path}"]).message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"set": ["foo=bar"]}, "names no component and path"),
        ({"set": ["gpuoperator:driver.version"]}, "has no value"),
        ({"set": ["gpuoperator:driver.version="]}, "has no value"),
        ({"set": [":a=1"]}, "empty component or path"),
        ({"set": ["c:=1"]}, "empty component or path"),
        ({"set": ["c:a[0].b=1"]}, "list position"),
        ({"set": ["c:a..b=1"]}, "no path of keys"),
        ({"dynamic": ["gpuoperator"]}, "names no component and path"),
        ({"dynamic": ["c:a=1"]}, "gets its value when it is installed"),
        ({"values": {"c": [1]}}, "must be a mapping of values, not a list"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_option(given: dict[str, Any], message: str) -> None:
    problem = refusal(**given)
    assert problem.message.startswith(next(iter(given)))
    assert message in problem.message


def test_a_password_in_a_broken_entry_is_not_repeated() -> None:
    for entry in ("password=hunter2", "c:auth.password[0]=hunter2", ":password=hunter2"):
        assert "hunter2" not in str(refusal(set=[entry]))


def test_a_key_may_have_dots_and_slashes() -> None:
    override = only(set=[r"slinkyslurm:nodesets.slinky.slurmd.resources.limits.nvidia\.com/gpu=4"])
    assert override.path[-1] == "nvidia.com/gpu"
    assert override.surface is Surface.SET


def test_the_deployer_has_options_of_its_own() -> None:
    found, problems = read(set=["deployer:project=x"])
    assert not found
    assert not problems
    assert list(deployer_options(["deployer:project=x", "c:a=1"])) == [("project", "x")]


def test_a_key_of_a_file_that_is_not_text_is_refused_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "ports.yaml").write_text("a: [{80: http}]\n", encoding="utf-8")
    said = refusal(set_file=[f"gpu-operator:ports={tmp_path}/ports.yaml"])
    assert "ports.yaml: a[0]: the key 80 is not text" in said.message
