# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two snapshots of a cluster, reading by reading (spec/surface.md 1.9)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from ..artifacts.snapshot import Snapshot, Subtype
from ..constraints import scalar_text

SEVERITY = "informational"
"""The only one that the format knows: what a change means for the cluster, its recipe says and not its snapshot."""

_QUOTED = ("context", "items")
"""Keys that begin so are quoted in a path, else they would read as what a subtype has beside its readings."""
_UNFIT = re.compile(r"[\"'\[\]\\\s]")


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
    places = sorted(paths(before.keys() | after.keys()).items(), key=lambda found: found[1])
    changes = (_change(place, path, before, after) for place, path in places)
    return Drift(tuple(change for change in changes if change), tuple(_doubts(baseline, target)))


class Place(NamedTuple):
    """Where a reading stands.

    :ivar repetition: how many subtypes of this name come before its own, which is 0 in a well-formed snapshot.
    :ivar part: ``data``, ``context`` or ``items`` of a subtype.
    :ivar item: the position of the item that has it, and ``data`` or ``context`` of that one.
    :ivar key: empty for the number of items.
    """

    type: str
    subtype: str
    repetition: int
    part: str
    item: tuple[int, str] | None
    key: str

    def path(self, *, quote_dots: bool) -> str:
        """The path as people read it.

        :param quote_dots: whether names with dots are quoted, too.
        """
        text = _step(self.type, quote_dots).removeprefix(".") + _step(self.subtype, quote_dots)
        if self.repetition:
            text += f"[{self.repetition}]"
        if self.part == "data":
            return text + _step(self.key, quote_dots, always=self.key.startswith(_QUOTED))
        text += f".{self.part}"
        if self.item is not None:
            text += f"[{self.item[0]}].{self.item[1]}"
        elif self.part == "items":
            return f"{text}.length"
        return text + _step(self.key, quote_dots)

    @property
    def of_item(self) -> bool:
        """Whether it is of an item, or their number."""
        return self.part == "items"


def visible(text: str) -> str:
    """Text whose control characters, and whatever else has no shape, are spelled as in JSON: a terminal obeys them."""
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def paths(places: Iterable[Place]) -> dict[Place, str]:
    """The path of each place, which is that of no other.

    A dot may belong to a name or stand between two. Names with dots are bare, as the reference prints them, unless
    two places would share a path.
    """
    found = {place: place.path(quote_dots=False) for place in places}
    while True:
        times = Counter(found.values())
        shared = {place: place.path(quote_dots=True) for place, path in found.items() if times[path] > 1}
        if all(found[place] == path for place, path in shared.items()):
            return found
        found |= shared


def readings(snapshot: Snapshot) -> dict[Place, object]:
    """Every reading of a snapshot, each with its place; items are counted, too, where there are any."""
    found: dict[Place, object] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for measurement in snapshot.measurements:
        for subtype in measurement.subtypes or ():
            name = (measurement.type, subtype.subtype)
            place = Place(*name, seen[name], "", None, "")
            for (part, item, key), value in _of_subtype(subtype):
                found[place._replace(part=part, item=item, key=key)] = value
            seen[name] += 1
    return found


_Rest = tuple[str, tuple[int, str] | None, str]


def _of_subtype(subtype: Subtype) -> Iterator[tuple[_Rest, object]]:
    for part, values in (("data", subtype.data), ("context", subtype.context)):
        for key, value in (values or {}).items():
            yield (part, None, key), value
    if subtype.items:
        yield ("items", None, ""), len(subtype.items)
    for position, item in enumerate(subtype.items or ()):
        for part, values in (("context", item.context), ("data", item.data)):
            for key, value in (values or {}).items():
                yield ("items", (position, part), key), value


def _step(name: str, quote_dots: bool, *, always: bool = False) -> str:
    """A name within a path, quoted if it could be taken for something else of it."""
    bare = not always and not (quote_dots and "." in name)
    if bare and name and not _UNFIT.search(name) and name.isprintable():
        return f".{name}"
    return f"[{visible(json.dumps(name, ensure_ascii=False))}]"


def _change(place: Place, path: str, before: Mapping[Place, object], after: Mapping[Place, object]) -> Change | None:
    if place not in before:
        return Change(ChangeKind.ADDED, path, None, after[place], place.of_item)
    if place not in after:
        return Change(ChangeKind.REMOVED, path, before[place], None, place.of_item)
    if _canonical(before[place]) == _canonical(after[place]):
        return None
    return Change(ChangeKind.MODIFIED, path, before[place], after[place], place.of_item)


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
