# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet file: clusters by name, and those of the contexts of kubeconfigs, as hosts with the playbooks' variables.

No API server is asked, and of a kubeconfig nothing but its path and the names of contexts becomes a variable.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import yamlio
from ..errors import AicrError, Code, invalid
from .fleet_contexts import KUBECONFIGS, Context, NameOf, find, host_name, is_template, name_problem
from .fleet_file import FleetFile, Keys
from .fleet_values import value_problems
from .options import Spec, parse, unknown
from .variables import PREFIX, SPEC, STAGES

ENDINGS = ("clusters.yml", "clusters.yaml")
"""How the name of a fleet file ends."""

_OF_A_PLAY = {f"{PREFIX}hosts", *STAGES.get("waves", ())}

OPTIONS: Spec = {name.removeprefix(PREFIX): option for name, option in SPEC.items() if name not in _OF_A_PLAY}
"""What can be said of a cluster: the variables of the playbooks without their prefix, but not those of a whole play."""

ANSIBLES: Spec = {
    "strict": {"type": "bool"},
    "compose": {"type": "dict"},
    "groups": {"type": "dict"},
    "keyed_groups": {"type": "list", "elements": "dict"},
    "use_extra_vars": {"type": "bool"},
    "leading_separator": {"type": "bool"},
    "cache": {"type": "bool"},
    "cache_timeout": {"type": "int"},
}
"""Keys that Ansible takes as it finds them; it would read a list as a yes."""

AXES = ("service", "accelerator", "platform")
"""The criteria by which clusters are grouped."""

_VARS = "vars"
_OF_THE_CONTEXT = ("kubeconfig", "context", "host", "api_key", "in_cluster")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Cluster:
    """A host of the inventory.

    :ivar place: where the fleet file, or which kubeconfig, says that there is such a cluster.
    """

    name: str
    place: str
    variables: Mapping[str, object]


@dataclass(frozen=True)
class Fleet:
    """A fleet file whose keys and values have been checked.

    :ivar defaults: variables of every cluster.
    :ivar clusters: variables by the name of a cluster.
    :ivar entries: how to look for contexts (:data:`KUBECONFIGS`), and the variables of their clusters.
    """

    file: FleetFile
    defaults: Mapping[str, object]
    clusters: Mapping[str, Mapping[str, object]]
    entries: Sequence[tuple[Mapping[str, Any], Mapping[str, object]]] = field(default=())

    @property
    def search(self) -> list[object]:
        """What decides which contexts are found, as a cache keeps it."""
        return [{name: how.get(name) for name in ("path", "include", "exclude")} for how, _variables in self.entries]

    def find(self) -> list[Context]:
        """The contexts that the entries ask for, by reading files.

        :raises AicrError: naming file and key: nothing matches, or a file is no kubeconfig.
        """
        found: list[Context] = []
        for index, (how, _variables) in enumerate(self.entries):
            try:
                found += find(index, str(self.file.resolved(how["path"])), how)
            except AicrError as error:
                self.file.note(("kubeconfigs", index), error)
        self.file.raise_all()
        return found

    def hosts(self, found: Sequence[Context], name_of: NameOf) -> list[Cluster]:
        """All clusters, those of the fleet file first.

        :param found: what :meth:`find` found, now or when it was cached.
        :raises AicrError: INVALID_REQUEST for names that no host can have, CONFLICT for one that two clusters have.
        """
        clusters = [
            Cluster(name, self.file.place(("clusters", name)), _merged(self.defaults, variables))
            for name, variables in self.clusters.items()
        ]
        for one in found:
            keys = ("kubeconfigs", one.entry)
            how, variables = self.entries[one.entry]
            own = {f"{PREFIX}kubeconfig": one.kubeconfig, f"{PREFIX}context": one.context}
            try:
                name = host_name(one, how.get("hostname"), name_of)
            except AicrError as error:
                self.file.note(keys, error)
                continue
            place = f'{self.file.place(keys)}: context "{one.context}" of {one.kubeconfig}'
            clusters.append(Cluster(name, place, _merged(self.defaults, variables, own)))
        first: dict[str, Cluster] = {}
        for cluster in clusters:
            other = first.setdefault(cluster.name, cluster)
            if other is not cluster:
                self.file.problems.append(
                    AicrError(
                        Code.CONFLICT,
                        f'{cluster.place}: the host "{cluster.name}" is there already: {other.place}',
                        "rename one, or leave a context out (exclude); hostname makes names of more than a context",
                    )
                )
        self.file.raise_all()
        return clusters

    def refuse_groups(self, hosts: Mapping[str, Cluster], names: Iterable[str], whose: str) -> None:
        """Refuse clusters that are called like a group: Ansible takes the name for that of the group.

        :param hosts: by name.
        :param names: of groups.
        :param whose: where the groups come from.
        :raises AicrError: CONFLICT naming file, line, key and group.
        """
        for name in names:
            if name in hosts:
                self.file.problems.append(
                    AicrError(
                        Code.CONFLICT,
                        f'{hosts[name].place}: the host "{name}" is called like a group {whose}',
                        "rename the cluster or the group; hostname makes another name of a context's",
                    )
                )
        self.file.raise_all()

    def check(self, host: str, keys: Keys, name: str, value: object) -> None:
        """Check a variable that was composed.

        :raises AicrError: naming file, key and host.
        """
        if name.startswith(PREFIX):
            for problem in _stated_problems(name.removeprefix(PREFIX), value):
                self.file.note(keys, invalid(f"host {host}: {problem.message}", problem.hint))
            self.file.raise_all()


def read_fleet(path: str, known: Collection[str]) -> Fleet:
    """Read and check a fleet file.

    :param known: the keys that it may have.
    :raises AicrError: with everything that is wrong, each problem by file, line and key.
    """
    file = FleetFile(Path(path), yamlio.read_bytes(Path(path)))
    document = file.mapping((), yamlio.load(file.text, path))
    for key in document:
        if key not in known:
            file.note((key,), unknown("key", key, key, known))
        elif key in ANSIBLES:
            for problem in _problems(ANSIBLES, key, document[key]):
                file.note((key,), problem)
    defaults = _variables(file, ("defaults",), document.get("defaults"))
    clusters: dict[str, Mapping[str, object]] = {}
    for name, entry in file.mapping(("clusters",), document.get("clusters")).items():
        unusable = name_problem(name)
        if unusable:
            file.note(("clusters", name), unusable)
        clusters[name] = _variables(file, ("clusters", name), entry)
    entries = [
        _entry(file, ("kubeconfigs", index), entry)
        for index, entry in enumerate(file.sequence(("kubeconfigs",), document.get("kubeconfigs")))
    ]
    if not clusters and not entries and not file.problems:
        file.note((), invalid("there is no cluster", "name them under clusters, or kubeconfigs to find them in"))
    composed = document.get("compose")
    for name in composed if isinstance(composed, dict) else ():
        if str(name).startswith(PREFIX) and name not in SPEC:
            file.note(("compose", name), unknown("variable", name, name, SPEC))
    file.raise_all()
    return Fleet(file, defaults, clusters, entries)


def groups(variables: Mapping[str, object]) -> list[str]:
    """The groups of a cluster: by service, accelerator, platform and mode, as far as its variables say."""
    criteria = variables.get(f"{PREFIX}criteria")
    stated = {axis: criteria.get(axis) for axis in AXES} if isinstance(criteria, Mapping) else {}
    stated["mode"] = variables.get(f"{PREFIX}slurm_accounting_mode")
    return [
        re.sub(r"\W", "_", f"{axis}_{word.strip().lower()}", flags=re.ASCII)
        for axis, word in stated.items()
        if isinstance(word, str) and word.strip()
    ]


def _entry(file: FleetFile, keys: Keys, entry: object) -> tuple[Mapping[str, Any], Mapping[str, object]]:
    """One way to find contexts; a text is the path of kubeconfigs of which nothing else is said."""
    stated = {"path": entry} if isinstance(entry, str) else file.mapping(keys, entry)
    how = {name: value for name, value in stated.items() if name in KUBECONFIGS}
    try:
        how = dict(parse(KUBECONFIGS, how).values)
    except AicrError as error:
        file.note(keys, error)
    if is_template(how.get("path")):
        file.note((*keys, "path"), invalid("no template is evaluated here", "~ and $NAME are known"))
    options = {name: value for name, value in stated.items() if name not in KUBECONFIGS}
    for name in _OF_THE_CONTEXT:
        if options.pop(name, None) is not None:
            file.note((*keys, name), invalid(f"{name}: it is the context that says which cluster is meant"))
    return how, _variables(file, keys, options, KUBECONFIGS)


def _variables(file: FleetFile, keys: Keys, entry: object, beside: Collection[str] = ()) -> dict[str, object]:
    """What is said of a cluster, as variables; null takes back what ``defaults`` say."""
    variables: dict[str, object] = {}
    for name, value in file.mapping(keys, entry).items():
        here = (*keys, name)
        if name == _VARS:
            variables.update(_own(file, here, value))
        elif name not in OPTIONS:
            bare = name.removeprefix(PREFIX)
            error = unknown("option", name, name, [*OPTIONS, *beside, _VARS])
            file.note(here, invalid(error.message, f'write "{bare}"') if bare in OPTIONS and bare != name else error)
        else:
            for problem in _stated_problems(name, value):
                file.note(here, problem)
            resolves = name == "kubeconfig" and isinstance(value, str) and not is_template(value)
            variables[f"{PREFIX}{name}"] = str(file.resolved(str(value))) if resolves else value
    return variables


def _own(file: FleetFile, keys: Keys, value: object) -> dict[str, object]:
    """Variables that are none of the playbooks'."""
    variables: dict[str, object] = {}
    for name, one in file.mapping(keys, value).items():
        if not _VARIABLE.fullmatch(name):
            file.note((*keys, name), invalid(f'"{name}" cannot be the name of a variable', "letters, digits, and _"))
        elif name.startswith((PREFIX, f"_{PREFIX}")):
            file.note(
                (*keys, name), invalid(f"{name} is no variable of your own", "options stand beside vars, unprefixed")
            )
        variables[name] = one
    return variables


def _stated_problems(name: str, value: object) -> Iterator[AicrError]:
    """What is wrong with an option in a fleet file; a template has no value yet, so the playbook will check it."""
    if name == "kubeconfig" and isinstance(value, Mapping):
        yield invalid(
            "kubeconfig: its content has no place in an inventory, which shows its variables", "name the path of a file"
        )
    elif OPTIONS[name].get("no_log") and value is not None and not is_template(value):
        yield invalid(
            f"{name}: a credential has no place in an inventory, which shows its variables",
            "name a kubeconfig, or write a template that looks it up",
        )
    elif name in ("criteria", "slurm_accounting_mode") and is_template(value):
        yield invalid(
            f"{name}: a template has no value yet, and groups are made of this one", "state it, or compose it"
        )
    elif name == "criteria" and isinstance(value, str):
        yield invalid("criteria: must be a mapping, not text", "groups are made of it")
    elif not is_template(value):
        yield from _problems(OPTIONS, name, value)
        yield from _refused_later(name, value)


def _refused_later(name: str, value: object) -> Iterator[AicrError]:
    """What a stage would refuse of a value that has the right type."""
    try:
        read = parse({name: OPTIONS[name]}, {name: value})
    except AicrError:
        return
    if name in read.given:
        yield from value_problems(name, read[name])


def _problems(spec: Spec, name: str, value: object) -> Iterator[AicrError]:
    """What is wrong with the value of an option."""
    try:
        parse({name: spec[name]}, {name: value})
    except AicrError as error:
        yield error


def _merged(*layers: Mapping[str, object]) -> dict[str, object]:
    merged = {name: value for layer in layers for name, value in layer.items()}
    return {name: value for name, value in merged.items() if value is not None or not name.startswith(PREFIX)}
