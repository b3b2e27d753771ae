# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of bundles start from: recipes of our own catalog, and a bundle made of one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    RecipeResult,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import (
    Bundle,
    BundleRequest,
    Judged,
    judge,
    make_bundle,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

LEAVES = {
    "eks": Criteria("eks", "h100", "training", "ubuntu", "slurm"),
    "gb200": Criteria("eks", "gb200", "training", "ubuntu", "slurm"),
    "kind": Criteria("kind", "h100", "training", platform="slurm"),
    "inference": Criteria("eks", "h100", "inference", "ubuntu"),
}


@functools.cache
def resolved(leaf: str, mode: AccountingMode | None) -> RecipeResult:
    return resolve(embedded(), LEAVES[leaf], accounting_mode=mode).recipe


RecipeOf = Callable[..., RecipeResult]
BundleOf = Callable[..., Bundle]
JudgedOf = Callable[..., Judged]


@pytest.fixture
def recipe_of() -> RecipeOf:
    """A recipe of our catalog, by the name of a leaf and by accounting mode (disabled)."""

    def make(leaf: str = "eks", mode: AccountingMode | None = None) -> RecipeResult:
        return resolved(leaf, mode)

    return make


def _request(recipe: RecipeResult | str, mode: AccountingMode | None, options: dict[str, Any]) -> BundleRequest:
    recipe = resolved(recipe, mode) if isinstance(recipe, str) else recipe
    return BundleRequest(recipe=recipe, catalog=options.pop("catalog", embedded()), **options)


@pytest.fixture
def bundle_of() -> BundleOf:
    """The bundle of a recipe, or of a leaf of our catalog, with the options of a request."""

    def make(recipe: RecipeResult | str = "eks", mode: AccountingMode | None = None, **options: Any) -> Bundle:
        return make_bundle(_request(recipe, mode, options))

    return make


@pytest.fixture
def judged() -> JudgedOf:
    """The same before any file: what passed the gates."""

    def make(recipe: RecipeResult | str = "eks", mode: AccountingMode | None = None, **options: Any) -> Judged:
        return judge(_request(recipe, mode, options))

    return make
