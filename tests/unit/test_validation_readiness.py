# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A constraint that does not hold, or cannot be judged, is a failure with a reason (spec/engine.md 3.5)."""

from __future__ import annotations

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    Constraint,
    Phase,
    RecipeResult,
    Validation,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import (
    Item,
    Measurement,
    Snapshot,
    Subtype,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.validation.readiness import Finding, readiness

SNAPSHOT = Snapshot(
    (
        Measurement("K8s", (Subtype("server", {"version": "v1.33.1-eks-1"}),)),
        Measurement(
            "OS",
            (
                Subtype(
                    "release",
                    {"ID": "ubuntu"},
                    items=(
                        Item({"node": "n1"}, {"VERSION_ID": "24.04"}),
                        Item({"node": "n2"}, {"VERSION_ID": "22.04"}),
                    ),
                ),
            ),
        ),
    )
)


def judged(*constraints: Constraint) -> tuple[Finding, ...]:
    return readiness(RecipeResult((), constraints=constraints), SNAPSHOT)


def test_a_constraint_that_holds_is_no_problem_and_says_what_was_found() -> None:
    (finding,) = judged(Constraint("K8s.server.version", ">= 1.32.4", remediation="upgrade"))
    assert finding.passed
    assert finding.problem is None
    assert finding.message == "expected >= 1.32.4, got v1.33.1-eks-1"


def test_a_failure_names_path_expectation_reading_and_the_recipes_advice() -> None:
    (finding,) = judged(Constraint("K8s.server.version", ">= 1.34", remediation="upgrade the control plane"))
    assert not finding.passed
    assert finding.message == "expected >= 1.34, got v1.33.1-eks-1\nupgrade the control plane"
    assert finding.problem is not None
    assert str(finding.problem) == (
        "[INVALID_REQUEST] readiness check failed: K8s.server.version expected >= 1.34, got v1.33.1-eks-1"
        " (upgrade the control plane)"
    )


def test_a_failure_on_some_nodes_names_them() -> None:
    (finding,) = judged(Constraint("OS.release.VERSION_ID", "24.04"))
    assert "22.04 on n2" in finding.message
    assert finding.problem is not None
    assert finding.problem.details["nodes"] == ["n2"]


@pytest.mark.parametrize(
    ("name", "value", "cause"),
    [
        ("OS.sysctl./proc/sys/kernel/osrelease", ">= 6.8", "NOT_FOUND"),
        ("GPU.hardware.model", "h100", "NOT_FOUND"),
        ("OS.release.ID", ">= 1", "INVALID_REQUEST"),
        ("K8s.nope", "x", "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be_judged_is_a_failure_by_name_whatever_the_cause(name: str, value: str, cause: str) -> None:
    (finding,) = judged(Constraint(name, value, severity="warning"))
    assert not finding.passed
    assert finding.message.startswith(f"could not be evaluated, expected {value}: ")
    assert finding.problem is not None
    assert finding.problem.code == "INVALID_REQUEST"
    assert finding.problem.message.startswith("readiness check could not evaluate: ")
    assert name in finding.problem.message
    assert finding.problem.hint
    assert finding.problem.details["cause"] == cause


def test_the_readiness_phase_adds_to_the_recipes_constraints_and_each_is_judged_once() -> None:
    floor, other = Constraint("K8s.server.version", ">= 1.32"), Constraint("K8s.server.version", ">= 1.33")
    phase = Phase(constraints=(floor, other))
    recipe = RecipeResult(
        (), constraints=(floor,), validation=Validation(readiness=phase, deployment=Phase((), (other,)))
    )
    assert [finding.constraint for finding in readiness(recipe, SNAPSHOT)] == [floor, other]


def test_floors_of_the_other_phases_are_no_readings_of_a_snapshot() -> None:
    floors = Phase(constraints=(Constraint("Deployment.gpu-operator.version", ">= v24.6.0"),))
    assert readiness(RecipeResult((), validation=Validation(deployment=floors)), SNAPSHOT) == ()
