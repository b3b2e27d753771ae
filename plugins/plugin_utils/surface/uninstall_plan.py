# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an uninstallation: from the record in the cluster, and what there still is. It only reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..cluster import lease
from ..cluster.connection import Deadline
from ..cluster.discovery import Group, discover
from ..cluster.read import Object, Reader
from ..cluster.release_state import Installed as ReleaseState
from ..cluster.release_state import find
from ..deployment.claims import is_of_database
from ..deployment.installed import UNINSTALLED, UNINSTALLING, Installed, Recorded, read_record, to_text
from ..deployment.observation import MARIADB, Place
from ..deployment.obstacle import ERROR, Obstacle
from ..deployment.plan import ComponentPlan, Plan, Release
from ..deployment.preflight import lease_obstacles, missing_rights
from ..deployment.rights import HINT, rights
from ..deployment.rights import missing_rights as ask_for_rights
from ..deployment.uninstall import (
    Asked,
    Removal,
    claims_of,
    database_place,
    database_secrets,
    is_made_of,
    judge_removal,
    plan_removal,
    releases_in_between,
)
from ..errors import combined
from .action import Result
from .cluster import connect
from .lease import RUN
from .options import CLUSTER, Options, Spec
from .outcome import failed

SPEC: Spec = {
    **CLUSTER,
    **RUN,
    "remove_data": {"type": "bool", "default": False},
    "remove_secrets": {"type": "bool", "default": False},
    "remove_crds": {"type": "bool", "default": False},
    "recover_releases": {"type": "bool", "default": False},
}

LEFT = "data-left"
"""Of a record: the volumes and Secrets that an uninstallation has left, for one that is asked to remove them, too."""

_READ_SECONDS = 120.0


def plan_uninstall(options: Options) -> Result:
    """Find out what is to be removed, and what stands in the way. Only reads and reviews of rights are asked for.

    :raises AicrError: CONFLICT for a record that cannot be read; what is wrong with the way to the cluster.
    """
    connection = connect(options)
    place = lease.Place(options["lease"]["namespace"], options["lease"]["name"])
    asked = Asked(options["remove_data"], options["remove_secrets"], options["remove_crds"])
    reader = Reader(connection, Deadline(_READ_SECONDS))
    configmap = reader.find(f"/api/v1/namespaces/{place.namespace}/configmaps/{place.name}")
    if configmap is None:
        return Planned(place, None, {}, Removal((), {}), (), (), ())
    record = read_record(configmap)
    recorded = (*record.kept, *record.releases)
    found = {(one.namespace, one.name): find(reader, one.namespace, one.name) for one in recorded}
    removal = plan_removal(record, found, asked)
    ours = database_place(removal, found)
    left = [*_left(configmap), *_data(reader, removal, found)]
    unique = list({(one["kind"], one["namespace"], one["name"]): one for one in left}.values())
    data = tuple(one for one in unique if _is_asked(one, asked))
    stays = tuple(one for one in unique if not _is_asked(one, asked))
    databases = discover(reader, MARIADB)
    servers = _servers(reader, databases)
    made = _made_of(reader, databases, ours) if databases and ours else []
    obstacles = [
        *missing_rights(ask_for_rights(connection, rights(_as_plan(record, recorded), place.namespace)), HINT),
        *lease_obstacles(options["run"], lease.look(connection, place)),
        *releases_in_between(removal, found, recover=options["recover_releases"]),
        *judge_removal(removal, asked, servers, ours, made, has_volume=any(map(_is_volume_of_database, unique))),
    ]
    return Planned(place, configmap, found, removal, data, stays, tuple(obstacles))


def _left(configmap: Object) -> list[dict[str, str]]:
    held: list[dict[str, str]] = json.loads((configmap.get("data") or {}).get(LEFT, "[]"))
    return held


def _is_asked(one: Mapping[str, str], asked: Asked) -> bool:
    return asked.secrets if one["kind"] == "Secret" else asked.data


def _is_volume_of_database(one: Mapping[str, str]) -> bool:
    return one["kind"] != "Secret" and is_of_database(one["name"])


def _data(reader: Reader, removal: Removal, found: Mapping[Place, ReleaseState | None]) -> Iterator[dict[str, str]]:
    """The volumes of what goes, and the Secrets that open that of the database."""
    for namespace, name in claims_of(removal, found):
        claims: list[str] = reader.fold(
            f"/api/v1/namespaces/{namespace}/persistentvolumeclaims",
            list,
            lambda total, item: total.append(str(item["metadata"]["name"])),
            {},
        )
        yield from (_item("PersistentVolumeClaim", namespace, one) for one in sorted(claims) if name.fullmatch(one))
    database = database_place(removal, found)
    if database:
        yield from (_item("Secret", *one) for one in database_secrets(found, database))


def _item(kind: str, namespace: str, name: str) -> dict[str, str]:
    return {"kind": kind, "namespace": namespace, "name": name}


def _servers(reader: Reader, group: Group | None) -> dict[Place, Object]:
    """Every MariaDB of the cluster."""
    if group is None or "mariadbs" not in group.resources:
        return {}

    def take(total: dict[Place, Object], item: Object) -> None:
        total[str(item["metadata"].get("namespace", "")), str(item["metadata"]["name"])] = {**item, "kind": "MariaDB"}

    servers: dict[Place, Object] = reader.fold(group.path("mariadbs"), dict, take, {})
    return servers


def _made_of(reader: Reader, group: Group, database: Place) -> list[Object]:
    """What the operator has made by SQL of a MariaDB."""
    namespace, name = database
    made: list[Object] = []
    for kind, resource in (("Database", "databases"), ("User", "users"), ("Grant", "grants")):
        if resource in group.resources:
            found: list[Object] = reader.fold(group.path(resource, namespace), list, list.append, {})
            made += [{**one, "kind": kind} for one in found if is_made_of(one, name)]
    return made


def _as_plan(record: Installed, recorded: Sequence[Recorded]) -> Plan:
    """The releases of a record, for the rights that they take."""
    components: dict[str, ComponentPlan] = {}
    for one in recorded:
        release = Release(one.name, one.namespace, one.component, one.chart, None, None, (), {})
        before = components.get(one.component, ComponentPlan(()))
        components[one.component] = ComponentPlan((*before.releases, release))
    return Plan(record.mode, record.recipe_digest, record.bundle_digest, (tuple(components),), components, {})


@dataclass(frozen=True)
class Planned:
    """What an uninstallation does.

    :ivar configmap: the record; ``None`` where nothing is recorded, so nothing is ours.
    :ivar data: what goes of the data of accounting.
    :ivar left: what stays of it.
    """

    place: lease.Place
    configmap: Object | None
    found: Mapping[Place, ReleaseState | None]
    removal: Removal
    data: tuple[Mapping[str, str], ...]
    left: tuple[Mapping[str, str], ...]
    obstacles: tuple[Obstacle, ...]

    def deliver(self, **_task: bool) -> dict[str, Any]:
        """The task's result, which fails with every error; nothing is written, in check mode or not."""
        errors = [one for one in self.obstacles if one.severity == ERROR]
        warnings = [one for one in self.obstacles if one.severity != ERROR]
        kept = [one.to_item() for one in self.removal.stays]
        nothing = not self.removal.order and not self.data
        begins, ends = self._records(to_text(sorted(kept, key=lambda one: (one["namespace"], one["name"]))))
        result: dict[str, Any] = {
            "changed": False,
            "summary": {"releases": len(self.removal.order), "objects": len(self.data), "errors": len(errors)},
            "findings": [one.to_result() for one in (*errors, *warnings)],
            "warnings": [one.what for one in warnings]
            + ([] if self.configmap else [f"ConfigMap {self.place} is not there: nothing of ours is recorded"]),
            "releases": [{"namespace": one.namespace, "name": one.name} for one in self.removal.order],
            "data": [_manifest(one) for one in self.data],
            "kept": [one["name"] for one in kept] + [f"{one['kind']} {one['name']}" for one in self.left],
            "begins": None if nothing else begins,
            "ends": ends if kept or self.left else None,
            "forgets": self._bare() if self.configmap and not kept and not self.left else None,
        }
        if errors:
            result.update(failed(combined([one.error for one in errors])))
        return result

    def _bare(self) -> dict[str, Any]:
        metadata = {"name": self.place.name, "namespace": self.place.namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    def _records(self, kept: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """The record during the work, and after it; one that says the same already stays as it is, with its time."""
        if self.configmap is None:
            return None, None
        before = dict(self.configmap.get("data") or {})
        labels = (self.configmap["metadata"].get("labels")) or {}
        bare = self._bare() | {"metadata": {**self._bare()["metadata"], "labels": labels}}
        ends = {
            **before,
            "state": UNINSTALLED,
            "mode": "",
            "releases": to_text(()),
            "kept": kept,
            LEFT: json.dumps(list(map(dict, self.left)), sort_keys=True),
        }
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        if ends != before:
            ends["time"] = now
        return {**bare, "data": {**before, "state": UNINSTALLING, "time": now}}, {**bare, "data": ends}


def _manifest(one: Mapping[str, str]) -> dict[str, Any]:
    metadata = {"namespace": one["namespace"], "name": one["name"]}
    return {"apiVersion": "v1", "kind": one["kind"], "metadata": metadata}
