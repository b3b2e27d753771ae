# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two snapshots of a cluster, reading by reading (spec/surface.md 1.9)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from ..artifacts.snapshot import Snapshot, Subtype
from ..constraints import scalar_text

SEVERITY = "informational"
"""The only one that the format knows: what a change means for the cluster, its recipe says and not its snapshot."""

_QUOTED = ("context", "items")
"""Keys that begin so are quoted in a path, else they would read as what a subtype has beside its readings."""


class ChangeKind(StrEnum):
    """What has become of a reading."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"


@dataclass(frozen=True)
class Change:
    """A reading that is not what it was.

    :ivar path: where it stands, such as ``K8s.server.version`` or ``NodeTopology.label.items[0].data.value``.
    :ivar baseline: what it was, of its own type; nothing that counts for one that was added.
    :ivar target: what it is; nothing that counts for one that was removed.
    :ivar of_item: whether it is of an item, which one more or less before it moves to another path.
    """

    kind: ChangeKind
    path: str
    baseline: object = None
    target: object = None
    of_item: bool = False

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """Both values as the reference prints them, ``None`` where there is none.

        Values that differ in their type alone (``8`` and ``"8"``) are spelled as JSON, or nobody could tell them apart.
        """
        before = None if self.kind is ChangeKind.ADDED else scalar_text(self.baseline)
        after = None if self.kind is ChangeKind.REMOVED else scalar_text(self.target)
        return (_canonical(self.baseline), _canonical(self.target)) if before == after else (before, after)

    def to_document(self) -> dict[str, str]:
        """The plain form; a value that is absent has no key."""
        before, after = self.texts
        values = {"baseline": before, "target": after}
        return {
            "kind": self.kind.value,
            "severity": SEVERITY,
            "path": self.path,
            **{name: value for name, value in values.items() if value is not None},
        }


@dataclass(frozen=True)
class Drift:
    """All changes, sorted by path.

    :ivar warnings: why some of them may be no change of the cluster.
    """

    changes: tuple[Change, ...]
    warnings: tuple[str, ...] = ()

    def summary(self) -> dict[str, int]:
        """How many readings were added, removed and modified, and all together."""
        counter = Counter(change.kind for change in self.changes)
        return {**{kind.value: counter[kind] for kind in ChangeKind}, "total": len(self.changes)}

    def to_document(self, baseline: str, target: str) -> dict[str, Any]:
        """The report.

        :param baseline: where the snapshot is from that things are compared with.
        :param target: where the other is from.
        """
        return {
            "baselineSource": baseline,
            "targetSource": target,
            "changes": [change.to_document() for change in self.changes],
            "summary": self.summary(),
        }


def compare(baseline: Snapshot, target: Snapshot) -> Drift:
    """What has changed from one snapshot to another.

    A reading is what it was if value and type are. Headers, versions of the format and the order of measurements,
    subtypes and keys are no readings; an item is known by its position.
    """
    before, after = readings(baseline), readings(target)
    places = sorted(before.keys() | after.keys(), key=lambda place: (place.path, place))
    changes = (_change(place, before, after) for place in places)
    return Drift(tuple(change for change in changes if change), tuple(_doubts(baseline, target)))


class Place(NamedTuple):
    """Where a reading stands. The path alone does not tell a dot of a name from one between names.

    :ivar rest: what a path has after type and subtype.
    :ivar repetition: how many subtypes of this name come before its own, which is 0 in a well-formed snapshot.
    """

    type: str
    subtype: str
    rest: str
    repetition: int = 0

    @property
    def path(self) -> str:
        """The path as people read it."""
        return f"{self.type}.{self.subtype}{self.rest}"

    @property
    def of_item(self) -> bool:
        """Whether it is of an item, or their number; a key that begins so is quoted."""
        return self.rest.startswith(".items")


def readings(snapshot: Snapshot) -> dict[Place, object]:
    """Every reading of a snapshot, each with its place; items are counted, too, where there are any."""
    found: dict[Place, object] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for measurement in snapshot.measurements:
        for subtype in measurement.subtypes or ():
            name = (measurement.type, subtype.subtype)
            found |= {Place(*name, rest, seen[name]): value for rest, value in _of_subtype(subtype)}
            seen[name] += 1
    return found


def _of_subtype(subtype: Subtype) -> Iterator[tuple[str, object]]:
    for key, value in (subtype.data or {}).items():
        yield f"[{json.dumps(key, ensure_ascii=False)}]" if key.startswith(_QUOTED) else f".{key}", value
    yield from _of_mapping(".context", subtype.context)
    if subtype.items:
        yield ".items.length", len(subtype.items)
    for position, item in enumerate(subtype.items or ()):
        yield from _of_mapping(f".items[{position}].context", item.context)
        yield from _of_mapping(f".items[{position}].data", item.data)


def _of_mapping(name: str, values: Mapping[str, object] | None) -> Iterator[tuple[str, object]]:
    return ((f"{name}.{key}", value) for key, value in (values or {}).items())


def _change(place: Place, before: Mapping[Place, object], after: Mapping[Place, object]) -> Change | None:
    if place not in before:
        return Change(ChangeKind.ADDED, place.path, None, after[place], place.of_item)
    if place not in after:
        return Change(ChangeKind.REMOVED, place.path, before[place], None, place.of_item)
    if _canonical(before[place]) == _canonical(after[place]):
        return None
    return Change(ChangeKind.MODIFIED, place.path, before[place], after[place], place.of_item)


def _canonical(value: object) -> str:
    """A text that two values share if and only if they are the same, types included: Python takes ``True`` for 1."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _doubts(baseline: Snapshot, target: Snapshot) -> Iterator[str]:
    """What would look like drift, and comes from how the snapshots were taken."""
    for name, snapshot, told in (("baseline", baseline, "added"), ("target", target, "removed")):
        if snapshot.incomplete:
            gaps = "; ".join(snapshot.incomplete)
            yield f"the {name} is incomplete, so what it could not read is told as {told} or modified: {gaps}"
    types = [{part.type for part in snapshot.measurements} for snapshot in (baseline, target)]
    for name, missing in (("baseline", types[1] - types[0]), ("target", types[0] - types[1])):
        if missing:
            yield f"the {name} has not measured {', '.join(sorted(missing))}: take both snapshots in the same way"
    for field, what in (("version", "by different releases"), ("source_node", "on different nodes")):
        told_by = [getattr(snapshot.metadata, field, None) for snapshot in (baseline, target)]
        if all(told_by) and told_by[0] != told_by[1]:
            yield f"the snapshots were taken {what} ({told_by[0]} and {told_by[1]}), which may read different things"
