# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws of resolution (spec/engine.md 1.6): phases merge as an oracle says, and a track of versions changes nothing."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from layered import EMPTY_REGISTRY, overlay

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    PHASES,
    Constraint,
    NodeSelection,
    Phase,
    Validation,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.catalog import EMBEDDED_ROOT
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import phases
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.convert import convert
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import CONVERT, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe

CONSTRAINTS = st.builds(Constraint, st.sampled_from("fgh"), st.sampled_from([">= 1", ">= 2"]))
PHASE = st.builds(
    Phase,
    timeout=st.sampled_from([None, "", "5m", "9m"]),
    infrastructure=st.sampled_from([None, "", "a", "b"]),
    checks=st.one_of(st.none(), st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(tuple)),
    constraints=st.one_of(st.none(), st.lists(CONSTRAINTS, unique_by=lambda one: one.name, max_size=3).map(tuple)),
    node_selection=st.sampled_from([None, NodeSelection(max_nodes=1), NodeSelection(selector={"a": "b"})]),
)
VALIDATION = st.one_of(st.none(), st.builds(Validation, **{name: st.one_of(st.none(), PHASE) for name in PHASES}))


def slow(base: Phase | None, over: Phase | None) -> Phase | None:
    """The rule for one phase, spelled out: absent inherits, an empty list clears, lists join, a text replaces."""
    if base is None or over is None:
        return over or base
    checks, constraints = base.checks, base.constraints
    if over.checks is not None:
        checks = () if not over.checks else tuple(dict.fromkeys((*(base.checks or ()), *over.checks)))
    if over.constraints is not None:
        kept = {one.name: one for one in (*(base.constraints or ()), *over.constraints)}
        constraints = tuple(kept.values()) if over.constraints else ()
    return Phase(
        timeout=over.timeout or base.timeout,
        infrastructure=over.infrastructure or base.infrastructure,
        checks=checks,
        constraints=constraints,
        node_selection=base.node_selection if over.node_selection is None else over.node_selection,
    )


@given(VALIDATION, VALIDATION)
def test_phases_of_two_layers_merge_by_field(base: Validation | None, over: Validation | None) -> None:
    before = copy.deepcopy((base, over))
    found = phases.merged(base, over)
    assert (base, over) == before, "a layer was changed in place"
    for name in PHASES:
        assert getattr(found, name, None) == slow(getattr(base, name, None), getattr(over, name, None))


@given(VALIDATION)
def test_a_layer_that_says_nothing_changes_nothing(base: Validation | None) -> None:
    assert phases.merged(base, None) == base
    assert phases.merged(None, base) == base
    assert phases.merged(base, Validation()) == (base or Validation())


@given(VALIDATION, VALIDATION, VALIDATION)
def test_a_check_that_a_layer_names_is_there_unless_a_later_one_clears(
    first: Validation | None, second: Validation | None, third: Validation | None
) -> None:
    found = phases.merged(phases.merged(first, second), third)
    for name in PHASES:
        expected: list[str] = []
        for layer in (first, second, third):
            checks = getattr(getattr(layer, name, None), "checks", None)
            expected = expected if checks is None else list(dict.fromkeys([*expected, *checks])) if checks else []
        assert list(getattr(getattr(found, name, None), "checks", None) or ()) == expected


SLURM = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}


def stable(document: object) -> Any:
    return convert(parse(CONVERT, {"source": document, "track": "stable"})).document


def write(folder: Path, files: dict[str, Any]) -> str:
    for path, document in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(yamlio.dump(document))
    return str(folder)


def test_what_is_resolved_from_the_stable_track_is_the_same_recipe(tmp_path: Path) -> None:
    """Catalog, configuration file and snapshot, each as it is and converted; recipes are converted last."""
    own = {"registry.yaml": EMPTY_REGISTRY, "overlays/mine.yaml": overlay("mine", base="h100-eks-ubuntu-training-slurm",
           criteria=SLURM, componentRefs=[{"name": "gpu-operator", "overrides": {"mine": True}}])}  # fmt: skip
    config = {"kind": "AICRConfig", "apiVersion": "aicr.run/v1alpha2", "spec": {"recipe": {
        "criteria": {"intent": "training", "platform": "slurm"},
        "configuration": {"slurm": {"accounting": {"mode": "customer-managed"}}},
    }}}  # fmt: skip
    examples = EMBEDDED_ROOT.parent / "examples" / "snapshots"
    snapshot = yamlio.load_file(examples / "eks-h100-training.yaml")
    alpha = write(tmp_path / "alpha", {**own, "../alpha.yaml": config})
    beta = write(tmp_path / "beta", {
        **{path: stable(document) for path, document in own.items()}, "../beta.yaml": stable(config),
    })  # fmt: skip
    one, other = (
        make_recipe(parse(RECIPE, {"catalog": folder, "config": f"{folder}.yaml", "snapshot": taken}))
        for folder, taken in ((alpha, snapshot), (beta, stable(snapshot)))
    )
    assert one.document == other.document
    assert one.digest == other.digest == convert(parse(CONVERT, {"source": one.document, "track": "stable"})).digest
    assert one.summary["accounting"] == "customer-managed"
    assert "mine" in one.summary["overlays"]  # type: ignore[operator]
