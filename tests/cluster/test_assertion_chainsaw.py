# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The evaluator of readiness assertions against the real Chainsaw: the same verdict on the same objects.

Trees and objects are odd on purpose. What ours refuses when it reads a tree has no verdict; those stand in REFUSED.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.assertion import Assertion, Selection, check_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints.assertion_tree import tree_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.tests.cluster.bed import ApiError
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.chainsaw import Question, ask
from ansible_collections.aicr.runtime.tests.cluster.conftest import Cluster

CHECKS = [
    path
    for path in sorted((Path(__file__).parents[2] / "recipes" / "checks").glob("*/health-check.yaml"))
    if "steps: []" not in path.read_text(encoding="utf-8")  # such a check asks for nothing
]
Object = dict[str, Any]

POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one", "namespace": "here", "labels": {"app": "a", "n": "1"}, "generation": 3},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "i:2"}]},
    "status": {
        "phase": "Running",
        "observedGeneration": 3,
        "ready": 2,
        "desired": 2,
        "zero": 0,
        "share": 0.5,
        "yes": True,
        "no": False,
        "empty": "",
        "nothing": None,
        "none": [],
        "void": {},
        "counts": [1, 2, 3],
        "floats": [1.5, 2.5],
        "words": ["b", "a"],
        "mixed": [1, "a", None, True],
        "nested": [[1], [2, 3], 4],
        "conditions": [
            {"type": "Ready", "status": "True", "weight": 1},
            {"type": "Updated", "status": "False", "weight": 2},
        ],
        "containerStatuses": [
            {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
            {"name": "d", "state": {"running": {}}},
        ],
        "a.b": {"c/d": "e"},
        "(odd)": 1,
    },
}

STATUS_TREES: tuple[Any, ...] = (
    # plain values
    {"phase": "Running"},
    {"phase": "Pending"},
    {"absent": "x"},
    {"absent": None},
    {"nothing": None},
    {"nothing": {}},
    {"nothing": []},
    {"nothing": "x"},
    {"yes": True},
    {"yes": "true"},
    {"yes": 1},
    {"ready": 2},
    {"ready": 2.0},
    {"ready": "2"},
    {"ready": True},
    {"share": 0.5},
    {"share": 1},
    {"empty": ""},
    {"void": {}},
    {"void": {"x": 1}},
    {"none": []},
    {"none": [1]},
    {"phase": {}},
    {"phase": {"x": 1}},
    {"phase": []},
    {"counts": [1, 2, 3]},
    {"counts": [1, 2]},
    {"counts": [1, "2", 3]},
    {"counts": {}},
    {"counts": {"x": 1}},
    {"mixed": [1, "a", None, True]},
    {"nested": [[1], [2, 3], 4]},
    {"nested": [[1], [2], 4]},
    # expressions
    {"(ready > `0`)": True},
    {"(ready == `2`)": True},
    {"(ready == desired)": True},
    {"(ready >= desired)": True},
    {"(absent == missing)": True},
    {"(absent > `0`)": True},
    {"(absent > `0`)": None},
    {"(phase > 'A')": True},
    {"(phase == 'Running')": True},
    {"(yes == `true`)": True},
    {"(share == `0.5`)": True},
    {"(zero || `7`)": 0},
    {"(zero && `7`)": 7},
    {"(!zero)": False},
    {"(!empty)": True},
    {"(!absent)": True},
    {'(contains(`["Running"]`, phase))': True},
    {"(contains(counts, `1`))": True},
    {"(contains(words, 'a'))": True},
    {"(contains(absent, 'a'))": True},
    {"(contains(phase, 'Run'))": True},
    {"(contains(phase, `1`))": False},
    {"(length(conditions))": 2},
    {"(length(absent))": 0},
    {"(length(absent || `[]`) > `0`)": False},
    {"(length(phase) == `7`)": True},
    {"(conditions[?type == 'Ready'])": [{"status": "True"}]},
    {"(conditions[?type == 'Ready'])": [{"status": "False"}]},
    {"(conditions[?type == 'Gone'])": []},
    {"(absent[?type == 'Gone'])": []},
    {"(phase[?type == 'Gone'])": None},
    {"(conditions[?weight == `1`])": []},
    {"(conditions[?weight >= `1`] | length(@))": 2},
    {"(conditions[?type == 'Ready'].status | [0])": "True"},
    {"(conditions[*].type)": ["Ready", "Updated"]},
    {"(conditions[-1].type)": "Updated"},
    {"(conditions[5].type)": None},
    {"(conditions[0:1])": [{"type": "Ready"}]},
    {"(phase[0:3])": "Run"},
    {"(words[::-1])": ["a", "b"]},
    {"(words[::0])": []},
    {"(yes[::0])": None},
    {"(phase[::0])": None},
    {"(phase[::0])": ""},
    {"(phase[::0])": "Running"},
    {"(absent[::0])": None},
    {"(nested[])": [1, 2, 3, 4]},
    {"(phase[])": None},
    {"(void.*)": []},
    {"(phase.*)": None},
    {"(absent.length(@))": None},
    {"([ready, absent])": [2, None]},
    {"({a: ready, b: absent})": {"a": 2}},
    {"({a: ready, b: absent})": {"b": None}},
    {"(absent.{a: ready})": None},
    {"(absent | [ready])": [None]},
    {"(max(floats))": 2.5},
    {"(max(counts))": 3},
    {"(max(none))": None},
    {"(min(words))": "a"},
    {"(sort(words))": ["a", "b"]},
    {"(sort(mixed))": []},
    {"(sort_by(conditions, &type)[0].type)": "Ready"},
    {"(sort_by(conditions, &weight)[0].type)": "Ready"},
    {"(max_by(conditions, &type).type)": "Updated"},
    {"(map(&type, conditions))": ["Ready", "Updated"]},
    {"(map(&type, absent))": []},
    {"(join(',', words))": "b,a"},
    {"(join(',', mixed))": ""},
    {"(keys(void))": []},
    {"(keys(absent))": []},
    {"(keys(@)[?@ == 'phase'] | length(@) == `1`)": True},
    {"(values(void))": []},
    {"(not_null(absent, nothing, phase))": "Running"},
    {"(not_null(absent))": None},
    {"(reverse(phase))": "gninnuR"},
    {"(reverse(words))": ["a", "b"]},
    {"(starts_with(phase, 'Run'))": True},
    {"(ends_with(absent, 'x'))": True},
    {"(to_array(phase))": ["Running"]},
    {"(to_array(absent))": [None]},
    {"(to_number('12'))": 12},
    {"(to_number('1e2'))": 100},
    {"(to_number('x'))": None},
    {"(to_number(ready))": 2},
    {"(to_number(yes))": None},
    {"(to_string(ready))": "2"},
    {"(to_string(share))": "0.5"},
    {"(to_string(words))": '["b","a"]'},
    {"(to_string(`1`))": "1"},
    {'(to_string(`"<"`))': "<"},
    {"(type(phase))": "string"},
    {"(type(ready))": "number"},
    {"(type(`1`))": "number"},
    {"(type(absent))": "null"},
    {"(abs(`-1`))": 1},
    {"(abs(ready))": 2},
    {"(ceil(share))": 1},
    {"(floor(share))": 0},
    {"(avg(floats))": 2},
    {"(avg(none))": None},
    {"(merge(void, conditions[0]).type)": "Ready"},
    {'("a.b"."c/d")': "e"},
    {'(`{"a": 1}`)': {"a": 1}},
    {"(phase": "Running"},
    {"(jp;ready > `0`)": True},
    {"(default;ready > `0`)": True},
    # values that are expressions
    {"phase": "(@)"},
    {"phase": "(contains(@, 'Run') && @)"},
    {"ready": "(`2`)"},
    {"ready": "(to_string(@))"},
    {"phase": "('Running')"},
    {"words": '(`["b", "a"]`)'},
    {"conditions": "(@)"},
    {"counts": "(`[1, 2, 3]`)"},
    {"void": "(`{}`)"},
    # what is named, gone through, and taken as it is
    {"(ready)->n": {"(@ == $n)": True}},
    {"(ready)->n": {"($n > `1`)": True}},
    {"(ready) -> n": 2},
    {"ready->n": 2},
    {"(phase)->p": {"(length($p))": 7}},
    {"($n)": 1},
    {"~.conditions": {'(contains(`["True", "False"]`, status))': True}},
    {"~.conditions": {"status": "True"}},
    {"~i.conditions": {"(to_number('0') <= $i)": True}},
    {"~i.conditions": {"(conditions)": None}},
    {"~.counts": {"(@ > `0`)": True}},
    {"~.phase": "x"},
    {"~.absent": "x"},
    {"~.void": "x"},
    {"~k.a.b": {"($k)": "c/d"}},
    {"~.(conditions[?type == 'Ready'])": {"status": "True"}},
    {"~.(conditions)->all": {"(length($all))": 2}},
    {"\\(odd)\\": 1},
    {"\\(odd)\\": 2},
    {"(odd)": 1},
    {"phase": "\\(x)\\"},
    {"a.b": {"c/d": "e"}},
)

REFUSED: tuple[Any, ...] = (
    {"(sum(floats))": 4},  # Kyverno's own
    {"(to_upper(phase))": "RUNNING"},
    {"(ready + `1`)": 3},  # of the dialect alone
    {"(let $x = ready in $x)": 2},
    {"(nosuch;ready > `0`)": True},  # a plain key there, and surely not meant
    {"(nosuch(phase))": None},  # an error there when it is evaluated
    {"(a[)": 1},
    {"(`x`)": "x"},
    {"phase": "~.x"},
    {"phase": "(@)->x"},
)


def about(tree: Any, **fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "here"}, **fields, **tree}


def ours(operation: str, resource: Object, objects: tuple[Object, ...]) -> bool:
    """Our verdict.

    :raises AicrError: it is refused when it is read.
    """
    metadata = resource["metadata"]
    selection = Selection(
        resource["apiVersion"],
        resource["kind"],
        metadata.get("name"),
        metadata.get("namespace"),
        tuple(sorted((metadata.get("labels") or {}).items())),
    )
    return not Assertion(selection, tree_of(resource), operation == "error").troubles(objects)


def compare(questions: list[Question]) -> Counter[bool]:
    """Ask both, and say how often each verdict was given."""
    answers = ask(questions)
    different = [
        f"{question.operation} {json.dumps(question.resource)} of {json.dumps(question.objects)}: Chainsaw "
        f"{'passes' if answer.passed else 'fails: ' + answer.error}"
        for question, answer in zip(questions, answers, strict=True)
        if ours(question.operation, question.resource, question.objects or ()) is not answer.passed
        and not undecided(question)
    ]
    assert not different, "\n".join(different)
    return Counter(answer.passed for answer in answers)


def undecided(question: Question) -> bool:
    """Whether Chainsaw answers now this, now that.

    It goes through the keys of a mapping in an order of chance, and ends at the first that cannot be evaluated; so the
    order decides whether a name is known yet, for one.
    """
    return len({answer.passed for answer in ask([question] * 100)}) == 2


def test_odd_trees() -> None:
    trees = [about({"status": tree}) for tree in STATUS_TREES]
    counted = compare([Question(kind, tree, (POD,)) for tree in trees for kind in ("assert", "error")])
    assert min(counted.values()) > 50, "both verdicts are seen"


@pytest.mark.parametrize("tree", REFUSED, ids=str)
def test_what_is_refused_has_no_verdict(tree: Object) -> None:
    with pytest.raises(AicrError):
        ours("assert", about({"status": tree}), (POD,))


def test_selection_by_name_namespace_and_labels() -> None:
    objects = tuple(
        POD | {"metadata": {"name": name, "namespace": namespace, "labels": labels}}
        for namespace in ("here", "there")
        for name, labels in (("a", {"app": "x"}), ("b", {"app": "x", "tier": "y"}), ("c", {}))
    )
    selections: list[Object] = [
        {"name": "a", "namespace": "here"},
        {"name": "z", "namespace": "here"},
        {"name": "a", "namespace": "here", "labels": {"app": "z"}},
        {"namespace": "here"},
        {"namespace": "nowhere"},
        {"labels": {"app": "x"}},
        {"namespace": "there", "labels": {"app": "x", "tier": "y"}},
        {"namespace": "there", "labels": {"app": "z"}},
    ]
    trees: list[Object] = [{}, {"status": {"phase": "Running"}}, {"status": {"phase": "Failed"}}]
    compare(
        [
            Question(kind, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **tree}, objects)
            for metadata in selections
            for tree in trees
            for kind in ("assert", "error")
        ]
    )


def test_one_object_that_cannot_be_evaluated_hides_those_behind_it() -> None:
    good, bad = (POD | {"metadata": {**POD["metadata"], "name": name}} for name in ("good", "bad"))
    bad = bad | {"status": {"phase": 1}}
    tree = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "here"}, "status": {"phase": "Running"}}
    compare([Question(kind, tree, pair) for kind in ("assert", "error") for pair in ((good, bad), (bad, good))])


def test_trees_that_nobody_would_write() -> None:
    """Trees put together by chance from parts of an object and of the trees above; the seed says which.

    As with hypothesis, the gate says the same thing twice, and others look for what it has not seen.
    """
    seed = 1130000550 if os.environ.get("CI") else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    questions = [Question(*_by_chance(chance)) for _number in range(1500)]
    counted = compare(questions)
    assert min(counted.values()) > 100, (seed, counted)


def _by_chance(chance: random.Random) -> tuple[str, Object, tuple[Object, ...]]:
    found = copy.deepcopy(POD)
    for _number in range(chance.randrange(3)):
        field = chance.choice(list(found["status"]))
        found["status"][field] = chance.choice(list(POD["status"].values()))
    tree: Object = {}
    for _number in range(chance.randrange(1, 4)):
        tree |= chance.choice(STATUS_TREES)
    if chance.random() < 0.3:
        field = chance.choice(list(POD["status"]))
        tree[field] = chance.choice(list(POD["status"].values()))
    if chance.random() < 0.3:
        tree = {key: chance.choice((value, {}, None, "(@)")) for key, value in tree.items()}
    return chance.choice(("assert", "error")), about({"status": tree}), (found,)


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: path.parent.name)
def test_health_check(path: Path) -> None:
    """Each assertion of a check, on objects that are right, that are wrong in one way, and on none."""
    assertions = check_of(path.read_text(encoding="utf-8"), path.parent.name).assertions
    resources = list(_resources(yamlio.load(path.read_text(encoding="utf-8"), path.parent.name)))
    assert len(assertions) == len(resources)
    questions = [
        Question(kind, resource, objects) for kind, resource in resources for objects in _cases(resource, kind)
    ]
    counted = compare(questions)
    assert counted[True] and counted[False]


def _resources(test: Object) -> Iterator[tuple[str, Object]]:
    for step in test["spec"]["steps"]:
        for operation in step["try"]:
            for kind, content in operation.items():
                yield kind, content["resource"]


def _cases(resource: Object, kind: str) -> Iterator[tuple[Object, ...]]:
    yield ()
    for status in (*_STATUSES, None):
        metadata = {"name": "made", "namespace": resource["metadata"].get("namespace", ""), **resource["metadata"]}
        found = {
            "apiVersion": resource["apiVersion"],
            "kind": resource["kind"],
            "metadata": metadata,
            "spec": resource.get("spec", {}),
            "data": {"password": "x", "topology.conf": "SwitchName=a"},
        }
        if status is not None:
            found["status"] = status
        yield (found,)
        yield ({**found, "data": {"topology.conf": "aicr-preseed"}, "spec": {}},)
        other = {**found, "metadata": {**metadata, "name": "other"}, "status": {"phase": "Failed"}}
        yield tuple(sorted((found, other), key=lambda one: str(one["metadata"]["name"])))


_CRASHED = {"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}], "phase": "Running"}
_STATUSES: tuple[Object, ...] = (
    {},
    {"phase": "Running"},
    {"phase": "Pending"},
    _CRASHED,
    {"initContainerStatuses": _CRASHED["containerStatuses"], "phase": "Pending"},
    {"containerStatuses": [{"state": {"running": {}}}], "phase": "Running"},
    {"availableReplicas": 0},
    {"availableReplicas": 1, "replicas": 1, "readyReplicas": 1},
    {"replicas": 0, "readyReplicas": 0},
    {"replicas": 2, "readyReplicas": 1},
    {"desiredNumberScheduled": 0, "numberReady": 0},
    {"desiredNumberScheduled": 3, "numberReady": 3},
    {"desiredNumberScheduled": 3, "numberReady": 1},
    {"state": "ready", "status": "complete"},
    {"installedCSV": "x.v1", "phase": "Succeeded"},
    {"state": "notReady", "status": "erroring"},
    *(
        {"conditions": [{"type": kind, "status": status}, {"type": "Other", "status": "Unknown"}]}
        for kind in ("Ready", "Established", "Available", "Accepted")
        for status in ("True", "False")
    ),
)


def test_on_a_cluster(cluster: Cluster, namespace: str) -> None:
    """The same of what an API server has: numbers, nulls and defaults as they come from it."""
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "pause"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": template}
    cluster.api.create(path, {"metadata": {"name": "x", "labels": {"app": "x"}}, "spec": spec})
    eventually(lambda: cluster.api.get(f"{path}/x")["status"].get("readyReplicas") == 2)
    found = cluster.api.get(f"{path}/x")
    base: Object = {"apiVersion": "apps/v1", "kind": "Deployment"}
    named, labelled = {"name": "x", "namespace": namespace}, {"namespace": namespace, "labels": {"app": "x"}}
    trees: list[Object] = [
        {"status": {"(availableReplicas > `0`)": True}},
        {"status": {"(replicas == `2`)": True}},
        {"status": {"replicas": 2}},
        {"status": {"replicas": 2.0}},
        {"(status.replicas == spec.replicas)": True},
        {"((status.observedGeneration || `0`) < metadata.generation)": True},
        {"((status.unavailableReplicas || `0`) == `0`)": True},
        {"status": {"unavailableReplicas": 0}},
        {"status": {"(conditions[?type == 'Available'])": [{"status": "True"}]}},
        {"status": {"(conditions[?type == 'Progressing'])": [{"reason": "Nope"}]}},
        {"spec": {"template": {"spec": {"~.containers": {"(starts_with(image, 'pause'))": True}}}}},
        {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}},
        {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}},
    ]
    questions = [
        Question(kind, {**base, **tree, "metadata": {**metadata, **tree.get("metadata", {})}})
        for tree in trees
        for metadata in (named, labelled, {**named, "name": "absent"})
        for kind in ("assert", "error")
    ]
    answers = ask(questions, cluster.kubeconfig)
    for question, answer in zip(questions, answers, strict=True):
        assert ours(question.operation, question.resource, (found,)) is answer.passed, (question, answer)
    with pytest.raises(ApiError):
        cluster.api.get(f"{path}/absent")
