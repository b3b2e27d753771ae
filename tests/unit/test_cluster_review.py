# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights are asked for before anything is written: all that are missing are told, by as few questions as can be."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from fake_api import FakeApi, Reply, Request, status

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.review import Right, require
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

JOBS = [Right(verb, "batch", "jobs", "slurm") for verb in ("create", "delete", "list", "patch")]
LOG = Right("get", "", "pods/log", "slurm", "worker-0")


class Authorizer:
    """Answers reviews of a caller who may some things.

    :ivar asked: the attributes of each question.
    """

    def __init__(self, api: FakeApi, allowed: Sequence[str]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._allowed = allowed
        api.trouble = self._answer

    def _answer(self, request: Request) -> Reply:
        attributes = json.loads(request.body)["spec"]["resourceAttributes"]
        self.asked.append(attributes)
        return Reply(201, {"status": {"allowed": attributes["verb"] in self._allowed}})


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi({}) as api:
        yield api


def ask_for(api: FakeApi, rights: Sequence[Right]) -> None:
    require(Connection(Access(host=api.url), {}), rights, "grant them")


def test_an_administrator_is_asked_one_question(api: FakeApi) -> None:
    authorizer = Authorizer(api, "*")
    ask_for(api, [*JOBS, LOG])
    (question,) = authorizer.asked
    assert (question["verb"], question["group"], question["resource"], question["namespace"]) == ("*", "*", "*", "")


def test_whoever_has_just_the_rights_is_asked_for_each_once(api: FakeApi) -> None:
    authorizer = Authorizer(api, ("create", "delete", "list", "patch", "get"))
    ask_for(api, [*JOBS, LOG, *JOBS])
    assert len(authorizer.asked) == 1 + len(JOBS) + 1
    assert {"resource": "pods", "subresource": "log", "name": "worker-0"}.items() <= next(
        one for one in authorizer.asked if one["verb"] == "get"
    ).items()


def test_all_that_are_missing_are_told_at_once_in_order(api: FakeApi) -> None:
    Authorizer(api, ("list", "delete"))
    with pytest.raises(AicrError) as caught:
        ask_for(api, [LOG, *reversed(JOBS)])
    error = caught.value
    assert (error.code, error.hint) == (Code.UNAUTHORIZED, "grant them")
    assert error.details["missing"] == [
        "create jobs.batch in namespace slurm",
        "get pods/log worker-0 in namespace slurm",
        "patch jobs.batch in namespace slurm",
    ]
    assert "; ".join(error.details["missing"]) in error.message


@pytest.mark.parametrize("right", [[], [LOG]])
def test_no_question_is_asked_that_decides_nothing(api: FakeApi, right: list[Right]) -> None:
    authorizer = Authorizer(api, ("get",))
    ask_for(api, right)
    assert [one["verb"] for one in authorizer.asked] == [one.verb for one in right]


def test_questions_go_side_by_side(api: FakeApi) -> None:
    """Each is a way to the server and back: here none is answered before all of them are there."""
    together = threading.Barrier(len(JOBS), timeout=30)

    def answer(request: Request) -> Reply:
        everything = json.loads(request.body)["spec"]["resourceAttributes"]["verb"] == "*"
        if not everything:
            together.wait()
        return Reply(201, {"status": {"allowed": not everything}})

    api.trouble = answer
    ask_for(api, JOBS)
    assert not together.broken


@pytest.mark.parametrize("code", [403, 404])
def test_a_server_that_answers_no_such_question_is_left_to_refuse_later(api: FakeApi, code: int) -> None:
    api.trouble = lambda request: status(code, "no reviews here")
    ask_for(api, JOBS)
    assert api.requests


def test_a_login_that_is_not_accepted_is_told(api: FakeApi) -> None:
    api.trouble = lambda request: status(401, "who are you")
    with pytest.raises(AicrError) as caught:
        ask_for(api, JOBS)
    assert "who are you" in caught.value.message
