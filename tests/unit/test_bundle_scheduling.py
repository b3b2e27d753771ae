# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placement: who wins on a selector, a toleration, a StorageClass (spec/engine.md 4.2, case N33)."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.scheduling import (
    Injection,
    Scheduling,
    Stated,
    Taint,
    read_scheduling,
    unplaced,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Component, NodeClass, NodeScheduling
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

EXISTS = {"operator": "Exists"}
KEYED = {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}
OWN = {"effect": "NoSchedule", "key": "own", "operator": "Exists"}

COMPONENT = Component(
    "c",
    "C",
    node_scheduling=NodeScheduling(
        system=NodeClass(("op.nodeSelector",), ("op.tolerations", "worker.tolerations")),
        accelerated=NodeClass(("gpu.nodeSelector",), ("gpu.tolerations", "worker.tolerations"), (), ("env.taint",)),
        node_count_paths=("nodes",),
    ),
    storage_class_paths=("pvc.storageClassName",),
    shared_storage_class_paths=("shared.storageClassName",),
)


def place(given: dict[str, Any], scheduling: Scheduling, /, **stated: Any) -> Injection:
    injection = Injection(COMPONENT, given, Stated(**{"values": {}, **stated}))
    injection.place(scheduling)
    return injection


def placed(given: dict[str, Any], scheduling: Scheduling, /, **stated: Any) -> Any:
    return place(given, scheduling, **stated).values


def tolerating(*tolerations: dict[str, str]) -> Scheduling:
    return Scheduling(accelerated_node_tolerations=tolerations)


def test_nothing_said_means_tolerate_every_taint_and_select_nothing() -> None:
    assert placed({}, Scheduling()) == {
        "op": {"tolerations": [EXISTS]},
        "gpu": {"tolerations": [EXISTS]},
        "worker": {"tolerations": [EXISTS]},
    }


def test_a_default_replaces_what_stands_in_the_components_file() -> None:
    assert placed({"gpu": {"tolerations": [OWN]}}, Scheduling())["gpu"] == {"tolerations": [EXISTS]}


@pytest.mark.parametrize("deliberate", [[], None, [OWN]])
def test_a_default_never_beats_what_the_recipe_says_on_purpose(deliberate: object) -> None:
    values = {"gpu": {"tolerations": deliberate}}
    assert placed(values, Scheduling(), values=values)["gpu"] == values["gpu"]


def test_an_option_is_added_to_the_recipes_own_list_once() -> None:
    values = {"gpu": {"tolerations": [OWN, KEYED]}}
    assert placed(values, tolerating(KEYED), values=values)["gpu"] == {"tolerations": [OWN, KEYED]}
    values = {"gpu": {"tolerations": [OWN]}}
    assert placed(values, tolerating(KEYED), values=values)["gpu"] == {"tolerations": [OWN, KEYED]}


def test_an_option_leaves_a_list_that_is_empty_on_purpose_and_says_so() -> None:
    values: dict[str, Any] = {"gpu": {"tolerations": []}}
    injection = place(values, tolerating(KEYED), values=values)
    assert injection.values["gpu"] == {"tolerations": []}
    (note,) = injection.notes
    assert "c:gpu.tolerations" in note
    assert "accelerated_node_tolerations" in note


def test_the_accelerated_group_has_the_last_word_on_a_shared_path() -> None:
    assert placed({}, tolerating(KEYED))["worker"] == {"tolerations": [KEYED]}


def test_a_selector_replaces_the_recipes_and_yields_to_the_user() -> None:
    scheduling = Scheduling(system_node_selector={"a": "b"}, accelerated_node_selector={"c": "d"})
    values = {"op": {"nodeSelector": {"old": "x"}}, "gpu": {"nodeSelector": {"mine": "y"}}}
    found = placed(values, scheduling, values=values, paths=[("gpu", "nodeSelector", "mine")])
    assert found["op"]["nodeSelector"] == {"a": "b"}
    assert found["gpu"]["nodeSelector"] == {"mine": "y"}


def test_a_storage_class_beats_the_recipe_and_yields_to_the_user() -> None:
    scheduling = Scheduling(storage_class="fast", shared_storage_class="wide")
    values = {"pvc": {"storageClassName": "slow"}, "shared": {"storageClassName": ""}}
    assert placed(values, scheduling)["pvc"] == {"storageClassName": "fast"}
    assert placed(values, scheduling)["shared"] == {"storageClassName": "wide"}
    assert placed(values, scheduling, paths=[("pvc", "storageClassName")])["pvc"] == {"storageClassName": "slow"}


def test_what_stands_open_is_not_filled_in() -> None:
    scheduling = Scheduling(system_node_selector={"a": "b"}, nodes=3)
    found = placed({}, scheduling, dynamic={("op", "nodeSelector"), ("op", "tolerations"), ("nodes",)})
    assert "op" not in found
    assert "nodes" not in found


def test_gate_and_node_count_go_where_the_registry_says() -> None:
    found = placed({}, Scheduling(workload_gate=Taint("a/b", "c", "NoSchedule"), nodes=16))
    assert found["env"] == {"taint": "a/b=c:NoSchedule"}
    assert found["nodes"] == 16


def test_a_path_that_is_blocked_is_a_problem_that_names_it() -> None:
    (problem,) = place(
        {"op": "text"}, Scheduling(system_node_selector={"a": "b"}), dynamic={("op", "tolerations")}
    ).problems
    assert "op.nodeSelector" in problem.message


def test_a_selector_that_a_component_cannot_do_without_is_asked_for() -> None:
    component = Component(
        "c", "C", node_scheduling=NodeScheduling(system=NodeClass(("s",), require_node_selector=True))
    )
    (problem,) = unplaced(component, {}, Scheduling())
    assert "scheduling.system_node_selector" in problem.hint
    assert not unplaced(component, {"s": {"a": "b"}}, Scheduling())


def test_a_selector_can_be_due_only_with_a_storage_class() -> None:
    nodes = NodeClass(("s",), require_node_selector_if_storage_class_set=True)
    component = Component("c", "C", node_scheduling=NodeScheduling(system=nodes), storage_class_paths=("pvc.class",))
    assert not unplaced(component, {}, Scheduling())
    assert unplaced(component, {}, Scheduling(storage_class="fast"))
    assert unplaced(component, {"pvc": {"class": "fast"}}, Scheduling())


def test_the_option_takes_both_spellings() -> None:
    read = read_scheduling({
        "system_node_selector": {"a": "b"},
        "accelerated_node_selector": ["c=d", "nvidia.com/gpu.present=true"],
        "accelerated_node_tolerations": ["nvidia.com/gpu=present:NoSchedule", "x:NoExecute", "*"],
        "workload_gate": "nodewright.nvidia.com=runtime-required:NoSchedule",
        "nodes": 16,
        "storage_class": "fast",
    })  # fmt: skip
    assert read.accelerated_node_selector == {"c": "d", "nvidia.com/gpu.present": "true"}
    assert read.accelerated_node_tolerations == (
        {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Equal", "value": "present"},
        {"effect": "NoExecute", "key": "x", "operator": "Exists"},
        EXISTS,
    )
    assert read.system_node_tolerations is None
    assert str(read.workload_gate) == "nodewright.nvidia.com=runtime-required:NoSchedule"
    assert read_scheduling({}) == Scheduling()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("system_node_selector", [""]),
        ("system_node_selector", "a=b"),
        ("system_node_selector", {"a": True}),
        ("system_node_selector", {"a b": "c"}),
        ("accelerated_node_tolerations", ["foo"]),
        ("accelerated_node_tolerations", ["a=b:Sometimes"]),
        ("accelerated_node_tolerations", "a:NoSchedule"),
        ("workload_gate", "foo"),
        ("nodes", "x"),
        ("nodes", -1),
        ("nodes", True),
        ("storage_class", "Fast Disk"),
        ("shared_storage_class", 3),
        ("storageclass", "fast"),
    ],
)
def test_what_kubernetes_would_not_take_is_refused_by_its_option(key: str, value: object) -> None:
    with pytest.raises(AicrError) as refused:
        read_scheduling({key: value})
    assert key in refused.value.message


def test_all_wrong_options_are_named_at_once() -> None:
    with pytest.raises(AicrError, match="2 problems"):
        read_scheduling({"nodes": -1, "storage_class": "A"})
