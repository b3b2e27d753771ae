# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What components need of a cluster: CRDs that are theirs, storage, certificates, Secrets, no second MariaDB operator.

Pure: a plan, the values of its charts and what was observed in; findings out (spec/slurm-accounting.md sections 7, 8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..artifacts.recipe import AccountingMode
from ..errors import Code
from ..ownership.accounting import CRDS, DATABASE, OPERATOR, SLURM
from ..ownership.connection import STORAGE
from .accounting_steps import Values, at, full_name
from .claims import claim_of_database, claim_of_slurmctld
from .observation import MARIADB, Observed, Owned, Place
from .obstacle import Obstacle, warning
from .password import password_flaws
from .plan import Plan, Release

CERT_MANAGER = "cert-manager"
CERT_MANAGER_API = "cert-manager.io"
SLINKY = "slinky.slurm.net"
SLINKY_CRDS, SLINKY_OPERATOR = "slinky-slurm-operator-crds", "slinky-slurm-operator"

GROUPS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    CRDS: (MARIADB, "v1alpha1", (OPERATOR, DATABASE)),
    SLINKY_CRDS: (SLINKY, "v1beta1", (SLINKY_OPERATOR, SLURM)),
}
"""By the component that installs the CRDs of a group: the group, the version that our charts write, who needs it."""

_CERTIFICATES = ((SLINKY_OPERATOR, "certManager.enabled", True), (OPERATOR, "webhook.cert.certManager.enabled", False))
"""Who wants certificates of cert-manager, by which value, and what the chart has there (2.8, 3.1)."""

_ROOT, _PASSWORD = "mariadb.rootPasswordSecretKeyRef", "mariadb.passwordSecretKeyRef"


@dataclass(frozen=True)
class Storage:
    """A volume that a component asks for.

    :ivar path: where the values name its StorageClass.
    :ivar claim: the PersistentVolumeClaim, where its name is known; one that is there keeps its class.
    """

    component: str
    path: str
    claim: Place | None = None


def release_of(plan: Plan, component: str) -> Release | None:
    """The release of a component that is called like it."""
    releases = plan.components[component].releases if component in plan.components else ()
    return next((release for release in releases if release.name == component), None)


def database_claim(plan: Plan, values: Mapping[str, Values]) -> Place | None:
    """The volume of the provided database (3.2)."""
    release = release_of(plan, DATABASE)
    return (release.namespace, claim_of_database(at(values[DATABASE], "fullnameOverride"))) if release else None


def database_secrets(plan: Plan, values: Mapping[str, Values]) -> dict[Place, str]:
    """The Secrets of the provided database, and the key that each must have."""
    release = release_of(plan, DATABASE)
    if release is None:
        return {}
    references = [at(values[DATABASE], path) for path in (_ROOT, _PASSWORD)]
    return {(release.namespace, str(at(one, "name"))): str(at(one, "key")) for one in references}


def customer_secret(plan: Plan, values: Mapping[str, Values]) -> tuple[Place, str] | None:
    """The Secret with the password of the customer's database, and its key."""
    release = release_of(plan, SLURM)
    if plan.mode is not AccountingMode.CUSTOMER_MANAGED or release is None:
        return None
    reference = at(values[SLURM], f"{STORAGE}.passwordKeyRef")
    return (release.namespace, str(at(reference, "name"))), str(at(reference, "key"))


def controller_storage(plan: Plan, values: Mapping[str, Values]) -> Storage | None:
    """The volume of slurmctld (2.6)."""
    release = release_of(plan, SLURM)
    if release is None or at(values[SLURM], "controller.persistence.enabled") is False:
        return None
    name = full_name(values[SLURM], release.name)
    return Storage(
        SLURM,
        "controller.persistence.storageClassName",
        (release.namespace, claim_of_slurmctld(name)),
    )


def crd_obstacles(plan: Plan, observed: Observed) -> Iterator[Obstacle]:
    """CRDs that belong to somebody else or are too old for what is to be installed (cases S3, M428)."""
    for component, (group, version, needing) in GROUPS.items():
        users = [name for name in needing if name in plan.components]
        if component not in plan.components and not users:
            continue
        found = observed.crds.get(group, ())
        release = release_of(plan, component)
        if release is not None:
            yield from _foreign(found, release, observed)
            continue
        if not found:
            yield Obstacle(
                "crds",
                f"{', '.join(users)} need the CRDs of {group}, which are neither in the cluster nor in the bundle",
                f"keep {component} in the bundle",
                code=Code.NOT_FOUND,
            )
        old = [one.name for one in found if version not in one.versions]
        if old:
            yield Obstacle(
                "crds",
                f"{', '.join(old)} do not serve {version}, which {', '.join(users)} write",
                f"upgrade them, or keep {component} in the bundle",
            )


def _foreign(found: tuple[Owned, ...], release: Release, observed: Observed) -> Iterator[Obstacle]:
    ours = (release.namespace, release.name)
    others: dict[Place | None, list[Owned]] = {}
    for one in found:
        if one.release != ours:
            others.setdefault(one.release, []).append(one)
    for owner, crds in sorted(others.items(), key=str):
        names = ", ".join(one.name for one in crds[:3]) + (f" and {len(crds) - 3} more" if len(crds) > 3 else "")
        if owner is None:
            yield Obstacle(
                "crds",
                f"{names} belong to no Helm release, so {release.name} {release.version} cannot install its own",
                "make them its own, whoever installed them must let go: kubectl label crd NAME "
                "app.kubernetes.io/managed-by=Helm; kubectl annotate crd NAME "
                f"meta.helm.sh/release-name={release.name} meta.helm.sh/release-namespace={release.namespace}",
            )
            continue
        state = observed.releases.get(owner)
        which = f" ({state.chart} {state.version})" if state else ""
        yield Obstacle(
            "crds",
            f"{names} belong to the release {owner[0]}/{owner[1]}{which}, so {release.name} {release.version} cannot "
            "install its own: two releases would fight over them",
            f"if that release is yours, bundle without {release.component} once its version is {release.version}, or "
            "hand them over by their annotations meta.helm.sh/release-name and -namespace; to uninstall it removes "
            "every object of these kinds",
        )


def version_obstacles(plan: Plan) -> Iterator[Obstacle]:
    """CRDs, operator and Slurm come in one version, as do CRDs and operator of MariaDB (section 0, items 1 and 2)."""
    for names in ((SLINKY_CRDS, SLINKY_OPERATOR, SLURM), (CRDS, OPERATOR)):
        found = {one.name: one.version for name in names if (one := release_of(plan, name))}
        if len({(version or "").removeprefix("v") for version in found.values()}) > 1:
            told = ", ".join(f"{name} {version}" for name, version in found.items())
            yield Obstacle("versions", f"{told}: these go together in one version only", "use one version for all")


def certificate_obstacles(plan: Plan, values: Mapping[str, Values], observed: Observed) -> Iterator[Obstacle]:
    """Certificates of cert-manager, where there is none and none is on its way (2.8)."""
    if CERT_MANAGER in plan.components or observed.apis.get(CERT_MANAGER_API, True):
        return
    for component, path, default in _CERTIFICATES:
        wanted = at(values.get(component, {}), path)
        if component in plan.components and (default if wanted is None else wanted) is True:
            yield Obstacle(
                CERT_MANAGER,
                f"{component} wants certificates of cert-manager, which is neither in the cluster nor in the bundle",
                f"install cert-manager, keep it in the bundle, or bundle with set {component}:{path}=false",
                code=Code.NOT_FOUND,
            )


def storage_obstacles(
    plan: Plan, values: Mapping[str, Values], storages: Iterator[Storage], observed: Observed
) -> Iterator[Obstacle]:
    """StorageClasses that are named and not there, or not named where there is no default."""
    if observed.classes is None:
        return
    unnamed = []
    for storage in storages:
        if storage.component not in plan.components or (storage.claim and observed.claims.get(storage.claim)):
            continue
        parent, _unused, _key = storage.path.rpartition(".")
        if not isinstance(at(values[storage.component], parent), Mapping):
            continue  # it asks for no volume
        name = at(values[storage.component], storage.path)
        if not name:
            unnamed.append(storage.component)
        elif name not in observed.classes:
            there = ", ".join(sorted(observed.classes)) or "none"
            yield Obstacle(
                "storage",
                f'{storage.component}:{storage.path} names the StorageClass "{name}", which is not there',
                f"make it, or bundle with one of those that are there: {there}",
                code=Code.NOT_FOUND,
            )
    if unnamed and not any(observed.classes.values()):
        there = ", ".join(sorted(observed.classes)) or "none"
        yield Obstacle(
            "storage",
            f"{', '.join(dict.fromkeys(unnamed))}: the default StorageClass is meant, and the cluster has none",
            f"mark one as the default, or bundle with scheduling.storage_class; there are: {there}",
            code=Code.NOT_FOUND,
        )


def database_obstacles(plan: Plan, values: Mapping[str, Values], observed: Observed) -> Iterator[Obstacle]:
    """What keeps the provided database from coming up, or makes it another one's business (3.4, M9, aicr-provided)."""
    claim = database_claim(plan, values)
    release = release_of(plan, DATABASE)
    if claim is None or release is None:
        return
    secrets = database_secrets(plan, values)
    for place, key in secrets.items():
        held = observed.secrets.get(place)
        if held is not None and not held.get(key):
            yield Obstacle(
                "secret",
                f"Secret {'/'.join(place)} has no key {key}; the operator would not complete it, and its account would "
                "stay without a password",
                "add the key, or remove the Secret so that it is made anew: "
                f"kubectl -n {place[0]} delete secret {place[1]}",
            )
    if observed.releases.get((release.namespace, release.name)) is None:
        yield from _pairing(claim, secrets, observed)
    yield from _second_operator(plan, release, observed)


def _pairing(claim: Place, secrets: Mapping[Place, str], observed: Observed) -> Iterator[Obstacle]:
    """A volume and the passwords that open it belong together; the one without the other cannot be logged in to."""
    missing = ["/".join(place) for place in secrets if place in observed.secrets and observed.secrets[place] is None]
    there = ["/".join(place) for place in secrets if observed.secrets.get(place) is not None]
    volume = "/".join(claim)
    if observed.claims.get(claim) and missing:
        yield Obstacle(
            "orphan-volume",
            f"PersistentVolumeClaim {volume} holds a database from before, but not the Secrets with its passwords: "
            f"{', '.join(missing)}. New passwords would not open it",
            "to keep the data, put the Secrets back; to start anew, remove the volume: "
            f"kubectl -n {claim[0]} delete pvc {claim[1]}",
        )
    elif there and observed.claims.get(claim) is False:
        yield warning(
            "orphan-secret",
            f"Secrets {', '.join(there)} are there, but not the volume {volume}: a new database would be made, with "
            "these passwords",
            "if there was one before, put its volume back first; if not, there is nothing to do",
        )


def _second_operator(plan: Plan, release: Release, observed: Observed) -> Iterator[Obstacle]:
    operator = release_of(plan, OPERATOR)
    ours = {(one.namespace, one.name) for one in (operator, release) if one}
    foreign = [one for one in observed.operators if one.release not in ours]
    if foreign and operator:
        places = ", ".join(f"{one.namespace}/{one.name}" for one in foreign)
        yield Obstacle(
            "mariadb",
            f"another MariaDB operator is at work: Deployment {places}. Two would fight over the same databases",
            "remove it, or use your own database: generate the recipe with accounting mode customer-managed",
        )
    servers = [f"{one.namespace}/{one.name}" for one in observed.servers if one.release not in ours]
    installed = operator and observed.releases.get((operator.namespace, operator.name)) is not None
    if servers and operator and not installed:
        yield Obstacle(
            "mariadb",
            f"there are servers of another MariaDB operator, which ours would take over: {', '.join(sorted(servers))}",
            "use your own database: generate the recipe with accounting mode customer-managed",
        )


def customer_obstacles(plan: Plan, values: Mapping[str, Values], observed: Observed) -> Iterator[Obstacle]:
    """The customer's Secret: there, with its key, and a password that reaches the database as it is (4.4)."""
    found = customer_secret(plan, values)
    if found is None or found[0] not in observed.secrets:
        return
    place, key = found
    name = "/".join(place)
    held = observed.secrets[place]
    if held is None:
        yield Obstacle(
            "secret",
            f"Secret {name} with the password of the database is not there",
            f"make it before Slurm, which does not watch it: kubectl -n {place[0]} create secret generic {place[1]} "
            f"--from-file={key}=FILE",
            code=Code.NOT_FOUND,
        )
    elif key not in held:
        yield Obstacle(
            "secret",
            f"Secret {name} has no key {key}; it has {', '.join(sorted(held)) or 'none at all'}",
            f"add the key, or name the right one in {SLURM}:{STORAGE}.passwordKeyRef.key",
            code=Code.NOT_FOUND,
        )
    else:
        for flaw in password_flaws(held[key]):
            what = f"the password in Secret {name}, key {key}, {flaw.what}: {flaw.why}"
            way_out = "change it in the database and in the Secret"
            yield Obstacle("password", what, way_out) if flaw.fatal else warning("password", what, way_out)
