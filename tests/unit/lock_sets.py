# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random override sets against the accounting lock, and what happens to one: refused for a reason, or kept to the mode.

A set is a function of its number, so that a failure names all that is needed to see it again.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import lock_oracle as oracle

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode, RecipeResult
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import (
    BundleRequest,
    Judged,
    judge,
    make_bundle,
    write_bundle,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import criteria, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

Given = dict[str, Any]
"""The override options of a request."""

LEAVES = (
    {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"},
    {"service": "eks", "accelerator": "gb200", "intent": "training", "os": "ubuntu", "platform": "slurm"},
    {"service": "kind", "accelerator": "h100", "intent": "training", "platform": "slurm"},
)
MODES = tuple(oracle.MODES)
SURFACES = ("values", "set", "set_json", "set_file", "dynamic")
PARTS = ("values", "set", "set_json", "set_file", "dynamic", "components")

CONNECTION = {
    "host": "db.example.com",
    "port": 3306,
    "database": "slurm_acct_db",
    "username": "slurm",
    "passwordKeyRef": {"name": "slurm-db", "key": "password"},
}
BROKEN_CONNECTIONS = (
    {**CONNECTION, "host": "localhost"},
    {**CONNECTION, "host": "mysql://db.example.com"},
    {**CONNECTION, "host": ""},
    {**CONNECTION, "port": 5432},
    {**CONNECTION, "port": 70000},
    {**CONNECTION, "port": "3306"},
    {**CONNECTION, "port": True},
    {**CONNECTION, "database": None},
    {**CONNECTION, "username": ["slurm"]},
    {**CONNECTION, "passwordKeyRef": None},
    {**CONNECTION, "passwordKeyRef": {"name": "slurm-db", "key": "password", "optional": True}},
    {**CONNECTION, "extra": "x"},
    {},
    [],
)

_VALUES = (True, False, None, 0, 1, 3306, 3307, "true", "slurm", "mariadb", "", [], ["x"], {}, {"enabled": True}, 0.5)

# What stands beside the owned paths and must stay open: (component, path, value).
_SLURM_OPEN = (
    (oracle.SLURM, "restapi.replicas", 2),
    (oracle.SLURM, "controller.persistence.resources.requests.storage", "8Gi"),
    (oracle.SLURM, "accountingX.enabled", True),
    (oracle.SLURM, "Accounting.enabled", True),
    (oracle.SLURM, r"accounting\.enabled", True),
    (oracle.SLURM, "enabledX", False),
    (oracle.SLURM, "x.accounting.enabled", False),
    (oracle.SLURM, "loginsets.slinky.enabled", True),
    (oracle.SLURM, "install", False),
    ("slinky-slurm-operator", "accounting.enabled", True),
    ("slinky-slurm-operator", "install", False),
    ("gpu-operator", "dcgmExporter.enabled", True),
    ("cert-manager", "replicaCount", 2),
    ("cert-manager", "users", ["x"]),
)
_ACCOUNTING_OPEN = (
    (oracle.SLURM, "accounting.enabledX", True),
    (oracle.SLURM, "accounting.Enabled", False),
    (oracle.SLURM, "accounting.externalX", True),
    (oracle.SLURM, "accounting.podSpec.hostNetwork", False),
    (oracle.SLURM, "accounting.slurmdbd.resources.requests.cpu", "1"),
    (oracle.SLURM, "accounting.service.enabled", True),
)
_DATABASE_OPEN = (
    (oracle.DATABASE, "mariadb.storage.size", "100Gi"),
    (oracle.DATABASE, "mariadb.storage.storageClassName", "gp3"),
    (oracle.DATABASE, "mariadb.usernameX", "x"),
    (oracle.DATABASE, "mariadb.Database", "x"),
    (oracle.DATABASE, "database", "x"),
    (oracle.DATABASE, "usersX", ["x"]),
    (oracle.DATABASE, "mariadb.users", ["x"]),
    (oracle.OPERATOR, "crds.enabledX", True),
    (oracle.OPERATOR, r"crds\.enabled", True),
    (oracle.OPERATOR, "ha.enabled", True),
    (oracle.CRDS, "installX", False),
)
OPEN = {
    "disabled": _SLURM_OPEN,
    "customer-managed": (*_SLURM_OPEN, *_ACCOUNTING_OPEN, (oracle.SLURM, "accounting.storageConfig", CONNECTION)),
    "aicr-provided": (*_SLURM_OPEN, *_ACCOUNTING_OPEN, *_DATABASE_OPEN),
}

_SIMPLE_NAMES = ("slurm", "slinkyslurmoperator", "gpuoperator", "certmanager", "cert-manager", "slinky-slurms", "Slurm")


@dataclass(frozen=True)
class OverrideSet:
    """What one user passes.

    :ivar innocent: made only of what must stay open, so that a refusal is a fault.
    """

    number: int
    criteria: dict[str, str]
    mode: str
    deployer: str
    given: Given
    innocent: bool

    def recipe(self) -> RecipeResult:
        return _recipe(LEAVES.index(self.criteria), self.mode)

    def request(self) -> BundleRequest:
        return BundleRequest(recipe=self.recipe(), catalog=embedded(), deployer=self.deployer, **self.given)

    def __str__(self) -> str:
        given = {name: part for name, part in self.given.items() if part}
        return f"set {self.number} ({self.mode}, {self.deployer}, {self.criteria['accelerator']}): {json.dumps(given)}"


@cache
def _recipe(leaf: int, mode: str) -> RecipeResult:
    catalog = embedded()
    chosen = criteria.parse(LEAVES[leaf], catalog)
    return resolve(catalog, chosen, accounting_mode=AccountingMode(mode)).recipe


class Maker:
    """Makes one set.

    :ivar files: a folder for what ``set_file`` names.
    """

    def __init__(self, number: int, files: Path) -> None:
        self.files = files
        self.random = random.Random(number)
        self.mode = self.random.choice(MODES)
        self.deployer = self.random.choice(("helm", "helm", "argocd"))
        self.given: Given = {name: {} if name == "values" else [] for name in PARTS}
        self.number = number

    def make(self) -> OverrideSet:
        kind = self.random.choice(("innocent", "innocent", "innocent", "filtered", *["any"] * 6))
        for _unused in range(self.random.choice((1, 1, 2, 3, 5))):
            if kind != "any" or self.random.random() < 0.3:
                self.add_open()
            else:
                self.random.choice(
                    (self.add_close, self.add_close, self.add_other, self.add_connection, self.add_toggle)
                )()
        if kind == "filtered":
            self.filter_components()
        chosen = self.random.choice(LEAVES)
        return OverrideSet(self.number, chosen, self.mode, self.deployer, self.given, kind == "innocent")

    def surface(self) -> str:
        """Argo CD takes nothing dynamic at all, which would hide every other reason."""
        return self.random.choice(SURFACES if self.deployer == "helm" else SURFACES[:-1])

    def name(self, component: str) -> str:
        return self.random.choice([component, *(name for name, its in oracle.NAMES.items() if its == component)])

    def add_open(self) -> None:
        component, path, value = self.random.choice(OPEN[self.mode])
        surfaces = ["values", "set_json", "set_file"]
        if not isinstance(value, (dict, list)):
            surfaces.append("set")
        if self.deployer == "helm" and not path.startswith("accounting.storageConfig"):
            surfaces.append("dynamic")
        self.put(self.random.choice(surfaces), self.name(component), path, value)

    def add_close(self) -> None:
        """At, above, below or near an owned path of some mode, the same value and any other."""
        row = oracle.MODES[self.random.choice((self.mode, self.mode, *MODES))]
        component = self.random.choice(sorted(row.owned))
        owned = self.random.choice(sorted(row.owned[component]))
        value = row.pinned.get(component, {}).get(owned)
        if value is None or self.random.random() < 0.5:
            value = self.random.choice(_VALUES)
        path, value = self.random.choice(_AROUND)(self.random, owned, value)
        self.put(self.surface(), self.name(component), path, value)

    def add_other(self) -> None:
        """Anything for anybody, misspelt components among them."""
        _unused, path, value = self.random.choice((*_SLURM_OPEN, *_ACCOUNTING_OPEN, *_DATABASE_OPEN))
        name = self.random.choice((*oracle.NAMES, *_SIMPLE_NAMES))
        self.put(self.surface(), name, path, self.random.choice((value, *_VALUES)))

    def add_connection(self) -> None:
        """The customer's connection, whole or one key of it, right or wrong."""
        connection: Any = self.random.choice((CONNECTION, CONNECTION, *BROKEN_CONNECTIONS))
        path = "accounting.storageConfig"
        if isinstance(connection, dict) and connection and self.random.random() < 0.4:
            key = self.random.choice(sorted(connection))
            path, connection = f"{path}.{key}", connection[key]
        self.put(self.surface(), self.name(oracle.SLURM), path, connection)

    def add_toggle(self) -> None:
        name = self.random.choice((*oracle.NAMES, *_SIMPLE_NAMES, "nvsentinel", "kube-prometheus-stack"))
        self.put(self.random.choice(("set", "set", self.surface())), name, "enabled", self.random.choice((True, False)))

    def filter_components(self) -> None:
        """All but some; often all but one of those that a mode may need."""
        kept = [
            ref.name for ref in _recipe(0, self.mode).component_refs if ref.name not in oracle.MODES[self.mode].absent
        ]
        if self.random.random() < 0.5:
            kept.remove(self.random.choice([name for name in kept if name in oracle.NAMES]))
        else:
            kept = self.random.sample(kept, self.random.randint(1, len(kept)))
        self.given["components"] = [self.name(name) for name in kept]

    def put(self, surface: str, name: str, path: str, value: object) -> None:
        if surface == "values":
            _merge(self.given["values"].setdefault(name, {}), oracle.keys_of(path), copy.deepcopy(value))
        elif surface == "dynamic":
            self.given["dynamic"].append(f"{name}:{path}")
        elif surface == "set":
            text = value if isinstance(value, str) else json.dumps(value)
            self.given["set"].append(f"{name}:{path}={text}")
        elif surface == "set_json":
            self.given["set_json"].append(f"{name}:{path}={json.dumps(value)}")
        else:
            text = json.dumps(value)
            file = self.files / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.yaml"
            if not file.exists():
                file.write_text(text, encoding="utf-8")
            self.given["set_file"].append(f"{name}:{path}={file}")


def _merge(values: dict[str, Any], keys: tuple[str, ...], value: object) -> None:
    for key in keys[:-1]:
        below = values.get(key)
        if not isinstance(below, dict):
            below = values[key] = {}
        values = below
    values[keys[-1]] = value


Around = Callable[[random.Random, str, object], tuple[str, object]]


def _at(_unused: random.Random, owned: str, value: object) -> tuple[str, object]:
    return owned, value


def _above(chance: random.Random, owned: str, value: object) -> tuple[str, object]:
    keys = owned.split(".")
    kept = chance.randint(1, len(keys))
    for key in reversed(keys[kept:]):
        value = {key: value}
    return ".".join(keys[:kept]), chance.choice((value, value, None, {}, False, "x"))


def _below(chance: random.Random, owned: str, value: object) -> tuple[str, object]:
    return owned + chance.choice((".x", ".enabled", ".x.y", "[0]", "[0].name")), value


def _near(chance: random.Random, owned: str, value: object) -> tuple[str, object]:
    head, _unused, last = owned.rpartition(".")
    changed = chance.choice((last + "X", last[:-1], last.swapcase(), "x" + last, last + "-" + last))
    return chance.choice(
        (
            f"{head}.{changed}" if head else changed,
            owned.replace(".", r"\.") if head else f"x.{owned}",
            f"x.{owned}",
            last,
            f"{last}.{owned}",
        )
    ), value


_AROUND: tuple[Around, ...] = (_at, _above, _below, _near, _near)


@dataclass
class Trial:
    """What became of a run of sets.

    :ivar faults: each with the set that shows it, as small as it gets.
    """

    accepted: int = 0
    refused: int = 0
    written: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.accepted / (self.accepted + self.refused)


def try_sets(numbers: range, folder: Path, write_every: int = 1, stop_after: int = 3) -> Trial:
    """Put sets through the gate and judge what it accepts; every so many of that are also written and read again.

    :param stop_after: so many faults.
    """
    trial = Trial()
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        one = Maker(number, files).make()
        root = folder / "bundle" if trial.accepted % write_every == 0 else None
        accepted, faults = verdict(one, root)
        trial.accepted += accepted
        trial.refused += not accepted
        trial.written += accepted and root is not None
        if faults:
            trial.faults.append("\n  ".join([str(smallest(one, root)), *faults]))
            if len(trial.faults) == stop_after:
                break
    return trial


def verdict(one: OverrideSet, root: Path | None) -> tuple[bool, list[str]]:
    """Whether a set is accepted, and what is wrong about that.

    :param root: where to write the bundle; ``None`` looks at what would be written.
    """
    try:
        if root is None:
            seen = _in_memory(judge(one.request()))
        else:
            write_bundle(make_bundle(one.request()), root)
            seen = oracle.read_bundle(root)
    except AicrError as error:
        return False, list(_reason_faults(one, error))
    except Exception as error:
        return False, [f"failed by a fault of ours: {error!r}"]
    return True, oracle.contradictions(one.mode, one.given, seen)


def _in_memory(judged: Judged) -> oracle.Seen:
    left_open: dict[str, tuple[str, object]] = {}
    for component, paths in judged.dynamic.items():
        values: dict[str, Any] = {}
        for path in sorted(paths):
            _merge(values, path, "")
        left_open[component] = (component, values)
    values_of = {name: (name, values) for name, values in judged.values.items()}
    return oracle.Seen(values_of, left_open, None)


def _reason_faults(one: OverrideSet, error: AicrError) -> Iterator[str]:
    """A refusal is for the user to act on: it names all owned paths at once, and spares who did nothing."""
    if one.innocent:
        yield f"refused, though nothing in it is owned: {error}"
    if error.code.value == "INTERNAL":
        yield f"a fault of ours: {error}"
    found = error.details.get("problems", [{"message": error.message}])
    messages = [problem["message"] for problem in found if isinstance(problem, dict)]
    for stated, owned in oracle.touched(one.mode, one.given):
        path = stated.written.partition(":")[2].replace("\\", "")
        if not any(stated.surface in message and path in message.replace("\\", "") for message in messages):
            yield f"refused without a word about {stated.surface} {stated.written}, where {owned} is owned: {error}"


def smallest(one: OverrideSet, root: Path | None) -> OverrideSet:
    """The set with everything left out that the fault does not need."""
    smaller = next((less for less in _with_one_less(one) if verdict(less, root)[1]), None)
    return smallest(smaller, root) if smaller else one


def _with_one_less(one: OverrideSet) -> Iterator[OverrideSet]:
    for part in PARTS:
        for item in list(one.given[part]) if isinstance(one.given[part], dict) else range(len(one.given[part])):
            given = copy.deepcopy(one.given)
            del given[part][item]
            yield dataclasses.replace(one, given=given)
