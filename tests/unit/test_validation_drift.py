# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two snapshots is told reading by reading, and nothing else is (spec/surface.md 1.9)."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import Snapshot, snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.validation.drift import Change, Drift, compare

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "snapshots"
Document = dict[str, Any]


def snapshot(*subtypes: Document, kind: str = "K8s", **more: Any) -> Document:
    return {"kind": "Snapshot", "measurements": [{"type": kind, "subtypes": [*subtypes]}], **more}


def decoded(document: Document) -> Snapshot:
    return snapshot_from_document(copy.deepcopy(document), "given")[0]


def drift(baseline: Document, target: Document) -> Drift:
    return compare(decoded(baseline), decoded(target))


def told(baseline: Document, target: Document) -> list[tuple[str, str, str | None, str | None]]:
    """Kind, path, and both texts of each change, as the report has them."""
    document = drift(baseline, target).to_document("a", "b")
    assert {change["severity"] for change in document["changes"]} <= {"informational"}
    return [(one["kind"], one["path"], one.get("baseline"), one.get("target")) for one in document["changes"]]


SERVER = {"subtype": "server", "data": {"version": "v1.34.1", "platform": "linux/amd64"}}
LABELS = {
    "subtype": "label",
    "context": {"selector": "gpu"},
    "items": [
        {"context": {"node": "a"}, "data": {"zone": "1"}},
        {"context": {"node": "b"}, "data": {"zone": "2"}},
    ],
}
SUBTYPES = (SERVER, {"subtype": "node", "data": {"provider": "eks", "count": 3}}, LABELS)
BEFORE = snapshot(*SUBTYPES)


def test_a_report_says_what_was_added_removed_and_modified() -> None:
    after = snapshot(
        {"subtype": "server", "data": {"version": "v1.35.0", "goVersion": "go1.25"}},
        {"subtype": "node", "data": {"provider": "eks", "count": 3}},
        {**LABELS, "context": {"selector": "cpu"}, "items": LABELS["items"][:1]},  # type: ignore[index]
    )
    assert drift(BEFORE, after).to_document("then.yaml", "cm://ops/now") == {
        "baselineSource": "then.yaml",
        "targetSource": "cm://ops/now",
        "changes": [
            {
                "kind": "modified",
                "severity": "informational",
                "path": "K8s.label.context.selector",
                "baseline": "gpu",
                "target": "cpu",
            },
            {
                "kind": "modified",
                "severity": "informational",
                "path": "K8s.label.items.length",
                "baseline": "2",
                "target": "1",
            },
            {
                "kind": "removed",
                "severity": "informational",
                "path": "K8s.label.items[1].context.node",
                "baseline": "b",
            },
            {"kind": "removed", "severity": "informational", "path": "K8s.label.items[1].data.zone", "baseline": "2"},
            {"kind": "added", "severity": "informational", "path": "K8s.server.goVersion", "target": "go1.25"},
            {"kind": "removed", "severity": "informational", "path": "K8s.server.platform", "baseline": "linux/amd64"},
            {
                "kind": "modified",
                "severity": "informational",
                "path": "K8s.server.version",
                "baseline": "v1.34.1",
                "target": "v1.35.0",
            },
        ],
        "summary": {"added": 1, "removed": 3, "modified": 3, "total": 7},
    }


def test_without_a_change_all_counts_are_there() -> None:
    document = drift(BEFORE, BEFORE).to_document("a", "b")
    assert document["changes"] == []
    assert document["summary"] == {"added": 0, "removed": 0, "modified": 0, "total": 0}


@pytest.mark.parametrize(
    "target",
    [
        {**BEFORE, "metadata": {"timestamp": "2026-12-01T00:00:00Z", "version": "9.9.9", "source-node": "x"}},
        {**BEFORE, "apiVersion": "aicr.run/v1"},
        {**BEFORE, "apiVersion": "aicr.run/v1alpha2"},
        {**BEFORE, "later": {"unknown": True}},
        {
            "kind": "Snapshot",
            "measurements": [{"type": "K8s", "subtypes": BEFORE["measurements"][0]["subtypes"][::-1]}],
        },
        {"kind": "Snapshot", "measurements": [*BEFORE["measurements"], {"type": "OS", "subtypes": []}]},
        snapshot(*BEFORE["measurements"][0]["subtypes"], {"subtype": "policy", "data": {}, "items": []}),
    ],
    ids=["header", "stable track", "alpha track", "unknown key", "order", "nothing measured", "nothing found"],
)
def test_what_is_no_reading_is_no_drift(target: Document) -> None:
    assert told(BEFORE, target) == told(target, BEFORE) == []


@pytest.mark.parametrize(
    ("before", "after", "texts"),
    [
        (8, "8", ("8", '"8"')),
        (True, "true", ("true", '"true"')),
        (True, 1, ("true", "1")),
        (0, False, ("0", "false")),
        (1.0, 1, ("1.0", "1")),
        (1.3, "1.30", ("1.3", "1.30")),
        (1000000.0, 1000001.0, ("1e+06", "1.000001e+06")),
        ("", "x", ("", "x")),
        (None, "", ("<nil>", "")),
        (None, "<nil>", ("null", '"<nil>"')),
        ([1, 2], [2, 1], ("[1 2]", "[2 1]")),
        ([1, 2], ["1", "2"], ("[1, 2]", '["1", "2"]')),
        ({"a": 1}, {"a": 2}, ("map[a:1]", "map[a:2]")),
        ("ü", "u", ("ü", "u")),
    ],
)
def test_a_reading_is_the_same_if_value_and_type_are(before: object, after: object, texts: tuple[str, str]) -> None:
    """And whoever reads the report can see the difference."""
    one, other = ({"subtype": "s", "data": {"k": value}} for value in (before, after))
    assert told(snapshot(one), snapshot(other)) == [("modified", "K8s.s.k", *texts)]
    assert told(snapshot(other), snapshot(one)) == [("modified", "K8s.s.k", *texts[::-1])]
    assert told(snapshot(one), snapshot(one)) == told(snapshot(other), snapshot(other)) == []


@pytest.mark.parametrize("empty", ["", None, 0, False])
def test_an_empty_value_is_not_one_that_is_absent(empty: object) -> None:
    there, absent = snapshot({"subtype": "s", "data": {"k": empty}}), snapshot({"subtype": "s", "data": {}})
    ((kind, path, before, after),) = told(absent, there)
    assert (kind, path, before) == ("added", "K8s.s.k", None) and after is not None
    ((kind, path, before, after),) = told(there, absent)
    assert (kind, path, after) == ("removed", "K8s.s.k", None) and before is not None


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("nvidia.com/gpu.count", "K8s.s.nvidia.com/gpu.count"),
        ("items", 'K8s.s["items"]'),
        ("context", 'K8s.s["context"]'),
        ("context.node", 'K8s.s["context.node"]'),
        ("items[0].data.k", 'K8s.s["items[0].data.k"]'),
        ("items.length", 'K8s.s["items.length"]'),
        ("contextual", 'K8s.s["contextual"]'),
        ('items"x', 'K8s.s["items\\"x"]'),
        ('["items"]', r'K8s.s["[\"items\"]"]'),
        ('a"]', r'K8s.s["a\"]"]'),
        ("it's", 'K8s.s["it\'s"]'),
        ("a\\b", r'K8s.s["a\\b"]'),
        ("a b", 'K8s.s["a b"]'),
        ("a\nb", r'K8s.s["a\nb"]'),
        ("\x1b[2J", r'K8s.s["\u001b[2J"]'),
        ("\x9b\u202e\ud800\U000e0001", r'K8s.s["\u009b\u202e\ud800\udb40\udc01"]'),
        ("ü", "K8s.s.ü"),
        ("item", "K8s.s.item"),
        (".", "K8s.s.."),
        ("", 'K8s.s[""]'),
    ],
)
def test_a_key_never_reads_as_something_else_of_its_subtype(key: str, path: str) -> None:
    assert told(snapshot({"subtype": "s"}), snapshot({"subtype": "s", "data": {key: "v"}})) == [
        ("added", path, None, "v")
    ]


def test_keys_called_items_and_context_stand_beside_real_ones() -> None:
    real = {"context": {"k": "1"}, "items": [{"context": {"k": "2"}, "data": {"k": "3"}}]}
    keys = {"context": "4", "context.k": "5", "items": "6", "items.length": "7", "items[0].data.k": "8"}
    found = told(snapshot({"subtype": "s"}), snapshot({"subtype": "s", "data": keys, **real}))
    assert {(path, after) for _kind, path, _before, after in found} == {
        ("K8s.s.context.k", "1"),
        ("K8s.s.items.length", "1"),
        ("K8s.s.items[0].context.k", "2"),
        ("K8s.s.items[0].data.k", "3"),
        ('K8s.s["context"]', "4"),
        ('K8s.s["context.k"]', "5"),
        ('K8s.s["items"]', "6"),
        ('K8s.s["items.length"]', "7"),
        ('K8s.s["items[0].data.k"]', "8"),
    }


def test_two_readings_of_one_path_are_two() -> None:
    """A dot may belong to the subtype or to the key, as with units of systemd."""
    before = snapshot({"subtype": "a.b", "data": {"c": "1"}}, kind="SystemD")
    after = snapshot({"subtype": "a", "data": {"b.c": "1"}}, kind="SystemD")
    assert told(before, after) == [("added", 'SystemD.a["b.c"]', None, "1"), ("removed", 'SystemD["a.b"].c', "1", None)]
    for name in ("a.b", "", "a b", 'a"]', "a\x1b"):
        quoted = f".{name}" if name == "a.b" else f"[{json.dumps(name)}]"
        other = snapshot({"subtype": name, "data": {"c": "2"}}, kind="SystemD")
        assert told(snapshot(kind="SystemD"), other) == [("added", f"SystemD{quoted}.c", None, "2")]


def test_a_dot_is_quoted_only_where_it_could_be_another() -> None:
    """Labels have dots, and stand as the reference prints them beside those that are quoted."""
    both = [{"subtype": "a.b", "data": {"c": "1", "d.e": "1"}}, {"subtype": "a", "data": {"b.c": "1", "x.y": "1"}}]
    found = told(snapshot(), snapshot(*both))
    assert {path for _kind, path, *_texts in found} == {'K8s["a.b"].c', "K8s.a.b.d.e", 'K8s.a["b.c"]', "K8s.a.x.y"}
    assert told(snapshot(*both), snapshot(*both[:1])) == [
        ("removed", "K8s.a.x.y", "1", None),
        ("removed", 'K8s.a["b.c"]', "1", None),
    ]


def test_quoting_one_place_may_make_it_another() -> None:
    """The path of the first is bare the one of the second, and quoted the one of the third."""
    found = told(
        snapshot(),
        snapshot(
            {"subtype": "x", "context": {"items.q": "1"}},
            {"subtype": "x.context.items", "data": {"q": "2"}},
            {"subtype": "x.context", "data": {"items.q": "3"}},
        ),
    )
    assert {(path, after) for _kind, path, _before, after in found} == {
        ('K8s.x.context["items.q"]', "1"),
        ('K8s["x.context.items"].q', "2"),
        ('K8s["x.context"]["items.q"]', "3"),
    }


def test_a_subtype_that_stands_there_twice_is_compared_twice() -> None:
    one, other = {"subtype": "s", "data": {"k": "1"}}, {"subtype": "s", "data": {"k": "2"}}
    assert told(snapshot(one, one), snapshot(one, other)) == [("modified", "K8s.s[1].k", "1", "2")]
    assert told(snapshot(one), snapshot(one, other)) == [("added", "K8s.s[1].k", None, "2")]


def test_the_order_of_items_counts() -> None:
    turned = {**LABELS, "items": [*LABELS["items"]][::-1]}
    assert told(snapshot(LABELS), snapshot(turned)) == [
        ("modified", "K8s.label.items[0].context.node", "a", "b"),
        ("modified", "K8s.label.items[0].data.zone", "1", "2"),
        ("modified", "K8s.label.items[1].context.node", "b", "a"),
        ("modified", "K8s.label.items[1].data.zone", "2", "1"),
    ]


def test_items_that_say_nothing_are_counted() -> None:
    none, two = {"subtype": "s"}, {"subtype": "s", "items": [{}, {"data": {}}]}
    assert told(snapshot(none), snapshot(two)) == [("added", "K8s.s.items.length", None, "2")]


def test_changes_are_sorted_by_path_as_text() -> None:
    items = [{"data": {"k": str(number)}} for number in range(11)]
    changed = [{"data": {"k": "x"}}] * 11
    found = told(snapshot({"subtype": "s", "items": items}), snapshot({"subtype": "s", "items": changed}))
    paths = [path for _kind, path, _before, _after in found]
    assert paths == sorted(paths) and paths[1] == "K8s.s.items[10].data.k"


def test_a_measurement_that_one_side_lacks_is_told_as_what_it_is() -> None:
    nodes = {"type": "OS", "subtypes": [{"subtype": "release", "data": {"ID": "ubuntu"}}]}
    whole = {**BEFORE, "measurements": [*BEFORE["measurements"], nodes]}
    lost, won = drift(whole, BEFORE), drift(BEFORE, whole)
    assert [(change.kind.value, change.path) for change in lost.changes] == [("removed", "OS.release.ID")]
    assert lost.warnings == ("the target has not measured OS: take both snapshots in the same way",)
    assert won.warnings == ("the baseline has not measured OS: take both snapshots in the same way",)


def test_a_gap_other_releases_and_other_nodes_are_warned_of() -> None:
    gap = "K8s.image: nobody may list pods"
    for name, told_as, pair in (
        ("baseline", "added", ({**BEFORE, "incomplete": [gap]}, BEFORE)),
        ("target", "removed", (BEFORE, {**BEFORE, "incomplete": [gap]})),
    ):
        (warning,) = drift(*pair).warnings
        assert name in warning and told_as in warning and gap in warning
    header = {"version": "0.1.0", "source-node": "gpu-1"}
    then, now = ({**BEFORE, "metadata": one} for one in (header, {"version": "0.2.0", "source-node": "gpu-2"}))
    release, node = drift(then, now).warnings
    assert "0.1.0 and 0.2.0" in release and "gpu-1 and gpu-2" in node
    assert drift(then, {**BEFORE, "metadata": header}).warnings == drift(then, BEFORE).warnings == ()


KEYS = st.sampled_from(["a", "a.b", "b", "items", "items.length", "items[0].data.a", "context", "context.a", ""])
VALUES = st.sampled_from(["", "1", "x", "true", "<nil>", 0, 1, 1.0, 1.5, True, False, None, [1], ["1"], {"a": 1}])
READINGS = st.dictionaries(KEYS, VALUES, max_size=4)
ITEMS = st.lists(st.fixed_dictionaries({}, optional={"context": READINGS, "data": READINGS}), max_size=3)
SUBTYPE = st.fixed_dictionaries({}, optional={"data": READINGS, "context": READINGS, "items": ITEMS})
NAMES = st.sampled_from(["s", "t", "u"])
SNAPSHOTS = st.dictionaries(
    st.sampled_from(["K8s", "OS", "GPU"]), st.dictionaries(NAMES, SUBTYPE, max_size=3), min_size=1, max_size=3
).map(
    lambda kinds: {
        "kind": "Snapshot",
        "measurements": [
            {"type": kind, "subtypes": [{"subtype": name, **subtype} for name, subtype in subtypes.items()]}
            for kind, subtypes in kinds.items()
        ],
    }
)


def oracle(document: Document) -> dict[str, object]:
    """Every reading by its path, by the rules of the page and with nothing of the engine."""
    found: dict[str, object] = {}
    for measurement in document["measurements"]:
        for subtype in measurement["subtypes"]:
            at = f"{measurement['type']}.{subtype['subtype']}"
            for key, value in subtype.get("data", {}).items():
                quoted = key[:7] == "context" or key[:5] == "items"
                found[f'{at}["{key}"]' if quoted or not key else f"{at}.{key}"] = value
            for key, value in subtype.get("context", {}).items():
                found[f"{at}.context{stepped(key)}"] = value
            items = subtype.get("items", [])
            if items:
                found[f"{at}.items.length"] = len(items)
            for index, item in enumerate(items):
                for part in ("context", "data"):
                    for key, value in item.get(part, {}).items():
                        found[f"{at}.items[{index}].{part}{stepped(key)}"] = value
    return found


def stepped(key: str) -> str:
    return f'["{key}"]' if not key or "[" in key else f".{key}"


def applied(readings: Mapping[str, object], changes: tuple[Change, ...]) -> dict[str, object]:
    """Readings after changes, each of which must fit to what it is applied to."""
    result = dict(readings)
    for change in changes:
        if change.kind.value == "added":
            assert change.path not in result
        else:
            assert spelled(result.pop(change.path)) == spelled(change.baseline)
        if change.kind.value != "removed":
            result[change.path] = change.target
    return result


def spelled(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@given(SNAPSHOTS)
def test_a_snapshot_has_not_changed_against_itself(document: Document) -> None:
    found = drift(document, document)
    assert found.changes == found.warnings == ()


@given(SNAPSHOTS, SNAPSHOTS)
def test_the_changes_lead_from_one_snapshot_to_the_other(before: Document, after: Document) -> None:
    changes = drift(before, after).changes
    assert {path: spelled(value) for path, value in applied(oracle(before), changes).items()} == {
        path: spelled(value) for path, value in oracle(after).items()
    }
    touched = [change.path for change in changes]
    assert touched == sorted(set(touched)), "each reading once, by path"
    assert all(spelled(change.baseline) != spelled(change.target) for change in changes if change.kind == "modified")


ODD = st.lists(st.sampled_from(["a", "b", ".", "[", '"', "items", "context", "data", "\n", "0", "]"]), max_size=3).map(
    "".join
)
ODD_VALUES = st.dictionaries(ODD, st.just("1"), max_size=2)
ODD_SUBTYPES = st.fixed_dictionaries(
    {"subtype": ODD},
    optional={
        "data": ODD_VALUES,
        "context": ODD_VALUES,
        "items": st.lists(st.fixed_dictionaries({}, optional={"context": ODD_VALUES, "data": ODD_VALUES}), max_size=2),
    },
)


@given(st.lists(st.tuples(st.sampled_from(["a", "a.b"]), st.lists(ODD_SUBTYPES, max_size=3)), min_size=1, max_size=2))
def test_no_path_names_two_readings_and_none_disturbs_a_terminal(kinds: list[tuple[str, list[Document]]]) -> None:
    kinds = list(dict(kinds).items())
    parts = [{"type": kind, "subtypes": subtypes} for kind, subtypes in kinds]
    empty = {"kind": "Snapshot", "measurements": [{"type": "none", "subtypes": []}]}
    changed = drift(empty, {"kind": "Snapshot", "measurements": parts})
    paths = [change.path for change in changed.changes]
    each = [one for _kind, subtypes in kinds for one in subtypes]
    count = sum(len(one.get("data", {})) + len(one.get("context", {})) + bool(one.get("items")) for one in each)
    count += sum(
        len(item.get(part, {})) for one in each for item in one.get("items", []) for part in ("context", "data")
    )
    assert len(set(paths)) == len(paths) == count
    assert all(path.isprintable() for path in paths)


@given(SNAPSHOTS, SNAPSHOTS)
def test_looking_the_other_way_turns_added_and_removed_around(before: Document, after: Document) -> None:
    turned = {"added": "removed", "removed": "added", "modified": "modified"}
    there, back = told(before, after), told(after, before)
    assert [(turned[kind], path, new, old) for kind, path, old, new in there] == back
    counts = drift(before, after).summary()
    assert counts == {
        **{name: sum(kind == name for kind, *_rest in there) for name in turned},
        "total": len(there),
    }


@given(SNAPSHOTS, SNAPSHOTS)
def test_both_texts_of_a_change_are_different(before: Document, after: Document) -> None:
    assert all(old != new for _kind, _path, old, new in told(before, after))


@pytest.mark.parametrize("name", ["eks-h100-training", "eks-h100-inference"])
def test_the_examples_change_by_what_is_edited(name: str) -> None:
    document: Any = yamlio.load_file(EXAMPLES / f"{name}.yaml")
    edited = copy.deepcopy(document)
    server = next(
        subtype
        for measurement in edited["measurements"]
        for subtype in measurement["subtypes"]
        if (measurement["type"], subtype["subtype"]) == ("K8s", "server")
    )
    version = server["data"]["version"]
    server["data"]["version"] = "v9.9.9"
    assert told(document, edited) == [("modified", "K8s.server.version", version, "v9.9.9")]
