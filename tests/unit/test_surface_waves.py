# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of waves and budgets of failures (cases F1, W3): what is meant, whatever form it comes in, or a refusal."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.waves import BUDGET, SERIAL, Waves, waves


@pytest.mark.parametrize(
    ("given", "in_force"),
    [
        ([1, "25%", "100%"], ["1", "25%", "100%"]),
        ("1,25%,100%", ["1", "25%", "100%"]),
        ("1, 25%, 100%", ["1", "25%", "100%"]),
        ('[1, "25%"]', ["1", "25%"]),
        (2, ["2"]),
        ("2", ["2"]),
        ("30%", ["30%"]),
    ],
)
def test_the_sizes_of_waves_are_those_of_the_play(given: Any, in_force: list[str]) -> None:
    found = waves({SERIAL: given}, 10, in_force)
    assert found == Waves(canary=len(in_force) > 1, budget=1, serial=True)


def test_without_a_word_all_clusters_go_at_once() -> None:
    for nothing in ({}, {SERIAL: None}, {SERIAL: ""}):
        assert waves(nothing, 10, ["100%"]) == Waves(canary=False, budget=1, serial=False)


def test_sizes_that_the_play_does_not_have_are_refused() -> None:
    """A variable of the inventory is not seen by a keyword of the play: all clusters would go at once."""
    with pytest.raises(AicrError, match="set where the play does not see it"):
        waves({SERIAL: [1, 2]}, 10, ["100%"])


@pytest.mark.parametrize("given", [0, "0", [0], "x", [], [True], True, "-1", [1, "two"], "25 %", {"a": 1}, 1.5])
def test_what_is_no_size_is_refused(given: Any) -> None:
    with pytest.raises(AicrError, match="is no list of sizes"):
        waves({SERIAL: given}, 10, None)


@pytest.mark.parametrize(
    ("given", "hosts", "budget"),
    [(1, 3, 1), ("1", 3, 1), (5, 3, 5), ("5%", 200, 10), ("5%", 3, 1), ("50%", 3, 1), ("100%", 7, 7), (None, 9, 1)],
)
def test_a_budget_is_a_count_or_a_part_of_all_clusters(given: Any, hosts: int, budget: int) -> None:
    assert waves({BUDGET: given}, hosts, None).budget == budget


@pytest.mark.parametrize("given", [0, "0", "x", True, -1, "101%", 1.5, [1]])
def test_what_is_no_budget_is_refused(given: Any) -> None:
    with pytest.raises(AicrError, match="is no number of failures"):
        waves({BUDGET: given}, 10, None)
