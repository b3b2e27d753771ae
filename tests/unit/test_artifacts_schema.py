# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON Schemas in docs/schemas are current, and accept and refuse what the decoders do (DESIGN, *Dataclasses*)."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from layered import EMPTY_REGISTRY, overlay

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import codec
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.config import config_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    recipe_from_document,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.catalog import EMBEDDED_ROOT
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.overlay import decode_mixin, decode_overlay
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.registry import decode_registry
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.validators import decode_validators
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, raise_all
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

CHECKOUT = Path(__file__).resolve().parents[2]
TOOL = CHECKOUT / "tools" / "schemas.py"


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("schemas", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_current() -> None:
    wanted = tool().texts()
    assert {path.name: path.read_text() for path in (CHECKOUT / "docs" / "schemas").glob("*.json")} == {
        path.name: text for path, text in wanted.items()
    }


SCHEMAS = {path.name.removesuffix(".schema.json"): json.loads(path.read_text())
           for path in (CHECKOUT / "docs" / "schemas").glob("*.json")}  # fmt: skip


def of_catalog(decode: Callable[[object, codec.Reading], object]) -> Callable[[object, str], None]:
    def read(document: object, source: str) -> None:
        reading = codec.Reading(source)
        decode(document, reading)
        raise_all(reading.problems)

    return read


VALIDATORS = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}
DECODERS: dict[str, Callable[[object, str], object]] = {
    "snapshot": snapshot_from_document,
    "recipe": recipe_from_document,
    "recipe-strict": recipe_from_document,
    "config": config_from_document,
    "overlay": of_catalog(decode_overlay),
    "mixin": of_catalog(decode_mixin),
    "registry": of_catalog(decode_registry),
    "validators": of_catalog(decode_validators),
}


PATTERNS = {
    "overlay": "overlays/**/*.yaml",
    "mixin": "mixins/**/*.yaml",
    "registry": "registry.yaml",
    "validators": "validators/catalog.yaml",
}


def plain_recipe() -> dict[str, Any]:
    return recipe_to_document(resolve(embedded(), Criteria("eks", "h100", "training", "ubuntu")).recipe)


def strict_recipe() -> dict[str, Any]:
    criteria = Criteria("eks", "h100", "training", "ubuntu", "slurm")
    recipe = resolve(embedded(), criteria, accounting_mode=AccountingMode.AICR_PROVIDED).recipe
    return copy.deepcopy(recipe_to_document(recipe))


def good() -> list[tuple[str, Any]]:
    """Documents that are right: our whole catalog, recipes, a snapshot, a configuration with every section."""
    section: dict[str, Any] = {"criteria": {"service": "eks", "nodes": 4}, "output": {"path": "r.yaml"}, "data": None}
    documents: list[tuple[str, Any]] = [
        ("recipe", plain_recipe()),
        ("recipe", {"componentRefs": [], "later": 1}),
        ("recipe-strict", strict_recipe()),
        ("snapshot", {"measurements": [{"type": "K8s", "subtypes": [{"subtype": "s", "data": {"a": 1}}]}], "x": 1}),
        ("config", {"kind": "AICRConfig", "apiVersion": "aicr.run/v1beta1", "spec": {
            "recipe": section, "validate": {"execution": {"phases": []}}, "bundle": None, "verify": {"policy": {}}}}),
        ("overlay", overlay("p", profile={"name": "a", "default": "b", "values": {"b": {"componentRefs": []}}})),
        ("registry", EMPTY_REGISTRY),
    ]  # fmt: skip
    for kind, pattern in PATTERNS.items():
        documents += [(kind, yamlio.load_file(path)) for path in sorted(EMBEDDED_ROOT.glob(pattern))]
    return documents


def accepts(name: str, document: Any) -> bool:
    return bool(VALIDATORS[name].is_valid(document))


def decodes(name: str, document: Any) -> bool:
    try:
        DECODERS[name](document, "document")
    except AicrError:
        return False
    return True


def test_what_a_decoder_accepts_its_schema_accepts() -> None:
    seen = set()
    for name, document in good():
        assert decodes(name, document), (name, document)
        errors = [error.message for error in VALIDATORS[name].iter_errors(document)]
        assert not errors, (name, errors)
        seen.add(name)
    assert seen == set(SCHEMAS)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


OPEN = {"overrides", "patches", "labels", "annotations", "data", "context"}
"""What is carried along as it is."""
SAMPLES = {name: document for name, document in good() if name not in ("registry", "recipe")}
"""One of each kind; the last overlay and mixin of ours, and nothing that is as large as the registry."""
MOST = 60
"""Places that are spoilt in a document; a fixed choice, so that a failure comes again."""


@pytest.mark.parametrize("name", SAMPLES)
def test_a_key_that_is_unknown_and_a_value_of_another_type_are_refused_by_both(name: str) -> None:
    document, spoilt = SAMPLES[name], 0
    everywhere = places(document)
    for place in everywhere[:: max(1, len(everywhere) // MOST)]:
        if OPEN & {step for step in place if isinstance(step, str)}:
            continue
        for change in ("key", "type"):
            changed = copy.deepcopy(document)
            holder: Any = changed
            for step in place[:-1]:
                holder = holder[step]
            target = holder[place[-1]] if place else changed
            if change == "key":
                if not isinstance(target, dict):
                    continue
                target["unknown-key"] = 1
            elif place:
                holder[place[-1]] = 1.5 if not isinstance(target, float) else "text"
            if not decodes(name, changed) or not accepts(name, changed):
                spoilt += 1
                assert not accepts(name, changed), (name, place, change)
    assert spoilt >= 5


def test_a_null_is_as_good_as_nothing_where_nothing_is_due() -> None:
    document = strict_recipe()
    for key in ("deploymentOrder", "constraints", "validation"):
        changed = {**document, key: None}
        assert decodes("recipe-strict", changed)
        assert accepts("recipe-strict", changed)
    assert not accepts("recipe-strict", {**document, "componentRefs": None})
    assert not decodes("recipe-strict", {**document, "componentRefs": None})
