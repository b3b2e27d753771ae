# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``bundle-info.yaml``: what a bundle is made of and how it begins, for programs (spec/surface.md 2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from .. import yamlio
from ..artifacts import versions
from ..errors import AicrError
from .deployers import Deployer, Plan
from .scheduling import Scheduling
from .value_path import Path, dotted

BUNDLE_INFO = "bundle-info.yaml"
RECIPE = "recipe.yaml"


def bundle_info(
    plan: Plan,
    deployer: Deployer,
    *,
    recipe_digest: str,
    recipe_version: str | None,
    version: str | None,
    components: Sequence[str],
    dynamic: Mapping[str, Sequence[Path]],
    scheduling: Scheduling,
    serial: bool,
) -> dict[str, object]:
    """The document.

    :param recipe_digest: of the recipe as it was given, with everything that it declares.
    :param components: the component filter, if one was given.
    :param dynamic: by component what stands open for the installation; whoever installs may give these paths a value,
        and no others.
    """
    recipe: dict[str, object] = {"digest": recipe_digest}
    if deployer.keeps_recipe:
        recipe["path"] = RECIPE
    if recipe_version:
        recipe["version"] = recipe_version
    settings: dict[str, object] = {"checksums": True, "serial": serial, **deployer.settings()}
    if components:
        settings["components"] = sorted(components)
    if dynamic:
        settings["dynamic"] = sorted(f"{name}:{dotted(path)}" for name, paths in dynamic.items() for path in paths)
    placement = {
        name: group
        for name, group in (
            ("accelerated", _group(scheduling.accelerated_node_selector, scheduling.accelerated_node_tolerations)),
            ("system", _group(scheduling.system_node_selector, scheduling.system_node_tolerations)),
        )
        if group
    }
    if placement:
        settings["nodeScheduling"] = placement
    for key, value in (
        ("storageClass", scheduling.storage_class),
        ("sharedStorageClass", scheduling.shared_storage_class),
    ):
        if value:
            settings[key] = value
    releases = []
    for folder in plan.folders:
        release: dict[str, object] = {
            "component": folder.component,
            "name": folder.release,
            "namespace": folder.namespace,
            "path": folder.path,
        }
        manifest = deployer.release_manifest(folder)
        releases.append({**release, "manifest": manifest} if manifest else release)
    return {
        "apiVersion": versions.WRITTEN_BUNDLE_INFO,
        "kind": versions.BUNDLE_INFO,
        "metadata": {"version": version} if version else {},
        "build": {"deployer": deployer.name, "recipe": recipe, "settings": settings},
        "layout": {"entrypoint": deployer.entrypoint, "releases": releases},
    }


def _group(selector: object, tolerations: object) -> dict[str, object]:
    group: dict[str, object] = {}
    if selector:
        group["selector"] = dict(selector)  # type: ignore[call-overload]
    if tolerations is not None:
        group["tolerations"] = [dict(one) for one in tolerations]  # type: ignore[attr-defined]
    return group


def describes_bundle(directory: FilePath) -> bool:
    """Whether a directory has the file by which one of ours is known."""
    try:
        document = yamlio.load_file(directory / BUNDLE_INFO)
    except AicrError:
        return False
    return isinstance(document, dict) and document.get("kind") == versions.BUNDLE_INFO
