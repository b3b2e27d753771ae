# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a cluster before a deployment, as far as its preflight asks. It only reads."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..cluster import lease
from ..cluster.connection import Connection, Deadline
from ..cluster.discovery import discover
from ..cluster.read import Object, Reader
from ..cluster.release_state import Installed as ReleaseState
from ..cluster.release_state import find
from ..cluster.request import is_gap
from ..errors import AicrError, Code
from ..ownership.accounting import COMPONENTS, DATABASE
from .claims import is_of_database
from .installed import BEGUN, Installed, read_record

SECONDS = 120.0
MARIADB = "k8s.mariadb.com"
Place = tuple[str, str]
"""Namespace and name."""

T = TypeVar("T")

_RELEASE, _RELEASE_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True)
class Wish:
    """What a preflight wants to know.

    :ivar groups: whose CRDs matter.
    :ivar apis: groups of which it matters whether they are served at all.
    :ivar mariadb: whether operators and servers of MariaDB matter.
    """

    releases: frozenset[Place]
    groups: frozenset[str]
    apis: frozenset[str]
    secrets: frozenset[Place]
    claims: frozenset[Place]
    mariadb: bool
    lease: lease.Place
    record: Place


@dataclass(frozen=True)
class Owned:
    """An object, and the Helm release that it says it belongs to.

    :ivar versions: of a CRD, those that are served.
    """

    name: str
    namespace: str = ""
    release: Place | None = None
    versions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observed:
    """What was found. What could not be read is absent here and named in ``gaps``.

    :ivar releases: the newest revision of each; ``None`` where there is none.
    :ivar crds: by API group.
    :ivar secrets: what each holds by key; ``None`` where there is none.
    :ivar classes: StorageClasses, and whether each is the default.
    :ivar record_problem: why a record that is there says nothing.
    :ivar database: the servers and the volumes that there are of a provided database, where a record is of a run that
        did not end; ``None`` if they could not be read.
    """

    server_version: str
    releases: Mapping[Place, ReleaseState | None] = field(default_factory=dict)
    crds: Mapping[str, tuple[Owned, ...]] = field(default_factory=dict)
    apis: Mapping[str, bool] = field(default_factory=dict)
    secrets: Mapping[Place, Mapping[str, bytes] | None] = field(default_factory=dict, repr=False)
    claims: Mapping[Place, bool] = field(default_factory=dict)
    classes: Mapping[str, bool] | None = None
    operators: tuple[Owned, ...] = ()
    servers: tuple[Owned, ...] = ()
    holder: lease.Holder | None = None
    record: Installed | None = None
    record_problem: AicrError | None = None
    database: tuple[str, ...] | None = ()
    terminating: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


def observe(connection: Connection, wish: Wish) -> Observed:
    """Read what a preflight wants to know.

    :raises AicrError: a rejected login or a lost transport, since then nothing can be known; see
        :func:`request.is_gap`.
    """
    reader = Reader(connection, Deadline(SECONDS))
    gaps: list[str] = []
    version = str(reader.get("/version").get("gitVersion", ""))

    def read(what: str, how: Callable[[], T], otherwise: T) -> T:
        try:
            return how()
        except AicrError as error:
            if not is_gap(error):
                raise
            gaps.append(f"{what}: {error.message}")
            return otherwise

    def known(what: str, places: Iterable[Any], how: Callable[[Any], T]) -> dict[Any, T]:
        found = {}
        for place in sorted(places):
            name = place if isinstance(place, str) else "/".join(place)
            answer = read(f"{what} {name}", lambda place=place: (how(place),), None)  # type: ignore[misc]
            if answer is not None:
                found[place] = answer[0]
        return found

    releases = known("release", wish.releases, lambda place: release_at(reader, place))
    crds = known("CRDs of", wish.groups, lambda group: _crds(reader, group))
    owners = {one.release for found in crds.values() for one in found if one.release} - releases.keys()
    releases |= known("release", owners, lambda place: release_at(reader, place))
    nothing: tuple[Installed | None, AicrError | None] = (None, None)
    record, problem = read("the record of the last deployment", lambda: _record(reader, wish.record), nothing)
    database: tuple[str, ...] | None = ()
    if record is not None and record.state == BEGUN:
        recorded = {(one.namespace, one.name) for one in (*record.releases, *record.kept) if one.name in COMPONENTS}
        releases |= known("release", recorded - releases.keys(), lambda place: release_at(reader, place))
        spaces = {space for space, name in wish.releases | recorded if name == DATABASE}
        database = read("what there is of a database", lambda: _database(reader, spaces), None)
    return Observed(
        version,
        releases,
        crds,
        known("API", wish.apis, lambda group: reader.find(f"/apis/{group}") is not None),
        known("Secret", wish.secrets, lambda place: _secret(reader, place)),
        known("PersistentVolumeClaim", wish.claims, lambda place: _claim(reader, place)),
        read("StorageClasses", lambda: _classes(reader), None),
        read("operators of MariaDB", lambda: _operators(reader), ()) if wish.mariadb else (),
        read("servers of MariaDB", lambda: _servers(reader), ()) if wish.mariadb else (),
        read("the Lease", lambda: lease.look(connection, wish.lease), None),
        record,
        problem,
        database,
        _terminating(known("namespace", {space for space, _name in wish.releases}, lambda name: _leaves(reader, name))),
        tuple(gaps),
    )


def release_at(reader: Reader, place: Place) -> ReleaseState | None:
    """A release, unless it was uninstalled and Helm keeps its history."""
    found = find(reader, *place)
    return None if found and found.is_uninstalled else found


def _crds(reader: Reader, group: str) -> tuple[Owned, ...]:
    served = discover(reader, group)
    found = []
    for resource in sorted(served.resources) if served else ():
        crd = reader.find(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{resource}.{group}")
        if crd is not None:
            versions = tuple(str(one["name"]) for one in crd["spec"].get("versions") or () if one.get("served"))
            found.append(_owned(crd, versions))
    return tuple(found)


def _owned(item: Object, versions: tuple[str, ...] = ()) -> Owned:
    metadata = item.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    name, namespace = annotations.get(_RELEASE), annotations.get(_RELEASE_NAMESPACE)
    release = (str(namespace), str(name)) if name and namespace else None
    return Owned(str(metadata.get("name")), str(metadata.get("namespace", "")), release, versions)


def _secret(reader: Reader, place: Place) -> dict[str, bytes] | None:
    found = reader.find(f"/api/v1/namespaces/{place[0]}/secrets/{place[1]}")
    if found is None:
        return None
    return {str(key): base64.b64decode(value) for key, value in (found.get("data") or {}).items()}


def _claim(reader: Reader, place: Place) -> bool:
    return reader.find(f"/api/v1/namespaces/{place[0]}/persistentvolumeclaims/{place[1]}") is not None


def _classes(reader: Reader) -> dict[str, bool] | None:
    def start() -> dict[str, bool]:
        return {}

    def take(total: dict[str, bool], item: Object) -> None:
        metadata = item.get("metadata") or {}
        total[str(metadata.get("name"))] = (metadata.get("annotations") or {}).get(_DEFAULT_CLASS) == "true"

    return reader.fold("/apis/storage.k8s.io/v1/storageclasses", start, take)


def _operators(reader: Reader) -> tuple[Owned, ...]:
    query = {"labelSelector": "app.kubernetes.io/name=mariadb-operator"}
    return _all(reader, "/apis/apps/v1/deployments", query)


def _servers(reader: Reader) -> tuple[Owned, ...]:
    group = discover(reader, MARIADB)
    if group is None or "mariadbs" not in group.resources:
        return ()
    return _all(reader, group.path("mariadbs"), {})


def _database(reader: Reader, spaces: Iterable[str]) -> tuple[str, ...]:
    """What the release of a provided database makes, and what stays of it when the release goes."""
    found = [f"the MariaDB {one.namespace}/{one.name}" for one in _servers(reader) if one.namespace in spaces]
    for space in sorted(spaces):
        claims = _all(reader, f"/api/v1/namespaces/{space}/persistentvolumeclaims", {})
        found += [f"the PersistentVolumeClaim {space}/{one.name}" for one in claims if is_of_database(one.name)]
    return tuple(found)


def _all(reader: Reader, path: str, query: Mapping[str, str]) -> tuple[Owned, ...]:
    found: list[Owned] = reader.fold(path, list, _collect, query)
    return tuple(found)


def _collect(total: list[Owned], item: Object) -> None:
    total.append(_owned(item))


def _record(reader: Reader, place: Place) -> tuple[Installed | None, AicrError | None]:
    found = reader.find(f"/api/v1/namespaces/{place[0]}/configmaps/{place[1]}")
    if found is None:
        return None, None
    try:
        return read_record(found), None
    except AicrError as error:
        if error.code is not Code.CONFLICT:
            raise
        return None, error


def _leaves(reader: Reader, name: str) -> bool:
    found = reader.find(f"/api/v1/namespaces/{name}")
    return bool(found and (found.get("metadata") or {}).get("deletionTimestamp"))


def _terminating(leaving: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(sorted(name for name, leaves in leaving.items() if leaves))
