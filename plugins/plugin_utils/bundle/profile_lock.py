# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a selected profile: what it owns is in the bundle as it is in the recipe (spec/engine.md section 6).

Unlike accounting it looks at what comes out: an override that says the same, or more beside it, passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .. import yamlio
from ..artifacts.recipe import RecipeResult
from ..catalog import Catalog
from ..errors import AicrError, invalid
from ..inventory import is_enabled
from ..ownership import Ownership, intersects, lock
from ..ownership.paths import segments
from ..ownership.profile import PRESENCE
from .overrides import Override, Surface
from .presence import Presence
from .value_path import ABSENT, Values, dotted, find


def profile_lock(recipe: RecipeResult) -> Ownership | None:
    """What the recipe's selected profile locks; ``None`` if it has none."""
    profile = recipe.metadata.selected_profile if recipe.metadata else None
    return lock(profile, (ref.name for ref in recipe.component_refs if is_enabled(ref))) if profile else None


def lock_problems(
    locked: Ownership,
    recipe: RecipeResult,
    catalog: Catalog,
    present: Presence,
    values: Mapping[str, Values],
    overrides: Iterable[Override],
) -> Iterator[AicrError]:
    """Everything in which a bundle is not what the profile says.

    :param recipe: the whole recipe, with what the bundle leaves out.
    :param values: the bundle's effective values by component.
    """
    for override in overrides:
        if override.surface is Surface.DYNAMIC:
            owned = locked.touching(override.component, dotted(override.path))
            if owned:
                yield _problem(
                    locked,
                    override.component,
                    owned,
                    f"{override.place} leaves {override.component}:{owned} open for the installation, where nothing "
                    f"keeps what {locked.owner} has set",
                )
    for component, paths in locked.paths.items():
        ref = recipe.component(component)
        if ref is None or not present.has(component):
            reason = present.absent.get(component, "the recipe has no such component")
            yield _problem(
                locked, component, PRESENCE, f'{locked.owner} needs component "{component}" in the bundle: {reason}'
            )
        elif component in values:
            due = catalog.values(ref)
            for path in paths:
                if path != PRESENCE and not _same(find(due, segments(path)), find(values[component], segments(path))):
                    yield _problem(locked, component, path, _diverged(locked, component, path, overrides))


def _diverged(locked: Ownership, component: str, path: str, overrides: Iterable[Override]) -> str:
    causes = [
        override.place
        for override in overrides
        if override.component == component and intersects(dotted(override.path), path)
    ]
    by = f"by {', '.join(causes)} " if causes else ""
    return f"{component}:{path} is locked by {locked.owner}, and {by}it would be another value than in the recipe"


def _same(one: object, other: object) -> bool:
    """Whether two values are the same in type, too; absent is not ``null``."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return yamlio.dump({"value": one}) == yamlio.dump({"value": other})


def _problem(locked: Ownership, component: str, path: str, message: str) -> AicrError:
    return invalid(
        message,
        "generate the recipe with another value of the profile, or drop the override",
        component=component,
        path=path,
        owner=locked.owner,
    )
