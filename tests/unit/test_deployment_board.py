# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as lasting, and how little is followed."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.watch import (
    Blind,
    Changed,
    Failed,
    Listed,
    Target,
    Unserved,
    key_of,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.assertion import Assertion, Selection
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.assertion_tree import tree_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import readiness
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.board import Board, targets_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.expectations import Expectation, Expected
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

Object = dict[str, Any]
TREE = {"status": {"state": "good"}}


def thing(state: str, version: int = 1, name: str = "one") -> Object:
    metadata = {"name": name, "namespace": "n", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "status": {"state": state}}


def expectation(
    name: str | None = "one", *, kind: str = "Thing", refutes: bool = False, labels: Object | None = None
) -> Expectation:
    selection = Selection("v1", kind, name, "n", tuple(sorted((labels or {}).items())))
    return Expectation(Assertion(selection, tree_of(TREE), refutes), False, "test")


def board(*expectations: Expectation) -> Board:
    return Board([Expected("c", expectations, 300)])


TARGET = Target("v1", "Thing", "n", "one")


def ready(made: Board, now: float, stable: float = 1.0) -> bool:
    return made.is_ready(made.components[0], now, stable)


def change(found: Object) -> Changed:
    return Changed(TARGET, key_of(found), found)


def test_nothing_is_ready_before_it_was_seen() -> None:
    made = board(expectation())
    made.settle(0)
    assert not ready(made, 100)


def test_what_holds_must_last() -> None:
    made = board(expectation())
    made.take(Listed(TARGET, {"n/one": thing("good")}), 10)
    assert [ready(made, now) for now in (10, 10.9, 11)] == [False, False, True]


def test_a_moment_of_failure_starts_it_anew_however_short() -> None:
    made = board(expectation())
    made.take(Listed(TARGET, {"n/one": thing("good")}), 0)
    made.take(change(thing("bad", 2)), 0.5)
    made.take(change(thing("good", 3)), 0.5)
    assert [ready(made, now) for now in (1, 1.4, 1.5)] == [False, False, True]
    assert made.components[0].aims[0].changes == 1


def test_a_change_that_changes_nothing_for_us_does_not_count() -> None:
    made = board(expectation())
    made.take(Listed(TARGET, {"n/one": thing("good")}), 0)
    made.take(change(thing("good", 2)), 0.9)
    assert ready(made, 1)


def test_after_a_gap_it_starts_anew_if_the_object_changed_in_it() -> None:
    made = board(expectation())
    made.take(Listed(TARGET, {"n/one": thing("good", 1)}), 0)
    made.take(Listed(TARGET, {"n/one": thing("good", 1)}), 0.5)
    assert ready(made, 1)
    made.take(Listed(TARGET, {"n/one": thing("good", 7)}), 1.5)
    assert not ready(made, 2) and ready(made, 2.5)


def test_what_is_out_of_sight_is_not_ready() -> None:
    made = board(expectation())
    made.take(Listed(TARGET, {"n/one": thing("good")}), 0)
    made.take(Blind(TARGET, AicrError(Code.SERVICE_UNAVAILABLE, "lost")), 0.5)
    assert not ready(made, 5)
    made.take(Blind(TARGET, None), 6)
    assert ready(made, 6)


def test_an_object_that_goes_and_a_kind_that_is_not_served() -> None:
    made = board(expectation())
    made.take(Listed(TARGET, {"n/one": thing("good")}), 0)
    made.take(Changed(TARGET, "n/one", None), 1)
    assert not ready(made, 9)
    made.take(Unserved(TARGET), 10)
    assert [str(trouble) for trouble in made.components[0].aims[0].troubles or ()] == [
        "Thing n/one: expected to exist, found none"
    ]
    forbidden = board(expectation(refutes=True))
    forbidden.take(Unserved(TARGET), 0)
    forbidden.take(Unserved(TARGET), 0.9)
    assert ready(forbidden, 1)


def test_what_cannot_be_followed_ends_the_wait() -> None:
    with pytest.raises(AicrError, match="no right"):
        board(expectation()).take(Failed(TARGET, AicrError(Code.UNAUTHORIZED, "no right")), 0)


@given(st.lists(st.tuples(st.booleans(), st.floats(0.01, 0.99)), min_size=1, max_size=40))
def test_what_flaps_faster_than_it_must_last_is_never_ready(turns: list[tuple[bool, float]]) -> None:
    """Whatever the order of good and bad: ready only after so long without a bad one."""
    made, now, since = board(expectation()), 0.0, None
    made.take(Listed(TARGET, {}), 0)
    for number, (good, seconds) in enumerate(turns):
        made.take(change(thing("good" if good else "bad", number)), now)
        since = (now if since is None else since) if good else None
        now += seconds
        assert ready(made, now) is (since is not None and now - since >= 1.0)


def selected(*expectations: Expectation) -> set[Target]:
    return set(targets_of(expectations).values())


def test_as_little_as_can_be_is_followed() -> None:
    assert selected(expectation("a")) == {Target("v1", "Thing", "n", "a")}
    assert selected(expectation("a"), expectation("b")) == {Target("v1", "Thing", "n")}
    assert selected(expectation("a", kind="Secret"), expectation("b", kind="Secret")) == {
        Target("v1", "Secret", "n", "a"),
        Target("v1", "Secret", "n", "b"),
    }
    labels = {"app": "x"}
    assert selected(expectation(None, labels=labels)) == {Target("v1", "Thing", "n", labels=(("app", "x"),))}
    assert selected(expectation(None, labels=labels), expectation(None)) == {Target("v1", "Thing", "n")}
    assert selected(expectation("a"), expectation(None)) == {Target("v1", "Thing", "n")}
    assert selected(expectation("a"), expectation(None, labels=labels)) == {
        Target("v1", "Thing", "n", "a"),
        Target("v1", "Thing", "n", labels=(("app", "x"),)),
    }


def test_only_fields_that_are_read_are_kept() -> None:
    made = board(expectation(), expectation("one", refutes=True))
    assert made.targets == {TARGET: frozenset({"status"})}


@given(st.lists(st.sampled_from(("good", "bad", "odd")), max_size=5), st.booleans())
def test_judged_one_by_one_it_is_what_it_is_judged_at_once(states: list[str], refutes: bool) -> None:
    """Also where an object cannot be evaluated, which hides those behind it."""
    one = expectation(None, refutes=refutes)
    made = board(one)
    objects = {}
    for number, state in enumerate(states):
        found = thing("good" if state == "good" else "bad", name=f"o{number}")
        if state == "odd":
            found["status"] = {"state": 1}
        objects[key_of(found)] = found
    made.take(Listed(Target("v1", "Thing", "n"), {}), 0)
    for key, found in reversed(objects.items()):
        made.take(Changed(Target("v1", "Thing", "n"), key, found), 0)
    assert made.components[0].aims[0].troubles == one.assertion.troubles(objects.values())


@pytest.mark.parametrize(
    ("code", "status", "ends"),
    [
        (Code.SERVICE_UNAVAILABLE, None, False),
        (Code.SERVICE_UNAVAILABLE, 503, False),
        (Code.TIMEOUT, None, False),
        (Code.UNAUTHORIZED, 401, True),
    ],
)
def test_an_answer_that_is_late_at_the_last_look_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, code: Code, status: int | None, ends: bool
) -> None:
    """What only passes ends no wait; a login that is rejected does."""

    def fail(*_unused: object) -> None:
        raise AicrError(code, "no answer", details={} if status is None else {"status": status})

    monkeypatch.setattr(readiness, "_read", fail)
    if ends:
        with pytest.raises(AicrError):
            readiness._still(cast(Any, None), (), {})
    else:
        assert not readiness._still(cast(Any, None), (), {})
