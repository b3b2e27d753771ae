# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One snapshot of a cluster out of those of its nodes (DESIGN, *Surfaces*).

A reading that is the same on every node stands in ``data``, as if there were one node. One that differs, or that a node
lacks, stands in ``items``, one for each node: a constraint on it must then hold on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import AicrError, conflict, invalid, raise_all
from . import versions
from .snapshot import Item, Measurement, Snapshot, SnapshotHeader, Subtype, new_snapshot

NODE_TYPES = frozenset({"GPU", "OS", "SystemD"})
"""Measurement types that describe a node; all others describe the cluster."""


def merge_snapshots(snapshots: Sequence[Snapshot]) -> Snapshot:
    """The snapshot of the cluster; the order of its parts makes no difference.

    :param snapshots: of nodes, each with its name in the header, or one that is merged already; and at most one that
        measured the cluster.
    :raises AicrError: INVALID_REQUEST if there is none, or a node has no name or is merged already, CONFLICT if two are
        of one node or measured the same type of the cluster differently.
    """
    if not snapshots:
        raise invalid("there is no snapshot to merge")
    merged = _merged_already(snapshots)
    nodes = {} if merged else _nodes(snapshots)
    measurements = [_of_cluster(snapshots), merged or _of_nodes(nodes)]
    names = tuple(nodes)
    stamps = [taken.metadata.timestamp for taken in snapshots if taken.metadata and taken.metadata.timestamp]
    header = SnapshotHeader(max(stamps, default=None), versions.RELEASE, names[0] if len(names) == 1 else None)
    gaps = {gap for taken in snapshots if taken not in nodes.values() for gap in taken.incomplete or ()}
    gaps |= {f"{name}: {gap}" for name, taken in nodes.items() for gap in taken.incomplete or ()}
    return new_snapshot([part for parts in measurements for part in parts], header, gaps)


def differing(snapshot: Snapshot) -> tuple[str, ...]:
    """What is not the same on all nodes, as paths of readings, sorted."""
    return tuple(
        sorted(
            {
                f"{part.type}.{subtype.subtype}.{key}"
                for part in snapshot.measurements
                if part.type in NODE_TYPES
                for subtype in part.subtypes or ()
                for item in subtype.items or ()
                for key in item.data or ()
            }
        )
    )


def _merged_already(snapshots: Sequence[Snapshot]) -> list[Measurement]:
    """What is known of nodes if a single snapshot says all of it and names no node: there is nothing to merge."""
    measured = [taken for taken in snapshots if any(part.type in NODE_TYPES for part in taken.measurements)]
    if len(measured) != 1 or (measured[0].metadata and measured[0].metadata.source_node):
        return []
    return [part for part in measured[0].measurements if part.type in NODE_TYPES]


def _nodes(snapshots: Sequence[Snapshot]) -> dict[str, Snapshot]:
    """Those that measured a node, by its name, sorted."""
    found: dict[str, Snapshot] = {}
    problems: list[AicrError] = []
    for position, taken in enumerate(snapshots):
        measured = [part for part in taken.measurements if part.type in NODE_TYPES]
        name = taken.metadata.source_node if taken.metadata else None
        if not measured:
            continue
        if not name:
            problems.append(invalid(f"snapshot {position + 1} does not say of which node it is (metadata.source-node)"))
        elif name in found:
            problems.append(conflict(f'two snapshots are of node "{name}"', "give each node once"))
        else:
            found[name] = taken
        if any(subtype.items for part in measured for subtype in part.subtypes or ()):
            problems.append(
                invalid(f"snapshot {position + 1} is merged already", "merge the snapshots of the nodes, all at once")
            )
    raise_all(problems)
    return dict(sorted(found.items()))


def _of_cluster(snapshots: Sequence[Snapshot]) -> list[Measurement]:
    found: dict[str, Measurement] = {}
    for taken in snapshots:
        for part in taken.measurements:
            if part.type not in NODE_TYPES and found.setdefault(part.type, part) != part:
                raise conflict(
                    f"the snapshots do not agree on {part.type}, which is a property of the cluster",
                    "measure the cluster once",
                )
    return list(found.values())


def _of_nodes(nodes: Mapping[str, Snapshot]) -> list[Measurement]:
    readings: dict[str, dict[str, dict[str, Mapping[str, object]]]] = {}
    for name, taken in nodes.items():
        for part in taken.measurements:
            for subtype in (part.subtypes or ()) if part.type in NODE_TYPES else ():
                readings.setdefault(part.type, {}).setdefault(subtype.subtype, {})[name] = subtype.data or {}
    return [
        Measurement(kind, tuple(_subtype(name, by_node, tuple(nodes)) for name, by_node in sorted(subtypes.items())))
        for kind, subtypes in readings.items()
    ]


def _subtype(name: str, by_node: Mapping[str, Mapping[str, object]], nodes: Sequence[str]) -> Subtype:
    first = by_node.get(nodes[0], {})
    common = {
        key: value for key, value in first.items() if all(_same(by_node.get(node, {}), key, value) for node in nodes)
    }
    rest = {node: {key: value for key, value in by_node.get(node, {}).items() if key not in common} for node in nodes}
    items = tuple(Item({"node": node}, rest[node]) for node in nodes) if any(rest.values()) else None
    return Subtype(name, common or None, items=items)


def _same(data: Mapping[str, object], key: str, value: object) -> bool:
    """Python takes ``True`` for 1; a reading is one or the other."""
    return key in data and data[key] == value and isinstance(data[key], bool) == isinstance(value, bool)
