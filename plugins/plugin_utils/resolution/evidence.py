# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a snapshot says is there already: a GPU driver, a MariaDB operator (engine.md 5.7, surface.md 1.3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ..artifacts.recipe import MariaDBState, RecipeResult
from ..artifacts.snapshot import Snapshot
from ..catalog import Catalog, merge_overrides
from ..ownership import profile_ownership

GPU_OPERATOR = "gpu-operator"
PREINSTALLED, ABSENT = "preinstalled", "absent"
_DRIVER = "driver.enabled"
_BY_GRAVITY = (MariaDBState.CRS_DETECTED, MariaDBState.UNKNOWN, MariaDBState.API_DETECTED, MariaDBState.ABSENT)


def gpu_driver_state(snapshot: Snapshot) -> str | None:
    """Whether the sampled GPU node has a driver loaded; ``None`` without a GPU node or without the reading."""
    if snapshot.reading("GPU", "hardware", "gpu-present") is not True:
        return None
    loaded = snapshot.reading("GPU", "hardware", "driver-loaded")
    return {True: PREINSTALLED, False: ABSENT}.get(loaded) if isinstance(loaded, bool) else None


def with_driver_gate(recipe: RecipeResult, state: str | None, catalog: Catalog) -> tuple[RecipeResult, list[str]]:
    """The recipe with an explicit ``driver.enabled: false`` where a preinstalled driver meets values made for one.

    Values that let the operator install the driver stay as they are: switching only the driver off would leave toolkit
    and driver root half configured. What a selected profile owns, it has set itself. Every mismatch is a warning here,
    since only a bundle knows all overrides.
    """
    ref = recipe.component(GPU_OPERATOR)
    if ref is None or state is None:
        return recipe, []
    driver = catalog.values(ref).get("driver")
    expects_driver = isinstance(driver, Mapping) and driver.get("enabled") is False
    if state == ABSENT and expects_driver:
        return recipe, [_DRIVER_IS_MISSING]
    if state != PREINSTALLED:
        return recipe, []
    if not expects_driver:
        return recipe, [_DRIVER_IS_THERE]
    profile = recipe.metadata.selected_profile if recipe.metadata else None
    if profile and profile_ownership(profile).touching(GPU_OPERATOR, _DRIVER):
        return recipe, []
    overrides = merge_overrides(ref.overrides or {}, {"driver": {"enabled": False}})
    return recipe.with_component(dataclasses.replace(ref, overrides=overrides)), []


def mariadb_state(snapshot: Snapshot) -> str | None:
    """The gravest of the readings about a MariaDB operator; ``None`` if the snapshot never looked."""
    readings = [
        (subtype.data or {}).get("collection-state")
        for measurement in snapshot.measurements
        if measurement.type == "K8s"
        for subtype in measurement.subtypes or ()
        if subtype.subtype == "mariadb-operator"
    ]
    words = {state.value: state for state in MariaDBState}
    states = {
        words.get(reading, MariaDBState.UNKNOWN) if isinstance(reading, str) else MariaDBState.UNKNOWN
        for reading in readings
    }
    return next((state.value for state in _BY_GRAVITY if state in states), None)


def mariadb_warning(state: str | None) -> str | None:
    """What a snapshot's evidence means for accounting mode ``aicr-provided``; generation goes on in any case."""
    return _MARIADB_WARNINGS.get(state) if state else None


_DRIVER_IS_MISSING = (
    f"{GPU_OPERATOR}: the recipe expects a GPU driver on the nodes (driver.enabled: false), but the GPU node of the"
    " snapshot has none loaded; a bundle needs one or the other mended"
)
_DRIVER_IS_THERE = (
    f"{GPU_OPERATOR}: the GPU node of the snapshot has a driver already, but the recipe lets the operator install one"
    " (driver.enabled is not false)"
)
_WAY_OUT = "slurm_accounting_mode customer-managed uses the database that is there"
_MARIADB_WARNINGS = {
    MariaDBState.API_DETECTED.value: "mariadb-operator: the cluster has the API of a MariaDB operator already, and"
    f" aicr-provided would install another one; {_WAY_OUT}",
    MariaDBState.CRS_DETECTED.value: "mariadb-operator: the cluster has MariaDB resources already, so a bundle of this"
    f" recipe will be refused; {_WAY_OUT}",
    MariaDBState.UNKNOWN.value: "mariadb-operator: the snapshot cannot tell whether a MariaDB operator is there, so a"
    f" bundle of this recipe will be refused; take a snapshot with enough rights, or {_WAY_OUT}",
}
