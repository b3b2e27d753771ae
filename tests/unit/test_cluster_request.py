# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading an API that is slow, throttles, fails, breaks off or never ends: the same sum, or a clear error in time."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from fake_api import FakeApi, Reply, Request, status

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import connection as connections
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import request as requests
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection, Deadline, TransportLost
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.read import PAGE, Reader
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.request import is_gap
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

PODS = "/api/v1/pods"
COUNT = 2 * PAGE + 3


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi(
        {PODS: [{"metadata": {"name": f"pod-{index}"}} for index in range(COUNT)], "/version": {"a": 1}}
    ) as api:
        yield api


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(requests, "LONGEST_PAUSE_SECONDS", 0.02)


def reader(api: FakeApi, seconds: float = 5.0) -> Reader:
    return Reader(Connection(Access(host=api.url, api_key="sesame-token"), {}), Deadline(seconds))


def names(reader: Reader, path: str = PODS) -> list[str]:
    return reader.fold(path, list, lambda names, pod: names.append(pod["metadata"]["name"]))


def first(times: int, reply: Reply, page: int | None = None) -> Any:
    """Trouble for the first requests, of one page alone if that is said."""
    left = [times]

    def trouble(request: Request) -> Reply | None:
        if (page is not None and request.query.get("continue") != (str(page * PAGE) if page else None)) or not left[0]:
            return None
        left[0] -= 1
        return reply

    return trouble


EVERYTHING = [f"pod-{index}" for index in range(COUNT)]


def test_a_list_is_read_in_pages_to_its_end(api: FakeApi) -> None:
    asked = reader(api)
    assert names(asked) == EVERYTHING
    assert [request.query for request in api.requests] == [
        {"limit": "500"},
        {"limit": "500", "continue": "500"},
        {"limit": "500", "continue": "1000"},
    ]
    assert asked.connection.requests == 3


@pytest.mark.parametrize("page", [0, 1, 2])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(429, headers={"Retry-After": "0"}),
        Reply(429),
        status(500, "etcdserver: request timed out"),
        status(503),
        Reply(body={"items": []}, cut=0),
        Reply(body={"items": [{"metadata": {"name": "half"}}] * 50}, cut=20),
    ],
    ids=["429 with Retry-After", "429", "500", "503", "cut before the first byte", "cut in the middle"],
)
def test_passing_trouble_changes_nothing(api: FakeApi, reply: Reply, page: int) -> None:
    api.trouble = first(2, reply, page)
    assert names(reader(api)) == EVERYTHING


def test_as_long_is_waited_as_the_server_asks(api: FakeApi) -> None:
    api.trouble = first(1, Reply(429, headers={"Retry-After": "1"}))
    begin = time.monotonic()
    reader(api).get("/version")
    assert 1.0 <= time.monotonic() - begin < 3.0


def test_a_server_that_asks_for_no_pause_gets_one(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "FIRST_PAUSE_SECONDS", 0.2)
    api.trouble = lambda request: Reply(429, headers={"Retry-After": "0"})
    with pytest.raises(AicrError) as caught:
        reader(api, 1).get("/version")
    assert caught.value.code is Code.TIMEOUT
    assert 2 <= len(api.requests) <= 6


def test_nobody_waits_longer_than_there_is_time(api: FakeApi) -> None:
    api.trouble = first(1, Reply(429, headers={"Retry-After": "60"}))
    begin = time.monotonic()
    with pytest.raises(AicrError) as caught:
        reader(api, 2).get("/version")
    assert time.monotonic() - begin < 1
    assert caught.value.code is Code.TIMEOUT
    assert "too many requests" in caught.value.message


@pytest.mark.parametrize("page", [1, 2])
def test_a_list_that_expires_starts_again_cleanly(api: FakeApi, page: int) -> None:
    api.trouble = first(1, status(410, "The provided continue parameter is too old"), page)
    assert names(reader(api)) == EVERYTHING


def test_a_list_that_expires_again_is_given_up(api: FakeApi) -> None:
    api.trouble = first(99, status(410), 1)
    with pytest.raises(AicrError, match="expired") as caught:
        names(reader(api))
    assert is_gap(caught.value)
    assert len(api.requests) == 4


@pytest.mark.parametrize(
    ("reply", "code", "gap"),
    [
        (status(401, "Unauthorized"), Code.UNAUTHORIZED, False),
        (status(403, 'pods is forbidden: User "x" cannot list'), Code.UNAUTHORIZED, True),
        (status(404), Code.NOT_FOUND, True),
        (status(500), Code.SERVICE_UNAVAILABLE, True),
        (status(400), Code.INVALID_REQUEST, True),
        (status(409), Code.CONFLICT, True),
        (Reply(302, headers={"Location": "http://127.0.0.1:9/"}), Code.SERVICE_UNAVAILABLE, True),
        (Reply(body=b"<html>log in</html>"), Code.SERVICE_UNAVAILABLE, False),
        (Reply(body=b'{"items": [{"metadata": {"name": "a"}}, '), Code.SERVICE_UNAVAILABLE, False),
        (Reply(body=b'{"items": [1]}'), Code.SERVICE_UNAVAILABLE, False),
        (Reply(body=b"\xff\xfe"), Code.SERVICE_UNAVAILABLE, False),
        (Reply(body=b"[]"), Code.SERVICE_UNAVAILABLE, False),
    ],
    ids=lambda value: f"{value.status} {value.body!r:.20}" if isinstance(value, Reply) else "",
)
def test_refusals_are_told_apart(api: FakeApi, reply: Reply, code: Code, gap: bool) -> None:
    api.trouble = lambda request: reply
    with pytest.raises(AicrError) as caught:
        names(reader(api))
    assert (caught.value.code, is_gap(caught.value)) == (code, gap)
    assert PODS in caught.value.message
    assert "sesame" not in repr(caught.value) + str(caught.value.to_result())


def test_what_the_api_says_about_a_missing_right_is_passed_on(api: FakeApi) -> None:
    api.trouble = lambda request: status(403, 'pods is forbidden: User "x" cannot list resource "pods"')
    with pytest.raises(AicrError, match='User "x" cannot list resource "pods"'):
        names(reader(api))


def test_an_api_that_is_gone_is_lost_and_no_gap() -> None:
    with FakeApi({}) as api:
        pass
    with pytest.raises(TransportLost) as caught:
        names(reader(api))
    assert not is_gap(caught.value)
    assert api.url in caught.value.message
    assert caught.value.code is Code.SERVICE_UNAVAILABLE


def test_an_api_that_always_breaks_off_is_lost(api: FakeApi) -> None:
    api.trouble = lambda request: Reply(body={"items": []}, cut=3)
    with pytest.raises(TransportLost):
        names(reader(api))
    assert len(api.requests) == requests.MAX_LOST


@pytest.mark.parametrize("reply", [Reply(silence=30), Reply(drip=0.02)], ids=["silence", "an answer without end"])
def test_there_is_an_end_in_time_to_everything(api: FakeApi, reply: Reply) -> None:
    api.trouble = lambda request: reply
    begin = time.monotonic()
    with pytest.raises(AicrError) as caught:
        names(reader(api, 0.5))
    assert time.monotonic() - begin < 2
    assert caught.value.code is Code.TIMEOUT
    assert is_gap(caught.value)


@pytest.mark.parametrize("zipped", [False, True])
def test_there_is_an_end_in_size_to_everything(api: FakeApi, monkeypatch: pytest.MonkeyPatch, zipped: bool) -> None:
    monkeypatch.setattr(connections, "MAX_ANSWER_BYTES", 900 if not zipped else 2000)
    api.trouble = lambda request: Reply(body=b" " * (950 if not zipped else 10_000_000))
    with pytest.raises(AicrError, match="longer than") as caught:
        names(reader(api))
    assert caught.value.code is Code.SERVICE_UNAVAILABLE


def test_a_list_that_leads_back_to_itself_ends(api: FakeApi) -> None:
    api.trouble = lambda request: Reply(body={"items": [], "metadata": {"continue": "here"}})
    with pytest.raises(AicrError):
        names(reader(api))
    assert len(api.requests) == 2


def test_where_items_stand_in_the_answer_does_not_matter(api: FakeApi) -> None:
    answers = [
        b'{"metadata":{"continue":"x"},"items":[{"metadata":{"name":"a"}}]}',
        b' { "items" : [ {"metadata": {"name": "b"}} , {"metadata": {"name": "c"}} ] , "metadata" : {} } ',
    ]
    api.trouble = lambda request: Reply(body=answers[request.query.get("continue") == "x"])
    assert names(reader(api)) == ["a", "b", "c"]
    api.trouble = lambda request: Reply(body=b'{"items":null}')
    assert names(reader(api)) == []
    api.trouble = lambda request: Reply(body=b"{}")
    assert names(reader(api)) == []


def test_of_a_long_list_no_more_than_two_pages_are_in_memory(api: FakeApi) -> None:
    pods = [{"metadata": {"name": str(index), "note": "x" * 4000}} for index in range(PAGE)]
    last, page = ({"items": pods, "metadata": more} for more in ({}, {"continue": "on"}))
    text = {"last": json.dumps(last).encode(), "page": json.dumps(page).encode()}

    def peak(pages: int) -> int:
        left = [pages]

        def trouble(request: Request) -> Reply:
            left[0] -= 1
            body = text["page" if left[0] else "last"]
            return Reply(body=body.replace(b'"on"', b'"on%d"' % left[0]))

        api.trouble = trouble
        tracemalloc.start()
        reader(api).fold(PODS, list, lambda names, pod: None)
        reached = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert left == [0]
        return reached

    several = peak(8)
    assert several < 3.2 * len(text["page"])  # two of ours, and what the fake server holds in the same process
    assert several < peak(2) * 1.1
