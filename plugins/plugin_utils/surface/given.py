# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe that a later stage starts from."""

from __future__ import annotations

from ..admission import admit_recipe
from ..artifacts.recipe import RecipeResult
from ..artifacts.versions import OVERLAY, RELEASE
from ..catalog import Catalog
from ..errors import invalid
from ..resolution import resolve_overlay
from .options import Options
from .source import read


def given_recipe(value: object, options: Options, field: str, catalog: Catalog) -> tuple[RecipeResult, list[str]]:
    """The recipe that the option ``recipe`` names or holds, admitted, and warnings about it.

    An overlay of a catalog is resolved by its own criteria first (spec/engine.md 1.12).

    :param field: the field of a configuration file that could have named it.
    :raises AicrError: see :func:`source.read`, and everything that keeps a recipe from being admitted.
    """
    if value is None:
        config = options["config"]
        place = f"as option or as {field} in {config}" if config else "as option or in a config"
        raise invalid("recipe is missing", f"name it {place}")
    source = read(value, "recipe", options)
    if isinstance(source.document, dict) and source.document.get("kind") == OVERLAY:
        resolution = resolve_overlay(catalog, source.document, source.name, tool_version=RELEASE)
        return resolution.recipe, list(resolution.warnings)
    admitted = admit_recipe(source.document, catalog, source.name)
    return admitted.recipe, list(admitted.warnings)
