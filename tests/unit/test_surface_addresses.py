# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses are told from paths in one way wherever one is due, and no password or token of one is ever printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import ComponentRef
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.deployers.argocd import ArgoCD
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.deployers.deployer import DeployerOptions
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.syntax import faults
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.address import scheme, spelled
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.chart_source import locate
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.kubeconfig import server_url
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import options
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle_verify import verify as verify_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.catalogs import catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.convert import convert
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot_diff import compare_snapshots
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.variables import check_variables

ADDRESSES = (
    "https://user:s3cret5@localhost:1/x?token=QQQ5",
    "HTTPS://user:s3cret5@localhost:1/x?token=QQQ5",
    "Http://user:s3cret5@localhost:1/x?token=QQQ5",
    " https://user:s3cret5@localhost:1/x?token=QQQ5",
    "\thttps://user:s3cret5@localhost:1/x?token=QQQ5\n",
    "https://localhost:1/x y?token=QQQ5",
    "ftp://user:s3cret5@localhost/x?token=QQQ5",
    "s3+ssh://user:s3cret5@localhost/x?token=QQQ5",
    "OCI://user:s3cret5@localhost:1/x?token=QQQ5",
    "CM://user:s3cret5@localhost/x?token=QQQ5",
    "see https://user:s3cret5@localhost:1/x?token=QQQ5",
    "1://user:s3cret5@localhost:1/x?token=QQQ5",
    "$QQQ5_ADDRESS",
)
CHECKOUT = Path(__file__).resolve().parents[2]
SNAPSHOT = {"kind": "Snapshot", "measurements": [{"type": "K8s", "subtypes": []}]}


def parsed(spec: options.Spec, **values: Any) -> options.Options:
    return options.parse(spec, values)


def _argocd(repo: str) -> None:
    problems: list[AicrError] = []
    ArgoCD.read(DeployerOptions(repo=repo, target_revision=None, serial=False, argocd={}), problems)
    if problems:
        raise problems[0]


def _source(address: str) -> None:
    for kind in ("Helm", "Kustomize"):
        for fault in faults(ComponentRef("c", type=kind, source=address, version="1.0.0")):
            if fault.path == ("source",):
                raise AicrError(options.invalid("").code, fault.what, fault.hint)


READERS: Mapping[str, Callable[[str], object]] = {
    "baseline": lambda address: compare_snapshots(parsed(options.SNAPSHOT_DIFF, baseline=address, target=SNAPSHOT)),
    "target": lambda address: compare_snapshots(parsed(options.SNAPSHOT_DIFF, baseline=SNAPSHOT, target=address)),
    "dest of a report": lambda address: compare_snapshots(
        parsed(options.SNAPSHOT_DIFF, baseline=SNAPSHOT, target=SNAPSHOT, dest=address)
    ),
    "source": lambda address: convert(parsed(options.CONVERT, source=address, track="stable")),
    "dest": lambda address: convert(parsed(options.CONVERT, source=SNAPSHOT, track="stable", dest=address)),
    "snapshot": lambda address: make_recipe(parsed(options.RECIPE, snapshot=address)),
    "config": lambda address: make_recipe(parsed(options.RECIPE, config=address)),
    "catalog": lambda address: make_recipe(parsed(options.RECIPE, catalog=address)),
    "catalog of a configuration file": catalog,
    "recipe": lambda address: make_bundle(parsed(options.BUNDLE, recipe=address, dest="x")),
    "dest of a bundle": lambda address: make_bundle(parsed(options.BUNDLE, recipe={}, dest=address)),
    "set_file": lambda address: make_bundle(parsed(options.BUNDLE, recipe={}, dest="x", set_file=[f"c:a={address}"])),
    "path": lambda address: verify_bundle(parsed(options.BUNDLE_VERIFY, path=address)),
    "kubeconfig": lambda address: make_recipe(parsed(options.RECIPE, snapshot="cm://ops/snapshot", kubeconfig=address)),
    "registry_config": lambda address: check_variables(
        "berlin", ["aicr_registry_config"], {"aicr_registry_config": address}, ["deploy"]
    ),
    "chart_source": lambda address: locate("chart", None, "1.0.0", address),
    "chart": lambda address: locate(address, None, None),
    "repository": lambda address: locate("chart", address, "1.0.0"),
    "repo": _argocd,
    "source of a component": _source,
    "host": lambda address: server_url(address, "host"),
}


def refused(reader: Callable[[str], object], address: str) -> AicrError | None:
    try:
        reader(address)
    except AicrError as error:
        return error
    return None


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("reader", READERS)
def test_no_secret_of_an_address_is_printed(
    reader: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QQQ5_ADDRESS", "https://user:s3cret5@localhost:1/x?token=QQQ7")
    said = refused(READERS[reader], address)
    if said is None:
        assert reader in ("repository", "host") or (reader == "source of a component" and "s3cret5" not in address)
    else:
        for text in (said.message, said.hint, str(said.details)):
            assert not any(secret in text for secret in ("s3cret5", "token=", "QQQ7")), text
        assert said.code != "NOT_FOUND" or address[0] == "$"
        assert "run aicr.runtime" not in said.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "kind", "same"),
    [
        ("CM://ops/x", "cm", "cm://ops/x"),
        (" HTTPS://Example.com/X ", "https", "https://Example.com/X"),
        ("git+ssh://h", "git+ssh", "git+ssh://h"),
        ("a/b ", "", "a/b "),
        ("./a://b", "", "./a://b"),
        ("", "", ""),
    ],
)
def test_an_address_has_one_spelling(text: str, kind: str, same: str) -> None:
    assert (scheme(text), spelled(text)) == (kind, same)


def test_another_scheme_is_refused_by_its_name() -> None:
    with pytest.raises(AicrError, match="baseline: ftp:// places are not supported") as caught:
        READERS["baseline"]("FTP://user:s3cret5@localhost/x")
    assert caught.value.hint == "name a file"


@pytest.mark.parametrize("source", ["OCI://registry.example/charts", " oci://registry.example/charts/ "])
def test_a_registry_may_be_spelled_in_any_way(source: str) -> None:
    assert locate("chart", None, "1.0.0", source).reference == "oci://registry.example/charts/chart"


@pytest.mark.parametrize("place", ["cm://ops/x", "CM://ops/x", " cm://ops/x"])
def test_what_a_playbook_leaves_where_it_is_has_any_spelling(place: str) -> None:
    """The task that keeps a given snapshot asks no cluster, so it takes none that stands in one."""
    tasks = (CHECKOUT / "playbooks" / "tasks" / "keep_snapshot.yml").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"aicr_snapshot is not match\('(.*)'\)", tasks)
    assert re.match(pattern, place) and scheme(place) == "cm"
    assert not re.match(pattern, "artifacts/cm")
