# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's values become builtins, and what is no longer the author's text is refused by name."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.plain import plain, text_problem


class Tagged(str):
    """Stands for Ansible's unsafe or tagged text, whose own ``str()`` may not be plain."""

    __slots__ = ()

    def __str__(self) -> str:  # pylint: disable=invalid-str-returned
        return self


class Lazy(Mapping[str, Any]):
    """Stands for a mapping that resolves its templates when it is read."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Any:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def tagged(value: object) -> object:
    """The same document out of subclasses and other mappings."""
    if isinstance(value, str):
        return Tagged(value)
    if isinstance(value, dict):
        return Lazy({Tagged(key): tagged(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(tagged(item) for item in value)
    return value


def types(value: object) -> set[type]:
    if isinstance(value, Mapping):
        return {type(value)}.union(*(types(key) | types(item) for key, item in value.items()))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {type(value)}.union(*(types(item) for item in value))
    return {type(value)}


@given(DOCUMENTS)
def test_a_document_of_any_subclasses_becomes_the_same_document_of_builtins(document: object) -> None:
    result = plain(tagged(document), "values")
    assert result == document
    assert types(result) <= {dict, list, str, int, float, bool, type(None)}


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"on": {True: 1}}, "values.on: the key true"),
        ({8080: "x"}, "values: the key 8080"),
        ({"until": datetime.date(2026, 11, 30)}, "values.until: 2026-11-30 is a date"),
        ({"at": [datetime.datetime(2026, 11, 30, 10)]}, "values.at[0]: 2026-11-30 10:00:00 is a date"),
        ({"raw": b"x"}, "values.raw: is of type bytes"),
        ({"raw": {1, 2}}, "values.raw: is of type set"),
    ],
)
def test_what_no_document_can_hold_is_refused_at_its_path(value: object, named: str) -> None:
    with pytest.raises(AicrError, match="INVALID_REQUEST") as caught:
        plain(value, "values")
    assert caught.value.message.startswith(named)


@pytest.mark.parametrize("value", [1.3, 130, True, False, ["a"], {"a": "b"}])
def test_nothing_but_text_passes_for_text(value: object) -> None:
    problem = text_problem(value, "target_revision")
    assert problem is not None
    assert "target_revision: must be text" in problem.message


@pytest.mark.parametrize("value", [None, "1.30", "no"])
def test_text_and_absence_pass_for_text(value: object) -> None:
    assert text_problem(value, "target_revision") is None


def test_a_text_that_no_system_takes_has_a_way_out() -> None:
    problem = text_problem("a\0b", "dest")
    assert problem and problem.hint == "remove it"
