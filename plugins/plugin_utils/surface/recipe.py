# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..artifacts.recipe import RecipeResult, recipe_to_document
from ..errors import invalid
from ..inventory import runtime_inventory
from .destination import destination
from .kind import RECIPE as KIND
from .options import RECIPE, RECIPE_LOOKUP, Options
from .outcome import Document, Outcome, as_format, columns
from .selection import select


def make_recipe(options: Options) -> Outcome:
    """Resolve a selection to a recipe.

    :raises AicrError: see :func:`selection.select`.
    """
    selected = select(options, RECIPE)
    recipe = selected.resolution.recipe
    document = recipe_to_document(recipe)
    product = Document(document, _text(recipe, document, selected.values["format"]))
    stored, dest = destination(product, selected.values["dest"], selected.values["format"], options)
    return Outcome(
        product=stored,
        dest=dest,
        digest=product.digest,
        summary=_summary(recipe),
        warnings=selected.warnings,
        incomplete=selected.incomplete,
        document=document,
    )


def look_up_recipe(terms: Sequence[str], options: Options) -> tuple[list[Any], tuple[str, ...]]:
    """What :func:`make_recipe` would write, or the document itself, and warnings about the selection.

    :raises AicrError: INVALID_REQUEST for terms, which mean nothing here; see :func:`selection.select`.
    """
    if terms:
        raise invalid(f"the lookup recipe takes no terms, got {', '.join(terms)}", "state the selection by options")
    selected = select(options, RECIPE_LOOKUP)
    recipe = selected.resolution.recipe
    document = recipe_to_document(recipe)
    whole = options["return_document"]
    return [document if whole else _text(recipe, document, selected.values["format"])], selected.warnings


def _text(recipe: RecipeResult, document: dict[str, Any], form: str) -> str:
    return as_format(document, form, lambda: _table(recipe))


def _summary(recipe: RecipeResult) -> dict[str, Any]:
    mode = recipe.accounting_mode
    return {
        "criteria": recipe.criteria.stated() if recipe.criteria else {},
        "components": len(runtime_inventory(recipe).components),
        "accounting": mode.value if mode else None,
        "overlays": list((recipe.metadata and recipe.metadata.applied_overlays) or ()),
    }


def _table(recipe: RecipeResult) -> str:
    refs = runtime_inventory(recipe).components
    return columns(KIND.heading, [(ref.name, ref.version or "-", ref.namespace or "-") for ref in refs])
