# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask an API server until it answers: what is worth another try, how long, and what its refusals mean."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from ..errors import AicrError, Code, conflict, invalid, not_found
from .connection import Answer, Connection, Deadline, TransportLost, late

MAX_LOST = 4
"""So many connections may fail or break in one request before the transport counts as lost."""
MAX_FAULTS = 6
"""So many times a request may be answered with a fault of the server (500, 502, 503, 504)."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 4.0
AT_ONCE = 4
"""So many questions that do not depend on each other are asked side by side."""
THROTTLED = 429
EXPIRED = 410


def ask(
    connection: Connection,
    path: str,
    deadline: Deadline,
    query: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    body: bytes | None = None,
    content_type: str = "application/json",
) -> Answer:
    """A good answer. Only what may be done twice is asked: reads, reviews of rights, server-side apply, deletion.

    :raises AicrError: what the API refused, with its status in ``details.status`` (see :func:`refusal`); TIMEOUT after
        the deadline; :class:`TransportLost` if it cannot be reached.
    """
    lost = faults = 0
    renewed = False
    pause = FIRST_PAUSE_SECONDS
    while True:
        login = connection.login
        try:
            answer = connection.send(method, path, query or {}, deadline, body, content_type)
        except TransportLost as error:
            lost += 1
            if error.certain or lost >= MAX_LOST:
                raise
            trouble: AicrError = error
            wait = pause
        else:
            if answer.status < 300:
                return answer
            trouble = refusal(answer, path)
            if answer.status == 401 and not renewed and connection.renew(login):
                renewed = True
                continue
            faults += answer.status >= 500
            if not (answer.status == THROTTLED or answer.status >= 500) or faults >= MAX_FAULTS:
                raise trouble
            # a server that asks for no pause at all gets one, too: it would be asked thousands of times a second
            wait = pause if answer.retry_after is None else max(FIRST_PAUSE_SECONDS, answer.retry_after)
        if wait >= deadline.left:
            raise _out_of_time(trouble, path, deadline)
        time.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def get(
    connection: Connection, path: str, deadline: Deadline, query: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A JSON object; see :func:`ask`. SERVICE_UNAVAILABLE if it is something else, such as the page of a proxy."""
    return document_of(ask(connection, path, deadline, query), path)


def document_of(answer: Answer, path: str) -> dict[str, Any]:
    """The JSON object in an answer; see :func:`get`."""
    document = _document(answer)
    if not isinstance(document, dict):
        raise no_json(path)
    return document


def _document(answer: Answer) -> object:
    try:
        return json.loads(answer.body())
    except (ValueError, RecursionError):
        return None


def no_json(path: str) -> AicrError:
    """The error of an answer that no API server gives."""
    return AicrError(
        Code.SERVICE_UNAVAILABLE, f"{path}: the answer is no JSON object", "is this an API server, or a proxy's page?"
    )


def refusal(answer: Answer, path: str) -> AicrError:
    """What an answer that is none means: 401 and 403 are UNAUTHORIZED, 404 is NOT_FOUND, 409 CONFLICT, 4xx else
    INVALID_REQUEST, 410 and 429 TIMEOUT, anything else SERVICE_UNAVAILABLE."""
    said = _said(answer)
    because = f": {said}" if said else ""
    details: dict[str, object] = {"status": answer.status, "path": path}
    match answer.status:
        case 401:
            return AicrError(
                Code.UNAUTHORIZED, f"{path}: the credentials are not accepted{because}", "renew them", details
            )
        case 403:
            return AicrError(Code.UNAUTHORIZED, f"{path}: not allowed{because}", "grant the right", details)
        case 404:
            return not_found(f"{path}: not found{because}", "", **details)
        case 409:
            return conflict(f"{path}: conflict{because}", "", **details)
        case 410 | 429:
            word = "the list expired while it was read" if answer.status == EXPIRED else "too many requests"
            return AicrError(Code.TIMEOUT, f"{path}: {word}", "try again when the API server is less busy", details)
        case status if 400 <= status < 500:
            return invalid(f"{path}: refused with {status}{because}", "", **details)
    return AicrError(
        Code.SERVICE_UNAVAILABLE,
        f"{path}: answered with {answer.status}{because}",
        "see the log of the API server, or of the API behind it",
        details,
    )


def is_gap(error: AicrError) -> bool:
    """Whether an error concerns what was asked alone: the right, the kind, the time, a fault at this one path.

    A rejected login or a lost transport concerns everything.
    """
    return error.code is Code.TIMEOUT or error.details.get("status", 401) != 401


def _out_of_time(trouble: AicrError, path: str, deadline: Deadline) -> AicrError:
    if isinstance(trouble, TransportLost):
        return late(path, deadline)
    return AicrError(
        Code.TIMEOUT, f"{trouble.message}, until the {deadline.seconds:g} s were over", trouble.hint, trouble.details
    )


def _said(answer: Answer) -> str:
    """The message of a Status; no other text, which may be anybody's."""
    document = _document(answer)
    message = document.get("message") if isinstance(document, dict) and document.get("kind") == "Status" else None
    return " ".join(message.split())[:400] if isinstance(message, str) else ""
