# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action convert: the version as the other track spells it, and nothing else (spec/surface.md 2.0)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from layered import EMPTY_REGISTRY, overlay

from ansible_collections.aicr.runtime.plugins.plugin_utils.admission import admit_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.digest import digest
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.convert import convert
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import CONVERT, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import Outcome

SLURM = Criteria("eks", "h100", "training", "ubuntu", "slurm")
VALUE = {"componentRefs": [{"name": "gpu-operator", "overrides": {"x": 1}}]}
PLAIN = recipe_to_document(resolve(embedded(), Criteria("eks", "h100", "training", "ubuntu")).recipe)
STRICT = {mode: recipe_to_document(resolve(embedded(), SLURM, accounting_mode=mode).recipe) for mode in AccountingMode}
ARTIFACTS: dict[str, tuple[dict[str, Any], str]] = {
    "snapshot": ({
        "kind": "Snapshot", "apiVersion": "aicr.run/v1alpha2", "later": {"kept": True},
        "measurements": [{"type": "K8s", "subtypes": [{"subtype": "server", "data": {"version": "v1.34.0"}}]}],
    }, "aicr.run/v1"),
    "plain recipe": (PLAIN, "aicr.run/v1"),
    **{f"recipe {mode.value}": (document, "aicr.run/v1beta2") for mode, document in STRICT.items()},
    "config": ({"kind": "AICRConfig", "apiVersion": "aicr.run/v1alpha2", "spec": {"recipe": {}}}, "aicr.run/v1beta1"),
    "overlay": (overlay("mine", criteria={"service": "eks"}), "aicr.run/v1beta1"),
    "overlay with profile": (
        overlay("mine", profile={"name": "a", "default": "b", "values": {"b": VALUE}}), "aicr.run/v1beta2"
    ),
    "mixin": ({
        "kind": "RecipeMixin", "apiVersion": "aicr.run/v1alpha2", "metadata": {"name": "m"}, "spec": {},
    }, "aicr.run/v1beta1"),
    "registry": (EMPTY_REGISTRY, "aicr.run/v1beta1"),
}  # fmt: skip


def converted(source: object, track: str) -> Outcome:
    return convert(parse(CONVERT, {"source": source, "track": track}))


@pytest.mark.parametrize("name", ARTIFACTS)
def test_there_and_back_is_the_same_document_and_both_have_one_digest(name: str) -> None:
    document, stable = ARTIFACTS[name]
    before = copy.deepcopy(document)
    there = converted(document, "stable")
    assert there.document == {**document, "apiVersion": stable}
    back = converted(there.document, "alpha")
    assert back.document == document == before
    assert there.digest == back.digest == digest(document)
    again = converted(there.document, "stable")
    assert again.document == there.document


@pytest.mark.parametrize("name", [name for name in ARTIFACTS if "recipe" in name])
def test_a_converted_recipe_is_admitted_as_the_same(name: str) -> None:
    document, stable = ARTIFACTS[name]
    there = admit_recipe(converted(document, "stable").document, embedded(), "stable.yaml").recipe
    here = admit_recipe(document, embedded(), "alpha.yaml").recipe
    assert there.accounting_mode is here.accounting_mode
    assert recipe_to_document(there) == {**recipe_to_document(here), "apiVersion": stable}
    assert digest(recipe_to_document(there)) == digest(recipe_to_document(here))


def test_the_digest_still_tells_what_a_recipe_says_and_of_which_track_its_content_is() -> None:
    digests = {digest(converted(document, "stable").document) for document, _unused in ARTIFACTS.values()}  # type: ignore[arg-type]
    assert len(digests) == len(ARTIFACTS)
    plain = {**PLAIN, "apiVersion": "aicr.run/v1beta2"}
    assert digest(plain) != digest(PLAIN)


@pytest.mark.parametrize(("source", "words"), [
    ({"kind": "BundleInfo", "apiVersion": "aicr.run/v1"}, "BundleInfo"),
    ({"reportFormat": "CTRF"}, "mapping"),
    ({**PLAIN, "apiVersion": "aicr.run/v9"}, "aicr.run/v9"),
    ({**PLAIN, "apiVersion": ""}, "apiVersion"),
    ({**next(iter(STRICT.values())), "later": 1}, "later"),
    ({"kind": "AICRConfig", "apiVersion": "aicr.run/v1alpha2", "spec": {"recipe": {"crteria": {}}}}, "crteria"),
    (overlay("mine", critria={}), "critria"),
])  # fmt: skip
def test_what_no_stage_would_read_is_refused(source: dict[str, Any], words: str) -> None:
    with pytest.raises(AicrError, match=words):
        converted(source, "stable")
