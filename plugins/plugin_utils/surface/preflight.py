# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preflight of a deployment: the bundle's plan against the cluster as it is, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..cluster import lease
from ..cluster.chart_source import locate
from ..cluster.connection import Connection
from ..cluster.helm import Settings, open_helm
from ..deployment.installed import BEGUN, DONE, Installed, Recorded, record, to_text
from ..deployment.mode_change import kept
from ..deployment.observation import Observed, observe
from ..deployment.obstacle import ERROR, Obstacle, warning
from ..deployment.preflight import Question, judge, missing_rights
from ..deployment.prerequisites import Storage
from ..deployment.rights import HINT, rights
from ..deployment.rights import missing_rights as ask_for_rights
from ..errors import AicrError, combined
from .action import Result
from .cluster import connect
from .deployment_plan import BUNDLE_INPUT, Planned, plan_deployment
from .lease import RUN
from .options import CLUSTER, Options, Spec
from .outcome import failed

SPEC: Spec = {
    **CLUSTER,
    **BUNDLE_INPUT,
    **RUN,
    "allow_mode_change": {"type": "bool", "default": False},
    "allow_downgrade": {"type": "bool", "default": False},
    "recover_releases": {"type": "bool", "default": False},
    "restart_slurmctld": {"type": "bool", "default": False},
    "chart_source": {"type": "str"},
    "helm": {"type": "path"},
}


def look_ahead(options: Options, *, tell: Callable[[str], None]) -> Result:
    """Find everything that stands in the way of a bundle's deployment. Only reads and reviews of rights are asked for.

    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: what is wrong with the options, the bundle, the recipe, or the way to the cluster.
    """
    planned = plan_deployment(options)
    connection = connect(options)
    place = lease.Place(options["lease"]["namespace"], options["lease"]["name"])
    question = _question(planned, options)
    wanted = rights(planned.plan, place.namespace, restart_slurmctld=options["restart_slurmctld"])
    observed = observe(connection, question.wish(place))
    obstacles = [
        *missing_rights(ask_for_rights(connection, wanted), HINT),
        *_helm(connection, options, tell),
        *_charts(planned, options["chart_source"]),
        *judge(question, observed),
    ]
    return Looked(planned, observed, tuple(obstacles), place)


def _question(planned: Planned, options: Options) -> Question:
    registry = planned.catalog.registry
    storages = []
    for name in planned.plan.components:
        entry = registry.component(name)
        paths = (*entry.storage_class_paths, *entry.shared_storage_class_paths) if entry else ()
        storages += [Storage(name, path) for path in paths]
    return Question(
        planned.plan,
        planned.values,
        tuple(storages),
        planned.namespaces,
        planned.constraints,
        options["run"],
        options["allow_mode_change"],
        options["allow_downgrade"],
        options["recover_releases"],
    )


def _helm(connection: Connection, options: Options, tell: Callable[[str], None]) -> Iterator[Obstacle]:
    try:
        with open_helm(connection, Settings(program=options["helm"]), options.environ, tell):
            pass
    except AicrError as error:
        yield Obstacle.of("helm", error)


def _charts(planned: Planned, source: str | None) -> Iterator[Obstacle]:
    """Charts that a folder does not hold; what a repository holds is known when it is asked."""
    for release in planned.plan.releases:
        try:
            locate(release.chart, release.repository, release.version, source)
        except AicrError as error:
            yield Obstacle.of("chart", error)


@dataclass(frozen=True)
class Looked:
    """What a preflight has found."""

    planned: Planned
    observed: Observed
    obstacles: tuple[Obstacle, ...]
    place: lease.Place

    def deliver(self, **_task: bool) -> dict[str, Any]:
        """The task's result, which fails with every error; nothing is written, in check mode or not."""
        found = [*self.obstacles, *(warning("plan", text, "") for text in self.planned.warnings)]
        errors = [one for one in found if one.severity == ERROR]
        warnings = [one for one in found if one.severity != ERROR]
        begins, ends = self._records()
        installed = self.observed.record
        result: dict[str, Any] = {
            "changed": False,
            "summary": {
                "errors": len(errors),
                "warnings": len(warnings),
                "mode": self.planned.plan.mode.value if self.planned.plan.mode else None,
                "server": self.observed.server_version,
            },
            "findings": [one.to_result() for one in (*errors, *warnings)],
            "warnings": [f"{one.what} ({one.way_out})" if one.way_out else one.what for one in warnings],
            "installed": _told(installed) if installed else None,
            "kept": [one.name for one in kept(installed, self.planned.plan)],
            "begins": begins,
            "ends": ends,
        }
        if errors:
            result.update(failed(combined([one.error for one in errors])))
        return result

    def _records(self) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
        """What is to be recorded when the deployment begins and when it is done; nothing if the cluster says so
        already."""
        plan, present = self.planned.plan, self.observed.record
        left = kept(present, plan)
        ends = record(plan, self.place.namespace, self.place.name)
        ends["data"]["kept"] = to_text(one.to_item() for one in left)
        if present is None or not _says_the_same(present, ends["data"], left):
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            return {**ends, "data": {**ends["data"], "state": BEGUN, "time": now}}, ends
        return None, ends if present.state != DONE else None


def _says_the_same(present: Installed, data: Mapping[str, str], left: tuple[Recorded, ...]) -> bool:
    return (
        (present.mode.value if present.mode else "") == data["mode"]
        and present.recipe_digest == data["recipe-digest"]
        and present.bundle_digest == data["bundle-digest"]
        and to_text(one.to_item() for one in present.releases) == data["releases"]
        and present.kept == left
    )


def _told(installed: Installed) -> dict[str, Any]:
    return {
        "state": installed.state,
        "mode": installed.mode.value if installed.mode else None,
        "recipe_digest": installed.recipe_digest,
        "bundle_digest": installed.bundle_digest,
        "releases": [one.to_item() for one in installed.releases],
        "kept": [one.to_item() for one in installed.kept],
        "time": installed.time,
    }
