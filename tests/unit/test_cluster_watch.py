# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Following objects where the credentials are rejected, and where a list is odd or expires while it is read."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fake_api import FakeApi, Reply, Request, status

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import connection as connections
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import watch
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection, Deadline
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.discovery import Kind
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.read import PAGE, Reader
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.watch import (
    Changed,
    Failed,
    Listed,
    Target,
    Watcher,
    list_target,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

PODS = "/api/v1/namespaces/n/pods"
POD, SERVED = Target("v1", "Pod", "n"), Kind("v1", "pods", True)
COUNT = PAGE + 1


@pytest.fixture
def api() -> Iterator[FakeApi]:
    pods = [{"metadata": {"name": f"pod-{index}", "namespace": "n"}} for index in range(COUNT)]
    with FakeApi({PODS: pods}) as api:
        yield api


def connect(api: FakeApi) -> Connection:
    return Connection(Access(host=api.url, api_key="token-0"), {})


@pytest.fixture
def handed_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An exec plugin that hands out another token each time; these were."""
    real, tokens = connections.log_in, list[str]()

    def log_in(access: Access, environ: Any) -> Any:
        tokens.append(f"token-{len(tokens)}")
        return real(replace(access, api_key=tokens[-1]), environ)

    monkeypatch.setattr(connections, "log_in", log_in)
    return tokens


def is_watch(request: Request) -> bool:
    return "watch" in request.query


def follow(api: FakeApi) -> Watcher:
    return Watcher(connect(api), {POD: None}, {POD: SERVED})


def events(watcher: Watcher) -> Iterator[Any]:
    while (event := watcher.next(5)) is not None:
        yield event


# ---- credentials


@pytest.mark.parametrize("rejected", ["list", "watch"])
def test_new_credentials_that_are_rejected_too_end_it(api: FakeApi, handed_out: list[str], rejected: str) -> None:
    def trouble(request: Request) -> Reply | None:
        return status(401, "who are you") if is_watch(request) is (rejected == "watch") else None

    api.trouble = trouble
    with follow(api) as watcher:
        failed = next(event for event in events(watcher) if isinstance(event, Failed))
    assert failed.error.code is Code.UNAUTHORIZED and "who are you" in failed.error.message
    assert handed_out == ["token-0", "token-1"]
    assert sum(trouble(request) is not None for request in api.requests) == 2


def test_credentials_that_expire_again_and_again_are_renewed_each_time(api: FakeApi, handed_out: list[str]) -> None:
    """Each token is good for one watch, which tells of one change."""
    used, versions = set[str](), itertools.count(2)

    def trouble(request: Request) -> Reply | None:
        if not is_watch(request):
            return None
        (token,) = request.headers["authorization"]
        if token in used:
            return status(401, "expired")
        used.add(token)
        metadata = {"name": "pod-0", "namespace": "n", "resourceVersion": str(next(versions))}
        return Reply(body=json.dumps({"type": "MODIFIED", "object": {"metadata": metadata}}).encode() + b"\n")

    api.trouble = trouble
    with follow(api) as watcher:
        seen = list(itertools.islice(events(watcher), 5))
    assert [type(event) for event in seen] == [Listed, *[Changed] * 4]
    assert len(handed_out) >= 4


def test_credentials_that_cannot_be_renewed_are_told(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api.trouble = lambda request: status(401) if is_watch(request) else None
    with follow(api) as watcher:

        def log_in(access: Access, environ: Any) -> Any:
            raise AicrError(Code.UNAUTHORIZED, "the plugin fails", "")

        monkeypatch.setattr(connections, "log_in", log_in)
        failed = next(event for event in events(watcher) if isinstance(event, Failed))
    assert "the plugin fails" in failed.error.message


# ---- lists


def test_a_target_is_listed_to_its_end_with_the_version_to_go_on_from(api: FakeApi) -> None:
    objects, version = list_target(connect(api), POD, SERVED)
    assert (len(objects), version) == (COUNT, "1")
    assert objects["n/pod-7"]["kind"] == "Pod"


def test_a_list_that_expires_starts_again_once(api: FakeApi) -> None:
    expire = iter([True])
    api.trouble = lambda request: status(410) if "continue" in request.query and next(expire, False) else None
    assert len(list_target(connect(api), POD, SERVED)[0]) == COUNT
    assert len(api.requests) == 4
    api.trouble = lambda request: status(410) if "continue" in request.query else None
    with pytest.raises(AicrError, match="expired"):
        list_target(connect(api), POD, SERVED)
    assert len(api.requests) == 8


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ({"metadata": {"resourceVersion": "7"}, "items": None}, True),
        ({"metadata": {"resourceVersion": "7"}}, True),
        ({"metadata": {"resourceVersion": "7"}, "items": {}}, False),
        ({"metadata": {"resourceVersion": "7"}, "items": "none"}, False),
    ],
)
def test_a_list_reads_the_same_for_a_watch_and_for_a_look(api: FakeApi, body: dict[str, Any], read: bool) -> None:
    api.trouble = lambda request: Reply(body=body)
    connection = connect(api)
    for listed in (
        lambda: list_target(connection, POD, SERVED),
        lambda: (Reader(connection, Deadline(5)).fold(PODS, dict, lambda found, pod: None), "7"),
    ):
        if read:
            assert listed() == ({}, "7")
            continue
        with pytest.raises(AicrError) as caught:
            listed()
        assert caught.value.code is Code.SERVICE_UNAVAILABLE


def test_a_list_without_a_version_is_not_gone_on_from(api: FakeApi) -> None:
    api.trouble = lambda request: Reply(body={"items": []})
    with pytest.raises(AicrError) as caught:
        list_target(connect(api), POD, SERVED)
    assert caught.value.code is Code.SERVICE_UNAVAILABLE


def test_every_page_of_a_long_list_has_its_own_time(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "REQUEST_SECONDS", 1.0)
    slow = Reply(body={"items": [], "metadata": {"continue": "on"}}, silence=0.7)
    api.trouble = lambda request: (
        replace(slow, body={"items": [], "metadata": {"resourceVersion": "7"}})
        if ("continue" in request.query)
        else slow
    )
    assert list_target(connect(api), POD, SERVED) == ({}, "7")
