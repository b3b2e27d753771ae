# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values merge without a trace in what they were merged from, and null deletes (spec/engine.md 1.6, 1.15; case N11)."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import ComponentRef
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, merge_overrides, merge_values
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

KEYS = st.sampled_from(["a", "b", "c", "d"])
LEAVES = st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["", "x"])
TREES = st.dictionaries(
    KEYS,
    st.recursive(LEAVES, lambda below: st.dictionaries(KEYS, below, max_size=3) | st.lists(below, max_size=2)),
    max_size=4,
)
# Values of one chart: whatever is a mapping in one of them is none elsewhere. (A mapping that replaces something else
# is lost on a layer below it, so that grouping matters.)
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "a": st.fixed_dictionaries({}, optional={"a": LEAVES, "b": st.dictionaries(KEYS, LEAVES)}),
        "b": st.dictionaries(KEYS, LEAVES),
        "c": LEAVES,
        "d": LEAVES,
    },
)


def paths(tree: Any, at: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every leaf by its path; an empty mapping is a leaf, a list is one as a whole."""
    if not isinstance(tree, dict) or not tree:
        return {at: tree}
    return {path: leaf for key, below in tree.items() for path, leaf in paths(below, (*at, key)).items()}


def expected(base: dict[str, Any], over: dict[str, Any], null_deletes: bool) -> dict[str, Any]:
    """The merge as a sequence of settings of one key after the other, on copies of everything."""
    result = copy.deepcopy(base)
    for key, value in copy.deepcopy(over).items():
        if value is None and null_deletes:
            if key in result:
                del result[key]
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = expected(result[key], value, null_deletes)
        else:
            result[key] = value
    return result


@given(base=TREES, over=TREES)
@example(base={"a": {"b": 1}}, over={"a": {"b": None}})
@example(base={}, over={"a": {"b": None}})
def test_merges_as_defined_and_changes_nothing(base: dict[str, Any], over: dict[str, Any]) -> None:
    before = copy.deepcopy((base, over))
    assert merge_values(base, over) == expected(base, over, null_deletes=True)
    assert merge_overrides(base, over) == expected(base, over, null_deletes=False)
    assert (base, over) == before


@given(base=TREES, over=TREES)
def test_a_null_at_a_key_that_was_there_leaves_nothing(base: dict[str, Any], over: dict[str, Any]) -> None:
    merged = merge_values(base, over)
    for path, leaf in paths(over).items():
        if leaf is None and path and path in paths(base):
            assert path not in paths(merged)


@given(tree=TREES)
def test_nothing_laid_over_changes_nothing(tree: dict[str, Any]) -> None:
    assert merge_values(tree, {}) is tree
    assert merge_overrides(tree, {}) is tree
    assert merge_overrides({}, tree) == tree


@given(one=SHAPED, two=SHAPED, three=SHAPED)
def test_layers_of_overrides_may_be_merged_in_any_grouping(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    left = merge_overrides(merge_overrides(one, two), three)
    assert left == merge_overrides(one, merge_overrides(two, three))


@given(base=TREES, over=TREES)
def test_laying_the_same_over_twice_changes_no_more(base: dict[str, Any], over: dict[str, Any]) -> None:
    once = merge_overrides(base, over)
    assert merge_overrides(once, over) == once


def test_what_did_not_change_is_shared() -> None:
    base = {"kept": {"deep": [1, 2]}, "changed": {"same": {"x": 1}, "other": 1}}
    merged = merge_values(base, {"changed": {"other": 2}})
    assert merged["kept"] is base["kept"]
    assert merged["changed"]["same"] is base["changed"]["same"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("base", "over", "merged"),
    [
        pytest.param({"s": {"emptyDir": {}, "x": 1}}, {"s": {"emptyDir": None}}, {"s": {"x": 1}}, id="nested null"),
        pytest.param({"x": 1}, {"y": None}, {"x": 1}, id="null on a missing key"),
        pytest.param({"x": 1}, {"x": [1, None]}, {"x": [1, None]}, id="null in a list is kept"),
        pytest.param({"x": 1}, {"x": {"y": None}}, {"x": {"y": None}}, id="null where no mapping was is for Helm"),
        pytest.param({"x": {}}, {"x": {"y": None}}, {"x": {}}, id="null in an empty mapping"),
        pytest.param({"x": [1]}, {"x": []}, {"x": []}, id="an empty list replaces"),
        pytest.param({"x": {"y": 1}}, {"x": {}}, {"x": {"y": 1}}, id="an empty mapping says nothing"),
        pytest.param({"x": {1: "a"}}, {"x": {2: "b"}}, {"x": {2: "b"}}, id="keys that are no text: replaced whole"),
    ],
)
def test_null_deletes(base: dict[str, Any], over: dict[str, Any], merged: dict[str, Any]) -> None:
    assert merge_values(base, over) == merged


REGISTRY = "kind: ComponentRegistry\napiVersion: aicr.run/v1alpha2\ncomponents: []\n"
BASE = "kind: RecipeMetadata\napiVersion: aicr.run/v1alpha2\nmetadata:\n  name: base\nspec: {}\n"


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """A catalog with the values of some components."""
    files = {
        "registry.yaml": REGISTRY,
        "overlays/base.yaml": BASE,
        "components/db/values.yaml": "size: 1\nstorage:\n  class: a\n  size: 20Gi\n",
        "components/db/values-big.yaml": "size: 9\nstorage:\n  class: null\n",
        "components/alone/values-x.yaml": "x: 1\n",
        "components/broken/values.yaml": "a: [\n",
        "components/list/values.yaml": "- a\n",
        "components/number/values.yaml": "a: {80: http}\n",
        "components/empty/values.yaml": "# nothing\n",
        "components/chart/values.yaml": "off: null\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return Catalog.load(tmp_path)


OWN = "components/db/values.yaml"
BIG = "components/db/values-big.yaml"


@pytest.mark.parametrize(
    ("ref", "values"),
    [
        pytest.param(ComponentRef("db"), {}, id="neither file nor overrides"),
        pytest.param(ComponentRef("db", overrides={"size": 2}), {"size": 2}, id="overrides alone: own file ignored"),
        pytest.param(
            ComponentRef("db", values_file=OWN), {"size": 1, "storage": {"class": "a", "size": "20Gi"}}, id="own file"
        ),
        pytest.param(
            ComponentRef("db", values_file=BIG), {"size": 9, "storage": {"size": "20Gi"}}, id="another file over it"
        ),
        pytest.param(
            ComponentRef("db", values_file=BIG, overrides={"size": None, "storage": {"class": "b"}}),
            {"storage": {"class": "b", "size": "20Gi"}},
            id="overrides over both",
        ),
        pytest.param(
            ComponentRef("alone", values_file="components/alone/values-x.yaml"), {"x": 1}, id="without an own file"
        ),
        pytest.param(
            ComponentRef("chart", values_file="components/chart/values.yaml"), {"off": None}, id="own null is for Helm"
        ),
        pytest.param(ComponentRef("empty", values_file="components/empty/values.yaml"), {}, id="empty file"),
        pytest.param(ComponentRef("db", values_file="", overrides={"a": 1}), {"a": 1}, id="empty name of a file"),
    ],
)
def test_effective_values_are_built_layer_by_layer(
    catalog: Catalog, ref: ComponentRef, values: dict[str, object]
) -> None:
    assert catalog.values(ref) == values
    assert catalog.values(ref) == values, "the layers were changed while they were merged"


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("components/db/values-no.yaml", Code.NOT_FOUND, 'component "c": values file "components/db/values-no.yaml"'),
        ("../outside.yaml", Code.NOT_FOUND, 'values file "../outside.yaml" is not in the catalog'),
        ("/etc/hostname", Code.NOT_FOUND, 'values file "/etc/hostname" is not in the catalog'),
        ("components/broken/values.yaml", Code.INVALID_REQUEST, "components/broken/values.yaml: line "),
        ("components/list/values.yaml", Code.INVALID_REQUEST, "values must be a mapping, not a list"),
        ("components/number/values.yaml", Code.INVALID_REQUEST, "components/number/values.yaml: a: the key 80 is not"),
    ],
)
def test_values_that_cannot_be_built_are_an_error(catalog: Catalog, path: str, code: Code, words: str) -> None:
    with pytest.raises(AicrError) as caught:
        catalog.values(ComponentRef("c", values_file=path))
    assert caught.value.code is code
    assert words in caught.value.message


def test_values_that_were_read_ahead_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a play's processes inherit is worth what they need not read: every file that an overlay names."""
    lazy, catalog = Catalog.load(), Catalog.load()
    refs = [ref for each in (lazy.base, *lazy.overlays.values()) for ref in each.component_refs if ref.values_file]
    expected = [lazy.values(ref) for ref in refs]
    assert len(expected) > 20
    catalog.read_values()
    monkeypatch.setattr(Catalog, "read_text", lambda _catalog, path: pytest.fail(f"{path} was read again"))
    assert [catalog.values(ref) for ref in refs] == expected
