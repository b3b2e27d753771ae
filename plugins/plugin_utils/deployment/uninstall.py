# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an uninstallation removes, in which order, and what it leaves (spec/slurm-accounting.md 3.6).

Slurm goes first, then its database, then the operators, for an operator must be there while its objects go. CRDs stay,
since every object of their kinds would go with them, and so do the volumes of slurmctld and the database and the
Secrets that open the latter, unless each is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cluster.presence import heads
from ..cluster.read import Object
from ..cluster.release_state import Installed as ReleaseState
from ..cluster.removal import Leaving
from ..ownership.accounting import DATABASE, DATABASE_STACK, OPERATOR, SLURM
from .accounting_steps import at, full_name
from .claims import all_like, claim_of_database, claim_of_slurmctld
from .installed import Installed, Recorded
from .observation import Place
from .obstacle import Obstacle, warning
from .release_in_between import release_in_between

_DROPPED = {"MariaDB": "the database", "Database": "the database", "User": "the account", "Grant": "its rights"}
_SECRETS = ("mariadb.rootPasswordSecretKeyRef.name", "mariadb.passwordSecretKeyRef.name")


@dataclass(frozen=True)
class Asked:
    """What is to go as well, each by a word of its own."""

    data: bool
    secrets: bool
    crds: bool


@dataclass(frozen=True)
class Removal:
    """What an uninstallation does.

    :ivar order: the releases that go, the first one first.
    :ivar stays: those that stay, and why.
    """

    order: tuple[Recorded, ...]
    stays: Mapping[Recorded, str]


def plan_removal(record: Installed, found: Mapping[Place, ReleaseState | None], asked: Asked) -> Removal:
    """What goes, and in which order: the reverse of the installation, what an earlier mode has left at the end.

    :param found: by namespace and name what there is of each release.
    """
    left = sorted(record.kept, key=lambda one: (_depth(one), one.namespace, one.name))
    stays: dict[Recorded, str] = {}
    order = []
    for one in reversed((*left, *record.releases)):
        state = found.get((one.namespace, one.name))
        if state is None or state.is_uninstalled:
            continue
        if holds_crds(state.manifest) and not asked.crds:
            stays[one] = "it holds CRDs, and every object of their kinds would go with them (aicr_remove_crds)"
            if state.is_pending:
                stays[one] += f"; its revision {state.revision} is {state.status}, which the next deployment explains"
        else:
            order.append(one)
    return Removal(tuple(sorted(order, key=lambda one: holds_crds(_manifest(found, one)))), stays)


def _manifest(found: Mapping[Place, ReleaseState | None], one: Recorded) -> str:
    state = found.get((one.namespace, one.name))
    return state.manifest if state else ""


def _depth(one: Recorded) -> int:
    return DATABASE_STACK.index(one.component) if one.component in DATABASE_STACK else -1


def holds_crds(manifest: str) -> bool:
    """Whether a CRD would go with a release; one that Helm is told to keep does not."""
    return any(one.get("kind") == "CustomResourceDefinition" and not _is_kept(one) for one in heads(manifest))


def _is_kept(one: Mapping[str, Any]) -> bool:
    metadata = one.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and annotations.get("helm.sh/resource-policy") == "keep"


def database_place(removal: Removal, found: Mapping[Place, ReleaseState | None]) -> Place | None:
    """Namespace and name of the MariaDB of ours, as the values of its release say."""
    for one in removal.order:
        state = found.get((one.namespace, one.name))
        if one.component == DATABASE and one.name == DATABASE and state is not None:
            namespace = at(state.values, "namespaceOverride") or one.namespace
            return str(namespace), str(at(state.values, "fullnameOverride") or one.name)
    return None


def database_secrets(found: Mapping[Place, ReleaseState | None], database: Place) -> tuple[Place, ...]:
    """Those that the operator has made for it; they belong to nobody, so nobody else removes them."""
    for (_namespace, name), state in found.items():
        if name == DATABASE and state is not None:
            names = [at(state.values, path) for path in _SECRETS]
            return tuple((database[0], str(name)) for name in names if name)
    return ()


def claims_of(removal: Removal, found: Mapping[Place, ReleaseState | None]) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Namespaces, and the names that PersistentVolumeClaims of what goes have there: of servers of the database (3.2),
    and of the state of slurmctld (2.6). StatefulSets leave them behind."""
    database = database_place(removal, found)
    if database:
        yield database[0], all_like(claim_of_database(database[1]))
    for one in removal.order:
        state = found.get((one.namespace, one.name))
        if (one.component, one.name) == (SLURM, SLURM) and state is not None:
            yield one.namespace, all_like(claim_of_slurmctld(full_name(state.values, one.name)))


def is_made_of(found: Object, database: str) -> bool:
    """Whether a Database, User or Grant is one that the operator has made of a MariaDB, and that goes with it."""
    owners = found["metadata"].get("ownerReferences") or ()
    return any((owner["kind"], owner["name"]) == ("MariaDB", database) for owner in owners)


def releases_in_between(
    removal: Removal, found: Mapping[Place, ReleaseState | None], *, recover: bool
) -> Iterator[Obstacle]:
    """Releases to be removed that a helm may be at work on; whatever stays is in nobody's way.

    :param recover: whether those that a dead run has left may be removed.
    """
    for one in removal.order:
        namespace, name, state = one.namespace, one.name, found.get((one.namespace, one.name))
        if state is not None and Leaving(namespace, name, state).is_in_between:
            yield release_in_between(namespace, name, state, recover=recover, removing=True)


def judge_removal(
    removal: Removal,
    asked: Asked,
    servers: Mapping[Place, Object],
    ours: Place | None,
    made: Sequence[Object],
    *,
    has_volume: bool,
) -> Iterator[Obstacle]:
    """What stands in the way of it.

    :param servers: every MariaDB of the cluster.
    :param made: what the operator has made of ours (:func:`is_made_of`). Each has a policy of its own, copied when it
        was made, and that is the one by which the operator drops (spec/operators.md section 5, item 5).
    :param has_volume: whether there is a volume of our database.
    """
    database = servers.get(ours) if ours else None
    for one in (*([database] if database else ()), *made):
        policy = (one.get("spec") or {}).get("cleanupPolicy", "Delete")
        if policy != "Skip" and not asked.data:
            yield Obstacle(
                "data",
                f"{one['kind']} {one['metadata']['namespace']}/{one['metadata']['name']} has the cleanupPolicy "
                f"{policy}: its operator would drop {_DROPPED[one['kind']]}",
                "set spec.cleanupPolicy to Skip in the MariaDB and in each Database, User and Grant of it, or set "
                "aicr_remove_data=true if the accounting history is to go",
            )
    if any(release.component == OPERATOR for release in removal.order):
        others = [place for place in sorted(servers) if place != ours]
        leaving = [place for place in others if servers[place]["metadata"].get("deletionTimestamp")]
        strange = [place for place in others if place not in leaving]
        if leaving:
            yield Obstacle(
                "mariadb",
                f"MariaDB {_places(leaving)}: is being deleted, which its operator, which would go, has not finished",
                "see to the operator until it is gone: its log says what keeps it, such as missing rights",
            )
        if strange:
            yield Obstacle(
                "mariadb",
                f"MariaDB {_places(strange)}: not of this deployment, but run by its operator, which would go",
                "remove them first, or hand them over to another mariadb-operator",
            )
    if asked.secrets and has_volume and not asked.data:
        yield Obstacle(
            "secret",
            "aicr_remove_secrets without aicr_remove_data: nothing would open the volume that stays",
            "leave the Secrets as well, or remove both",
        )
    for release, why in removal.stays.items():
        yield warning("kept", f"release {release.namespace}/{release.name} stays: {why}", "")


def _places(places: Iterable[Place]) -> str:
    return ", ".join("/".join(place) for place in places)
