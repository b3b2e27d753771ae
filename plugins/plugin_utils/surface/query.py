# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage query: parts of a hydrated recipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..admission import admit_recipe
from ..artifacts.codec import Path as Steps
from ..artifacts.codec import dotted, type_name
from ..constraints import scalar_text
from ..errors import invalid
from ..resolution import hydrate
from ..resolution import select as select_path
from .catalogs import catalog as catalog_of
from .options import FORMATS, QUERY, Options
from .outcome import as_format, columns
from .plain import plain
from .selection import select


def query(selectors: Sequence[str], options: Options) -> tuple[list[Any], tuple[str, ...]]:
    """The value at each selector, and warnings about the selection.

    With ``format`` a mapping or list is text of that format, and a scalar is its bare text; without it, values are
    what they are.

    :param selectors: such as ``components.gpu-operator.version`` (spec/engine.md 1.14); ``.`` is the whole recipe.
    :raises AicrError: NOT_FOUND for a selector that leads nowhere; see :func:`selection.select`.
    """
    selected = select(options, QUERY)
    document = hydrate(selected.catalog, selected.resolution.recipe)
    found = [select_path(document, selector) for selector in selectors]
    form = selected.values["format"]
    return [value if form is None else _text(value, form) for value in found], selected.warnings


def query_recipe(document: object, selector: str, catalog: str | None = None, form: str | None = None) -> Any:
    """The value at a selector of a recipe that somebody has, as :func:`query` gives it of one that it resolves.

    :param document: the recipe, as a mapping.
    :param catalog: the directory of the external catalog that it was made with.
    :raises AicrError: see :func:`admission.admit_recipe`, and NOT_FOUND for a selector that leads nowhere.
    """
    if not isinstance(selector, str):
        raise invalid(f"the selector must be text, not {type_name(selector)}", "a dot is the whole recipe")
    if form not in (None, *FORMATS):
        raise invalid(f'format "{form}" is not one of {", ".join(FORMATS)}', "leave it out for the value itself")
    loaded = catalog_of(catalog)
    recipe = admit_recipe(plain(document, "recipe"), loaded, "the recipe").recipe
    value = select_path(hydrate(loaded, recipe), selector)
    return value if form is None else _text(value, form)


def _text(value: object, form: str) -> str:
    if form != "json" and not isinstance(value, (dict, list)):
        return scalar_text(value)
    return as_format(value, form, lambda: columns(("PATH", "VALUE"), _leaves(value, ())))


def _leaves(value: object, path: Steps) -> list[tuple[str, str]]:
    items: list[tuple[str | int, object]] = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if not items:
        return [(dotted(path), scalar_text(value))]
    return [leaf for step, item in items for leaf in _leaves(item, (*path, step))]
