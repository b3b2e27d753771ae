# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The constraint ``NodeTopology.gpu-nodes.label``: what the labels of all GPU nodes must say (spec/engine.md 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..artifacts.snapshot import Item, Snapshot, Subtype
from ..errors import AicrError, invalid, not_found
from .scalar import scalar_text

GPU_NODES_LABEL = "NodeTopology.gpu-nodes.label"
"""A reading that no collector emits: it is derived from all labels, and dispatched by this exact name."""

GPU_LABEL = "cloud.google.com/gke-accelerator"
"""On a GPU node of GKE from the pool's creation on, before any operator ran."""

_NAME = re.compile(r"(?=.{1,63}$)[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_CUT_SHORT = re.compile(r"\(\+[0-9]+ more\)")
_RETAKE = "take the snapshot again without a limit of nodes per entry"


@dataclass(frozen=True)
class LabelRule:
    """``key=value``: every GPU node has exactly this; ``!key``: none has the key.

    :ivar value: ``None`` for the second form; empty is a value that Kubernetes allows.
    """

    key: str
    value: str | None

    @classmethod
    def parse(cls, text: str) -> LabelRule:
        """Read a rule; its key and value must be such as a node can carry, else ``!key`` would hold of itself.

        :raises AicrError: INVALID_REQUEST.
        """
        bare = text.strip()
        if bare.startswith("!"):
            rule = cls(bare[1:].strip(), None)
        else:
            key, equals, value = bare.partition("=")
            rule = cls(key, value if equals else None)
            if not equals:
                raise _no_rule(text)
        prefix, slash, name = rule.key.rpartition("/")
        prefix_fits = bool(_SUBDOMAIN.fullmatch(prefix)) if slash else True
        if not (prefix_fits and _NAME.fullmatch(name) and (not rule.value or _NAME.fullmatch(rule.value))):
            raise _no_rule(text)
        return rule


@dataclass(frozen=True)
class NodeSetOutcome:
    """What the nodes say: a sentence, and which of them contradict the rule."""

    actual: str
    failing: tuple[str, ...]


def judge_gpu_nodes(rule: LabelRule, snapshot: Snapshot) -> NodeSetOutcome:
    """Hold a rule against all GPU nodes of a snapshot.

    :raises AicrError: NOT_FOUND: no labels, or no GPU node among them; INVALID_REQUEST: readings that are cut short,
        malformed or ambiguous. A rule never holds for want of knowledge.
    """
    labels = next(snapshot.subtypes("NodeTopology", "label"), None)
    if labels is None:
        raise not_found(f"constraint {GPU_NODES_LABEL}: the snapshot has no labels of nodes", "collect topology")
    gpu_nodes = {node for nodes in _nodes_by_value(labels, GPU_LABEL).values() for node in nodes}
    if not gpu_nodes:
        raise not_found(
            f'constraint {GPU_NODES_LABEL}: no node carries the label "{GPU_LABEL}", so the set of GPU nodes is empty',
            "take the snapshot of a cluster with GPU node pools",
        )
    by_value = _nodes_by_value(labels, rule.key)
    if rule.value is None:
        failing = gpu_nodes.intersection(*[[node for nodes in by_value.values() for node in nodes]])
        finding, all_well = f"carry label {rule.key}", f"none of {len(gpu_nodes)} GPU node(s) carry label {rule.key}"
    else:
        stated = f"{rule.key}={rule.value}"
        failing = gpu_nodes.difference(by_value.get(rule.value, ()))
        finding, all_well = f"missing {stated}", f"all {len(gpu_nodes)} GPU node(s) carry {stated}"
    if not failing:
        return NodeSetOutcome(all_well, ())
    names = tuple(sorted(failing))
    return NodeSetOutcome(f"{len(names)} of {len(gpu_nodes)} GPU node(s) {finding}: {shortened(names)}", names)


def shortened(nodes: tuple[str, ...], most: int = 5) -> str:
    """Names of nodes for a message, the first few of many."""
    more = f" (+{len(nodes) - most} more)" if len(nodes) > most else ""
    return ",".join(nodes[:most]) + more


def _nodes_by_value(labels: Subtype, key: str) -> dict[str, tuple[str, ...]]:
    """Value to nodes of one label; items say it without loss, the folded data is for snapshots that have none."""
    if labels.items:
        return _partition(key, [_from_item(item, key) for item in labels.items if _text(item.context, "key") == key])
    return _from_folded(labels.data or {}, key)


def _from_item(item: Item, key: str) -> tuple[str, tuple[str, ...]]:
    data = item.data or {}
    if data.get("truncated") not in (None, False, "false"):
        raise _cut_short(key)
    nodes = _node_names(key, _text(data, "node-list"))
    if "node-count" in data and scalar_text(data["node-count"]) != str(len(nodes)):
        raise _malformed(key)
    return _text(item.context, "value"), nodes


def _from_folded(data: Mapping[str, object], key: str) -> dict[str, tuple[str, ...]]:
    """Labels folded to ``value|nodes`` under the key, or under ``key.value`` each where it has several values.

    The second form looks like a label whose own name is ``key.value``. A single such entry, or one node under two
    values, can come of either, so both are refused.
    """
    if key in data:
        value, nodes = _unfold(key, data[key])
        return {value: _node_names(key, nodes)}
    candidates = [(name, *_unfold(name, data[name])) for name in data if name.startswith(f"{key}.")]
    several = [(name, value, nodes) for name, value, nodes in candidates if name == f"{key}.{value}"]
    if len(several) == 1:
        raise invalid(
            f'constraint {GPU_NODES_LABEL}: the reading "{several[0][0]}" is ambiguous, it may be a label of that name'
            f' or what is left of "{key}"',
            "take the snapshot again with this release, which keeps labels apart",
        )
    return _partition(key, [(value, _node_names(name, nodes)) for name, value, nodes in several])


def _partition(key: str, entries: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    by_value: dict[str, tuple[str, ...]] = {}
    value_of: dict[str, str] = {}
    for value, nodes in entries:
        by_value[value] = by_value.get(value, ()) + nodes
        for node in nodes:
            if value_of.setdefault(node, value) != value:
                raise invalid(
                    f'constraint {GPU_NODES_LABEL}: the label "{key}" is ambiguous, node "{node}" has the values'
                    f' "{value_of[node]}" and "{value}"',
                    "take the snapshot again with this release, which keeps labels apart",
                )
    return by_value


def _unfold(name: str, reading: object) -> tuple[str, str]:
    value, separator, nodes = scalar_text(reading).partition("|")
    if not separator:
        raise _malformed(name)
    return value, nodes


def _node_names(name: str, text: str) -> tuple[str, ...]:
    if _CUT_SHORT.search(text):
        raise _cut_short(name)
    nodes = tuple(text.split(","))
    if not all(_SUBDOMAIN.fullmatch(node) for node in nodes):
        raise _malformed(name)
    return nodes


def _text(readings: Mapping[str, object] | None, key: str) -> str:
    if readings is None or readings.get(key) is None:
        raise invalid(f'constraint {GPU_NODES_LABEL}: an item of the labels has no "{key}"', _RETAKE)
    return scalar_text(readings[key])


def _cut_short(name: str) -> AicrError:
    return invalid(f'constraint {GPU_NODES_LABEL}: the reading "{name}" is truncated, not all nodes are known', _RETAKE)


def _malformed(name: str) -> AicrError:
    return invalid(
        f'constraint {GPU_NODES_LABEL}: the reading "{name}" is malformed, a value and names of nodes are due', _RETAKE
    )


def _no_rule(text: str) -> AicrError:
    return invalid(
        f'constraint {GPU_NODES_LABEL}: "{text}" is neither key=value nor !key with a valid label key and value',
        "write what every GPU node must carry, such as pool=gpu, or what none may, such as !pool",
    )
