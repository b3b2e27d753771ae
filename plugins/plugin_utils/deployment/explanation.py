# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster says of objects that are not as expected: conditions, warnings, pods, the end of slurmdbd's log.

Whatever of it cannot be read is left out: it explains a failure, and must not hide it behind another one.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cluster.pod import pod_trouble
from ..cluster.read import Object, Reader
from ..cluster.request import ask
from ..constraints.assertion import called
from ..errors import AicrError
from .board import Board, Component
from .rollout import KINDS as WORKLOADS
from .traps import hints

SECONDS = 20.0
"""How long it may take to ask about everything."""
_MOST_OBJECTS, _MOST_EVENTS, _MOST_PODS, _LOG_LINES = 6, 3, 3, 60
_ERROR = re.compile(r"fatal|error|failed", re.IGNORECASE)
_PARSED = re.compile(r"(pars(?:e|ing) error[^:]*):.*", re.IGNORECASE)
"""What a daemon read where it could not, which is the end of a password that holds a blank (4.4)."""
_LOGGED = ("slurmdbd", "slurmctld")


@dataclass(frozen=True)
class Explanation:
    """What there is to say of one object.

    :ivar conditions: its conditions, ``Ready=False Failed: …``.
    :ivar events: its last warnings.
    :ivar pods: what its pods suffer from.
    :ivar log: the last error of a daemon of Slurm.
    :ivar hints: the ways out.
    """

    of: str
    conditions: tuple[str, ...]
    events: tuple[str, ...]
    pods: tuple[str, ...]
    log: tuple[str, ...]
    hints: tuple[str, ...]

    def __str__(self) -> str:
        said = {"conditions": self.conditions, "events": self.events, "pods": self.pods, "log": self.log}
        return "; ".join(f"{name}: {', '.join(texts)}" for name, texts in said.items() if texts)


def explain(reader: Reader, board: Board, component: Component) -> tuple[Explanation, ...]:
    """What the cluster says of the objects that keep a component from being ready; see :data:`_MOST_OBJECTS`.

    An operator's resource that is as expected is among them where there are warnings about it: that slurm-operator
    lacks a Secret stands in the events of an Accounting, which has no status.
    """
    blamed: dict[str, Mapping[str, Any]] = {}
    others: dict[str, Mapping[str, Any]] = {}
    for aim in component.aims:
        selection = aim.expectation.selection
        custom = "." in selection.api_version.partition("/")[0]
        innocent = aim.holds and not (aim.changes and not component.open)
        if not innocent or (custom and selection.name):
            for found in board.offenders(aim):
                (others if innocent else blamed).setdefault(called(found, selection), found)
    events: dict[str, list[Object]] = {}
    told = [_explanation(reader, name, found, events) for name, found in list(blamed.items())[:_MOST_OBJECTS]]
    for name, found in list(others.items())[:_MOST_OBJECTS]:
        if name not in blamed:
            warnings = _told_warnings(_events(reader, found, events), found)
            told.append(Explanation(name, (), warnings, (), (), tuple(hints(warnings))))
    return tuple(one for one in told if str(one))


def _explanation(reader: Reader, name: str, found: Mapping[str, Any], known: dict[str, list[Object]]) -> Explanation:
    events = _events(reader, found, known)
    conditions = tuple(_conditions(found))
    workload = found["kind"] in WORKLOADS
    pods = _pods(reader, found) if workload else [found] if found["kind"] == "Pod" else []
    suffering = [pod for pod in pods if not _is_ready(pod)][:_MOST_PODS]
    told = tuple(f"{pod['metadata']['name']}{_place(reader, pod)}: {_trouble(pod, events)}" for pod in suffering)
    warnings = _told_warnings(events, found)
    log = tuple(line for pod in suffering for line in _log(reader, pod))
    return Explanation(name, conditions, warnings, told, log, tuple(hints([*conditions, *warnings, *told, *log])))


def _events(reader: Reader, found: Mapping[str, Any], known: dict[str, list[Object]]) -> list[Object]:
    """The warnings of an object's namespace, asked for once."""
    namespace = found["metadata"].get("namespace")
    if namespace and namespace not in known:
        known[namespace] = _warnings(reader, namespace)
    return known.get(namespace or "", [])


def _told_warnings(events: Sequence[Object], found: Mapping[str, Any]) -> tuple[str, ...]:
    about = _about(events, found["kind"], found)
    return tuple(_said(event) for event in about[-_MOST_EVENTS:])


def _conditions(found: Mapping[str, Any]) -> Iterator[str]:
    if found["kind"] == "Pod":
        return  # they are told with the pod
    for condition in (found.get("status") or {}).get("conditions") or ():
        yield f"{condition.get('type')}={condition.get('status')} {_said(condition)}".rstrip()


def _said(thing: Mapping[str, Any]) -> str:
    message = " ".join(str(thing.get("message") or thing.get("note") or "").split())
    return ": ".join(filter(None, (str(thing.get("reason") or ""), message[:300])))


def _warnings(reader: Reader, namespace: str) -> list[Object]:
    """The warnings of a namespace, the oldest first."""
    query = {"fieldSelector": "type=Warning"}
    return sorted(_all(reader, f"/api/v1/namespaces/{namespace}/events", query), key=_time)


def _all(reader: Reader, path: str, query: Mapping[str, str]) -> list[Object]:
    """All objects of a list; none if it cannot be read."""
    try:
        return reader.fold(path, list[Object], list.append, query)
    except AicrError:
        return []


def _time(event: Mapping[str, Any]) -> str:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return str(next((time for time in times if time), event["metadata"].get("creationTimestamp") or ""))


def _about(events: Sequence[Object], kind: str, found: Mapping[str, Any]) -> list[Object]:
    """The events of an object; that a pod once had no node says nothing any more when it has one."""
    placed = bool((found.get("spec") or {}).get("nodeName"))
    return [
        event
        for event in events
        if _names(event.get("involvedObject") or {}, kind, found["metadata"]["name"])
        and not (placed and event.get("reason") == "FailedScheduling")
    ]


def _names(about: Mapping[str, Any], kind: str, name: str) -> bool:
    return about.get("kind") == kind and about.get("name") == name


def _pods(reader: Reader, workload: Mapping[str, Any]) -> list[Object]:
    labels = ((workload.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    namespace = workload["metadata"].get("namespace")
    if not labels or not namespace:
        return []
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    return _all(reader, f"/api/v1/namespaces/{namespace}/pods", {"labelSelector": selector})


def _is_ready(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status") or {}
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or ())


def _trouble(pod: Mapping[str, Any], events: Sequence[Object]) -> str:
    return pod_trouble({"status": pod.get("status") or {}}, _about(events, "Pod", pod))


def _place(reader: Reader, pod: Mapping[str, Any]) -> str:
    """The node of a pod, and whether that is what is wrong (case K6)."""
    node = (pod.get("spec") or {}).get("nodeName")
    if not node:
        return ""
    with contextlib.suppress(AicrError):
        found = reader.find(f"/api/v1/nodes/{node}")
        if found is not None and not _is_ready(found):
            return f" on node {node}, which is not Ready"
    return f" on node {node}"


def _log(reader: Reader, pod: Mapping[str, Any]) -> Iterator[str]:
    """The last error in the log of a daemon of Slurm: why slurmdbd has no database stands nowhere else (2.9)."""
    metadata = pod["metadata"]
    daemon = (metadata.get("labels") or {}).get("app.kubernetes.io/name")
    if daemon not in _LOGGED:
        return
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/log"
    with contextlib.suppress(AicrError):
        query = {"container": daemon, "tailLines": str(_LOG_LINES), "limitBytes": "65536"}
        text = ask(reader.connection, path, reader.deadline, query).body().decode(errors="replace")
        yield from last_errors(text)


def last_errors(log: str) -> list[str]:
    """The last two different errors of a log, as far as anybody may read them."""
    errors = [" ".join(_PARSED.sub(r"\1", line).split()) for line in log.splitlines() if _ERROR.search(line)]
    return list(dict.fromkeys(line[:300] for line in errors[-_LOG_LINES:]))[-2:]
