# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An expression is one operator and one value; what cannot be compared is an error, never a plain fail (3.3)."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import Expression, Operator
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code


@pytest.mark.parametrize(
    ("text", "operator", "value"),
    [
        (">= 1.32.4", Operator.AT_LEAST, "1.32.4"),
        ("<=1.32", Operator.AT_MOST, "1.32"),
        ("  >  1.32  ", Operator.ABOVE, "1.32"),
        ("<1.32", Operator.BELOW, "1.32"),
        ("== ubuntu", Operator.EQUAL, "ubuntu"),
        ("= ubuntu", Operator.EQUAL, "ubuntu"),
        ("!=none", Operator.NOT_EQUAL, "none"),
        ("24.04", Operator.EXACT, "24.04"),
        ("a=b", Operator.EXACT, "a=b"),
    ],
)
def test_the_longest_operator_at_the_start_counts(text: str, operator: Operator, value: str) -> None:
    assert Expression.parse(text) == Expression(operator, value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "cannot be empty"),
        ("   ", "cannot be empty"),
        (">=", "cannot be empty after"),
        ("==  ", "cannot be empty after"),
        ("!x", "no operator that exists"),
        ("=> 1.2", "no operator that exists"),
        (">> 1.2", "no operator that exists"),
        (">= <2", "no operator that exists"),
        (">= ubuntu", "cannot parse expected version"),
        (">= 1.2 < 2", "cannot parse expected version"),
        (">= 1.35.0-gke.x", "GKE build"),
    ],
)
def test_refuses_what_could_never_be_evaluated(text: str, complaint: str) -> None:
    with pytest.raises(AicrError, match=complaint) as refused:
        Expression.parse(text)
    assert refused.value.code is Code.INVALID_REQUEST


@pytest.mark.parametrize(
    ("text", "actual", "holds"),
    [
        (">= 1.33", "v1.33.5-eks-3025e55", True),
        ("> 1.33", "v1.33.5-eks-3025e55", False),
        (">= 1.33.0", "1.33.0-rc.1", True),
        ("> 1.35.0", "1.35.0-gke.100", True),
        (">= 1.32", "v1.34.2+rke2r1", True),
        (">= 1.26", "v1.32.3-vke.8", True),
        (">= 1.32", "1.28+", False),
        ("<= 6.8", "6.8.0-1028-aws", True),
        ("1.30", "1.30.0", False),
        ("1.30", "1.30", True),
        ("ubuntu", "Ubuntu", False),
        ("== 1.30", "1.30.0-eks-x", True),
        ("== 1.30", "1.30.1", False),
        ("!= 1.30", "1.30.1", True),
        ("== 1.30", "ubuntu", False),
        ("!= 1.30", "ubuntu", True),
        ("== 130", "130.0", False),
        ("== a.b1", "a.b1", True),
        ("== true", "true", True),
        ("!= absent", "absent", False),
    ],
)
def test_holds(text: str, actual: str, holds: bool) -> None:
    assert Expression.parse(text).holds(actual) is holds


@pytest.mark.parametrize("actual", ["unknown", "V1.33.1", "1.33.1.2", "", "1.35.0-gke.x"])
def test_an_ordering_of_what_is_no_version_is_an_error(actual: str) -> None:
    with pytest.raises(AicrError) as refused:
        Expression.parse("< 1.32").holds(actual)
    assert refused.value.code is Code.INVALID_REQUEST


ORDERINGS: dict[str, Callable[[object, object], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
    "=": operator.eq,
}
triples = st.tuples(*[st.integers(0, 3)] * 3)


@given(st.sampled_from(sorted(ORDERINGS)), triples, triples, st.sampled_from(["", "-eks-1", "+k3s1"]), st.booleans())
def test_full_versions_compare_as_tuples_do(
    sign: str, actual: tuple[int, ...], expected: tuple[int, ...], suffix: str, spaced: bool
) -> None:
    text = f"{sign}{' ' if spaced else ''}{'.'.join(map(str, expected))}"
    reading = f"v{'.'.join(map(str, actual))}{suffix}"
    assert Expression.parse(text).holds(reading) is ORDERINGS[sign](actual, expected)


@given(st.text(alphabet="abxyz_-/ ", min_size=1), st.text(alphabet="abxyz_-/ "))
def test_plain_words_are_the_same_or_not(expected: str, actual: str) -> None:
    if not expected.strip():
        return
    assert Expression.parse(expected).holds(actual) is (actual == expected.strip())
    assert Expression.parse(f"== {expected}").holds(actual) is (actual == expected.strip())
    assert Expression.parse(f"!= {expected}").holds(actual) is (actual != expected.strip())


@given(st.text(alphabet="<>=! v1.a-", max_size=10), st.text(alphabet="v12.a-+gke", max_size=10))
def test_any_text_is_judged_or_refused_as_invalid(text: str, actual: str) -> None:
    code = None
    try:
        Expression.parse(text).holds(actual)
    except AicrError as error:
        code = error.code
    assert code in (None, Code.INVALID_REQUEST)
