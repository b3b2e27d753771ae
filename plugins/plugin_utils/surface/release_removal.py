# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm releases that shall not be, as a task has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..cluster.connection import Connection
from ..cluster.helm import Settings, open_helm
from ..cluster.removal import Leaving, plan_removal, remove
from ..errors import AicrError
from .action import Result
from .lease import working
from .options import Options
from .outcome import failed


def make_removal(
    options: Options, connection: Connection, places: Sequence[tuple[str, str]], tell: Callable[[str], None]
) -> Result:
    """Find out which releases are there that shall not be.

    :param places: namespaces and names, in the order of removal.
    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: see :func:`cluster.removal.plan_removal`.
    """
    return _Removal(options, connection, plan_removal(connection, places, recover=options["recover"]), tell)


@dataclass(frozen=True)
class _Removal:
    options: Options
    connection: Connection
    leaving: list[Leaving]
    tell: Callable[[str], None]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del return_document
        there = [one for one in self.leaving if one.is_there]
        gone, problem = (there, None) if check_mode else self._work(there)
        told = [_told(one, one in gone) for one in self.leaving if one in gone or one not in there]
        result: dict[str, Any] = {"changed": bool(gone), "releases": told}
        if diff and gone:
            result["diff"] = [
                {"before_header": str(one), "before": f"{one}\n", "after_header": str(one), "after": ""} for one in gone
            ]
        if problem is not None:
            left = [f"{one.namespace}/{one.name}" for one in there if one not in gone]
            message = f"{problem.message}; not removed: {', '.join(left)}"
            details = {**problem.details, "releases": told, "not_begun": left[1:]}
            result.update(failed(AicrError(problem.code, message, problem.hint, details)))
        return result

    def _work(self, there: Sequence[Leaving]) -> tuple[list[Leaving], AicrError | None]:
        settings = Settings(program=self.options["helm"], timeout=self.options["timeout"])
        gone: list[Leaving] = []
        problem: AicrError | None = None
        try:
            with working(self.options, self.connection, check_mode=False) as begin:
                if there:
                    with open_helm(self.connection, settings, self.options.environ, self.tell) as helm:
                        gone, problem = remove(helm, there, begin)
        except AicrError as error:
            problem = error
        return gone, problem


def _told(one: Leaving, changed: bool) -> dict[str, Any]:
    return {
        "name": one.name,
        "namespace": one.namespace,
        "component": one.name,
        "chart": f"{one.installed.chart} {one.installed.version}" if one.installed else "",
        "changed": changed,
        "revision": None,
        "status": "absent",
        "why": f"it is {one.installed.status}" if changed and one.installed else "",
    }
