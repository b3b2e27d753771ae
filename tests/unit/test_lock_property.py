# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever anyone passes, by whatever surface, a bundle never contradicts its accounting mode (ADR-016 sections 7, 8).

`make soak` runs the same property over many more sets (tests/soak).
"""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import lock_oracle
import pytest
from lock_sets import LEAVES, MODES, PARTS, SURFACES, Maker, OverrideSet, try_sets, verdict

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import bundle, gate
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.overrides import Override
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.ownership import paths

SETS = 520
CHUNKS = 4
ACCEPTED = 0.2


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_accepted_bundle_contradicts_its_mode(chunk: int, tmp_path: Path) -> None:
    size = SETS // CHUNKS
    trial = try_sets(range(chunk * size, (chunk + 1) * size), tmp_path)
    assert not trial.faults, "\n".join(trial.faults)
    assert trial.accepted + trial.refused == size
    assert trial.written == trial.accepted
    assert ACCEPTED <= trial.share <= 1 - ACCEPTED, "a property that sees one answer only proves nothing"


def test_the_sets_reach_every_mode_by_every_surface(tmp_path: Path) -> None:
    """Owned paths themselves, above, below, and by alias; and paths that nobody owns."""
    hits: Counter[tuple[str, ...]] = Counter()
    for number in range(SETS):
        one = Maker(number, tmp_path).make()
        touched = lock_oracle.touched(one.mode, one.given)
        for stated, owned in touched:
            depth = len(stated.keys) - len(lock_oracle.keys_of(owned))
            where = "at" if depth == 0 else "below" if depth > 0 else "above"
            alias = "alias" if stated.written.partition(":")[0] in lock_oracle.NAMES.keys() - _COMPONENTS else "name"
            hits.update([(one.mode, stated.surface), (where, stated.surface), (alias, stated.surface)])
        if not touched:
            hits.update((one.mode, part, "open") for part in PARTS if one.given[part])
    due = {(first, surface) for first in (*MODES, "at", "above", "below", "alias", "name") for surface in SURFACES}
    due |= {(mode, part, "open") for mode in MODES for part in PARTS}
    assert due - hits.keys() == set()


_COMPONENTS = {lock_oracle.SLURM, lock_oracle.CRDS, lock_oracle.OPERATOR, lock_oracle.DATABASE}


def gate_off(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gate, "_owned_problem", lambda override, mode: None)


def alias_missed(patch: pytest.MonkeyPatch) -> None:
    judged = gate._owned_problem

    def by_written_name(override: Override, mode: AccountingMode | None) -> AicrError | None:
        return judged(dataclasses.replace(override, component=override.written), mode)

    patch.setattr(gate, "_owned_problem", by_written_name)


def ancestor_missed(patch: pytest.MonkeyPatch) -> None:
    def at_or_below(owned: str, path: str) -> bool:
        keys = paths.segments(owned)
        return paths.segments(path)[: len(keys)] == keys

    patch.setattr(paths, "intersects", at_or_below)


def descendant_missed(patch: pytest.MonkeyPatch) -> None:
    def at_or_above(owned: str, path: str) -> bool:
        keys = paths.segments(path)
        return paths.segments(owned)[: len(keys)] == keys

    patch.setattr(paths, "intersects", at_or_above)


def near_taken_for_owned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(paths, "intersects", lambda owned, path: path.lower().startswith(owned.lower()))


def values_unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bundle, "value_problems", lambda mode, values: [])


def filter_unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gate, "absence_problems", lambda recipe, present: iter(()))


def connection_deferred(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gate, "_connection_problem", lambda override, mode: iter(()))


def first_problem_only(patch: pytest.MonkeyPatch) -> None:
    def first(problems: list[AicrError]) -> None:
        for problem in problems:
            raise problem

    patch.setattr(bundle, "raise_all", first)


@pytest.mark.parametrize(
    "fault",
    [
        gate_off,
        alias_missed,
        ancestor_missed,
        descendant_missed,
        near_taken_for_owned,
        values_unchecked,
        filter_unchecked,
        connection_deferred,
        first_problem_only,
    ],
)
def test_the_property_finds_a_seeded_fault(
    fault: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    assert try_sets(range(SETS), tmp_path, write_every=SETS, stop_after=1).faults


@pytest.mark.parametrize("deployer", ["helm", "argocd"])
@pytest.mark.parametrize(
    ("mode", "entry", "told"),
    [
        ("disabled", "slinky-slurm:accounting.enabled=true", "accounting.enabled is True, not False"),
        ("customer-managed", "slurmcluster:accounting.enabled=false", "accounting.enabled is False, not True"),
        ("customer-managed", "slinkyslurm:accounting.external=true", "accounting.external is set"),
        ("aicr-provided", "slinkyslurm:accounting.storageConfig.port=3307", "port is 3307, not 3306"),
        ("aicr-provided", "mariadboperator:crds.enabled=true", "crds.enabled is True, not False"),
        ("aicr-provided", "slurmaccountingmariadb:mariadb.cleanupPolicy=Delete", "is 'Delete', not 'Skip'"),
    ],
)
def test_the_oracle_reads_a_contradiction_from_the_files(
    mode: str, entry: str, told: str, deployer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The written values alone, whatever the options were."""
    gate_off(monkeypatch)
    values_unchecked(monkeypatch)
    given = {part: {} if part == "values" else [] for part in PARTS}
    _unused, faults = verdict(
        OverrideSet(0, LEAVES[0], mode, deployer, {**given, "set": [entry]}, False), tmp_path / "bundle"
    )
    assert any(told in fault for fault in faults), faults
    _unused, faults = verdict(OverrideSet(0, LEAVES[0], mode, deployer, given, False), tmp_path / "bundle")
    assert not faults


def test_the_oracle_knows_nothing_of_the_engine() -> None:
    tree = ast.parse(Path(lock_oracle.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "collections.abc", "dataclasses", "pathlib", "typing", "yaml"}
