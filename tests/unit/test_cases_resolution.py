# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases N11, N12, N13, N17 and H9 of ``spec/cases.md``, each as its whole kind."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from layered import layered, overlay

from ansible_collections.aicr.runtime.plugins.plugin_utils.admission import admit_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    Constraint,
    Criteria,
    RecipeResult,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import BundleRequest, judge
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import evaluate
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.inventory import runtime_inventory
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

NCP = Criteria("ncp")
STACK, APP = "kube-prometheus-stack", "gpu-operator"


def ncp(**spec: Any) -> dict[str, Any]:
    return overlay("ncp", criteria={"service": "ncp"}, **spec)


def made(catalog: Catalog) -> RecipeResult:
    return resolve(catalog, NCP).recipe


# N11: a null deletes its key, and never reaches a chart.


def nulls(value: Any, path: str = "") -> list[str]:
    if value is None:
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in nulls(item, f"{path}.{key}")]


@pytest.mark.parametrize(("overrides", "gone", "left"), [
    ({"prometheus": {"prometheusSpec": {"storageSpec": {"emptyDir": None}}}},
     "prometheus.prometheusSpec.storageSpec.emptyDir", []),
    ({"prometheus": {"prometheusSpec": {"storageSpec": None}}}, "prometheus.prometheusSpec.storageSpec", []),
    ({"prometheus": {"prometheusSpec": {"resources": None}}}, "prometheus.prometheusSpec.resources", []),
    ({"prometheus": {"nowhere": None}}, "prometheus.nowhere", []),
    ({"nowhere": None}, "nowhere", []),
    ({"prometheus": {"list": [None, {"a": None}]}}, "prometheus.missing",
     [".prometheus.list.0", ".prometheus.list.1.a"]),
])  # fmt: skip
def test_n11_a_null_deletes_and_does_not_reach_the_chart(
    tmp_path: Path, overrides: dict[str, Any], gone: str, left: list[str]
) -> None:
    catalog = layered(tmp_path, ncp(componentRefs=[{"name": STACK, "overrides": overrides}]))
    recipe = made(catalog)
    values: Any = judge(BundleRequest(recipe=recipe, catalog=catalog)).values[STACK]
    assert nulls(values) == left
    *parents, last = gone.split(".")
    for key in parents:
        values = values[key]
    assert last not in values
    training = {"service": "ncp", "intent": "training"}
    refs = [{"name": STACK, "overrides": overrides}]
    again = layered(tmp_path / "again", ncp(), overlay("child", base="ncp", criteria=training, componentRefs=refs))
    assert resolve(again, Criteria("ncp", intent="training")).recipe.component(STACK) == recipe.component(STACK)


# N12: what is disabled is in no order, and whoever needs it goes on.


@pytest.mark.parametrize("gate", ["enabled", "install"])
def test_n12_every_component_can_be_left_to_the_platform(tmp_path: Path, gate: str) -> None:
    refs = {ref.name: ref for ref in made(layered(tmp_path / "all", ncp())).component_refs}
    needed = sorted({name for ref in refs.values() for name in ref.dependency_refs or ()})
    assert "cert-manager" in needed
    for number, name in enumerate(needed):
        off = ncp(componentRefs=[{"name": name, "overrides": {gate: False}}])
        catalog = layered(tmp_path / str(number), off)
        recipe = made(catalog)
        assert name not in (recipe.deployment_order or ())
        assert name not in runtime_inventory(recipe).names
        dependants = {ref.name for ref in refs.values() if name in (ref.dependency_refs or ())}
        assert dependants <= set(recipe.deployment_order or ())
        assert name not in judge(BundleRequest(recipe=recipe, catalog=catalog)).values
        assert admit_recipe(recipe_to_document(recipe), catalog, "recipe.yaml").recipe == recipe


def test_n12_a_circle_through_what_is_disabled_is_none(tmp_path: Path) -> None:
    back = {"name": "cert-manager", "dependencyRefs": [APP]}
    with pytest.raises(AicrError, match="cert-manager"):
        made(layered(tmp_path / "a", ncp(componentRefs=[back])))
    catalog = layered(tmp_path / "b", ncp(componentRefs=[{**back, "overrides": {"enabled": False}}]))
    assert APP in (made(catalog).deployment_order or ())


# N13: a component that is missing is called by its name.


def test_n13_whatever_is_cut_out_of_a_recipe_is_named() -> None:
    document = recipe_to_document(resolve(embedded(), Criteria("eks", "h100", "training", "ubuntu")).recipe)
    trimmed = {**document, "componentRefs": [
        ref for ref in document["componentRefs"] if ref["name"] in ("cert-manager", APP)
    ], "deploymentOrder": ["cert-manager", APP]}  # fmt: skip
    with pytest.raises(AicrError, match="nfd"):
        admit_recipe(trimmed, embedded(), "recipe.yaml")
    needed = {name for ref in document["componentRefs"] for name in ref.get("dependencyRefs", ())}
    assert len(needed) >= 3
    for name in needed:
        cut = copy.deepcopy(document)
        cut["componentRefs"] = [ref for ref in cut["componentRefs"] if ref["name"] != name]
        cut["deploymentOrder"].remove(name)
        with pytest.raises(AicrError) as caught:
            admit_recipe(cut, embedded(), "recipe.yaml")
        assert f'"{name}"' in caught.value.message


# N17: a path that no collector can emit does not load, wherever it stands.

TYPOS = [
    "K8s.server.verison",
    "K8s.srver.version",
    "GPU.smi.driver",
    "k8s.server.version",
    "NodeTopology.summary.nodes",
]
PLACES: dict[str, Callable[[list[dict[str, str]]], dict[str, Any]]] = {
    "overlay": lambda constraints: ncp(constraints=constraints),
    "readiness": lambda constraints: ncp(validation={"readiness": {"constraints": constraints}}),
    "profile": lambda constraints: ncp(profile={"name": "p", "default": "a", "values": {"a": {
        "constraints": constraints, "componentRefs": [{"name": APP, "overrides": {"x": 1}}]}}}),
    "profile's readiness": lambda constraints: ncp(profile={"name": "p", "default": "a", "values": {"a": {
        "readinessConstraints": constraints, "componentRefs": [{"name": APP, "overrides": {"x": 1}}]}}}),
}  # fmt: skip


@pytest.mark.parametrize(("path", "place"), list(itertools.product(TYPOS, PLACES)))
def test_n17_a_path_that_nothing_emits_is_refused_at_its_line(tmp_path: Path, path: str, place: str) -> None:
    with pytest.raises(AicrError, match=r"ncp\.yaml:\d+: ") as caught:
        layered(tmp_path, PLACES[place]([{"name": path, "value": ">= 1"}]))
    wrong = next(part for part in ("verison", "srver", "smi", "k8s", "nodes") if part in path)
    assert wrong in caught.value.message


@pytest.mark.parametrize("path", TYPOS)
def test_n17_a_recipe_is_held_to_the_same(path: str) -> None:
    document = recipe_to_document(resolve(embedded(), Criteria("eks", "h100", "training", "ubuntu")).recipe)
    document["constraints"] = [{"name": path, "value": ">= 1"}]
    with pytest.raises(AicrError, match=r"recipe\.yaml"):
        admit_recipe(document, embedded(), "recipe.yaml")


# H9: what a vendor appends to a version is no prerelease.


@pytest.mark.parametrize("version", ["v1.33.5-eks-3025e55", "v1.35.6-gke.1250000", "v1.32.3-vke.8", "v1.34.2+rke2r1",
                                     "1.32+", "v1.32.0-rc.1", "v1.32.0+k3s1", "1.40"])  # fmt: skip
def test_h9_a_vendors_suffix_does_not_make_a_version_older(version: str) -> None:
    assert holds(version, ">= 1.32")
    assert holds(version, ">= 1.32.0")
    assert not holds(version, "< 1.32")
    assert not holds(version, ">= 1.41")


@pytest.mark.parametrize("version", ["1.28+", "v1.31.9-eks-1", "v1.31.99-gke.9999999", "1.31"])
def test_h9_and_not_newer(version: str) -> None:
    assert not holds(version, ">= 1.32")
    assert holds(version, "< 1.32")


def holds(version: str, expression: str) -> bool:
    document = {"kind": "Snapshot", "measurements": [
        {"type": "K8s", "subtypes": [{"subtype": "server", "data": {"version": version}}]}
    ]}  # fmt: skip
    snapshot = snapshot_from_document(document, "snapshot.yaml")[0]
    return evaluate(Constraint("K8s.server.version", expression), snapshot).passed
