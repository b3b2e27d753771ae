# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests in the reference's format, rendered by Helm (DESIGN, *No template engine of our own*)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import ComponentRef
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import Bundle, rendering, write_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.manifest import Manifest, is_empty, without_hooks
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.catalog import EMBEDDED_ROOT
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.private_folder import private_folder

from .conftest import BundleOf, RecipeOf

REF = ComponentRef("my-comp", "my-space", "charts/my-chart", "Helm", "https://example.com", "v1.2.3")
NAME = "components/my-comp/manifests/a.yaml"


@pytest.fixture
def helm() -> str:
    found = rendering.find_helm()
    if found is None:
        pytest.skip("needs helm")
    return found


def rendered(text: str, values: dict[str, Any] | None = None) -> list[Manifest]:
    return rendering.render([Manifest("my-comp", NAME, False, text)], {"my-comp": REF}, {"my-comp": values or {}})


def test_helm_gives_a_manifest_the_context_of_its_component(helm: str) -> None:
    (found,) = rendered(
        '{{- $c := index .Values "my-comp" }}\n'
        "a: {{ $c.a }}\nnamespace: {{ .Release.Namespace }}\nservice: {{ .Release.Service }}\n"
        "chart: {{ .Chart.Name }}-{{ .Chart.Version }}\nlist:\n  {{- toYaml $c.list | nindent 2 }}\n",
        {"a": "x", "list": [{"b": 1}]},
    )
    assert yamlio.load(found.text, "found") == {
        "a": "x",
        "namespace": "my-space",
        "service": "Helm",
        "chart": "my-chart-1.2.3",
        "list": [{"b": 1}],
    }


def test_helm_leaves_out_what_renders_nothing(helm: str) -> None:
    text = '# a comment\n{{- if (index .Values "my-comp").on }}\n---\na: 1\n{{- end }}\n'
    assert not rendered(text, {"on": False})
    assert rendered(text, {"on": True})


def test_helm_reads_nothing_from_a_section_that_is_missing(helm: str) -> None:
    text = '{{- $c := index .Values "my-comp" }}\n{{- if $c.driver.config.name }}\na: 1\n{{- end }}\nb: 2\n'
    for values in ({}, {"driver": None}, {"driver": {"config": None}}):
        (found,) = rendered(text, values)
        assert yamlio.load(found.text, "found") == {"b": 2}
    (found,) = rendered(text, {"driver": {"config": {"name": "x"}}})
    assert yamlio.load(found.text, "found") == {"a": 1, "b": 2}


def test_helm_gives_rendered_braces_back_as_they_are(helm: str) -> None:
    (once,) = rendered("a: '{{ \"{{ .Status }}\" }}'\n")
    (twice,) = rendered(once.text)
    assert twice == once
    assert once.text == 'a: \'{{ "{{" }} .Status {{ "}}" }}\'\n'


def test_helm_that_refuses_a_manifest_is_quoted_with_its_name(helm: str) -> None:
    with pytest.raises(AicrError) as refused:
        rendered('a: {{ fail "not this way" }}\n')
    assert refused.value.code is Code.INVALID_REQUEST
    assert NAME in refused.value.message
    assert "not this way" in refused.value.message


def test_without_helm_the_manifests_are_named_and_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "find_helm", lambda: None)
    with pytest.raises(AicrError) as refused:
        rendered("a: 1\n")
    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert NAME in refused.value.message


def test_our_own_catalog_needs_no_helm(monkeypatch: pytest.MonkeyPatch, bundle_of: BundleOf) -> None:
    monkeypatch.setattr(rendering, "find_helm", lambda: None)
    for leaf in ("eks", "gb200", "kind", "inference"):
        assert bundle_of(leaf).order


def test_helm_makes_the_same_of_a_manifest_whether_now_or_at_installation(
    helm: str, tmp_path: Path, bundle_of: BundleOf, recipe_of: RecipeOf
) -> None:
    """A manifest without a rule in the registry is rendered; with one, the chart renders it."""
    root = tmp_path / "catalog"
    shutil.copytree(EMBEDDED_ROOT, root)
    registry = root / "registry.yaml"
    document = yamlio.load_file(registry)
    for entry in document["components"]:
        if entry["name"] == "slinky-slurm":
            entry["manifests"] = [rule for rule in entry["manifests"] if "enroot" not in rule["path"]]
    registry.write_text(yamlio.dump(document))
    manifest = root / "components/slinky-slurm/manifests/enroot-config.yaml"
    text = manifest.read_text()
    manifest.write_text(text.replace(".Values.enroot", '(index .Values "slinky-slurm").enroot'))
    reference = bundle_of(recipe_of("eks"), catalog=Catalog.load(root))
    (name,) = [name for name in reference.order if name.endswith("slinky-slurm-pre")]
    assert is_plain(reference, f"{name}/templates/enroot-config.yaml")
    assert reference.order == bundle_of("eks").order
    for number, bundle in enumerate((reference, bundle_of("eks"))):
        write_bundle(bundle, tmp_path / str(number))
    assert installed(helm, tmp_path / "0" / name) == installed(helm, tmp_path / "1" / name)


def is_plain(bundle: Bundle, path: str) -> bool:
    return b"{{" not in bundle.tree[path].content


def installed(helm: str, chart: Path) -> Any:
    command = [helm, "template", "x", str(chart), "--namespace", "slurm", "--values", str(chart / "values.yaml")]
    with private_folder("test") as folder:
        return list(yamlio.load_all(rendering._helm(command, folder), "helm"))


@pytest.mark.parametrize("text", ["", "\n", "# only\n  # comments\n", "---\n", "---\n# x\n---\n  \n"])
def test_comments_and_separators_are_nothing(text: str) -> None:
    assert is_empty(text)
    assert not is_empty(text + "a: 1\n")


def test_hooks_are_taken_off_and_other_annotations_stay() -> None:
    text = (
        "kind: A\nmetadata:\n  annotations:\n    \"helm.sh/hook\": post-install\n    helm.sh/hook-weight: '5'\n"
        "    helm.sh/resource-policy: keep\n---\nkind: B\n"
    )
    documents = list(yamlio.load_all(without_hooks(text), "x"))
    assert documents == [{"kind": "A", "metadata": {"annotations": {"helm.sh/resource-policy": "keep"}}}, {"kind": "B"}]
    assert without_hooks("kind: B # as it is\n") == "kind: B # as it is\n"
