# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness: what must hold on a cluster before anything is deployed there, judged fail-closed (spec/engine.md 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..artifacts.recipe import Constraint, RecipeResult
from ..artifacts.snapshot import Snapshot
from ..constraints import Evaluation, evaluate
from ..errors import AicrError, invalid


@dataclass(frozen=True)
class Finding:
    """What became of one constraint.

    :ivar outcome: the evaluation, or why there is none; the latter counts as a failure, too.
    """

    constraint: Constraint
    outcome: Evaluation | AicrError

    @property
    def passed(self) -> bool:
        """Whether the snapshot proves that the constraint holds."""
        return isinstance(self.outcome, Evaluation) and self.outcome.passed

    @property
    def message(self) -> str:
        """What was expected, what was found, and of a failure the recipe's own advice."""
        if isinstance(self.outcome, AicrError):
            found = f"could not be evaluated, expected {self.constraint.value}: {self.outcome.message}"
        else:
            found = f"expected {self.outcome.expected}, got {self.outcome.actual}"
        advice = None if self.passed else self.constraint.remediation
        return f"{found}\n{advice}" if advice else found

    @property
    def problem(self) -> AicrError | None:
        """The refusal that a constraint which does not hold stands for, always INVALID_REQUEST."""
        name, advice = self.constraint.name, self.constraint.remediation
        if isinstance(self.outcome, AicrError):
            return invalid(
                f"readiness check could not evaluate: {self.outcome.message}",
                advice or self.outcome.hint,
                path=name,
                expected=self.constraint.value,
                cause=self.outcome.code.value,
            )
        if self.outcome.passed:
            return None
        return invalid(
            f"readiness check failed: {name} expected {self.outcome.expected}, got {self.outcome.actual}",
            advice or "bring the cluster to what the recipe expects, or generate a recipe for what it is",
            path=name,
            expected=self.outcome.expected,
            actual=self.outcome.actual,
            nodes=list(self.outcome.nodes),
        )


def readiness(recipe: RecipeResult, snapshot: Snapshot) -> tuple[Finding, ...]:
    """Judge every constraint of the recipe and of its readiness phase, each once, in the recipe's order."""
    return tuple(Finding(constraint, _outcome(constraint, snapshot)) for constraint in _constraints(recipe))


def _outcome(constraint: Constraint, snapshot: Snapshot) -> Evaluation | AicrError:
    try:
        return evaluate(constraint, snapshot)
    except AicrError as error:
        return error


def _constraints(recipe: RecipeResult) -> Iterator[Constraint]:
    phase = recipe.validation.readiness if recipe.validation else None
    every = (*(recipe.constraints or ()), *((phase.constraints or ()) if phase else ()))
    seen = set()
    for constraint in every:
        if (constraint.name, constraint.value) not in seen:
            seen.add((constraint.name, constraint.value))
            yield constraint
