# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow objects while they change: a list, then a watch from there, each change once and in order.

Every kind has a thread of its own, and all changes go through one bounded queue: whoever reads it slowly slows the
watches down, and loses nothing. A broken watch goes on where it broke; one that is too far behind (410) begins anew
with a list. A kind that is not served yet is waited for. What only concerns the moment (a lost transport, 429, 5xx)
is tried again for as long as somebody waits.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ..errors import AicrError, Code, invalid
from .connection import Answer, Connection, Deadline, Stream, TransportLost
from .discovery import Kind, find_kind
from .read import Object, Reader, fold_list
from .request import EXPIRED, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, no_json, refusal

WATCH_SECONDS = 60
"""After so long the API server ends a watch, and it is begun again: a connection that died unnoticed ends, too."""
REQUEST_SECONDS = 30.0
DISCOVERY_SECONDS = 2.0
"""How often a kind that is not served is looked for."""
QUEUE = 1000
END_SECONDS = 2.0
"""How long threads are waited for that still ask a server which does not answer; they end by themselves."""

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class Target:
    """What is followed: the objects of a kind in a namespace, the one of a name or those with labels."""

    api_version: str
    kind: str
    namespace: str | None = None
    name: str | None = None
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def query(self) -> dict[str, str]:
        """The selectors of the request."""
        fields = {"fieldSelector": f"metadata.name={self.name}"} if self.name else {}
        labels = ",".join(f"{key}={value}" for key, value in self.labels)
        return fields | ({"labelSelector": labels} if labels else {})


@dataclass(frozen=True)
class Listed:
    """All objects of a target, by namespace and name; changes in between may have been missed."""

    target: Target
    objects: Mapping[str, Object]


@dataclass(frozen=True)
class Changed:
    """One object of a target; ``None`` if it is gone."""

    target: Target
    key: str
    found: Object | None


@dataclass(frozen=True)
class Unserved:
    """The kind of a target is not served, so that there are no objects of it."""

    target: Target


@dataclass(frozen=True)
class Blind:
    """What happens to a target is not seen at present, and why; ``None`` once it is again."""

    target: Target
    why: AicrError | None


@dataclass(frozen=True)
class Failed:
    """A target cannot be followed: a right, a login."""

    target: Target
    error: AicrError


Event = Listed | Changed | Unserved | Blind | Failed


def key_of(found: Object) -> str:
    """An object's place among those of its kind."""
    metadata = found["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def find_target(
    reader: Reader, target: Target, served: dict[tuple[str, str], Kind | None] | None = None
) -> Kind | None:
    """The kind of a target as it is served.

    :param served: what was found before, by version and kind; what is found now is added.
    :raises AicrError: INVALID_REQUEST if it is namespaced and no namespace is named, or the other way round.
    """
    known, place = {} if served is None else served, (target.api_version, target.kind)
    if place not in known:
        known[place] = find_kind(reader, *place)
    kind = known[place]
    if kind is not None and kind.namespaced is not (target.namespace is not None):
        rule = "lives in a namespace, and none is named" if kind.namespaced else "does not live in a namespace"
        raise invalid(f"{target.kind} {target.name or ''} of {target.api_version} {rule}", "mend metadata.namespace")
    return kind


def list_target(
    connection: Connection, target: Target, kind: Kind, fields: frozenset[str] | None = None
) -> tuple[dict[str, Object], str]:
    """All objects of a target, and the version that a watch goes on from.

    :param fields: the fields of an object that anybody reads; all without it.
    :raises AicrError: see :func:`read.fold_list`.
    """

    def take(objects: dict[str, Object], item: Object) -> None:
        found = _lean(item, target, fields)
        objects[key_of(found)] = found

    path = kind.path(target.namespace)
    start: Callable[[], dict[str, Object]] = dict
    objects, metadata = fold_list(connection, path, lambda: Deadline(REQUEST_SECONDS), start, take, target.query)
    if metadata is None:
        raise no_json(path)  # there would be no version to go on from
    return objects, str(metadata.get("resourceVersion", ""))


class Watcher:
    """Follows targets for as long as it is open (``with Watcher(…) as watcher``)."""

    def __init__(
        self,
        connection: Connection,
        targets: Mapping[Target, frozenset[str] | None],
        kinds: Mapping[Target, Kind | None] | None = None,
    ) -> None:
        """Prepare to follow.

        :param targets: and the fields of their objects that anybody reads; ``None`` for all.
        :param kinds: how they are served, as far as that is known already.
        """
        self._connection = connection
        self._queue: queue.Queue[Event] = queue.Queue(QUEUE)
        self._stop = threading.Event()
        self._followers = [
            _Follower(self, target, fields, (kinds or {}).get(target)) for target, fields in targets.items()
        ]

    def __enter__(self) -> Watcher:
        for follower in self._followers:
            follower.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for follower in self._followers:
            follower.abort()
        while not self._queue.empty():  # a thread may wait for room
            self.next(0)
        patience = Deadline(END_SECONDS)
        for follower in self._followers:
            follower.join(patience.left)

    @property
    def connection(self) -> Connection:
        """The cluster."""
        return self._connection

    def stopped(self) -> bool:
        """Whether nobody waits any more."""
        return self._stop.is_set()

    def next(self, seconds: float) -> Event | None:
        """The next event, or ``None`` if there is none in time."""
        try:
            return self._queue.get(timeout=seconds) if seconds > 0 else self._queue.get_nowait()
        except queue.Empty:
            return None

    def put(self, event: Event) -> None:
        """Hand on an event, when there is room."""
        while not self._stop.is_set():
            try:
                self._queue.put(event, timeout=0.5)
                return
            except queue.Full:
                continue

    def pause(self, seconds: float) -> None:
        """Wait, unless it ends."""
        self._stop.wait(seconds)


class _Follower(threading.Thread):
    """One target, in a thread."""

    def __init__(self, watcher: Watcher, target: Target, fields: frozenset[str] | None, kind: Kind | None) -> None:
        super().__init__(name=f"watch {target.kind}", daemon=True)
        self._watcher, self._target, self._fields, self._kind = watcher, target, fields, kind
        self._stream: Stream | None = None
        self._version = ""
        self._blind = False

    def abort(self) -> None:
        """End a watch that waits for the server."""
        stream = self._stream
        if stream is not None:
            stream.abort()

    def run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        kind = self._kind
        while not self._watcher.stopped():
            try:
                kind = self._step(kind)
                pause = FIRST_PAUSE_SECONDS
                continue
            except AicrError as error:
                if self._watcher.stopped():
                    return
                status = error.details.get("status")
                if status in (EXPIRED, 404):
                    kind, self._version = (None if status == 404 else kind), ""
                    self._watcher.pause(FIRST_PAUSE_SECONDS)
                    continue
                if not _passes(error):
                    self._watcher.put(Failed(self._target, error))
                    return
                self._see(error)
            except Exception as error:  # a thread that dies in silence would be waited for
                self._watcher.put(Failed(self._target, _unexpected(error)))
                return
            self._watcher.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _step(self, kind: Kind | None) -> Kind | None:
        """Look for the kind, list it, or watch it: whatever comes next."""
        connection = self._watcher.connection
        if kind is None:
            kind = find_target(Reader(connection, Deadline(REQUEST_SECONDS)), self._target)
            if kind is None:
                self._see(None)
                self._watcher.put(Unserved(self._target))
                self._watcher.pause(DISCOVERY_SECONDS)
                return None
        if not self._version:
            objects, version = list_target(connection, self._target, kind, self._fields)
            self._watcher.put(Listed(self._target, objects))
            self._see(None)
            self._version = version
        begun, before = time.monotonic(), self._version
        self._watch(kind)
        if self._version == before and time.monotonic() - begun < 1:
            self._watcher.pause(1.0)  # whatever ends every watch at once is not asked without a pause
        return kind

    def _watch(self, kind: Kind) -> None:
        path = kind.path(self._target.namespace)
        query = {
            **self._target.query,
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        connection = self._watcher.connection
        login = connection.login
        refused = self._follow(path, query)
        # As in request.ask, once: new credentials that are rejected at once are renewed by nobody. Those that were
        # accepted and expire later are, by the watch that comes then.
        if refused is not None and refused.status == 401 and connection.renew(login):
            refused = self._follow(path, query)
        if refused is not None:
            raise refusal(refused, path)

    def _follow(self, path: str, query: Mapping[str, str]) -> Answer | None:
        """Take what a watch tells until it ends; returns the answer that refused it, if one did."""
        with self._watcher.connection.stream(path, query, WATCH_SECONDS + 15.0) as stream:
            if stream.refused is not None:
                return stream.refused
            self._stream = stream
            try:
                if self._watcher.stopped():
                    return None
                self._see(None)
                for line in stream.lines():
                    if self._watcher.stopped():
                        return None
                    self._take(line, path)
            finally:
                self._stream = None
        return None

    def _take(self, line: bytes, path: str) -> None:
        try:
            event = json.loads(line)
            kind, found = event["type"], event["object"]
            if kind == "ERROR":
                raise refusal(Answer(int(found.get("code") or 500), json.dumps(found).encode()), path)
            version = str(found["metadata"]["resourceVersion"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise no_json(path) from None
        if kind in ("ADDED", "MODIFIED"):
            lean = _lean(found, self._target, self._fields)
            self._watcher.put(Changed(self._target, key_of(lean), lean))
        elif kind == "DELETED":
            self._watcher.put(Changed(self._target, key_of(found), None))
        self._version = version

    def _see(self, why: AicrError | None) -> None:
        """Tell when the sight is lost, and when it is back."""
        if (why is not None) is not self._blind:
            self._blind = why is not None
            self._watcher.put(Blind(self._target, why))


def _passes(error: AicrError) -> bool:
    """Whether the same question may be answered in a while."""
    if isinstance(error, TransportLost):
        return not error.certain
    return error.code in (Code.TIMEOUT, Code.SERVICE_UNAVAILABLE)


def _unexpected(error: Exception) -> AicrError:
    return AicrError(Code.INTERNAL, f"{type(error).__name__}: {error}", "this is a fault of aicr.runtime: report it")


def _lean(item: Any, target: Target, fields: frozenset[str] | None) -> Object:
    """An object with what anybody reads: no value of a Secret, no schema, no record of who wrote which field."""
    found = {key: value for key, value in item.items() if fields is None or key in fields}
    found |= {"apiVersion": target.api_version, "kind": target.kind}
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    if _LAST_APPLIED in (metadata.get("annotations") or {}):
        metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key != _LAST_APPLIED}
    found["metadata"] = metadata
    if target.kind == "Secret":
        for name in found.keys() & {"data", "stringData"}:
            found[name] = {key: "***" if value else "" for key, value in (found[name] or {}).items()}
    if target.kind == "CustomResourceDefinition" and isinstance(found.get("spec"), dict):
        versions = [
            {key: value for key, value in version.items() if key != "schema"}
            for version in found["spec"].get("versions") or ()
        ]
        found["spec"] = {**found["spec"], "versions": versions}
    return found
