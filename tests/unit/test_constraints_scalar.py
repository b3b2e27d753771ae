# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reading looks as Go prints it (spec/engine.md 0.5)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import scalar_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (8, "8"),
        (-3, "-3"),
        (1.0, "1"),
        (0.5, "0.5"),
        (1.33, "1.33"),
        (123456.0, "123456"),
        (1000000.0, "1e+06"),
        (1234567.5, "1.2345675e+06"),
        (-2500000.0, "-2.5e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1e100, "1e+100"),
        (0.0, "0"),
        (-0.0, "-0"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
        ("  kept ", "  kept "),
        (None, "<nil>"),
        ([1, "a", True], "[1 a true]"),
        ({"b": 1, "a": None}, "map[a:<nil> b:1]"),
    ],
)
def test_text_is_what_go_prints(value: object, text: str) -> None:
    assert scalar_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_digit_of_a_number_is_lost(value: float) -> None:
    assert float(scalar_text(value)) == value
