# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RecipeResult: what is to run on a cluster and what must hold there (spec/surface.md 2.2, ADR-016 section 2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..errors import invalid
from . import codec, versions

AXES = ("service", "accelerator", "intent", "os", "platform")
"""The criteria that select overlays, in the order of every message; ``nodes`` is advisory."""
ANY = "any"
MAX_NODES = 1_000_000
"""More nodes than any cluster has; what is beyond is a slip, and at some point no number for other programs."""


class AccountingMode(StrEnum):
    """Who owns the database of Slurm accounting (ADR-016 section 1)."""

    DISABLED = "disabled"
    CUSTOMER_MANAGED = "customer-managed"
    AICR_PROVIDED = "aicr-provided"


class MariaDBState(StrEnum):
    """Evidence of a MariaDB operator that is already there (spec/engine.md 5.7)."""

    ABSENT = "absent"
    API_DETECTED = "api-detected"
    CRS_DETECTED = "crs-detected"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Criteria:
    """What a recipe is for. Absent and ``any`` mean the same for selection; absent stays absent in a document."""

    service: str | None = None
    accelerator: str | None = None
    intent: str | None = None
    os: str | None = None
    platform: str | None = None
    nodes: int | None = None

    def stated(self) -> dict[str, str]:
        """The axes that name a value, in the order of :data:`AXES`."""
        return {axis: value for axis in AXES if (value := getattr(self, axis)) and value != ANY}

    def __str__(self) -> str:
        parts = [f"{axis}={value}" for axis, value in self.stated().items()]
        parts += [f"nodes={self.nodes}"] if self.nodes else []
        return f"criteria({', '.join(parts) or ANY})"


@dataclass(frozen=True)
class Constraint:
    """A reading's path and the expression that it must satisfy (spec/engine.md section 3)."""

    name: str
    value: str
    severity: str | None = None
    remediation: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class ExpectedResource:
    """An object that must exist once the component is deployed."""

    kind: str
    name: str
    namespace: str | None = None


@dataclass(frozen=True)
class ComponentRef:
    """One component of a recipe: what chart or manifests, with which values, after which others."""

    name: str
    namespace: str | None = None
    chart: str | None = None
    type: str | None = None
    source: str | None = None
    version: str | None = None
    tag: str | None = None
    path: str | None = None
    values_file: str | None = None
    overrides: Mapping[str, object] | None = None
    patches: tuple[object, ...] | None = None
    dependency_refs: tuple[str, ...] | None = None
    manifest_files: tuple[str, ...] | None = None
    pre_manifest_files: tuple[str, ...] | None = None
    cleanup: bool | None = None
    expected_resources: tuple[ExpectedResource, ...] | None = None
    health_check_asserts: str | None = None
    health_check_skip: bool | None = None


@dataclass(frozen=True)
class NodeSelection:
    """On which nodes a phase's checks run."""

    selector: Mapping[str, str] | None = None
    max_nodes: int | None = None
    exclude_nodes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Phase:
    """Checks and floors of one validation phase; an absent list inherits, an empty one clears."""

    timeout: str | None = None
    constraints: tuple[Constraint, ...] | None = None
    checks: tuple[str, ...] | None = None
    node_selection: NodeSelection | None = None
    infrastructure: str | None = None


PHASES = ("readiness", "deployment", "performance", "conformance")


@dataclass(frozen=True)
class Validation:
    """The validation phases of a recipe or an overlay."""

    readiness: Phase | None = None
    deployment: Phase | None = None
    performance: Phase | None = None
    conformance: Phase | None = None


@dataclass(frozen=True)
class Accounting:
    """The typed accounting choice."""

    mode: AccountingMode


@dataclass(frozen=True)
class SlurmConfiguration:
    """Typed configuration of Slurm."""

    accounting: Accounting


@dataclass(frozen=True)
class Configuration:
    """Typed, closed configuration of a recipe; catalogs cannot author it."""

    slurm: SlurmConfiguration


@dataclass(frozen=True)
class ExcludedOverlay:
    """An overlay that a snapshot ruled out; ``reason`` is ``constraint-failed`` or ``mixin-constraint-failed``."""

    name: str
    reason: str


@dataclass(frozen=True)
class ConstraintWarning:
    """Why an overlay was excluded."""

    overlay: str
    constraint: str
    expected: str
    actual: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class SelectedProfile:
    """The configuration profile a recipe was resolved with, and what it owns."""

    name: str
    value: str
    owned_paths: Mapping[str, tuple[str, ...]]
    advertiser: str | None = None


@dataclass(frozen=True)
class RecipeHeader:
    """How the recipe came about; ``version`` is the tool's and volatile."""

    version: str | None = None
    applied_overlays: tuple[str, ...] | None = None
    excluded_overlays: tuple[ExcludedOverlay | str, ...] | None = None
    constraint_warnings: tuple[ConstraintWarning, ...] | None = None
    gpu_driver_state: str | None = None
    maria_db_operator_state: str | None = codec.key("mariaDBOperatorState")
    selected_profile: SelectedProfile | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class RecipeResult:
    """A resolved recipe."""

    component_refs: tuple[ComponentRef, ...]
    deployment_order: tuple[str, ...] | None = None
    api_version: str | None = None
    kind: str | None = None
    metadata: RecipeHeader | None = None
    criteria: Criteria | None = None
    configuration: Configuration | None = None
    constraints: tuple[Constraint, ...] | None = None
    validation: Validation | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def accounting_mode(self) -> AccountingMode | None:
        """The recorded mode; ``None`` on a recipe that makes no claim."""
        return self.configuration.slurm.accounting.mode if self.configuration else None

    @property
    def is_slurm(self) -> bool:
        """Whether the recipe's platform is Slurm."""
        return self.criteria is not None and self.criteria.platform == "slurm"

    def component(self, name: str) -> ComponentRef | None:
        """The component of that name."""
        return next((ref for ref in self.component_refs if ref.name == name), None)

    def with_component(self, changed: ComponentRef) -> RecipeResult:
        """The same recipe with one component replaced by its name."""
        refs = tuple(changed if ref.name == changed.name else ref for ref in self.component_refs)
        return dataclasses.replace(self, component_refs=refs)


def recipe_from_document(document: object, source: str) -> tuple[RecipeResult, list[str]]:
    """Decode a recipe: strictly on the strict track, otherwise leniently with warnings.

    Only the form is judged here; use ``admission.admit_recipe`` for a recipe that comes from outside.

    :raises AicrError: INVALID_REQUEST: wrong kind or version, unknown or missing keys, wrong types.
    """
    if not isinstance(document, dict):
        raise invalid(f"{source}: is not a RecipeResult but {codec.type_name(document)}", "generate a recipe first")
    kind, version = document.get("kind"), document.get("apiVersion")
    strict = version in versions.STRICT_TRACK
    if kind != versions.RECIPE and (strict or kind not in (None, "", "Recipe")):
        raise invalid(f'{source}: has kind "{kind}" where a "RecipeResult" is due', "generate a recipe first")
    problem = versions.version_problem(versions.RECIPE, version, source)
    if problem:
        raise problem
    reading = codec.Reading(source, strict=strict)
    return codec.decode(RecipeResult, document, reading), reading.warnings


def recipe_to_document(recipe: RecipeResult) -> dict[str, Any]:
    """The plain document of a recipe."""
    document: dict[str, Any] = codec.encode(recipe)
    return document
