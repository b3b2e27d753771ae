# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.12, 5.4: a recipe from outside is decoded, cross-checked and named for what is wrong with it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.admission import admit_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Criteria,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve


def slurm(mode: AccountingMode = AccountingMode.AICR_PROVIDED) -> dict[str, Any]:
    criteria = Criteria("eks", "h100", "training", "ubuntu", "slurm")
    return copy.deepcopy(recipe_to_document(resolve(embedded(), criteria, accounting_mode=mode).recipe))


def plain() -> dict[str, Any]:
    return copy.deepcopy(recipe_to_document(resolve(embedded(), Criteria("kind")).recipe))


def component(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(ref for ref in document["componentRefs"] if ref["name"] == name)
    return found


def refusal(document: object) -> str:
    with pytest.raises(AicrError) as caught:
        admit_recipe(document, embedded(), "recipe.yaml")
    assert "recipe.yaml" in str(caught.value)
    assert caught.value.code.value == "INVALID_REQUEST"
    return str(caught.value)


@pytest.mark.parametrize("document", [plain(), *(slurm(mode) for mode in AccountingMode)])
def test_what_we_resolve_is_admitted_unchanged(document: dict[str, Any]) -> None:
    admitted = admit_recipe(document, embedded(), "recipe.yaml")
    assert recipe_to_document(admitted.recipe) == document
    assert admitted.warnings == ()


@pytest.mark.parametrize("document", [None, [], "text", {"foo": "bar"}, {"kind": "AICRConfig"}])
def test_what_is_no_recipe_is_refused(document: object) -> None:  # case N6
    refusal(document)


def test_a_missing_dependency_is_named() -> None:  # case N13
    document = plain()
    document["componentRefs"] = [
        ref for ref in document["componentRefs"] if ref["name"] in ("cert-manager", "gpu-operator")
    ]
    assert '"gpu-operator" depends on "nfd"' in refusal(document)


@pytest.mark.parametrize(("change", "named"), [
    ({"version": ""}, "version"), ({"version": "v"}, '"v"'), ({"version": " 1.2 "}, "1.2"),
    ({"source": ""}, "no source"),
    ({"tag": "v1"}, "tag"), ({"patches": [{"a": 1}]}, "patches"), ({"type": "Flux"}, "Flux"),
    ({"type": "Kustomize", "manifestFiles": ["a"]}, "path"),
])  # fmt: skip
def test_an_incoherent_component_is_named(change: dict[str, Any], named: str) -> None:  # case N15
    document = plain()
    component(document, "cert-manager").update(change)
    said = refusal(document)
    assert "cert-manager" in said
    assert named in said


def test_a_disabled_component_may_be_incoherent() -> None:
    document = plain()
    component(document, "nvsentinel").update(version="", overrides={"enabled": False})
    document["deploymentOrder"].remove("nvsentinel")
    admit_recipe(document, embedded(), "recipe.yaml")


@pytest.mark.parametrize("path", ["K8s.server.verison", "OS.release2.ID", "GPU.smi.driver", "Nope.a.b"])
def test_a_constraint_that_no_snapshot_can_meet_is_refused(path: str) -> None:  # case N17
    document = plain()
    document["constraints"].append({"name": path, "value": ">= 1"})
    assert path.split(".")[1] in refusal(document)


def test_names_are_unique_and_not_reserved() -> None:
    document = plain()
    nfd = component(document, "nfd")
    document["componentRefs"] += [dict(nfd), {**nfd, "name": "deployer"}]
    said = refusal(document)
    assert '"nfd" is declared 2 times' in said
    assert '"deployer"' in said


def test_a_type_is_filled_in_and_spelled_canonically() -> None:
    document = plain()
    component(document, "nfd")["type"] = "HELM"
    del component(document, "cert-manager")["type"]
    recipe = admit_recipe(document, embedded(), "recipe.yaml").recipe
    assert {ref.type for ref in recipe.component_refs} == {"Helm"}


def test_a_component_that_nobody_registered_is_admitted_with_a_warning() -> None:
    document = plain()
    document["componentRefs"].append({**component(document, "nfd"), "name": "mine"})
    document["deploymentOrder"].append("mine")
    assert any('"mine"' in warning for warning in admit_recipe(document, embedded(), "recipe.yaml").warnings)


def test_the_strict_track_knows_every_key() -> None:
    document = slurm()
    document["configuration"]["slurm"]["acounting"] = {}
    assert "acounting" in refusal(document)


@pytest.mark.parametrize(("edit", "named"), [
    (lambda d: d.pop("configuration"), "configuration.slurm.accounting.mode"),
    (lambda d: d.update(apiVersion="aicr.run/v1alpha2"), "aicr.run/v1alpha2"),
    (lambda d: d.update(apiVersion="aicr.run/v9"), "aicr.run/v9"),
    (lambda d: d["criteria"].pop("platform"), "platform"),
    (lambda d: d["configuration"]["slurm"]["accounting"].update(mode="Disabled"), "Disabled"),
    (lambda d: d["configuration"]["slurm"]["accounting"].update(mode="disabled"), "accounting.enabled"),
    (lambda d: component(d, "mariadb-operator")["overrides"].pop("install"), "mariadb-operator"),
    (lambda d: component(d, "slinky-slurm")["overrides"]["accounting"].update(enabled="true"), "accounting.enabled"),
    (lambda d: d["componentRefs"].remove(component(d, "slurm-accounting-mariadb")), "slurm-accounting-mariadb"),
])  # fmt: skip
def test_an_edited_accounting_recipe_is_refused_by_what_was_edited(edit: Any, named: str) -> None:
    document = slurm()
    edit(document)
    assert named in refusal(document)


def test_a_recipe_from_before_the_feature_makes_no_claim() -> None:
    document = slurm(AccountingMode.DISABLED)
    del document["configuration"]
    document["apiVersion"] = "aicr.run/v1alpha2"
    assert admit_recipe(document, embedded(), "recipe.yaml").recipe.accounting_mode is None


def profiled() -> dict[str, Any]:
    document = plain()
    document["apiVersion"] = "aicr.run/v1alpha3"
    document["metadata"]["selectedProfile"] = {
        "name": "gpuStack", "value": "x", "ownedPaths": {"gpu-operator": ["driver.enabled", "enabled"]},
    }  # fmt: skip
    return document


def test_a_recipe_with_a_selected_profile_round_trips() -> None:
    assert recipe_to_document(admit_recipe(profiled(), embedded(), "recipe.yaml").recipe) == profiled()


@pytest.mark.parametrize("edit", [
    lambda d: d.update(apiVersion="aicr.run/v1alpha2"),
    lambda d: d["metadata"]["selectedProfile"].update(ownedPaths={}),
    lambda d: d["metadata"]["selectedProfile"].update(ownedPaths={"gone": ["enabled"]}),
    lambda d: d["metadata"]["selectedProfile"].update(ownedPaths={"gpu-operator": ["driver.enabled"]}),
    lambda d: d["metadata"]["selectedProfile"].update(ownedPaths={"gpu-operator": ["enabled", "driver.enabled"]}),
    lambda d: component(d, "gpu-operator").update(overrides={"enabled": False}),
])  # fmt: skip
def test_a_profile_must_fit_its_recipe(edit: Any) -> None:
    document = profiled()
    edit(document)
    assert "gpuStack=x" in refusal(document)


def test_everything_wrong_is_said_at_once() -> None:
    document = plain()
    component(document, "nfd")["version"] = "v"
    component(document, "cert-manager")["tag"] = "x"
    document["constraints"].append({"name": "K8s.server.verison", "value": ">= 1"})
    said = refusal(document)
    assert all(part in said for part in ("nfd", "cert-manager", "verison"))


NASTY = [
    "../../evil", "/etc/evil", "a\ntouch PWNED\n#", "a;touch PWNED", "$(touch PWNED)", "`id`", "a b", "a'b", "a\0b",
    "-x", "ü", "a\\b",
]  # fmt: skip
FIELDS = [
    "name", "namespace", "chart", "source", "version", "valuesFile", "manifestFiles", "preManifestFiles", "tag", "path",
]  # fmt: skip


@pytest.mark.parametrize("text", [*NASTY, "UPPER_case"])
def test_a_name_that_leads_anywhere_else_is_refused(text: str) -> None:  # a folder, a release, a word of a script
    document = plain()
    component(document, "nfd")["name"] = text
    document["deploymentOrder"] = [text if name == "nfd" else name for name in document["deploymentOrder"]]
    assert "has a name that can be no folder" in refusal(document)


@pytest.mark.parametrize("disabled", [False, True])
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", NASTY)
def test_no_text_of_a_component_is_anything_but_its_form(field: str, text: str, disabled: bool) -> None:
    document = plain()
    ref = component(document, "nfd")
    if field in ("tag", "path"):
        ref.update(type="Kustomize", source="https://github.com/org/repo", path="deploy", tag="v1")
        del ref["version"]
    ref[field] = [text] if field.endswith("Files") else text
    if disabled:
        ref.setdefault("overrides", {})["enabled"] = False
    assert {"valuesFile": "values file", "manifestFiles": "manifest", "preManifestFiles": "manifest"}.get(
        field, field
    ) in refusal(document)


@pytest.mark.parametrize(
    "path", ["registry.yaml", "overlays/base.yaml", "checks/nfd/health-check.yaml", "components/nfd"]
)
def test_values_do_not_come_from_the_documents_of_the_catalog(path: str) -> None:
    for field in ("valuesFile", "manifestFiles"):
        document = plain()
        component(document, "nfd")[field] = [path] if field == "manifestFiles" else path
        assert path in refusal(document)


@pytest.mark.parametrize("change", [
    {"source": "oci://[2001:db8::1]:5000/charts"}, {"source": "http://charts.internal:8080/a~b/c"},
    {"chart": "jetstack/cert-manager"}, {"version": "v1.2.3-rc.1+build.5"}, {"namespace": "x" * 63},
])  # fmt: skip
def test_what_is_of_its_form_is_admitted(change: dict[str, Any]) -> None:
    document = plain()
    component(document, "cert-manager").update(change)
    admit_recipe(document, embedded(), "recipe.yaml")


@pytest.mark.parametrize("value", ["eks\n# x", "a|b", "a b", "../x"])
def test_a_criterion_is_a_word(value: str) -> None:
    document = plain()
    document["criteria"]["service"] = value
    assert "criteria.service" in refusal(document)


@pytest.mark.parametrize("nodes", [-1, 1_000_001, 10**30])
def test_a_number_of_nodes_is_one_that_a_cluster_has(nodes: int) -> None:
    document = plain()
    document["criteria"]["nodes"] = nodes
    assert "criteria.nodes is not from 0 to 1000000" in refusal(document)


@pytest.mark.parametrize(("edit", "named"), [
    (lambda order: order.append("x"), 'lists component "x", which is not declared'),
    (lambda order: order.append("nfd"), 'lists component "nfd" 2 times'),
    (lambda order: order.remove("nfd"), 'lacks component "nfd"'),
    (lambda order: order.clear(), 'lacks component "nfd"'),
    (lambda order: order.reverse(), 'has component "gpu-operator" before "nfd", which it depends on'),
])  # fmt: skip
def test_an_order_that_contradicts_the_components_is_refused(edit: Any, named: str) -> None:
    document = plain()
    edit(document["deploymentOrder"])
    assert f"deploymentOrder {named}" in refusal(document)


def test_an_order_does_not_list_what_will_not_run() -> None:  # case N12
    document = plain()
    component(document, "nvsentinel").setdefault("overrides", {})["enabled"] = False
    assert 'deploymentOrder lists component "nvsentinel", which is disabled' in refusal(document)


def test_an_order_may_be_absent_and_may_be_another_possible_one() -> None:
    document = plain()
    order = document.pop("deploymentOrder")
    assert admit_recipe(document, embedded(), "recipe.yaml").warnings == ()
    first, second, *rest = order
    assert first not in (component(document, second).get("dependencyRefs") or ())
    document["deploymentOrder"] = [second, first, *rest]
    (warning,) = admit_recipe(document, embedded(), "recipe.yaml").warnings
    assert f"{first}, {second}" in warning


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_override_is_a_number_that_json_has(number: float) -> None:
    document = plain()
    component(document, "nfd")["overrides"] = {"a": [{"b": number}]}
    assert 'component "nfd": override a[0].b is a number that is none' in refusal(document)


def test_a_stripped_recipe_with_a_database_is_no_recipe_from_before() -> None:
    document = slurm()
    del document["configuration"]
    document["apiVersion"] = "aicr.run/v1alpha2"
    said = refusal(document)
    assert all(f"{name}: would be installed" in said for name in ("mariadb-operator", "slurm-accounting-mariadb"))
