# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory laid over the catalog: what it replaces, what is merged, what is refused (spec/engine.md 1.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import ComponentRef
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code


def registry(*components: str) -> str:
    return "kind: ComponentRegistry\napiVersion: aicr.run/v1alpha2\ncomponents: [" + ", ".join(components) + "]\n"


def component(name: str, version: str, *aliases: str) -> str:
    helm = f"helm: {{defaultRepository: https://x.example, defaultChart: {name}, defaultVersion: '{version}'}}"
    return f"{{name: {name}, displayName: {name}, valueOverrideKeys: [{', '.join(aliases)}], {helm}}}"


def overlay(name: str, spec: str = "{}") -> str:
    return f"kind: RecipeMetadata\napiVersion: aicr.run/v1alpha2\nmetadata: {{name: {name}}}\nspec: {spec}\n"


def checks(**phases: str) -> str:
    entries = ", ".join(f"{{name: {name}, phase: {phase}}}" for name, phase in phases.items())
    return f"kind: ValidatorCatalog\napiVersion: validator.nvidia.com/v1alpha1\nvalidators: [{entries}]\n"


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The catalog below."""
    return lay_out(
        tmp_path / "root",
        {
            "registry.yaml": registry(component("a", "1", "first"), component("b", "1"), component("c", "1")),
            "overlays/base.yaml": overlay("base"),
            "overlays/eks.yaml": overlay("eks", "{criteria: {service: eks}}"),
            "validators/catalog.yaml": checks(health="deployment", speed="performance"),
            "components/a/values.yaml": "from: root\n",
            "components/b/values.yaml": "from: root\n",
        },
    )


def laid_over(root: Path, files: dict[str, str]) -> Catalog:
    return Catalog.load(root, lay_out(root.parent / "external", {"registry.yaml": registry(), **files}))


def test_components_are_replaced_whole_where_they_stood_and_new_ones_follow(root: Path) -> None:
    catalog = laid_over(root, {"registry.yaml": registry(component("d", "1"), component("b", "2"))})
    assert catalog.registry.names == ("a", "b", "c", "d")
    replaced = catalog.registry.component("b")
    assert replaced is not None
    assert replaced.helm is not None
    assert replaced.helm.default_version == "2"


def test_an_alias_of_a_replaced_component_is_free_again(root: Path) -> None:
    catalog = laid_over(root, {"registry.yaml": registry(component("a", "2"), component("d", "1", "first"))})
    found = catalog.registry.by_alias("first")
    assert found is not None
    assert found.name == "d"


def test_an_alias_of_the_catalog_below_stays_taken(root: Path) -> None:
    with pytest.raises(AicrError, match=r'external/registry.yaml:3: .*"first" stands for component "a"'):
        laid_over(root, {"registry.yaml": registry(component("d", "1", "first"))})


def test_a_file_of_the_same_path_is_replaced_and_not_merged(root: Path) -> None:
    files = {"components/a/values.yaml": "mine: true\n", "overlays/eks.yaml": overlay("mine", "{base: base}")}
    catalog = laid_over(root, files)
    assert catalog.values(ComponentRef("a", values_file="components/a/values.yaml")) == {"mine": True}
    assert catalog.values(ComponentRef("b", values_file="components/b/values.yaml")) == {"from": "root"}
    assert list(catalog.overlays) == ["mine"]


def test_an_overlay_of_a_taken_name_is_refused_in_the_file_that_is_laid_over(root: Path) -> None:
    with pytest.raises(
        AicrError, match=r'external/overlays/0.yaml:3: .*"eks" is already defined in .*root/overlays/eks'
    ):
        laid_over(root, {"overlays/0.yaml": overlay("eks")})


def test_an_overlay_for_taken_criteria_is_refused_unless_it_refines(root: Path) -> None:
    with pytest.raises(AicrError, match=r"external/overlays/0.yaml:4: .*same criteria\(service=eks\) as \"eks\""):
        laid_over(root, {"overlays/0.yaml": overlay("mine", "{criteria: {service: eks}}")})
    catalog = laid_over(root, {"overlays/0.yaml": overlay("mine", "{base: eks, criteria: {service: eks}}")})
    assert [each.name for each in catalog.chain(catalog.overlays["mine"])] == ["base", "eks", "mine"]


def test_checks_are_merged_by_name(root: Path) -> None:
    catalog = laid_over(root, {"validators/catalog.yaml": checks(speed="conformance", mine="deployment")})
    assert [(check.name, check.phase) for check in catalog.validators] == [
        ("health", "deployment"),
        ("speed", "conformance"),
        ("mine", "deployment"),
    ]


def test_checks_that_cannot_be_read_put_no_blame_on_who_names_them(root: Path) -> None:
    spec = "{criteria: {service: gke}, validation: {deployment: {checks: [mine]}}}"
    files = {"validators/catalog.yaml": checks(mine="nonsense"), "overlays/gke.yaml": overlay("gke", spec)}
    with pytest.raises(AicrError) as caught:
        laid_over(root, files)
    assert '"nonsense" is no phase' in caught.value.message
    assert "gke.yaml" not in caught.value.message


def test_a_directory_without_a_registry_is_refused(root: Path) -> None:
    empty = root.parent / "empty"
    empty.mkdir()
    with pytest.raises(AicrError, match=r"empty: holds no registry.yaml"):
        Catalog.load(root, empty)
    with pytest.raises(AicrError, match=r"nowhere: no such catalog directory") as caught:
        Catalog.load(root, root / "nowhere")
    assert caught.value.code is Code.NOT_FOUND


@pytest.mark.parametrize("place", ["overlays/link.yaml", "components/linked"])
def test_a_link_is_refused(root: Path, place: str) -> None:
    outside = lay_out(root.parent / "outside", {"secret.yaml": "a: 1\n"})
    external = lay_out(root.parent / "external", {"registry.yaml": registry()})
    (external / place).parent.mkdir(parents=True, exist_ok=True)
    (external / place).symlink_to(outside / "secret.yaml" if place.endswith(".yaml") else outside)
    with pytest.raises(AicrError, match=f"external/{place}: is a link"):
        Catalog.load(root, external)


@pytest.mark.parametrize("path", ["../outside/secret.yaml", "components/../../outside/secret.yaml", "/etc/hostname"])
def test_no_path_leads_out_of_the_catalog(root: Path, path: str) -> None:
    lay_out(root.parent / "outside", {"secret.yaml": "a: 1\n"})
    catalog = Catalog.load(root)
    assert not catalog.has(path)
    with pytest.raises(AicrError, match="the catalog has no file") as caught:
        catalog.read_text(path)
    assert caught.value.code is Code.NOT_FOUND


def test_a_file_of_more_than_10_mib_is_refused(root: Path) -> None:
    with pytest.raises(AicrError, match=r"overlays/large.yaml: is larger than the 10485760 bytes"):
        laid_over(root, {"overlays/large.yaml": overlay("large") + "#" * (10 * 1024 * 1024)})


def test_a_file_that_is_no_text_is_refused(root: Path) -> None:
    external = lay_out(root.parent / "external", {"registry.yaml": registry()})
    (external / "notes").mkdir()
    (external / "notes/x.txt").write_bytes(b"\xff\xfe")
    catalog = Catalog.load(root, external)
    with pytest.raises(AicrError, match=r"notes/x.txt: is not UTF-8 text"):
        catalog.read_text("notes/x.txt")
