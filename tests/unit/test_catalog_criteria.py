# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Criteria as a user states them: aliases, spelling, what a catalog makes valid (spec/engine.md 1.1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.config import ConfigCriteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import Criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

REGISTRY = "kind: ComponentRegistry\napiVersion: aicr.run/v1alpha2\ncomponents: []\n"
OVERLAY = "kind: RecipeMetadata\napiVersion: aicr.run/v1alpha2\nmetadata: {{name: {}}}\nspec: {}\n"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """A catalog whose overlays add the service ncp; an external directory's add the platform mesh."""
    folder = tmp_path_factory.mktemp("catalog")
    root, external = folder / "root", folder / "external"
    files = {
        root / "registry.yaml": REGISTRY,
        root / "overlays/base.yaml": OVERLAY.format("base", "{}"),
        root / "overlays/ncp.yaml": OVERLAY.format("ncp", "{criteria: {service: NCP}}"),
        external / "registry.yaml": REGISTRY,
        external / "overlays/mesh.yaml": OVERLAY.format("mesh", "{criteria: {platform: mesh}}"),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Catalog.load(root, external)


def parsed(catalog: Catalog, strict: bool = False, **stated: object) -> Criteria:
    return criteria.parse(stated, catalog, strict)


@pytest.mark.parametrize(
    ("axis", "written", "meant"),
    [
        *(("service", value, value) for value in ("eks", "gke", "aks", "oke", "kind", "lke", "bcm", "ocp", "metal3")),
        *(("accelerator", value, value) for value in ("h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s")),
        ("accelerator", "rtx-pro-6000", "rtx-pro-6000"),
        *(("intent", value, value) for value in ("training", "inference")),
        *(("os", value, value) for value in ("ubuntu", "rhel", "cos", "amazonlinux", "ol", "talos")),
        *(("platform", value, value) for value in ("dynamo", "kubeflow", "nim", "runai", "slurm")),
        *(("service", value, "any") for value in ("", "any", "ANY", "self-managed", "self", "vanilla")),
        ("service", "openshift", "ocp"),
        ("service", " EKS ", "eks"),
        ("os", "al2", "amazonlinux"),
        ("os", "AL2023", "amazonlinux"),
        ("service", "ncp", "ncp"),
        ("platform", "Mesh", "mesh"),
    ],
)
def test_a_value_is_known_by_any_of_its_spellings(catalog: Catalog, axis: str, written: str, meant: str) -> None:
    assert getattr(parsed(catalog, **{axis: written}), axis) == meant


def test_what_is_not_stated_is_any(catalog: Catalog) -> None:
    anything = Criteria(service="any", accelerator="any", intent="any", os="any", platform="any")
    assert parsed(catalog) == anything
    assert parsed(catalog, service=None, nodes=None) == anything
    assert criteria.parse(ConfigCriteria(), catalog) == anything


def test_a_config_file_says_the_same_as_the_option(catalog: Catalog) -> None:
    stated = {"service": "EKS", "accelerator": "h100", "os": "al2", "nodes": 8}
    section = ConfigCriteria(service="EKS", accelerator="h100", os="al2", nodes=8)
    assert criteria.parse(section, catalog) == parsed(catalog, **stated)


@pytest.mark.parametrize(("written", "meant"), [(8, 8), ("8", 8), (" 16 ", 16), (0, None), ("0", None), (None, None)])
def test_nodes_are_counted_from_0_which_is_any(catalog: Catalog, written: object, meant: int | None) -> None:
    assert parsed(catalog, nodes=written).nodes == meant


@pytest.mark.parametrize("written", [-1, "-1", "8abc", "x", "", 1.5, True, [], {}, "²"])
def test_nodes_that_are_no_number_are_refused(catalog: Catalog, written: object) -> None:
    with pytest.raises(AicrError, match="criteria: nodes must be a whole number from 0"):
        parsed(catalog, nodes=written)


def test_an_unknown_value_is_refused_with_the_valid_ones(catalog: Catalog) -> None:
    with pytest.raises(AicrError) as caught:
        parsed(catalog, accelerator="H1OO")
    assert caught.value.code is Code.INVALID_REQUEST
    assert caught.value.message == 'criteria: accelerator "H1OO" is not known'
    assert caught.value.hint == (
        'did you mean "h100"? valid: a100, b200, gb200, gb300, h100, h200, l40, l40s, rtx-pro-6000'
    )
    assert caught.value.details["axis"] == "accelerator"


def test_every_problem_is_reported(catalog: Catalog) -> None:
    with pytest.raises(AicrError) as caught:
        parsed(catalog, service="ekz", acelerator="h100", os=["ubuntu"], intent=1.5, nodes=-1)
    for words in ('service "ekz"', '"acelerator" is no criterion', "os must be text", "intent must be text", "nodes"):
        assert words in caught.value.message
    assert 'did you mean "accelerator"?' in caught.value.hint


def test_strict_leaves_out_what_only_an_external_catalog_adds(catalog: Catalog) -> None:
    assert parsed(catalog, strict=True, service="ncp").service == "ncp"
    with pytest.raises(AicrError, match='platform "mesh" is not known') as caught:
        parsed(catalog, strict=True, platform="mesh")
    assert "mesh" not in caught.value.hint
    assert "mesh" in catalog.criteria_values()["platform"]
    assert "mesh" not in catalog.criteria_values(strict=True)["platform"]


@given(text=st.text(max_size=12), axis=st.sampled_from(["service", "accelerator", "intent", "os", "platform"]))
def test_a_canonical_spelling_stays_as_it_is(text: str, axis: str) -> None:
    once = criteria.normalize(axis, text)
    assert criteria.normalize(axis, once) == once
    assert once


def test_the_source_is_named(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(AicrError, match=r'^\[INVALID_REQUEST\] config.yaml: service "x"'):
        criteria.parse({"service": "x"}, catalog, source="config.yaml")
