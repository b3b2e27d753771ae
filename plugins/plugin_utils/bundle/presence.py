# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which components of a recipe a bundle holds, and why not the others (spec/engine.md 4.2, *Enable/disable*)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.recipe import RecipeResult
from ..errors import AicrError, invalid
from ..inventory import is_enabled
from .overrides import TOGGLE, Override, Resolve, Surface

_SPELLINGS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}

BY_RECIPE = "the recipe disables it"
BY_TOGGLE = "an enabled=false removed it"
BY_FILTER = "components leaves it out"


@dataclass(frozen=True)
class Presence:
    """What of a recipe's declared components goes into the bundle.

    :ivar absent: component name to the reason why it is not in the bundle.
    """

    declared: tuple[str, ...]
    absent: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether the bundle holds the component."""
        return name in self.declared and name not in self.absent

    def effect_problem(self, override: Override) -> AicrError | None:
        """Why an override cannot take effect, if so (case N30); removing a declared component always can."""
        if self.has(override.component):
            return None
        if override.component not in self.declared:
            return invalid(
                f'{override.place} cannot take effect: unknown component "{override.written}"',
                f"the recipe declares {', '.join(sorted(self.declared))}",
                component=override.written,
            )
        if override.surface is Surface.SET and override.path == (TOGGLE,) and _SPELLINGS.get(override.text) is False:
            return None
        reason = self.absent[override.component]
        return invalid(
            f'{override.place} cannot take effect: component "{override.component}" is not in the bundle, {reason}',
            "drop the override, or keep the component",
            component=override.component,
            reason=reason,
        )


def presence(
    recipe: RecipeResult,
    toggles: Iterable[Override],
    components: Sequence[str],
    resolve: Resolve,
) -> tuple[Presence, list[AicrError]]:
    """Apply toggles and the component filter to what the recipe enables.

    :param toggles: overrides of ``set`` whose path is ``enabled``.
    :param components: names or aliases to keep; empty keeps all.
    """
    problems: list[AicrError] = []
    refs = {ref.name: ref for ref in recipe.component_refs}
    absent = {name: BY_RECIPE for name, ref in refs.items() if not is_enabled(ref)}
    switched_off = dict(_switched_off(toggles, refs, absent, problems))
    absent |= dict.fromkeys((name for name in switched_off if name not in absent), BY_TOGGLE)
    kept = set(refs)
    if components:
        kept = set(_filtered(components, refs, absent, resolve, problems))
        absent |= dict.fromkeys((name for name in refs if name not in kept and name not in absent), BY_FILTER)
    problems += _still_needed(recipe, switched_off, absent)
    found = Presence(tuple(refs), absent)
    if not problems and not any(map(found.has, refs)):
        problems.append(invalid("no enabled component is left for the bundle", "keep at least one component"))
    return found, problems


def _switched_off(
    toggles: Iterable[Override], refs: Mapping[str, object], absent: Mapping[str, str], problems: list[AicrError]
) -> Iterator[tuple[str, Override]]:
    for toggle in toggles:
        if toggle.component not in refs:
            continue
        enabled = _SPELLINGS.get(toggle.text)
        if enabled is None:
            problems.append(
                invalid(
                    f"{toggle.place}: is neither true nor false",
                    "write true or false",
                    component=toggle.component,
                )
            )
        elif enabled and toggle.component in absent:
            problems.append(
                invalid(
                    f'{toggle.place}: component "{toggle.component}" is disabled by the recipe, which is final',
                    "the platform already has it; resolve a recipe that enables it",
                    component=toggle.component,
                )
            )
        elif not enabled:
            yield toggle.component, toggle


def _filtered(
    components: Sequence[str],
    refs: Mapping[str, object],
    absent: Mapping[str, str],
    resolve: Resolve,
    problems: list[AicrError],
) -> Iterator[str]:
    for written in components:
        name = resolve(written)
        if name not in refs:
            problems.append(
                invalid(
                    f'components: unknown component "{written}"',
                    f"the recipe declares {', '.join(sorted(refs))}",
                    component=written,
                )
            )
        elif name in absent:
            problems.append(
                invalid(
                    f'components: component "{name}" is not there to keep, {absent[name]}',
                    f"drop {written} from components",
                    component=name,
                )
            )
        else:
            yield name


def _still_needed(
    recipe: RecipeResult, switched_off: Mapping[str, Override], absent: Mapping[str, str]
) -> Iterator[AicrError]:
    for name, toggle in switched_off.items():
        if absent[name] != BY_TOGGLE:
            continue
        needing = sorted(
            ref.name for ref in recipe.component_refs if name in (ref.dependency_refs or ()) and ref.name not in absent
        )
        if needing:
            yield invalid(
                f'{toggle.place}: component "{name}" cannot be switched off, it is needed by {", ".join(needing)}',
                f"switch off {', '.join(needing)} as well, or resolve a recipe without {name}",
                component=name,
                needed_by=needing,
            )


def bundled_recipe(recipe: RecipeResult, present: Presence) -> RecipeResult:
    """The recipe of what the bundle holds; what is not in it counts as satisfied from outside.

    Its inventory is the order of the bundle, and it stands in the bundle as ``recipe.yaml``.
    """
    refs = []
    for ref in recipe.component_refs:
        if not present.has(ref.name):
            continue
        needed = tuple(name for name in ref.dependency_refs or () if name not in present.absent)
        refs.append(
            ref if needed == (ref.dependency_refs or ()) else dataclasses.replace(ref, dependency_refs=needed or None)
        )
    order = recipe.deployment_order
    kept = None if order is None else tuple(name for name in order if present.has(name))
    return dataclasses.replace(recipe, component_refs=tuple(refs), deployment_order=kept)
