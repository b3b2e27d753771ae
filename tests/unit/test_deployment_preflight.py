# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preflight finds: an observed cluster in, findings out. Each row is one thing that is wrong, nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.lease import Holder, Place
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.release_state import Installed as ReleaseState
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import observation
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.installed import Installed, Recorded
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.observation import Observed, Owned
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.obstacle import Obstacle
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.plan import ComponentPlan, Plan, Release
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.preflight import Question, judge
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.prerequisites import Storage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAMESPACES = {
    "mariadb-operator-crds": "mariadb-system",
    "mariadb-operator": "mariadb-system",
    "slurm-accounting-mariadb": "slurm",
    "slinky-slurm-operator-crds": "slinky",
    "slinky-slurm-operator": "slinky",
    "slinky-slurm": "slurm",
}
VERSIONS = {name: "26.6.0" if "mariadb" in name else "1.2.1" for name in NAMESPACES}
REFERENCE = {"passwordKeyRef": {"name": "db", "key": "word"}}
VALUES: Mapping[str, Mapping[str, Any]] = {
    "mariadb-operator-crds": {},
    "mariadb-operator": {},
    "slurm-accounting-mariadb": {
        "fullnameOverride": "mariadb",
        "mariadb": {
            "storage": {"size": "20Gi"},
            "rootPasswordSecretKeyRef": {"name": "mariadb-root-password", "key": "root"},
            "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password"},
        },
    },
    "slinky-slurm-operator-crds": {},
    "slinky-slurm-operator": {"certManager": {"enabled": True}},
    "slinky-slurm": {"accounting": {"enabled": True, "storageConfig": REFERENCE}, "controller": {"persistence": {}}},
}
ROOT, PASSWORD, CLAIM = (
    ("slurm", "mariadb-root-password"),
    ("slurm", "mariadb-password"),
    ("slurm", "storage-mariadb-0"),
)


def release(name: str, version: str | None = None) -> Release:
    return Release(name, NAMESPACES[name], name, f"chart-{name}", "oci://x", version or VERSIONS[name], (), {})


def plan_of(mode: AccountingMode, *without: str, **versions: str) -> Plan:
    names = [name for name in NAMESPACES if mode is AccountingMode.AICR_PROVIDED or "maria" not in name]
    names = [name for name in names if name not in without]
    components = {name: ComponentPlan((release(name, versions.get(name.replace("-", "_"))),)) for name in names}
    return Plan(mode, "sha256:r", "sha256:b", (tuple(names),), components, {})


def question(mode: AccountingMode, plan: Plan | None = None, **changes: Any) -> Question:
    asked = Question(
        plan=plan or plan_of(mode),
        values=VALUES,
        storages=(Storage("slurm-accounting-mariadb", "mariadb.storage.storageClassName"),),
        namespaces=NAMESPACES,
        constraints={"K8s.server.version": ">= 1.32"},
        run="mine",
        allow_mode_change=False,
        allow_downgrade=False,
    )
    return dataclasses.replace(asked, **changes)


def empty(mode: AccountingMode, **changes: Any) -> Observed:
    """A cluster that can take everything."""
    asked = question(mode).wish(Place())
    clean = Observed(
        server_version="v1.34.1-eks-3025e55",
        releases=dict.fromkeys(asked.releases),
        crds=dict.fromkeys(asked.groups, ()),
        apis={"cert-manager.io": True},
        secrets={place: {"word": b"hjkl1234HJKL"} if place == ("slurm", "db") else None for place in asked.secrets},
        claims=dict.fromkeys(asked.claims, False),
        classes={"gp3": True},
        holder=Holder("", None, None, NOW),
    )
    return dataclasses.replace(clean, **changes)


def found(mode: AccountingMode, asked: Question | None = None, **changes: Any) -> list[Obstacle]:
    return judge(asked or question(mode), empty(mode, **changes))


def one(obstacles: list[Obstacle]) -> tuple[str, str, str]:
    """The only finding: severity, check, text with the way out."""
    assert len(obstacles) == 1, [each.what for each in obstacles]
    (each,) = obstacles
    assert each.way_out
    return each.severity, each.check, f"{each.what} | {each.way_out}"


PROVIDED, CUSTOMER, DISABLED = (
    AccountingMode.AICR_PROVIDED,
    AccountingMode.CUSTOMER_MANAGED,
    AccountingMode.DISABLED,
)


@pytest.mark.parametrize("mode", list(AccountingMode))
def test_a_cluster_that_can_take_it_has_nothing_in_its_way(mode: AccountingMode) -> None:
    assert found(mode) == []


def test_what_a_preflight_reads_is_what_the_mode_needs() -> None:
    asked = {mode: question(mode).wish(Place()) for mode in AccountingMode}
    assert set(asked[PROVIDED].secrets) == {ROOT, PASSWORD}
    assert asked[CUSTOMER].secrets == {("slurm", "db")}
    assert not asked[DISABLED].secrets
    assert CLAIM in asked[PROVIDED].claims
    assert CLAIM not in asked[CUSTOMER].claims
    assert [asked[mode].mariadb for mode in (PROVIDED, CUSTOMER, DISABLED)] == [True, False, False]


@pytest.mark.parametrize("version", ["v1.31.9", "v1.31.9-gke.100"])
def test_an_api_server_that_is_too_old_for_the_recipe(version: str) -> None:
    severity, check, text = one(found(DISABLED, server_version=version))
    assert (severity, check) == ("error", "server-version")
    assert version in text
    assert ">= 1.32" in text


# ---- CRDs (S3)

SLINKY = "accountings.slinky.slurm.net"


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        (("slurm-stuff", "theirs"), ["slurm-stuff/theirs", "chart-x 1.0.4", "1.2.1"]),
        (None, ["belong to no Helm release", "meta.helm.sh/release-name=slinky-slurm-operator-crds"]),
    ],
)
def test_crds_of_somebody_else_are_not_taken_over(owner: tuple[str, str] | None, words: list[str]) -> None:
    crds = {"slinky.slurm.net": (Owned(SLINKY, release=owner, versions=("v1beta1",)),), "k8s.mariadb.com": ()}
    state = {owner: ReleaseState(1, "deployed", "chart-x", "1.0.4")} if owner else {}
    releases = {**empty(DISABLED).releases, **state}
    severity, check, text = one(found(DISABLED, crds=crds, releases=releases))
    assert (severity, check) == ("error", "crds")
    assert SLINKY in text
    assert all(word in text for word in words)


def test_crds_of_ours_stand_in_nobodys_way_whatever_they_serve() -> None:
    ours = ("slinky", "slinky-slurm-operator-crds")
    crds = {"slinky.slurm.net": (Owned(SLINKY, release=ours, versions=("v1alpha1",)),), "k8s.mariadb.com": ()}
    assert found(DISABLED, crds=crds) == []


def test_without_crds_in_the_bundle_those_of_the_cluster_must_be_new_enough() -> None:
    asked = question(DISABLED, plan_of(DISABLED, "slinky-slurm-operator-crds"))
    _severity, check, text = one(found(DISABLED, asked))
    assert check == "crds"
    assert "neither in the cluster nor in the bundle" in text
    for version, expected in (("v1beta1", []), ("v1alpha1", ["crds"])):
        crds = {"slinky.slurm.net": (Owned(SLINKY, release=("a", "b"), versions=(version,)),), "k8s.mariadb.com": ()}
        assert [each.check for each in found(DISABLED, asked, crds=crds)] == expected


def test_operator_crds_and_slurm_of_several_versions_are_refused() -> None:
    asked = question(DISABLED, plan_of(DISABLED, slinky_slurm_operator_crds="1.1.0"))
    _severity, check, text = one(found(DISABLED, asked))
    assert check == "versions"
    assert "slinky-slurm-operator-crds 1.1.0" in text


# ---- releases


def state(version: str = "1.2.1", status: str = "deployed", chart: str | None = None, **more: Any) -> dict[str, Any]:
    name = "slinky-slurm-operator"
    held = ReleaseState(4, status, chart or f"chart-{name}", version, changed="2026-11-30T11:00:00Z", **more)
    return {"releases": {**empty(DISABLED).releases, ("slinky", name): held}}


@pytest.mark.parametrize(
    ("last_good", "undo"),
    [(3, "helm rollback slinky-slurm-operator 3"), (None, "helm uninstall slinky-slurm-operator")],
)
@pytest.mark.parametrize("status", ["pending-install", "pending-upgrade", "pending-rollback"])
def test_an_interrupted_release_is_explained(status: str, last_good: int | None, undo: str) -> None:
    severity, check, text = one(found(DISABLED, **state(status=status, last_good=last_good)))
    assert (severity, check) == ("error", "release")
    assert status in text
    assert undo in text


@pytest.mark.parametrize("recover", [False, True])
def test_a_removal_that_was_ended_in_the_middle_is_gone_on_with_by_uninstall(recover: bool) -> None:
    """Helm has marked the revision that was deployed, so nothing tells that there was a good one."""
    left = state(status="uninstalling", attempt="run-a")
    severity, check, text = one(found(DISABLED, question(DISABLED, recover_releases=recover), **left))
    assert (severity, check) == ("error", "release")
    assert "run aicr.runtime.uninstall again, which goes on from there" in text
    assert "never installed" not in text
    assert "aicr_recover_releases" not in text


@pytest.mark.parametrize(("attempt", "severity"), [("run-a", "warning"), ("task-a", "error"), (None, "error")])
def test_what_a_dead_run_has_left_is_a_warning_where_it_may_be_gone_on_with(attempt: str | None, severity: str) -> None:
    left = state(status="pending-install", attempt=attempt)
    told = one(found(DISABLED, question(DISABLED, recover_releases=True), **left))
    assert told[:2] == (severity, "release")
    refused = one(found(DISABLED, **left))
    assert refused[0] == "error"
    assert ("set aicr_recover_releases=true" in refused[2]) == (severity == "warning")


def test_a_release_of_another_chart_is_somebody_elses() -> None:
    _severity, check, text = one(found(DISABLED, **state(chart="nginx")))
    assert check == "release"
    assert "nginx 1.2.1" in text


@pytest.mark.parametrize(
    ("installed", "allowed", "expected"),
    [
        ("1.3.0", False, [("error", "downgrade")]),
        ("1.3.0", True, [("warning", "downgrade")]),
        ("v1.2.1", False, []),
        ("1.1.9", False, []),
        ("nightly", False, []),
    ],
)
def test_a_chart_goes_back_only_where_that_was_allowed(
    installed: str, allowed: bool, expected: list[tuple[str, str]]
) -> None:
    obstacles = found(DISABLED, question(DISABLED, allow_downgrade=allowed), **state(version=installed))
    assert [(each.severity, each.check) for each in obstacles] == expected


# ---- storage


@pytest.mark.parametrize(
    ("classes", "named", "expected"),
    [
        ({"gp3": True}, None, []),
        ({"gp3": False}, None, ["storage"]),
        ({}, None, ["storage"]),
        ({"gp3": False}, "gp3", []),
        ({"gp3": True}, "io2", ["storage"]),
        (None, "io2", []),  # it could not be read, and is told as that
    ],
)
def test_a_storage_class_is_there_by_name_or_by_default(
    classes: dict[str, bool] | None, named: str | None, expected: list[str]
) -> None:
    database = {**VALUES["slurm-accounting-mariadb"]}
    database["mariadb"] = {**database["mariadb"], "storage": {"size": "1Gi", "storageClassName": named}}
    controller = {"controller": {"persistence": {"storageClassName": named}}}
    values = {
        **VALUES,
        "slurm-accounting-mariadb": database,
        "slinky-slurm": {**VALUES["slinky-slurm"], **controller},
    }
    checks = [each.check for each in found(PROVIDED, question(PROVIDED, values=values), classes=classes)]
    assert sorted(set(checks)) == expected


def test_a_volume_that_is_there_needs_no_class() -> None:
    claims = {("slurm", "statesave-slinky-slurm-controller-0"): True}
    assert found(DISABLED, classes={}, claims=claims) == []


# ---- cert-manager


@pytest.mark.parametrize(
    ("served", "wanted", "expected"),
    [(True, True, []), (False, True, ["cert-manager"]), (False, None, ["cert-manager"]), (False, False, [])],
)
def test_cert_manager_is_there_where_it_is_wanted(served: bool, wanted: bool | None, expected: list[str]) -> None:
    operator = {} if wanted is None else {"certManager": {"enabled": wanted}}
    asked = question(DISABLED, values={**VALUES, "slinky-slurm-operator": operator})
    assert [each.check for each in found(DISABLED, asked, apis={"cert-manager.io": served})] == expected


def test_cert_manager_in_the_bundle_is_on_its_way() -> None:
    plan = plan_of(DISABLED)
    components = {**plan.components, "cert-manager": ComponentPlan(())}
    plan = dataclasses.replace(plan, components=components, levels=(("cert-manager",), *plan.levels))
    assert found(DISABLED, question(DISABLED, plan), apis={"cert-manager.io": False}) == []


# ---- the provided database (M9)

BOTH = {ROOT: {"root": b"x"}, PASSWORD: {"password": b"y"}}


@pytest.mark.parametrize(
    ("claim", "secrets", "expected"),
    [
        (True, BOTH, []),
        (True, {ROOT: None, PASSWORD: None}, [("error", "orphan-volume")]),
        (True, {**BOTH, PASSWORD: None}, [("error", "orphan-volume")]),
        (True, {**BOTH, ROOT: None}, [("error", "orphan-volume")]),
        (False, BOTH, [("warning", "orphan-secret")]),
        (False, {**BOTH, ROOT: {"other": b"x"}}, [("error", "secret"), ("warning", "orphan-secret")]),
    ],
)
def test_a_volume_and_its_passwords_belong_together(
    claim: bool, secrets: dict[Any, Any], expected: list[tuple[str, str]]
) -> None:
    claims = {**empty(PROVIDED).claims, CLAIM: claim}
    obstacles = found(PROVIDED, claims=claims, secrets=secrets)
    assert [(each.severity, each.check) for each in obstacles] == expected
    for each in obstacles:
        if each.check == "orphan-volume":
            assert "put the Secrets back" in each.way_out
            assert "kubectl -n slurm delete pvc storage-mariadb-0" in each.way_out


def test_while_the_operator_is_at_work_nothing_is_an_orphan() -> None:
    """A run that was killed between the volume and the Secrets is finished by the next one."""
    there = ReleaseState(1, "deployed", "chart-slurm-accounting-mariadb", "26.6.0")
    changes = {
        "claims": {**empty(PROVIDED).claims, CLAIM: True},
        "releases": {**empty(PROVIDED).releases, ("slurm", "slurm-accounting-mariadb"): there},
    }
    assert found(PROVIDED, **changes) == []


def test_another_operator_or_its_servers_are_left_alone() -> None:
    operator = Owned("mariadb-operator", "databases", ("databases", "mariadb-operator"))
    server = Owned("shop", "web")
    _severity, check, text = one(found(PROVIDED, operators=(operator,)))
    assert check == "mariadb"
    assert "databases/mariadb-operator" in text
    _severity, check, text = one(found(PROVIDED, servers=(server,)))
    assert check == "mariadb"
    assert "web/shop" in text
    ours = (Owned("mariadb-operator", "mariadb-system", ("mariadb-system", "mariadb-operator")),)
    mine = (Owned("mariadb", "slurm", ("slurm", "slurm-accounting-mariadb")),)
    assert found(PROVIDED, operators=ours, servers=mine) == []


# ---- the customer's Secret


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"word": b"hjkl1234HJKL"}, []),
        (None, [("error", "secret")]),
        ({"password": b"hjkl1234HJKL"}, [("error", "secret")]),
        ({"word": b"hjkl#1234HJKL"}, [("error", "password")]),
        ({"word": b"hjkl1234HJKL\n"}, [("error", "password")]),
        ({"word": b""}, [("error", "password")]),
    ],
)
def test_the_customers_password_is_there_and_reaches_the_database(
    held: dict[str, bytes] | None, expected: list[tuple[str, str]]
) -> None:
    obstacles = found(CUSTOMER, secrets={("slurm", "db"): held})
    assert [(each.severity, each.check) for each in obstacles] == expected
    assert not [each for each in obstacles if "1234" in each.what + each.way_out]
    assert all("slurm/db" in each.what for each in obstacles)


def test_a_secret_that_may_not_be_read_is_no_missing_one() -> None:
    obstacles = found(CUSTOMER, secrets={}, gaps=("Secret slurm/db: not allowed",))
    assert [(each.severity, each.check) for each in obstacles] == [("warning", "unknown")]


# ---- other runs


@pytest.mark.parametrize(
    ("run", "left", "expected"),
    [
        ("other", 60, [("error", "lease")]),
        ("other", -1, [("warning", "lease")]),
        ("mine", 60, []),
        ("", 60, []),
    ],
)
def test_another_run_is_named(run: str, left: int, expected: list[tuple[str, str]]) -> None:
    holder = Holder(run, NOW - timedelta(minutes=5), NOW + timedelta(seconds=left), NOW)
    obstacles = found(DISABLED, holder=holder)
    assert [(each.severity, each.check) for each in obstacles] == expected
    assert all('"other"' in each.what for each in obstacles)


def test_a_lease_that_no_run_makes_has_another_way_out() -> None:
    place = Place("elsewhere", "own")
    holder = Holder("thief", NOW, NOW + timedelta(days=365), NOW, place)
    _severity, check, text = one(found(DISABLED, holder=holder))
    assert check == "lease"
    assert "`kubectl -n elsewhere delete lease own`" in text and "wait until" not in text
    _severity, _check, text = one(found(DISABLED, holder=Holder("other", NOW, NOW + timedelta(seconds=120), NOW)))
    assert "wait until it has ended" in text and "kubectl" not in text


def test_a_namespace_that_goes_away_is_waited_for() -> None:
    _severity, check, text = one(found(DISABLED, terminating=("slurm",)))
    assert check == "namespace"
    assert "slurm" in text


# ---- the installed mode (N42)


def recorded(mode: AccountingMode, *names: str) -> Installed:
    releases = tuple(Recorded(name, NAMESPACES[name], name, name, "1") for name in names)
    return Installed("deployed", mode, "sha256:old", "sha256:old", releases)


ALL = tuple(NAMESPACES)
WITHOUT = tuple(name for name in NAMESPACES if "maria" not in name)


@pytest.mark.parametrize(
    ("before", "after", "allowed", "severity", "words"),
    [
        (
            PROVIDED,
            DISABLED,
            False,
            "error",
            ["kept as they are", "mariadb-operator", "aicr_allow_mode_change"],
        ),
        (PROVIDED, DISABLED, True, "warning", ["kept as they are", "data, volumes, Secrets and CRDs are kept"]),
        (CUSTOMER, DISABLED, False, "error", ["slurmdbd goes", "aicr_allow_mode_change"]),
        (CUSTOMER, DISABLED, True, "warning", ["slurmdbd goes"]),
        (DISABLED, CUSTOMER, False, "error", ["slurmdbd comes"]),
        (DISABLED, PROVIDED, True, "warning", ["new releases: mariadb-operator-crds"]),
        (PROVIDED, CUSTOMER, False, "error", ["refused in one step", "dump"]),
        (PROVIDED, CUSTOMER, True, "error", ["refused in one step", "dump"]),
        (CUSTOMER, PROVIDED, True, "error", ["refused in one step", "load the dump"]),
    ],
)
def test_another_mode_is_told_first_and_history_is_never_left_behind(
    before: AccountingMode, after: AccountingMode, allowed: bool, severity: str, words: list[str]
) -> None:
    record = recorded(before, *(ALL if before is PROVIDED else WITHOUT))
    said, check, text = one(found(after, question(after, allow_mode_change=allowed), record=record))
    assert (said, check) == (severity, "accounting-mode")
    assert all(word in text for word in words), text


@pytest.mark.parametrize("mode", list(AccountingMode))
def test_the_same_mode_is_no_change(mode: AccountingMode) -> None:
    assert found(mode, record=recorded(mode, *ALL)) == []


def test_without_a_record_the_releases_say_which_mode_is_installed() -> None:
    """Whoever used the bundle's own deploy.sh has no record, but a database all the same."""
    database = ReleaseState(1, "deployed", "chart-slurm-accounting-mariadb", "26.6.0")
    slurm = ReleaseState(1, "deployed", "chart-slinky-slurm", "1.2.1", values={"accounting": {"enabled": True}})
    places = {("slurm", "slurm-accounting-mariadb"): database, ("slurm", "slinky-slurm"): slurm}
    _severity, check, text = one(found(CUSTOMER, releases={**empty(CUSTOMER).releases, **places}))
    assert check == "accounting-mode"
    assert "as the release slurm-accounting-mariadb shows" in text
    del places["slurm", "slurm-accounting-mariadb"]
    assert found(CUSTOMER, releases={**empty(CUSTOMER).releases, **places}) == []
    _severity, check, text = one(found(DISABLED, releases={**empty(DISABLED).releases, **places}))
    assert "installed in mode customer-managed" in text


# ---- a run that did not end (its record says what it was about to install, not what there is)

RELEASE, SERVER, VOLUME = "release", "the MariaDB slurm/mariadb", "the PersistentVolumeClaim slurm/storage-mariadb-0"
ON, OFF = {"accounting": {"enabled": True}}, {"accounting": {"enabled": False}}
NO_DATABASE: tuple[str, ...] = ()


def there(mode: AccountingMode, state: str, database: tuple[str, ...], slurm: Mapping[str, Any] | None) -> Any:
    """An observed cluster whose record says one thing; what there is says the same or another."""

    def seen(before: AccountingMode) -> dict[str, Any]:
        releases = dict(empty(mode).releases)
        if RELEASE in database:
            shown = ReleaseState(1, "failed", "chart-slurm-accounting-mariadb", "26.6.0")
            releases["slurm", "slurm-accounting-mariadb"] = shown
        if slurm is not None:
            releases["slurm", "slinky-slurm"] = ReleaseState(1, "deployed", "chart-slinky-slurm", "1.2.1", values=slurm)
        record = dataclasses.replace(recorded(before, *(ALL if before is PROVIDED else WITHOUT)), state=state)
        return {"releases": releases, "record": record, "database": tuple(one for one in database if one != RELEASE)}

    return seen


def verdict(before: AccountingMode, after: AccountingMode) -> str:
    """Of an installed mode, where nothing was allowed."""
    if before is after:
        return ""
    return "needs a word" if DISABLED in (before, after) else "refused"


def told(obstacles: list[Obstacle]) -> str:
    """What was said about the mode: of the one that is really there, and of that of the dead run."""
    words = []
    for each in obstacles:
        if each.check == "accounting-mode":
            dead = "of which nothing is installed" in each.what
            words.append("dead run" if dead else "refused" if "in one step" in each.what else "needs a word")
            assert (each.severity == "warning") is dead
    return ", ".join(sorted(words))


THERE = [
    # what there is of a database, the values of Slurm, the modes of which something is there, the mode it amounts to
    (NO_DATABASE, None, (), None),
    (NO_DATABASE, OFF, (DISABLED,), DISABLED),
    (NO_DATABASE, ON, (CUSTOMER,), CUSTOMER),
    *(
        row
        for database in ((RELEASE,), (SERVER,), (VOLUME,), (RELEASE, SERVER, VOLUME))
        for row in (
            (database, None, (PROVIDED,), PROVIDED),
            (database, OFF, (PROVIDED, DISABLED), DISABLED),
            (database, ON, (PROVIDED, CUSTOMER), PROVIDED),
        )
    ),
]


@pytest.mark.parametrize("after", list(AccountingMode))
@pytest.mark.parametrize("before", list(AccountingMode))
@pytest.mark.parametrize(("database", "slurm", "some", "amounts"), THERE)
def test_the_mode_of_a_run_that_did_not_end_counts_where_something_of_it_is_there(
    database: tuple[str, ...],
    slurm: Mapping[str, Any] | None,
    some: tuple[AccountingMode, ...],
    amounts: AccountingMode | None,
    before: AccountingMode,
    after: AccountingMode,
) -> None:
    ended = told(found(after, **there(after, "deployed", database, slurm)(before)))
    assert ended == verdict(before, after), "the record of a run that ended is what counts"
    begun = told(found(after, **there(after, "deploying", database, slurm)(before)))
    if before is after:
        assert begun == "", "the run is taken up where it stopped"
    elif before in some:
        assert begun == verdict(before, after)
    else:
        words = ["dead run", verdict(amounts, after) if amounts else ""]
        assert begun == ", ".join(word for word in words if word)


def test_a_run_that_died_before_there_was_a_database_locks_no_mode() -> None:
    seen = there(CUSTOMER, "deploying", NO_DATABASE, None)(PROVIDED)
    severity, check, text = one(found(CUSTOMER, **seen))
    assert (severity, check) == ("warning", "accounting-mode")
    assert "in mode aicr-provided, of which nothing is installed" in text
    _severity, _check, text = one(found(CUSTOMER, **there(CUSTOMER, "deploying", (VOLUME,), None)(PROVIDED)))
    assert f"as a run that did not end recorded (deploying) and {VOLUME} shows" in text


@pytest.mark.parametrize("lacking", ["database", "slurm-accounting-mariadb", "slinky-slurm"])
def test_what_could_not_be_read_is_not_taken_for_absent(lacking: str) -> None:
    seen = there(CUSTOMER, "deploying", NO_DATABASE, None)(PROVIDED)
    if lacking == "database":
        seen["database"] = None
    else:
        del seen["releases"]["slurm", lacking]
    _severity, _check, text = one(found(CUSTOMER, **seen))
    assert "refused in one step" in text


def test_a_dead_run_in_another_namespace_is_looked_for_there() -> None:
    seen = there(CUSTOMER, "deploying", NO_DATABASE, None)(PROVIDED)
    place = ("elsewhere", "slurm-accounting-mariadb")
    releases = tuple(
        dataclasses.replace(each, namespace=place[0]) if each.name == place[1] else each
        for each in seen["record"].releases
    )
    seen["record"] = dataclasses.replace(seen["record"], releases=releases)
    seen["releases"][place] = ReleaseState(1, "deployed", "chart-slurm-accounting-mariadb", "26.6.0")
    _severity, _check, text = one(found(CUSTOMER, **seen))
    assert "refused in one step" in text


def test_everything_is_told_at_once_and_errors_first() -> None:
    obstacles = found(
        CUSTOMER,
        server_version="v1.20.0",
        secrets={("slurm", "db"): None},
        classes={},
        apis={"cert-manager.io": False},
        holder=Holder("other", NOW, NOW - timedelta(seconds=1), NOW),
    )
    assert [(each.severity, each.check) for each in obstacles] == [
        ("error", "cert-manager"),
        ("error", "secret"),
        ("error", "server-version"),
        ("error", "storage"),
        ("warning", "lease"),
    ]


def test_a_release_of_which_only_the_history_is_left_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a volume without its passwords would be taken for one that is in use."""
    states = {name: ReleaseState(3, name, "demo", "9.0.0") for name in ("uninstalled", "deployed", "failed")}
    monkeypatch.setattr(observation, "find", lambda _reader, _namespace, name: states.get(name))
    found = {name: observation.release_at(cast(Any, None), ("slurm", name)) for name in (*states, "nothing")}
    assert found == {**states, "uninstalled": None, "nothing": None}
