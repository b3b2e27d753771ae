# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every stated criterion must be carried by an applied overlay, or the recipe would only pretend (engine.md 1.9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.recipe import AXES, ConstraintWarning, Criteria
from ..errors import AicrError, invalid
from .selection import Candidate, Carrying, matching


@dataclass(frozen=True)
class Uncovered:
    """An axis whose stated value no applied overlay carries.

    :ivar completions: the smallest sets of further criteria with which some overlay would.
    :ivar excluded: overlays that carry it and that the snapshot ruled out.
    """

    axis: str
    value: str
    completions: tuple[Mapping[str, str], ...]
    excluded: tuple[str, ...]


def os_is_missing(carrying: Carrying, criteria: Criteria) -> AicrError | None:
    """A service all of whose overlays that fit want an operating system, while none was stated."""
    query = criteria.stated()
    service = query.get("service")
    if service is None or "os" in query:
        return None
    of_service = carrying.get(("service", service), ())
    if matching(of_service, query):
        return None
    stated = {system for candidate in of_service if (system := candidate.stated.get("os"))}
    systems = sorted(system for system in stated if matching(of_service, {**query, "os": system}))
    if not systems:
        return None
    accelerator = query.get("accelerator")
    with_accelerator = f' with accelerator "{accelerator}"' if accelerator else ""
    return invalid(
        f'service "{service}"{with_accelerator} has no recipe that suits every operating system',
        f"state os (valid: {', '.join(systems)})",
        service=service,
        valid=systems,
    )


def uncovered(
    carrying: Carrying, criteria: Criteria, applied: Iterable[Candidate], excluded: Iterable[Candidate]
) -> list[Uncovered]:
    """The stated axes that the applied overlays do not carry, in the order of :data:`AXES`."""
    query = criteria.stated()
    carried = frozenset().union(*(candidate.pairs for candidate in applied))
    missing = [axis for axis in AXES if axis in query and (axis, query[axis]) not in carried]
    ruled_out = tuple(excluded)
    return [
        Uncovered(
            axis,
            query[axis],
            _completions(carrying, query, axis),
            tuple(candidate.name for candidate in ruled_out if candidate.stated.get(axis) == query[axis]),
        )
        for axis in missing
    ]


def refusal(missing: Sequence[Uncovered], criteria: Criteria, reasons: Sequence[ConstraintWarning]) -> AicrError:
    """One error for all axes; it names the failed constraint where a snapshot is the cause."""
    ruled_out, shown = {name for one in missing for name in one.excluded}, str(criteria)
    causes = [warning for warning in reasons if warning.overlay in ruled_out]
    hints = ["; ".join(_way_out(one) for one in missing if not one.excluded)]
    if causes:
        hints.append("mend the cluster or take a new snapshot")
    return invalid(
        f"{'; '.join(_clause(one, shown) for one in missing)}" + "".join(f"; {failed_text(cause)}" for cause in causes),
        "; ".join(hint for hint in hints if hint),
        uncovered=[
            {"dimension": one.axis, "requestedValue": one.value, "validCompletions": [dict(c) for c in one.completions]}
            for one in missing
        ],
        excludedOverlays=sorted(ruled_out),
        constraintWarnings=[{"overlay": cause.overlay, "constraint": cause.constraint} for cause in causes],
    )


def failed_text(warning: ConstraintWarning) -> str:
    """Why an overlay was excluded, as one clause."""
    found = f', found "{warning.actual}"' if warning.actual is not None else f": {warning.reason}"
    return f'overlay "{warning.overlay}" is excluded: {warning.constraint} must be "{warning.expected}"{found}'


def _completions(carrying: Carrying, query: Mapping[str, str], axis: str) -> tuple[Mapping[str, str], ...]:
    found = {
        tuple((other, value) for other in AXES if (value := candidate.stated.get(other)) and other not in query)
        for candidate in carrying.get((axis, query[axis]), ())
        if candidate.agrees_with(query)
    } - {()}
    smallest = [one for one in found if not any(set(other) < set(one) for other in found)]
    return tuple(dict(one) for one in sorted(smallest, key=lambda one: (len(one), one)))


def _clause(one: Uncovered, criteria: str) -> str:
    start = f'{one.axis} "{one.value}" for {criteria}'
    if one.excluded:
        return f"{start} is only in overlays that the snapshot rules out"
    if not one.completions:
        return f"no recipe provides {start}"
    keys = {tuple(completion) for completion in one.completions}
    if len(keys) == 1 and len(one.completions[0]) == 1:
        return f"{start} also needs {next(iter(one.completions[0]))}"
    return f"{start} needs more criteria"


def _way_out(one: Uncovered) -> str:
    if not one.completions:
        return f"{one.axis}: leave it out or choose another value"
    keys = {tuple(completion) for completion in one.completions}
    if len(keys) == 1 and len(one.completions[0]) == 1:
        key = next(iter(one.completions[0]))
        return f"valid {key} for {one.axis} {one.value}: {', '.join(completion[key] for completion in one.completions)}"
    sets = (f"({', '.join(f'{key}={value}' for key, value in completion.items())})" for completion in one.completions)
    return f"supported combinations for {one.axis} {one.value}: {', '.join(sets)}"
