# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another mode of Slurm accounting than the installed one: told first, allowed explicitly, never at the price of data.

A deployment removes nothing: what the new mode does not have stays as it is, with its volume, Secrets and CRDs
(spec/slurm-accounting.md section 8, *Mode switches*; case N42).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..artifacts.recipe import AccountingMode
from ..ownership.accounting import SLURM
from .accounting_steps import Values, accounting_is_on
from .installed import BEGUN, Installed, Recorded
from .obstacle import Obstacle, warning
from .plan import Plan

CHECK = "accounting-mode"

_OWNERS = (AccountingMode.AICR_PROVIDED, AccountingMode.CUSTOMER_MANAGED)
_HISTORY = {
    (AccountingMode.AICR_PROVIDED, AccountingMode.CUSTOMER_MANAGED): (
        "the history is in the database that AICR provided, and nothing here moves it: deploy accounting mode disabled "
        "with aicr_allow_mode_change=true, so that slurmdbd is down; dump slurm_acct_db there and load it into your "
        "database; then deploy customer-managed with aicr_allow_mode_change=true. The old MariaDB stays until somebody "
        "removes it"
    ),
    (AccountingMode.CUSTOMER_MANAGED, AccountingMode.AICR_PROVIDED): (
        "the history is in your database, and nothing here moves it: deploy accounting mode disabled with "
        "aicr_allow_mode_change=true, so that slurmdbd is down; dump your database; then deploy aicr-provided with "
        "aicr_allow_mode_change=true and load the dump into slurm_acct_db. Your database is not touched"
    ),
}


@dataclass(frozen=True)
class Traces:
    """What there is of the modes in a cluster, whatever its record says.

    :ivar database: what there is of the provided database: its release; after a run that did not end also its servers
        and its volumes.
    :ivar slurm_values: what the user gave to the release of Slurm; ``None`` if it is not installed.
    :ivar is_all: whether all of this could be read.
    """

    database: tuple[str, ...]
    slurm_values: Values | None
    is_all: bool = True

    @property
    def slurm_mode(self) -> AccountingMode | None:
        """What the values of Slurm say, which know of no provided database."""
        if self.slurm_values is None:
            return None
        return AccountingMode.CUSTOMER_MANAGED if accounting_is_on(self.slurm_values) else AccountingMode.DISABLED

    def of(self, mode: AccountingMode) -> str | None:
        """What shows that a mode is installed, at least in part."""
        if mode is AccountingMode.AICR_PROVIDED:
            return f"{self.database[0]} shows" if self.database else None
        return f"the values of the release {SLURM} show" if self.slurm_mode is mode else None


@dataclass(frozen=True)
class Present:
    """The mode that is installed, and how that is known.

    :ivar evidence: the end of a sentence that begins with the mode.
    """

    mode: AccountingMode
    evidence: str


def present_mode(record: Installed | None, traces: Traces) -> Present | None:
    """The installed mode by the record of the last deployment or, where there is none, by the releases themselves.

    A run that did not end has recorded what it was about to install. That counts where something of it is there, or
    nobody can tell; else what is there does.
    """
    if record is None:
        modes = (AccountingMode.AICR_PROVIDED, traces.slurm_mode)
        return _shown(modes, traces, "no deployment is recorded")
    if record.state != BEGUN or not traces.is_all:
        return Present(record.mode, f"as the last deployment recorded ({record.state})") if record.mode else None
    shown = traces.of(record.mode) if record.mode else None
    if record.mode and shown:
        return Present(record.mode, f"as a run that did not end recorded ({record.state}) and {shown}")
    # Slurm without accounting uses no database, so one that is there belongs to an earlier mode.
    is_off = traces.slurm_mode is AccountingMode.DISABLED
    modes = (AccountingMode.DISABLED if is_off else AccountingMode.AICR_PROVIDED, traces.slurm_mode)
    return _shown(modes, traces, "the recorded deployment did not end")


def _shown(modes: tuple[AccountingMode | None, ...], traces: Traces, why: str) -> Present | None:
    for mode in modes:
        shown = traces.of(mode) if mode else None
        if mode and shown:
            return Present(mode, f"as {shown}; {why}")
    return None


def mode_obstacles(traces: Traces, record: Installed | None, plan: Plan, *, allowed: bool) -> Iterator[Obstacle]:
    """What changes with the mode; an error unless that was allowed, or where history would be left behind.

    :param allowed: whether somebody said ``allow_mode_change``.
    """
    begun = record.mode if record is not None and record.state == BEGUN else None
    if plan.mode is None or plan.mode is begun:
        return
    if begun and traces.is_all and not traces.of(begun):
        yield warning(
            CHECK,
            f"a run that did not end had begun Slurm accounting in mode {begun}, of which nothing is installed",
            f"nothing of it has to be changed; this run deploys {plan.mode}",
        )
    present = present_mode(record, traces)
    if present is None or present.mode is plan.mode:
        return
    turn = f"Slurm accounting is installed in mode {present.mode}, {present.evidence}; this bundle has {plan.mode}"
    if present.mode in _OWNERS and plan.mode in _OWNERS:
        yield Obstacle(CHECK, f"{turn}, which is refused in one step", _HISTORY[present.mode, plan.mode])
        return
    changes = f"{turn}. It would change: {'; '.join(_changes(present.mode, record, plan))}"
    if allowed:
        yield warning(CHECK, changes, "it was allowed by allow_mode_change")
    else:
        yield Obstacle(
            CHECK, changes, "set aicr_allow_mode_change=true if that is what you want, or use a bundle of that mode"
        )


def _changes(mode: AccountingMode, record: Installed | None, plan: Plan) -> Iterator[str]:
    before = [one.name for one in record.releases] if record else []
    after = [release.name for release in plan.releases]
    added = [name for name in after if name not in before] if record else []
    if added:
        yield f"new releases: {', '.join(added)}"
    yield f"the release {SLURM} is upgraded, its controller restarts"
    if plan.mode is AccountingMode.DISABLED:
        yield "slurmdbd goes, and nothing more is accounted"
    elif mode is AccountingMode.DISABLED:
        yield "slurmdbd comes, and accounting begins"
    left = [release.name for release in kept(record, plan)]
    if left:
        yield f"kept as they are, and no longer upgraded: {', '.join(left)}"
    yield "data, volumes, Secrets and CRDs are kept"


def kept(record: Installed | None, plan: Plan) -> tuple[Recorded, ...]:
    """What earlier deployments installed and this one leaves alone, sorted."""
    if record is None:
        return ()
    planned = {(release.namespace, release.name) for release in plan.releases}
    found = {
        (one.namespace, one.name): one
        for one in (*record.kept, *record.releases)
        if (one.namespace, one.name) not in planned
    }
    return tuple(found[key] for key in sorted(found))
