# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of nodes become one of the cluster, without a reading lost or levelled (DESIGN, *Surfaces*)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.merged_snapshot import differing, merge_snapshots
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import Constraint
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import (
    Item,
    Measurement,
    Snapshot,
    SnapshotHeader,
    Subtype,
    snapshot_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import evaluate
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code


def node(name: str | None, release: dict[str, object], *gaps: str, stamp: str = "2026-11-30T10:00:00Z") -> Snapshot:
    parts = (Measurement("OS", (Subtype("release", release),)),)
    return Snapshot(parts, SnapshotHeader(stamp, "0.0.9", name), incomplete=gaps or None)


def release(merged: Snapshot) -> Any:
    return snapshot_to_document(merged)["measurements"][0]["subtypes"][0]


def holds(merged: Snapshot, key: str, expression: str) -> bool:
    return evaluate(Constraint(name=f"OS.release.{key}", value=expression), merged).passed


OLD, NEW = {"ID": "ubuntu", "VERSION_ID": "22.04"}, {"ID": "ubuntu", "VERSION_ID": "24.04"}


def test_what_is_equal_stands_in_data_and_what_differs_in_an_item_for_each_node() -> None:
    assert release(merge_snapshots([node("b", NEW), node("a", OLD), node("c", NEW)])) == {
        "subtype": "release",
        "data": {"ID": "ubuntu"},
        "items": [
            {"context": {"node": "a"}, "data": {"VERSION_ID": "22.04"}},
            {"context": {"node": "b"}, "data": {"VERSION_ID": "24.04"}},
            {"context": {"node": "c"}, "data": {"VERSION_ID": "24.04"}},
        ],
    }


def test_equal_nodes_give_the_snapshot_of_one() -> None:
    assert release(merge_snapshots([node("a", NEW), node("b", NEW)])) == {"subtype": "release", "data": NEW}


def test_a_constraint_must_hold_on_every_node() -> None:
    merged = merge_snapshots([node("a", OLD), node("b", NEW)])
    assert holds(merged, "ID", "ubuntu")
    assert holds(merged, "VERSION_ID", ">= 22.04")
    assert not holds(merged, "VERSION_ID", ">= 24.04")


def test_a_reading_that_one_node_lacks_cannot_be_evaluated_for_all() -> None:
    merged = merge_snapshots([node("a", {"ID": "ubuntu"}), node("b", NEW)])
    assert release(merged)["items"][0] == {"context": {"node": "a"}, "data": {}}
    with pytest.raises(AicrError) as refusal:
        holds(merged, "VERSION_ID", "24.04")
    assert refusal.value.code is Code.NOT_FOUND


def test_a_node_without_the_whole_subtype_counts_too() -> None:
    gpu = Snapshot((Measurement("GPU", (Subtype("hardware", {"gpu-count": 8}),)),), SnapshotHeader(None, None, "a"))
    merged = merge_snapshots([gpu, node("b", NEW)])
    hardware = next(merged.subtypes("GPU", "hardware"))
    assert hardware.data is None
    assert [dict(item.data or {}) for item in hardware.items or ()] == [{"gpu-count": 8}, {}]


@pytest.mark.parametrize(("one", "other"), [(True, 1), (False, 0), ("1", 1)])
def test_readings_of_different_types_differ(one: object, other: object) -> None:
    assert "data" not in release(merge_snapshots([node("a", {"x": one}), node("b", {"x": other})]))


def test_what_was_measured_of_the_cluster_is_kept_as_it_is() -> None:
    server = Measurement("K8s", (Subtype("server", {"version": "v1.34.1"}),))
    merged = merge_snapshots(
        [node("a", OLD), Snapshot((server,), incomplete=("K8s.image: forbidden",)), node("b", NEW)]
    )
    assert server in merged.measurements
    assert merged.incomplete == ("K8s.image: forbidden",)


def test_what_is_merged_already_joins_the_cluster_as_it_is() -> None:
    nodes = merge_snapshots([node("a", OLD, "OS.kmod: no"), node("b", NEW)])
    server = Measurement("K8s", (Subtype("server", {"version": "v1.34.1"}),))
    merged = merge_snapshots([Snapshot((server,), SnapshotHeader(None, None, "a")), nodes])
    assert merged.measurements == (server, *nodes.measurements)
    assert merged.incomplete == ("a: OS.kmod: no",)
    alike = merge_snapshots([node("a", NEW), node("b", NEW)])
    assert merge_snapshots([alike]).measurements == alike.measurements


def test_readings_that_differ_are_named_by_their_paths() -> None:
    assert differing(merge_snapshots([node("a", OLD), node("b", NEW)])) == ("OS.release.VERSION_ID",)
    assert differing(merge_snapshots([node("a", NEW), node("b", NEW)])) == ()
    taints = Subtype("taint", items=(Item({"key": "k"}, {"node-count": 1}),))
    assert differing(Snapshot((Measurement("NodeTopology", (taints,)),))) == ()


def test_two_answers_about_the_cluster_are_a_conflict() -> None:
    first, second = (Snapshot((Measurement("K8s", (Subtype("server", {"version": v}),)),)) for v in ("v1.33", "v1.34"))
    with pytest.raises(AicrError, match="do not agree on K8s") as refusal:
        merge_snapshots([first, second])
    assert refusal.value.code is Code.CONFLICT


def test_gaps_name_their_node() -> None:
    merged = merge_snapshots([node("b", NEW, "OS.kmod: no"), node("a", NEW)])
    assert merged.incomplete == ("b: OS.kmod: no",)


def test_the_header_has_the_latest_time_and_a_node_only_if_there_is_one() -> None:
    one = node("a", NEW, stamp="2026-11-30T10:00:00Z")
    other = node("b", NEW, stamp="2026-11-30T11:00:00Z")
    header = merge_snapshots([other, one]).metadata
    assert header is not None
    assert (header.timestamp, header.source_node) == ("2026-11-30T11:00:00Z", None)
    header = merge_snapshots([one]).metadata
    assert header is not None
    assert header.source_node == "a"


@pytest.mark.parametrize(
    ("snapshots", "message"),
    [
        ([], "no snapshot to merge"),
        ([node("a", OLD), node("a", NEW)], 'two snapshots are of node "a"'),
        ([node(None, OLD), node("a", NEW)], "snapshot 1 does not say of which node it is"),
        ([merge_snapshots([node("a", OLD), node("b", NEW)]), node("c", NEW)], "merged already"),
    ],
)
def test_what_cannot_be_merged_is_refused_by_name(snapshots: list[Snapshot], message: str) -> None:
    with pytest.raises(AicrError, match=message):
        merge_snapshots(snapshots)


READINGS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.one_of(st.booleans(), st.integers(0, 2), st.sampled_from(["0", "1"])),
    min_size=1,
)


@given(st.lists(READINGS, min_size=1, max_size=4))
def test_each_node_can_be_read_back_and_the_order_makes_no_difference(nodes: list[dict[str, object]]) -> None:
    taken = [node(f"n{position}", readings) for position, readings in enumerate(nodes)]
    document = snapshot_to_document(merge_snapshots(taken))
    assert all(snapshot_to_document(merge_snapshots(order)) == document for order in itertools.permutations(taken))
    (subtype,) = document["measurements"][0]["subtypes"]
    for position, readings in enumerate(nodes):
        own = [item["data"] for item in subtype.get("items", []) if item["context"]["node"] == f"n{position}"]
        read_back = {**subtype.get("data", {}), **(own[0] if own else {})}
        assert {key: (type(value), value) for key, value in read_back.items()} == {
            key: (type(value), value) for key, value in readings.items()
        }
