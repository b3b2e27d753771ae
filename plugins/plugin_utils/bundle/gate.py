# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate of a bundle: what no override may touch, by whatever surface it comes (ADR-016 section 7, engine.md 5.6).

Every rule looks at one override and says what is wrong with it; the caller collects all of it and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..artifacts import versions
from ..artifacts.recipe import AccountingMode, RecipeResult
from ..constraints.version import Version
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
from ..yamlio import NOT_FINITE, not_finite
from .credential import credentials
from .overrides import TOGGLE, Override, Surface
from .presence import BY_FILTER, Presence
from .scalar import exponents, rounded_versions
from .value_path import ABSENT, Path, Values, dotted, find, leaves

LEGACY_WINDOW_ENDS = "2.0.0"
"""The release from which a recipe without accounting mode may no longer turn accounting on at bundling."""


def credential_problems(override: Override, into: str) -> Iterator[AicrError]:
    """Each credential in the clear within an override; its message names the path, and never the value.

    :param into: where its value goes, as messages call it.
    """
    for path in credentials(override.value, override.path):
        yield invalid(
            f"{override.surface.value} {override.written}:{path} would put a credential into {into}",
            "keep it in a Secret and refer to that by name and key",
            component=override.component,
            path=path,
        )


def override_problems(override: Override, recipe: RecipeResult, into: str = "the bundle") -> Iterator[AicrError]:
    """Why an override is refused; nothing if it may be applied.

    :param into: where its value goes, as messages call it.
    """
    owned = _owned_problem(override, recipe.accounting_mode)
    if owned:
        yield owned
        return
    if override.is_toggle:
        yield from _toggle_problem(override)
    if override.surface is Surface.DYNAMIC:
        yield from _connection_problem(override, recipe.accounting_mode)
        return
    yield from credential_problems(override, into)
    for path in not_finite(override.value, dotted(override.path)):
        yield invalid(
            f"{override.surface.value} {override.written}:{path} is {NOT_FINITE}",
            "give a number, or text in quotes",
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
    """A recipe from before the feature may still switch accounting, on as customer-managed, inside a window."""
    if _is_window_closed():
        return []
    return [
        f"deprecated: {override.place} {_SAYS[value]} for a recipe without accounting mode; it is not recorded in the "
        f"recipe, and stops working in release {LEGACY_WINDOW_ENDS}: generate the recipe of {SLURM} again with "
        f"{FIELD}={_MEANS[value]}"
        for override, value in legacy_switches(recipe, overrides)
        if isinstance(value, bool)
    ]


def legacy_problems(recipe: RecipeResult, overrides: Iterable[Override]) -> Iterator[AicrError]:
    """A switch that is no boolean, which a chart may take for one; any switch at all once the window is closed."""
    for override, value in legacy_switches(recipe, overrides):
        if not isinstance(value, bool):
            yield invalid(
                f"{override.place}: {SLURM}:{LEGACY_SWITCH} is true or false, and decided when the bundle is made",
                f"generate the recipe again with the {FIELD} that you want",
                component=SLURM,
                path=LEGACY_SWITCH,
            )
        elif _is_window_closed():
            yield invalid(
                f"{override.place} {_SAYS[value]} for a recipe without accounting mode, which ended with release "
                f"{LEGACY_WINDOW_ENDS}",
                f"generate the recipe again with {FIELD}={_MEANS[value]}",
                component=SLURM,
                path=LEGACY_SWITCH,
            )


def legacy_switches(recipe: RecipeResult, overrides: Iterable[Override]) -> Iterator[tuple[Override, object]]:
    """What overrides say about the switch of a recipe that has no mode; an ancestor counts if it reaches the switch."""
    if recipe.accounting_mode is not None or not recipe.is_slurm:
        return
    for override in overrides:
        if override.component == SLURM:
            for path, value in leaves(override.value, override.path):
                if intersects(dotted(path), LEGACY_SWITCH) and value != {}:
                    yield override, value


_SAYS = {True: "turns accounting on, which can only mean customer-managed,", False: "leaves accounting off"}
_MEANS = {True: AccountingMode.CUSTOMER_MANAGED.value, False: AccountingMode.DISABLED.value}


def _is_window_closed() -> bool:
    return Version.parse(versions.RELEASE).compare(Version.parse(LEGACY_WINDOW_ENDS)) >= 0


def connection_warnings(
    mode: AccountingMode | None,
    recipe: RecipeResult,
    overrides: Iterable[Override],
    values: Mapping[str, Values],
) -> list[str]:
    """A customer whose connection nobody gave gets the catalog's, which suits one kind of database alone."""
    ref, path = recipe.component(SLURM), tuple(STORAGE.split("."))
    if mode is not AccountingMode.CUSTOMER_MANAGED or ref is None or SLURM not in values:
        return []
    if find(ref.overrides or {}, path) is not ABSENT:
        return []
    if any(one.component == SLURM and intersects(dotted(to), STORAGE) for one in overrides for to in _reached(one)):
        return []
    host, secret = (find(values[SLURM], (*path, *key)) for key in (("host",), ("passwordKeyRef", "name")))
    where = f"host {host}, password in the Secret {secret}"
    hint = "if your database is not called so, give its connection with values or set_file"
    return [f"no override gives {SLURM}:{STORAGE}, so slurmdbd will use what the catalog says ({where}); {hint}"]


def _reached(override: Override) -> Iterator[Path]:
    for path, _unused in leaves(override.value, override.path):
        yield path


def number_warnings(overrides: Iterable[Override]) -> list[str]:
    """Numbers that a chart may print as ``1e+06`` (case H1)."""
    return [
        f"{override.surface.value} {override.written}:{path} is a number that Helm may print with an exponent "
        "(1000000 as 1e+06); give it as text, in quotes, if the chart wants text"
        for override in overrides
        for path in exponents(override.value, override.path)
    ]
