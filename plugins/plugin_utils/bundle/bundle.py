# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe to a bundle: every gate first, then every file, and only then the disk (spec/engine.md 4.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import yamlio
from ..artifacts.digest import digest
from ..artifacts.recipe import AccountingMode, RecipeResult, recipe_to_document
from ..atomic import FileContent, Tree
from ..catalog import Catalog
from ..errors import AicrError, invalid, raise_all
from ..inventory import runtime_inventory
from ..ownership import artifact_problems, value_problems
from ..ownership.accounting import LEGACY_SWITCH, SLURM
from . import allocation, gate
from .bundle_info import BUNDLE_INFO, RECIPE, bundle_info
from .checksums import CHECKSUMS, write_checksums
from .deferral import deferral_problems
from .deployers import Plan, deployer_called
from .deployers.deployer import Deployer, DeployerOptions, text_file
from .layout import lay_out
from .manifest import collect_manifests
from .overrides import Override, OverrideInput, Resolve, Surface, deployer_options, read_overrides
from .presence import Presence, bundled_recipe, presence
from .profile_lock import lock_problems, profile_lock
from .readme import readme
from .rendering import render
from .scheduling import Scheduling
from .validations import Scene, validation_findings
from .value_path import Path as ValuePath
from .value_path import Values, find
from .values import effective_values
from .writer import write_tree


@dataclass(frozen=True, kw_only=True)
class BundleRequest:
    """What a bundle is to be made of.

    :ivar recipe: admitted.
    :ivar values: component name or alias to values that are merged over the recipe's.
    :ivar set: ``component:path=scalar``; ``set_json``, ``set_file``, ``dynamic`` likewise (spec/surface.md 1.11).
    :ivar components: the only ones to bundle; empty means all that the recipe enables.
    :ivar repo: where a GitOps deployer finds the bundle; ``target_revision`` is the branch, tag or commit.
    :ivar argocd: options of the deployer argocd.
    :ivar version: of this tool, for ``bundle-info.yaml``.
    """

    recipe: RecipeResult
    catalog: Catalog
    deployer: str = "helm"
    values: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    set: Sequence[str] = ()
    set_json: Sequence[str] = ()
    set_file: Sequence[str] = ()
    dynamic: Sequence[str] = ()
    components: Sequence[str] = ()
    scheduling: Scheduling = field(default_factory=Scheduling)
    repo: str | None = None
    target_revision: str | None = None
    serial: bool = False
    argocd: Mapping[str, object] = field(default_factory=dict)
    version: str | None = None


@dataclass(frozen=True)
class Bundle:
    """A bundle in memory.

    :ivar order: the folders in the order of installation.
    :ivar digest: of ``checksums.txt``, and so of every file.
    :ivar info: the document in ``bundle-info.yaml``.
    """

    tree: Tree
    order: tuple[str, ...]
    warnings: tuple[str, ...]
    digest: str
    info: Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """A request that has passed every gate.

    :ivar recipe: what the bundle holds.
    :ivar values: the effective values by component.
    :ivar dynamic: the paths by component that stand open for the installation.
    """

    recipe: RecipeResult
    values: Mapping[str, Values]
    dynamic: Mapping[str, list[ValuePath]]
    deployer: Deployer
    warnings: tuple[str, ...]


def make_bundle(request: BundleRequest) -> Bundle:
    """Make a bundle in memory; the same request gives the same bytes.

    :raises AicrError: everything that any gate finds, at once and sorted; see :func:`judge`. Also INVALID_REQUEST for
        manifests that are missing or cannot be rendered, SERVICE_UNAVAILABLE if they need a helm that is not there.
    """
    judged = judge(request)
    recipe = judged.recipe
    inventory = runtime_inventory(recipe)
    ready, unrendered = collect_manifests(recipe, request.catalog, judged.values, request.scheduling.nodes)
    ready += render(unrendered, {ref.name: ref for ref in recipe.component_refs}, judged.values)
    plan = Plan(
        recipe, lay_out(recipe, inventory, judged.values, judged.dynamic, sorted(ready, key=lambda one: one.path))
    )
    raise_all(judged.deployer.problems(plan))
    tree: dict[str, FileContent] = dict(judged.deployer.files(plan))
    tree["README.md"] = text_file(readme(plan, judged.deployer))
    info = bundle_info(
        plan,
        judged.deployer,
        recipe_digest=digest(recipe_to_document(request.recipe)),
        recipe_version=request.recipe.metadata.version if request.recipe.metadata else None,
        version=request.version,
        components=[ref.name for ref in recipe.component_refs] if request.components else (),
        dynamic=judged.dynamic,
        scheduling=request.scheduling,
        serial=request.serial,
    )
    tree[BUNDLE_INFO] = text_file(yamlio.dump(info))
    if judged.deployer.keeps_recipe:
        tree[RECIPE] = text_file(yamlio.dump(recipe_to_document(recipe)))
    sums = text_file(write_checksums(tree))
    tree[CHECKSUMS] = sums
    return Bundle(
        tree,
        tuple(folder.path for folder in plan.folders),
        judged.warnings,
        "sha256:" + hashlib.sha256(sums.content).hexdigest(),
        info,
    )


def write_bundle(bundle: Bundle, destination: Path) -> bool:
    """Write a bundle whole, unless exactly this one is there already; whether anything changed.

    :raises AicrError: CONFLICT if something that is no bundle stands there, or something that was added to one,
        INVALID_REQUEST if it cannot be written.
    """
    return write_tree(bundle.tree, destination)


def judge(request: BundleRequest) -> Judged:
    """Every gate that needs no file of the bundle: overrides, ownership, effective values, the registry's checks.

    :raises AicrError: all violations of all gates together, sorted; the code is theirs if they share one.
    """
    problems = list(artifact_problems(request.recipe))
    deployer = _deployer(request, problems)
    resolve = _resolver(request)
    given, unreadable, notes = read_overrides(
        OverrideInput(request.values, request.set, request.set_json, request.set_file, request.dynamic), resolve
    )
    problems += unreadable
    problems += _open_values_problems(given, deployer)
    overrides = _allowed(given, request.recipe, problems)
    present, more = presence(
        request.recipe,
        [one for one in overrides if one.surface is Surface.SET and one.is_toggle],
        request.components,
        resolve,
    )
    problems += [*more, *gate.absence_problems(request.recipe, present)]
    overrides = _effective(overrides, present, request.catalog, problems)
    if not any(map(present.has, present.declared)):
        raise_all(problems)
    recipe = bundled_recipe(request.recipe, present)
    effective = effective_values(recipe, request.catalog, overrides, request.scheduling)
    problems += effective.problems
    problems += gate.legacy_problems(request.recipe, overrides)
    mode = _mode(request.recipe, overrides, effective.values)
    problems += _contract_problems(mode, request.recipe, recipe, effective.values, present)
    locked = profile_lock(request.recipe)
    if locked:
        problems += lock_problems(locked, request.recipe, request.catalog, present, effective.values, overrides)
    warnings = [
        *notes,
        *deployer.warnings(),
        *gate.legacy_warnings(request.recipe, overrides),
        *gate.connection_warnings(mode, request.recipe, overrides, effective.values),
        *allocation.policy_warnings(overrides),
        *gate.number_warnings(overrides),
        *effective.notes,
    ]
    if len(effective.values) == len(recipe.component_refs):
        scene = Scene(recipe, request.recipe, effective.values, overrides, request.scheduling)
        found, noted = validation_findings(request.catalog, scene)
        problems += found
        warnings += noted
    raise_all(problems)
    dynamic: dict[str, list[ValuePath]] = {}
    for override in overrides:
        if override.surface is Surface.DYNAMIC:
            dynamic.setdefault(override.component, []).append(override.path)
    return Judged(recipe, effective.values, dynamic, deployer, tuple(dict.fromkeys(warnings)))


def _deployer(request: BundleRequest, problems: list[AicrError]) -> Deployer:
    argocd = dict(request.argocd)
    for written, text in deployer_options(request.set):
        name = _DEPLOYER_OPTIONS.get(written)
        value: object = {"true": True, "false": False}.get(text, text) if name == "cascade_delete" else text
        if name is None:
            problems.append(
                invalid(
                    f'set deployer:{written}: unknown option "{written}" of the deployer',
                    f"options: {', '.join(_DEPLOYER_OPTIONS)}",
                    option=written,
                )
            )
        elif argocd.setdefault(name, value) != value:
            problems.append(
                invalid(f"set deployer:{written} says something else than argocd.{name}", "say it once", option=name)
            )
    for surface, entries in (
        (Surface.SET_JSON, request.set_json),
        (Surface.SET_FILE, request.set_file),
        (Surface.DYNAMIC, request.dynamic),
    ):
        problems += [
            invalid(f"{surface.value} deployer:{key}: the deployer's options are scalars", f"use set deployer:{key}=…")
            for key, _unused in deployer_options(entries)
        ]
    return deployer_called(request.deployer).read(
        DeployerOptions(request.repo, request.target_revision, request.serial, argocd), problems
    )


_DEPLOYER_OPTIONS = {
    "cascadeDelete": "cascade_delete",
    "destinationServer": "destination_server",
    "namePrefix": "name_prefix",
    "project": "project",
}


def _resolver(request: BundleRequest) -> Resolve:
    declared = {ref.name for ref in request.recipe.component_refs}

    def resolve(written: str) -> str:
        if written in declared:
            return written
        entry = request.catalog.registry.by_alias(written)
        return entry.name if entry else written

    return resolve


def _open_values_problems(overrides: Iterable[Override], deployer: Deployer) -> Iterator[AicrError]:
    for override in overrides:
        if override.surface is Surface.DYNAMIC and not deployer.takes_dynamic:
            yield invalid(
                f"{override.place}: the deployer {deployer.name} cannot leave values open until the installation",
                "use deployer helm, or give the value with set",
                component=override.component,
                deployer=deployer.name,
            )


def _allowed(overrides: Iterable[Override], recipe: RecipeResult, problems: list[AicrError]) -> list[Override]:
    """The overrides that no gate refuses; the others would only spoil what is judged after this."""
    allowed = []
    for override in overrides:
        found = list(gate.override_problems(override, recipe))
        problems += found
        if not found:
            allowed.append(override)
    return allowed


def _effective(
    overrides: Iterable[Override], present: Presence, catalog: Catalog, problems: list[AicrError]
) -> list[Override]:
    """The overrides that can take effect in this bundle."""
    effective = []
    for override in overrides:
        lost = present.effect_problem(override)
        found = [lost] if lost else list(deferral_problems(override, catalog.registry.component(override.component)))
        problems += found
        if not found:
            effective.append(override)
    return effective


def _mode(recipe: RecipeResult, overrides: Iterable[Override], values: Mapping[str, Values]) -> AccountingMode | None:
    """The recipe's mode; for one that has none, what it can only mean if an override turns accounting on."""
    if recipe.accounting_mode is None and any(gate.legacy_switches(recipe, overrides)):
        on = find(values.get(SLURM, {}), tuple(LEGACY_SWITCH.split("."))) is True
        return AccountingMode.CUSTOMER_MANAGED if on else None
    return recipe.accounting_mode


def _contract_problems(
    mode: AccountingMode | None,
    declared: RecipeResult,
    recipe: RecipeResult,
    values: Mapping[str, Values],
    present: Presence,
) -> list[AicrError]:
    """Effective values against the mode; a component that a filter left out has been named already."""
    if mode is None:
        return []
    if any(gate.absence_problems(declared, present)) or len(values) < len(recipe.component_refs):
        return []
    return list(value_problems(mode, values))
