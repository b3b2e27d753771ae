# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage bundle."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import atomic, yamlio
from ..artifacts.config import BundleInput, BundleOutput, BundleSection, Config, ConfigScheduling, Deployment
from ..artifacts.digest import digest
from ..artifacts.recipe import RecipeResult, recipe_to_document
from ..artifacts.versions import RELEASE
from ..bundle import Bundle, BundleRequest, is_bundle, read_scheduling, write_bundle
from ..bundle import make_bundle as build
from ..bundle.bundle_info import BUNDLE_INFO
from ..bundle.writer import is_same
from ..catalog import Catalog
from ..errors import AicrError, conflict, invalid
from .catalogs import catalog as catalog_of
from .given import given_recipe
from .options import BUNDLE, Options
from .outcome import Diff, Outcome
from .path import expanded, real, refuse_unwritable, stands
from .request import Field, Request, place, read_config, request, unsupported, word
from .source import refuse_remote

SHOWN = ("recipe.yaml",)
"""The files that a diff may show; of all others it names the digest, since values may hold what nobody should read."""


def make_bundle(options: Options) -> Outcome:
    """Turn a recipe into a bundle.

    :raises AicrError: what is wrong with the options, the files they name, the recipe, an override, or the values.
    """
    values = read_request(options, read_config(options))
    if values["dest"] is None:
        raise invalid("dest is missing", "name it as option, or as spec.bundle.output.target in a config")
    refuse_remote(values["dest"], "dest")
    for entry in values["set_file"] or ():
        refuse_remote(entry.partition("=")[2], "set_file")
    catalog = catalog_of(values["catalog"])
    recipe, warnings = given_recipe(values["recipe"], options, "spec.bundle.input.recipe", catalog)
    dest = expanded(values["dest"])
    try:
        bundle = build(_asked(values, recipe, catalog))
    except AicrError as error:
        raise _with_what_stays(error, dest, recipe) from error
    return Outcome(
        product=Directory(bundle),
        dest=dest,
        digest=bundle.digest,
        summary=_summary(bundle, recipe),
        warnings=(*values.overruled, *warnings, *bundle.warnings),
        document=bundle.info,
        also={"files": sorted(bundle.tree), "order": list(bundle.order)},
    )


def _asked(values: Mapping[str, Any], recipe: RecipeResult, catalog: Catalog) -> BundleRequest:
    return BundleRequest(
        recipe=recipe,
        catalog=catalog,
        deployer=values["deployer"],
        values=values["values"] or {},
        set=values["set"] or (),
        set_json=values["set_json"] or (),
        set_file=values["set_file"] or (),
        dynamic=values["dynamic"] or (),
        components=values["components"] or (),
        scheduling=read_scheduling(values["scheduling"] or {}),
        repo=values["repo"],
        target_revision=values["target_revision"],
        serial=values["serial"],
        argocd=values["argocd"] or {},
        version=RELEASE,
    )


def _with_what_stays(error: AicrError, dest: Path, recipe: RecipeResult) -> AicrError:
    """A refusal that says if what stands at the destination is not of this recipe, which may stand beside it."""
    try:
        info = yamlio.load_file(dest / BUNDLE_INFO)
        held = info["build"]["recipe"]["digest"]
    except (AicrError, KeyError, TypeError):
        return error
    if held == digest(recipe_to_document(recipe)):
        return error
    rest = f"until then {dest} holds the bundle of another recipe ({held})"
    return AicrError(error.code, error.message, "; ".join(filter(None, (error.hint, rest))), error.details)


@dataclass(frozen=True)
class Directory:
    """A bundle as a directory of files."""

    bundle: Bundle

    def differs(self, dest: Path) -> bool:
        if os.path.islink(dest):
            raise conflict(
                f"{dest}: is a link, and a bundle replaces a directory as a whole", f"name {real(dest)} as dest"
            )
        if stands(dest) and is_same(self.bundle.tree, dest):
            return False
        refuse_unwritable(dest)
        atomic.refuse_foreign(dest, is_bundle)
        return True

    def diff(self, dest: Path) -> Diff:
        present = _tree_at(dest)
        texts = [(dest, _listing(present), _listing(self.bundle.tree))]
        texts += [(dest / name, _text_of(present, name), _text_of(self.bundle.tree, name)) for name in SHOWN]
        return [
            {"before_header": str(path), "before": before, "after_header": str(path), "after": after}
            for path, before, after in texts
            if before != after
        ]

    def rehearse(self, dest: Path) -> None:
        """Nothing: what can be known of a path, :meth:`differs` has looked at."""

    def store(self, dest: Path) -> None:
        write_bundle(self.bundle, dest)


def read_request(options: Options, config: Config | None) -> Request:
    """The options of a bundle, those of a configuration file among them; see :func:`request.request`."""
    section = (config.spec.bundle if config else None) or BundleSection()
    source, output = section.input or BundleInput(), section.output or BundleOutput()
    deployment, scheduling = section.deployment or Deployment(), section.scheduling or ConfigScheduling()
    unsupported(
        options["config"],
        {
            "spec.bundle.output.imageRefs": output.image_refs,
            "spec.bundle.deployment.vendorCharts": deployment.vendor_charts,
            "spec.bundle.scheduling.draEvictionNodeLabel": scheduling.dra_eviction_node_label,
            "spec.bundle.attestation": section.attestation,
            "spec.bundle.registry": section.registry,
        },
    )
    fields = {
        "recipe": Field("spec.bundle.input.recipe", source.recipe or None, place),
        "dest": Field("spec.bundle.output.target", output.target or None, place),
        "deployer": Field("spec.bundle.deployment.deployer", deployment.deployer or None, word),
        "repo": Field("spec.bundle.deployment.repo", deployment.repo or None),
        "argocd.app_name": Field("spec.bundle.deployment.appName", deployment.app_name or None),
        "set": Field("spec.bundle.deployment.set", list(deployment.set or ()) or None),
        "dynamic": Field("spec.bundle.deployment.dynamic", list(deployment.dynamic or ()) or None),
    }
    for name, key in _PLACEMENT.items():
        value = getattr(scheduling, name)
        value = list(value) if isinstance(value, tuple) else value
        fields[f"scheduling.{name}"] = Field(f"spec.bundle.scheduling.{key}", None if value in ("", 0) else value)
    values = request(options, BUNDLE, fields)
    _refuse_detour(options["config"], config, source)
    return values


_PLACEMENT = {
    "system_node_selector": "systemNodeSelector",
    "system_node_tolerations": "systemNodeTolerations",
    "accelerated_node_selector": "acceleratedNodeSelector",
    "accelerated_node_tolerations": "acceleratedNodeTolerations",
    "workload_selector": "workloadSelector",
    "workload_gate": "workloadGate",
    "nodes": "nodes",
    "storage_class": "storageClass",
    "shared_storage_class": "sharedStorageClass",
}


def _refuse_detour(path: str, config: Config | None, source: BundleInput) -> None:
    """One file says where the recipe goes and where it comes from; both must be one place (spec/surface.md 2.4)."""
    output = config.spec.recipe.output if config and config.spec.recipe else None
    if source.recipe and output and output.path and place(source.recipe) != place(output.path):
        raise invalid(
            f"{path}: spec.bundle.input.recipe ({source.recipe}) is not spec.recipe.output.path ({output.path})",
            "name the same file in both",
        )


def _summary(bundle: Bundle, recipe: RecipeResult) -> dict[str, object]:
    info, mode = bundle.info, recipe.accounting_mode
    return {
        "deployer": info["build"]["deployer"],
        "components": len({release["component"] for release in info["layout"]["releases"]}),
        "files": len(bundle.tree),
        "accounting": mode.value if mode else None,
    }


def _tree_at(root: Path) -> atomic.Tree:
    files = (path for path in root.rglob("*") if path.is_symlink() or not path.is_dir()) if root.is_dir() else ()
    return {path.relative_to(root).as_posix(): _file_at(path) for path in files}


def _file_at(path: Path) -> atomic.FileContent:
    if path.is_symlink():
        return atomic.FileContent(f"a link to {path.readlink()}".encode())
    return atomic.FileContent(path.read_bytes(), executable=bool(path.stat().st_mode & 0o100))


def _listing(tree: atomic.Tree) -> str:
    """One line for each file: digest, permissions, name."""
    return "".join(
        f"{hashlib.sha256(file.content).hexdigest()[:16]} {file.mode:o} {name}\n" for name, file in sorted(tree.items())
    )


def _text_of(tree: atomic.Tree, name: str) -> str:
    return tree[name].content.decode(errors="replace") if name in tree else ""
