# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes and bundles for tests that deploy: of Slurm and what it needs, made as the actions make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import BUNDLE, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe

CRITERIA = {"service": "kind", "accelerator": "h100", "intent": "training", "platform": "slurm"}
SLURM = ("cert-manager", "slinky-slurm-operator-crds", "slinky-slurm-operator", "slinky-slurm")
DATABASE = ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb")


@dataclass(frozen=True)
class Bundled:
    """A recipe and a bundle on disk."""

    recipe: Path
    bundle: Path

    def variables(self, **more: object) -> dict[str, object]:
        """As variables of a playbook."""
        return {"aicr_recipe": str(self.recipe), "aicr_bundle": str(self.bundle), **more}


def bundled(folder: Path, mode: str, without: tuple[str, ...] = (), **options: Any) -> Bundled:
    """The bundle of a mode, without some of the components.

    :param options: of the action bundle.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recipe = make_recipe(parse(RECIPE, {"criteria": CRITERIA, "slurm_accounting_mode": mode}))
    document: Mapping[str, Any] = recipe.document  # type: ignore[assignment]
    names = [*SLURM, *(DATABASE if mode == "aicr-provided" else ())]
    arguments = {
        "recipe": document,
        "dest": str(folder / "bundle"),
        "components": [name for name in names if name not in without],
        **options,
    }
    make_bundle(parse(BUNDLE, arguments)).deliver(check_mode=False, diff=False, return_document=False)
    (folder / "recipe.yaml").write_text(yamlio.dump(document), encoding="utf-8")
    return Bundled(folder / "recipe.yaml", folder / "bundle")
