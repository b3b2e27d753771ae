# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 3.5 (*Tighten*) and section 6: a profile may narrow a constraint of the overlays, and nothing else."""

from __future__ import annotations

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import Constraint
from ansible_collections.aicr.runtime.plugins.plugin_utils.constraints import Expression, narrowed
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

PATH = "K8s.server.version"
READINGS = ("1", "1.29", "1.30", "1.30.4", "1.31", "1.31.0", "1.31.7-eks-1", "1.32", "1.32.1", "ubuntu")


def narrow(one: str, other: str) -> str:
    return narrowed(Constraint(PATH, one), Constraint(PATH, other)).value


@pytest.mark.parametrize(("existing", "candidate", "result"), [
    (">= 1.30", ">= 1.31", ">= 1.31"),
    (">= 1.31", ">= 1.30", ">= 1.31"),
    ("> 1.30", "> 1.31", "> 1.31"),
    (">= 1.30", "> 1.30", "> 1.30"),
    ("< 1.32", "<= 1.31", None),
    ("<= 1.32", "< 1.31", "< 1.31"),
    ("<= 1.32", "<= 1.31", "<= 1.31"),
    (">= 1.30", "1.31", "1.31"),
    ("1.31", ">= 1.30", "1.31"),
    (" 1.31", "1.31 ", " 1.31"),
    ("ubuntu", "rhel", None),
    (">= 1.30", "1.29", None),
    (">= 1.30", "< 1.32", None),
    (">= 1.30", ">= 1.30.4", None),
    (">= 1.30", "ubuntu", None),
    ("!= 1.30", ">= 1.31", None),
])  # fmt: skip
def test_two_constraints_become_the_stricter_one_or_none(existing: str, candidate: str, result: str | None) -> None:
    if result is not None:
        assert narrow(existing, candidate) == result
        return
    with pytest.raises(AicrError) as refused:
        narrow(existing, candidate)
    for word in (PATH, existing.strip(), candidate.strip()):
        assert word in refused.value.message


def holds(expression: str, reading: str) -> bool | None:
    try:
        return Expression.parse(expression).holds(reading)
    except AicrError:
        return None


EXPRESSIONS = [f"{operator} {version}" for operator in (">=", ">", "<=", "<", "==", "!=") for version in
               ("1", "1.30", "1.31", "1.31.0", "1.32.1")] + ["1.31", "ubuntu"]  # fmt: skip


def test_what_is_narrowed_holds_exactly_where_both_do() -> None:
    decided = 0
    for existing in EXPRESSIONS:
        for candidate in EXPRESSIONS:
            try:
                result = narrow(existing, candidate)
            except AicrError:
                continue
            decided += 1
            for reading in READINGS:
                both = holds(existing, reading), holds(candidate, reading)
                assert bool(holds(result, reading)) == (both == (True, True)), (existing, candidate, reading)
    assert decided > 150
