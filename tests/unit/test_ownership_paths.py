# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ADR-016 section 8: exact, ancestor and descendant intersections follow one rule."""

# pylint: disable=arguments-out-of-order  # that the order does not matter is the rule
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership import Ownership, conflict, intersects


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("accounting.enabled", "accounting.enabled"),
        ("accounting", "accounting.enabled"),
        ("accounting.enabled.child", "accounting.enabled"),
        ("users[0].name", "users"),
        ("users", "users[0]"),
        (r"labels.a\.b", r"labels.a\.b.c"),
        ("", "anything.at.all"),
    ],
)
def test_exact_ancestor_and_descendant_intersect(one: str, other: str) -> None:
    assert intersects(one, other)
    assert intersects(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("accounting.enabled", "accounting.enabledX"),
        ("accounting.enabled", "Accounting.enabled"),
        ("accounting.enabled", "accounting.external"),
        ("install", "installer"),
        (r"labels.a\.b", "labels.a.b"),
        ("users[0]", "usersX"),
    ],
)
def test_neighbours_do_not_intersect(one: str, other: str) -> None:
    assert not intersects(one, other)
    assert not intersects(other, one)


KEYS = st.lists(st.sampled_from(["a", "b", "ab", "aB"]), min_size=1, max_size=5)


@given(KEYS, KEYS)
def test_paths_intersect_exactly_if_one_begins_the_other(one: list[str], other: list[str]) -> None:
    shorter, longer = sorted([one, other], key=len)
    assert intersects(".".join(one), ".".join(other)) == (longer[: len(shorter)] == shorter)


def test_touching_finds_the_owned_path() -> None:
    owned = Ownership("mode", {"slurm": ("accounting.enabled", "enabled")})
    assert owned.touching("slurm", "accounting") == "accounting.enabled"
    assert owned.touching("slurm", "accounting.storageConfig.host") is None
    assert owned.touching("other", "enabled") is None


def test_conflict_names_both_owners_and_is_mutual() -> None:
    one = Ownership("profile gpuStack=x", {"slurm": ("accounting",), "b": ("x",)})
    other = Ownership("accounting.mode=disabled", {"slurm": ("accounting.enabled",)})
    for error in (conflict(one, other), conflict(other, one)):
        assert error is not None
        assert "profile gpuStack=x" in error.message
        assert "accounting.mode=disabled" in error.message


def test_disjoint_owners_do_not_conflict() -> None:
    one = Ownership("profile", {"gpu-operator": ("driver.enabled",), "slurm": ("replicas",)})
    assert conflict(one, Ownership("mode", {"slurm": ("accounting.enabled",)})) is None
