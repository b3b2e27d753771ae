# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurement ``NodeTopology``: which nodes have which labels and taints (spec/surface.md 3.5, spec/engine.md 8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from sys import intern

from ..artifacts.snapshot import Item
from .findings import Findings
from .read import Object

TYPE = "NodeTopology"


class Topology:
    """Labels and taints of all nodes; each text is kept once, however many labels and nodes have it."""

    def __init__(self) -> None:
        self.count = 0
        self._labels: dict[tuple[str, str], list[str]] = {}
        self._taints: dict[tuple[str, str, str], list[str]] = {}

    def take(self, node: Object) -> None:
        """Add a node."""
        metadata, spec = node.get("metadata") or {}, node.get("spec") or {}
        name = intern(str(metadata.get("name")))
        self.count += 1
        for key, value in (metadata.get("labels") or {}).items():
            self._labels.setdefault((intern(key), intern(value)), []).append(name)
        for taint in spec.get("taints") or ():
            entry = (str(taint.get("key")), str(taint.get("effect", "")), str(taint.get("value") or ""))
            self._taints.setdefault(entry, []).append(name)

    def measure(self, found: Findings, max_nodes_per_entry: int) -> None:
        """Items, which lose nothing, and the same folded into ``data`` for readers of the older form.

        In the folded form a key with several values is ``key.value`` for each. Where that is also the name of another
        label, this other one has the place.

        :param max_nodes_per_entry: name no more nodes in an entry; 0 names all.
        """
        labels = {key: _Nodes(nodes, max_nodes_per_entry) for key, nodes in sorted(self._labels.items())}
        taints = {key: _Nodes(nodes, max_nodes_per_entry) for key, nodes in sorted(self._taints.items())}
        found.add("summary", {"node-count": self.count, "taint-count": len(taints), "label-count": len(labels)})
        found.add("label", _folded_labels(labels), _items(labels.items(), ("key", "value")))
        found.add("taint", _folded_taints(taints), _items(taints.items(), ("key", "effect", "value")))


class _Nodes:
    """The nodes of one entry, as they are written."""

    def __init__(self, names: list[str], most: int) -> None:
        self.count = len(names)
        self.is_cut = 0 < most < self.count
        shown = sorted(names)[: most if self.is_cut else None]
        self.text = ",".join(shown) + (f" (+{self.count - most} more)" if self.is_cut else "")


def _items(entries: Iterable[tuple[tuple[str, ...], _Nodes]], names: tuple[str, ...]) -> Iterator[Item]:
    for key, nodes in entries:
        yield Item(
            context=dict(zip(names, key, strict=True)),
            data={"node-count": nodes.count, "node-list": nodes.text, "truncated": nodes.is_cut},
        )


def _folded_labels(labels: Mapping[tuple[str, str], _Nodes]) -> dict[str, object]:
    values = _count(key for key, _unused in labels)
    folded: dict[str, object] = {}
    for (key, value), nodes in sorted(labels.items(), key=lambda entry: values[entry[0][0]] == 1):
        folded[key if values[key] == 1 else f"{key}.{value}"] = f"{value}|{nodes.text}"
    return folded


def _folded_taints(taints: Mapping[tuple[str, str, str], _Nodes]) -> dict[str, object]:
    kinds = _count(key for key, _unused, _unused in taints)
    folded: dict[str, object] = {}
    for (key, effect, value), nodes in sorted(taints.items(), key=lambda entry: kinds[entry[0][0]] == 1):
        if kinds[key] == 1:
            folded[key] = f"{effect}|{value}|{nodes.text}"
        else:
            folded[f"{key}.{effect}"] = f"{value}|{nodes.text}"
    return folded


def _count(keys: Iterator[str]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for key in keys:
        counted[key] = counted.get(key, 0) + 1
    return counted
