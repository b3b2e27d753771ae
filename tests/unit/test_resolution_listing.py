# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a catalog has recipes for (spec/surface.md 1.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from layered import overlay, write_catalog

from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import RECIPE_LIST, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe_list import list_all, look_up_list


def listed(**options: Any) -> list[dict[str, Any]]:
    return [dict(each) for each in list_all(parse(RECIPE_LIST, options)).recipes]


def test_every_overlay_is_listed_once_by_name_and_leaves_are_those_nobody_builds_on() -> None:
    found = listed(health=False)
    names = [each["name"] for each in found]
    assert names == sorted(one.name for one in embedded().overlays.values() if one.criteria)
    parents = {one.parent for one in embedded().overlays.values()}
    assert {each["name"] for each in found if each["is_leaf"]} == set(names) - parents
    assert [each["name"] for each in listed(health=False, leaves_only=True)] == [
        each["name"] for each in found if each["is_leaf"]
    ]


def test_criteria_filter_by_exact_value_whatever_the_spelling() -> None:
    slurm = listed(criteria={"platform": " Slurm", "service": "EKS"}, health=False)
    assert slurm
    assert all(each["criteria"]["platform"] == "slurm" and each["criteria"]["service"] == "eks" for each in slurm)
    with pytest.raises(AicrError, match='"ekss"'):
        listed(criteria={"service": "ekss"})


def test_each_leaf_of_our_catalog_makes_a_recipe_with_checks() -> None:
    leaves = [leaf for leaf in listed(leaves_only=True) if leaf["criteria"].get("service", "any") != "any"]
    assert len(leaves) >= 4
    for leaf in leaves:
        assert leaf["source"] == "embedded"
        assert leaf["health"]["status"] == "pass", leaf
        assert any(phase["declared"] for phase in leaf["health"]["coverage"].values()), leaf


def test_a_leaf_of_ones_own_is_external_and_says_why_it_makes_no_recipe(tmp_path: Path) -> None:
    value = {"componentRefs": [{"name": "gpu-operator", "overrides": {"x": 1}}]}
    profile = {"name": "stack", "default": "b", "values": {"b": value, "a": value}, "description": "Who does it."}
    off = [{"name": "gpu-operator", "overrides": {"enabled": False}}]
    good = overlay("mine", criteria={"service": "ncp"}, profile=profile)
    bad = overlay("bad", criteria={"service": "ncp", "intent": "training"}, base="mine", componentRefs=off)
    catalog = str(write_catalog(tmp_path / "own", good, bad))
    mine, broken = (next(each for each in listed(catalog=catalog) if each["name"] == name) for name in ("mine", "bad"))
    told = {"name": "stack", "description": "Who does it.", "default": "b", "values": ["a", "b"]}
    assert mine == {"name": "mine", "criteria": {"service": "ncp"}, "is_leaf": False, "source": "external",
                    "profile": told}  # fmt: skip
    assert broken["profile"] == told
    assert broken["health"]["status"] == "fail"
    assert "gpu-operator" in broken["health"]["problem"]


def test_the_lookup_lists_the_same_and_takes_no_terms() -> None:
    options = parse(RECIPE_LIST, {"criteria": {"platform": "slurm"}})
    assert look_up_list((), options)[0] == listed(criteria={"platform": "slurm"})
    with pytest.raises(AicrError, match="no terms"):
        look_up_list(("eks",), options)
