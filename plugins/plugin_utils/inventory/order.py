# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of deployment: Kahn's algorithm, the smallest name first (spec/engine.md 1.10)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from ..artifacts.recipe import ComponentRef
from ..errors import AicrError, invalid, raise_all

GATES = ("enabled", "install")
"""Top-level overrides that take a component out of the runtime inventory when they are ``false``."""


def is_enabled(ref: ComponentRef) -> bool:
    """Whether a component will run; only the boolean ``false`` at a gate switches it off (spec/engine.md 1.10)."""
    overrides = ref.overrides
    return not overrides or all(overrides.get(gate) is not False for gate in GATES)


def deployment_order(refs: Iterable[ComponentRef]) -> tuple[str, ...]:
    """The names of the enabled components, each after everything that it needs.

    An edge to a component that is declared but disabled counts as satisfied from outside.

    :raises AicrError: INVALID_REQUEST: a dependency that is not declared, a cycle among enabled components.
    """
    remaining, dependents = _edges(refs)
    ready = [name for name, count in remaining.items() if not count]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        name = heapq.heappop(ready)
        order.append(name)
        for dependent in dependents.get(name, ()):
            remaining[dependent] -= 1
            if not remaining[dependent]:
                heapq.heappush(ready, dependent)
    if len(order) < len(remaining):
        raise _cycle(set(remaining) - set(order), dependents)
    return tuple(order)


def levels(refs: Iterable[ComponentRef]) -> tuple[tuple[str, ...], ...]:
    """The enabled components by depth: a level needs nothing but earlier levels; sorted within a level.

    :raises AicrError: as :func:`deployment_order`.
    """
    remaining, dependents = _edges(refs)
    found: list[tuple[str, ...]] = []
    level = sorted(name for name, count in remaining.items() if not count)
    while level:
        found.append(tuple(level))
        following = []
        for name in level:
            for dependent in dependents.get(name, ()):
                remaining[dependent] -= 1
                if not remaining[dependent]:
                    following.append(dependent)
        level = sorted(following)
    if sum(map(len, found)) < len(remaining):
        raise _cycle({name for name, count in remaining.items() if count}, dependents)
    return tuple(found)


def _edges(refs: Iterable[ComponentRef]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """How many enabled components each one waits for, and who waits for whom."""
    declared = {ref.name: ref for ref in refs}
    enabled = {name for name, ref in declared.items() if is_enabled(ref)}
    remaining = dict.fromkeys(enabled, 0)
    dependents: dict[str, list[str]] = {}
    problems: list[AicrError] = []
    for name, ref in declared.items():
        for dependency in dict.fromkeys(ref.dependency_refs or ()):
            if dependency not in declared:
                problems.append(_unknown(name, dependency, declared))
            elif name in enabled and dependency in enabled:
                remaining[name] += 1
                dependents.setdefault(dependency, []).append(name)
    raise_all(problems)
    return remaining, dependents


def _unknown(name: str, dependency: str, declared: Mapping[str, ComponentRef]) -> AicrError:
    return invalid(
        f'component "{name}" depends on "{dependency}", which the recipe does not declare',
        f'add component "{dependency}" to the recipe, or drop it from dependencyRefs of "{name}"',
        component=name,
        dependency=dependency,
        declared=sorted(declared),
    )


def _cycle(stuck: set[str], dependents: Mapping[str, list[str]]) -> AicrError:
    """Name one cycle; every stuck component waits for another stuck one, so walking back must close a circle."""
    waits_for = {name: sorted(other for other in stuck if name in dependents.get(other, ())) for name in stuck}
    walk = [min(stuck)]
    while walk[-1] not in walk[:-1]:
        walk.append(waits_for[walk[-1]][0])
    circle = walk[walk.index(walk[-1]) :]
    start = circle.index(min(circle))
    circle = circle[start:-1] + circle[:start] + [min(circle)]
    return invalid(
        f"components depend on each other in a circle: {' -> '.join(circle)}",
        "drop one of these dependencies",
        cycle=circle,
    )
