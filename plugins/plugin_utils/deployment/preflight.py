# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold before the first write of a deployment: everything that is wrong, at once.

Pure: what is wanted to be known comes from a plan, what was observed goes in, findings come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..cluster import lease
from ..cluster.release_state import Installed as ReleaseState
from ..constraints import Expression, Version
from ..errors import AicrError, Code
from ..ownership.accounting import COMPONENTS, DATABASE, SLURM
from . import prerequisites
from .accounting_steps import Values
from .mode_change import Traces, mode_obstacles
from .observation import Observed, Wish
from .obstacle import Obstacle, warning
from .plan import Plan, Release
from .prerequisites import Storage
from .release_in_between import release_in_between

SERVER_VERSION = "K8s.server.version"
"""The constraint of a recipe that a preflight holds against the API server; the others are the business of validate."""


@dataclass(frozen=True)
class Question:
    """What is to be deployed, and what somebody has allowed.

    :ivar values: by component what its charts get.
    :ivar storages: the volumes that components may ask for.
    :ivar namespaces: of the components of Slurm accounting, also of those that this bundle does not have.
    :ivar constraints: of the recipe.
    :ivar run: the name of the run that asks.
    """

    plan: Plan
    values: Mapping[str, Values]
    storages: Sequence[Storage]
    namespaces: Mapping[str, str]
    constraints: Mapping[str, str]
    run: str | None
    allow_mode_change: bool
    allow_downgrade: bool
    recover_releases: bool = False

    @property
    def all_storages(self) -> Iterator[Storage]:
        """The volumes, with what is known of their claims."""
        claim = prerequisites.database_claim(self.plan, self.values)
        for storage in self.storages:
            yield Storage(storage.component, storage.path, claim) if storage.component == DATABASE else storage
        controller = prerequisites.controller_storage(self.plan, self.values)
        if controller:
            yield controller

    def wish(self, leased: lease.Place) -> Wish:
        """What must be known of the cluster to answer."""
        plan = self.plan
        customer = prerequisites.customer_secret(plan, self.values)
        secrets = {*prerequisites.database_secrets(plan, self.values), *([customer[0]] if customer else [])}
        claims = {storage.claim for storage in self.all_storages if storage.claim}
        releases = {(release.namespace, release.name) for release in plan.releases}
        releases |= {(self.namespaces[name], name) for name in COMPONENTS if name in self.namespaces}
        groups = {group for group, _version, _needing in prerequisites.GROUPS.values()}
        return Wish(
            frozenset(releases),
            frozenset(groups) if any(name in plan.components for name in _slurm()) else frozenset(),
            frozenset((prerequisites.CERT_MANAGER_API,)),
            frozenset(secrets),
            frozenset(claims),
            DATABASE in plan.components,
            leased,
            (leased.namespace, leased.name),
        )


def _slurm() -> Iterator[str]:
    for component, (_group, _version, needing) in prerequisites.GROUPS.items():
        yield component
        yield from needing


def judge(question: Question, observed: Observed) -> list[Obstacle]:
    """Everything that was found, errors first."""
    plan, values = question.plan, question.values
    found = [
        *_server(question.constraints.get(SERVER_VERSION), observed),
        *_gaps(observed),
        *lease_obstacles(question.run, observed.holder),
        *_releases(question, observed),
        *prerequisites.crd_obstacles(plan, observed),
        *prerequisites.version_obstacles(plan),
        *prerequisites.certificate_obstacles(plan, values, observed),
        *prerequisites.storage_obstacles(plan, values, question.all_storages, observed),
        *prerequisites.database_obstacles(plan, values, observed),
        *prerequisites.customer_obstacles(plan, values, observed),
        *_mode(question, observed),
    ]
    return sorted(found, key=lambda one: (one.severity, one.check, one.what))


def _server(expected: str | None, observed: Observed) -> Iterator[Obstacle]:
    """The version of the API server against the recipe; a vendor's suffix does not count (case H9)."""
    if not expected:
        return
    try:
        Version.parse(observed.server_version)
        if Expression.parse(expected).holds(observed.server_version):
            return
    except AicrError as error:
        yield Obstacle.of("server-version", error)
        return
    yield Obstacle(
        "server-version",
        f"the API server is {observed.server_version}, the recipe is for {expected}",
        "upgrade the cluster, or make a recipe for it",
    )


def _gaps(observed: Observed) -> Iterator[Obstacle]:
    for gap in observed.gaps:
        yield warning("unknown", f"could not be read: {gap}", "what it says is not known; grant the right to read it")
    for name in observed.terminating:
        yield Obstacle(
            "namespace",
            f"namespace {name} is being deleted",
            "wait until it is gone, then run again; what holds it stands in its conditions",
        )


def lease_obstacles(run: str | None, holder: lease.Holder | None) -> Iterator[Obstacle]:
    """Another run that is at work, or that died in the middle.

    :param run: the name of the one that asks.
    """
    if holder is None or not holder.run or holder.run == run:
        return
    since = f"{holder.since:%Y-%m-%dT%H:%M:%SZ}" if holder.since else "an unknown time"
    expires = f"{holder.expires:%Y-%m-%dT%H:%M:%SZ}" if holder.expires else "an unknown time"
    if holder.alive:
        yield Obstacle(
            "lease",
            f'another run, "{holder.run}", works on this cluster since {since}; its Lease expires at {expires} unless '
            "it is renewed",
            holder.way_out,
        )
    else:
        yield warning(
            "lease",
            f'a run, "{holder.run}", has left its Lease behind, which expired at {expires}: it died in the middle',
            "this run takes over; it finds by itself what is left to do",
        )


def _releases(question: Question, observed: Observed) -> Iterator[Obstacle]:
    for release in question.plan.releases:
        state = observed.releases.get((release.namespace, release.name))
        if state is not None:
            yield from _state(release, state, question)


def _state(release: Release, state: ReleaseState, question: Question) -> Iterator[Obstacle]:
    name = f"release {release.namespace}/{release.name}"
    if state.is_pending:
        recover = question.recover_releases
        yield release_in_between(release.namespace, release.name, state, recover=recover, removing=False)
    chart = release.chart if release.repository else release.name
    if state.chart != chart:
        yield Obstacle(
            "release",
            f"{name}: is there already, of the chart {state.chart} {state.version}, not {chart}",
            "it is somebody else's: rename or remove it, or leave this component out of the bundle",
        )
    elif release.version and _is_older(release.version, state.version):
        what = f"{name}: is installed in version {state.version}, the bundle has {release.version}"
        if question.allow_downgrade:
            yield warning("downgrade", what, "it was allowed by allow_downgrade")
        else:
            yield Obstacle(
                "downgrade",
                what,
                "few charts can go back; set aicr_allow_downgrade=true if this one can, or use a newer bundle",
            )


def _is_older(planned: str, installed: str) -> bool:
    try:
        return Version.parse(planned).compare(Version.parse(installed)) < 0
    except AicrError:
        return False  # what is no version has no order


def _mode(question: Question, observed: Observed) -> Iterator[Obstacle]:
    if observed.record_problem:
        yield Obstacle.of("record", observed.record_problem)
        return
    yield from mode_obstacles(
        _traces(question, observed), observed.record, question.plan, allowed=question.allow_mode_change
    )


def _traces(question: Question, observed: Observed) -> Traces:
    record = observed.record
    places = {(namespace, name) for name, namespace in question.namespaces.items() if name in (DATABASE, SLURM)}
    if record is not None:
        recorded = {(one.namespace, one.name) for one in (*record.releases, *record.kept)}
        places |= {place for place in recorded if place[1] in (DATABASE, SLURM)}
    found = {place: observed.releases.get(place) for place in sorted(places)}
    there = {name: state.values for (_space, name), state in found.items() if state}
    return Traces(
        (*([f"the release {DATABASE}"] if DATABASE in there else ()), *(observed.database or ())),
        there.get(SLURM),
        is_all=places <= observed.releases.keys() and observed.database is not None,
    )


def missing_rights(missing: Sequence[str], hint: str) -> Iterator[Obstacle]:
    """The rights that the caller lacks, as one finding."""
    if missing:
        yield Obstacle("rights", f"the caller lacks rights: {'; '.join(missing)}", hint, code=Code.UNAUTHORIZED)
