# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a pod from doing its work, in one line: its own state, and what the cluster's events say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_MOST_CHARACTERS, _MOST_EVENTS = 300, 3


def pod_trouble(pod: Mapping[str, Any] | None, events: Iterable[Mapping[str, Any]]) -> str:
    """The phase, why it is that, and the last warnings.

    :param pod: ``None`` if there is none, as where a quota or an admission refuses it.
    :param events: about the pod, or about what should have made it.
    """
    state = _states(pod["status"]) if pod is not None else iter(["there is no pod"])
    return "; ".join([*state, *_warnings(events)])


def _states(status: Mapping[str, Any]) -> Iterator[str]:
    said = _said(status)
    yield f"its pod is {status.get('phase', 'Pending')}" + (f": {said}" if said else "")
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            yield f"not scheduled: {_said(condition)}"
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for kind, state in (container.get("state") or {}).items():
            if kind == "waiting":
                yield f"its container waits: {_said(state)}"
            elif kind == "terminated" and state.get("exitCode"):
                yield f"its container ended with exit code {state['exitCode']}: {_said(state)}"


def _warnings(events: Iterable[Mapping[str, Any]]) -> list[str]:
    warnings = [event for event in events if event.get("type") == "Warning"]
    warnings.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    said = list(dict.fromkeys(map(_said, warnings)))
    return [f"event {text}" for text in said[-_MOST_EVENTS:]]


def _said(thing: Mapping[str, Any]) -> str:
    """Reason and message on one line; of a long one the end, where a log has its error."""
    text = " ".join(str(thing.get("message") or "").split())
    text = text if len(text) <= _MOST_CHARACTERS else f"…{text[-_MOST_CHARACTERS:]}"
    return ": ".join(filter(None, (str(thing.get("reason") or ""), text)))
