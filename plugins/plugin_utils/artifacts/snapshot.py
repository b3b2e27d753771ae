# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Snapshot: what was read off a cluster and its nodes (spec/surface.md 2.1, seed *Data transformations*)."""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import invalid
from . import codec, versions


@dataclass(frozen=True)
class SnapshotHeader:
    """When, by which release and on which node the snapshot was taken; volatile, so no part of the digest."""

    timestamp: str | None = None
    version: str | None = None
    source_node: str | None = codec.key("source-node")
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """One of several like things of a subtype, such as a node's value of a label."""

    context: Mapping[str, object] | None = None
    data: Mapping[str, object] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Subtype:
    """The readings of one source. A reading is a scalar; a number or boolean keeps its type."""

    subtype: str
    data: Mapping[str, object] | None = None
    context: Mapping[str, object] | None = None
    items: tuple[Item, ...] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement:
    """All subtypes of one type: ``K8s``, ``GPU``, ``OS``, ``SystemD``, ``NodeTopology``, ``NetworkTopology``."""

    type: str
    subtypes: tuple[Subtype, ...] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Snapshot:
    """A snapshot as read or about to be written.

    :ivar incomplete: gaps that a collector had to leave, by name; none of ours is ever silent.
    """

    measurements: tuple[Measurement, ...]
    metadata: SnapshotHeader | None = None
    api_version: str | None = None
    kind: str | None = None
    incomplete: tuple[str, ...] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

    def subtypes(self, type_name: str, subtype: str) -> Iterator[Subtype]:
        """Every subtype of that name in the first measurement of that type (spec/engine.md 3.1)."""
        for measurement in self.measurements:
            if measurement.type == type_name:
                for candidate in measurement.subtypes or ():
                    if candidate.subtype == subtype:
                        yield candidate
                return

    def reading(self, type_name: str, subtype: str, key: str) -> object | None:
        """The plain reading at a place, or ``None`` if there is none."""
        first = next(self.subtypes(type_name, subtype), None)
        return None if first is None or first.data is None else first.data.get(key)


def snapshot_from_document(document: object, source: str) -> tuple[Snapshot, list[str]]:
    """Decode a snapshot leniently; returns it with warnings about keys that mean nothing to this release.

    :raises AicrError: INVALID_REQUEST: wrong kind or version, no measurements, wrong types.
    """
    if not isinstance(document, dict):
        raise invalid(f"{source}: is not a Snapshot but {codec.type_name(document)}", "take a snapshot first")
    kind = document.get("kind")
    if kind not in (None, "", versions.SNAPSHOT):
        raise invalid(f'{source}: has kind "{kind}" where a "Snapshot" is due', "take a snapshot first")
    problem = versions.version_problem(versions.SNAPSHOT, document.get("apiVersion"), source)
    if problem:
        raise problem
    if not document.get("measurements"):
        raise invalid(f"{source}: contains no measurements, so it is no Snapshot", "take a snapshot first")
    reading = codec.Reading(source, strict=False)
    snapshot = codec.decode(Snapshot, document, reading)
    return snapshot, [*reading.warnings, *_rounded(snapshot, source)]


_VERSION = re.compile(r"version(?:[._-]?id)?$", re.IGNORECASE)


def _rounded(snapshot: Snapshot, source: str) -> Iterator[str]:
    """Versions that were written without quotes: they are read, but 1.30 has become 1.3 by then (case Y1)."""
    for measurement in snapshot.measurements:
        for subtype in measurement.subtypes or ():
            for data in (subtype.data, *(item.data for item in subtype.items or ())):
                for key, value in (data or {}).items():
                    if type(value) is float and _VERSION.search(key):
                        yield (
                            f"{source}: the reading {measurement.type}.{subtype.subtype}.{key} is the number {value}, "
                            "in which a last 0 is lost (1.30 is 1.3); write versions in quotes"
                        )


def snapshot_to_document(snapshot: Snapshot) -> dict[str, Any]:
    """The plain document of a snapshot."""
    document: dict[str, Any] = codec.encode(snapshot)
    return document


def new_snapshot(
    measurements: Iterable[Measurement], header: SnapshotHeader, incomplete: Iterable[str] = ()
) -> Snapshot:
    """A snapshot of this release's written version, measurements sorted by type so that its bytes are stable."""
    return Snapshot(
        measurements=tuple(sorted(measurements, key=lambda measurement: measurement.type)),
        metadata=header,
        api_version=versions.WRITTEN_SNAPSHOT,
        kind=versions.SNAPSHOT,
        incomplete=tuple(sorted(incomplete)) or None,
    )
