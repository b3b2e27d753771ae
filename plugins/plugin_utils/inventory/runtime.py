# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runtime inventory: the one answer to "what will run" (DESIGN, principle *One truth*)."""

from __future__ import annotations

from dataclasses import dataclass

from ..artifacts.recipe import ComponentRef, RecipeResult
from .order import deployment_order, levels


@dataclass(frozen=True)
class RuntimeInventory:
    """The components that will run.

    :ivar components: in deployment order.
    :ivar levels: their names by depth of dependency; what stands in one level may go together.
    """

    components: tuple[ComponentRef, ...]
    levels: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The components' names in deployment order."""
        return tuple(ref.name for ref in self.components)

    def level_of(self, name: str) -> int:
        """The level of a component, from 0; ``KeyError`` if it does not run."""
        for number, level in enumerate(self.levels):
            if name in level:
                return number
        raise KeyError(name)


def runtime_inventory(recipe: RecipeResult) -> RuntimeInventory:
    """What of a recipe will run. The order follows from the dependencies, never from a recorded list.

    :raises AicrError: INVALID_REQUEST: a dependency that is not declared, a cycle among enabled components.
    """
    refs = {ref.name: ref for ref in recipe.component_refs}
    order = deployment_order(recipe.component_refs)
    return RuntimeInventory(tuple(refs[name] for name in order), levels(recipe.component_refs))
