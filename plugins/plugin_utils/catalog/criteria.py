# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Criteria as a user states them become criteria that select overlays (spec/engine.md 1.1)."""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..artifacts import codec
from ..artifacts.config import ConfigCriteria
from ..artifacts.recipe import ANY, AXES, MAX_NODES, Criteria
from ..constraints import nearest
from ..errors import AicrError, invalid, raise_all

if TYPE_CHECKING:
    from .catalog import Catalog

KNOWN: Mapping[str, tuple[str, ...]] = {
    "service": ("eks", "gke", "aks", "oke", "kind", "lke", "bcm", "ocp", "metal3"),
    "accelerator": ("h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s", "rtx-pro-6000"),
    "intent": ("training", "inference"),
    "os": ("ubuntu", "rhel", "cos", "amazonlinux", "ol", "talos"),
    "platform": ("dynamo", "kubeflow", "nim", "runai", "slurm"),
}
"""The values that are valid in every catalog; the overlays of a catalog add their own."""

_ALIASES: Mapping[str, Mapping[str, str]] = {
    "service": {"self-managed": ANY, "self": ANY, "vanilla": ANY, "openshift": "ocp"},
    "os": {"al2": "amazonlinux", "al2023": "amazonlinux"},
}


def normalize(axis: str, text: str) -> str:
    """The canonical spelling of a value; empty is ``any``."""
    word = text.strip().lower()
    return _ALIASES.get(axis, {}).get(word, word) or ANY


def normalized(criteria: Criteria) -> Criteria:
    """The criteria of an overlay in canonical spelling; an absent axis stays absent."""
    axes: dict[str, Any] = {axis: normalize(axis, value) for axis in AXES if (value := getattr(criteria, axis))}
    return dataclasses.replace(criteria, **axes)


def values_of(criteria: Iterable[Criteria]) -> dict[str, frozenset[str]]:
    """The valid values by axis: :data:`KNOWN` and those that the overlays' criteria state."""
    values = {axis: set(known) for axis, known in KNOWN.items()}
    for one in criteria:
        for axis, value in one.stated().items():
            values[axis].add(value)
    return {axis: frozenset(found) for axis, found in values.items()}


def parse(
    raw: Mapping[str, object] | ConfigCriteria, catalog: Catalog, strict: bool = False, source: str = "criteria"
) -> Criteria:
    """The criteria that a user stated, in canonical spelling; what is not stated is ``any``.

    :param raw: text by axis, and ``nodes`` as a whole number (or its digits) from 0, which means any.
    :param catalog: its overlays add valid values.
    :param strict: leave out the values that only overlays of an external catalog add.
    :param source: what to call the criteria in messages.
    :raises AicrError: INVALID_REQUEST with every unknown axis, unknown value and wrong type; lists what is valid.
    """
    stated = {name: value for name, value in _items(raw) if value is not None}
    problems: list[AicrError] = []
    axes: dict[str, str] = {}
    valid = catalog.criteria_values(strict)
    for name in sorted(set(stated) - {*AXES, "nodes"}):
        problems.append(invalid(f'{source}: "{name}" is no criterion', _meant(name, (*AXES, "nodes"))))
    for axis in AXES:
        value = stated.get(axis, ANY)
        if not isinstance(value, str):
            problems.append(
                invalid(
                    f"{source}: {axis} must be text, not {codec.type_name(value)}",
                    f"valid: {', '.join(sorted(valid[axis]))}",
                )
            )
            continue
        axes[axis] = normalize(axis, value)
        if axes[axis] != ANY and axes[axis] not in valid[axis]:
            problems.append(
                invalid(
                    f'{source}: {axis} "{value}" is not known',
                    _meant(axes[axis], sorted(valid[axis])),
                    axis=axis,
                    value=value,
                    valid=sorted(valid[axis]),
                )
            )
    nodes = read_nodes(stated.get("nodes", 0), source, problems)
    raise_all(problems)
    return Criteria(**axes, nodes=nodes or None)


def _items(raw: Mapping[str, object] | ConfigCriteria) -> Iterable[tuple[str, object]]:
    if isinstance(raw, ConfigCriteria):
        return ((each.name, getattr(raw, each.name)) for each in dataclasses.fields(raw))
    return ((str(name), value) for name, value in raw.items())


def read_nodes(value: object, source: str, problems: list[AicrError]) -> int:
    """The number of nodes that criteria state.

    :param source: what to call the criteria in messages.
    :param problems: gets what is wrong with it; the number is 0 then.
    """
    if isinstance(value, str) and value.strip().isdecimal() and len(value) <= len(str(MAX_NODES)):
        value = int(value)
    if type(value) is int and 0 <= value <= MAX_NODES:
        return value
    problems.append(
        invalid(
            f"{source}: nodes must be a whole number from 0 to {MAX_NODES}, not {codec.shown_number(value)}",
            "0 or absent says nothing",
        )
    )
    return 0


def _meant(value: str, valid: Iterable[str]) -> str:
    names = list(valid)
    meant = nearest(value, names)
    start = f'did you mean "{meant}"? ' if meant else ""
    return f"{start}valid: {', '.join(names)}"
