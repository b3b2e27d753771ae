# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's checks: what can be validated on a cluster, in which phase (spec/surface.md 2.10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..artifacts import codec, versions
from ..artifacts.recipe import PHASES

KIND = "ValidatorCatalog"


@dataclass(frozen=True)
class DependencyAffinity:
    """Where a check must run next to a component's pods."""

    component_ref: str
    pod_label_selector: Mapping[str, str]
    requirement: str | None = None


@dataclass(frozen=True)
class ValidatorEntry:
    """One check; image, arguments and environment are carried along and run nothing here."""

    name: str
    phase: str
    description: str | None = None
    timeout: str | None = None
    image: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[object, ...] = ()
    dependency_affinity: tuple[DependencyAffinity, ...] = ()


@dataclass(frozen=True)
class ValidatorsMetadata:
    """The header."""

    name: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class ValidatorsDocument:
    """The file."""

    kind: str
    api_version: str
    validators: tuple[ValidatorEntry, ...]
    metadata: ValidatorsMetadata | None = None


def decode_validators(document: object, reading: codec.Reading) -> ValidatorsDocument | None:
    """The checks in a document; problems are noted in ``reading``, and then there are none."""
    validators = codec.decode_at(ValidatorsDocument, document, reading, ())
    if not reading.problems:
        _check_validators(validators, reading)
    return None if reading.problems else validators


def _check_validators(document: ValidatorsDocument, reading: codec.Reading) -> None:
    if document.kind != KIND:
        reading.refuse(("kind",), f'is "{document.kind}", must be "{KIND}"')
    if document.api_version != versions.CATALOG_OF_VALIDATORS:
        reading.refuse(("apiVersion",), f'is "{document.api_version}", must be "{versions.CATALOG_OF_VALIDATORS}"')
    for index, entry in enumerate(document.validators):
        if entry.name in (other.name for other in document.validators[:index]):
            reading.refuse(
                ("validators", index, "name"), f'check "{entry.name}" stands there twice', "keep one of the entries"
            )
        if entry.phase not in PHASES:
            reading.refuse(
                ("validators", index, "phase"), f'"{entry.phase}" is no phase', f"phases: {', '.join(PHASES)}"
            )
