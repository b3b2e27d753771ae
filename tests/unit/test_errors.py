# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A message is for people, whatever somebody wrote into an option."""

from __future__ import annotations

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import errors


@pytest.mark.parametrize("make", [errors.invalid, errors.not_found, errors.conflict, errors.internal])
def test_a_long_value_is_cut_where_it_is_repeated(make: type[errors.AicrError]) -> None:
    error = make(f'criteria: service "{"x y" * 40_000}" is not known, "eks" is', "valid: eks", value="z" * 100_000)
    assert error.message == f'criteria: service "{("x y" * 67)[:200]}…" is not known, "eks" is'
    assert len(str(error.details["value"])) < 5000


def test_what_is_not_long_is_repeated_as_it_is() -> None:
    message = f'"{"x" * 200}" and {"/".join(["folder"] * 100)} and "" and "y"'
    assert errors.invalid(message).message == message


def test_control_characters_are_shown() -> None:
    assert errors.invalid('"a\nok: \x1b[2J\u2028" ü').message == r'"a\nok: \x1b[2J\u2028" ü'


def test_a_long_word_is_cut_as_well() -> None:
    assert len(errors.not_found(f"{'x' * 100_000}: no such file").message) < 5000


def test_what_several_gates_found_is_counted_once() -> None:
    inner = errors.combined([errors.invalid("b", "mend b"), errors.not_found("a")])
    whole = errors.combined([inner, errors.invalid("c"), errors.invalid("b", "mend b")])
    assert whole.message == "3 problems: a; b; c"
    assert [one["message"] for one in whole.details["problems"]] == ["a", "b", "c"]  # type: ignore[attr-defined]
    assert whole.hint == "mend b"
