# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AICRConfig: the options of a run as a file (spec/surface.md 2.4); strict, each stage reads its own section."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import invalid
from . import codec, versions


@dataclass(frozen=True)
class ConfigMetadata:
    """The configuration's own name."""

    name: str | None = None
    labels: Mapping[str, object] | None = None
    annotations: Mapping[str, object] | None = None


@dataclass(frozen=True)
class ConfigCriteria:
    """Criteria as written; parsed and normalised by the same code as the option ``criteria``."""

    service: str | None = None
    accelerator: str | None = None
    intent: str | None = None
    os: str | None = None
    platform: str | None = None
    nodes: int | None = None

    def says_something(self) -> bool:
        """Whether any of them is stated; an empty text and no nodes say nothing."""
        return any(getattr(self, each.name) for each in dataclasses.fields(self))


@dataclass(frozen=True)
class ConfigAccounting:
    """The accounting mode as written; ``""`` is an error, absent is the default."""

    mode: str | None = None


@dataclass(frozen=True)
class ConfigSlurm:
    """Typed Slurm configuration as written."""

    accounting: ConfigAccounting | None = None


@dataclass(frozen=True)
class RecipeConfiguration:
    """``spec.recipe.configuration``."""

    slurm: ConfigSlurm | None = None


@dataclass(frozen=True)
class RecipeInput:
    """``spec.recipe.input``."""

    snapshot: str | None = None


@dataclass(frozen=True)
class Output:
    """Where a stage writes and in which format."""

    path: str | None = None
    format: str | None = None


@dataclass(frozen=True)
class RecipeSection:
    """``spec.recipe``."""

    criteria: ConfigCriteria | None = None
    profile: str | None = None
    configuration: RecipeConfiguration | None = None
    input: RecipeInput | None = None
    output: Output | None = None
    data: str | None = None
    criteria_strict: bool | None = None


@dataclass(frozen=True)
class SnapshotOutput:
    """``spec.snapshot.output``."""

    path: str | None = None
    format: str | None = None
    template: str | None = None


@dataclass(frozen=True)
class SnapshotExecution:
    """``spec.snapshot.execution``; all but the last are about a Job that reads nodes."""

    timeout: str | None = None
    no_cleanup: bool | None = None
    privileged: bool | None = None
    max_nodes_per_entry: int | None = None


@dataclass(frozen=True)
class Agent:
    """``agent`` of a section: the Job of the reference that works in the cluster; ours takes options of its own."""

    namespace: str | None = None
    image: str | None = None
    image_pull_secrets: tuple[str, ...] | None = None
    job_name: str | None = None
    service_account_name: str | None = None
    node_selector: Mapping[str, str] | None = None
    tolerations: tuple[str, ...] | None = None
    require_gpu: bool | None = None


@dataclass(frozen=True)
class SnapshotAgent(Agent):
    """``spec.snapshot.agent``."""

    runtime_class_name: str | None = None
    os: str | None = None
    requests: str | None = None
    limits: str | None = None


@dataclass(frozen=True)
class SnapshotSection:
    """``spec.snapshot``; ``agent`` says how nodes are read by a Job."""

    output: SnapshotOutput | None = None
    agent: SnapshotAgent | None = None
    execution: SnapshotExecution | None = None


@dataclass(frozen=True)
class BundleInput:
    """``spec.bundle.input``."""

    recipe: str | None = None


@dataclass(frozen=True)
class BundleOutput:
    """``spec.bundle.output``."""

    target: str | None = None
    image_refs: str | None = None


@dataclass(frozen=True)
class Deployment:
    """``spec.bundle.deployment``; ``set`` and ``dynamic`` in the form ``component:path=value``."""

    deployer: str | None = None
    repo: str | None = None
    set: tuple[str, ...] | None = None
    dynamic: tuple[str, ...] | None = None
    vendor_charts: bool | None = None
    app_name: str | None = None


@dataclass(frozen=True)
class ConfigScheduling:
    """``spec.bundle.scheduling``; absent inherits a default, empty clears it."""

    system_node_selector: Mapping[str, str] | None = None
    system_node_tolerations: tuple[str, ...] | None = None
    accelerated_node_selector: Mapping[str, str] | None = None
    accelerated_node_tolerations: tuple[str, ...] | None = None
    dra_eviction_node_label: str | None = None
    workload_gate: str | None = None
    workload_selector: Mapping[str, str] | None = None
    nodes: int | None = None
    storage_class: str | None = None
    shared_storage_class: str | None = None


@dataclass(frozen=True)
class BundleAttestation:
    """``spec.bundle.attestation``."""

    enabled: bool | None = None
    certificate_identity_regexp: str | None = None
    oidc_device_flow: bool | None = None
    fulcio_url: str | None = codec.key("fulcioURL")
    rekor_url: str | None = codec.key("rekorURL")
    signing_key: str | None = None


@dataclass(frozen=True)
class RegistryAccess:
    """``spec.bundle.registry``."""

    insecure_tls: bool | None = codec.key("insecureTLS")
    plain_http: bool | None = codec.key("plainHTTP")


@dataclass(frozen=True)
class BundleSection:
    """``spec.bundle``; who writes signed or pushed bundles reads the last two."""

    input: BundleInput | None = None
    output: BundleOutput | None = None
    deployment: Deployment | None = None
    scheduling: ConfigScheduling | None = None
    attestation: BundleAttestation | None = None
    registry: RegistryAccess | None = None


@dataclass(frozen=True)
class ValidateInput:
    """``spec.validate.input``."""

    recipe: str | None = None
    snapshot: str | None = None


@dataclass(frozen=True)
class Execution:
    """``spec.validate.execution``."""

    phases: tuple[str, ...] | None = None
    skip_checks: tuple[str, ...] | None = None
    fail_on_error: bool | None = None
    fail_fast: bool | None = None
    no_cluster: bool | None = None
    no_cleanup: bool | None = None
    timeout: str | None = None


@dataclass(frozen=True)
class Submission:
    """``spec.validate.evidence.cncf``."""

    dir: str | None = None
    cncf_submission: bool | None = None
    features: tuple[str, ...] | None = None


@dataclass(frozen=True)
class RecipeAttestation:
    """``spec.validate.evidence.attestation``."""

    out: str | None = None
    bom: str | None = None
    push: str | None = None
    plain_http: bool | None = codec.key("plainHTTP")
    insecure_tls: bool | None = codec.key("insecureTLS")


@dataclass(frozen=True)
class Evidence:
    """``spec.validate.evidence``."""

    cncf: Submission | None = None
    attestation: RecipeAttestation | None = None


@dataclass(frozen=True)
class ValidateSection:
    """``spec.validate``; ``agent`` says how a live cluster is read."""

    input: ValidateInput | None = None
    agent: Agent | None = None
    execution: Execution | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True)
class TrustPolicy:
    """``spec.verify.policy``."""

    min_trust_level: str | None = None
    require_creator: str | None = None
    cli_version_constraint: str | None = None


@dataclass(frozen=True)
class Trust:
    """``spec.verify.trust``."""

    certificate_identity_regexp: str | None = None
    key: str | None = None
    trust_root: str | None = None


@dataclass(frozen=True)
class VerifySection:
    """``spec.verify``; who verifies signatures reads it."""

    policy: TrustPolicy | None = None
    trust: Trust | None = None


@dataclass(frozen=True)
class ConfigSpec:
    """The sections; each stage reads its own."""

    recipe: RecipeSection | None = None
    snapshot: SnapshotSection | None = None
    bundle: BundleSection | None = None
    validate: ValidateSection | None = None
    verify: VerifySection | None = None


@dataclass(frozen=True)
class Config:
    """A configuration file."""

    kind: str
    api_version: str
    spec: ConfigSpec
    metadata: ConfigMetadata | None = None


def config_from_document(document: object, source: str) -> Config:
    """Decode an AICRConfig.

    :raises AicrError: INVALID_REQUEST: wrong kind or version, unknown keys, wrong types, no section at all.
    """
    if not isinstance(document, dict):
        raise invalid(f"{source}: is not an AICRConfig but {codec.type_name(document)}")
    if document.get("kind") != versions.CONFIG:
        raise invalid(f'{source}: has kind "{document.get("kind")}" where "AICRConfig" is due')
    problem = versions.version_problem(versions.CONFIG, document.get("apiVersion"), source)
    if problem:
        raise problem
    sections = ConfigSpec.__dataclass_fields__
    spec: Any = document.get("spec") or {}
    if isinstance(spec, dict) and not any(spec.get(name) is not None for name in sections):
        raise invalid(
            f"{source}: has none of {', '.join(f'spec.{name}' for name in sections)}", "write at least one section"
        )
    return codec.decode(Config, document, codec.Reading(source))
