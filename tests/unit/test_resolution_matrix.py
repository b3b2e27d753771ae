# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All 12,600 combinations of the known criteria (spec/engine.md 1.2, 1.5, 1.9), against an oracle that is spelled out.

The oracle reads the overlays' files by itself. It says which overlays apply, whether there is a recipe, and what is
wrong if there is none; it knows nothing of what the recipe holds.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import Criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.catalog import EMBEDDED_ROOT
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

VALUES: Mapping[str, tuple[str, ...]] = {
    "service": ("any", "eks", "gke", "aks", "oke", "kind", "lke", "bcm", "ocp", "metal3"),
    "accelerator": ("any", "h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s", "rtx-pro-6000"),
    "intent": ("any", "training", "inference"),
    "os": ("any", "ubuntu", "rhel", "cos", "amazonlinux", "ol", "talos"),
    "platform": ("any", "dynamo", "kubeflow", "nim", "runai", "slurm"),
}
Stated = dict[str, str]


class Oracle:
    """What the rules say about a query, worked out the slow way."""

    def __init__(self, root: Path) -> None:
        documents = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in root.glob("overlays/*.yaml")]
        self.parents = {one["metadata"]["name"]: one["spec"].get("base") or "base" for one in documents}
        self.stated: dict[str, Stated] = {
            one["metadata"]["name"]: {
                axis: value for axis, value in one["spec"]["criteria"].items() if value not in ("", "any")
            }
            for one in documents
            if one["spec"].get("criteria") is not None
        }

    def chain(self, name: str) -> list[str]:
        found = [name]
        while (parent := self.parents.get(found[-1], "base")) != "base":
            found.append(parent)
        return found

    def matches(self, name: str, query: Stated) -> bool:
        return all(query.get(axis) == value for axis, value in self.stated[name].items())

    def applied(self, query: Stated) -> set[str]:
        picked = {name for name in self.stated if self.matches(name, query)}
        leaves = {name for name in picked if not any(name in self.chain(other)[1:] for other in picked)}
        return {link for leaf in leaves for link in self.chain(leaf)} | {"base"}

    def wants_os(self, query: Stated) -> set[str]:
        """The systems of a service all of whose overlays that fit want one."""
        service = query.get("service")
        if service is None or "os" in query:
            return set()
        of_service = [name for name in self.stated if self.stated[name].get("service") == service]
        if any(self.matches(name, query) for name in of_service):
            return set()
        systems = {self.stated[name]["os"] for name in of_service if "os" in self.stated[name]}
        return {os for os in systems if any(self.matches(name, {**query, "os": os}) for name in of_service)}

    def uncovered(self, query: Stated) -> list[str]:
        carried = {pair for name in self.applied(query) for pair in self.stated.get(name, {}).items()}
        return [axis for axis in VALUES if axis in query and (axis, query[axis]) not in carried]


def queries() -> Iterator[Stated]:
    for values in itertools.product(*VALUES.values()):
        yield {axis: value for axis, value in zip(VALUES, values, strict=True) if value != "any"}


def compared(catalog: Catalog, oracle: Oracle) -> Iterator[tuple[str, str]]:
    """What kind of answer each query gets by the oracle, and in what the engine's differs; empty if in nothing."""
    for query in queries():
        systems, missing = oracle.wants_os(query), oracle.uncovered(query)
        kind = "nothing" if not query else "os" if systems else "uncovered" if missing else "recipe"
        try:
            recipe = resolve(catalog, Criteria(**query)).recipe  # type: ignore[arg-type]
        except AicrError as error:
            said = f"{error.message} {error.hint}"
            named = sorted(systems) if systems else missing
            values = [query["service"]] if systems else [query[axis] for axis in missing]
            wrong = kind == "recipe" or not all(word in said for word in (*named, *values))
            yield kind, f"{query}: {kind}: {error}" if wrong else ""
            continue
        applied = set((recipe.metadata and recipe.metadata.applied_overlays) or ())
        wrong = kind != "recipe" or applied != oracle.applied(query)
        yield kind, f"{query}: {kind}: {sorted(applied ^ oracle.applied(query))}" if wrong else ""


def test_the_references_catalog(shared: Path) -> None:
    root = shared / "catalog" / "aicr-2026-08-19"
    answers = list(compared(Catalog.load(root), Oracle(root)))
    assert not [fault for _unused, fault in answers if fault][:5]
    counts = Counter(kind for kind, _unused in answers)
    assert counts.total() == 12_600
    assert counts["os"] == 360, "as many as the reference gives (spec/engine.md 1.9)"
    assert counts["recipe"] > 200


def test_our_catalog() -> None:
    answers = list(compared(Catalog.load(), Oracle(EMBEDDED_ROOT)))
    assert not [fault for _unused, fault in answers if fault][:5]
    assert Counter(kind for kind, _unused in answers)["recipe"] > 40


FAULTS: Mapping[str, Any] = {
    "a wildcard picks a named value": lambda oracle: setattr(
        oracle, "matches", lambda name, query: all(query.get(a, v) == v for a, v in oracle.stated[name].items())
    ),
    "ancestors count as leaves": lambda oracle: setattr(oracle, "chain", lambda name: [name]),
    "no rule about the system": lambda oracle: setattr(oracle, "wants_os", lambda query: set()),
    "no rule about coverage": lambda oracle: setattr(oracle, "uncovered", lambda query: []),
}


@pytest.mark.parametrize("seeded", FAULTS)
def test_the_comparison_sees_a_rule_that_is_broken(seeded: str, shared: Path) -> None:
    root = shared / "catalog" / "aicr-2026-08-19"
    oracle = Oracle(root)
    FAULTS[seeded](oracle)
    assert any(fault for _unused, fault in compared(Catalog.load(root), oracle))
