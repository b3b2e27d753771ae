# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe as queries see it: components by name, with their values (spec/engine.md 1.14)."""

from __future__ import annotations

from typing import Any

from ..admission import HELM
from ..artifacts import codec
from ..artifacts.recipe import ANY, AXES, ComponentRef, RecipeResult
from ..catalog import Catalog

_COMPONENT_KEYS = ("name", "type", "source", "namespace", "chart", "version", "tag", "path", "dependencyRefs")


def hydrate(catalog: Catalog, recipe: RecipeResult) -> dict[str, Any]:
    """The recipe's facts with every component's values, as a plain document that shares its parts: do not change it.

    :raises AicrError: NOT_FOUND or INVALID_REQUEST: values of a component cannot be read.
    """
    document: dict[str, Any] = codec.encode(recipe)
    metadata = {"version": "", "appliedOverlays": [], **document.get("metadata", {})}
    for name in ("excludedOverlays", "constraintWarnings"):
        metadata.setdefault(name, [])
    hydrated: dict[str, Any] = {
        "kind": document.get("kind"),
        "apiVersion": document.get("apiVersion"),
        "metadata": metadata,
        "deploymentOrder": document.get("deploymentOrder", []),
        "components": {ref.name: _component(catalog, ref) for ref in recipe.component_refs},
    }
    if recipe.criteria:
        axes = {axis: getattr(recipe.criteria, axis) or ANY for axis in AXES}
        hydrated["criteria"] = {**axes, "nodes": recipe.criteria.nodes or 0}
    hydrated.update({name: document[name] for name in ("constraints", "configuration") if document.get(name)})
    return hydrated


def _component(catalog: Catalog, ref: ComponentRef) -> dict[str, Any]:
    document = codec.encode(ref)
    shown: dict[str, Any] = {"source": ""} | {name: document[name] for name in _COMPONENT_KEYS if document.get(name)}
    if ref.source and not ref.chart and ref.type == HELM:
        shown["chart"] = ref.name
    values = catalog.values(ref)
    if values:
        shown["values"] = values
    return shown
