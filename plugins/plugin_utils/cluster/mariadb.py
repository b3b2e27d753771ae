# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subtype ``K8s.mariadb-operator``: evidence of a MariaDB operator that is there already (spec/engine.md 5.7).

It speaks of the API and its resources alone, never of an operator's or a database's health. The database of our own
release is in nobody's way: a cluster that AICR has deployed is told apart from one where another installation is.
"""

from __future__ import annotations

from ..artifacts.recipe import MariaDBState
from ..ownership.accounting import DATABASE
from .discovery import discover
from .findings import Findings
from .read import Object, Reader

GROUP, RESOURCE = "k8s.mariadb.com", "mariadbs"
SUBTYPE = "mariadb-operator"


def collect(reader: Reader, found: Findings) -> None:
    """Tell absent, api-detected, crs-detected and unknown apart; what could not be read is unknown, never absent."""
    found.add(SUBTYPE, {"collection-state": MariaDBState.UNKNOWN.value})  # until it is known, however this ends
    with found.tolerate(SUBTYPE):
        served: dict[str, object] = {}
        group = discover(reader, GROUP)
        if group is None:
            state = MariaDBState.ABSENT
        elif RESOURCE not in group.resources:
            state = MariaDBState.API_DETECTED
        else:
            served = {"api-version": group.resources[RESOURCE]}
            state = _state(reader, group.path(RESOURCE))
        found.add(SUBTYPE, {"collection-state": state.value, "api-available": bool(served), **served})


def _state(reader: Reader, path: str) -> MariaDBState:
    """Who has made the MariaDB resources of a cluster that serves them."""

    def note(found: set[bool], one: Object) -> None:
        annotations = one["metadata"].get("annotations") or {}
        found.add(annotations.get("meta.helm.sh/release-name") == DATABASE)

    found: set[bool] = reader.fold(path, set, note)
    if not found:
        return MariaDBState.API_DETECTED
    return MariaDBState.CRS_DETECTED if False in found else MariaDBState.ABSENT
