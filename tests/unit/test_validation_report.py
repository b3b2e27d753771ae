# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One report: every constraint, every check with a reason, and no difference between two runs but times (7.1, 7.3)."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    Accounting,
    AccountingMode,
    Configuration,
    Constraint,
    Criteria,
    Phase,
    RecipeHeader,
    RecipeResult,
    SlurmConfiguration,
    Validation,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import (
    Measurement,
    Snapshot,
    SnapshotHeader,
    Subtype,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, ValidatorEntry
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.validation import Report, essence, validate

CATALOG = cast(
    Catalog,
    SimpleNamespace(
        validators=(
            ValidatorEntry("operator-health", "deployment"),
            ValidatorEntry("bandwidth", "performance"),
            ValidatorEntry("platform-health", "conformance"),
            ValidatorEntry("expected-resources", "deployment"),
        )
    ),
)
SNAPSHOT = Snapshot((Measurement("K8s", (Subtype("server", {"version": "v1.33.1-eks-1"}),)),))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DIGEST = "sha256:" + "0" * 64


def recipe(**phases: tuple[str, ...]) -> RecipeResult:
    floor = Constraint("K8s.server.version", ">= 1.32.4")
    declared = {phase: Phase(checks=names) for phase, names in phases.items()}
    return RecipeResult((), constraints=(floor,), validation=Validation(**declared))


def report(of: RecipeResult, against: Snapshot = SNAPSHOT, now: datetime = NOON, **options: Any) -> Report:
    return validate(of, against, CATALOG, recipe_digest=DIGEST, now=now, **options)


def names(of: Report) -> list[tuple[str, str]]:
    return [(test.phase, test.name) for test in of.checks]


def test_phases_run_deployment_conformance_performance_and_keep_the_catalogs_order() -> None:
    assert names(report(recipe())) == [
        ("deployment", "operator-health"),
        ("deployment", "expected-resources"),
        ("conformance", "platform-health"),
        ("performance", "bandwidth"),
    ]


@pytest.mark.parametrize(
    ("phases", "run"),
    [
        (None, ["deployment", "conformance", "performance"]),
        ([], ["deployment", "conformance", "performance"]),
        (["all"], ["deployment", "conformance", "performance"]),
        (["performance", "deployment"], ["deployment", "performance"]),
        (["conformance", "conformance"], ["conformance"]),
    ],
)
def test_phases_are_chosen_without_changing_their_order(phases: list[str] | None, run: list[str]) -> None:
    found = report(recipe(), phases=phases)
    assert list(dict.fromkeys(test.phase for test in found.checks)) == run
    assert len(found.readiness) == 1


@pytest.mark.parametrize("phases", [["readiness"], ["bogus"], ["deployment", "bogus"], ["all", "deployment"], [""]])
def test_an_unknown_phase_and_all_beside_another_are_refused(phases: list[str]) -> None:
    with pytest.raises(AicrError, match="phase") as refused:
        report(recipe(), phases=phases)
    assert refused.value.code is Code.INVALID_REQUEST


def test_checks_are_skipped_with_a_reason_that_tells_declared_from_undeclared() -> None:
    found = report(recipe(deployment=("operator-health",)))
    assert {test.status.value for test in found.checks} == {"skipped"}
    reasons = {test.name: test.message for test in found.checks}
    assert reasons["operator-health"] == "skipped: no cluster was asked"
    assert reasons["expected-resources"] == "skipped: the recipe's deployment phase does not declare it"


def test_declared_checks_that_can_never_run_are_refused_all_together() -> None:
    wrong = recipe(deployment=("operator-helth", "platform-health"), performance=("bandwidth", "bandwidth"))
    with pytest.raises(AicrError) as refused:
        report(wrong, phases=["conformance"])
    said = str(refused.value)
    assert refused.value.code is Code.INVALID_REQUEST
    assert 'did you mean "operator-health"?' in said
    assert '"platform-health", which belongs to phase conformance' in said
    assert 'validation.performance.checks names the check "bandwidth" twice' in said


def test_the_document_is_ctrf_with_the_digest_and_no_empty_message() -> None:
    document = report(recipe(), tool_version="0.1.0").to_ctrf()
    results = document["results"]
    assert {key: document[key] for key in ("reportFormat", "specVersion", "timestamp", "generatedBy")} == {
        "reportFormat": "CTRF",
        "specVersion": "0.0.1",
        "timestamp": "2026-11-30T12:00:00Z",
        "generatedBy": "aicr.runtime",
    }
    assert results["tool"] == {"name": "aicr.runtime", "version": "0.1.0"}
    assert results["summary"] == {
        "tests": 5,
        "passed": 1,
        "failed": 0,
        "skipped": 4,
        "pending": 0,
        "other": 0,
        "start": 1796040000000,
        "stop": 1796040000000,
    }
    assert results["tests"][0] == {
        "name": "K8s.server.version",
        "status": "passed",
        "duration": 0,
        "suite": ["readiness"],
        "message": "expected >= 1.32.4, got v1.33.1-eks-1",
    }
    assert all(test["message"] for test in results["tests"])
    assert results["environment"] == {"extra": {"recipeDigest": DIGEST}}
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize(
    ("mode", "platform", "said"),
    [
        (AccountingMode.AICR_PROVIDED, "slurm", "aicr-provided"),
        (AccountingMode.DISABLED, "slurm", "disabled"),
        (None, "slurm", "unspecified"),
        (None, "kubeflow", None),
        (None, None, None),
    ],
)
def test_the_environment_carries_the_accounting_mode(
    mode: AccountingMode | None, platform: str | None, said: str | None
) -> None:
    chosen = Configuration(SlurmConfiguration(Accounting(mode))) if mode else None
    found = report(RecipeResult((), criteria=Criteria(platform=platform), configuration=chosen))
    assert found.to_ctrf()["results"]["environment"]["extra"].get("slurmAccountingMode") == said


def test_every_failing_constraint_is_in_the_report_and_in_one_refusal() -> None:
    constraints = (
        Constraint("K8s.server.version", ">= 1.34", remediation="upgrade"),
        Constraint("K8s.server.version", ">= 1.32"),
        Constraint("OS.release.ID", "ubuntu"),
    )
    found = report(RecipeResult((), constraints=constraints))
    assert [test.status.value for test in found.tests[:3]] == ["failed", "passed", "failed"]
    assert found.counts()["failed"] == 2
    failure = found.failure()
    assert failure is not None
    assert failure.code is Code.INVALID_REQUEST
    assert "K8s.server.version expected >= 1.34, got v1.33.1-eks-1" in failure.message
    assert "OS.release.ID" in failure.message
    assert ">= 1.32," not in failure.message
    assert "upgrade" in failure.hint


def test_a_recipe_whose_constraints_hold_is_no_failure() -> None:
    assert report(recipe()).failure() is None


def test_the_essence_is_the_same_at_another_time_and_another_after_another_finding() -> None:
    first = essence(report(recipe()).to_ctrf())
    later = NOON.astimezone(timezone(timedelta(hours=-8))) + timedelta(days=1, milliseconds=7)
    assert essence(report(recipe(), now=later, tool_version="0.2.0").to_ctrf()) == first
    newer = Snapshot((Measurement("K8s", (Subtype("server", {"version": "v1.34.0"}),)),))
    assert essence(report(recipe(), newer).to_ctrf()) != first
    assert essence(report(recipe(), phases=["deployment"]).to_ctrf()) != first
    assert not {"timestamp", "start", "stop", "duration"} & set(json.dumps(first).replace('"', " ").split())


@pytest.mark.parametrize(
    ("recipes", "snapshots", "skewed"),
    [
        ("0.2.0", "0.1.0", True),
        ("v0.2.0", "0.2.0", False),
        ("dev", "0.1.0", False),
        ("0.2.0-next", "0.1.0", False),
        (None, "0.1.0", False),
    ],
)
def test_inputs_of_two_releases_are_warned_about(recipes: str | None, snapshots: str, skewed: bool) -> None:
    made = RecipeResult((), metadata=RecipeHeader(version=recipes))
    taken = Snapshot(SNAPSHOT.measurements, metadata=SnapshotHeader(version=snapshots))
    warnings = report(made, taken).warnings
    assert bool(warnings) is skewed
    assert all("0.2.0" in warning and "0.1.0" in warning for warning in warnings)


versions = st.integers(20, 40).map(lambda minor: f"v1.{minor}.0")
floors = st.lists(
    st.sampled_from(["K8s.server.version", "OS.release.ID"]).flatmap(
        lambda name: st.integers(20, 40).map(lambda minor: Constraint(name, f">= 1.{minor}"))
    ),
    max_size=5,
    unique=True,
)


@given(versions, floors)
def test_the_counts_are_those_of_the_tests_and_a_failure_stands_in_both_or_neither(
    version: str, constraints: list[Constraint]
) -> None:
    taken = Snapshot((Measurement("K8s", (Subtype("server", {"version": version}),)),))
    found = report(RecipeResult((), constraints=tuple(constraints)), taken)
    tests, summary = found.to_ctrf()["results"]["tests"], found.to_ctrf()["results"]["summary"]
    counted = Counter(test["status"] for test in tests)
    assert summary["tests"] == len(tests)
    assert {state: summary[state] for state in ("passed", "failed", "skipped", "pending", "other")} == {
        state: counted[state] for state in ("passed", "failed", "skipped", "pending", "other")
    }
    minor = int(version.split(".")[1])
    holding = [each.name[0] == "K" and int(each.value.split(".")[1]) <= minor for each in constraints]
    assert [test["status"] == "passed" for test in tests[: len(constraints)]] == holding
    assert (found.failure() is None) is all(holding)
