# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.10: Kahn with the smallest name first, disabled components out, their dependants satisfied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import ComponentRef, RecipeResult
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.inventory import (
    deployment_order,
    is_enabled,
    levels,
    runtime_inventory,
)


def refs(edges: Mapping[str, Sequence[str]], off: Sequence[str] = ()) -> list[ComponentRef]:
    return [
        ComponentRef(name, dependency_refs=tuple(needs), overrides={"enabled": False} if name in off else None)
        for name, needs in edges.items()
    ]


def test_the_smallest_ready_name_goes_first_even_if_it_lies_deeper() -> None:
    edges = {"z": [], "a": ["m"], "m": [], "b": ["a"]}
    assert deployment_order(refs(edges)) == ("m", "a", "b", "z")
    assert levels(refs(edges)) == (("m", "z"), ("a",), ("b",))


@pytest.mark.parametrize("overrides", [{"enabled": False}, {"install": False}, {"enabled": True, "install": False}])
def test_a_gate_that_is_false_disables(overrides: dict[str, object]) -> None:
    assert not is_enabled(ComponentRef("x", overrides=overrides))


@pytest.mark.parametrize(
    "overrides", [None, {}, {"enabled": True}, {"enabled": "false"}, {"install": 0}, {"enabled": None}]
)
def test_anything_but_false_leaves_a_component_enabled(overrides: dict[str, object] | None) -> None:
    assert is_enabled(ComponentRef("x", overrides=overrides))


def test_a_disabled_component_leaves_the_order_and_satisfies_its_dependants() -> None:  # case N12
    edges = {"cert-manager": [], "gpu-operator": ["cert-manager", "nfd"], "nfd": []}
    assert deployment_order(refs(edges, off=["cert-manager"])) == ("nfd", "gpu-operator")


def test_a_circle_through_a_disabled_component_is_none() -> None:  # case N12
    edges = {"a": ["b"], "b": ["c"], "c": ["a"]}
    assert deployment_order(refs(edges, off=["b"])) == ("a", "c")


@pytest.mark.parametrize("order", [deployment_order, levels])
def test_a_circle_is_refused_and_spelled_out(order: object) -> None:
    with pytest.raises(AicrError, match="b -> c -> b") as caught:
        order(refs({"a": [], "c": ["b"], "b": ["a", "c"], "d": ["c"]}))  # type: ignore[operator]
    assert caught.value.code.value == "INVALID_REQUEST"


def test_every_missing_dependency_is_named() -> None:  # case N13
    with pytest.raises(AicrError) as caught:
        deployment_order(refs({"cert-manager": [], "gpu-operator": ["nfd", "cert-manager", "kube-prometheus-stack"]}))
    assert '"gpu-operator" depends on "nfd"' in str(caught.value)
    assert '"gpu-operator" depends on "kube-prometheus-stack"' in str(caught.value)


def test_the_inventory_does_not_believe_a_recorded_order() -> None:
    recipe = RecipeResult(tuple(refs({"a": ["b"], "b": [], "c": []}, off=["c"])), deployment_order=("c", "a", "b"))
    inventory = runtime_inventory(recipe)
    assert inventory.names == ("b", "a")
    assert inventory.levels == (("b",), ("a",))
    assert inventory.level_of("a") == 1


NAMES = st.text("abcdefgh", min_size=1, max_size=2)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, list[str]], set[str]]:
    """An acyclic graph over shuffled names, and which of its components are off."""
    names = draw(st.lists(NAMES, min_size=1, max_size=9, unique=True))
    edges = {
        name: draw(st.lists(st.sampled_from(names[:place]), max_size=4)) if place else []
        for place, name in enumerate(names)
    }
    shuffled = draw(st.permutations(list(edges)))
    return {name: edges[name] for name in shuffled}, set(draw(st.lists(st.sampled_from(names), max_size=3)))


def oracle(edges: Mapping[str, Sequence[str]], off: set[str]) -> tuple[str, ...]:
    """The same rule, written as slowly as it reads."""
    waiting = {name: set(needs) - off for name, needs in edges.items() if name not in off}
    order: list[str] = []
    while waiting:
        name = min(name for name, needs in waiting.items() if needs <= set(order))
        order.append(name)
        del waiting[name]
    return tuple(order)


@given(graphs())
def test_order_and_levels_keep_the_rule_on_every_graph(graph: tuple[dict[str, list[str]], set[str]]) -> None:
    edges, off = graph
    components = refs(edges, off=sorted(off))
    assert deployment_order(components) == oracle(edges, off)
    depth = {name: number for number, level in enumerate(levels(components)) for name in level}
    assert depth.keys() == edges.keys() - off
    for name, level in depth.items():
        needed = [depth[other] for other in edges[name] if other not in off]
        assert level == (max(needed) + 1 if needed else 0)
