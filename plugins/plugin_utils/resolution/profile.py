# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration profile of a recipe: which overlay declares one, which value is chosen, what that sets (ADR-015).

A snapshot never chooses; it only says whether the chosen value suits the cluster, and no answer is a refusal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from ..artifacts import versions
from ..artifacts.recipe import Constraint, Phase, RecipeHeader, RecipeResult, SelectedProfile, Validation
from ..artifacts.snapshot import Snapshot
from ..catalog import Overlay, Profile, ProfileValue, merge_overrides
from ..constraints import evaluate, narrowed
from ..errors import AicrError, Code, invalid, raise_all
from ..inventory import is_enabled
from ..ownership.profile import owned_paths, parse_selection
from .selection import Candidate


@dataclass(frozen=True)
class Choice:
    """A value of the profile that an overlay declares."""

    overlay: Overlay
    profile: Profile
    name: str

    @property
    def value(self) -> ProfileValue:
        """What the value sets and wants."""
        return self.profile.values[self.name]

    def __str__(self) -> str:
        return f"profile {self.profile.name}={self.name}"


def choose(base: Overlay, leaves: Iterable[Candidate], selection: str | None) -> Choice | None:
    """The value of the profile that the leaves, their ancestors or the base declare; ``None`` if none of them does.

    :param leaves: also those that a snapshot rules out: an excluded overlay's profile is not silently forgotten.
    :param selection: ``name=value``; without one, the declared default.
    :raises AicrError: INVALID_REQUEST: two overlays declare one, or the selection names none of its values.
    """
    chains = [overlay for leaf in leaves for overlay in leaf.chain]
    declaring = {overlay.name: overlay for overlay in (base, *chains) if overlay.profile}
    wanted = None if selection is None else parse_selection(selection)
    if len(declaring) > 1:
        named = " and ".join(f'"{name}"' for name in sorted(declaring))
        raise invalid(
            f"the overlays {named} both declare a configuration profile, and a recipe has one",
            "choose criteria that only one of them is for, or let one overlay declare it",
            overlays=sorted(declaring),
        )
    for overlay in declaring.values():
        if overlay.profile:
            return Choice(overlay, overlay.profile, _chosen(overlay.profile, wanted, selection))
    if wanted:
        raise invalid(
            f'profile "{selection}" is selected, but no overlay of this recipe declares a profile',
            "leave the profile out, or choose criteria whose overlays declare one",
            profile=selection,
        )
    return None


def _chosen(profile: Profile, wanted: tuple[str, str] | None, selection: str | None) -> str:
    if wanted is None:
        return profile.default
    name, value = wanted
    if name == profile.name and value in profile.values:
        return value
    what = f'there is no profile "{name}"' if name != profile.name else f'profile "{name}" has no value "{value}"'
    raise invalid(
        f'profile "{selection}": {what}',
        f"valid: {', '.join(f'{profile.name}={each}' for each in sorted(profile.values))}",
        profile=selection,
    )


def refuse_excluded(choice: Choice, leaves: Iterable[Candidate], surviving: Iterable[Candidate]) -> None:
    """Refuse a selection whose every declaring chain the snapshot rules out; there is no recipe without the profile.

    :raises AicrError: INVALID_REQUEST, naming the overlays.
    """
    carriers = [leaf.name for leaf in leaves if choice.overlay in leaf.chain]
    if carriers and not any(choice.overlay in leaf.chain for leaf in surviving):
        raise invalid(
            f'{choice} is declared by overlay "{choice.overlay.name}", and the snapshot rules out what builds on it: '
            f"{', '.join(carriers)}",
            "mend the cluster or take a new snapshot",
            overlays=carriers,
        )


def verify(choice: Choice, snapshot: Snapshot) -> None:
    """Hold the chosen value's constraints against a snapshot (spec/engine.md 3.5).

    :raises AicrError: INVALID_REQUEST for every constraint that fails or whose reading the snapshot lacks; the code of
        a reading that cannot be judged.
    """
    raise_all(
        problem for constraint in choice.value.constraints if (problem := _mismatch(choice, constraint, snapshot))
    )


def _mismatch(choice: Choice, constraint: Constraint, snapshot: Snapshot) -> AicrError | None:
    others = [f"{choice.profile.name}={name}" for name in sorted(choice.profile.values) if name != choice.name]
    hint = constraint.remediation or (
        f"choose {' or '.join(others)} if that is how the cluster is made" if others else ""
    )
    details = {"constraint": constraint.name, "profile": f"{choice.profile.name}={choice.name}"}
    try:
        outcome = evaluate(constraint, snapshot)
    except AicrError as error:
        why = f"{choice} cannot be verified, {constraint.name} is unavailable: {error.message}"
        code = Code.INVALID_REQUEST if error.code is Code.NOT_FOUND else error.code
        return AicrError(code, why, error.hint, details)
    if outcome.passed:
        return None
    return invalid(
        f'{choice}: {constraint.name} must be "{outcome.expected}", found "{outcome.actual}"', hint, **details
    )


def with_choice(recipe: RecipeResult, choice: Choice) -> RecipeResult:
    """The recipe with what the chosen value sets, after all overlays and mixins; it is of the strict track then.

    :raises AicrError: INVALID_REQUEST: a component of any of the profile's values is missing or disabled, or a
        constraint that the recipe has already is not narrowed.
    """
    used = {ref.name: ref for value in choice.profile.values.values() for ref in value.component_refs}
    problems = [problem for name in sorted(used) if (problem := _missing(recipe, choice, name))]
    overrides = {ref.name: ref.overrides or {} for ref in choice.value.component_refs}
    refs = tuple(
        dataclasses.replace(ref, overrides=merge_overrides(ref.overrides or {}, overrides[ref.name]))
        if overrides.get(ref.name)
        else ref
        for ref in recipe.component_refs
    )
    constraints = {constraint.name: constraint for constraint in recipe.constraints or ()}
    for constraint in choice.value.constraints:
        present = constraints.get(constraint.name)
        try:
            constraints[constraint.name] = narrowed(present, constraint) if present else constraint
        except AicrError as error:
            problems.append(AicrError(error.code, f"{choice}: {error.message}", error.hint, error.details))
    validation = _with_readiness(recipe.validation, choice, problems)
    raise_all(problems)
    selected = SelectedProfile(
        choice.profile.name,
        choice.name,
        owned_paths(
            (ref.name, ref.overrides) for value in choice.profile.values.values() for ref in value.component_refs
        ),
        choice.value.advertiser or None,
    )
    return dataclasses.replace(
        recipe,
        api_version=versions.WRITTEN_STRICT_RECIPE,
        metadata=dataclasses.replace(recipe.metadata or RecipeHeader(), selected_profile=selected),
        component_refs=refs,
        constraints=tuple(constraints[name] for name in sorted(constraints)) or None,
        validation=validation,
    )


def _missing(recipe: RecipeResult, choice: Choice, name: str) -> AicrError | None:
    ref = recipe.component(name)
    if ref is not None and is_enabled(ref):
        return None
    return invalid(
        f'profile "{choice.profile.name}" of overlay "{choice.overlay.name}" needs component "{name}", which is '
        f"{'disabled' if ref else 'missing'}",
        "let the overlays bring and enable it",
        component=name,
    )


def _with_readiness(validation: Validation | None, choice: Choice, problems: list[AicrError]) -> Validation | None:
    wanted = choice.value.readiness_constraints
    if not wanted:
        return validation
    validation = validation or Validation()
    readiness = validation.readiness or Phase()
    present = {constraint.name for constraint in readiness.constraints or ()}
    problems += [
        invalid(
            f"{choice}: readiness constraint {constraint.name} is one of the recipe already",
            "keep it in one place",
            constraint=constraint.name,
        )
        for constraint in wanted
        if constraint.name in present
    ]
    constraints = (*(readiness.constraints or ()), *wanted)
    return dataclasses.replace(validation, readiness=dataclasses.replace(readiness, constraints=constraints))
