# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a bundle: folders, charts, Applications, what every bundle has (engine.md 4.5, surface.md 2.6)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import lzma
import re
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.digest import digest
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    ComponentRef,
    recipe_from_document,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import Bundle, Scheduling, layout
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.inventory import runtime_inventory

from .conftest import BundleOf, RecipeOf

DISABLED, CUSTOMER, PROVIDED = AccountingMode.DISABLED, AccountingMode.CUSTOMER_MANAGED, AccountingMode.AICR_PROVIDED
MODES = list(AccountingMode)
DEPLOYERS = ["helm", "argocd"]


def document(bundle: Bundle, path: str) -> Any:
    return yamlio.load(bundle.tree[path].content, path)


def folder(bundle: Bundle, release: str) -> str:
    (name,) = [name for name in bundle.order if name[4:] == release]
    return name


RECORDED = {
    "h100-eks-ubuntu-training-slurm--disabled--helm": ("eks", DISABLED),
    "gb200-eks-ubuntu-training-slurm--customer-managed--helm": ("gb200", CUSTOMER),
    "h100-kind-training-slurm--customer-managed--helm": ("kind", CUSTOMER),
    "h100-eks-ubuntu-training-slurm--disabled--argocd": ("eks", DISABLED),
    "h100-eks-ubuntu-training-slurm--customer-managed--argocd": ("eks", CUSTOMER),
    "h100-eks-ubuntu-training-slurm--aicr-provided--argocd": ("eks", PROVIDED),
    "gb200-eks-ubuntu-training-slurm--aicr-provided--argocd": ("gb200", PROVIDED),
    "h100-kind-training-slurm--aicr-provided--argocd": ("kind", PROVIDED),
}
OWN = re.compile(r"(?:.*/)?(?:README\.md|bundle-info\.yaml|checksums\.txt|[\w.-]+\.sh)")


@pytest.fixture(scope="module")
def recorded(shared: Path) -> Mapping[str, Mapping[str, bytes]]:
    """The recorded bundles of our leaves: path to content; empty for a file of which only the name is recorded."""
    found: dict[str, dict[str, bytes]] = {}
    with lzma.open(shared / "golden" / "given.tar.xz") as packed, tarfile.open(fileobj=packed) as archive:
        for member in archive:
            match = re.fullmatch(r"given/bundles/out/([^/]+)/(.+)", member.name)
            if match and match[1] in RECORDED and member.isfile():
                stream = archive.extractfile(member)
                assert stream
                found.setdefault(match[1], {})[match[2]] = stream.read()
    for files in found.values():
        names = [line.split("  ", 1)[1] for line in files["checksums.txt"].decode().splitlines()]
        files.update({name: b"" for name in names if name not in files})
    assert found.keys() == RECORDED.keys()
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_folders_and_files_are_those_of_the_recorded_bundle(
    recorded: Mapping[str, Mapping[str, bytes]], bundle_of: BundleOf, name: str
) -> None:
    bundle = bundle_of(*RECORDED[name], deployer=name.rpartition("--")[2])
    theirs = {path for path in recorded[name] if not OWN.fullmatch(path)}
    assert {path for path in bundle.tree if not OWN.fullmatch(path)} == theirs
    assert list(bundle.order) == sorted({path.split("/")[0] for path in theirs if "/" in path})


@pytest.mark.parametrize("name", [name for name in RECORDED if name.endswith("argocd")])
def test_applications_have_the_recorded_form(
    recorded: Mapping[str, Mapping[str, bytes]], bundle_of: BundleOf, name: str
) -> None:
    bundle = bundle_of(*RECORDED[name], deployer="argocd")
    for path, content in recorded[name].items():
        if path.endswith("application.yaml") or path == "app-of-apps.yaml":
            theirs, ours = yamlio.load(content, path), document(bundle, path)
            for sources in (theirs["spec"].get("sources"), ours["spec"].get("sources")):
                if sources:  # the two catalogs pin some charts differently
                    sources[0]["targetRevision"] = sources[0]["targetRevision"].startswith("v")
            assert ours == theirs, path


def test_an_upstream_chart_is_told_as_a_shell_reads_it(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks")
    classic = bundle.tree[f"{folder(bundle, 'cert-manager')}/upstream.env"].content.decode()
    chart, repository, version = shlex.split(classic)
    assert (chart, repository) == ("CHART=cert-manager", "REPO=https://charts.jetstack.io")
    assert version.startswith("VERSION=v1.")
    oci = bundle.tree[f"{folder(bundle, 'slinky-slurm')}/upstream.env"].content.decode()
    assert shlex.split(oci)[:2] == ["CHART=oci://ghcr.io/slinkyproject/charts/slurm", "REPO="]


def test_a_local_chart_has_the_components_values_at_its_top(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks")
    pre = folder(bundle, "slinky-slurm-pre")
    assert bundle.tree[f"{pre}/values.yaml"] == bundle.tree[f"{folder(bundle, 'slinky-slurm')}/values.yaml"]
    chart = document(bundle, f"{pre}/Chart.yaml")
    assert (chart["name"], chart["apiVersion"], chart["version"]) == ("slinky-slurm-pre", "v2", "0.1.0")
    assert b".Values.enroot" in bundle.tree[f"{pre}/templates/enroot-config.yaml"].content


def test_a_manifest_is_there_when_its_condition_is_true(bundle_of: BundleOf) -> None:
    claims = "templates/shared-storage-pvcs.yaml"
    without, with_ = (
        bundle_of("eks"),
        bundle_of("eks", set=["slinkyslurm:storage.enabled=true"], scheduling=Scheduling(shared_storage_class="wide")),
    )
    assert not [path for path in without.tree if path.endswith(claims)]
    assert [path for path in with_.tree if path.endswith(claims)] == [f"{folder(with_, 'slinky-slurm-pre')}/{claims}"]


def test_what_stands_open_has_a_file_of_its_own(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks", dynamic=["gpuoperator:driver.version", "gpuoperator:brand.new"])
    path = folder(bundle, "gpu-operator")
    version = document(bundle_of("eks"), f"{path}/values.yaml")["driver"]["version"]
    assert document(bundle, f"{path}/cluster-values.yaml") == {"driver": {"version": version}, "brand": {"new": ""}}
    assert "version" not in document(bundle, f"{path}/values.yaml")["driver"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("deployer", DEPLOYERS)
def test_folders_follow_the_runtime_inventory(
    bundle_of: BundleOf, recipe_of: RecipeOf, deployer: str, mode: AccountingMode
) -> None:
    bundle = bundle_of("gb200", mode, deployer=deployer)
    releases = [re.sub(r"-(pre|post)$", "", name[4:]) for name in bundle.order]
    assert list(dict.fromkeys(releases)) == list(runtime_inventory(recipe_of("gb200", mode)).names)
    assert [name[:3] for name in bundle.order] == [f"{number:03d}" for number in range(1, len(bundle.order) + 1)]


@pytest.mark.parametrize("deployer", DEPLOYERS)
def test_every_file_but_the_list_itself_is_in_the_list(bundle_of: BundleOf, deployer: str) -> None:
    bundle = bundle_of("eks", deployer=deployer)
    listed = dict(reversed(line.split("  ")) for line in bundle.tree["checksums.txt"].content.decode().splitlines())
    assert listed == {
        path: hashlib.sha256(file.content).hexdigest() for path, file in bundle.tree.items() if path != "checksums.txt"
    }
    assert list(listed) == sorted(listed)
    assert bundle.digest == "sha256:" + hashlib.sha256(bundle.tree["checksums.txt"].content).hexdigest()


@pytest.mark.parametrize("deployer", DEPLOYERS)
def test_the_same_request_gives_the_same_bytes(bundle_of: BundleOf, deployer: str) -> None:
    options: dict[str, Any] = {
        "deployer": deployer,
        "set": ["gpuoperator:a.b=1", "certmanager:c=2"],
        "version": "1.0.0",
    }
    assert bundle_of("eks", PROVIDED, **options) == bundle_of("eks", PROVIDED, **options)


def test_only_scripts_can_be_run(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks")
    assert {path for path, file in bundle.tree.items() if file.executable} == {
        "deploy.sh", *(f"{name}/install.sh" for name in bundle.order)
    }  # fmt: skip


def test_the_bundle_tells_what_it_is_made_of(bundle_of: BundleOf, recipe_of: RecipeOf) -> None:
    scheduling = Scheduling(system_node_selector={"a": "b"}, storage_class="fast")
    bundle = bundle_of("eks", PROVIDED, scheduling=scheduling, version="1.2.3")
    info = document(bundle, "bundle-info.yaml")
    assert (info["apiVersion"], info["kind"], info["metadata"]) == ("aicr.run/v1", "BundleInfo", {"version": "1.2.3"})
    assert info["build"]["recipe"]["digest"] == digest(recipe_to_document(recipe_of("eks", PROVIDED)))
    assert info["build"]["recipe"]["path"] == "recipe.yaml"
    assert info["build"]["settings"]["nodeScheduling"] == {"system": {"selector": {"a": "b"}}}
    assert info["build"]["settings"]["storageClass"] == "fast"
    assert info["layout"]["entrypoint"] == "deploy.sh"
    assert [release["path"] for release in info["layout"]["releases"]] == list(bundle.order)
    assert "T" not in json.dumps(info["metadata"])


def test_the_recipe_in_the_bundle_is_that_of_what_the_bundle_holds(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks", CUSTOMER, set=["nvsentinel:enabled=false"])
    recipe, warnings = recipe_from_document(document(bundle, "recipe.yaml"), "recipe.yaml")
    assert not warnings
    assert recipe.accounting_mode is CUSTOMER
    names = {ref.name for ref in recipe.component_refs}
    assert names == {re.sub(r"-(pre|post)$", "", name[4:]) for name in bundle.order}
    assert all(set(ref.dependency_refs or ()) <= names for ref in recipe.component_refs)


def test_argo_options_reach_the_children_alone(bundle_of: BundleOf) -> None:
    options = {"name_prefix": "c1-", "destination_server": "https://1.2.3.4", "project": "gpu", "cascade_delete": True}
    bundle = bundle_of(
        "eks", deployer="argocd", argocd=options, repo="https://git.example.com/x.git", target_revision="v1"
    )
    child = document(bundle, f"{folder(bundle, 'cert-manager')}/application.yaml")
    assert child["metadata"]["name"] == "c1-cert-manager"
    assert child["metadata"]["finalizers"] == ["resources-finalizer.argocd.argoproj.io"]
    assert child["spec"]["project"] == "gpu"
    assert child["spec"]["destination"] == {"server": "https://1.2.3.4", "namespace": "cert-manager"}
    assert child["spec"]["sources"][1] == {
        "repoURL": "https://git.example.com/x.git", "targetRevision": "v1", "ref": "values"
    }  # fmt: skip
    parent = document(bundle, "app-of-apps.yaml")
    assert parent["metadata"] == {"name": "nvidia-stack", "namespace": "argocd"}
    assert (parent["spec"]["project"], parent["spec"]["source"]["targetRevision"]) == ("default", "v1")


def test_the_parent_application_may_have_another_name(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks", deployer="argocd", argocd={"app_name": "gpu-stack"})
    assert document(bundle, "app-of-apps.yaml")["metadata"]["name"] == "gpu-stack"
    assert document(bundle, "bundle-info.yaml")["build"]["settings"]["appName"] == "gpu-stack"


def test_a_registry_cannot_lend_values_so_they_stand_in_the_application(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks", deployer="argocd", repo="oci://registry.example.com/clusters/one")
    name = folder(bundle, "cert-manager")
    spec = document(bundle, f"{name}/application.yaml")["spec"]
    assert "sources" not in spec
    assert spec["source"]["repoURL"] == "https://charts.jetstack.io"
    assert spec["source"]["helm"] == {"valuesObject": document(bundle, f"{name}/values.yaml")}


def test_the_reference_spelling_of_argo_options_means_the_same(bundle_of: BundleOf) -> None:
    entries = ["deployer:namePrefix=c1-", "deployer:cascadeDelete=true"]
    one = bundle_of("eks", deployer="argocd", set=entries)
    assert one == bundle_of("eks", deployer="ArgoCD", argocd={"name_prefix": "c1-", "cascade_delete": True})


def test_serial_waves_go_one_by_one(bundle_of: BundleOf) -> None:
    bundle = bundle_of("eks", deployer="argocd", serial=True)
    waves = [document(bundle, f"{name}/application.yaml")["metadata"]["annotations"] for name in bundle.order]
    assert [int(wave["argocd.argoproj.io/sync-wave"]) for wave in waves] == list(range(len(bundle.order)))


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"deployer": "kustomize"}, '"kustomize" is unknown'),
        ({"argocd": {"project": "x"}}, "mean nothing to the deployer helm"),
        ({"set": ["deployer:project=x"]}, "mean nothing to the deployer helm"),
        ({"deployer": "argocd", "set": ["deployer:bogus=1"]}, "deployer:bogus"),
        ({"deployer": "argocd", "set_json": ['deployer:project="x"']}, "the deployer's options are scalars"),
        ({"deployer": "argocd", "argocd": {"bogus": 1}}, 'unknown option "bogus"'),
        ({"deployer": "argocd", "argocd": {"project": "x"}, "set": ["deployer:project=y"]}, "says something else"),
        ({"deployer": "argocd", "argocd": {"destination_server": "http://x"}}, "no https address"),
        ({"deployer": "argocd", "argocd": {"destination_server": "https://u:p@x"}}, "no https address"),
        ({"deployer": "argocd", "argocd": {"cascade_delete": "true"}}, "must be true or false"),
        ({"deployer": "argocd", "argocd": {"name_prefix": "A"}}, "argocd.name_prefix"),
        ({"deployer": "argocd", "argocd": {"app_name": "My_Stack"}}, "argocd.app_name"),
        ({"deployer": "argocd", "argocd": {"app_name": "cert-manager"}}, "cannot be the name of an Application"),
        ({"deployer": "argocd", "argocd": {"name_prefix": "a" * 50}}, "cannot be the name of an Application"),
        ({"repo": "https://git.example.com/x.git"}, "repo: means nothing to the deployer helm"),
        ({"target_revision": "main"}, "target_revision: means nothing to the deployer helm"),
        ({"deployer": "argocd", "repo": "not an address"}, "repo"),
        ({"deployer": "argocd", "repo": "https://u:hunter2@git.example.com/x.git"}, "carries a password"),
        ({"deployer": "argocd", "target_revision": "a b"}, "target_revision"),
        ({"deployer": "argocd", "dynamic": ["gpuoperator:a"]}, "argocd cannot leave values open"),
    ],
)
def test_what_a_deployer_cannot_take_is_refused_by_name(
    bundle_of: BundleOf, options: dict[str, Any], about: str
) -> None:
    with pytest.raises(AicrError) as refused:
        bundle_of("eks", **options)
    assert about in refused.value.message
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "about"),
    [
        ({"manifest_files": ("components/cert-manager/none.yaml",)}, "none.yaml"),
        ({"type": "Kustomize"}, "is a kustomization"),
    ],
)
def test_a_component_that_cannot_be_laid_out_is_refused_by_name(
    bundle_of: BundleOf, recipe_of: RecipeOf, changes: dict[str, Any], about: str
) -> None:
    recipe = recipe_of("eks")
    ref = recipe.component("cert-manager")
    assert ref
    with pytest.raises(AicrError) as refused:
        bundle_of(recipe.with_component(dataclasses.replace(ref, **changes)))
    assert about in refused.value.message
    assert "cert-manager" in refused.value.message


def test_a_placeholder_in_the_place_of_a_repository_is_pointed_at(bundle_of: BundleOf) -> None:
    without = bundle_of("eks", deployer="argocd", target_revision="v1")
    assert [text for text in without.warnings if "YOUR-ORG" in text]
    given = bundle_of("eks", deployer="argocd", repo="https://git.example.com/x.git")
    assert not [text for text in given.warnings if "repo" in text]


def test_a_release_keeps_the_length_that_helm_takes(bundle_of: BundleOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_RELEASE", len("slinky-slurm-pre") - 1)
    with pytest.raises(AicrError, match='release "slinky-slurm-pre", whose name is longer than the 15'):
        bundle_of("eks", components=["slinky-slurm"])


def test_a_component_named_like_a_folder_of_another_is_refused(bundle_of: BundleOf, recipe_of: RecipeOf) -> None:
    recipe = recipe_of("eks")
    twin = ComponentRef("slinky-slurm-pre", "slurm", "x", "Helm", "https://example.com", "1.0.0")
    with pytest.raises(AicrError, match='release "slinky-slurm-pre"'):
        bundle_of(dataclasses.replace(recipe, component_refs=(*recipe.component_refs, twin)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("deployer", DEPLOYERS)
def test_the_readme_says_who_owns_what_and_how_to_take_it_away(
    bundle_of: BundleOf, deployer: str, mode: AccountingMode
) -> None:
    bundle = bundle_of("eks", mode, deployer=deployer)
    text = bundle.tree["README.md"].content.decode()
    assert all(name in text for name in bundle.order)
    assert f"`configuration.slurm.accounting.mode` is `{mode.value}`" in text
    assert "fully managed" not in text.lower()
    if deployer == "helm":
        removed = re.findall(r"helm uninstall (\S+)", text)
        assert removed == [name[4:] for name in reversed(bundle.order)]
