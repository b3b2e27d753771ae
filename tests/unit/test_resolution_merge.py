# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.6, 1.7, 1.11: how layers of references, phases and constraints become one, and what completes it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    ComponentRef,
    Constraint,
    Criteria,
    Phase,
    Validation,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import component, phases, resolve

TEXTS = st.sampled_from([None, "", "x", "y"])
NAMES = st.one_of(st.none(), st.lists(st.sampled_from("abc"), max_size=3).map(tuple))
TREES: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 2)),
    lambda inner: st.dictionaries(st.sampled_from("kmn"), inner, max_size=3),
    max_leaves=6,
)
REFS = st.builds(
    ComponentRef, st.just("app"), namespace=TEXTS, version=TEXTS, cleanup=st.sampled_from([None, False, True]),
    overrides=st.one_of(st.none(), st.dictionaries(st.sampled_from("kmn"), TREES, max_size=3)),
    dependency_refs=NAMES, manifest_files=NAMES,
)  # fmt: skip


def slow_merge(base: Any, over: Any) -> Any:
    """The rule for overrides, spelled out."""
    if isinstance(base, dict) and isinstance(over, dict):
        return {
            key: slow_merge(base[key], over[key]) if key in base and key in over else over.get(key, base.get(key))
            for key in {**base, **over}
        }
    return over


@given(REFS, REFS)
def test_a_layer_wins_where_it_says_something(base: ComponentRef, over: ComponentRef) -> None:
    before = copy.deepcopy((base, over))
    found = component.merged(base, over)
    assert (base, over) == before, "a layer was changed in place"
    for name in ("namespace", "version", "cleanup"):
        assert getattr(found, name) == (getattr(over, name) or getattr(base, name))
    for name in ("dependency_refs", "manifest_files"):
        more = getattr(over, name)
        both = [*(getattr(base, name) or ()), *(more or ())]
        assert getattr(found, name) == (tuple(dict.fromkeys(both)) if more else getattr(base, name))
    expected = slow_merge(base.overrides or {}, over.overrides) if over.overrides else base.overrides
    assert found.overrides == expected


@given(REFS)
def test_an_empty_layer_changes_nothing(base: ComponentRef) -> None:
    assert component.merged(base, ComponentRef("app")) is base


def floor(value: str) -> Constraint:
    return Constraint("Deployment.app.version", value)


def test_phases_merge_by_field_and_tell_absent_from_empty() -> None:  # engine.md 1.6
    base = Validation(
        deployment=Phase(timeout="5m", checks=("a", "b"), constraints=(floor(">= 1"),)),
        performance=Phase(checks=("p",), constraints=(floor(">= 1"),)),
    )
    over = Validation(
        deployment=Phase(checks=("b", "c"), constraints=(floor(">= 2"),)),
        performance=Phase(checks=(), constraints=()),
        conformance=Phase(checks=("x",)),
    )
    merged = phases.merged(base, over)
    assert merged == Validation(
        deployment=Phase(timeout="5m", checks=("a", "b", "c"), constraints=(floor(">= 2"),)),
        performance=Phase(checks=(), constraints=()),
        conformance=Phase(checks=("x",)),
    )
    normal = phases.normal(merged)
    assert normal is not None
    assert normal.performance == Phase()


REGISTRY: dict[str, Any] = {
    "kind": "ComponentRegistry", "apiVersion": "aicr.run/v1alpha2",
    "components": [
        {"name": "app", "displayName": "App", "healthCheck": {"assertFile": "checks/app.yaml"},
         "mixinSafeOverridePaths": ["safe.path"], "manifestFiles": ["components/app/m.yaml"],
         "helm": {"defaultRepository": "https://charts", "defaultChart": "team/app", "defaultVersion": "1.2.3",
                  "defaultNamespace": "app-system"}},
        {"name": "kustom", "displayName": "Kustom",
         "kustomize": {"defaultSource": "https://git", "defaultPath": "deploy", "defaultTag": "v1"}},
    ],
}  # fmt: skip


def overlay(name: str, **spec: object) -> dict[str, object]:
    return {"kind": "RecipeMetadata", "apiVersion": "aicr.run/v1alpha2", "metadata": {"name": name}, "spec": spec}


def mixin(name: str, **spec: object) -> dict[str, object]:
    return {"kind": "RecipeMixin", "apiVersion": "aicr.run/v1alpha2", "metadata": {"name": name}, "spec": spec}


def recipe(
    root: Path, eks: Mapping[str, object], base: Sequence[Mapping[str, object]], mixins: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    files: dict[str, object] = {
        "registry.yaml": REGISTRY,
        "overlays/base.yaml": overlay("base", componentRefs=base),
        "overlays/eks.yaml": overlay("eks", criteria={"service": "eks"}, **eks),
        "checks/app.yaml": {"kind": "Test"},
        "components/app/values.yaml": {"own": 1},
        "components/app/m.yaml": {"kind": "ConfigMap"},
        **{f"mixins/{one['metadata']['name']}.yaml": one for one in mixins},
    }
    for path, document in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(yamlio.dump(document), encoding="utf-8")
    return recipe_to_document(resolve(Catalog.load(root), Criteria(service="eks")).recipe)


def test_the_registry_fills_what_is_empty(tmp_path: Path) -> None:
    refs = recipe(tmp_path, {}, [{"name": "app"}, {"name": "kustom", "type": "KUSTOMIZE", "tag": "v2"}])[
        "componentRefs"
    ]
    assert refs == [
        {"name": "app", "type": "Helm", "source": "https://charts", "chart": "app", "version": "1.2.3",
         "namespace": "app-system", "manifestFiles": ["components/app/m.yaml"], "healthCheckAsserts": "kind: Test\n"},
        {"name": "kustom", "type": "Kustomize", "source": "https://git", "path": "deploy", "tag": "v2"},
    ]  # fmt: skip


def test_what_an_overlay_says_beats_the_registry(tmp_path: Path) -> None:
    said = {"name": "app", "version": "9", "namespace": "mine", "healthCheckSkip": True}
    (ref,) = recipe(tmp_path, {"componentRefs": [said]}, [{"name": "app"}])["componentRefs"]
    assert (ref["version"], ref["namespace"], ref.get("healthCheckAsserts")) == ("9", "mine", None)


def test_null_stays_in_overrides(tmp_path: Path) -> None:  # case N11
    eks = {"componentRefs": [{"name": "app", "overrides": {"storage": {"emptyDir": None}, "list": [{"a": None}]}}]}
    base = [{"name": "app", "overrides": {"storage": {"emptyDir": {}, "size": 1}}}]
    (ref,) = recipe(tmp_path, eks, base)["componentRefs"]
    assert ref["overrides"] == {"storage": {"emptyDir": None, "size": 1}, "list": [{"a": None}]}


def test_references_and_constraints_are_sorted_by_name(tmp_path: Path) -> None:
    eks = {
        "constraints": [
            {"name": "OS.release.ID", "value": "ubuntu"},
            {"name": "K8s.server.version", "value": ">= 1.30"},
        ]
    }
    document = recipe(tmp_path, eks, [{"name": "kustom"}, {"name": "app"}])
    assert [ref["name"] for ref in document["componentRefs"]] == ["app", "kustom"]
    assert [one["name"] for one in document["constraints"]] == ["K8s.server.version", "OS.release.ID"]


@pytest.mark.parametrize("version", ["v", " 1.2 ", " "])
def test_a_version_that_would_install_the_newest_is_refused(tmp_path: Path, version: str) -> None:  # case N15
    with pytest.raises(AicrError, match="app"):
        recipe(tmp_path, {"componentRefs": [{"name": "app", "version": version}]}, [{"name": "app"}])


def test_dependencies_of_several_layers_cannot_go_in_a_circle(tmp_path: Path) -> None:
    eks = {"componentRefs": [{"name": "app", "dependencyRefs": ["kustom"]}]}
    with pytest.raises(AicrError, match="app -> kustom -> app"):
        recipe(tmp_path, eks, [{"name": "app"}, {"name": "kustom", "dependencyRefs": ["app"]}])


def test_a_mixin_adds_constraints_and_safe_overrides(tmp_path: Path) -> None:
    added = mixin(
        "os",
        constraints=[{"name": "OS.release.ID", "value": "ubuntu"}],
        componentRefs=[{"name": "app", "namespace": "mixed", "overrides": {"safe": {"path": True}}}],
    )
    document = recipe(tmp_path, {"mixins": ["os"]}, [{"name": "app"}], [added])
    assert document["constraints"] == [{"name": "OS.release.ID", "value": "ubuntu"}]
    assert document["componentRefs"][0]["overrides"] == {"safe": {"path": True}}
    assert document["componentRefs"][0]["namespace"] == "mixed"


@pytest.mark.parametrize(("ref", "named"), [
    ({"version": "2"}, "version"),
    ({"valuesFile": "components/app/values.yaml"}, "valuesFile"),
    ({"overrides": {"unsafe": 1}}, "overrides.unsafe"),
    ({"overrides": {"safe": {"path": {}}}}, "overrides.safe.path"),
    ({"overrides": {"safe": {"path": 1}, "own": {"deeper": 1}}}, "overrides.own.deeper"),
])  # fmt: skip
def test_a_mixin_cannot_set_more_than_it_may(
    tmp_path: Path, ref: dict[str, object], named: str
) -> None:  # engine.md 1.7
    added = mixin("os", componentRefs=[{"name": "app", **ref}])
    with pytest.raises(AicrError) as caught:
        recipe(tmp_path, {"mixins": ["os"]}, [{"name": "app"}], [added])
    assert 'mixin "os"' in str(caught.value)
    assert named in str(caught.value)


def test_a_mixin_cannot_set_what_the_overlay_set(tmp_path: Path) -> None:
    added = mixin("os", componentRefs=[{"name": "app", "overrides": {"safe": {"path": 1}}}])
    for own in ({"safe": {"path": 2}}, {"safe": 1}, {"safe": {"path": {"below": 1}}}):
        with pytest.raises(AicrError, match=r"safe\.path"):
            recipe(tmp_path, {"mixins": ["os"]}, [{"name": "app", "overrides": own}], [added])


def test_a_constraint_stands_in_one_place_only(tmp_path: Path) -> None:
    constraint = {"name": "OS.release.ID", "value": "ubuntu"}
    with pytest.raises(AicrError, match=r'mixin "os" sets constraint "OS\.release\.ID"'):
        recipe(
            tmp_path,
            {"mixins": ["os"], "constraints": [constraint]},
            [{"name": "app"}],
            [mixin("os", constraints=[constraint])],
        )
