# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is installed in a cluster, as a deployment records it there for the next one: a ConfigMap."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..artifacts.recipe import AccountingMode
from ..errors import AicrError, conflict
from .plan import Plan, Release

NAME = "aicr-deployment"
NAMESPACE = "default"

BEGUN, DONE = "deploying", "deployed"
"""The states of a record. One that says ``deploying`` while no run holds the Lease is of a run that did not end."""


@dataclass(frozen=True)
class Recorded:
    """One release of a record.

    :ivar version: of its chart; empty for a chart of the bundle's own.
    """

    name: str
    namespace: str
    component: str
    chart: str
    version: str

    @classmethod
    def of(cls, release: Release) -> Recorded:
        """What is recorded of a release; the folder of a local chart is nobody's business there."""
        local = release.repository is None
        chart = release.name if local else release.chart
        return cls(release.name, release.namespace, release.component, chart, "" if local else release.version or "")

    def to_item(self) -> dict[str, str]:
        """The release as it stands in a record."""
        return {key: value for key, value in vars(self).items() if value}


@dataclass(frozen=True)
class Installed:
    """A record.

    :ivar state: ``deploying`` or ``deployed``.
    :ivar mode: of Slurm accounting; ``None`` without Slurm.
    :ivar releases: what the deployment installed.
    :ivar kept: what earlier ones installed and this one left alone.
    :ivar time: when it was written, in RFC 3339.
    """

    state: str
    mode: AccountingMode | None
    recipe_digest: str
    bundle_digest: str
    releases: tuple[Recorded, ...]
    kept: tuple[Recorded, ...] = ()
    time: str = ""


def record(plan: Plan, namespace: str = NAMESPACE, name: str = NAME) -> dict[str, Any]:
    """The ConfigMap of a deployment that is done, without its time, which the plan cannot know."""
    releases = [Recorded.of(release).to_item() for release in plan.releases]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {
                "app.kubernetes.io/name": "aicr",
                "app.kubernetes.io/component": "deployment",
                "app.kubernetes.io/managed-by": "aicr.runtime",
            },
        },
        "data": {
            "state": DONE,
            "mode": plan.mode.value if plan.mode else "",
            "recipe-digest": plan.recipe_digest,
            "bundle-digest": plan.bundle_digest,
            "releases": to_text(releases),
        },
    }


def to_text(releases: Iterable[Mapping[str, str]]) -> str:
    """Releases as the text of a ConfigMap's value, one a line."""
    lines = ",\n".join(json.dumps(dict(release), sort_keys=True) for release in releases)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def read_record(configmap: Mapping[str, Any]) -> Installed:
    """What a ConfigMap records.

    :raises AicrError: CONFLICT if it is none of ours or of a release that this one does not know; going on would lose
        what it says.
    """
    metadata, data = configmap.get("metadata") or {}, configmap.get("data") or {}
    place = f"ConfigMap {metadata.get('namespace')}/{metadata.get('name')}"
    try:
        return Installed(
            data["state"],
            AccountingMode(data["mode"]) if data["mode"] else None,
            data["recipe-digest"],
            data["bundle-digest"],
            _releases(data["releases"]),
            _releases(data.get("kept", "[]")),
            data.get("time", ""),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(place) from error


def _releases(text: str) -> tuple[Recorded, ...]:
    return tuple(
        Recorded(
            str(item["name"]),
            str(item["namespace"]),
            str(item["component"]),
            str(item["chart"]),
            str(item.get("version", "")),
        )
        for item in json.loads(text)
    )


def _unreadable(place: str) -> AicrError:
    return conflict(
        f"{place}: is no record of a deployment that this release can read",
        "see who wrote it; remove it if it is nobody's, and the next deployment writes it anew",
    )
