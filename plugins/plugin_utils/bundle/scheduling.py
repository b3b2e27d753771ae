# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the pods of a bundle go: selectors, tolerations, storage classes, into the paths that the registry names.

The rules are those of spec/engine.md 4.2; what the recipe says on purpose beats a default (case N33).
"""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..artifacts.codec import shown_number, type_name
from ..artifacts.recipe import MAX_NODES
from ..catalog.registry import Component
from ..errors import AicrError, invalid, raise_all
from ..ownership.paths import segments
from .value_path import ABSENT, Blocked, Path, Values, blocked_problem, dotted, find, meets, put

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
TOLERATE_ALL: Mapping[str, object] = {"operator": "Exists"}

OBJECT_NAME = re.compile(r"(?!.{254})[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_LABEL_KEY = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?", re.ASCII
)
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?", re.ASCII)

Toleration = Mapping[str, object]
Selector = Mapping[str, str]


@dataclass(frozen=True)
class Taint:
    """A taint, or the toleration of one: ``key=value:effect``."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"

    def toleration(self) -> Toleration:
        """What a pod says to be let onto such a node."""
        operator = {"operator": "Equal", "value": self.value} if self.value else {"operator": "Exists"}
        return {"effect": self.effect, "key": self.key, **operator}


@dataclass(frozen=True)
class Scheduling:
    """What a request says about placement. Tolerations that are ``None`` mean the default: tolerate every taint.

    :ivar nodes: the expected number of nodes; 0 says nothing.
    """

    system_node_selector: Selector = field(default_factory=dict)
    system_node_tolerations: Sequence[Toleration] | None = None
    accelerated_node_selector: Selector = field(default_factory=dict)
    accelerated_node_tolerations: Sequence[Toleration] | None = None
    workload_selector: Selector = field(default_factory=dict)
    workload_gate: Taint | None = None
    nodes: int = 0
    storage_class: str = ""
    shared_storage_class: str = ""


def read_scheduling(given: Mapping[str, object]) -> Scheduling:
    """The ``scheduling`` option: selectors as mappings or ``key=value``, tolerations as ``key=value:effect``.

    :raises AicrError: INVALID_REQUEST with everything that is wrong: unknown keys, wrong types, names that Kubernetes
        does not take.
    """
    problems: list[AicrError] = []
    fields: dict[str, object] = {}
    for name, value in given.items():
        read = _READERS.get(name)
        if read is None:
            problems.append(
                invalid(f'scheduling: unknown key "{name}"', f"known keys: {', '.join(_READERS)}", key=name)
            )
        elif value is not None:
            try:
                fields[name] = read(f"scheduling.{name}", value)
            except AicrError as error:
                problems.append(error)
    raise_all(problems)
    return Scheduling(**fields)  # type: ignore[arg-type]


def _selector(place: str, value: object) -> Selector:
    if isinstance(value, Mapping):
        pairs: list[tuple[object, object]] = list(value.items())
    elif isinstance(value, (list, tuple)):
        pairs = [_label(place, entry) for entry in value]
    else:
        raise invalid(f"{place}: must be a mapping of labels, not {type_name(value)}", "write {key: value}")
    for key, text in pairs:
        if not isinstance(key, str) or not _LABEL_KEY.fullmatch(key):
            raise invalid(f'{place}: "{key}" is no label key', "write key=value")
        if not isinstance(text, str):
            raise invalid(
                f"{place}: the value of {key} must be text, not {type_name(text)}", f'write it in quotes: "{text}"'
            )
        if not _LABEL_VALUE.fullmatch(text):
            raise invalid(f'{place}: "{text}" is no label value', "at most 63 letters, digits, - _ and dots")
    return {str(key): str(text) for key, text in pairs}


def _label(place: str, entry: object) -> tuple[object, object]:
    key, separator, text = str(entry).partition("=")
    if not separator:
        raise invalid(f'{place}: "{entry}" is no label', "write key=value")
    return key, text


def _tolerations(place: str, value: object) -> tuple[Toleration, ...]:
    if not isinstance(value, (list, tuple)):
        raise invalid(f"{place}: must be a list, not {type_name(value)}", "write [key=value:effect]")
    return tuple(TOLERATE_ALL if entry == "*" else _taint(place, entry).toleration() for entry in value)


def _taint(place: str, value: object) -> Taint:
    form = "write key=value:effect or key:effect"
    if not isinstance(value, str):
        raise invalid(f"{place}: must be text, not {type_name(value)}", form)
    left, separator, effect = value.partition(":")
    key, _unused, text = left.partition("=")
    if not separator or ":" in effect:
        raise invalid(f'{place}: "{value}" is no taint', form)
    if not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(text):
        raise invalid(f'{place}: "{value}" has a key or value that no taint can have', form)
    if effect not in EFFECTS:
        raise invalid(f'{place}: "{effect}" of "{value}" is no effect', f"effects: {', '.join(EFFECTS)}")
    return Taint(key, text, effect)


def _gate(place: str, value: object) -> Taint | None:
    return None if value == "" else _taint(place, value)


def _nodes(place: str, value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_NODES:
        raise invalid(
            f"{place}: must be a whole number from 0 to {MAX_NODES}, not {shown_number(value)}",
            "0 or absent says nothing",
        )
    return value


def _class_name(place: str, value: object) -> str:
    if not isinstance(value, str):
        raise invalid(f"{place}: must be text, not {type_name(value)}")
    if value and not OBJECT_NAME.fullmatch(value):
        raise invalid(f'{place}: "{value}" is no name of a StorageClass', "lower-case letters, digits, - and dots")
    return value


_READERS = {
    "system_node_selector": _selector,
    "system_node_tolerations": _tolerations,
    "accelerated_node_selector": _selector,
    "accelerated_node_tolerations": _tolerations,
    "workload_selector": _selector,
    "workload_gate": _gate,
    "nodes": _nodes,
    "storage_class": _class_name,
    "shared_storage_class": _class_name,
}


@dataclass(frozen=True)
class Stated:
    """What recipe and user say themselves about a component's values; injection yields to it.

    :ivar values: the recipe's own overrides with ``values`` and ``set`` on top, without the component's files.
    :ivar paths: the paths that ``values`` and ``set`` name.
    :ivar dynamic: the paths that get their value when the bundle is installed.
    """

    values: Values
    paths: Sequence[Path] = ()
    dynamic: Iterable[Path] = ()

    def by_user(self, path: Path) -> bool:
        """Whether the user said something at, above or below a path, or defers it to the installation."""
        return path in self.dynamic or any(meets(path, named) for named in self.paths)

    def opted_out(self, path: Path) -> bool:
        """Whether recipe or user left a path empty on purpose."""
        value = find(self.values, path)
        return value is not ABSENT and (value is None or value in ([], {}, ""))


class Injection:
    """The placement of one component's pods, put into its values step by step."""

    def __init__(self, component: Component, values: Values, stated: Stated) -> None:
        self.component = component
        self.values: Values = values
        self.stated = stated
        self.problems: list[AicrError] = []
        self.notes: list[str] = []

    def place(self, scheduling: Scheduling) -> None:
        """Put in everything that a request says, in the order of spec/engine.md 4.2."""
        nodes, pods = self.component.node_scheduling, self.component.pod_scheduling
        self._select(nodes.system.node_selector_paths, scheduling.system_node_selector)
        self._tolerate(nodes.system.toleration_paths, scheduling.system_node_tolerations, "system_node_tolerations")
        self._select(nodes.accelerated.node_selector_paths, scheduling.accelerated_node_selector)
        self._tolerate(
            nodes.accelerated.toleration_paths, scheduling.accelerated_node_tolerations, "accelerated_node_tolerations"
        )
        self._select(pods.workload.workload_selector_paths, scheduling.workload_selector)
        gate = scheduling.workload_gate
        self._set(nodes.accelerated.taint_str_paths, str(gate) if gate else "")
        self._set(nodes.node_count_paths, scheduling.nodes)
        self._set(self.component.storage_class_paths, scheduling.storage_class)
        self._set(self.component.shared_storage_class_paths, scheduling.shared_storage_class)

    def _select(self, paths: Iterable[str], selector: Selector) -> None:
        for path in self._open(paths) if selector else ():
            if not self.stated.opted_out(path):
                self._put(path, dict(selector))

    def _set(self, paths: Iterable[str], value: object) -> None:
        for path in self._open(paths) if value else ():
            self._put(path, value)

    def _open(self, paths: Iterable[str]) -> Iterable[Path]:
        for path in map(segments, paths):
            if not self.stated.by_user(path):
                yield path

    def _tolerate(self, paths: Iterable[str], given: Sequence[Toleration] | None, option: str) -> None:
        for path in map(segments, paths):
            if path in self.stated.dynamic:
                continue
            if self.stated.opted_out(path):
                if given is not None:
                    place = f"{self.component.name}:{dotted(path)}"
                    self.notes.append(
                        f"{place} is empty on purpose in the recipe, so scheduling.{option} is not added there; "
                        f"give the list with set_json {place} if it is due"
                    )
                continue
            stated = find(self.stated.values, path)
            if stated is ABSENT:
                self._put(path, [dict(one) for one in ((TOLERATE_ALL,) if given is None else given)])
            elif not isinstance(stated, list):
                self.problems.append(
                    invalid(
                        f"{self.component.name}:{dotted(path)} must be a list of tolerations, not {type_name(stated)}",
                        f"give the whole list with set_json {self.component.name}:{dotted(path)}",
                        component=self.component.name,
                        path=dotted(path),
                    )
                )
            elif given is not None:
                held = find(self.values, path)
                kept = held if isinstance(held, list) else stated
                self._put(path, [*kept, *(dict(one) for one in given if one not in kept)])

    def _put(self, path: Path, value: object) -> None:
        try:
            self.values = put(self.values, path, value)
        except Blocked as blocked:
            self.problems.append(blocked_problem("scheduling", self.component.name, path, blocked))


def unplaced(component: Component, values: Values, scheduling: Scheduling) -> list[AicrError]:
    """The selectors that a component cannot do without and lacks (spec/engine.md 2.1, ``requireNodeSelector``)."""
    problems = []
    has_class = bool(scheduling.storage_class) or any(
        find(values, segments(path)) for path in component.storage_class_paths
    )
    classes = component.node_scheduling
    for option, nodes in (("system_node_selector", classes.system), ("accelerated_node_selector", classes.accelerated)):
        if nodes.require_node_selector or (nodes.require_node_selector_if_storage_class_set and has_class):
            problems += [
                invalid(
                    f"{component.name}:{path} is empty, but this component must not run just anywhere",
                    f"give scheduling.{option}",
                    component=component.name,
                    path=path,
                )
                for path in nodes.node_selector_paths
                if not find(values, segments(path))
            ]
    return problems
