# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that are given when a bundle is installed: they pass the gate that they would have passed at bundling.

A bundle says by ``dynamic`` which paths stand open. Any other value is the bundle's to say, and so is what the
accounting mode owns, whatever the bundle says (ADR-016 section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..artifacts.recipe import RecipeResult
from ..catalog import Catalog, merge_values
from ..errors import AicrError, invalid, raise_all
from ..inventory import is_enabled
from ..ownership import value_problems
from . import gate
from .opened import OpenedBundle
from .overrides import Override, OverrideInput, read_overrides
from .presence import BY_FILTER, BY_RECIPE, Presence, bundled_recipe
from .value_path import Values, dotted, find, leaves, meets, nest


@dataclass(frozen=True)
class Installation:
    """A bundle together with what is said at its installation.

    :ivar recipe: of what the bundle holds; its inventory is the order of installation.
    :ivar given: by component what is laid over the bundle's values.
    :ivar values: by component the values that its charts get.
    :ivar warnings: what stands open and got no value.
    """

    recipe: RecipeResult
    given: Mapping[str, Values]
    values: Mapping[str, Values]
    warnings: tuple[str, ...]


def judge_installation(
    bundle: OpenedBundle, recipe: RecipeResult, catalog: Catalog, values: Mapping[str, object]
) -> Installation:
    """What a bundle installs with values given now.

    :param recipe: admitted; the one that the bundle was made from, which the caller has seen to.
    :param values: component name or alias to values.
    :raises AicrError: INVALID_REQUEST with every value that is refused: an owned path, a path that does not stand open,
        a component that is not in the bundle, a credential, effective values that contradict the accounting mode.
    """
    present = _presence(bundle, recipe)
    overrides, problems, notes = read_overrides(
        OverrideInput(values, (), (), (), ()), lambda written: resolve_name(written, recipe, catalog)
    )
    for override in overrides:
        problems += _problems(override, recipe, bundle, present)
    raise_all(problems)
    given = {
        name: nest([(one.path, one.value) for one in overrides if one.component == name])
        for name in dict.fromkeys(one.component for one in overrides)
    }
    effective = {
        folder.component: merge_values(
            merge_values(folder.values, folder.cluster_values), given.get(folder.component, {})
        )
        for folder in bundle.folders
    }
    if recipe.accounting_mode is not None:
        raise_all(value_problems(recipe.accounting_mode, effective))
    return Installation(bundled_recipe(recipe, present), given, effective, (*notes, *_left_open(bundle, given)))


def resolve_name(written: str, recipe: RecipeResult, catalog: Catalog) -> str:
    """A component's name or alias to its name; an unknown one to itself."""
    if recipe.component(written) is not None:
        return written
    entry = catalog.registry.by_alias(written)
    return entry.name if entry else written


def _presence(bundle: OpenedBundle, recipe: RecipeResult) -> Presence:
    held = set(bundle.components)
    declared = tuple(ref.name for ref in recipe.component_refs)
    unknown = sorted(held - set(declared))
    if unknown:
        raise invalid(
            f"{bundle.directory}: holds {', '.join(unknown)}, which the recipe does not declare",
            "give the recipe that the bundle was made from",
        )
    absent = {
        ref.name: BY_FILTER if is_enabled(ref) else BY_RECIPE for ref in recipe.component_refs if ref.name not in held
    }
    return Presence(declared, absent)


def _problems(override: Override, recipe: RecipeResult, bundle: OpenedBundle, present: Presence) -> Iterator[AicrError]:
    refused = list(gate.override_problems(override, recipe, "a release of Helm"))
    lost = present.effect_problem(override)
    yield from refused
    if lost:
        yield lost
    elif not refused and not any(
        override.path[: len(path)] == path for path in bundle.open_paths.get(override.component, ())
    ):
        yield _closed(override, bundle)


def _closed(override: Override, bundle: OpenedBundle) -> AicrError:
    paths = [dotted(path) for path in bundle.open_paths.get(override.component, ())]
    return invalid(
        f"{override.place} does not stand open in this bundle"
        + (f"; of {override.component} these do: {', '.join(sorted(paths))}" if paths else ""),
        f"give it when the bundle is made, with values, or leave it open there with dynamic {override.where}",
        component=override.component,
        path=dotted(override.path),
    )


def _left_open(bundle: OpenedBundle, given: Mapping[str, Values]) -> Iterable[str]:
    """Empty text at an open path stands for a value that nobody has given."""
    held = {folder.component: folder.cluster_values for folder in bundle.folders}
    for component, paths in sorted(bundle.open_paths.items()):
        said = [path for path, _unused in leaves(given.get(component, {})) if path]
        for path in sorted(paths):
            if find(held.get(component, {}), path) == "" and not any(meets(path, one) for one in said):
                yield (
                    f"{component}:{dotted(path)} was left open for the installation and is given no value, so it is "
                    "empty text"
                )
