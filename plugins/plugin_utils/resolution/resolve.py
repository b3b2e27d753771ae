# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From criteria, and a snapshot if there is one, to a recipe (spec/engine.md section 1, spec/surface.md 2.2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..artifacts import codec, versions
from ..artifacts.recipe import (
    ANY,
    AXES,
    AccountingMode,
    ConstraintWarning,
    Criteria,
    ExcludedOverlay,
    RecipeHeader,
    RecipeResult,
)
from ..artifacts.snapshot import Snapshot
from ..catalog import BASE, Catalog, Overlay, overlay_from_document
from ..catalog.coherence import check_checks
from ..errors import invalid, raise_all
from ..inventory import deployment_order
from ..ownership import artifact_problems, derive
from . import coverage, evidence, exclusion
from . import profile as profiles
from .composition import Composer, Composition, composer
from .fingerprint import criteria_from_snapshot
from .profile import Choice
from .selection import Candidate, matching, maximal_leaves


@dataclass(frozen=True)
class Resolution:
    """A recipe and what its user should know about how it came about."""

    recipe: RecipeResult
    warnings: tuple[str, ...]


def resolve(
    catalog: Catalog,
    criteria: Criteria,
    *,
    accounting_mode: AccountingMode | None = None,
    snapshot: Snapshot | None = None,
    stated: Collection[str] | None = None,
    profile: str | None = None,
    tool_version: str | None = None,
) -> Resolution:
    """The recipe for some criteria.

    :param criteria: as :func:`catalog.criteria.parse` makes them.
    :param accounting_mode: the choice for a recipe of platform slurm; without one it is ``disabled``.
    :param snapshot: fills in the criteria that nobody stated, and rules out overlays whose constraints it fails.
    :param stated: the names of the criteria that somebody stated, ``any`` among them; they beat the snapshot. Without
        it, those that are not ``any``.
    :param profile: ``name=value`` of the configuration profile that the overlays declare; without one, its default.
    :param tool_version: goes into ``metadata.version``.
    :raises AicrError: INVALID_REQUEST: no criteria at all, criteria that no overlay carries, a mode for another
        platform than slurm, a profile that is not declared or does not suit the snapshot, a reading that a constraint
        cannot be held against, an incoherent composition.
    """
    warnings: list[str] = []
    detected: frozenset[str] = frozenset()
    if snapshot is not None:
        criteria, detected, notes = _filled_in(catalog, criteria, snapshot, stated)
        warnings += notes
    elif not criteria.stated() and not criteria.nodes:
        raise invalid(
            "no criteria: nothing says what the recipe is for",
            f"state at least one of {', '.join(AXES)}, or give a snapshot",
        )
    selected = _selected(composer(catalog), _Question(criteria, profile, snapshot), detected, warnings)
    header = RecipeHeader(
        version=tool_version,
        applied_overlays=(BASE, *(overlay.name for overlay in selected.sequence)),
        excluded_overlays=tuple(selected.excluded) or None,
        constraint_warnings=tuple(selected.reasons) or None,
    )
    recipe = RecipeResult(
        component_refs=selected.composition.refs,
        deployment_order=selected.composition.order,
        api_version=versions.WRITTEN_PLAIN_RECIPE,
        kind=versions.RECIPE,
        metadata=header,
        criteria=selected.criteria,
        constraints=selected.composition.constraints or None,
        validation=selected.composition.validation,
    )
    if selected.choice:
        recipe = profiles.with_choice(recipe, selected.choice)
    return _configured(recipe, accounting_mode, snapshot, catalog, warnings)


def resolve_overlay(
    catalog: Catalog,
    document: object,
    source: str,
    *,
    accounting_mode: AccountingMode | None = None,
    snapshot: Snapshot | None = None,
    tool_version: str | None = None,
) -> Resolution:
    """The recipe for an overlay's own criteria, the overlay as the document has it standing for the catalog's.

    :param document: an overlay (``kind: RecipeMetadata``).
    :raises AicrError: INVALID_REQUEST: no overlay, an overlay without criteria, one that names a check that the catalog
        does not have, and as :func:`resolve`.
    """
    overlay = overlay_from_document(document, source)
    reading = codec.Reading(source)
    check_checks(overlay, reading, {check.name: check.phase for check in catalog.validators})
    raise_all(reading.problems)
    if overlay.criteria is None:
        raise invalid(
            f'{source}: overlay "{overlay.name}" has no criteria, so it makes no recipe',
            "give it spec.criteria or name another overlay",
            overlay=overlay.name,
        )
    present = catalog.overlays.get(overlay.name)
    if overlay.profile != (present.profile if present else None):
        raise invalid(
            f'{source}: overlay "{overlay.name}" declares another configuration profile than in the catalog',
            "lay a catalog with this overlay over it; a profile's declaration is not taken from a file by itself",
            overlay=overlay.name,
        )
    if present is None or dataclasses.replace(present, source=source) != overlay:
        catalog = dataclasses.replace(
            catalog, overlays=dict(sorted({**catalog.overlays, overlay.name: overlay}.items()))
        )
    criteria = _with_axes(overlay.criteria, {axis: getattr(overlay.criteria, axis) or ANY for axis in AXES})
    return resolve(
        catalog, criteria, accounting_mode=accounting_mode, snapshot=snapshot, stated=AXES, tool_version=tool_version
    )


@dataclass(frozen=True)
class _Question:
    criteria: Criteria
    profile: str | None
    snapshot: Snapshot | None


@dataclass(frozen=True)
class _Selected:
    criteria: Criteria
    sequence: tuple[Overlay, ...]
    composition: Composition
    choice: Choice | None
    excluded: Sequence[ExcludedOverlay]
    reasons: Sequence[ConstraintWarning]


def _with_axes(criteria: Criteria, axes: Mapping[str, str]) -> Criteria:
    return Criteria(**{axis: getattr(criteria, axis) for axis in AXES} | dict(axes), nodes=criteria.nodes)


def _filled_in(
    catalog: Catalog, criteria: Criteria, snapshot: Snapshot, stated: Collection[str] | None
) -> tuple[Criteria, frozenset[str], tuple[str, ...]]:
    """The criteria with those that only the snapshot gives, and the names of these."""
    found = criteria_from_snapshot(snapshot, catalog.criteria_values())
    by_user = {*criteria.stated(), *(["nodes"] if criteria.nodes else [])} if stated is None else set(stated)
    added = {
        name: value
        for name in (*AXES, "nodes")
        if name not in by_user and (value := getattr(found.criteria, name)) is not None
    }
    return dataclasses.replace(criteria, **added), frozenset(added), found.notes


def _selected(composed: Composer, question: _Question, detected: frozenset[str], warnings: list[str]) -> _Selected:
    """The overlays for some criteria, and the value of the profile that they declare.

    Detected criteria that no overlay carries are left out, once, unless constraints are to blame or nothing would be
    left that says what the recipe is for (spec/surface.md 1.3).
    """
    criteria, snapshot = question.criteria, question.snapshot
    missing = coverage.os_is_missing(composed.carrying, criteria)
    if missing:
        raise missing
    query = criteria.stated()
    leaves = maximal_leaves(matching(composed.candidates, query))
    surviving, excluded, reasons = leaves, list[ExcludedOverlay](), list[ConstraintWarning]()
    if snapshot is not None:
        surviving, excluded, reasons = _surviving(composed, leaves, snapshot)
    sequence = _sequence(surviving)
    uncovered = coverage.uncovered(
        composed.carrying,
        criteria,
        applied=(composed.by_name[overlay.name] for overlay in sequence if overlay.name in composed.by_name),
        excluded=(composed.by_name[one.name] for one in excluded),
    )
    if uncovered:
        relaxed = _with_axes(criteria, {one.axis: ANY for one in uncovered})
        leads_on = (relaxed.stated() or relaxed.nodes) and all(
            one.axis in detected and not one.excluded for one in uncovered
        )
        if not leads_on:
            raise coverage.refusal(uncovered, criteria, reasons)
        warnings += [
            f'{one.axis} "{one.value}" is in the snapshot, but no recipe for {criteria} has it: it is left out'
            for one in uncovered
        ]
        return _selected(composed, dataclasses.replace(question, criteria=relaxed), frozenset(), warnings)
    choice = profiles.choose(composed.catalog.base, leaves, question.profile)
    if choice and snapshot is not None:
        profiles.refuse_excluded(choice, leaves, surviving)
        profiles.verify(choice, snapshot)
    warnings += map(coverage.failed_text, reasons)
    return _Selected(criteria, sequence, composed.compose(sequence), choice, excluded, reasons)


def _surviving(
    composed: Composer, leaves: tuple[Candidate, ...], snapshot: Snapshot
) -> tuple[tuple[Candidate, ...], list[ExcludedOverlay], list[ConstraintWarning]]:
    """The leaves that a snapshot leaves, which ones it rules out, and why."""
    failed = {leaf.name: list(exclusion.failures(leaf.name, leaf.overlay.constraints, snapshot)) for leaf in leaves}
    reasons = [warning for leaf in leaves for warning in failed[leaf.name]]
    excluded = exclusion.excluded((leaf for leaf in leaves if failed[leaf.name]), exclusion.OWN)
    surviving = tuple(leaf for leaf in leaves if not failed[leaf.name])
    mixins = composed.compose(_sequence(surviving)).mixin_constraints
    bad = {name for name, constraints in mixins.items() if any(exclusion.failures("", constraints, snapshot))}
    if bad:
        users = [leaf for leaf in surviving if bad & _mixins_of(composed, leaf)]
        for leaf in users:
            for name in sorted(bad & _mixins_of(composed, leaf)):
                reasons += exclusion.failures(leaf.name, mixins[name], snapshot, name)
        excluded += exclusion.excluded(users, exclusion.OF_MIXIN)
        surviving = tuple(leaf for leaf in surviving if leaf not in users)
    return surviving, excluded, reasons


def _mixins_of(composed: Composer, leaf: Candidate) -> set[str]:
    return {name for overlay in (composed.catalog.base, *leaf.chain) for name in overlay.mixins}


def _sequence(leaves: Iterable[Candidate]) -> tuple[Overlay, ...]:
    """The leaves' chains one after the other, each overlay where it is needed first."""
    return tuple({overlay.name: overlay for leaf in leaves for overlay in leaf.chain}.values())


def _configured(
    recipe: RecipeResult, mode: AccountingMode | None, snapshot: Snapshot | None, catalog: Catalog, warnings: list[str]
) -> Resolution:
    """The recipe with its accounting mode and with what the snapshot says about the cluster."""
    if recipe.is_slurm or mode is not None:
        mode = mode or AccountingMode.DISABLED
        recipe = derive(recipe, mode)
        raise_all(artifact_problems(recipe))
        recipe = dataclasses.replace(recipe, deployment_order=deployment_order(recipe.component_refs))
    if snapshot is not None and recipe.metadata is not None:
        driver = evidence.gpu_driver_state(snapshot)
        mariadb = evidence.mariadb_state(snapshot) if mode is AccountingMode.AICR_PROVIDED else None
        header = dataclasses.replace(recipe.metadata, gpu_driver_state=driver, maria_db_operator_state=mariadb)
        recipe, notes = evidence.with_driver_gate(dataclasses.replace(recipe, metadata=header), driver, catalog)
        warning = evidence.mariadb_warning(mariadb)
        warnings += [*notes, *([warning] if warning else [])]
    return Resolution(recipe, tuple(warnings))
