# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots, recipes and configurations are read on both version tracks and never silently misread."""

from __future__ import annotations

import copy
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import config, digest, recipe, snapshot, versions
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

SNAPSHOT: dict[str, Any] = {
    "kind": "Snapshot",
    "apiVersion": "aicr.run/v1alpha2",
    "metadata": {"timestamp": "2026-08-18T10:00:00Z", "version": "dev", "source-node": "n1"},
    "measurements": [{"type": "K8s", "subtypes": [{"subtype": "server", "data": {"version": "v1.33.1"}}]}],
}
RECIPE: dict[str, Any] = {
    "kind": "RecipeResult",
    "apiVersion": "aicr.run/v1alpha3",
    "metadata": {"version": "dev", "appliedOverlays": ["base"]},
    "criteria": {"service": "eks", "platform": "slurm"},
    "configuration": {"slurm": {"accounting": {"mode": "disabled"}}},
    "componentRefs": [{"name": "nfd", "version": "0.19.0"}],
    "deploymentOrder": ["nfd"],
}
CONFIG: dict[str, Any] = {
    "kind": "AICRConfig",
    "apiVersion": "aicr.run/v1alpha2",
    "metadata": {"name": "t"},
    "spec": {
        "recipe": {"criteria": {"service": "eks"}, "configuration": {"slurm": {"accounting": {"mode": "disabled"}}}}
    },
}


def changed(document: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(document), **fields}


@pytest.mark.parametrize("version", [*versions.PLAIN_TRACK, None, ""])
def test_a_snapshot_is_read_on_both_tracks_and_without_a_version(version: str | None) -> None:
    read, warnings = snapshot.snapshot_from_document(changed(SNAPSHOT, apiVersion=version), "s.yaml")
    assert read.reading("K8s", "server", "version") == "v1.33.1"
    assert read.reading("K8s", "server", "absent") is None
    assert warnings == []


@pytest.mark.parametrize("key", ["version", "driver-version", "VERSION_ID", "kernelVersion"])
def test_a_version_that_lost_its_quotes_is_read_and_pointed_at(key: str) -> None:  # case Y1
    data = {key: 1.30, "memory": 1.5, "versions": 2.5, "other": "1.30", "a-version": 2}
    subtypes = [{"subtype": "server", "data": data}, {"subtype": "nodes", "items": [{"data": {key: 22.04}}]}]
    read, warnings = snapshot.snapshot_from_document(
        changed(SNAPSHOT, measurements=[{"type": "K8s", "subtypes": subtypes}]), "s.yaml"
    )
    assert read.reading("K8s", "server", key) == 1.3
    assert [text.partition(",")[0] for text in warnings] == [
        f"s.yaml: the reading K8s.server.{key} is the number 1.3",
        f"s.yaml: the reading K8s.nodes.{key} is the number 22.04",
    ]
    assert all("quotes" in text for text in warnings)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (None, "null"),
        ({"foo": "bar"}, "no measurements"),
        (changed(SNAPSHOT, measurements=[]), "no measurements"),
        (changed(SNAPSHOT, kind="RecipeResult"), '"RecipeResult"'),
        (CONFIG, '"AICRConfig"'),
        (changed(SNAPSHOT, apiVersion="aicr.run/v9"), '"aicr.run/v9"'),
        ("text", "text"),
    ],
)
def test_what_is_no_snapshot_is_refused(document: object, words: str) -> None:
    with pytest.raises(AicrError, match=words):
        snapshot.snapshot_from_document(document, "s.yaml")


def test_a_recipe_of_the_strict_track_knows_all_its_keys() -> None:
    wrong = {"slurm": {"acounting": {"mode": "disabled"}, "accounting": {"mode": "disabled"}}}
    with pytest.raises(AicrError, match='unknown key "acounting"'):
        recipe.recipe_from_document(changed(RECIPE, configuration=wrong), "r.yaml")


def test_a_plain_recipe_keeps_what_it_does_not_know() -> None:
    document = changed(RECIPE, apiVersion="aicr.run/v1", later=1)
    del document["configuration"]
    read, warnings = recipe.recipe_from_document(document, "r.yaml")
    assert warnings == ["r.yaml: later: unknown key is kept but has no effect"]
    assert recipe.recipe_to_document(read) == document


@pytest.mark.parametrize("mode", ["Disabled", " disabled", "", "managed", None])
def test_only_the_canonical_mode_is_valid_in_an_artifact(mode: str | None) -> None:
    document = changed(RECIPE, configuration={"slurm": {"accounting": {"mode": mode}}})
    with pytest.raises(AicrError, match="mode"):
        recipe.recipe_from_document(document, "r.yaml")


def test_the_configuration_is_strict_and_needs_a_section() -> None:
    assert config.config_from_document(CONFIG, "c.yaml").spec.recipe is not None
    for wrong, words in [
        ({"recipe": {"criterias": {}}}, 'unknown key "criterias"'),
        ({}, "spec.recipe, spec.snapshot"),
        ({"recipes": {}}, "none of"),
        ({"recipe": {"criteria": {"nodes": "4"}}}, "whole number"),
    ]:
        with pytest.raises(AicrError, match=words):
            config.config_from_document(changed(CONFIG, spec=wrong), "c.yaml")
    with pytest.raises(AicrError, match="apiVersion"):
        config.config_from_document(changed(CONFIG, apiVersion=""), "c.yaml")


def test_the_digest_covers_the_mode_and_not_the_header() -> None:
    header = changed(RECIPE, metadata={"version": "v2", "appliedOverlays": ["base"]})
    mode = changed(RECIPE, configuration={"slurm": {"accounting": {"mode": "customer-managed"}}})
    state = changed(RECIPE, metadata={"version": "dev", "appliedOverlays": ["base"], "mariaDBOperatorState": "absent"})
    assert digest.digest(header) == digest.digest(RECIPE)
    assert len({digest.digest(document) for document in (RECIPE, mode, state)}) == 3
    assert RECIPE["metadata"]["version"] == "dev"


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest.digest(dict(reversed(SNAPSHOT.items()))) == digest.digest(SNAPSHOT)
    assert digest.digest(SNAPSHOT).startswith("sha256:")


def test_every_recorded_recipe_and_snapshot_comes_back_as_it_was(shared: Path, tmp_path: Path) -> None:
    count = 0
    for archive in ("given", "inputs"):
        with tarfile.open(shared / "golden" / f"{archive}.tar.xz") as content:
            content.extractall(tmp_path, filter="data")
    recipes = [
        *(tmp_path / "given/recipes/out").iterdir(),
        *(tmp_path / "given/snapshots/out").iterdir(),
        *(tmp_path / "inputs/recipes").iterdir(),
    ]
    for path in recipes:
        if path.suffix in (".yaml", ".json"):
            document = yamlio.load_file(path)
            read, warnings = recipe.recipe_from_document(document, path.name)
            assert (recipe.recipe_to_document(read), warnings) == (document, []), path.name
            assert yamlio.load(yamlio.dump(document), path.name) == document
            count += 1
    assert count > 300
    for path in (tmp_path / "inputs/snapshots").iterdir():
        if not path.name.startswith(("bad-", "empty-")) or path.name == "bad-type.yaml":
            document = yamlio.load_file(path)
            read_snapshot, _warnings = snapshot.snapshot_from_document(document, path.name)
            assert snapshot.snapshot_to_document(read_snapshot) == document, path.name
            count += 1
    assert count > 380


def test_the_release_is_the_one_that_the_collection_is_published_as() -> None:
    galaxy = yamlio.load_file(Path(__file__).parents[2] / "galaxy.yml")
    assert galaxy["version"] == versions.RELEASE
