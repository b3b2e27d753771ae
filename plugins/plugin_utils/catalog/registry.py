# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The component registry: what a component is wherever a recipe uses it (spec/engine.md 2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..artifacts import codec, versions
from ..artifacts.recipe import AXES, ComponentRef
from . import syntax
from .header import has_header

RESERVED = "deployer"
"""``--set deployer:…`` addresses the deployer, so no component and no alias may be called so."""


@dataclass(frozen=True)
class HelmDefaults:
    """Where a component's chart comes from unless a recipe says so; an empty repository means manifests alone."""

    default_repository: str | None = None
    default_chart: str | None = None
    default_version: str | None = None
    default_namespace: str | None = None


@dataclass(frozen=True)
class KustomizeDefaults:
    """Where a component's kustomization comes from unless a recipe says so."""

    default_source: str | None = None
    default_path: str | None = None
    default_tag: str | None = None


@dataclass(frozen=True)
class ManifestDefaults:
    """Defaults of a component that consists of manifests alone."""

    default_namespace: str | None = None


@dataclass(frozen=True)
class NodeClass:
    """The values paths of one class of nodes."""

    node_selector_paths: tuple[str, ...] = ()
    toleration_paths: tuple[str, ...] = ()
    taint_paths: tuple[str, ...] = ()
    taint_str_paths: tuple[str, ...] = ()
    require_node_selector: bool = False
    require_node_selector_if_storage_class_set: bool = False


@dataclass(frozen=True)
class NodeScheduling:
    """Where selectors, tolerations and node counts are put into a component's values."""

    system: NodeClass = NodeClass()
    accelerated: NodeClass = NodeClass()
    node_count_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workload:
    """Where the workload's selector is put."""

    workload_selector_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class PodScheduling:
    """Scheduling of the pods that a component creates later."""

    workload: Workload = Workload()


@dataclass(frozen=True)
class HealthCheck:
    """The assertions that tell whether a component works."""

    assert_file: str | None = None


class Severity(StrEnum):
    """What a failed component validation does: ``error`` stops the bundle."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class ComponentValidation:
    """A check at bundle time (spec/engine.md 4.7), restricted to recipes whose criteria meet all conditions."""

    function: str
    severity: Severity
    message: str | None = None
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ManifestRule:
    """A manifest that is a plain chart template; ``when`` is the values path that must be true for it to apply.

    A manifest without such a rule is in the reference's format and needs a rendering by Helm.
    """

    path: str
    when: str | None = None


@dataclass(frozen=True)
class Component:
    """One entry of the registry."""

    name: str
    display_name: str
    value_override_keys: tuple[str, ...] = ()
    helm: HelmDefaults | None = None
    kustomize: KustomizeDefaults | None = None
    manifest: ManifestDefaults | None = None
    manifest_files: tuple[str, ...] = ()
    manifests: tuple[ManifestRule, ...] = ()
    health_check: HealthCheck | None = None
    node_scheduling: NodeScheduling = NodeScheduling()
    pod_scheduling: PodScheduling = PodScheduling()
    storage_class_paths: tuple[str, ...] = ()
    shared_storage_class_paths: tuple[str, ...] = ()
    validations: tuple[ComponentValidation, ...] = ()
    mixin_safe_override_paths: tuple[str, ...] = ()
    gke_critical_priority: bool = False
    has_self_ref_crds: bool = codec.key("hasSelfRefCRDs", False)
    manifests_use_chart_crds: bool = codec.key("manifestsUseChartCRDs", False)
    owns_crds: bool = codec.key("ownsCRDs", False)
    owns_crds_exclude_subcharts: tuple[str, ...] = codec.key("ownsCRDsExcludeSubcharts", ())
    test_tier: str | None = None

    def aliases(self) -> Iterator[tuple[codec.Path, str]]:
        """All names that stand for it, each with its place in the entry."""
        yield ("name",), self.name
        for index, alias in enumerate(self.value_override_keys):
            yield ("valueOverrideKeys", index), alias

    @property
    def is_kustomize(self) -> bool:
        """Whether references to it are of type Kustomize unless they say otherwise."""
        return bool(self.kustomize and self.kustomize.default_source)


class Registry:
    """The components by name and by alias, in the order of the file."""

    def __init__(self, components: Iterable[Component]) -> None:
        self._by_name = {component.name: component for component in components}
        self._by_alias = {
            **{alias: component for component in self._by_name.values() for alias in component.value_override_keys},
            **self._by_name,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All component names."""
        return tuple(self._by_name)

    @property
    def components(self) -> tuple[Component, ...]:
        """All components."""
        return tuple(self._by_name.values())

    def component(self, name: str) -> Component | None:
        """The component of that name; a recipe may use one that is not registered."""
        return self._by_name.get(name)

    def by_alias(self, name: str) -> Component | None:
        """The component of that name or alias."""
        return self._by_alias.get(name)


@dataclass(frozen=True)
class RegistryDocument:
    """The file."""

    kind: str
    api_version: str
    components: tuple[Component, ...]


def decode_registry(document: object, reading: codec.Reading) -> RegistryDocument | None:
    """The registry in a document; problems are noted in ``reading``, and then there is none."""
    if not has_header(document, versions.REGISTRY, reading):
        return None
    registry = codec.decode_at(RegistryDocument, document, reading, ())
    if not reading.problems:
        _check_components(registry, reading)
    return None if reading.problems else registry


def _check_components(document: RegistryDocument, reading: codec.Reading) -> None:
    for index, component in enumerate(document.components):
        at: codec.Path = ("components", index)
        if not component.name:
            reading.refuse((*at, "name"), "must not be empty")
        if not component.display_name:
            reading.refuse((*at, "displayName"), f'component "{component.name}" has an empty displayName')
        if component.name in (other.name for other in document.components[:index]):
            reading.refuse(
                (*at, "name"), f'component "{component.name}" is registered twice', "keep one of the entries"
            )
        _check_source(component, reading, at)
        _check_syntax(component, reading, at)
        for place, alias in component.aliases():
            if alias == RESERVED:
                reading.refuse((*at, *place), f'"{RESERVED}" names no component', "choose another name")
        for number, rule in enumerate(component.manifests):
            if rule.path in (other.path for other in component.manifests[:number]):
                reading.refuse((*at, "manifests", number, "path"), f'manifest "{rule.path}" has two rules', "keep one")
            if rule.when is not None and not rule.when.strip():
                reading.refuse(
                    (*at, "manifests", number, "when"), "must not be empty", "name a values path, or leave it out"
                )
        for number, validation in enumerate(component.validations):
            for axis in sorted(set(validation.conditions) - set(AXES)):
                reading.refuse(
                    (*at, "validations", number, "conditions", axis),
                    f'"{axis}" is no criterion',
                    f"criteria: {', '.join(AXES)}",
                )


def _check_source(component: Component, reading: codec.Reading, at: codec.Path) -> None:
    helm, kustomize = component.helm, component.kustomize
    if helm and kustomize and (helm.default_repository or helm.default_chart) and kustomize.default_source:
        reading.refuse(
            (*at, "kustomize"),
            f'component "{component.name}" has both a chart and a kustomization',
            "keep one of helm and kustomize",
        )
    version = helm.default_version if helm else None
    if version is not None and not syntax.is_pinned(version):
        reading.refuse(
            (*at, "helm", "defaultVersion"),
            f'component "{component.name}" has the version "{version}", which would install whatever is newest',
            "pin a version",
        )


def _check_syntax(component: Component, reading: codec.Reading, at: codec.Path) -> None:
    """The defaults are held to the form that they must have where references are completed with them."""
    for ref, places in _as_references(component):
        for fault in syntax.faults(ref):
            place = (*places[str(fault.path[0])], *fault.path[1:])
            tail = ("path",) if place[0] == "manifests" else ()
            reading.refuse((*at, *place, *tail), f'component "{component.name}" {fault.what}', fault.hint)


def _as_references(component: Component) -> Iterator[tuple[ComponentRef, Mapping[str, codec.Path]]]:
    """The references that have nothing but the component's defaults, each with the places of its texts."""
    name, helm, kustomize = component.name, component.helm, component.kustomize
    yield (
        ComponentRef(name, manifest_files=component.manifest_files),
        {"name": ("name",), "manifestFiles": ("manifestFiles",)},
    )
    if syntax.COMPONENT_NAME.fullmatch(name):  # what is wrong with the name is said once
        yield (
            ComponentRef(name, manifest_files=tuple(rule.path for rule in component.manifests)),
            {"manifestFiles": ("manifests",)},
        )
        if component.manifest:
            yield (
                ComponentRef(name, component.manifest.default_namespace),
                {"namespace": ("manifest", "defaultNamespace")},
            )
        if helm:
            yield (
                ComponentRef(
                    name,
                    helm.default_namespace,
                    helm.default_chart,
                    "Helm",
                    helm.default_repository,
                    helm.default_version,
                ),
                {
                    "namespace": ("helm", "defaultNamespace"),
                    "chart": ("helm", "defaultChart"),
                    "source": ("helm", "defaultRepository"),
                    "version": ("helm", "defaultVersion"),
                },
            )
        if kustomize:
            yield (
                ComponentRef(
                    name,
                    source=kustomize.default_source,
                    tag=kustomize.default_tag,
                    path=kustomize.default_path,
                ),
                {
                    "source": ("kustomize", "defaultSource"),
                    "tag": ("kustomize", "defaultTag"),
                    "path": ("kustomize", "defaultPath"),
                },
            )
