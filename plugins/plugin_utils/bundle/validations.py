# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks that the registry asks for at bundling, on effective values (spec/engine.md 4.7, 5.7)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.recipe import ANY, AccountingMode, MariaDBState, RecipeResult
from ..catalog import Catalog, ComponentValidation, Severity
from ..errors import AicrError, conflict, invalid
from ..ownership import profile_ownership
from ..ownership.accounting import FIELD
from .overrides import Override, Surface
from .rollout import DRA_DRIVER, GPU_OPERATOR
from .scheduling import TOLERATE_ALL, Scheduling
from .value_path import ABSENT, Path, Values, dotted, find, meets

OPERATORS = (GPU_OPERATOR, f"{GPU_OPERATOR}-ocp")
DRA_DRIVERS = (DRA_DRIVER, f"{DRA_DRIVER}-ocp")
NETWORK_OPERATOR = "network-operator"
CONTAINER_ROOT = "/run/nvidia/driver"
"""Where the operator's driver container puts the driver; the chart's default for ``hostPaths.driverInstallDir``."""
PREINSTALLED, NO_DRIVER = "preinstalled", "absent"


@dataclass(frozen=True)
class Scene:
    """All that a check may look at.

    :ivar recipe: what goes into the bundle.
    :ivar declared: the recipe as it was given, with what the bundle leaves out.
    :ivar values: the effective values by component.
    """

    recipe: RecipeResult
    declared: RecipeResult
    values: Mapping[str, Values]
    overrides: Sequence[Override]
    scheduling: Scheduling

    def first(self, names: Sequence[str]) -> str | None:
        """The first of several components that the bundle holds."""
        return next((name for name in names if name in self.values), None)

    def deferred(self, component: str, *paths: Path) -> Iterator[tuple[Override, Path]]:
        """The dynamic overrides of a component that touch any of these paths."""
        for override in self.overrides:
            if override.surface is Surface.DYNAMIC and override.component == component:
                yield from ((override, path) for path in paths if meets(override.path, path))


Finding = str | AicrError
"""A text counts by the severity that the registry gives the check; an error stops the bundle whatever that is."""
Check = Callable[[str, Scene], Iterator[Finding]]


def validation_findings(catalog: Catalog, scene: Scene) -> tuple[list[AicrError], list[str]]:
    """Errors and warnings of all checks of the components in a bundle, in recipe and registry order."""
    problems: list[AicrError] = []
    warnings: list[str] = []
    for ref in scene.recipe.component_refs:
        entry = catalog.registry.component(ref.name)
        for validation in entry.validations if entry else ():
            check = CHECKS.get(validation.function)
            if check is None:
                warnings.append(
                    f'{ref.name}: the registry asks for the check "{validation.function}", which is unknown here'
                )
            elif applies(validation, scene.recipe):
                _sort(ref.name, validation, check(ref.name, scene), problems, warnings)
    return problems, warnings


def _sort(
    name: str,
    validation: ComponentValidation,
    findings: Iterator[Finding],
    problems: list[AicrError],
    warnings: list[str],
) -> None:
    for finding in findings:
        if isinstance(finding, AicrError):
            problems.append(finding)
        elif validation.severity is Severity.ERROR:
            problems.append(invalid(finding, validation.message or "", component=name))
        else:
            warnings.append(f"{finding}. {validation.message}" if validation.message else finding)


def applies(validation: ComponentValidation, recipe: RecipeResult) -> bool:
    """Whether a recipe meets the conditions of a check; a criterion that it leaves open meets every one."""
    if not validation.conditions:
        return True
    criteria = recipe.criteria
    return criteria is not None and all(
        getattr(criteria, axis) in (None, "", ANY, *expected) or ANY in expected
        for axis, expected in validation.conditions.items()
    )


def _workload_selector(name: str, scene: Scene) -> Iterator[Finding]:
    if not scene.scheduling.workload_selector:
        yield f"{name} is in the bundle, but scheduling.workload_selector is not given"


def _accelerated_selector(name: str, scene: Scene) -> Iterator[Finding]:
    if not scene.scheduling.accelerated_node_selector:
        yield f"{name} is in the bundle, but scheduling.accelerated_node_selector is not given"


def _wildcard_toleration(name: str, scene: Scene) -> Iterator[Finding]:
    given = scene.scheduling.accelerated_node_tolerations
    if not given or TOLERATE_ALL in given:
        yield f"{name} would tolerate every taint: scheduling.accelerated_node_tolerations is not given or has a *"


def _host_mofed(name: str, scene: Scene) -> Iterator[Finding]:
    declared = scene.declared.component(NETWORK_OPERATOR) is not None
    mofed = find(scene.values[name], ("driver", "rdma", "useHostMofed"))
    if declared and NETWORK_OPERATOR not in scene.values and mofed is True:
        yield f"{name}: {NETWORK_OPERATOR} is switched off, but driver.rdma.useHostMofed is true"


def _mariadb_ownership(name: str, scene: Scene) -> Iterator[Finding]:
    """Evidence from the snapshot of an operator that is already there (ADR-016 section 7)."""
    if scene.recipe.accounting_mode is not AccountingMode.AICR_PROVIDED:
        return
    state = scene.recipe.metadata.maria_db_operator_state if scene.recipe.metadata else None
    way_out = (
        f"generate the recipe with {FIELD}={AccountingMode.CUSTOMER_MANAGED.value} to use the database that is there"
    )
    facts = {"component": name, "mariaDBOperatorState": state}
    if not state:
        yield (
            f"{name}: conflicts with a MariaDB operator that is already there were not evaluated, the recipe was made "
            "without such a snapshot"
        )
    elif state == MariaDBState.API_DETECTED.value:
        yield (
            f"{name}: the cluster already serves the MariaDB operator's API (api-detected), without any MariaDB "
            "resource; make sure that no other operator is installed"
        )
    elif state == MariaDBState.CRS_DETECTED.value:
        yield conflict(
            f"{name}: the snapshot found MariaDB resources of another installation (crs-detected), with which "
            "the database of aicr-provided accounting would compete",
            way_out,
            **facts,
        )
    elif state == MariaDBState.UNKNOWN.value:
        yield conflict(
            f"{name}: the snapshot could not tell whether a MariaDB operator is already there (unknown), so "
            "aicr-provided accounting could compete with it",
            f"take a snapshot with rights to discover the API, or {way_out}",
            **facts,
        )
    elif state != MariaDBState.ABSENT.value:
        states = ", ".join(one.value for one in MariaDBState)
        yield invalid(
            f'{name}: metadata.mariaDBOperatorState "{state}" of the recipe is none of {states}',
            "generate the recipe again",
            **facts,
        )


def _driver_ownership(name: str, scene: Scene) -> Iterator[Finding]:
    """Driver, toolkit and the DRA driver's root say the same about who installs the driver."""
    values = scene.values[name]
    guarded: tuple[Path, ...] = (("driver", "enabled"), ("toolkit", "enabled"), ("hostPaths", "driverInstallDir"))
    deferred = [_deferred(override, path) for override, path in scene.deferred(name, *guarded)]
    yield from deferred
    toggles = [_switch(values, "driver"), _switch(values, "toolkit")]
    unreadable = [toggle for toggle in toggles if isinstance(toggle, str)]
    yield from (
        f"{name}: {text}, so nobody can tell who installs the driver; give a bare true or false" for text in unreadable
    )
    if deferred or unreadable:
        return
    operator_installs, toolkit = toggles[0] is not False, toggles[1] is not False
    state = scene.recipe.metadata.gpu_driver_state if scene.recipe.metadata else None
    if state not in (None, "", PREINSTALLED, NO_DRIVER):
        yield f'{name}: metadata.gpuDriverState "{state}" of the recipe is neither {PREINSTALLED} nor {NO_DRIVER}'
    if state == NO_DRIVER and not (operator_installs and toolkit):
        yield (
            f"{name}: driver.enabled or toolkit.enabled is false, as if nodes came with the driver, but the snapshot "
            "saw no NVIDIA driver on its GPU node; let the platform install one and take the snapshot again, or set "
            f"{name}:driver.enabled=true and {name}:toolkit.enabled=true"
        )
    install_dir = _driver_dir(name, values)
    if install_dir.startswith("/"):
        yield from _dra_root(name, scene, operator_installs, install_dir)
    else:
        yield install_dir


def _deferred(override: Override, path: Path) -> str:
    return (
        f"{override.place} defers {override.component}:{dotted(path)}, which says who owns the driver, to the "
        "installation, where nothing checks it; give it with set"
    )


def _switch(values: Values, section: str) -> bool | str | None:
    """``<section>.enabled``: its value, ``None`` if it is left to the chart, or what is wrong with it."""
    if section not in values:
        return None
    held = values[section]
    if held is None:
        return f"{section} is null, which takes the chart's defaults away"
    if not isinstance(held, Mapping):
        return f"{section} is no mapping"
    enabled = held.get("enabled", ABSENT)
    if enabled is ABSENT:
        return None
    return enabled if isinstance(enabled, bool) else f"{section}.enabled is neither true nor false"


def _driver_dir(name: str, values: Values) -> str:
    """The directory into which the operator installs, or what is wrong with it (which never begins with a slash)."""
    paths = values.get("hostPaths", {})
    if not isinstance(paths, Mapping):
        return f"{name}: hostPaths is no mapping, which takes the chart's defaults away"
    held = paths.get("driverInstallDir", "")
    if not isinstance(held, str):
        return f"{name}: hostPaths.driverInstallDir is no text"
    if not held:
        return CONTAINER_ROOT
    clean = posixpath.normpath(held)
    if not clean.startswith("/"):
        return f'{name}: hostPaths.driverInstallDir "{held}" is no absolute path'
    return (
        clean
        if clean.strip("/")
        else f"{name}: hostPaths.driverInstallDir is /, which no container can mount over its root"
    )


def _dra_root(name: str, scene: Scene, operator_installs: bool, install_dir: str) -> Iterator[Finding]:
    driver = scene.first(DRA_DRIVERS)
    if driver is None:
        return
    deferred = [_deferred(override, path) for override, path in scene.deferred(driver, ("nvidiaDriverRoot",))]
    yield from deferred
    root = scene.values[driver].get("nvidiaDriverRoot", ABSENT)
    if deferred:
        return
    if root is not ABSENT and not (isinstance(root, str) and root.startswith("/")):
        yield f"{name}: {driver}:nvidiaDriverRoot is no absolute path"
        return
    clean = "/" if not isinstance(root, str) else posixpath.normpath(root)
    if operator_installs and clean != install_dir:
        yield (
            f"{name}: the operator installs the driver to hostPaths.driverInstallDir {install_dir}, but {driver} reads "
            f"it from nvidiaDriverRoot {clean}; set {driver}:nvidiaDriverRoot={install_dir}"
        )
    elif not operator_installs and root is not ABSENT and clean == CONTAINER_ROOT:
        yield (
            f"{name}: driver.enabled is false, but {driver} reads nvidiaDriverRoot {CONTAINER_ROOT}, which nobody "
            "fills then; generate the recipe again, or set it to where the platform installs the driver"
        )


_LABEL_CONSUMERS = ("metadataCollector", "syslogHealthMonitor")
_REMEDY: Path = ("labeler", "assumeDriverInstalled")


def _sentinel_label(name: str, scene: Scene) -> Iterator[Finding]:
    """Where no driver pod runs, NVSentinel does not see the driver unless it is told.

    A selected profile that owns the answer has given it: also ``false``, where a pod of the platform brings the driver.
    """
    operator = scene.first(OPERATORS)
    if operator is None or _switch(scene.values[operator], "driver") is not False:
        return
    profile = scene.declared.metadata.selected_profile if scene.declared.metadata else None
    if profile and profile_ownership(profile).touching(name, dotted(_REMEDY)):
        return
    values = scene.values[name]
    consumers = [("global", consumer, "enabled") for consumer in _LABEL_CONSUMERS]
    idle = all(find(values, path) is False for path in consumers)
    told = bool(find(values, _REMEDY))
    deferred_remedy = list(scene.deferred(name, _REMEDY))
    depends_on: Iterator[tuple[Override, Path]] = iter(())
    if not idle:
        depends_on = iter(deferred_remedy)
    elif not told or deferred_remedy:
        depends_on = scene.deferred(name, *consumers)
    found = [
        f"{override.place} defers {name}:{dotted(path)} to the installation, where nothing checks that NVSentinel "
        "still sees the driver; give it with set"
        for override, path in depends_on
    ]
    yield from found
    if not found and not idle and not told:
        yield (
            f"{name}: {operator} does not install the driver, so no driver pod tells NVSentinel of it and its "
            f"collectors would run nowhere; set {name}:{dotted(_REMEDY)}=true"
        )


_SENTINEL_CLASS: Path = ("metadata-collector", "runtimeClassName")
_OPERATOR_CLASS: Path = ("operator", "runtimeClass")


def _sentinel_runtime_class(name: str, scene: Scene) -> Iterator[Finding]:
    """NVSentinel's collector names a RuntimeClass that the operator makes; both default to ``nvidia``."""
    operator = scene.first(OPERATORS)
    if operator is None or find(scene.values[name], ("global", "metadataCollector", "enabled")) is False:
        return
    wanted = find(scene.values[name], _SENTINEL_CLASS) or "nvidia"
    made = find(scene.values[operator], _OPERATOR_CLASS) or "nvidia"
    if wanted != made:
        yield (
            f"{name}: {dotted(_SENTINEL_CLASS)} is {wanted}, but {operator} makes the RuntimeClass {made}, so its pods "
            f"would be refused; set {name}:{dotted(_SENTINEL_CLASS)}={made}"
        )


CHECKS: Mapping[str, Check] = {
    "CheckWorkloadSelectorMissing": _workload_selector,
    "CheckAcceleratedSelectorMissing": _accelerated_selector,
    "CheckWildcardAcceleratedToleration": _wildcard_toleration,
    "CheckHostMofedWithoutNetworkOperator": _host_mofed,
    "CheckMariaDBOperatorOwnershipCoherence": _mariadb_ownership,
    "CheckDriverOwnershipCoherence": _driver_ownership,
    "CheckNVSentinelDriverLabelDetectable": _sentinel_label,
    "CheckNVSentinelRuntimeClassCoherence": _sentinel_runtime_class,
}
