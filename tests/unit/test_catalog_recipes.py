# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogs that exist load: the collection's own, and the one that the reference comes with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AXES
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, embedded

LEAVES = (
    "h100-eks-ubuntu-training-slurm",
    "gb200-eks-ubuntu-training-slurm",
    "h100-kind-training-slurm",
    "h100-eks-inference",
)


def assert_whole(catalog: Catalog) -> None:
    """Whatever a recipe may come to need is there."""
    for overlay in (catalog.base, *catalog.overlays.values()):
        assert catalog.chain(overlay)[0] is catalog.base
        for ref in overlay.component_refs:
            if ref.values_file:
                assert isinstance(catalog.values(ref), dict)
            for path in (*(ref.manifest_files or ()), *(ref.pre_manifest_files or ())):
                assert catalog.read_text(path).strip()
    for component in catalog.registry.components:
        if component.health_check and component.health_check.assert_file:
            assert catalog.read_text(component.health_check.assert_file)


def test_the_collection_brings_a_whole_catalog() -> None:
    catalog = embedded()
    assert_whole(catalog)
    assert set(LEAVES) <= set(catalog.overlays)
    assert catalog.validators
    assert embedded() is catalog


@pytest.mark.parametrize("leaf", LEAVES)
def test_each_leaf_names_its_criteria(leaf: str) -> None:
    criteria = embedded().overlays[leaf].criteria
    assert criteria is not None
    assert all(
        getattr(criteria, axis) is None or getattr(criteria, axis) == getattr(criteria, axis).lower() for axis in AXES
    )


def test_every_manifest_of_our_own_catalog_can_be_bundled_without_helm() -> None:
    catalog = embedded()
    for overlay in (catalog.base, *catalog.overlays.values(), *catalog.mixins.values()):
        for ref in overlay.component_refs:
            for path in (*(ref.manifest_files or ()), *(ref.pre_manifest_files or ())):
                assert catalog.manifest_rule(ref.name, path), f"{overlay.name}: {ref.name}: {path} has no rule"


def test_lines_are_sought_only_for_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlio, "line_of", lambda text, path: pytest.fail("a right file was parsed twice"))
    Catalog.load()


def test_the_catalog_of_the_reference_loads(shared: Path) -> None:
    catalog = Catalog.load(shared / "catalog" / "aicr-2026-08-19")
    assert_whole(catalog)
    assert (len(catalog.overlays), len(catalog.mixins), len(catalog.registry.names)) == (102, 4, 43)
    assert len(catalog.validators) == 22
    profiles = {name: overlay.profile.name for name, overlay in catalog.overlays.items() if overlay.profile}
    assert profiles == {"aks": "gpuStack", "gke-cos": "gpuStack"}
