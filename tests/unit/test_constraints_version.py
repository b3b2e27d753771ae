# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions compare by the numbers that both have; a vendor's suffix says nothing about age (spec/engine.md 3.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import Version
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

VENDOR_SUFFIXES = ["", "-eks-3025e55", "-vke.8", "+rke2r1", "+k3s1", "-rc.1", "-1028-aws", "+"]


@pytest.mark.parametrize(
    ("text", "numbers", "suffix"),
    [
        ("1", (1,), ""),
        ("24.04", (24, 4), ""),
        ("v1.33.5-eks-3025e55", (1, 33, 5), "-eks-3025e55"),
        ("v1.35.6-gke.1250000", (1, 35, 6), "-gke.1250000"),
        ("v1.32.3-vke.8", (1, 32, 3), "-vke.8"),
        ("1.28+", (1, 28), "+"),
        ("v1.34.2+rke2r1", (1, 34, 2), "+rke2r1"),
        ("6.8.0-1028-aws", (6, 8, 0), "-1028-aws"),
        ("570.86.15", (570, 86, 15), ""),
        (" v1.33.1 ", (1, 33, 1), ""),
    ],
)
def test_reads_what_vendors_write(text: str, numbers: tuple[int, ...], suffix: str) -> None:
    assert Version.parse(text) == Version(numbers, suffix)


@pytest.mark.parametrize(
    "text", ["", "v", "ubuntu", "V1.33.1", "1.2.3.4", "1..3", "1.", ".1", "-1.2", "1.x", "vv1", "1.²"]
)
def test_refuses_what_is_no_version_and_quotes_it(text: str) -> None:
    with pytest.raises(AicrError) as refused:
        Version.parse(text)
    assert refused.value.code is Code.INVALID_REQUEST
    assert f'"{text}"' in refused.value.message


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("1.33.5-eks-3025e55", "1.33", 0),
        ("1.33", "1.33.9", 0),
        ("1", "1.99.99", 0),
        ("1.34.0", "1.33.9", 1),
        ("1.9.0", "1.10.0", -1),
        ("1.33.0-rc.1", "1.33.0", 0),
        ("1.35.0-gke.200", "1.35.0-gke.100", 1),
        ("1.35.0-gke.9", "1.35.0-gke.10", -1),
        ("1.35.0-gke.100", "1.35.0", 1),
        ("1.35.0-gke.0", "1.35.0", 1),
        ("1.35.0", "1.35.0-gke.100", -1),
        ("1.35.0-gke.100", "1.35.0-gke.100", 0),
        ("1.35.1", "1.35.0-gke.100", 1),
        ("1.35.0-gke.100", "1.35", 0),
        ("1.35-gke.1", "1.35.0-gke.2", 0),
    ],
)
def test_compares_the_numbers_both_have_and_gke_builds_where_all_are_the_same(
    one: str, other: str, expected: int
) -> None:
    assert Version.parse(one).compare(Version.parse(other)) == expected
    assert Version.parse(other).compare(Version.parse(one)) == -expected


@pytest.mark.parametrize("suffix", ["-gke", "-gke.", "-gke.x", "-gke.1.2", "-gke.-1"])
def test_a_gke_suffix_without_a_build_number_cannot_be_ordered(suffix: str) -> None:
    with pytest.raises(AicrError, match="GKE build"):
        Version.parse(f"1.35.0{suffix}").compare(Version.parse("1.35.0"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("1.30", "1.30.0", True), ("1.30", "1.30.0-eks-x", True), ("1.30", "1.30.1", False), ("1", "1.0.0", True)],
)
def test_equality_fills_missing_numbers_with_zero(one: str, other: str, same: bool) -> None:
    assert Version.parse(one).equals(Version.parse(other)) is same


numbers = st.lists(st.integers(0, 40), min_size=1, max_size=3)


def written(parts: list[int], suffix: str = "", prefix: str = "") -> str:
    return prefix + ".".join(map(str, parts)) + suffix


@given(numbers, numbers, st.sampled_from(VENDOR_SUFFIXES), st.sampled_from(VENDOR_SUFFIXES), st.sampled_from(["", "v"]))
def test_order_is_that_of_the_common_numbers(
    one: list[int], other: list[int], suffix: str, another: str, prefix: str
) -> None:
    first, second = Version.parse(written(one, suffix, prefix)), Version.parse(written(other, another))
    expected = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            expected = 1 if left > right else -1
            break
    assert first.compare(second) == expected
    assert second.compare(first) == -expected
    assert first.equals(second) is ([*one, 0, 0][:3] == [*other, 0, 0][:3])


@given(st.lists(st.integers(0, 3), min_size=3, max_size=3), *[st.none() | st.integers(0, 5)] * 2)
def test_gke_builds_decide_between_the_same_three_numbers(parts: list[int], one: int | None, other: int | None) -> None:
    def gke(build: int | None) -> Version:
        return Version.parse(written(parts, "" if build is None else f"-gke.{build}"))

    if one == other:
        expected = 0
    elif one is None or (other is not None and one < other):
        expected = -1
    else:
        expected = 1
    assert gke(one).compare(gke(other)) == expected


@given(st.text(alphabet="v0123456789.-+ abV", max_size=12))
def test_any_text_is_read_or_refused_as_invalid(text: str) -> None:
    code = None
    try:
        assert 1 <= len(Version.parse(text).numbers) <= 3
    except AicrError as error:
        code = error.code
    assert code in (None, Code.INVALID_REQUEST)
