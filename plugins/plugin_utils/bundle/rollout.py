# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DRA driver restarts when the GPU operator's chart changes: its pods carry that version (spec/engine.md 4.2)."""

from __future__ import annotations

from collections.abc import Mapping

from ..artifacts.recipe import RecipeResult
from .value_path import Values, find, put

DRA_DRIVER, GPU_OPERATOR = "nvidia-dra-driver-gpu", "gpu-operator"
ANNOTATION = "aicr.run/gpu-operator-chart-version"
_POD_ANNOTATIONS = (("controller", "podAnnotations"), ("kubeletPlugin", "podAnnotations"))


def mark_rollout(name: str, values: Values, recipe: RecipeResult) -> Values:
    """The values with the operator's version on the DRA driver's pods, if both are in the bundle."""
    operator = recipe.component(GPU_OPERATOR) if name == DRA_DRIVER else None
    if not operator or not operator.version:
        return values
    for path in _POD_ANNOTATIONS:
        held = find(values, path)
        if isinstance(find(values, path[:1]) or {}, Mapping) and (isinstance(held, Mapping) or not held):
            values = put(values, path, {**(held if isinstance(held, Mapping) else {}), ANNOTATION: operator.version})
    return values
