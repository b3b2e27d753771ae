# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an uninstallation removes, in which order, and what keeps it from beginning (spec/slurm-accounting.md 3.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.release_state import Installed as State
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.installed import Installed, Recorded
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.obstacle import Obstacle
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.uninstall import (
    Asked,
    Removal,
    claims_of,
    database_place,
    holds_crds,
    is_made_of,
    judge_removal,
    plan_removal,
    releases_in_between,
)

CRD = "---\n# Source: x\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: x\n"
KEPT = CRD + '  annotations:\n    "helm.sh/resource-policy": keep\n'
NOTHING, EVERYTHING = Asked(False, False, False), Asked(True, True, True)
STACK = ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb")
SLURM = ("slinky-slurm-operator-crds", "slinky-slurm-operator", "slinky-slurm")


def one(name: str) -> Recorded:
    return Recorded(name, "slurm", name, name, "1.0.0")


def record(releases: tuple[str, ...], kept: tuple[str, ...] = ()) -> Installed:
    return Installed(
        "deployed",
        AccountingMode.AICR_PROVIDED,
        "sha256:a",
        "sha256:b",
        tuple(map(one, releases)),
        tuple(map(one, kept)),
    )


def found(*names: str, **values: Any) -> dict[tuple[str, str], State | None]:
    return {
        ("slurm", name): State(
            1, "deployed", name, "1.0.0", manifest=CRD if name.endswith("-crds") else "", values=values
        )
        for name in names
    }


def order(removal: Removal) -> list[str]:
    return [each.name for each in removal.order]


def test_slurm_goes_before_its_database_and_that_before_its_operator() -> None:
    removal = plan_removal(record((*STACK, *SLURM)), found(*STACK, *SLURM), NOTHING)
    names = ["slinky-slurm", "slinky-slurm-operator", "slurm-accounting-mariadb", "mariadb-operator"]
    assert order(removal) == names
    assert sorted(each.name for each in removal.stays) == ["mariadb-operator-crds", "slinky-slurm-operator-crds"]


def test_crds_go_last_and_only_when_they_are_asked_for() -> None:
    removal = plan_removal(record((*STACK, *SLURM)), found(*STACK, *SLURM), EVERYTHING)
    assert order(removal)[-2:] == ["slinky-slurm-operator-crds", "mariadb-operator-crds"]
    assert not removal.stays


def test_what_a_change_of_mode_has_left_goes_after_slurm_with_its_operator_last() -> None:
    """The record has those sorted by name, which would take the operator away from its database."""
    kept = tuple(sorted(STACK))
    removal = plan_removal(record(SLURM, kept), found(*STACK, *SLURM), NOTHING)
    names = ["slinky-slurm", "slinky-slurm-operator", "slurm-accounting-mariadb", "mariadb-operator"]
    assert order(removal) == names


def test_what_is_gone_already_is_left_out() -> None:
    removal = plan_removal(record((*STACK, *SLURM)), found(*STACK), NOTHING)
    assert order(removal) == ["slurm-accounting-mariadb", "mariadb-operator"]


def test_a_chart_whose_crds_helm_keeps_holds_none() -> None:
    assert holds_crds(CRD)
    assert not holds_crds(KEPT)
    assert holds_crds(KEPT + CRD)
    assert not holds_crds("---\nkind: Deployment\n")


@pytest.mark.parametrize(
    "manifest",
    [
        "kind: 'CustomResourceDefinition'\nmetadata: {name: x}\n",
        '{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}}',
        f"apiVersion: v1\nkind: List\nitems:\n- kind: CustomResourceDefinition\n  metadata: {{name: x}}\n{KEPT}",
        "kind: CustomResourceDefinition  # a comment with helm.sh/resource-policy: keep\nmetadata:\n  name: x\n",
    ],
)
def test_a_crd_is_one_however_it_is_written(manifest: str) -> None:
    assert holds_crds(manifest)


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("storage-slurm-accounting-mariadb-0", True),
        ("storage-slurm-accounting-mariadb-x-0", False),
        ("storage-mariadb-0", False),
        ("statesave-slinky-slurm-controller-0", True),
        ("statesave-other-controller-0", False),
        ("data", False),
    ],
)
def test_a_volume_is_known_by_its_claim(name: str, whose: bool) -> None:
    there = found(*STACK, *SLURM)
    claims = [*claims_of(plan_removal(record((*STACK, *SLURM)), there, NOTHING), there)]
    assert [namespace for namespace, _name in claims] == ["slurm", "slurm"]
    assert any(claim.fullmatch(name) for _namespace, claim in claims) is whose


def test_a_volume_stays_with_the_release_that_stays() -> None:
    there = found("slinky-slurm-operator")
    assert not [*claims_of(plan_removal(record(SLURM), there, NOTHING), there)]


def of_mariadb(kind: str, policy: str | None, name: str = "mariadb") -> dict[str, Any]:
    """An object of its operator's; what it has made of a MariaDB belongs to that."""
    owners = [{"kind": "MariaDB", "name": "mariadb", "controller": True}] if kind != "MariaDB" else []
    metadata = {"namespace": "slurm", "name": name, "ownerReferences": owners}
    return {"kind": kind, "metadata": metadata, "spec": {"cleanupPolicy": policy} if policy else {}}


def judged(
    policy: str | None, asked: Asked = NOTHING, others: tuple[Any, ...] = (), made: tuple[Any, ...] = ()
) -> list[str]:
    return [each.check for each in obstacles(policy, asked, others, made)]


def obstacles(policy: str | None, asked: Asked, others: tuple[Any, ...], made: tuple[Any, ...]) -> list[Obstacle]:
    state = found(*STACK, fullnameOverride="mariadb")
    removal = plan_removal(record(STACK), state, asked)
    ours = database_place(removal, state)
    assert ours == ("slurm", "mariadb")
    servers: dict[tuple[str, str], Any] = {("elsewhere", one["metadata"]["name"]): one for one in others}
    servers[ours] = of_mariadb("MariaDB", policy)
    found_out = judge_removal(removal, asked, servers, ours, made, has_volume=True)
    return [each for each in found_out if each.check != "kept"]


def test_an_operator_that_would_drop_the_database_is_told_before() -> None:
    """Its default is Delete (case N42)."""
    assert judged("Skip") == []
    assert judged("Delete") == judged(None) == ["data"]
    assert judged("Delete", EVERYTHING) == []


@pytest.mark.parametrize("kind", ["Database", "User", "Grant"])
def test_what_was_made_of_a_mariadb_has_a_policy_of_its_own(kind: str) -> None:
    """It was copied when the object was made, so one that was mended in the MariaDB alone protects nothing (N42)."""
    assert judged("Skip", made=(of_mariadb(kind, "Skip"),)) == []
    for policy in ("Delete", None):
        assert judged("Skip", made=(of_mariadb("User", "Skip"), of_mariadb(kind, policy))) == ["data"]
        assert judged("Skip", EVERYTHING, made=(of_mariadb(kind, policy),)) == []


def test_what_goes_with_a_mariadb_is_what_was_made_of_it() -> None:
    """A Database that somebody else has made on the same server stays when that goes, and is nobody's concern here."""
    assert is_made_of(of_mariadb("Database", "Skip"), "mariadb")
    assert not is_made_of(of_mariadb("Database", "Skip"), "another")
    assert not is_made_of({"kind": "Database", "metadata": {"name": "x", "namespace": "slurm"}}, "mariadb")


def test_an_operator_that_others_need_stays() -> None:
    assert judged("Skip", others=(of_mariadb("MariaDB", "Skip", "theirs"),)) == ["mariadb"]


def test_a_server_that_its_operator_has_not_finished_with_is_nobody_elses() -> None:
    """Helm has forgotten a release whose removal took too long, and its server is no longer known as ours."""
    theirs, left = of_mariadb("MariaDB", "Skip", "theirs"), of_mariadb("MariaDB", "Skip", "left")
    left["metadata"]["deletionTimestamp"] = "2026-12-01T04:00:00Z"
    (leaving,) = obstacles("Skip", NOTHING, (left,), ())
    assert "MariaDB elsewhere/left: is being deleted" in leaving.what
    assert "remove them first" not in leaving.way_out
    both = obstacles("Skip", NOTHING, (left, theirs), ())
    assert [("left" in one.what, "theirs" in one.what) for one in both] == [(True, False), (False, True)]


def test_secrets_alone_would_leave_a_volume_that_nothing_opens() -> None:
    assert judged("Skip", Asked(data=False, secrets=True, crds=False)) == ["secret"]
    assert judged("Skip", Asked(data=True, secrets=True, crds=False)) == []


def in_between(name: str, status: str, attempt: str | None = None, manifest: str = "") -> dict[Any, State | None]:
    held = State(4, status, "slurm", "1.0.0", changed="2026-11-30T11:00:00Z", attempt=attempt, last_good=3)
    return {("slurm", name): replace(held, manifest=manifest), ("slurm", "gone"): None}


@pytest.mark.parametrize("status", ["pending-install", "pending-upgrade"])
@pytest.mark.parametrize(("attempt", "left_by_a_run"), [("run-a", True), ("task-a", False), (None, False)])
def test_a_release_in_between_goes_only_if_a_dead_run_has_left_it_and_that_is_asked_for(
    status: str, attempt: str | None, left_by_a_run: bool
) -> None:
    """The way out is to remove it: it shall not be rolled back, though there is a good revision."""
    there = in_between("slinky-slurm", status, attempt)
    removal = plan_removal(record(("slinky-slurm", "gone")), there, NOTHING)
    (refused,) = releases_in_between(removal, there, recover=False)
    assert (refused.severity, "set aicr_recover_releases=true" in refused.way_out) == ("error", left_by_a_run)
    assert "`helm uninstall slinky-slurm --namespace slurm`, then run again" in refused.way_out
    (allowed,) = releases_in_between(removal, there, recover=True)
    assert (allowed.severity == "warning") is left_by_a_run


def test_one_in_between_that_stays_is_in_nobodys_way_and_is_told() -> None:
    there = in_between("cert-manager", "pending-install", "run-a", CRD)
    removal = plan_removal(record(("cert-manager",)), there, NOTHING)
    assert not [*releases_in_between(removal, there, recover=False)]
    (why,) = removal.stays.values()
    assert "its revision 4 is pending-install, which the next deployment explains" in why


def test_a_removal_that_was_ended_in_the_middle_is_gone_on_with() -> None:
    there = in_between("slinky-slurm", "uninstalling")
    removal = plan_removal(record(("slinky-slurm",)), there, NOTHING)
    assert order(removal) == ["slinky-slurm"]
    assert not [*releases_in_between(removal, there, recover=False)]
