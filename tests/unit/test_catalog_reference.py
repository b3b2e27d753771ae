# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our catalog against the reference's: for whatever one of its overlays is for, both make the same recipe.

The engine resolves both, in every accounting mode and with every value of a profile. What differs stands in
catalog_differences.yml with its reason, and what stands there differs. Words (descriptions, messages, names of steps)
and where a value stands (values file or override) are not compared.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AXES,
    PHASES,
    AccountingMode,
    ComponentRef,
    Criteria,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import rendering
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.manifest import Manifest
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

DECLARED = Path(__file__).with_name("catalog_differences.yml")
LEAVES = 45
"""Of the reference: overlays that none builds on."""
RESOLUTIONS = 140
"""At least so many pairs of recipes are compared; fewer would mean that nothing was looked at."""
MATRIX = 12_600
"""Combinations of criteria, the one without any among them; of which the reference answers"""
ANSWERED = 240
ABSENT = "absent"
IDENTITY = ("namespace", "chart", "type", "source", "version", "tag", "path", "patches", "cleanup")


@dataclass(frozen=True)
class Difference:
    """One place where a recipe, or the catalog (leaf ``catalog``), is not the reference's."""

    leaf: str
    component: str
    section: str
    path: str
    ours: Any
    reference: Any

    def is_declared_by(self, entry: Mapping[str, Any]) -> bool:
        named = all(fnmatch.fnmatchcase(getattr(self, key), entry[key]) for key in ("leaf", "component", "path"))
        stated = all(getattr(self, key) == entry[key] for key in ("ours", "reference") if key in entry)
        return named and stated and self.section == entry["section"]


@dataclass(frozen=True)
class Pair:
    """What both catalogs make of the same question; ``choice`` is its mode and the value of its profile."""

    leaf: str
    choice: str
    ours: RecipeResult
    reference: RecipeResult


@functools.cache
def reference_catalog(root: Path) -> Catalog:
    return Catalog.load(root / "catalog" / "aicr-2026-08-19")


@functools.cache
def pairs(root: Path) -> tuple[Pair, ...]:
    return tuple(_pairs(reference_catalog(root)))


def _pairs(reference: Catalog) -> Iterator[Pair]:
    for name, overlay in reference.overlays.items():
        if overlay.criteria is None or not overlay.criteria.stated():
            continue
        criteria = Criteria(**{axis: getattr(overlay.criteria, axis) or "any" for axis in AXES})
        profiles = [each.profile for each in reference.chain(overlay) if each.profile]
        choices = [f"{profile.name}={value}" for profile in profiles for value in profile.values] or [None]
        for mode in list(AccountingMode) if criteria.platform == "slurm" else [None]:
            for choice in choices:
                ours, theirs = (
                    resolve(catalog, criteria, accounting_mode=mode, profile=choice).recipe
                    for catalog in (embedded(), reference)
                )
                yield Pair(name, f"{mode} {choice}", ours, theirs)


def leaves_of(tree: Any, at: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every value by its dotted path; an empty mapping is a value, a list is one as a whole."""
    if not isinstance(tree, Mapping) or not tree:
        return {".".join(at): tree}
    return {path: leaf for key, below in tree.items() for path, leaf in leaves_of(below, (*at, str(key))).items()}


def fields_of(tree: Any, at: tuple[str, ...] = ()) -> dict[str, Any]:
    """The same for an object of Kubernetes: elements of lists by their name, documents in texts as what they say."""
    if isinstance(tree, list) and tree and all(isinstance(each, Mapping) and "name" in each for each in tree):
        tree = {each["name"]: each for each in tree}
    if isinstance(tree, str) and tree.lstrip().startswith("{"):
        tree = yamlio.load(tree, "a document in a text")
    if not isinstance(tree, Mapping):
        return {".".join(at): tree.strip() if isinstance(tree, str) else tree}
    return {path: leaf for key, below in tree.items() for path, leaf in fields_of(below, (*at, str(key))).items()}


def differing(ours: Mapping[str, Any], reference: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for path in sorted({*ours, *reference}):
        pair = ours.get(path, ABSENT), reference.get(path, ABSENT)
        if pair[0] != pair[1] or type(pair[0]) is not type(pair[1]):
            yield path, *pair


def refs_of(recipe: RecipeResult) -> dict[str, ComponentRef]:
    return {ref.name: ref for ref in recipe.component_refs}


def component_of(ref: ComponentRef) -> dict[str, Any]:
    """What is said about a component, apart from its values."""
    return {
        **{field: getattr(ref, field) for field in IDENTITY if getattr(ref, field)},
        "dependencyRefs": sorted(ref.dependency_refs or ()),
        "manifestFiles": [*(ref.manifest_files or ())],
        "preManifestFiles": [*(ref.pre_manifest_files or ())],
        "expectedResources": [dataclasses.astuple(one) for one in ref.expected_resources or ()],
    }


def judged_by(ref: ComponentRef) -> dict[str, Any]:
    """The objects that a component's check asks for (assert) or must not find (error)."""
    found: dict[str, Any] = {}
    test = yamlio.load(ref.health_check_asserts or "", "a health check") or {"spec": {"steps": []}}
    for step in test["spec"]["steps"]:
        for operation in step["try"]:
            for verb in operation.keys() & {"assert", "error"}:
                resource = operation[verb]["resource"]
                metadata = resource["metadata"]
                labels = ",".join(f"{key}={value}" for key, value in sorted(metadata.get("labels", {}).items()))
                name = metadata.get("name") or labels or "*"
                found[f"{verb} {resource['kind']} {metadata.get('namespace', '')}/{name}"] = True
    return found


def _recipe_differences(pair: Pair, reference: Catalog) -> Iterator[Difference]:
    ours, theirs = refs_of(pair.ours), refs_of(pair.reference)
    whole = [
        {
            "components": sorted(refs),
            "deploymentOrder": list(recipe.deployment_order),
            "constraints": {one.name: (one.value, one.severity, one.unit) for one in recipe.constraints or ()},
            "selectedProfile": _profile(recipe),
            **{f"validation.{phase}": _phase(recipe, phase) for phase in PHASES},
        }
        for recipe, refs in ((pair.ours, ours), (pair.reference, theirs))
    ]
    for path, mine, other in differing(*whole):
        yield Difference(pair.leaf, "-", "recipe", path, mine, other)
    for name in sorted(ours.keys() & theirs.keys()):
        mine, other = ours[name], theirs[name]
        for section, one, two in (
            ("componentRef", component_of(mine), component_of(other)),
            ("values", leaves_of(embedded().values(mine)), leaves_of(reference.values(other))),
            ("checks", judged_by(mine), judged_by(other)),
        ):
            for path, left, right in differing(one, two):
                yield Difference(pair.leaf, name, section, path, left, right)


def _profile(recipe: RecipeResult) -> Any:
    selected = recipe.metadata.selected_profile if recipe.metadata else None
    return selected and (selected.name, selected.value, selected.owned_paths)


def _phase(recipe: RecipeResult, name: str) -> Any:
    phase = getattr(recipe.validation, name, None)
    if phase is None or not (phase.checks or phase.constraints):
        return None
    return list(phase.checks or ()), {one.name: one.value for one in phase.constraints or ()}, phase.timeout


def _registry_differences(reference: Catalog) -> Iterator[Difference]:
    theirs = {component.name: component for component in reference.registry.components}
    for mine in embedded().registry.components:
        if mine.name not in theirs:
            yield Difference("catalog", mine.name, "registry", "*", mine.name, ABSENT)
            continue
        one, two = (
            leaves_of(
                {
                    **dataclasses.asdict(dataclasses.replace(component, manifests=())),
                    "validations": {
                        each.function: {"severity": each.severity, "conditions": dict(each.conditions)}
                        for each in component.validations
                    },
                }
            )
            for component in (mine, theirs[mine.name])
        )
        for path, left, right in differing(one, two):
            yield Difference("catalog", mine.name, "registry", path, left, right)
    known = {check.name: (check.phase, check.timeout) for check in embedded().validators}
    for path, left, right in differing(
        known, {check.name: (check.phase, check.timeout) for check in reference.validators}
    ):
        yield Difference("catalog", "-", "validators", path, left, right)


@functools.cache
def differences(root: Path) -> tuple[Difference, ...]:
    reference = reference_catalog(root)
    found = [difference for pair in pairs(root) for difference in _recipe_differences(pair, reference)]
    return (*found, *_registry_differences(reference))


@functools.cache
def declared() -> tuple[Mapping[str, Any], ...]:
    entries: list[Mapping[str, Any]] = yamlio.load(DECLARED.read_text(encoding="utf-8"), DECLARED.name)["differences"]
    return tuple(entries)


def undeclared(found: tuple[Difference, ...]) -> str:
    """All differences that nothing declares, each once with one of the leaves that have it."""
    lines: dict[str, str] = {}
    for one in found:
        if not any(one.is_declared_by(entry) for entry in declared()):
            what = f"{one.component} {one.section} {one.path}: {one.ours!r} instead of {one.reference!r}"
            lines.setdefault(what, f"{one.leaf}: {what}")
    return "\n".join(lines.values())


def test_every_leaf_of_the_reference_is_covered(shared: Path) -> None:
    overlays = reference_catalog(shared).overlays
    parents = {overlay.parent for overlay in overlays.values()}
    leaves = {name for name in overlays if name not in parents}
    assert len(leaves) == LEAVES
    assert {pair.leaf for pair in pairs(shared)} == overlays.keys() - {"monitoring-hpa"}
    assert len(pairs(shared)) >= RESOLUTIONS
    for pair in pairs(shared):  # which joins every question, and is asked for by none
        assert "monitoring-hpa" in ((pair.ours.metadata and pair.ours.metadata.applied_overlays) or ())


def _resolves(catalog: Catalog, criteria: Criteria) -> bool:
    try:
        resolve(catalog, criteria)
    except AicrError:
        return False
    return True


def _is_ours_alone(criteria: Criteria) -> bool:
    """What came after the reference's state, and what follows from an overlay that joins any recipe."""
    newer = criteria.accelerator == "gb300" or (criteria.service, criteria.accelerator) == ("gke", "gb200")
    anywhere = criteria.os in ("ubuntu", "ol") or criteria.platform == "kubeflow"
    return newer or anywhere or (criteria.service, criteria.os) == ("oke", "any")


def test_whatever_the_reference_answers_we_answer_and_little_else(shared: Path) -> None:
    reference = reference_catalog(shared)
    values = [["any", *sorted(reference.criteria_values()[axis] - {"any"})] for axis in AXES]
    asked = [Criteria(*combination) for combination in itertools.product(*values)][1:]
    assert len(asked) == MATRIX - 1
    answered = 0
    for criteria in asked:
        theirs, ours = _resolves(reference, criteria), _resolves(embedded(), criteria)
        answered += theirs
        assert ours or not theirs, f"{criteria} is refused"
        assert theirs or not ours or _is_ours_alone(criteria), f"{criteria} is made by us alone"
    assert answered >= ANSWERED


def test_in_fewer_files(shared: Path) -> None:
    assert len(embedded().overlays) < len(reference_catalog(shared).overlays)


def test_no_recipe_differs_without_a_reason(shared: Path) -> None:
    assert undeclared(differences(shared)) == ""


def test_every_declared_difference_is_one(shared: Path) -> None:
    for entry in declared():
        assert entry["reason"].strip()
        if entry["section"] != "manifests":
            assert any(one.is_declared_by(entry) for one in differences(shared)), entry


def objects(text: str, namespace: str) -> dict[str, Any]:
    """The objects of a rendered manifest by kind and name."""
    return {
        f"{one['kind']} {one['metadata'].get('namespace', namespace)}/{one['metadata']['name']}": one
        for one in yamlio.load_all(text, "a rendered manifest")
        if one
    }


AS_OURS = (
    '{{ $v := index .Values "%s" }}{{ tpl $v.text (dict "Values" (omit $v "text") "Release" .Release "Chart" .Chart'
    ' "Template" .Template "Capabilities" .Capabilities) }}'
)
"""Our manifests are templates of a chart of their own, with the values at the top."""


Place = tuple[str, str, str, str]
"""A component, the leaf and the choice that it is asked for with, and one of its objects."""


def render_all(root: Path, side: int) -> dict[Place, Any]:
    """The objects of all manifests of ours (0) or of the reference's (1), once for each set of values."""
    catalog = (embedded(), reference_catalog(root))[side]
    manifests, refs, values, places = [], {}, {}, {}
    asked: set[str] = set()
    for pair in pairs(root):
        for name, ref in refs_of((pair.ours, pair.reference)[side]).items():
            effective = catalog.values(ref)
            said = repr((name, sorted(map(str, leaves_of(effective).items()))))
            paths = (*(ref.pre_manifest_files or ()), *(ref.manifest_files or ()))
            for path in paths if said not in asked else ():
                asked.add(said)
                rule = catalog.manifest_rule(name, path)
                if rule and rule.when and leaves_of(effective).get(rule.when) is not True:
                    continue
                text, key = catalog.read_text(path), f"{len(manifests)}"
                refs[key], places[key] = ref, (name, pair.leaf, pair.choice)
                values[key] = {**effective, "text": text} if side == 0 else effective
                manifests.append(Manifest(key, path, False, AS_OURS % name if side == 0 else text))
    sides: dict[Place, Any] = {}
    for found in rendering.render(manifests, refs, values):
        text = found.text.replace('{{ "{{" }}', "{{").replace('{{ "}}" }}', "}}")
        for name, one in objects(text, refs[found.component].namespace or "").items():
            sides[(*places[found.component], name)] = one
    return sides


def test_helm_renders_our_manifests_as_the_reference_s(shared: Path) -> None:
    if rendering.find_helm() is None:
        pytest.skip("needs helm")
    ours, theirs = render_all(shared, 0), render_all(shared, 1)
    found = []
    for place in sorted(ours.keys() | theirs.keys()):
        component, leaf, _choice, name = place
        if place not in ours or place not in theirs:
            found.append(Difference(leaf, component, "manifests", name, place in ours, place in theirs))
            continue
        found += [
            Difference(leaf, component, "manifests", f"{name} {where}", left, right)
            for where, left, right in differing(fields_of(ours[place]), fields_of(theirs[place]))
        ]
    assert len(ours) > len(embedded().registry.components)
    assert undeclared(tuple(found)) == ""
    for entry in declared():
        if entry["section"] == "manifests":
            assert any(one.is_declared_by(entry) for one in found), entry
