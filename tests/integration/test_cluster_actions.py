# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions that write to a cluster, as far as they come without one: what is wrong is told before it is asked."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

NOWHERE = {"host": "https://127.0.0.1:1"}
CHART = {"name": "demo", "namespace": "slurm", "chart": "demo", "repository": "oci://example.com/x", "version": "1.0.0"}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}}


def release(**change: Any) -> dict[str, Any]:
    given = {**CHART, **change}
    return {"releases": [{key: value for key, value in given.items() if value is not None}]}


def manifest(**change: Any) -> dict[str, Any]:
    return {"manifests": [{**SECRET, **change}]}


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("release", {}, "missing required arguments: releases"),
    ("release", release(versoin="1"), 'unknown option "releases[0].versoin"'),
    ("release", release(version=1.30), "releases[0].version: must be text, not a number"),
    ("release", release(version=None), 'releases[0]: chart "demo": has no version'),
    ("release", release(repository=None), 'releases[0]: chart "demo": has no repository'),
    ("release", release(repository="https://me:pw-5Kx@example.com"), "its repository holds credentials"),
    ("release", release(name="Demo"), 'releases[0].name: "Demo" is no name of a release'),
    ("release", release(namespace="a b"), 'releases[0].namespace: "a b" is no name of a namespace'),
    ("release", release(chart="./nowhere"), "chart nowhere: cannot be read"),
    ("release", release(values=["nowhere.yaml"]), "nowhere.yaml"),
    ("release", {**release(), "chart_source": "nowhere"}, "chart_source: nowhere is no folder"),
    ("release", {**release(), "timeout": 0}, "timeout: 0 s is no time"),
    ("release", {"releases": [CHART, CHART]}, "release slurm/demo: stands twice"),
    ("manifests", manifest(kind="Pod"), 'the kind "Pod" is not written by this action'),
    ("manifests", manifest(apiVersion="v2"), 'apiVersion of a Secret is "v1"'),
    ("manifests", manifest(metadata={"name": "s"}), "Secret s names no namespace"),
    ("manifests", manifest(data={"a": "no base64!"}), "data.a is not base64"),
    ("manifests", manifest(stringData={"port": 3306}), "stringData.port must be text, not a number"),
    ("manifests", {"manifests": [SECRET, SECRET]}, "Secret n/s stands twice"),
    ("lease", {}, "missing required arguments: run"),
    ("lease", {"run": "x", "namespace": "A"}, 'namespace: "A" is no name of a namespace'),
    ("lease", {"run": "x", "state": "gone"}, "value of state must be one of: present, absent"),
]


@pytest.fixture(scope="module")
def told(shared_ansible: Ansible) -> dict[str, dict[str, Any]]:
    """What each task returns."""
    tasks = [
        {"name": f"{number}", f"aicr.runtime.{action}": {**NOWHERE, **options}, "ignore_errors": True}
        for number, (action, options, _unused) in enumerate(REFUSED)
    ]
    return {name: results["cluster"] for name, results in shared_ansible.tasks(tasks).results.items()}


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[message for _unused, _given, message in REFUSED])
def test_what_is_wrong_is_told_before_a_cluster_is_asked(told: dict[str, dict[str, Any]], number: int) -> None:
    result = told[str(number)]
    assert result["error"]["code"] in ("INVALID_REQUEST", "NOT_FOUND"), result
    assert REFUSED[number][2] in result["msg"]
    assert "pw-5Kx" not in str(result)


def test_everything_that_is_wrong_is_told_at_once(ansible: Ansible) -> None:
    releases = [{**CHART, "name": "Bad"}, {**CHART, "version": 1.5, "nme": "x"}, {**CHART, "values": ["absent.yaml"]}]
    task = {**NOWHERE, "releases": [releases[0], releases[2]]}
    ran = ansible.tasks([{"name": "it", "aicr.runtime.release": task}], expect=2)
    assert len(ran.result("it")["error"]["details"]["problems"]) == 2
    ran = ansible.tasks([{"name": "it", "aicr.runtime.release": {**NOWHERE, "releases": releases}}], expect=2)
    assert "releases[1].version" in ran.result("it")["msg"] and "releases[1].nme" in ran.result("it")["msg"]


@pytest.mark.parametrize("action", ["release", "manifests", "lease"])
def test_no_cluster_is_ever_guessed(ansible: Ansible, action: str) -> None:
    options = {"release": release(), "manifests": manifest(), "lease": {"run": "x"}}[action]
    ran = ansible.tasks([{"name": "it", f"aicr.runtime.{action}": options}], expect=2)
    assert "no cluster is named" in ran.result("it")["msg"]
