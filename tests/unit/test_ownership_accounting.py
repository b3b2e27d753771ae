# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ADR-016 sections 1 to 5, spec/engine.md 5: the mode, what it derives, what it owns, what contradicts it."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    ComponentRef,
    Criteria,
    RecipeHeader,
    RecipeResult,
    SelectedProfile,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership import (
    artifact_problems,
    derive,
    ownership,
    parse_mode,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership.accounting import COMPONENTS, DATABASE_STACK

DISABLED, CUSTOMER, PROVIDED = AccountingMode.DISABLED, AccountingMode.CUSTOMER_MANAGED, AccountingMode.AICR_PROVIDED
ASSERTS = "kind: Test\nspec:\n  steps:\n  - name: one\n"


def slurm_recipe(**changes: object) -> RecipeResult:
    refs = tuple(
        ComponentRef(
            name,
            namespace="slurm",
            health_check_asserts=ASSERTS if name == "slinky-slurm" else None,
            overrides={"accounting": {"keep": 1}, "other": 2} if name == "slinky-slurm" else None,
        )
        for name in COMPONENTS
    )
    recipe = RecipeResult(refs, criteria=Criteria(platform="slurm"), api_version="aicr.run/v1alpha2")
    return dataclasses.replace(recipe, **changes)  # type: ignore[arg-type]


def overrides(recipe: RecipeResult, name: str) -> dict[str, object]:
    ref = recipe.component(name)
    assert ref is not None
    return dict(ref.overrides or {})


@pytest.mark.parametrize("text", ["disabled", " Disabled ", "DISABLED\n"])
def test_case_and_blanks_do_not_matter_to_the_parser(text: str) -> None:
    assert parse_mode(text) is DISABLED


@pytest.mark.parametrize("text", ["", "customer_managed", "true", None, True, 1, ["disabled"]])
def test_anything_else_is_refused_by_name(text: object) -> None:
    with pytest.raises(AicrError, match="no Slurm accounting mode") as caught:
        parse_mode(text)
    assert "disabled, customer-managed, aicr-provided" in caught.value.hint


@pytest.mark.parametrize(
    ("mode", "accounting", "database"),
    [
        (DISABLED, False, False),
        (CUSTOMER, True, False),
        (PROVIDED, True, True),
    ],
)
def test_the_mode_decides_every_gate(mode: AccountingMode, accounting: bool, database: bool) -> None:
    derived = derive(slurm_recipe(), mode)
    assert derived.accounting_mode is mode
    assert derived.api_version == "aicr.run/v1alpha3"
    assert overrides(derived, "slinky-slurm") == {"accounting": {"keep": 1, "enabled": accounting}, "other": 2}
    assert [overrides(derived, name) for name in DATABASE_STACK] == [{"install": database}] * 3
    assert [ref.name for ref in derived.component_refs] == list(COMPONENTS)
    assert not artifact_problems(derived)


def test_deriving_leaves_its_input_alone() -> None:
    recipe = slurm_recipe()
    derive(recipe, PROVIDED)
    assert recipe == slurm_recipe()


def test_the_health_check_awaits_slurmdbd_only_with_accounting() -> None:
    def steps(mode: AccountingMode) -> list[str]:
        ref = derive(slurm_recipe(), mode).component("slinky-slurm")
        assert ref is not None
        assert ref.health_check_asserts is not None
        return [step["name"] for step in yamlio.load(ref.health_check_asserts, "asserts")["spec"]["steps"]]

    assert steps(DISABLED) == ["one"]
    assert steps(CUSTOMER) == steps(PROVIDED) == ["one", "validate-accounting-ready"]


def test_a_mode_elsewhere_than_on_slurm_is_refused() -> None:
    with pytest.raises(AicrError, match="platform is slurm"):
        derive(slurm_recipe(criteria=Criteria(platform="kubeflow")), DISABLED)


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_mode_needs_all_four_components(name: str) -> None:
    refs = tuple(ref for ref in slurm_recipe().component_refs if ref.name != name)
    for mode in AccountingMode:
        with pytest.raises(AicrError, match=f'"{name}"'):
            derive(slurm_recipe(component_refs=refs), mode)


def test_a_profile_that_owns_a_path_of_the_mode_is_refused() -> None:
    profile = SelectedProfile("gpuStack", "x", {"slinky-slurm": ("accounting", "enabled")})
    with pytest.raises(AicrError, match="profile gpuStack=x"):
        derive(slurm_recipe(metadata=RecipeHeader(selected_profile=profile)), CUSTOMER)


@pytest.mark.parametrize(
    ("mode", "component", "path", "owned"),
    [
        (DISABLED, "slinky-slurm", "accounting.enabled", True),
        (DISABLED, "slinky-slurm", "accounting.storageConfig.host", True),
        (DISABLED, "slinky-slurm", "controller.replicas", False),
        (CUSTOMER, "slinky-slurm", "accounting", True),
        (CUSTOMER, "slinky-slurm", "accounting.storageConfig", False),
        (CUSTOMER, "slinky-slurm", "accounting.external", True),
        (PROVIDED, "slinky-slurm", "accounting.storageConfig", True),
        (PROVIDED, "slinky-slurm", "accounting.slurmdbd.resources", False),
        (PROVIDED, "slurm-accounting-mariadb", "mariadb.storage.size", False),
        (PROVIDED, "slurm-accounting-mariadb", "mariadb.cleanupPolicy", True),
        (CUSTOMER, "slurm-accounting-mariadb", "mariadb.cleanupPolicy", False),
        (DISABLED, "mariadb-operator", "crds.enabled", True),
        (DISABLED, "mariadb-operator-crds", "install", True),
        (CUSTOMER, "slurm-accounting-mariadb", "enabled", True),
    ],
)
def test_what_a_mode_owns(mode: AccountingMode, component: str, path: str, owned: bool) -> None:
    assert (ownership(mode).touching(component, path) is not None) == owned


@pytest.mark.parametrize("mode", AccountingMode)
@pytest.mark.parametrize("name", COMPONENTS)
@pytest.mark.parametrize("edit", ["flip", "remove", "text"])
def test_an_edited_gate_is_named(mode: AccountingMode, name: str, edit: str) -> None:
    recipe = derive(slurm_recipe(), mode)
    ref = recipe.component(name)
    assert ref is not None
    changed = overrides(recipe, name)
    holder = dict(changed["accounting"]) if name == "slinky-slurm" else changed  # type: ignore[call-overload]
    key = "enabled" if name == "slinky-slurm" else "install"
    old = holder.pop(key)
    if edit != "remove":
        holder[key] = (not old) if edit == "flip" else str(old).lower()
    changed = {**changed, "accounting": holder} if name == "slinky-slurm" else holder
    problems = artifact_problems(recipe.with_component(dataclasses.replace(ref, overrides=changed)))
    assert len(problems) == 1
    assert name in problems[0].message
    assert key in problems[0].message
    assert mode.value in problems[0].message


def test_a_strict_slurm_recipe_without_its_mode_is_no_legacy_recipe() -> None:
    stripped = dataclasses.replace(derive(slurm_recipe(), PROVIDED), configuration=None)
    assert "configuration.slurm.accounting.mode" in artifact_problems(stripped)[0].message
    profile = SelectedProfile("gpuStack", "x", {"gpu-operator": ("enabled",)})
    with_profile = dataclasses.replace(stripped, metadata=RecipeHeader(selected_profile=profile))
    assert artifact_problems(with_profile)


def without_mode(recipe: RecipeResult) -> RecipeResult:
    return dataclasses.replace(recipe, configuration=None, api_version="aicr.run/v1alpha2")


def test_a_plain_recipe_makes_no_claim() -> None:
    before = slurm_recipe()
    before = dataclasses.replace(before, component_refs=(*before.component_refs[:1],))
    assert before.component("slinky-slurm")
    assert artifact_problems(before) == []


@pytest.mark.parametrize("mode", [DISABLED, CUSTOMER])
def test_a_plain_recipe_without_a_database_is_taken_for_an_old_one(mode: AccountingMode) -> None:
    assert artifact_problems(without_mode(derive(slurm_recipe(), mode))) == []


@pytest.mark.parametrize("edit", ["none", "gates", "platform"])
def test_a_plain_recipe_that_installs_the_database_had_its_mode_cut_out(edit: str) -> None:
    stripped = without_mode(derive(slurm_recipe(), PROVIDED))
    if edit == "gates":
        for name in COMPONENTS[1:]:
            ref = stripped.component(name)
            assert ref
            stripped = stripped.with_component(dataclasses.replace(ref, overrides=None))
    if edit == "platform":
        stripped = dataclasses.replace(stripped, criteria=None)
    named = {problem.details["component"] for problem in artifact_problems(stripped)}
    assert named == ({*COMPONENTS[1:]} if edit == "none" else {"slurm-accounting-mariadb"})


def test_whoever_gives_the_recipe_of_a_bundle_is_told_which_one_to_give() -> None:
    recipe = derive(slurm_recipe(), CUSTOMER)
    filtered = dataclasses.replace(recipe, component_refs=recipe.component_refs[:1])
    assert all("the recipe that the bundle was made from" in one.hint for one in artifact_problems(filtered))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"api_version": "aicr.run/v1alpha2"}, "aicr.run/v1alpha2"),
        ({"criteria": Criteria(platform="kubeflow")}, "kubeflow"),
        ({"criteria": None}, "platform"),
    ],
)
def test_version_and_platform_are_checked_against_the_mode(changes: dict[str, object], named: str) -> None:
    problems = artifact_problems(dataclasses.replace(derive(slurm_recipe(), DISABLED), **changes))  # type: ignore[arg-type]
    assert [named in problem.message for problem in problems] == [True]


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_needed_component_cannot_be_disabled_in_the_recipe(name: str) -> None:
    recipe = derive(slurm_recipe(), PROVIDED)
    ref = recipe.component(name)
    assert ref is not None
    off = dataclasses.replace(ref, overrides={**(ref.overrides or {}), "enabled": False})
    assert name in artifact_problems(recipe.with_component(off))[0].message
