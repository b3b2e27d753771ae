# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened to the objects of a namespace, in the order in which it was stored: as recorded, and as seen here.

Both are told in the words of recordings/*.tsv, as far as they are an operator's own doing: objects made, conditions,
finalizers, privileges. Resource versions count in one row for all kinds, so the order is exact.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from .bed import Bed, Object
from .operators.objects import path

Step = tuple[str, str]
"""An object, such as `Secret mariadb-password`, and what happened to it."""
_CONDITION = re.compile(r"\.status\.conditions\[(\w+)\][=:] ?(.*?)(?=; [+.-]|$)", re.DOTALL)
_FINALIZER = re.compile(r"\+\.metadata\.finalizers\[0\]=(\S+?)(?=;|$)")


def recorded(file: Path, kinds: Sequence[str]) -> list[Step]:
    """The steps of a recording."""
    steps: list[Step] = []
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        seconds, kind, *rest = line.split("\t")
        if seconds == "..." or kind not in kinds:
            continue
        name, change = rest
        change = re.sub(r"^\[seen [^]]*\] ", "", change)
        one = f"{kind} {name}"
        if change.startswith("ADDED"):
            steps.append((one, "ADDED"))
        if change == "DELETED":
            steps.append((one, "DELETED"))
        for condition, value in _CONDITION.findall(change):
            steps.append((one, f"{condition}={_plain(value.rpartition(' -> ')[2])}"))
        for finalizer in _FINALIZER.findall(change):
            steps.append((one, finalizer))
        if "+.status.currentPrivileges" in change:
            steps.append((one, "privileges"))
    return steps


def _plain(told: str) -> str:
    """`True/Created 'Created'`, without the quotes and escapes of the recording."""
    state, _space, message = told.partition(" ")
    text = message[1:-1] if message[:1] in "'\"" else message
    return f"{state} {text}".replace("\\\\", "\\").replace("\\n", "\n").replace("\\t", "\t")


@dataclass
class Timeline:
    """Watches kinds of objects of a namespace while in the block."""

    bed: Bed
    namespace: str
    kinds: Sequence[str]
    _events: list[tuple[int, str, Object]] = field(default_factory=list)
    _there: dict[str, Object] = field(default_factory=dict)
    _threads: list[threading.Thread] = field(default_factory=list)
    _ends: bool = False

    def __enter__(self) -> Timeline:
        for kind in self.kinds:
            with self.bed.api_as("bed:setup") as api:
                page = api.get(path(kind, self.namespace))
            version = page["metadata"]["resourceVersion"]
            self._there |= {f"{kind} {one['metadata']['name']}": {**one, "kind": kind} for one in page["items"]}
            self._threads.append(threading.Thread(target=self._watch, args=(kind, version), daemon=True))
            self._threads[-1].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends = True
        for thread in self._threads:
            thread.join()

    def _watch(self, kind: str, version: str) -> None:
        with self.bed.api_as("bed:setup") as api:
            while not self._ends:
                # Short ones, each read to its end.
                for event, one in api.watch(path(kind, self.namespace), version, seconds=1):
                    version = one["metadata"]["resourceVersion"]
                    if event != "BOOKMARK":
                        self._events.append((int(version), event, {**one, "kind": kind}))

    def steps(self) -> list[Step]:
        """What happened until now."""
        time.sleep(0.3)  # the last events are on their way
        steps: list[Step] = []
        before = dict(self._there)
        for _version, event, one in sorted(self._events, key=lambda entry: entry[0]):
            name = f"{one['kind']} {one['metadata']['name']}"
            if event == "DELETED":
                before.pop(name, None)
                steps.append((name, "DELETED"))
                continue
            if name not in before:
                steps.append((name, "ADDED"))
            steps += ((name, change) for change in _changes(before.get(name, {}), one))
            before[name] = one
        return steps


def _changes(before: Object, after: Object) -> Iterator[str]:
    def conditions(one: Object) -> Mapping[str, str]:
        found = one.get("status", {}).get("conditions", ())
        return {
            entry["type"]: f"{entry['status']}/{entry.get('reason', '')} {entry.get('message', '')}" for entry in found
        }

    old = conditions(before)
    for kind, told in conditions(after).items():
        if old.get(kind) != told:
            yield f"{kind}={told}"
    if before and not before["metadata"].get("finalizers") and after["metadata"].get("finalizers"):
        yield after["metadata"]["finalizers"][0]
    if not before.get("status", {}).get("currentPrivileges") and after.get("status", {}).get("currentPrivileges"):
        yield "privileges"


def made(steps: Sequence[Step]) -> list[str]:
    """The objects in the order in which they were made."""
    return list(dict.fromkeys(name for name, change in steps if change == "ADDED"))


def of(steps: Sequence[Step], name: str) -> list[str]:
    """What happened to one object."""
    return [change for one, change in steps if one == name]


def ready_before(steps: Sequence[Step]) -> dict[str, frozenset[str]]:
    """The objects that had been Ready when an object was made."""
    ready: set[str] = set()
    found: dict[str, frozenset[str]] = {}
    for name, change in steps:
        if change == "ADDED":
            found.setdefault(name, frozenset(ready))
        if change.startswith("Ready=True/"):
            ready.add(name)
    return found
