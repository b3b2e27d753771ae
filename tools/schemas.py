# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/schemas: a JSON Schema of every document that is read, made of the dataclasses that read it.

python tools/schemas.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import versions
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.config import Config
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import RecipeResult
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.schema import schema_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import Snapshot
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import validators
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.overlay import MixinDocument, OverlayDocument
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.registry import RegistryDocument

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schemas"
EMPTY = ["", None]
"""What older artifacts have for a kind or a version."""


def header(kinds: list[Any], read: list[Any]) -> dict[str, Any]:
    """The schemas of ``kind`` and ``apiVersion``."""
    return {"kind": {"enum": kinds}, "apiVersion": {"enum": read}}


def schemas() -> Mapping[str, dict[str, Any]]:
    """All schemas by the name of their file."""
    plain, strict = list(versions.PLAIN_TRACK), list(versions.STRICT_TRACK)
    made = schema_of(RecipeResult, "RecipeResult with configuration or profile", header([versions.RECIPE], strict))
    return {
        "snapshot": schema_of(
            Snapshot, versions.SNAPSHOT, header([versions.SNAPSHOT, *EMPTY], [*plain, *EMPTY]), strict=False
        ),
        "recipe": schema_of(
            RecipeResult,
            "RecipeResult without configuration and profile",
            header([versions.RECIPE, "Recipe", *EMPTY], [*plain, *EMPTY]),
            strict=False,
            without=("configuration",),
        ),
        "recipe-strict": {**made, "required": sorted({*made["required"], "kind", "apiVersion"})},
        **{
            name: schema_of(cls, kind, header([kind], list(versions.read(kind))))
            for name, cls, kind in (
                ("config", Config, versions.CONFIG),
                ("overlay", OverlayDocument, versions.OVERLAY),
                ("mixin", MixinDocument, versions.MIXIN),
                ("registry", RegistryDocument, versions.REGISTRY),
            )
        },
        "validators": schema_of(
            validators.ValidatorsDocument, validators.KIND, header([validators.KIND], [versions.CATALOG_OF_VALIDATORS])
        ),
    }  # fmt: skip


def texts() -> Mapping[Path, str]:
    """The files of docs/schemas."""
    return {FOLDER / f"{name}.schema.json": json.dumps(schema, indent=2) + "\n" for name, schema in schemas().items()}


def main() -> int:
    """Write them, or tell which are not current."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a file is not current")
    check = parser.parse_args().check
    wanted = texts()
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    stale += sorted(set(FOLDER.glob("*.json")) - set(wanted)) if FOLDER.is_dir() else []
    if check:
        for path in stale:
            print(f"{path.name} is not current: run make schemas", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in stale:
        if path in wanted:
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
