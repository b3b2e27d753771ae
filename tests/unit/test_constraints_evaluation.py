# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A constraint holds only where a reading proves it; what is not known is an error (spec/engine.md 3.1, 3.2, 3.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import Constraint
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import (
    Item,
    Measurement,
    Snapshot,
    Subtype,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import GPU_NODES_LABEL, Evaluation, evaluate
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

GPU, PLUGIN = "cloud.google.com/gke-accelerator", "gke-no-default-nvidia-gpu-device-plugin"


def snapshot(type_name: str, *subtypes: Subtype) -> Snapshot:
    return Snapshot((Measurement(type_name, subtypes),))


def labels(folded: dict[str, str]) -> Snapshot:
    return snapshot("NodeTopology", Subtype("label", folded))


def refusal(name: str, value: str, of: Snapshot) -> AicrError:
    with pytest.raises(AicrError) as refused:
        evaluate(Constraint(name, value), of)
    return refused.value


SERVER = snapshot(
    "K8s", Subtype("server", {"version": "v1.33.1-eks-1", "float": 1.33, "count": 8, "on": True, "no": None})
)


@pytest.mark.parametrize(
    ("key", "value", "passed", "actual"),
    [
        ("version", ">= 1.32.4", True, "v1.33.1-eks-1"),
        ("version", ">= 1.34", False, "v1.33.1-eks-1"),
        ("float", ">= 1.32.4", True, "1.33"),
        ("count", ">= 8", True, "8"),
        ("count", "8", True, "8"),
        ("on", "true", True, "true"),
        ("on", "True", False, "true"),
    ],
)
def test_a_reading_is_judged_as_text_whatever_its_type(key: str, value: str, passed: bool, actual: str) -> None:
    assert evaluate(Constraint(f"K8s.server.{key}", value), SERVER) == Evaluation(passed, value, actual)


def test_severity_changes_nothing() -> None:
    constraint = Constraint("K8s.server.version", ">= 99", severity="warning")
    assert not evaluate(constraint, SERVER).passed


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("OS.release.ID", "no measurements of type OS"),
        ("K8s.node.provider", 'no subtype "node"'),
        ("K8s.server.platform", "no such key"),
        ("K8s.server.no", "no such key"),
        ("K8s.server[0].version", "0 items"),
    ],
)
def test_what_the_snapshot_lacks_is_not_found_by_name(name: str, why: str) -> None:
    error = refusal(name, "x", SERVER)
    assert error.code is Code.NOT_FOUND
    assert name in error.message
    assert why in error.message


@pytest.mark.parametrize(("name", "value"), [("K8s.nope", "x"), ("K8s.server.on", ">= 1"), ("K8s.server.on", ">=")])
def test_what_cannot_be_evaluated_is_invalid_by_name(name: str, value: str) -> None:
    error = refusal(name, value, SERVER)
    assert error.code is Code.INVALID_REQUEST
    assert name in error.message


def test_the_first_subtype_of_a_name_counts() -> None:
    twice = snapshot("K8s", Subtype("server", {"version": "1.30"}), Subtype("server", {"version": "1.40"}))
    assert evaluate(Constraint("K8s.server.version", ">= 1.35"), twice).actual == "1.30"


SLURM = snapshot(
    "K8s",
    Subtype(
        "slinky-slurm",
        {"controller-count": 2},
        items=(
            Item({"kind": "Controller", "name": "a"}, {"external": False, "id": 1}),
            Item({"kind": "Controller", "name": "b"}, {"external": True, "name": "data-first"}),
        ),
    ),
)


@pytest.mark.parametrize(
    ("path", "actual"),
    [
        ("[0].external", "false"),
        ("[1].kind", "Controller"),
        ("[1].name", "data-first"),
        ("[name=a].id", "1"),
        ("[id=1].name", "a"),
        ("[external=true].kind", "Controller"),
    ],
)
def test_an_item_is_picked_by_position_or_predicate_and_its_data_comes_before_its_context(
    path: str, actual: str
) -> None:
    assert evaluate(Constraint(f"K8s.slinky-slurm{path}", "x"), SLURM).actual == actual


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("[2].kind", Code.NOT_FOUND),
        ("[name=zz].kind", Code.NOT_FOUND),
        ("[name=b].kind", Code.NOT_FOUND),  # its data says another name, and data comes first
        ("[kind=Controller].name", Code.CONFLICT),
        ("[0].cluster-name", Code.NOT_FOUND),
    ],
)
def test_no_item_and_several_items_are_errors(path: str, code: Code) -> None:
    assert refusal(f"K8s.slinky-slurm{path}", "x", SLURM).code is code


def per_node(**readings: dict[str, object]) -> Snapshot:
    items = tuple(Item({"node": node}, data) for node, data in readings.items())
    return snapshot("OS", Subtype("release", {"ID": "ubuntu"}, items=items))


def test_a_reading_that_differs_must_hold_on_every_node_and_the_failing_ones_are_named() -> None:
    mixed = per_node(n1={"VERSION_ID": "24.04"}, n3={"VERSION_ID": "22.04"}, n2={"VERSION_ID": "22.04"})
    found = evaluate(Constraint("OS.release.VERSION_ID", "24.04"), mixed)
    assert found == Evaluation(False, "24.04", "22.04 on n2,n3", ("n2", "n3"))
    found = evaluate(Constraint("OS.release.VERSION_ID", ">= 22.04"), mixed)
    assert found == Evaluation(True, ">= 22.04", "24.04 on n1; 22.04 on n2,n3")
    assert evaluate(Constraint("OS.release.ID", "ubuntu"), mixed).passed


def test_a_reading_that_one_node_lacks_is_not_found_and_names_the_node() -> None:
    error = refusal("OS.release.VERSION_ID", "24.04", per_node(n1={"VERSION_ID": "24.04"}, n2={"NAME": "x"}))
    assert error.code is Code.NOT_FOUND
    assert "n2" in error.message
    assert "n1" not in error.message


def test_a_reading_that_one_node_garbles_is_invalid_and_names_the_node() -> None:
    error = refusal("OS.release.VERSION_ID", ">= 24", per_node(n1={"VERSION_ID": "24.04"}, n2={"VERSION_ID": "?"}))
    assert error.code is Code.INVALID_REQUEST
    assert "n2" in error.message


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.integers(20, 30), min_size=1), st.integers(20, 30))
def test_every_node_counts(versions: dict[str, int], floor: int) -> None:
    found = evaluate(
        Constraint("OS.release.VERSION_ID", f">= {floor}"),
        per_node(**{node: {"VERSION_ID": version} for node, version in versions.items()}),
    )
    below = sorted(node for node, version in versions.items() if version < floor)
    assert (found.passed, list(found.nodes)) == (not below, below)


@pytest.mark.parametrize(
    ("value", "passed", "nodes"),
    [
        (f"{PLUGIN}=true", False, ("g2",)),
        (f"!{PLUGIN}", False, ("g1",)),
        ("!other", True, ()),
        ("pool=gpu", True, ()),
        ("cpu-only=", False, ("g1", "g2")),
    ],
)
def test_a_rule_about_gpu_nodes_quantifies_over_the_nodes_with_an_accelerator(
    value: str, passed: bool, nodes: tuple[str, ...]
) -> None:
    folded = {GPU: "h100|g1,g2", PLUGIN: "true|g1,c1", "pool.gpu": "gpu|g1,g2", "pool.cpu": "cpu|c1", "cpu-only": "|c1"}
    apart = [(GPU, "h100", "g1,g2"), (PLUGIN, "true", "g1,c1"), ("pool", "gpu", "g1,g2"), ("pool", "cpu", "c1")]
    items = tuple(
        Item({"key": key, "value": text}, {"node-list": names, "node-count": len(names.split(",")), "truncated": False})
        for key, text, names in [*apart, ("cpu-only", "", "c1")]
    )
    for readings in (Subtype("label", folded), Subtype("label", {GPU: "misleading|c1"}, items=items)):
        found = evaluate(Constraint(GPU_NODES_LABEL, value), snapshot("NodeTopology", readings))
        assert (found.passed, found.nodes) == (passed, nodes)
        assert found.actual


@pytest.mark.parametrize(
    ("folded", "said", "code"),
    [
        ({PLUGIN: "true|g1"}, "set of GPU nodes is empty", Code.NOT_FOUND),
        ({GPU: "h100|g1 (+3 more)"}, "truncated", Code.INVALID_REQUEST),
        ({GPU: "h100|g1,g2", PLUGIN: "true|g1 (+1 more)"}, "truncated", Code.INVALID_REQUEST),
        ({GPU: "h100"}, "malformed", Code.INVALID_REQUEST),
        ({GPU: "h100|"}, "malformed", Code.INVALID_REQUEST),
        ({GPU: "h100|g1", PLUGIN: "true|g1, g2"}, "malformed", Code.INVALID_REQUEST),
        ({GPU: "h100|g1", PLUGIN: "true|a|b"}, "malformed", Code.INVALID_REQUEST),
        ({GPU: "h100|g1", f"{PLUGIN}.true": "true|g1"}, "ambiguous", Code.INVALID_REQUEST),
        (
            {GPU: "h100|g1", f"{PLUGIN}.true": "true|g1", f"{PLUGIN}.false": "false|g1"},
            "ambiguous",
            Code.INVALID_REQUEST,
        ),
    ],
)
def test_folded_labels_that_do_not_tell_fail_closed_both_ways(folded: dict[str, str], said: str, code: Code) -> None:
    of = labels(folded)
    for value in (f"{PLUGIN}=true", f"!{PLUGIN}"):
        error = refusal(GPU_NODES_LABEL, value, of)
        assert error.code is code
        assert said in error.message


def test_another_label_below_the_same_name_is_not_taken_for_the_label() -> None:
    folded = {GPU: "h100|g1", f"{PLUGIN}.note": "other|g1", PLUGIN: "true|g1"}
    assert evaluate(Constraint(GPU_NODES_LABEL, f"{PLUGIN}=true"), labels(folded)).passed


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (Item({"key": PLUGIN, "value": "true"}, {"node-list": "g1", "truncated": True}), "truncated"),
        (Item({"key": PLUGIN, "value": "true"}, {"node-list": "g1", "truncated": "true"}), "truncated"),
        (Item({"key": PLUGIN, "value": "true"}, {"node-list": "g1", "node-count": 2}), "malformed"),
        (Item({"key": PLUGIN, "value": "true"}, {"node-list": "g1,"}), "malformed"),
        (Item({"key": PLUGIN, "value": "true"}, {}), 'no "node-list"'),
        (Item({"key": PLUGIN}, {"node-list": "g1"}), 'no "value"'),
        (Item({}, {"node-list": "g1"}), 'no "key"'),
        (Item({"key": GPU, "value": "a100"}, {"node-list": "g1"}), "ambiguous"),
    ],
)
def test_items_that_do_not_tell_fail_closed(item: Item, said: str) -> None:
    of = snapshot(
        "NodeTopology", Subtype("label", items=(Item({"key": GPU, "value": "h100"}, {"node-list": "g1"}), item))
    )
    error = refusal(GPU_NODES_LABEL, f"!{PLUGIN}", of)
    assert error.code is Code.INVALID_REQUEST
    assert said in error.message


def test_no_labels_at_all_is_not_found() -> None:
    assert refusal(GPU_NODES_LABEL, "a=b", SERVER).code is Code.NOT_FOUND


def test_many_nodes_are_counted_and_the_first_few_named() -> None:
    nodes = tuple(f"g{number}" for number in range(8))
    found = evaluate(Constraint(GPU_NODES_LABEL, "a=b"), labels({GPU: f"h100|{','.join(nodes)}"}))
    assert found.nodes == nodes
    assert found.actual == "8 of 8 GPU node(s) missing a=b: g0,g1,g2,g3,g4 (+3 more)"
