# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask slurmdbd, as a user would, for the cluster: the last proof of accounting (spec/slurm-accounting.md 4.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..cluster.script import Placement, Script
from ..errors import AicrError, Code
from .finding import Finding, Outcome, Severity
from .reference import Reference

COMPONENT = "accounting-check"
IMAGE = "ghcr.io/slinkyproject/login-pyxis@sha256:9e782d1a645aff1dedc498d7a3256733cde55a152659f44716e8a5f0dca02028"
"""Of the login set that the catalog installs, so that a mirror needs no other image."""
CLUSTER = re.compile(r"[A-Za-z0-9_.-]{1,40}")

_SCRIPT = Path(__file__).with_name("accounting_check.sh")
QUESTION_SECONDS = 20
"""How long slurmdbd may take for one answer."""
_SLURM_USER = 401
"""Of Slinky's images; sackd wants to be SlurmUser."""
_DENIED_ROUTINE = "1370"


@dataclass(frozen=True)
class Accounting:
    """The accounting of a Slurm cluster.

    :ivar name: of the objects of the chart, which the operator's own names begin with (spec/operators.md 2.1).
    :ivar cluster: what Slurm calls itself.
    :ivar key: what sackd signs with.
    :ivar config: ``slurm.conf``, which says where slurmdbd is.
    """

    namespace: str
    name: str
    cluster: str
    key: Reference
    config: Reference

    @property
    def place(self) -> str:
        """What to call it in messages."""
        return f"slurmdbd {self.namespace}/{self.name}-accounting"

    @property
    def controller(self) -> str:
        """The pod of slurmctld."""
        return f"{self.name}-controller-0"


def script(accounting: Accounting, placement: Placement, run: str, seconds: float, under_lease: bool) -> Script:
    """The question as something to run; see :func:`database_probe.script`."""
    sources = [accounting.config.volume("slurm.conf"), accounting.key.volume("slurm.key")]
    return Script(
        component=COMPONENT,
        run=run,
        namespace=accounting.namespace,
        text=_SCRIPT.read_text(encoding="utf-8"),
        placement=placement,
        environment=[
            {"name": "CLUSTER", "value": accounting.cluster},
            {"name": "SECONDS_EACH", "value": str(QUESTION_SECONDS)},
        ],
        mounts={
            "/aicr-slurm": {"projected": {"sources": sources, "defaultMode": 0o400}},
            "/run/slurm": {"emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        },
        user=_SLURM_USER,
        seconds=seconds,
        under_lease=under_lease,
    )


def diagnose(answer: str, accounting: Accounting, daemon: Callable[[], str]) -> list[Finding]:
    """What is to be said of an answer.

    :param answer: what ``accounting_check.sh`` said.
    :param daemon: says what keeps slurmdbd from listening, where it does not.
    :raises AicrError: SERVICE_UNAVAILABLE for anything that is no such answer.
    """
    return list(_findings(_read(answer), accounting, daemon))


def control_host(answer: str) -> str:
    """The address of the controller that has registered; empty before that."""
    return _host(_read(answer))


def _host(said: Mapping[str, str]) -> str:
    return said.get("clusters", "").split("|")[-1].strip()


def _read(answer: str) -> Mapping[str, str]:
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not said.keys() & {"sackd", "clusters"}:
        raise AicrError(
            Code.SERVICE_UNAVAILABLE,
            "the answer of the check of accounting is of no use",
            "does its image have bash, timeout, sackd and sacctmgr?",
        )
    return {str(key): str(value) for key, value in said.items()}


def _findings(said: Mapping[str, str], accounting: Accounting, daemon: Callable[[], str]) -> Iterator[Finding]:
    place, cluster = accounting.place, accounting.cluster
    if "sackd" in said:
        yield _failure(
            Outcome.UNUSABLE_CONFIGURATION,
            f"{accounting.config} or {accounting.key}: sackd does not start with them: {_errors(said['sackd'])}",
            "they must be those of the running cluster, and the image one of Slinky's login images",
        )
    elif said.get("complaint"):
        yield _refusal(_errors(said["complaint"]), accounting, daemon)
    elif not said["clusters"]:
        others = ", ".join(said.get("others", "").split()) or "none"
        yield _failure(
            Outcome.NOT_REGISTERED,
            f"{place}: knows no cluster {cluster} (it knows: {others})",
            f"{_start_anew(accounting)}, then run this again; the name changes with namespace and release",
        )
    elif said.get("associations"):
        yield _association_refusal(_errors(said["associations"]), accounting)
    elif not _host(said):
        yield Finding(
            Outcome.NOT_REGISTERED,
            Severity.WARNING,
            f"{place}: knows cluster {cluster}, but slurmctld has not registered since it last ended, so that it does "
            "not hear of what sacctmgr changes",
            _start_anew(accounting),
        )


def _start_anew(accounting: Accounting) -> str:
    """What has a slurmctld register that went on from its state files while slurmdbd did not answer."""
    return (
        "slurmctld registers when it starts, and if slurmdbd did not answer then, never again: start it anew by "
        f"kubectl -n {accounting.namespace} delete pod {accounting.controller}, or let this do it by restart_slurmctld "
        "(aicr_restart_slurmctld=true for a playbook); jobs go on"
    )


def _refusal(text: str, accounting: Accounting, daemon: Callable[[], str]) -> Finding:
    place = accounting.place
    if "Unable to connect to database" in text:
        return _failure(
            Outcome.DAEMON_WITHOUT_DATABASE,
            f"{place}: it answers, but cannot reach its database",
            "aicr.runtime.database_probe says why; slurmdbd goes on by itself when the database is back",
        )
    if "not known" in text or "resolve" in text:
        return _failure(
            Outcome.UNKNOWN_HOST,
            f"{place}: the name that slurm.conf has for it is not known in namespace {accounting.namespace}",
            f"the operator makes Service {accounting.name}-accounting for the Accounting {accounting.name}",
        )
    if "authentication" in text.lower() or "SLURM_PERSIST_INIT" in text:
        return _failure(
            Outcome.KEY_REFUSED,
            f"{place}: it does not accept what is signed with {accounting.key}: {text}",
            "slurmdbd and the rest of the cluster must have the same slurm.key; after a change of it restart slurmdbd",
        )
    if "supported accounting_storage" in text:
        return _failure(
            Outcome.UNUSABLE_CONFIGURATION,
            f"{accounting.config}: slurm.conf has no slurmdbd: {text}",
            "the Controller has no accountingRef: was accounting switched on after it was made?",
        )
    if "fatal" in text or "Unable to process configuration" in text:
        return _failure(Outcome.UNUSABLE_CONFIGURATION, f"{accounting.config}: {text}", "")
    if "persistent connection" in text or "no answer within" in text:
        why = daemon()
        outcome = Outcome.DAEMON_WITHOUT_DATABASE if "its database refuses it" in why else Outcome.UNREACHABLE
        return _failure(
            outcome,
            f"{place}: does not listen: {why}",
            "it listens only when its database has let it in: aicr.runtime.database_probe says whether that would",
        )
    return _failure(Outcome.FAILED, f"{place}: {text}", "")


def _association_refusal(text: str, accounting: Accounting) -> Finding:
    if _DENIED_ROUTINE in text:
        return _failure(
            Outcome.MISSING_RIGHTS,
            f"{accounting.place}: its user in the database lacks the right EXECUTE, or CREATE ROUTINE when it started: "
            f"{text}",
            "GRANT ALL PRIVILEGES on the database, then restart slurmdbd",
        )
    return _failure(Outcome.FAILED, f"{accounting.place}: it knows the cluster, but no associations: {text}", "")


def _errors(text: str) -> str:
    """What was complained of, each thing once and without who did."""
    lines = [re.sub(r"^(?:\[[^]]*\]\s*)?(?:\w+:\s*)?(?:error|fatal):\s*", "", line) for line in text.splitlines()]
    fatal = "fatal: " if "fatal:" in text else ""
    told = [line.strip() for line in lines if line.strip() and "_xgetaddrinfo: getaddrinfo" not in line]
    unknown = "the host is not known; " if "getaddrinfo() failed" in text else ""
    return fatal + unknown + "; ".join(dict.fromkeys(told))


def _failure(outcome: Outcome, message: str, hint: str) -> Finding:
    return Finding(outcome, Severity.FAILURE, message, hint)
