# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm accounting: one typed mode, what it derives, what it owns, what a recipe must show (ADR-016, engine.md 5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import lru_cache

from .. import yamlio
from ..artifacts import versions
from ..artifacts.recipe import Accounting, AccountingMode, ComponentRef, Configuration, RecipeResult, SlurmConfiguration
from ..errors import AicrError, invalid, raise_all
from .paths import Ownership, conflict
from .profile import profile_ownership

SLURM = "slinky-slurm"
CRDS, OPERATOR, DATABASE = "mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb"
DATABASE_STACK = (CRDS, OPERATOR, DATABASE)
COMPONENTS = (SLURM, *DATABASE_STACK)
"""What every Slurm recipe declares in every mode; nothing adds or removes these references at bundling."""

FIELD = "configuration.slurm.accounting.mode"
LEGACY_SWITCH = "accounting.enabled"
"""The path on ``slinky-slurm`` by which a recipe from before the feature still turns customer-managed accounting on."""
EXTERNAL = "accounting.external"
"""The path on ``slinky-slurm`` that stands for a slurmdbd outside of the cluster (not for a database there)."""
OPERATOR_CRDS = "crds.enabled"
"""The path on ``mariadb-operator`` by which its chart would install what the CRDs' own component installs."""

_PROVIDED_CONTRACT: Mapping[str, tuple[str, ...]] = {
    SLURM: tuple(
        f"accounting.storageConfig.{key}"
        for key in ("database", "host", "passwordKeyRef.key", "passwordKeyRef.name", "port", "username")
    ),
    DATABASE: (
        "databases",
        "fullnameOverride",
        "grants",
        "mariadb.cleanupPolicy",
        "mariadb.database",
        "mariadb.passwordSecretKeyRef.generate",
        "mariadb.passwordSecretKeyRef.key",
        "mariadb.passwordSecretKeyRef.name",
        "mariadb.rootPasswordSecretKeyRef.generate",
        "mariadb.rootPasswordSecretKeyRef.key",
        "mariadb.rootPasswordSecretKeyRef.name",
        "mariadb.username",
        "namespaceOverride",
        "users",
    ),
}


def parse_mode(text: object) -> AccountingMode:
    """The mode in a configuration file or a caller's argument; case and surrounding blanks do not matter.

    :raises AicrError: INVALID_REQUEST for anything but the three words, the empty text included.
    """
    word = text.strip().lower() if isinstance(text, str) else text
    try:
        return AccountingMode(str(word))
    except ValueError:
        modes = ", ".join(mode.value for mode in AccountingMode)
        raise invalid(f'"{text}" is no Slurm accounting mode', f"choose one of {modes}", mode=str(text)) from None


def ownership(mode: AccountingMode) -> Ownership:
    """What a mode owns (spec/engine.md 5.5); an override that touches any of it is refused, even with an equal value.

    ``accounting.external`` and ``crds.enabled`` decide over the same objects as the gates. Without accounting
    nothing below ``accounting`` can take effect, so ``disabled`` owns it whole.
    """
    owned = {
        SLURM: ("accounting",) if mode is AccountingMode.DISABLED else (LEGACY_SWITCH, EXTERNAL),
        CRDS: (),
        OPERATOR: (OPERATOR_CRDS,),
        DATABASE: (),
    }
    contract = _PROVIDED_CONTRACT if mode is AccountingMode.AICR_PROVIDED else {}
    gates = {name: ("enabled",) if name == SLURM else ("enabled", "install") for name in owned}
    return Ownership(
        f"{FIELD}={mode.value}",
        {name: tuple(sorted({*paths, *gates[name], *contract.get(name, ())})) for name, paths in owned.items()},
    )


def derive(recipe: RecipeResult, mode: AccountingMode) -> RecipeResult:
    """The recipe with everything that a mode decides: configuration, version, overrides, health check (engine.md 5.3).

    The deployment order changes with the gates and is the caller's to recompute.

    :raises AicrError: INVALID_REQUEST: the platform is not Slurm, a component is missing, a selected profile owns
        a path that the mode owns.
    """
    if not recipe.is_slurm:
        raise invalid(
            f'Slurm accounting mode "{mode.value}" is only for recipes whose platform is slurm',
            "drop the accounting mode or set platform to slurm",
            mode=mode.value,
        )
    profile = recipe.metadata.selected_profile if recipe.metadata else None
    if profile:
        clash = conflict(profile_ownership(profile), ownership(mode))
        if clash:
            raise clash
    missing = [name for name in COMPONENTS if recipe.component(name) is None]
    raise_all(_missing(name, f"declare {name} in the overlay") for name in missing)
    refs = tuple(_derived(ref, mode) if ref.name in COMPONENTS else ref for ref in recipe.component_refs)
    return dataclasses.replace(
        recipe,
        component_refs=refs,
        configuration=Configuration(SlurmConfiguration(Accounting(mode))),
        api_version=versions.WRITTEN_STRICT_RECIPE,
    )


def artifact_problems(recipe: RecipeResult) -> list[AicrError]:
    """Where a recipe contradicts its own accounting mode (spec/engine.md 5.4); empty if nowhere.

    A recipe of the plain track makes no claim, and only a mode installs a database: one that has no mode and installs
    it had one. A recipe of the strict track must carry the mode if it is for Slurm or has no selected profile: a mode
    that was cut out does not turn it into a recipe from before the feature.
    """
    mode = recipe.accounting_mode
    strict = recipe.api_version in versions.STRICT_TRACK
    profile = recipe.metadata.selected_profile if recipe.metadata else None
    if mode is None:
        if strict and (recipe.is_slurm or profile is None):
            return [
                invalid(
                    f'recipe of apiVersion "{recipe.api_version}" lacks {FIELD}'
                    + ("" if recipe.is_slurm else " and metadata.selectedProfile"),
                    "generate the recipe again",
                    apiVersion=recipe.api_version,
                )
            ]
        return [*_stripped(recipe)]
    problems = []
    if not strict:
        problems.append(
            invalid(
                f'recipe has {FIELD} but apiVersion "{recipe.api_version}", which does not carry it',
                f'generate the recipe again; a configuration needs apiVersion "{versions.WRITTEN_STRICT_RECIPE}"',
                apiVersion=recipe.api_version,
            )
        )
    if not recipe.is_slurm:
        platform = recipe.criteria.platform if recipe.criteria else None
        problems.append(
            invalid(
                f'recipe has {FIELD} but platform "{platform or ""}"; only a recipe for slurm may have it',
                "generate the recipe again",
                platform=platform,
            )
        )
    if profile:
        clash = conflict(profile_ownership(profile), ownership(mode))
        problems += [clash] if clash else []
    for name in COMPONENTS:
        ref = recipe.component(name)
        problems += [_missing(name, _FILTERED)] if ref is None else _gate_problems(ref, mode)
    return problems


def _stripped(recipe: RecipeResult) -> Iterator[AicrError]:
    """Marks of ``aicr-provided`` in a recipe without mode; those of the other modes change nothing and are let be."""
    for name in DATABASE_STACK:
        ref = recipe.component(name)
        if ref is None:
            continue
        gates = [(ref.overrides or {}).get(gate) for gate in ("enabled", "install")]
        derived = recipe.is_slurm and gates[1] is True
        if derived or (name == DATABASE and not any(gate is False for gate in gates)):
            yield invalid(
                f"{name}: would be installed, which {FIELD}={AccountingMode.AICR_PROVIDED.value} alone does, but the "
                "recipe has no accounting mode",
                "generate the recipe again with that mode, or with another one",
                component=name,
            )


def _gate_problems(ref: ComponentRef, mode: AccountingMode) -> list[AicrError]:
    problems = []
    overrides: Mapping[str, object] = ref.overrides or {}
    if ref.name == SLURM:
        section = overrides.get("accounting")
        path, due = LEGACY_SWITCH, mode is not AccountingMode.DISABLED
        found = section.get("enabled") if isinstance(section, Mapping) else None
    else:
        path, due = "install", mode is AccountingMode.AICR_PROVIDED
        found = overrides.get("install")
    if found is not due:
        shown = "is absent" if found is None else f"is {str(found).lower() if isinstance(found, bool) else repr(found)}"
        problems.append(
            invalid(
                f"{ref.name}: override {path} {shown} where {FIELD}={mode.value} makes it {str(due).lower()}",
                "generate the recipe again; the mode alone decides over this path",
                component=ref.name,
                path=path,
            )
        )
    if due and overrides.get("enabled") is False:
        problems.append(
            invalid(
                f"{ref.name}: is disabled, but {FIELD}={mode.value} needs it",
                "choose another accounting mode or enable the component",
                component=ref.name,
                path="enabled",
            )
        )
    return problems


_FILTERED = (
    "generate the recipe again; if this is the recipe.yaml of a bundle, which has what runs there alone, give the "
    "recipe that the bundle was made from"
)


def _missing(name: str, hint: str) -> AicrError:
    return invalid(f'Slurm recipe lacks component "{name}", which every accounting mode needs', hint, component=name)


def _derived(ref: ComponentRef, mode: AccountingMode) -> ComponentRef:
    overrides = dict(ref.overrides or {})
    if ref.name != SLURM:
        return dataclasses.replace(ref, overrides=overrides | {"install": mode is AccountingMode.AICR_PROVIDED})
    enabled = mode is not AccountingMode.DISABLED
    section = overrides.get("accounting")
    overrides["accounting"] = {**(section if isinstance(section, Mapping) else {}), "enabled": enabled}
    asserts = ref.health_check_asserts
    if enabled and asserts:
        asserts = _with_accounting_step(asserts, ref.name, ref.namespace or "")
    return dataclasses.replace(ref, overrides=overrides, health_check_asserts=asserts)


@lru_cache(maxsize=32)
def _with_accounting_step(asserts: str, name: str, namespace: str) -> str:
    """The health check with one more step: the StatefulSet of slurmdbd is available (spec/engine.md 5.9)."""
    document = yamlio.load(asserts, f"healthCheckAsserts of {name}")
    spec = document.get("spec") if isinstance(document, dict) else None
    steps = spec.get("steps") if isinstance(spec, dict) else None
    if not namespace or not isinstance(steps, list):
        raise invalid(
            f"{name}: its health check cannot be extended for accounting: it lacks a namespace or spec.steps",
            "mend the component's health check in the catalog",
            component=name,
        )
    daemon = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": f"{name}-accounting", "namespace": namespace},
        "status": {"(availableReplicas > `0`)": True},
    }
    steps.append({"name": "validate-accounting-ready", "try": [{"assert": {"resource": daemon}}]})
    return yamlio.dump(document)
