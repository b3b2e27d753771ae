# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is installed in a cluster, as a deployment records it there for the next one: a ConfigMap."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..artifacts.recipe import AccountingMode
from ..errors import AicrError, conflict
from .plan import Plan, Release

T = TypeVar("T")

NAME = "aicr-deployment"
NAMESPACE = "default"

BEGUN, DONE = "deploying", "deployed"
"""The states of a record. One that says ``deploying`` while no run holds the Lease is of a run that did not end."""
UNINSTALLING, UNINSTALLED = "uninstalling", "uninstalled"
"""Those that an uninstallation writes."""
STATES = (BEGUN, DONE, UNINSTALLING, UNINSTALLED)

_TEXTS = ("name", "namespace", "component", "chart")
"""What a release of a record must have."""
_MOST_SHOWN = 120


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

    :ivar state: one of :data:`STATES`.
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

    :raises AicrError: CONFLICT if it is none of ours or of a release that this one does not know, naming the key and
        what it says; going on would lose what it says.
    """
    metadata, data = configmap.get("metadata") or {}, configmap.get("data") or {}
    namespace, name = metadata.get("namespace"), metadata.get("name")

    def read(key: str, reader: Callable[[str], T], absent: str | None = None) -> T:
        said = data.get(key, absent)
        if said is None:
            raise _unreadable(namespace, name, f"it has no {key}")
        try:
            return reader(said)
        except ValueError as error:
            raise _unreadable(namespace, name, f"its {key}, {_shown(said)}, {error}") from None

    return Installed(
        read("state", _state),
        read("mode", _mode),
        read("recipe-digest", str),
        read("bundle-digest", str),
        read("releases", _releases),
        read("kept", _releases, "[]"),
        read("time", str, ""),
    )


def _state(text: str) -> str:
    if text not in STATES:
        raise ValueError(f"is none of {', '.join(STATES)}")
    return text


def _mode(text: str) -> AccountingMode | None:
    try:
        return AccountingMode(text) if text else None
    except ValueError:
        raise ValueError(f"is none of {', '.join(AccountingMode)}") from None


def _releases(text: str) -> tuple[Recorded, ...]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is no JSON") from None
    if not isinstance(items, list):
        raise ValueError("is no list of releases")
    for number, item in enumerate(items):
        missing = [key for key in _TEXTS if not isinstance(item, dict) or not isinstance(item.get(key), str)]
        if missing:
            raise ValueError(f"has a release, number {number + 1}, without the text {', '.join(missing)}")
    return tuple(
        Recorded(item["name"], item["namespace"], item["component"], item["chart"], str(item.get("version", "")))
        for item in items
    )


def _shown(text: str) -> str:
    """A value as a message has it, without quotes: it may hold quotes itself."""
    text = " ".join(text.split())
    return f"{text[:_MOST_SHOWN]}…" if len(text) > _MOST_SHOWN else text or "which is empty"


def _unreadable(namespace: object, name: object, why: str) -> AicrError:
    return conflict(
        f"ConfigMap {namespace}/{name}: is no record of a deployment that this release can read: {why}",
        "see who wrote it. If nobody needs it, remove it "
        f"(`kubectl delete configmap {name} --namespace {namespace}`) and deploy, which writes it anew; so also before "
        "an uninstallation, since without a record nothing is known to be ours",
    )
