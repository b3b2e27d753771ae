# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second opinion on the accounting lock: what an accepted bundle says, against a table of the modes typed in here.

Written from ADR-016 and spec/engine.md 5.3 to 5.6 alone. It reads files with plain PyYAML, splits paths itself, and
imports nothing of the engine, whose mistakes it must not share (a test holds it to that).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

SLURM, CRDS, OPERATOR, DATABASE = (
    "slinky-slurm",
    "mariadb-operator-crds",
    "mariadb-operator",
    "slurm-accounting-mariadb",
)

NAMES = {
    SLURM: SLURM,
    "slinkyslurm": SLURM,
    "slurmcluster": SLURM,
    CRDS: CRDS,
    "mariadboperatorcrds": CRDS,
    OPERATOR: OPERATOR,
    "mariadboperator": OPERATOR,
    DATABASE: DATABASE,
    "slurmaccountingmariadb": DATABASE,
}
"""By what a user may call them. ``slurm`` is another component: slinky-slurm-operator."""

_GATES = {
    SLURM: {"enabled", "accounting.enabled", "accounting.external"},
    CRDS: {"enabled", "install"},
    OPERATOR: {"enabled", "install", "crds.enabled"},
    DATABASE: {"enabled", "install"},
}
_SLURM_END = {
    "accounting.storageConfig.host": "mariadb",
    "accounting.storageConfig.port": 3306,
    "accounting.storageConfig.database": "slurm_acct_db",
    "accounting.storageConfig.username": "slurm",
    "accounting.storageConfig.passwordKeyRef.name": "mariadb-password",
    "accounting.storageConfig.passwordKeyRef.key": "password",
}
_DATABASE_END = {
    "fullnameOverride": "mariadb",
    "namespaceOverride": "slurm",
    "mariadb.rootPasswordSecretKeyRef.name": "mariadb-root-password",
    "mariadb.rootPasswordSecretKeyRef.key": "root",
    "mariadb.rootPasswordSecretKeyRef.generate": True,
    "mariadb.username": "slurm",
    "mariadb.database": "slurm_acct_db",
    "mariadb.passwordSecretKeyRef.name": "mariadb-password",
    "mariadb.passwordSecretKeyRef.key": "password",
    "mariadb.passwordSecretKeyRef.generate": True,
    "mariadb.cleanupPolicy": "Skip",
    "users": [],
    "databases": [],
    "grants": [],
}


@dataclass(frozen=True)
class Mode:
    """One row of the table.

    :ivar owned: component to the paths that no override may touch.
    :ivar pinned: component to the values that a bundle which holds it must have.
    :ivar needed: what every bundle holds; ``absent`` is what none does.
    """

    owned: Mapping[str, set[str]]
    pinned: Mapping[str, Mapping[str, Any]]
    needed: frozenset[str]
    absent: frozenset[str]


MODES = {
    "disabled": Mode(
        owned={**_GATES, SLURM: {"enabled", "accounting"}},
        pinned={SLURM: {"accounting.enabled": False}},
        needed=frozenset(),
        absent=frozenset({CRDS, OPERATOR, DATABASE}),
    ),
    "customer-managed": Mode(
        owned=_GATES,
        pinned={SLURM: {"accounting.enabled": True}},
        needed=frozenset({SLURM}),
        absent=frozenset({CRDS, OPERATOR, DATABASE}),
    ),
    "aicr-provided": Mode(
        owned={
            **_GATES,
            SLURM: _GATES[SLURM] | set(_SLURM_END),
            DATABASE: _GATES[DATABASE] | set(_DATABASE_END),
        },
        pinned={
            SLURM: {"accounting.enabled": True, **_SLURM_END},
            OPERATOR: {"crds.enabled": False},
            DATABASE: _DATABASE_END,
        },
        needed=frozenset({SLURM, CRDS, OPERATOR, DATABASE}),
        absent=frozenset(),
    ),
}

STORAGE = ("accounting", "storageConfig")


@dataclass(frozen=True)
class Stated:
    """One path that a user said something about.

    :ivar written: component and path as the user wrote them.
    """

    surface: str
    component: str
    keys: tuple[str, ...]
    written: str


@dataclass(frozen=True)
class Seen:
    """What a bundle says.

    :ivar values: folder or component to component and values, for all that the bundle holds.
    :ivar left_open: the same for values that stand open until the installation.
    :ivar recipe: the recipe in the bundle, where the layout has one.
    """

    values: Mapping[str, tuple[str, Any]]
    left_open: Mapping[str, tuple[str, Any]]
    recipe: Mapping[str, Any] | None


def keys_of(path: str) -> tuple[str, ...]:
    """The keys of a path; a backslash keeps the next character, a list position is a key of its own."""
    found, key, literal = [], "", False
    for char in path:
        if literal:
            key, literal = key + char, False
        elif char == "\\":
            literal = True
        elif char == ".":
            found.append(key)
            key = ""
        elif char == "[" and key:
            found.append(key)
            key = char
        else:
            key += char
    return (*found, key)


def meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Equal, or one above the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def stated(given: Mapping[str, Any]) -> Iterator[Stated]:
    """Every path that the override options of a request name, by the component's own name."""
    for name, values in given.get("values", {}).items():
        for keys in _leaves(values):
            yield Stated("values", NAMES.get(name, name), keys, f"{name}:{'.'.join(keys)}")
    for surface in ("set", "set_json", "set_file", "dynamic"):
        for entry in given.get(surface, ()):
            name, _unused, rest = entry.partition(":")
            path = rest if surface == "dynamic" else rest.partition("=")[0]
            yield Stated(surface, NAMES.get(name, name), keys_of(path), f"{name}:{path}")


def _leaves(values: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(values, dict) and values:
        for key, value in values.items():
            yield from _leaves(value, (*above, str(key)))
    elif above:
        yield above


def touched(mode: str, given: Mapping[str, Any]) -> list[tuple[Stated, str]]:
    """The overrides that a mode does not allow, whatever their values, each with the owned path."""
    found = []
    for one in stated(given):
        owned = sorted(MODES[mode].owned.get(one.component, ()))
        if one.surface == "dynamic" and mode == "customer-managed" and one.component == SLURM:
            owned.append(".".join(STORAGE))
        found += [(one, path) for path in owned if meet(keys_of(path), one.keys)][:1]
    return found


def read_bundle(root: Path) -> Seen:
    """What the files of a bundle say, in the layout of helm or argocd."""
    values, left_open = {}, {}
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        component = folder.name.partition("-")[2].removesuffix("-pre").removesuffix("-post")
        values[folder.name] = (component, _load(folder / "values.yaml") if component in NAMES else {})
        if component in NAMES and (folder / "cluster-values.yaml").exists():
            left_open[folder.name] = (component, _load(folder / "cluster-values.yaml"))
        application = folder / "application.yaml"
        if component in NAMES and application.exists():
            left_open[application.name + folder.name] = (component, _inlined(_load(application)))
    recipe = root / "recipe.yaml"
    return Seen(values, left_open, _load(recipe) if recipe.exists() else None)


def _inlined(application: Mapping[str, Any]) -> Any:
    """Values that an Application would set by itself, past the file."""
    spec = application["spec"]
    sources = [spec["source"]] if "source" in spec else spec["sources"]
    settings = [source.get("helm", {}) for source in sources]
    assert all(set(setting) <= {"valueFiles", "valuesObject"} for setting in settings), settings
    return {key: value for setting in settings for key, value in setting.get("valuesObject", {}).items()}


def _load(file: Path) -> Any:
    return yaml.load(file.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


def contradictions(mode: str, given: Mapping[str, Any], seen: Seen) -> list[str]:
    """Why this bundle should not exist; empty if it keeps the mode."""
    row = MODES[mode]
    found = [
        f"{one.surface} {one.written} was accepted, but the mode owns {path}" for one, path in touched(mode, given)
    ]
    held = {component for component, _unused in seen.values.values()}
    found += [f"{name} is missing" for name in sorted(row.needed - held)]
    found += [f"{name} is in the bundle" for name in sorted(row.absent & held)]
    for place, (component, values) in seen.values.items():
        for path, due in row.pinned.get(component, {}).items():
            value = _at(values, keys_of(path))
            if type(value) is not type(due) or value != due:
                found.append(f"{place}: {path} is {value!r}, not {due!r}")
        if component == SLURM and _at(values, ("accounting", "external")) not in (None, False):
            found.append(f"{place}: accounting.external is set")
        if component == SLURM and mode == "customer-managed":
            found += [f"{place}: {problem}" for problem in _connection(_at(values, STORAGE))]
    for place, (component, values) in seen.left_open.items():
        due = {*map(keys_of, row.owned.get(component, ()))}
        if component == SLURM and mode == "customer-managed":
            due.add(STORAGE)
        found += [
            f"{place}: {'.'.join(keys)} is open until the installation"
            for keys in _leaves(values)
            if any(meet(keys, path) for path in due)
        ]
    if seen.recipe is not None:
        found += _recipe(mode, seen.recipe)
    return found


def _connection(storage: Any) -> Iterator[str]:
    """The customer's connection: closed, complete, of the right types."""
    if not isinstance(storage, dict):
        yield "storageConfig is no mapping"
        return
    reference = storage.get("passwordKeyRef")
    if set(storage) != {"host", "port", "database", "username", "passwordKeyRef"}:
        yield f"storageConfig has the keys {sorted(storage)}"
    if not isinstance(reference, dict) or set(reference) != {"name", "key"}:
        yield "passwordKeyRef is not {name, key}"
        return
    texts = [*(storage.get(key) for key in ("host", "database", "username")), *reference.values()]
    if not all(isinstance(text, str) and text.strip() == text != "" for text in texts):
        yield "storageConfig has texts that are none, or are empty"
    host = str(storage.get("host")).lower()
    if "://" in host or host.startswith(("localhost", "127.")) or host in ("::1", "0.0.0.0"):
        yield f"storageConfig.host is {host}"
    port = storage.get("port")
    if isinstance(port, bool) or not isinstance(port, (int, float)) or port != int(port) or not 0 < port < 65536:
        yield f"storageConfig.port is {port!r}"
    elif port == 5432:
        yield "storageConfig.port is PostgreSQL's"


def _recipe(mode: str, recipe: Mapping[str, Any]) -> Iterator[str]:
    """The recipe in the bundle still says the mode, and its overrides agree."""
    if _at(recipe, ("configuration", "slurm", "accounting", "mode")) != mode:
        yield "recipe.yaml does not have the mode"
    for ref in recipe["componentRefs"]:
        overrides = ref.get("overrides", {})
        if ref["name"] == SLURM and _at(overrides, ("accounting", "enabled")) is not (mode != "disabled"):
            yield "recipe.yaml: slinky-slurm accounting.enabled contradicts the mode"
        if ref["name"] in (CRDS, OPERATOR, DATABASE) and overrides.get("install") is not (mode == "aicr-provided"):
            yield f"recipe.yaml: {ref['name']} install contradicts the mode"


def _at(values: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values
