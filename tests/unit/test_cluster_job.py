# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a script in the cluster: what it says comes back, and nothing of it stays, nor of runs that were killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from fake_api import FakeApi, Reply, Request, status

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import job
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.script import RUN, UNDER_LEASE, Placement, Script
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOW = "2026-11-30T12:00:00Z"
SCRIPT = Script("look", "0a1b2c3d", "slurm", "echo\n", Placement("bash:5"), seconds=1.0)
JOBS, CONFIGMAPS = "/apis/batch/v1/namespaces/slurm/jobs", "/api/v1/namespaces/slurm/configmaps"
NAME = "aicr-look-0a1b2c3d"


class Cluster:
    """A Job whose pod comes to a given end, and what was made and removed."""

    def __init__(self, api: FakeApi, *, phase: str = "Succeeded", message: str = "done") -> None:
        self.there: dict[str, dict[str, Any]] = {}
        self.deleted: list[str] = []
        self.kept: tuple[str, ...] = ()
        self._status = {
            "phase": phase,
            "containerStatuses": [{"state": {"terminated": {"exitCode": 0, "message": message}}}],
        }
        api.trouble = self._answer

    def left_behind(self, path: str, *, age: int, **content: Any) -> str:
        """Something of another run, made so many seconds ago."""
        labels = {RUN: "other", **content.pop("labels", {})}
        created = f"2026-11-30T{11 - (age - 1) // 3600:02}:{59 - (age - 1) // 60 % 60:02}:{59 - (age - 1) % 60:02}Z"
        name = f"left-{len(self.there)}"
        self.there[f"{path}/{name}"] = {
            "metadata": {"name": name, "labels": labels, "creationTimestamp": created, **content.pop("metadata", {})},
            **content,
        }
        return name

    def _answer(self, request: Request) -> Reply | None:
        if request.method == "PATCH":
            made = json.loads(request.body)
            made["metadata"] |= {"uid": f"uid-of-{made['kind']}", "creationTimestamp": NOW}
            self.there[request.path] = made
            return Reply(200, made)
        if request.method == "DELETE":
            if any(kind in request.path for kind in self.kept):
                return status(403, "you may not")
            self.deleted.append(request.path.rpartition("/")[2])
            return Reply(200, self.there.pop(request.path)) if request.path in self.there else status(404)
        if request.path.endswith("/pods"):
            return Reply(200, {"items": [{"metadata": {"name": "pod", "uid": "u"}, "status": self._status}]})
        items = [one for path, one in self.there.items() if path.startswith(f"{request.path}/")]
        others = [one for one in items if one["metadata"]["labels"][RUN] != SCRIPT.run]
        return Reply(200, {"items": others})


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi({}) as api:
        yield api


def run(api: FakeApi, script: Script = SCRIPT) -> str:
    return job.run(Connection(Access(host=api.url), {}), script, lambda line: None)


def test_the_last_message_comes_back_and_nothing_stays(api: FakeApi) -> None:
    cluster = Cluster(api, message="what was found")
    assert run(api) == "what was found"
    assert cluster.there == {}


def test_the_script_belongs_to_its_job_so_that_it_goes_with_it(api: FakeApi) -> None:
    cluster = Cluster(api)
    cluster.kept = ("configmaps", "jobs")
    run(api)
    (owner,) = cluster.there[f"{CONFIGMAPS}/{NAME}"]["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "batch/v1", "kind": "Job", "name": NAME, "uid": "uid-of-Job"}


@pytest.mark.parametrize(
    ("phase", "message", "code", "words"),
    [
        ("Failed", "", "SERVICE_UNAVAILABLE", "has failed: its pod is Failed"),
        ("Succeeded", "", "SERVICE_UNAVAILABLE", "has failed: its pod is Succeeded"),
        ("Pending", "", "TIMEOUT", "has not ended within 1 s: its pod is Pending"),
    ],
)
def test_a_job_that_says_nothing_is_told_by_its_pod_and_removed(
    api: FakeApi, phase: str, message: str, code: str, words: str
) -> None:
    cluster = Cluster(api, phase=phase, message=message)
    with pytest.raises(AicrError) as caught:
        run(api)
    assert caught.value.code.value == code
    assert caught.value.message.startswith(f"Job slurm/{NAME} {words}")
    assert cluster.there == {}


def test_what_cannot_be_removed_after_a_failure_is_named(api: FakeApi) -> None:
    cluster = Cluster(api, phase="Failed", message="")
    cluster.kept = ("jobs",)
    with pytest.raises(AicrError, match="has failed") as caught:
        run(api)
    assert f"jobs/{NAME}: not allowed" in caught.value.hint


ENDED = {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-11-30T11:58:00Z"}]}
JUST_ENDED = {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": "2026-11-30T11:59:55Z"}]}
BOUNDED = {"activeDeadlineSeconds": 300}
OWNED = {"ownerReferences": [{"kind": "Job"}]}


@pytest.mark.parametrize(
    ("path", "content", "goes"),
    [
        (JOBS, {"age": 200, "spec": BOUNDED, "status": ENDED}, True),
        (JOBS, {"age": 200, "spec": BOUNDED, "status": JUST_ENDED}, False),  # somebody may be about to read it
        (JOBS, {"age": 200, "spec": BOUNDED}, False),
        (JOBS, {"age": 301, "spec": BOUNDED}, True),
        (CONFIGMAPS, {"age": 61}, True),
        (CONFIGMAPS, {"age": 5}, False),  # its Job may be on its way
        (CONFIGMAPS, {"age": 5000, "metadata": OWNED}, False),
    ],
)
def test_what_nobody_waits_for_any_more_is_removed_and_nothing_else(
    api: FakeApi, path: str, content: dict[str, Any], goes: bool
) -> None:
    cluster = Cluster(api)
    name = cluster.left_behind(path, **content)
    run(api)
    assert (name in cluster.deleted) is goes


@pytest.mark.parametrize(("ours", "theirs", "goes"), [(True, True, True), (True, False, False), (False, True, False)])
def test_whoever_holds_the_lease_knows_the_run_that_held_it_to_be_over(
    api: FakeApi, ours: bool, theirs: bool, goes: bool
) -> None:
    cluster = Cluster(api)
    name = cluster.left_behind(JOBS, age=5, spec=BOUNDED, labels={UNDER_LEASE: "true"} if theirs else {})
    run(api, replace(SCRIPT, under_lease=ours))
    assert (name in cluster.deleted) is goes


def test_the_documented_role_has_these_rights_and_no_other() -> None:
    blocks = (DOCS / "accounting.md").read_text(encoding="utf-8").split("```yaml\n")[1:]
    (role,) = [yaml.safe_load(block.partition("```")[0]) for block in blocks if "kind: Role" in block]
    rules = [{key: list(values) for key, values in rule.items()} for rule in (*job.RULES, *job.HELPFUL_RULES)]
    assert role["rules"] == rules


def test_a_rehearsal_stores_nothing(api: FakeApi) -> None:
    Cluster(api)
    job.rehearse(Connection(Access(host=api.url), {}), SCRIPT)
    assert [(one.method, one.query["dryRun"]) for one in api.requests] == [("PATCH", "All")] * 2
