# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate of a bundle: what no override may touch, by whatever surface it comes (ADR-016 section 7, engine.md 5.6).

Every rule looks at one override and says what is wrong with it; the caller collects all of it and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..artifacts.recipe import AccountingMode, RecipeResult
from ..errors import AicrError, invalid
from ..ownership import intersects, ownership
from ..ownership.accounting import (
    COMPONENTS,
    CRDS,
    EXTERNAL,
    FIELD,
    LEGACY_SWITCH,
    OPERATOR,
    OPERATOR_CRDS,
    SLURM,
)
from ..ownership.connection import STORAGE
from .credential import credentials
from .overrides import TOGGLE, Override, Surface
from .presence import BY_FILTER, Presence
from .scalar import exponents, rounded_versions
from .value_path import dotted, leaves

LEGACY_WINDOW_ENDS = "2.0.0"
"""The release from which a recipe without accounting mode may no longer turn accounting on at bundling."""


def profile_problem(recipe: RecipeResult) -> AicrError | None:
    """A recipe with a selected profile is refused until its lock exists."""
    profile = recipe.metadata.selected_profile if recipe.metadata else None
    if not profile:
        return None
    selected = f"{profile.name}={profile.value}"
    return invalid(
        f"the recipe has the configuration profile {selected} selected, whose lock this release cannot keep yet",
        "bundle a recipe without a profile",
        profile=selected,
    )


def override_problems(override: Override, recipe: RecipeResult) -> Iterator[AicrError]:
    """Why an override is refused; nothing if it may be applied."""
    owned = _owned_problem(override, recipe.accounting_mode)
    if owned:
        yield owned
        return
    if override.is_toggle:
        yield from _toggle_problem(override)
    if override.surface is Surface.DYNAMIC:
        yield from _connection_problem(override, recipe.accounting_mode)
        return
    for path in credentials(override.value, override.path):
        yield invalid(
            f"{override.surface.value} {override.written}:{path} would put a credential into the bundle",
            "keep it in a Secret and refer to that by name and key",
            component=override.component,
            path=path,
        )
    for path in rounded_versions(override.value, override.path):
        yield invalid(
            f"{override.surface.value} {override.written}:{path} is a fraction or a boolean, but a version, tag or "
            "digest is text",
            'write it in quotes: 1.30 has already become 1.3 and no false, "1.30" stays',
            component=override.component,
            path=path,
        )


def _owned_problem(override: Override, mode: AccountingMode | None) -> AicrError | None:
    """An owned path, an ancestor or a descendant of one: refused, even if the value would be the same."""
    if mode is None:
        return None
    decision = ownership(mode)
    owned = decision.touching(override.component, dotted(override.path))
    if owned is None:
        return None
    message = f"{override.place} touches {override.component}:{owned}, which is owned by {decision.owner}"
    hint = _WAYS_OUT.get((override.component, owned), _REGENERATE)
    if owned == "accounting" and not intersects(dotted(override.path), LEGACY_SWITCH):
        message = (
            f"{override.place} can have no effect: {override.component}:{owned} is owned by {decision.owner}, "
            "without accounting nothing below it is used"
        )
        hint = _WAYS_OUT.get(
            (override.component, dotted(override.path)), "generate the recipe with another accounting mode"
        )
    return invalid(
        message,
        hint,
        component=override.component,
        path=dotted(override.path),
        owned=owned,
        owner=decision.owner,
        surface=override.surface.value,
    )


_REGENERATE = "drop the override; generate the recipe with another accounting mode if that is what you want"
_WAYS_OUT = {
    (SLURM, EXTERNAL): "a slurmdbd outside of the cluster is no accounting mode; for a database outside of it choose "
    f"customer-managed and give {STORAGE}",
    (OPERATOR, OPERATOR_CRDS): f"drop the override; the CRDs come with the component {CRDS}",
}


def _toggle_problem(override: Override) -> Iterator[AicrError]:
    if override.surface is Surface.SET and override.path == (TOGGLE,):
        return
    if override.surface is Surface.DYNAMIC:
        yield invalid(
            f"{override.place}: what a bundle holds is decided when it is made, not when it is installed",
            f"use set {override.written}:{TOGGLE}=false",
            component=override.component,
            path=TOGGLE,
        )
    else:
        yield invalid(
            f'{override.place}: "{TOGGLE}" switches a component of the bundle on or off and is no value of its chart',
            f"use set {override.written}:{TOGGLE}=false",
            component=override.component,
            path=TOGGLE,
        )


def _connection_problem(override: Override, mode: AccountingMode | None) -> Iterator[AicrError]:
    if (
        mode is AccountingMode.CUSTOMER_MANAGED
        and override.component == SLURM
        and intersects(dotted(override.path), STORAGE)
    ):
        yield invalid(
            f"{override.place} defers {SLURM}:{STORAGE} to the installation, where nothing checks the connection",
            "give the connection with set_file or values",
            component=SLURM,
            path=dotted(override.path),
            surface=override.surface.value,
        )


def absence_problems(recipe: RecipeResult, present: Presence) -> Iterator[AicrError]:
    """A component filter may not leave out what the accounting mode needs."""
    mode = recipe.accounting_mode
    if mode in (None, AccountingMode.DISABLED):
        return
    needed = COMPONENTS if mode is AccountingMode.AICR_PROVIDED else (SLURM,)
    for name in needed:
        if present.absent.get(name) == BY_FILTER:
            yield invalid(
                f"components leaves out {name}, which {ownership(mode).owner} needs",
                f"add {name} to components",
                component=name,
                owner=ownership(mode).owner,
                surface="components",
            )


def legacy_warnings(recipe: RecipeResult, overrides: Iterable[Override]) -> list[str]:
    """A recipe from before the feature may still turn accounting on, as customer-managed, inside a window.

    An override by an ancestor path counts if it says anything about the switch.
    """
    if recipe.accounting_mode is not None or not recipe.is_slurm:
        return []
    return [
        f"deprecated: {override.place} turns accounting on for a recipe without accounting mode; it can only mean "
        f"customer-managed, is not recorded in the recipe, and stops working in release {LEGACY_WINDOW_ENDS}: "
        f"generate the recipe of {SLURM} again with {FIELD}={AccountingMode.CUSTOMER_MANAGED.value}"
        for override in overrides
        if override.component == SLURM
        and any(intersects(dotted(path), LEGACY_SWITCH) for path, _ in leaves(override.value, override.path))
    ]


def number_warnings(overrides: Iterable[Override]) -> list[str]:
    """Numbers that a chart may print as ``1e+06`` (case H1)."""
    return [
        f"{override.surface.value} {override.written}:{path} is a number that Helm may print with an exponent "
        "(1000000 as 1e+06); give it as text, in quotes, if the chart wants text"
        for override in overrides
        for path in exponents(override.value, override.path)
    ]
