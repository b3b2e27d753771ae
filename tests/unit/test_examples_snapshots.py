# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample snapshots are what the collectors would write, and fit the recipes that the demo makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import resolution, yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import snapshot as snapshots
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import versions
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import criteria, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import evaluate

SNAPSHOTS = Path(__file__).resolve().parents[2] / "examples" / "snapshots"
FILES = sorted(SNAPSHOTS.glob("*.yaml"))
TRAINING = {"intent": "training", "platform": "slurm"}
INFERENCE = {"intent": "inference"}


def taken(name: str) -> snapshots.Snapshot:
    return snapshots.snapshot_from_document(yamlio.load_file(SNAPSHOTS / name), name)[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_canonical_and_known_to_this_release(path: Path) -> None:
    document = yamlio.load_file(path)
    snapshot, warnings = snapshots.snapshot_from_document(document, path.name)
    assert warnings == []
    assert yamlio.dump(snapshots.snapshot_to_document(snapshot)) == path.read_text()
    assert snapshot.api_version == versions.WRITTEN_SNAPSHOT
    assert snapshot.metadata is not None
    assert snapshot.metadata.version == versions.RELEASE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_items_and_folded_data_of_the_topology_say_the_same(path: Path) -> None:
    def subtype(name: str) -> snapshots.Subtype:
        return next(taken(path.name).subtypes("NodeTopology", name))

    for name in ("label", "taint"):
        for item in subtype(name).items or ():
            context: dict[str, Any] = dict(item.context or {})
            data: dict[str, Any] = dict(item.data or {})
            assert data["node-count"] == len(data["node-list"].split(","))
            folded: dict[str, Any] = dict(subtype(name).data or {})
            value = "|".join(str(context[part]) for part in ("effect", "value") if part in context)
            assert f"{value}|{data['node-list']}" in folded.values()
    summary: dict[str, Any] = dict(subtype("summary").data or {})
    assert summary["label-count"] == len(subtype("label").items or ())
    assert summary["taint-count"] == len(subtype("taint").items or ())


@pytest.mark.parametrize(
    ("name", "stated", "mode", "leaf"),
    [
        ("eks-h100-training.yaml", TRAINING, AccountingMode.AICR_PROVIDED, "h100-eks-ubuntu-training-slurm"),
        ("eks-h100-inference.yaml", INFERENCE, None, "h100-eks-inference"),
    ],
)
def test_it_leads_to_its_leaf_without_a_warning_and_meets_every_constraint(
    name: str, stated: dict[str, str], mode: AccountingMode | None, leaf: str
) -> None:
    catalog, snapshot = embedded(), taken(name)
    result = resolution.resolve(catalog, criteria.parse(stated, catalog), snapshot=snapshot, accounting_mode=mode)
    recipe = result.recipe
    assert result.warnings == ()
    assert recipe.metadata is not None
    assert leaf in (recipe.metadata.applied_overlays or ())
    assert recipe.constraints
    assert all(evaluate(constraint, snapshot).passed for constraint in recipe.constraints)
