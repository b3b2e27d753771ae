# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of recipes/README.md, held against whatever our catalog can be asked for.

What needs no engine (defaults, pins, that each file is used) is held by test_recipes_defaults.py.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AXES,
    PHASES,
    AccountingMode,
    Criteria,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import BundleRequest, make_bundle, rendering
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.scheduling import read_scheduling
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, Overlay, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.syntax import is_pinned
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.inventory import is_enabled
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution.selection import candidates, maximal_leaves

RECIPES = Path(__file__).parents[2] / "recipes"
FLOOR = "K8s.server.version"
SYSTEMS = ("ubuntu", "ol")
"""Operating systems that join any recipe that names none itself."""
SCHEDULING = read_scheduling(
    {
        "system_node_selector": {"pool": "system"},
        "accelerated_node_selector": {"pool": "gpu"},
        "accelerated_node_tolerations": ["nvidia.com/gpu=present:NoSchedule"],
    }
)
"""What a site says of its nodes; AKS does not take the wildcard that tolerations are without it."""
QUESTIONS = 130
"""At least so many are asked; fewer would mean that nothing was looked at."""


@functools.cache
def questions() -> dict[str, Criteria]:
    """Whatever an overlay is for, alone and with the operating systems and platforms that join any recipe."""
    return {str(criteria): criteria for overlay in embedded().overlays.values() for criteria in _asked(overlay)}


def _asked(overlay: Overlay) -> Iterator[Criteria]:
    stated = overlay.criteria.stated() if overlay.criteria else {}
    if not stated:
        return
    yield _criteria(stated)
    if stated.keys() == {"service", "accelerator", "intent"}:
        for system in SYSTEMS:
            yield _criteria({**stated, "os": system})
    if stated.keys() >= {"service", "accelerator"} and stated.get("intent") == "training" and "platform" not in stated:
        yield _criteria({**stated, "platform": "kubeflow"})


def _criteria(stated: dict[str, str] | Any) -> Criteria:
    return Criteria(**{axis: stated.get(axis, "any") for axis in AXES})


@functools.cache
def recipes(question: str) -> tuple[RecipeResult, ...]:
    """The recipes of a question, in every mode and with every value of its profile."""
    catalog, criteria = embedded(), questions()[question]
    matching = (each for each in candidates(catalog) if each.matches(criteria.stated()))
    profiles = {overlay.profile.name: overlay.profile for each in matching for overlay in each.chain if overlay.profile}
    choices = [f"{name}={value}" for name, profile in profiles.items() for value in profile.values]
    modes = list(AccountingMode) if criteria.platform == "slurm" else [None]
    return tuple(
        resolve(catalog, criteria, accounting_mode=mode, profile=choice).recipe
        for mode in modes
        for choice in choices or [None]
    )


def test_enough_is_asked() -> None:
    assert len(questions()) >= QUESTIONS
    slurm = [question for question, criteria in questions().items() if criteria.platform == "slurm"]
    assert len(slurm) == 7
    assert {len(recipes(question)) for question in slurm} == {3, 6}, "three modes, and two values of a profile each"


@pytest.mark.parametrize("question", questions())
def test_it_resolves_in_every_mode_and_profile(question: str) -> None:
    phases = {check.name: check.phase for check in embedded().validators}
    for recipe in recipes(question):
        refs = {ref.name: ref for ref in recipe.component_refs}
        order = list(recipe.deployment_order)
        assert set(order) == {name for name, ref in refs.items() if is_enabled(ref)}
        for name in order:
            ref = refs[name]
            assert ref.namespace, f"{name} has no namespace"
            if ref.source:
                assert is_pinned(ref.version or ""), f"{name} is not pinned"
            else:
                assert ref.manifest_files or ref.pre_manifest_files, f"{name} has neither chart nor manifests"
            assert ref.health_check_asserts, f"{name} has no health check"
            reached = [needed for needed in ref.dependency_refs or () if needed in order]
            assert all(order.index(needed) < order.index(name) for needed in reached)
            embedded().values(ref)
        for phase in PHASES:
            for check in getattr(getattr(recipe.validation, phase, None), "checks", None) or ():
                assert phases.get(check) == phase, f"{check} is no check of phase {phase}"


@pytest.mark.parametrize("question", questions())
def test_it_can_be_bundled_without_helm(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "find_helm", lambda: None)
    for recipe in recipes(question):
        made = make_bundle(BundleRequest(recipe=recipe, catalog=embedded(), scheduling=SCHEDULING))
        folders = {name.partition("/")[0] for name in made.tree if name[0].isdigit()}
        assert {re.sub(r"^\d+-", "", folder) for folder in folders} >= set(recipe.deployment_order)


@pytest.mark.parametrize("question", questions())
def test_one_overlay_alone_names_the_service(question: str) -> None:
    """What a snapshot excludes must be missed: then the service is, and there is no recipe."""
    stated = questions()[question].stated()
    leaves = maximal_leaves(each for each in candidates(embedded()) if each.matches(stated))
    assert len([leaf.name for leaf in leaves if "service" in leaf.stated]) == ("service" in stated)


@pytest.mark.parametrize("question", [name for name, criteria in questions().items() if "service" in criteria.stated()])
def test_a_cluster_that_is_too_old_gets_no_recipe_and_is_told_why(question: str) -> None:
    document = {
        "kind": "Snapshot",
        "apiVersion": "aicr.run/v1alpha2",
        "measurements": [{"type": "K8s", "subtypes": [{"subtype": "server", "data": {"version": "v1.20.1"}}]}],
    }
    taken, _warnings = snapshot_from_document(document, "snapshot.yaml")
    with pytest.raises(AicrError, match=rf'{FLOOR} must be ">= 1\.\d+[.\d]*", found "v1\.20\.1"'):
        resolve(embedded(), questions()[question], snapshot=taken, stated=AXES)


@pytest.mark.parametrize("name", [name for name, overlay in embedded().overlays.items() if overlay.criteria])
def test_a_floor_is_stated_where_a_question_can_end(name: str) -> None:
    overlay = embedded().overlays[name]
    stated = overlay.criteria.stated() if overlay.criteria else {}
    assert any(constraint.name == FLOOR for constraint in overlay.constraints) == ("service" in stated)


def test_what_no_question_ends_at_has_two_children() -> None:
    overlays = embedded().overlays.values()
    for overlay in overlays:
        if overlay.criteria is None:
            assert overlay.name.endswith("-gpu")
            assert len([child for child in overlays if child.parent == overlay.name]) > 1, overlay.name


def test_each_mixin_is_used() -> None:
    assert {name for overlay in embedded().overlays.values() for name in overlay.mixins} == embedded().mixins.keys()


@pytest.mark.parametrize("path", sorted(RECIPES.glob("checks/*/*.yaml")), ids=lambda path: str(path.parent.name))
def test_a_check_asserts_before_it_looks_for_what_must_not_be(path: Path) -> None:
    test = yamlio.load(path.read_text(encoding="utf-8"), path.name)
    assert test["metadata"]["name"] == path.parent.name
    operations = [operation for step in test["spec"]["steps"] for operation in step["try"]]
    assert "assert" in operations[0]
    for operation in operations:
        ((verb, content),) = operation.items()
        assert verb in ("assert", "error")
        assert {"apiVersion", "kind", "metadata"} <= content["resource"].keys()


@pytest.mark.parametrize("path", sorted(RECIPES.glob("components/*/**/*.yaml")), ids=lambda path: path.stem)
def test_each_image_is_pinned(path: Path) -> None:
    for image in re.findall(r"^\s*(?:- )?image: (\S+:\S+|\S+/\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        if "containerSHA" in path.read_text(encoding="utf-8"):
            continue  # nodewright's packages: the version and the digest stand beside the image
        tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
        assert tag not in ("", "latest"), image


def example() -> str:
    text = (RECIPES / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"```yaml\n# overlays/b300-eks-training\.yaml\n(.*?)```", text, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def test_an_accelerator_is_added_by_one_small_file(tmp_path: Path) -> None:
    """The one of recipes/README.md: it comes with operating systems and platforms, and with a floor that holds."""
    (tmp_path / "overlays").mkdir()
    (tmp_path / "overlays/b300-eks-training.yaml").write_text(example(), encoding="utf-8")
    (tmp_path / "registry.yaml").write_text(
        "kind: ComponentRegistry\napiVersion: aicr.run/v1alpha2\ncomponents: []\n", encoding="utf-8"
    )
    assert len(example().splitlines()) <= 15
    catalog = Catalog.load(external=tmp_path)
    criteria = Criteria("eks", "b300", "training", "ubuntu", "kubeflow")
    made = resolve(catalog, criteria).recipe
    like = resolve(catalog, dataclasses.replace(criteria, accelerator="h100")).recipe
    assert made.deployment_order == like.deployment_order
    assert {one.name: one.value for one in made.constraints or ()}[FLOOR] == ">= 1.34"
    for ref, other in zip(made.component_refs, like.component_refs, strict=True):
        assert catalog.values(ref) == catalog.values(other)
    with pytest.raises(AicrError, match="b300"):
        resolve(embedded(), criteria)
