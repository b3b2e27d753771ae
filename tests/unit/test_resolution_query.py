# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.14, spec/surface.md 1.7: a hydrated recipe and the paths into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode, Criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import hydrate, resolve, select

DOCUMENT = {"a": {"b": [10, {"c": "x"}], "n.v/g": 8, "empty": {}, "": 0}, "flag": False}


@pytest.mark.parametrize(("selector", "value"), [
    ("", DOCUMENT), (".", DOCUMENT), ("flag", False), (".flag", False), ("a.b", [10, {"c": "x"}]),
    ("a.b.0", 10), ("a.b[0]", 10), ("a.b[1].c", "x"), ('a."n.v/g"', 8), ("a.'n.v/g'", 8), ('a["n.v/g"]', 8),
    ("a.empty", {}),
])  # fmt: skip
def test_a_selector_reaches_every_place(selector: str, value: object) -> None:
    assert select(DOCUMENT, selector) == value


@pytest.mark.parametrize(("selector", "named"), [
    ("nosuch", '"nosuch"'), ("a.nosuch", "available keys"), ("Flag", "a, flag"),
    ("flag.x", '"x"'), ("a.b.2", "2 elements"),
    ("a.b.x", '"x"'), ("a.n.v/g", 'quote a key with dots: "n.v/g"'), (" flag ", '" flag "'), ("a.b.", '""'),
])  # fmt: skip
def test_a_selector_that_leads_nowhere_says_what_there_is(selector: str, named: str) -> None:
    with pytest.raises(AicrError) as caught:
        select(DOCUMENT, selector)
    assert caught.value.code is Code.NOT_FOUND
    assert named in str(caught.value)
    assert selector in caught.value.message


@pytest.mark.parametrize("selector", ["a[", 'a."b', "a.b[x]"])
def test_a_selector_that_cannot_be_read_is_refused(selector: str) -> None:
    with pytest.raises(AicrError) as caught:
        select(DOCUMENT, selector)
    assert selector in caught.value.message


@given(st.lists(st.text("ab.[]/ 0", min_size=1), min_size=1, max_size=4))
def test_any_key_can_be_quoted(keys: list[str]) -> None:
    document: object = "found"
    for key in reversed(keys):
        document = {key: document}
    assert select(document, ".".join(f'"{key}"' for key in keys)) == "found"


def test_a_hydrated_recipe_shows_facts_and_values() -> None:
    criteria = Criteria("eks", "h100", "training", "ubuntu", "slurm")
    recipe = resolve(embedded(), criteria, accounting_mode=AccountingMode.AICR_PROVIDED).recipe
    document = hydrate(embedded(), recipe)
    assert sorted(document) == [
        "apiVersion", "components", "configuration", "constraints", "criteria", "deploymentOrder", "kind", "metadata",
    ]  # fmt: skip
    assert document["criteria"]["nodes"] == 0
    assert document["metadata"]["excludedOverlays"] == []
    assert select(document, "configuration.slurm.accounting.mode") == "aicr-provided"
    assert select(document, "components.slurm-accounting-mariadb.values.install") is True
    assert select(document, "components.slinky-slurm.values.accounting.enabled") is True
    assert select(document, "components.mariadb-operator.version") == "26.6.0"
