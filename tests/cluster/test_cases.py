# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that users of such software met with clusters, each as its whole kind (the ids are those of spec/cases.md)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import (
    BUNDLE,
    RECIPE,
    SNAPSHOT,
    SNAPSHOT_LOOKUP,
    VALIDATE,
    parse,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot import look_up_readings, make_snapshot
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.validate import make_report
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

STAGES: Mapping[str, tuple[Any, Callable[..., Any]]] = {
    "snapshot": (SNAPSHOT, make_snapshot),
    "recipe": (RECIPE, make_recipe),
    "validate": (VALIDATE, make_report),
    "bundle": (BUNDLE, make_bundle),
}
CRITERIA = {"intent": "training", "accelerator": "h100", "platform": "slurm"}


def run(stage: str, **arguments: object) -> dict[str, Any]:
    """One task of a stage, as its action runs it."""
    spec, make = STAGES[stage]
    made = make(parse(spec, arguments, {}))
    result: dict[str, Any] = made.deliver(check_mode=False, diff=False, return_document=True)
    return result


@pytest.fixture
def taken(bed: Bed) -> dict[str, Any]:
    """A snapshot of the bed."""
    document: dict[str, Any] = run("snapshot", kubeconfig=str(bed.kubeconfig), return_document=True)["document"]
    return document


@pytest.fixture
def recipe(taken: dict[str, Any]) -> dict[str, Any]:
    """A recipe that asks nothing of an operating system."""
    criteria = {**CRITERIA, "service": "kind"}
    document: dict[str, Any] = run("recipe", criteria=criteria, return_document=True)["document"]
    return document


# ---- N6: what is no artifact of the kind that is due is none, wherever it comes from


def wrong(taken: Mapping[str, Any], recipe: Mapping[str, Any], bed: Bed) -> Iterator[tuple[str, str, str]]:
    """Name, text, and the kind that it is, if it is one."""
    yield "anything", "foo: bar\n", ""
    yield "empty", "", ""
    yield "blank", "---\n\n", ""
    yield "text", "just text\n", ""
    yield "list", "[]\n", ""
    yield "configuration", yamlio.dump({"kind": "AICRConfig", "apiVersion": "aicr.run/v1alpha2", "spec": {}}), ""
    yield "kubeconfig", bed.kubeconfig.read_text(encoding="utf-8"), ""
    yield "no measurements", yamlio.dump({**taken, "measurements": []}), ""
    yield "null measurements", yamlio.dump({**taken, "measurements": None}), ""
    yield "no components", yamlio.dump({**recipe, "componentRefs": []}), ""
    yield "newer", yamlio.dump({**taken, "apiVersion": "aicr.run/v9"}), ""
    yield "newer recipe", yamlio.dump({**recipe, "apiVersion": "aicr.run/v9"}), ""
    yield "snapshot", yamlio.dump(taken), "snapshot"
    yield "recipe", yamlio.dump(recipe), "recipe"


def test_what_is_no_artifact_is_refused_by_every_reader(
    bed: Bed, namespace: str, tmp_path: Path, taken: dict[str, Any], recipe: dict[str, Any]
) -> None:
    """Case N6, from files and from ConfigMaps."""
    kubeconfig = str(bed.kubeconfig)
    good, dest = tmp_path / "good.yaml", tmp_path / "out"
    good.write_text(yamlio.dump(taken), encoding="utf-8")

    def look_up(snapshot: str) -> object:
        return look_up_readings(
            ["K8s.server.version"], parse(SNAPSHOT_LOOKUP, {"snapshot": snapshot, "kubeconfig": kubeconfig}, {})
        )

    readers: dict[str, tuple[str, Callable[[str], object]]] = {
        "recipe.snapshot": ("snapshot", lambda place: run("recipe", snapshot=place, kubeconfig=kubeconfig, **to)),
        "snapshot.nodes": ("snapshot", lambda place: run("snapshot", nodes=[place], kubeconfig=kubeconfig, **to)),
        "lookup": ("snapshot", look_up),
        "validate.snapshot": (
            "snapshot",
            lambda place: run("validate", recipe=recipe, snapshot=place, kubeconfig=kubeconfig, **to),
        ),
        "validate.recipe": (
            "recipe",
            lambda place: run("validate", recipe=place, snapshot=str(good), kubeconfig=kubeconfig, **to),
        ),
        "bundle.recipe": ("recipe", lambda place: run("bundle", recipe=place, kubeconfig=kubeconfig, **to)),
    }
    to = {"dest": str(dest)}
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    for number, (name, text, kind) in enumerate(wrong(taken, recipe, bed)):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text, encoding="utf-8")
        data = {"snapshot.yaml": text, "recipe.yaml": text, "format": "yaml", "timestamp": "2026-11-30T10:30:00Z"}
        bed.api.create(maps, {"metadata": {"name": f"wrong-{number}"}, "data": data})
        for reader, (due, read) in readers.items():
            for place in (str(file), f"cm://{namespace}/wrong-{number}"):
                if kind != due:
                    with pytest.raises(AicrError) as caught:
                        read(place)
                    said = f"{name}, {reader}, {place}: {caught.value}"
                    assert caught.value.code.value == "INVALID_REQUEST", said
                    assert place.rpartition("/")[2] in said.partition(": ")[2], said
                    assert not dest.exists(), said


# ---- N18: what was not looked at is skipped, with a reason, and nothing passes unseen


def test_what_was_not_judged_never_passes(taken: dict[str, Any], recipe: dict[str, Any], tmp_path: Path) -> None:
    """Case N18: without constraints, without phases, and with readings that the snapshot lacks."""
    missing = [{"name": "OS.release.ID", "value": "ubuntu"}, {"name": "GPU.hardware.gpu-count", "value": ">= 1"}]
    variants: dict[str, dict[str, Any]] = {
        "as it is": recipe,
        "no constraints": {**recipe, "constraints": []},
        "without the key": {key: value for key, value in recipe.items() if key != "constraints"},
        "no phases": {key: value for key, value in recipe.items() if key != "validation"},
        "missing readings": {**recipe, "constraints": missing},
    }
    for name, variant in variants.items():
        result = run("validate", recipe=variant, snapshot=taken, dest=str(tmp_path / "r.json"), fail_on_error=False)
        report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["results"]
        asked = [constraint["name"] for constraint in variant.get("constraints", ())]
        passed = [test["name"] for test in report["tests"] if test["status"] == "passed"]
        rest = [test for test in report["tests"] if test["status"] != "passed"]
        assert passed == ([] if name == "missing readings" else asked), name
        assert all(isinstance(test.get("message"), str) and test["message"].strip() for test in rest), name
        assert {test["status"] for test in rest if test["name"] not in asked} == {"skipped"}, name
        assert report["summary"]["skipped"] == sum(test["status"] == "skipped" for test in report["tests"]) > 0
        assert bool(result["failures"]) is (name == "missing readings"), name


# ---- N25: no label and no taint is lost, whatever they are called


def test_every_label_and_taint_of_every_node_is_in_the_snapshot(bed: Bed) -> None:
    """Case N25."""
    names = sorted(node["metadata"]["name"] for node in bed.api.items("/api/v1/nodes"))
    labels: list[dict[str, str | None]] = [
        {"k": "true", "k.true": "true", "k.false": "", "a": "b.c", "a.b": "c", "a.b.c": ""},
        {"k": "false", "k.true": "true", "k.false": "true", "a": "b", "a.b": "c.d", "example.com/k": "true"},
    ]
    taints = [
        [{"key": "t", "value": value, "effect": effect} for effect in ("NoSchedule", "PreferNoSchedule")]
        + [{"key": "t.NoSchedule", "value": "x", "effect": "NoSchedule"}]
        for value in ("x", "y")
    ]
    kept = [bed.api.get(f"/api/v1/nodes/{name}")["spec"].get("taints", []) for name in names[:2]]
    for name, more, extra, before in zip(names, labels, taints, kept, strict=False):
        bed.api.patch(f"/api/v1/nodes/{name}", {"metadata": {"labels": more}, "spec": {"taints": before + extra}})
    try:
        nodes = list(bed.api.items("/api/v1/nodes"))
        document = run("snapshot", kubeconfig=str(bed.kubeconfig), collectors=["topology"], return_document=True)[
            "document"
        ]
        expected = {
            ((key, value), node["metadata"]["name"])
            for node in nodes
            for key, value in node["metadata"]["labels"].items()
        }
        assert rows(document, "label", "key", "value") == expected
        assert rows(document, "taint", "key", "effect", "value") == {
            ((taint["key"], taint["effect"], taint.get("value", "")), node["metadata"]["name"])
            for node in nodes
            for taint in node["spec"].get("taints", ())
        }
        (subtype,) = [one for one in document["measurements"][0]["subtypes"] if one["subtype"] == "label"]
        assert subtype["data"]["k.true"] == f"true|{names[0]},{names[1]}"  # the label's own, not that of k=true
    finally:
        for name, more, before in zip(names, labels, kept, strict=False):
            gone = {"metadata": {"labels": dict.fromkeys(more)}, "spec": {"taints": before}}
            bed.api.patch(f"/api/v1/nodes/{name}", gone)


def rows(document: Mapping[str, Any], name: str, *keys: str) -> set[tuple[tuple[str, ...], str]]:
    """Of each item its context and each of its nodes."""
    (topology,) = [one for one in document["measurements"] if one["type"] == "NodeTopology"]
    (subtype,) = [one for one in topology["subtypes"] if one["subtype"] == name]
    return {
        (tuple(item["context"][key] for key in keys), node)
        for item in subtype["items"]
        for node in item["data"]["node-list"].split(",")
    }


# ---- K10: a check of a cluster that has nothing yet predicts, and does not stumble


def test_a_check_of_an_empty_cluster_goes_through_all_stages(ansible: Ansible, tmp_path: Path) -> None:
    """Case K10: no nodes, no namespaces of ours, no artifacts of an earlier run."""
    empty = Bed.start(tmp_path / "bed", "kind", workloads=False)
    try:
        for node in list(empty.api.items("/api/v1/nodes")):
            empty.api.delete(f"/api/v1/nodes/{node['metadata']['name']}")
        variables = {
            "aicr_kubeconfig": str(empty.kubeconfig),
            "aicr_criteria": {**CRITERIA, "service": "kind"},
            "aicr_slurm_accounting_mode": "disabled",
        }
        to = {"kubeconfig": str(empty.kubeconfig), "dest": "cm://nowhere-yet/aicr"}
        tasks = [
            {"name": "snapshot", "aicr.runtime.snapshot": to},
            {"name": "recipe", "aicr.runtime.recipe": {"criteria": variables["aicr_criteria"], **to}},
        ]
        with empty.audit.recording("admin") as requests:
            site = ansible.playbook("aicr.runtime.site", "--check", "-e", json.dumps(variables))
            stages = ansible.tasks(tasks, "--check")
        assert [request for request in requests if request.writes] == []
        assert (site.recap("cluster")["failed"], site.recap("cluster")["changed"]) == (0, 4)
        assert all(stages.result(name)["changed"] for name in ("snapshot", "recipe"))
        assert not (ansible.folder / "artifacts").exists()
        made = ansible.playbook("aicr.runtime.site", "-e", json.dumps(variables))
        assert made.recap("cluster")["changed"] == 4
    finally:
        empty.stop()


# ---- K12: no credential is shown, however loud Ansible is and whatever goes wrong


def test_no_credential_is_shown_or_kept(bed: Bed, namespace: str, ansible: Ansible) -> None:
    """Case K12: tokens and keys of every way to log in, in every plugin that takes them."""
    token = bed.settings.tokens["admin"]
    certificate, key = bed.authority.client("carol", ["system:masters"])
    files = {"client-certificate": certificate, "client-key": key}
    pair = {f"{name}-data": base64.b64encode(file.read_bytes()).decode() for name, file in files.items()}
    document = yaml.safe_load(bed.write_kubeconfig(ansible.folder / "k", token=token).read_text())
    (ansible.folder / "k").unlink()
    refused = {"name": "bed", "user": {"token": f"{token}-of-somebody"}}
    host = {"host": bed.server, "api_key": token, "ca_cert": str(bed.authority.certificate)}
    ways: dict[str, dict[str, Any]] = {
        "token": {"kubeconfig": document},
        "text": {"kubeconfig": json.dumps(document)},
        "key": {"kubeconfig": {**document, "users": [{"name": "bed", "user": pair}]}},
        "refused": {"kubeconfig": {**document, "users": [refused]}},
        "host": host,
        "both": {"kubeconfig": document, **host},
        "untrusted": {**host, "ca_cert": None},
    }
    actions: dict[str, dict[str, Any]] = {
        "aicr.runtime.snapshot": {"dest": "s.yaml", "return_document": True},
        "aicr.runtime.snapshot_agent": {"dest": "n.yaml", "namespace": namespace, "timeout": 60},
        "aicr.runtime.recipe": {"criteria": {"service": "kind", **CRITERIA}, "dest": f"cm://{namespace}/aicr-recipe"},
        "aicr.runtime.validate": {"recipe": f"cm://{namespace}/aicr-recipe", "snapshot": "s.yaml"},
        "aicr.runtime.bundle": {"recipe": f"cm://{namespace}/aicr-recipe", "dest": "bundle"},
    }
    tasks = [
        {"name": f"{way} {name}", name: {**options, **access}, "ignore_errors": True}
        for way, access in ways.items()
        for name, options in actions.items()
        if way in ("token", "refused") or name == "aicr.runtime.snapshot"
    ]
    run = ansible.tasks(tasks, "-vvvv", "--diff")
    (ansible.folder / "play.yml").unlink()  # the test's own
    failed = {task.partition(" ")[0] for task, by in run.results.items() if by["cluster"]["status"] == "failed"}
    assert failed == {"refused", "both", "untrusted", "text"}
    secrets = [token, pair["client-key-data"], *key.read_text(encoding="ascii").splitlines()[1:-1]]
    shown = [run.output, json.dumps(run.results)]
    kept = [path.read_text(encoding="utf-8", errors="replace") for path in ansible.folder.rglob("*") if path.is_file()]
    for secret in secrets:
        assert not any(secret in text for text in shown + kept)
    assert len(kept) > 10
