# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlays and mixins: the files that say what a recipe for some criteria holds (spec/engine.md 2.2, 1.7)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ..artifacts import codec, versions
from ..artifacts.recipe import PHASES, ComponentRef, Constraint, Criteria, Validation
from ..errors import internal, raise_all
from . import syntax
from .criteria import normalized
from .header import has_header
from .profile import Profile, check_profile
from .stated import check_constraints

BASE = "base"
"""The root of every chain; the only overlay that needs no criteria to take part."""


@dataclass(frozen=True)
class OverlaySpec:
    """The content of an overlay. Absent lists inherit; in ``validation`` an empty one clears."""

    base: str | None = None
    criteria: Criteria | None = None
    mixins: tuple[str, ...] = ()
    profile: Profile | None = None
    constraints: tuple[Constraint, ...] = ()
    component_refs: tuple[ComponentRef, ...] = ()
    validation: Validation | None = None


@dataclass(frozen=True, kw_only=True)
class Overlay(OverlaySpec):
    """An overlay by its name; ``source`` is the file that it was read from."""

    name: str
    source: str

    @property
    def parent(self) -> str | None:
        """The overlay that it builds on; ``None`` for the base itself."""
        return None if self.name == BASE else self.base or BASE


@dataclass(frozen=True)
class MixinSpec:
    """The content of a mixin."""

    constraints: tuple[Constraint, ...] = ()
    component_refs: tuple[ComponentRef, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Mixin(MixinSpec):
    """A mixin by its name; ``source`` is the file that it was read from."""

    name: str
    source: str


@dataclass(frozen=True)
class Metadata:
    """The header of an overlay or a mixin."""

    name: str


@dataclass(frozen=True)
class OverlayDocument:
    """The file of an overlay."""

    kind: str
    api_version: str
    metadata: Metadata
    spec: OverlaySpec


@dataclass(frozen=True)
class MixinDocument:
    """The file of a mixin."""

    kind: str
    api_version: str
    metadata: Metadata
    spec: MixinSpec


def overlay_from_document(document: object, source: str) -> Overlay:
    """Decode an overlay that is given by itself; whether it fits a catalog shows when it is resolved.

    :raises AicrError: INVALID_REQUEST with every problem of its form: kind, version, unknown keys, wrong types,
        constraint paths that no snapshot can have.
    """
    reading = codec.Reading(source)
    overlay = decode_overlay(document, reading)
    raise_all(reading.problems)
    if overlay is None:
        raise internal(f"{source}: was decoded to nothing without a reason")
    return overlay


def decode_overlay(document: object, reading: codec.Reading) -> Overlay | None:
    """The overlay in a document; problems are noted in ``reading``, and then there is none."""
    if not has_header(document, versions.OVERLAY, reading):
        return None
    decoded = codec.decode_at(OverlayDocument, _without_configuration(document, reading), reading, ())
    if reading.problems:
        return None
    spec = decoded.spec
    _check_name(decoded.metadata, reading)
    _check_version_against_profile(decoded, reading)
    for axis, value in spec.criteria.stated().items() if spec.criteria else ():
        if not syntax.CRITERION.fullmatch(value.strip()):
            reading.refuse(("spec", "criteria", axis), f'"{value}" is no value of a criterion', syntax.CRITERION_FORM)
    if spec.criteria and spec.criteria.nodes is not None:
        reading.refuse(("spec", "criteria", "nodes"), "the number of nodes selects no overlay", "remove it")
    check_constraints(spec.constraints, reading, ("spec", "constraints"))
    _check_component_refs(spec.component_refs, reading)
    _check_phases(spec.validation, reading)
    if spec.profile:
        check_profile(spec.profile, reading)
    for index, name in enumerate(spec.mixins):
        if name in spec.mixins[:index]:
            reading.refuse(("spec", "mixins", index), f'mixin "{name}" is listed twice')
    if reading.problems:
        return None
    spec = dataclasses.replace(spec, criteria=spec.criteria and normalized(spec.criteria))
    return Overlay(name=decoded.metadata.name, source=reading.source, **_fields(spec))


def decode_mixin(document: object, reading: codec.Reading) -> Mixin | None:
    """The mixin in a document; problems are noted in ``reading``, and then there is none."""
    if not has_header(document, versions.MIXIN, reading):
        return None
    decoded = codec.decode_at(MixinDocument, _without_configuration(document, reading), reading, ())
    if reading.problems:
        return None
    _check_name(decoded.metadata, reading)
    check_constraints(decoded.spec.constraints, reading, ("spec", "constraints"))
    _check_component_refs(decoded.spec.component_refs, reading)
    if reading.problems:
        return None
    return Mixin(name=decoded.metadata.name, source=reading.source, **_fields(decoded.spec))


def _fields(spec: OverlaySpec | MixinSpec) -> dict[str, Any]:
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}


def _without_configuration(document: dict[str, Any], reading: codec.Reading) -> dict[str, Any]:
    """Typed configuration is a choice of who generates a recipe; a catalog that made it would be a second switch."""
    spec = document.get("spec")
    for path, holder in (((), document), (("spec",), spec)):
        if isinstance(holder, dict) and "configuration" in holder:
            reading.refuse(
                (*path, "configuration"),
                "a catalog cannot author configuration",
                "choose it when the recipe is generated: slurm_accounting_mode, or spec.recipe.configuration"
                " of an AICRConfig",
            )
    document = {key: value for key, value in document.items() if key != "configuration"}
    if isinstance(spec, dict):
        document["spec"] = {key: value for key, value in spec.items() if key != "configuration"}
    return document


def _check_name(metadata: Metadata, reading: codec.Reading) -> None:
    if not metadata.name.strip():
        reading.refuse(("metadata", "name"), "must not be empty")


def _check_version_against_profile(document: OverlayDocument, reading: codec.Reading) -> None:
    strict = versions.is_strict(document.api_version)
    if document.spec.profile and not strict:
        reading.refuse(
            ("apiVersion",),
            f'is "{document.api_version}", but the overlay declares spec.profile',
            f'set "{versions.STRICT_TRACK[0]}"',
        )
    if strict and not document.spec.profile:
        reading.refuse(
            ("apiVersion",),
            f'is "{document.api_version}", but the overlay declares no spec.profile',
            f'set "{versions.AUTHORING_TRACK[0]}"',
        )


def _check_component_refs(refs: tuple[ComponentRef, ...], reading: codec.Reading) -> None:
    """Note component references that stand twice, that pin no version, or whose texts are not of their form."""
    names: set[str] = set()
    for index, ref in enumerate(refs):
        at: codec.Path = ("spec", "componentRefs", index)
        if not ref.name:
            reading.refuse((*at, "name"), "must not be empty")
        for fault in syntax.faults(ref):
            reading.refuse((*at, *fault.path), f'component "{ref.name}" {fault.what}', fault.hint)
        if ref.name in names:
            reading.refuse((*at, "name"), f'component "{ref.name}" is referenced twice', "merge the two references")
        names.add(ref.name)
        if ref.version is not None and not syntax.is_pinned(ref.version):
            reading.refuse(
                (*at, "version"),
                f'component "{ref.name}" has the version "{ref.version}", which pins no release',
                "pin a version, or leave it to the registry",
            )


def _check_phases(validation: Validation | None, reading: codec.Reading) -> None:
    for name in PHASES:
        phase = getattr(validation, name, None)
        at: codec.Path = ("spec", "validation", name)
        if phase is None:
            continue
        # The other phases' constraints are names of checks' own measures, not paths of a snapshot.
        check_constraints(phase.constraints or (), reading, (*at, "constraints"), addressable=name == "readiness")
        checks = phase.checks or ()
        for index, check in enumerate(checks):
            if check in checks[:index]:
                reading.refuse((*at, "checks", index), f'check "{check}" is listed twice')
