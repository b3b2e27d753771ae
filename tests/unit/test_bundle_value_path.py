# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths into values: reading, changing by copy, taking apart (cases H5, N31)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.layout import split_dynamic
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.value_path import (
    ABSENT,
    Blocked,
    dotted,
    drop,
    find,
    leaves,
    meets,
    nest,
    parse_path,
    put,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import merge_values
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

KEYS = st.text(st.sampled_from("ab./-_9"), min_size=1, max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("xyz", max_size=3) | st.just([1, {"a": 2}])
TREES = st.recursive(SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=12)
VALUES = st.dictionaries(KEYS, TREES, max_size=4)
PATHS = st.lists(KEYS, min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("driver.version", ("driver", "version")),
        (r"nodeSelector.nvidia\.com/gpu", ("nodeSelector", "nvidia.com/gpu")),
        (r"annotations.foo\.bar", ("annotations", "foo.bar")),
        ("a-b.c_d.9", ("a-b", "c_d", "9")),
    ],
)
def test_a_backslash_keeps_a_dot_within_a_key(text: str, path: tuple[str, ...]) -> None:
    assert parse_path(text, "set x") == path
    assert dotted(path) == text


@pytest.mark.parametrize("text", ["driver.env[0].name", "operator.tolerations[2].key", "env[].x", "a]"])
def test_a_list_position_is_refused_by_its_path(text: str) -> None:
    with pytest.raises(AicrError, match="list position") as refused:
        parse_path(text, "set gpu-operator")
    assert text in refused.value.message


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a b", "a=b", 'a"', "a\n", "ä", "a\\", "{a}"])
def test_what_is_no_path_of_keys_is_refused(text: str) -> None:
    with pytest.raises(AicrError, match="no path of keys"):
        parse_path(text, "set gpu-operator")


@given(PATHS)
def test_a_path_is_read_as_it_was_written(path: tuple[str, ...]) -> None:
    assert parse_path(dotted(path), "set x") == path


@given(VALUES, PATHS, SCALARS)
def test_what_is_put_is_found_and_nothing_that_went_in_has_changed(
    values: dict[str, Any], path: tuple[str, ...], value: Any
) -> None:
    before = copy.deepcopy(values)
    parents = [find(values, path[:depth]) for depth in range(1, len(path))]
    if all(isinstance(parent, dict) or parent is ABSENT or parent is None for parent in parents):
        changed = put(values, path, value)
        assert find(changed, path) == value
        rest = [(leaf, item) for leaf, item in leaves(values) if leaf and not meets(leaf, path)]
        assert all(find(changed, leaf) == item for leaf, item in rest)
    else:
        with pytest.raises(Blocked) as blocked:
            put(values, path, value)
        assert blocked.value.path == path[: len(blocked.value.path)]
    assert values == before


@given(VALUES, PATHS)
def test_what_is_dropped_is_gone_and_leaves_no_empty_parents_of_its_own(
    values: dict[str, Any], path: tuple[str, ...]
) -> None:
    before = copy.deepcopy(values)
    changed = drop(values, path)
    assert find(changed, path) is ABSENT
    assert values == before


@given(VALUES)
def test_values_are_the_sum_of_their_leaves(values: dict[str, Any]) -> None:
    assert nest(list(leaves(values)) if values else []) == values


def test_of_two_shapes_the_later_one_is_laid_over_the_earlier() -> None:
    empty: dict[str, object] = {}
    assert nest([(("a",), None), (("a", "b"), 1)]) == {"a": {"b": 1}}
    assert nest([(("a", "b"), 1), (("a",), None)]) == {"a": None}
    assert nest([(("a",), empty), (("a", "b"), 1)]) == {"a": {"b": 1}}
    assert empty == {}, "what a user gave is not altered"


@given(VALUES, st.lists(PATHS, max_size=4))
def test_splitting_dynamic_paths_off_loses_nothing(values: dict[str, Any], paths: list[tuple[str, ...]]) -> None:
    """Helm lays cluster-values.yaml over values.yaml: together they say what they said before."""
    before = copy.deepcopy(values)
    there = [path for path in paths if find(values, path) is not ABSENT]
    fixed, left_open = split_dynamic(values, there)
    assert all(find(fixed, path) is ABSENT for path in there)
    together = dict(leaves(_laid_over(fixed, left_open)))
    for leaf, item in leaves(values):
        assert not leaf or together[leaf] == item
    assert values == before


def _laid_over(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {
        key: _laid_over(below[key], above[key]) if key in below and key in above else {**below, **above}[key]
        for key in {**below, **above}
    }


def test_a_dynamic_path_that_is_not_there_stands_open_as_empty_text() -> None:
    assert split_dynamic({"a": 1}, [("brand", "new")]) == ({"a": 1}, {"brand": {"new": ""}})


def test_a_dynamic_path_below_another_changes_nothing() -> None:
    values = {"driver": {"version": "1", "env": []}}
    expected: tuple[object, object] = ({}, {"driver": {"version": "1", "env": []}})
    assert split_dynamic(values, [("driver",), ("driver", "version")]) == expected


def test_values_layers_and_paths_agree_on_what_a_mapping_is() -> None:
    """A mapping with a key that is no text is one thing: it is replaced whole, so it is one leaf."""
    opaque = {"a": {1: "x"}}
    assert list(leaves(opaque)) == [(("a",), {1: "x"})]
    assert merge_values({"a": {"b": 1}}, opaque) == opaque
