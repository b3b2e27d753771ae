# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action readiness: wait until what a recipe expects of its components holds on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..deployment.expectations import Expected, expected_of
from ..deployment.readiness import STABLE_SECONDS, Verdict, await_ready, look
from ..errors import AicrError, Code
from .action import Result
from .catalogs import catalog as catalog_of
from .cluster import connect
from .given import given_recipe
from .lease import RUN, working
from .options import CLUSTER, Options, Spec
from .outcome import failed

SPEC: Spec = {
    **CLUSTER,
    **RUN,
    "catalog": {"type": "path"},
    "recipe": {"type": "raw", "required": True},
    "components": {"type": "list", "elements": "str"},
    "kept": {"type": "list", "elements": "str"},
    "timeout": {"type": "float"},
    "stable": {"type": "float", "default": STABLE_SECONDS},
}

_MOST_TROUBLES = 6
"""So many of a component's troubles stand in the message; all of them in what is returned."""


def make_readiness(options: Options, *, check_mode: bool, tell: Callable[[str], None]) -> Result:
    """Wait for components of a recipe.

    :param check_mode: look once; what is not there yet is no failure.
    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: what is wrong with the options or the recipe; see :func:`deployment.readiness.await_ready`.
    """
    recipe, warnings = given_recipe(options["recipe"], options, "recipe", catalog_of(options["catalog"]))
    expected = expected_of(recipe, options["components"], options["kept"] or ())
    running = {each.component for each in expected}
    idle = [name for name in options["components"] or () if name not in running]
    warnings += [f"{name} does not run by this recipe, so nothing is expected of it" for name in idle]
    connection = connect(options)
    if check_mode:
        return _Looked(look(connection, expected), warnings)
    with working(options, connection, check_mode=check_mode) as check:
        verdicts = await_ready(
            connection,
            expected,
            timeout=options["timeout"],
            stable=options["stable"],
            tell=tell,
            check=check,
        )
    return _Waited(verdicts, [*warnings, *_unexpected(expected)])


def _unexpected(expected: Sequence[Expected]) -> list[str]:
    return [
        f"{each.component}: nothing says when it is ready: it has no health check and no expectedResources"
        for each in expected
        if not each.expectations
    ]


@dataclass(frozen=True)
class _Waited:
    """What was waited for, and the failure if it did not come."""

    verdicts: Sequence[Verdict]
    warnings: list[str]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del check_mode, diff, return_document
        result: dict[str, Any] = {
            "changed": False,
            "components": {verdict.component: _told(verdict) for verdict in self.verdicts},
            "warnings": self.warnings,
        }
        late = [verdict for verdict in self.verdicts if not verdict.ready]
        return result | failed(_failure(late)) if late else result


@dataclass(frozen=True)
class _Looked:
    """What was seen in check mode: what is not there yet is predicted."""

    verdicts: Sequence[Verdict]
    warnings: list[str]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del check_mode, diff, return_document
        predicted = [
            f"check mode: {verdict.component} is not ready now: {_some(verdict)}; that it will be is predicted"
            for verdict in self.verdicts
            if not verdict.ready
        ]
        return {
            "changed": False,
            "components": {
                verdict.component: _told(verdict) | {"predicted": not verdict.ready} for verdict in self.verdicts
            },
            "warnings": [*self.warnings, *predicted],
        }


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "ready": verdict.ready,
        "seconds": verdict.seconds,
        "assertions": [
            {
                "object": assertion.of,
                "source": assertion.source,
                "forbidden": assertion.forbids,
                "holds": not assertion.troubles,
                "troubles": [_facts(trouble) for trouble in assertion.troubles],
            }
            for assertion in verdict.assertions
        ],
        "explanations": [
            {
                "object": one.of,
                "conditions": list(one.conditions),
                "events": list(one.events),
                "pods": list(one.pods),
                "log": list(one.log),
                "hints": list(one.hints),
            }
            for one in verdict.explanations
        ],
    }


def _facts(trouble: Any) -> Mapping[str, str]:
    return {"object": trouble.of, "path": trouble.path, "expected": trouble.expected, "actual": trouble.actual}


def _failure(late: Sequence[Verdict]) -> AicrError:
    seconds = max(verdict.seconds for verdict in late)
    parts = []
    hints: dict[str, None] = {}
    for verdict in late:
        said = "; ".join(f"{one.of} says {one}" for one in verdict.explanations)
        parts.append(f"{verdict.component}: {_some(verdict)}" + (f". {said}" if said else ""))
        hints |= dict.fromkeys(hint for one in verdict.explanations for hint in one.hints)
    return AicrError(
        Code.TIMEOUT,
        f"not ready after {seconds:.0f} s: {' | '.join(parts)}",
        "; ".join(hints) or "see to the objects that are named, or allow more time with timeout",
        {"components": [verdict.component for verdict in late]},
    )


def _some(verdict: Verdict) -> str:
    """The first troubles of a component, in words."""
    troubles = list(dict.fromkeys(map(str, verdict.troubles)))
    more = len(troubles) - _MOST_TROUBLES
    shown = "; ".join(troubles[:_MOST_TROUBLES]) or "it did not last"
    return f"{shown}; and {more} more" if more > 0 else shown
