# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How assertions are read and what they say; that verdicts are Chainsaw's shows test_assertion_chainsaw.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.assertion import check_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.assertion_tree import fields_of, states, tree_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.query import Query
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.query_functions import Unevaluable
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

CHECKS = sorted((Path(__file__).parents[2] / "recipes" / "checks").glob("*/health-check.yaml"))
Object = dict[str, Any]

POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "n", "labels": {"app": "x"}},
    "status": {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}]},
}


def document(**changes: Any) -> Object:
    about = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}
    found: Object = {
        "apiVersion": "chainsaw.kyverno.io/v1alpha1",
        "kind": "Test",
        "metadata": {"name": "t"},
        "spec": {"steps": [{"name": "s", "try": [{"assert": {"resource": {**about, **changes.pop("tree", {})}}}]}]},
    }
    return found | changes


def read(found: Object) -> Any:
    return check_of(yamlio.dump(found), "the check")


def troubles(tree: Object, objects: list[Object], kind: str = "assert") -> list[str]:
    found = document(tree=tree)
    (operation,) = found["spec"]["steps"][0]["try"]
    found["spec"]["steps"][0]["try"] = [{kind: operation["assert"]}]
    (assertion,) = read(found).assertions
    return [str(trouble) for trouble in assertion.troubles(objects)]


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: path.parent.name)
def test_every_check_of_the_catalog_is_read(path: Path) -> None:
    check = check_of(path.read_text(encoding="utf-8"), path.parent.name)
    assert check.name == path.parent.name
    nothing = "steps: []" in path.read_text(encoding="utf-8")
    assert bool(check.assertions) is not nothing
    assert nothing or (check.seconds and check.seconds >= 60)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "Toast"}, "is no Test of chainsaw.kyverno.io/v1alpha1"),
        ({"extra": 1}, "the check: extra is not supported"),
        ({"spec": {"steps": [{"try": [{"script": {"content": "rm -rf /"}}]}]}}, "spec.steps[0].try[0].script is not"),
        ({"spec": {"steps": [{"try": [{"apply": {}}]}]}}, "spec.steps[0].try[0].apply is not supported"),
        ({"spec": {"steps": [{"try": [], "catch": []}]}}, "spec.steps[0].catch is not supported"),
        ({"spec": {"steps": [{"try": []}]}}, "spec.steps asserts nothing"),
        ({"spec": {"steps": {}}}, "spec.steps is a mapping, not a list"),
        ({"spec": {"steps": [], "timeouts": {"assert": "soon"}}}, "spec.timeouts.assert is soon, which is no duration"),
        ({"spec": {"steps": [], "bindings": []}}, "spec.bindings is not supported"),
        ({"tree": {"metadata": {"name": "(a)"}}}, "metadata.name is (a), where a literal text is due"),
        ({"tree": {"metadata": {"name": "a", "labels": {"k": 1}}}}, "metadata.labels.k is 1, where a literal text is"),
        ({"tree": {"kind": None}}, "kind is nothing, where a literal text is due"),
        ({"tree": {"status": {"(a[)": 1}}}, 'status.(a[): expression "(a[)": Invalid jmespath expression'),
        ({"tree": {"status": {"(nosuch(a))": 1}}}, 'there is no function "nosuch"'),
        ({"tree": {"status": {"(sum(a))": 1}}}, 'there is no function "sum"'),
        ({"tree": {"status": {"(cel;a)": 1}}}, '"cel;" asks for a compiler that there is not'),
        ({"tree": {"status": {"a": "~.b"}}}, "which only a key can"),
        ({"tree": {"status": {"(`x`)": 1}}}, "`x` is no JSON"),
        ({"tree": {"status": {"($.a)": 1}}}, "the root node $ has no meaning"),
    ],
)
def test_what_is_refused(change: Object, message: str) -> None:
    with pytest.raises(AicrError) as caught:
        read(document(**change))
    assert message in caught.value.message


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(AicrError) as caught:
        read(document(spec={"steps": [{"try": [{"wait": {}}]}, {"try": [{"sleep": {}}], "finally": []}]}))
    assert caught.value.message.startswith("3 problems: ")


def test_a_check_of_nothing_may_be_meant() -> None:
    assert read(document(spec={"steps": []})).assertions == ()


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        ({}, None),
        ({"timeouts": {"assert": "7m"}}, 420),
        ({"timeouts": {"assert": "1h30m5s", "error": "1s"}}, 5405),
        ({"timeouts": {"error": "500ms"}}, 0.5),
    ],
)
def test_the_longest_time_counts(spec: Object, seconds: float | None) -> None:
    assert read(document(spec={"steps": [], **spec})).seconds == seconds


def test_a_time_of_a_step_or_an_operation_counts_too() -> None:
    found = document()
    found["spec"] |= {"timeouts": {"assert": "1m"}}
    found["spec"]["steps"][0]["try"][0]["assert"]["timeout"] = "3m"
    assert read(found).seconds == 180


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"status": {"phase": "Running"}}, "Pod n/a: status.phase: expected Running, found Pending"),
        ({"status": {"podIP": "x"}}, "Pod n/a: status.podIP: expected x, found nothing"),
        ({"status": {"(restarts > `0`)": True}}, "Pod n/a: status.(restarts > `0`): expected true, found nothing"),
        (
            {"status": {"(conditions[?type == 'Ready'])": [{"status": "True"}]}},
            "Pod n/a: status.(conditions[?type == 'Ready'])[0].status: expected True, found False",
        ),
        (
            {"status": {"(conditions[?type == 'Gone'])": [{"status": "True"}]}},
            "Pod n/a: status.(conditions[?type == 'Gone']): expected a list of 1, found []",
        ),
        ({"status": {"phase": 1}}, "Pod n/a: expected what can be evaluated, found status.phase: a number is due"),
        ({"spec": {"nodeName": "x"}}, "Pod n/a: spec: expected nodeName: x, found nothing"),
    ],
)
def test_what_does_not_hold_is_said(tree: Object, expected: str) -> None:
    (said,) = troubles(tree, [POD])
    assert said.startswith(expected)


def test_an_absent_object_and_an_error_that_matches() -> None:
    assert troubles({}, []) == ["Pod n/a: expected to exist, found none"]
    assert troubles({}, [], "error") == []
    assert troubles({"status": {"phase": "Pending"}}, [POD], "error") == [
        "Pod n/a: expected not status: phase: Pending, found that"
    ]
    assert troubles({}, [POD], "error") == ["Pod n/a: expected none, found one"]


def test_a_long_value_is_cut() -> None:
    (said,) = troubles({"status": {"phase": "x"}}, [{**POD, "status": {"phase": "y" * 10_000}}])
    assert len(said) < 400


def test_bindings_reach_what_stands_below() -> None:
    below = {"status": {"(phase)->p": {"(@ == $p)": True}}}
    assert troubles(below, [POD]) == []
    beside = {"status": {"(phase)->p": {}, "($p)": "Pending"}}
    assert "there is no binding $p here" in troubles(beside, [POD])[0]


def test_which_fields_are_read() -> None:
    assert fields_of(tree_of({"kind": "x", "status": {"(a)": 1}})) == {"kind", "status"}
    assert fields_of(tree_of({"(length(data))": 1, "kind": "x"})) is None
    assert states(tree_of({"spec": {"replicas": 0}}), ("spec", "replicas"), 0)
    assert not states(tree_of({"spec": {"replicas": 1}}), ("spec", "replicas"), 0)
    assert not states(tree_of({"spec": {"(replicas)": 0}}), ("spec", "replicas"), 0)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a == `1`", {"a": 1}, False),  # an integer of an object is no float of an expression
        ("a > `0`", {"a": 1}, True),
        ("a > `0`", {"a": "1"}, None),
        ("'b' > 'a'", {}, None),
        ("a == b", {}, True),
        ("!a", {"a": 0}, False),
        ("a.length(@)", {}, None),
        ("[a]", None, [None]),
        ("a[0:2]", {"a": "xyz"}, "xy"),
        ("length(a) == `2`", {"a": [1, 2]}, True),
        ('"a b"', {"a b": 1}, 1),
        ("'$x'", {}, "$x"),
    ],
)
def test_expressions(text: str, value: object, expected: object) -> None:
    assert Query(text)(value, {}) == expected


@pytest.mark.parametrize("text", ["length(a)", "max(a)", "type(a)", "contains(b, 'x')", "$x", "abs(a)", "keys(@, @)"])
def test_expressions_that_cannot_be_evaluated(text: str) -> None:
    with pytest.raises(Unevaluable, match=r"^\("):
        Query(text)({"a": 1, "b": None}, {})
