# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.11, 1.12, 5.2, ADR-016: the recipe that comes out, its accounting mode, overlays as recipes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.digest import digest
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve, resolve_overlay

SLURM = Criteria("eks", "h100", "training", "ubuntu", "slurm")
TRAINING = Criteria("eks", "h100", "training", "ubuntu", "any")
DATABASE_STACK = ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb")


def written(criteria: Criteria, mode: AccountingMode | None = None) -> str:
    return yamlio.dump(recipe_to_document(resolve(embedded(), criteria, accounting_mode=mode).recipe))


def test_no_accounting_input_and_disabled_are_the_same_bytes() -> None:
    assert written(SLURM) == written(SLURM, AccountingMode.DISABLED)


def test_resolving_twice_gives_the_same_bytes_whatever_was_resolved_between() -> None:
    first = written(SLURM, AccountingMode.AICR_PROVIDED)
    written(SLURM, AccountingMode.CUSTOMER_MANAGED)
    written(TRAINING)
    assert written(SLURM, AccountingMode.AICR_PROVIDED) == first


def test_the_mode_changes_the_digest_and_nothing_about_which_components_there_are() -> None:
    documents = [recipe_to_document(resolve(embedded(), SLURM, accounting_mode=mode).recipe) for mode in AccountingMode]
    assert len({digest(document) for document in documents}) == 3
    assert len({tuple(ref["name"] for ref in document["componentRefs"]) for document in documents}) == 1


@pytest.mark.parametrize(("mode", "runs"), [
    (AccountingMode.DISABLED, False), (AccountingMode.CUSTOMER_MANAGED, False), (AccountingMode.AICR_PROVIDED, True),
])  # fmt: skip
def test_the_order_has_the_database_only_where_it_runs_and_before_slurm(mode: AccountingMode, runs: bool) -> None:
    order = resolve(embedded(), SLURM, accounting_mode=mode).recipe.deployment_order or ()
    assert [name for name in order if name in (*DATABASE_STACK, "slinky-slurm")] == [
        *(DATABASE_STACK if runs else ()), "slinky-slurm",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", AccountingMode)
def test_a_mode_for_another_platform_is_refused(mode: AccountingMode) -> None:
    with pytest.raises(AicrError, match="platform is slurm"):
        resolve(embedded(), TRAINING, accounting_mode=mode)


def test_only_recipes_with_a_configuration_are_of_the_strict_track() -> None:
    plain, strict = resolve(embedded(), TRAINING).recipe, resolve(embedded(), SLURM).recipe
    assert (plain.api_version, plain.configuration) == ("aicr.run/v1alpha2", None)
    assert strict.api_version == "aicr.run/v1alpha3"


def test_a_component_that_accounting_needs_cannot_be_off_in_an_overlay() -> None:
    catalog = embedded()
    leaf = catalog.overlays["h100-eks-ubuntu-training-slurm"]
    refs = tuple(
        dataclasses.replace(ref, overrides={**(ref.overrides or {}), "enabled": False})
        if ref.name == "slinky-slurm"
        else ref
        for ref in leaf.component_refs
    )
    leaf = dataclasses.replace(leaf, component_refs=refs)
    changed = dataclasses.replace(catalog, overlays={**catalog.overlays, leaf.name: leaf})
    resolve(changed, SLURM)
    with pytest.raises(AicrError, match="slinky-slurm"):
        resolve(changed, SLURM, accounting_mode=AccountingMode.CUSTOMER_MANAGED)


def overlay_document(name: str) -> dict[str, object]:
    root = Path(embedded().overlays[name].source)
    document = yamlio.load_file(root)
    assert isinstance(document, dict)
    return document


def test_an_overlay_of_the_catalog_gives_the_recipe_of_its_criteria() -> None:
    found = resolve_overlay(embedded(), overlay_document("h100-eks-ubuntu-training-slurm"), "my.yaml").recipe
    assert recipe_to_document(found) == recipe_to_document(resolve(embedded(), SLURM).recipe)


def test_an_edited_overlay_counts_as_it_is_written() -> None:
    document = overlay_document("h100-eks-ubuntu-training-slurm")
    spec = document["spec"]
    assert isinstance(spec, dict)
    spec["constraints"] = [{"name": "K8s.server.version", "value": ">= 1.99"}]
    found = resolve_overlay(embedded(), document, "my.yaml").recipe
    assert ">= 1.99" in [constraint.value for constraint in found.constraints or ()]
    assert ">= 1.99" not in [constraint.value for constraint in resolve(embedded(), SLURM).recipe.constraints or ()]


@pytest.mark.parametrize(("phase", "check", "words"), [
    ("deployment", "operator-helth", "operator-health"), ("performance", "operator-health", "phase deployment"),
])  # fmt: skip
def test_an_overlay_from_a_file_names_checks_of_the_catalog(phase: str, check: str, words: str) -> None:
    document = overlay_document("h100-eks-ubuntu-training-slurm")
    spec = document["spec"]
    assert isinstance(spec, dict)
    spec["validation"] = {phase: {"checks": [check]}}
    with pytest.raises(AicrError) as caught:
        resolve_overlay(embedded(), document, "my.yaml")
    assert f"my.yaml: spec.validation.{phase}.checks[0]" in caught.value.message
    assert words in str(caught.value)


def test_an_overlay_without_criteria_makes_no_recipe() -> None:
    document = overlay_document("h100-eks-ubuntu-training-slurm")
    spec = document["spec"]
    assert isinstance(spec, dict)
    del spec["criteria"]
    with pytest.raises(AicrError, match=r"my\.yaml.*no criteria"):
        resolve_overlay(embedded(), document, "my.yaml")
