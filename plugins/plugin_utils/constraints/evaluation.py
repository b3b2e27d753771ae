# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a constraint against a snapshot, failing closed (spec/engine.md 3.1, 3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.recipe import Constraint
from ..artifacts.snapshot import Item, Snapshot, Subtype
from ..errors import AicrError, conflict, not_found
from .expression import Expression
from .node_set import GPU_NODES_LABEL, LabelRule, judge_gpu_nodes, shortened
from .path import ConstraintPath, Predicate
from .scalar import scalar_text


@dataclass(frozen=True)
class Evaluation:
    """What became of a constraint.

    :ivar expected: the constraint's expression as written.
    :ivar actual: the reading as text; where nodes differ, each reading with its nodes (of a failure the failing ones).
    :ivar nodes: all nodes that fail, where the reading belongs to nodes.
    """

    passed: bool
    expected: str
    actual: str
    nodes: tuple[str, ...] = ()


def evaluate(constraint: Constraint, snapshot: Snapshot) -> Evaluation:
    """Whether a constraint holds in a snapshot. ``severity`` changes nothing (spec/engine.md 3.5).

    :raises AicrError: NOT_FOUND: the snapshot lacks the reading; CONFLICT: a predicate fits several items;
        INVALID_REQUEST: path, expression or reading make no sense together. None of these is a pass or a plain fail.
    """
    if constraint.name == GPU_NODES_LABEL:
        outcome = judge_gpu_nodes(LabelRule.parse(constraint.value), snapshot)
        return Evaluation(not outcome.failing, constraint.value, outcome.actual, outcome.failing)
    path = ConstraintPath.parse(constraint.name)
    try:
        expression = Expression.parse(constraint.value)
    except AicrError as error:
        raise _of_constraint(path, error) from error
    subtype = _subtype(path, snapshot)
    if path.selector is not None:
        reading = _item_reading(path, subtype.items or ())
    else:
        reading = (subtype.data or {}).get(path.key)
        per_node = _by_node(path.key, subtype) if reading is None else {}
        if per_node:
            return _evaluate_nodes(path, constraint.value, expression, per_node)
    if reading is None:
        raise _missing(path, f'the snapshot\'s "{path.type}.{path.subtype}" has no such key')
    actual = scalar_text(reading)
    return Evaluation(_holds(path, expression, actual), constraint.value, actual)


def read(name: str, snapshot: Snapshot) -> object:
    """The reading at a constraint path.

    :raises AicrError: NOT_FOUND: the snapshot lacks it; CONFLICT: a predicate fits several items, or nodes differ;
        INVALID_REQUEST: the path is none.
    """
    path = ConstraintPath.parse(name)
    subtype = _subtype(path, snapshot)
    if path.selector is not None:
        reading = _item_reading(path, subtype.items or ())
    else:
        reading = (subtype.data or {}).get(path.key)
        per_node = _by_node(path.key, subtype) if reading is None else {}
        if per_node:
            raise conflict(
                f"{path}: nodes differ: {', '.join(sorted({scalar_text(one) for one in per_node.values()}))}",
                f"name the node: {path.type}.{path.subtype}[node={min(per_node)}].{path.key}",
            )
    if reading is None:
        raise _missing(path, f'the snapshot\'s "{path.type}.{path.subtype}" has no such key')
    return reading


def _evaluate_nodes(
    path: ConstraintPath, expected: str, expression: Expression, per_node: Mapping[str, object]
) -> Evaluation:
    without = tuple(sorted(node for node, reading in per_node.items() if reading is None))
    if without:
        raise _missing(path, f"node(s) {shortened(without)} have no such reading, others do")
    nodes_of: dict[str, list[str]] = {}
    for node in sorted(per_node):
        nodes_of.setdefault(scalar_text(per_node[node]), []).append(node)
    failing = [actual for actual in nodes_of if not _holds(path, expression, actual, nodes_of[actual])]
    shown = "; ".join(f"{actual} on {shortened(tuple(nodes_of[actual]))}" for actual in failing or nodes_of)
    return Evaluation(not failing, expected, shown, tuple(sorted(node for text in failing for node in nodes_of[text])))


def _subtype(path: ConstraintPath, snapshot: Snapshot) -> Subtype:
    found = next(snapshot.subtypes(path.type, path.subtype), None)
    if found is not None:
        return found
    if any(measurement.type == path.type for measurement in snapshot.measurements):
        raise _missing(path, f'the snapshot\'s measurements of type {path.type} have no subtype "{path.subtype}"')
    raise _missing(path, f"the snapshot has no measurements of type {path.type}")


def _by_node(key: str, subtype: Subtype) -> dict[str, object]:
    """A reading that differs between nodes, by node; ``None`` on a node that lacks it. Empty if it is not such a one.

    ``merge_snapshots`` leaves such readings out of ``data`` and gives each node an item of its own.
    """
    readings: dict[str, object] = {}
    for item in subtype.items or ():
        node = (item.context or {}).get("node")
        if isinstance(node, str):
            reading = (item.data or {}).get(key)
            readings[node] = readings.get(node) if reading is None else reading
    return readings if any(reading is not None for reading in readings.values()) else {}


def _item_reading(path: ConstraintPath, items: Sequence[Item]) -> object | None:
    if isinstance(path.selector, Predicate):
        key, value = path.selector
        fitting = [item for item in items if (found := _in_item(item, key)) is not None and scalar_text(found) == value]
        if len(fitting) > 1:
            raise conflict(f"constraint {path}: {len(fitting)} items have {key}={value}, one is due", path=str(path))
        if not fitting:
            raise _missing(path, f"the snapshot has no item with {key}={value}")
        return _in_item(fitting[0], path.key)
    position = path.selector or 0
    if position >= len(items):
        raise _missing(path, f"the snapshot has {len(items)} items")
    return _in_item(items[position], path.key)


def _in_item(item: Item, key: str) -> object | None:
    found = (item.data or {}).get(key)
    return (item.context or {}).get(key) if found is None else found


def _holds(path: ConstraintPath, expression: Expression, actual: str, nodes: Sequence[str] = ()) -> bool:
    try:
        return expression.holds(actual)
    except AicrError as error:
        raise _of_constraint(path, error, f" (node(s) {shortened(tuple(nodes))})" if nodes else "") from error


def _of_constraint(path: ConstraintPath, error: AicrError, where: str = "") -> AicrError:
    return AicrError(error.code, f"constraint {path}: {error.message}{where}", error.hint, {"path": str(path)})


def _missing(path: ConstraintPath, why: str) -> AicrError:
    hint = "collect it in the snapshot, or take the constraint out of the recipe"
    return not_found(f"constraint {path}: {why}", hint, path=str(path))
