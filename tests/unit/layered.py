# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A catalog of a test's own, laid over the collection's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog

EMPTY_REGISTRY = {"kind": "ComponentRegistry", "apiVersion": "aicr.run/v1alpha2", "components": []}


def overlay(name: str, **spec: Any) -> dict[str, Any]:
    """An overlay as a document; of the strict track if it declares a profile."""
    version = "aicr.run/v1alpha3" if "profile" in spec else "aicr.run/v1alpha2"
    return {"kind": "RecipeMetadata", "apiVersion": version, "metadata": {"name": name}, "spec": spec}


def write_catalog(folder: Path, *overlays: Mapping[str, Any], **files: str) -> Path:
    """A folder that holds these overlays, and files by their path (``__`` for a slash)."""
    (folder / "overlays").mkdir(parents=True)
    (folder / "registry.yaml").write_text(yamlio.dump(EMPTY_REGISTRY))
    for one in overlays:
        (folder / "overlays" / f"{one['metadata']['name']}.yaml").write_text(yamlio.dump(dict(one)))
    for path, text in files.items():
        file = folder / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def layered(folder: Path, *overlays: Mapping[str, Any], **files: str) -> Catalog:
    """The collection's catalog with these overlays over it."""
    return Catalog.load(external=write_catalog(folder / "layer", *overlays, **files))
