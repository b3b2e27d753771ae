# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm releases of a cluster, as a task has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..cluster.address import NAMESPACE
from ..cluster.chart_source import locate
from ..cluster.connection import Connection
from ..cluster.helm import Settings, open_helm
from ..cluster.release import Done, Planned, Report, Wanted, bring_about, plan, rehearse
from ..cluster.release_values import formerly_private, merged, texts
from ..cluster.rendered import compared
from ..errors import AicrError, combined, invalid, raise_all
from .action import Result
from .cluster import connect
from .lease import RUN, working
from .options import CLUSTER, Options, Spec
from .outcome import failed
from .release_removal import make_removal

SPEC: Spec = {
    **CLUSTER,
    **RUN,
    "releases": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str", "required": True},
            "component": {"type": "str"},
            "chart": {"type": "str"},
            "repository": {"type": "str"},
            "version": {"type": "str"},
            "values": {"type": "list", "elements": "path"},
            "set_values": {"type": "dict"},
            "create_namespace": {"type": "bool", "default": True},
            "take_ownership": {"type": "bool", "default": False},
        },
    },
    "recover": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "chart_source": {"type": "str"},
    "helm": {"type": "path"},
    "cache": {"type": "path"},
    "registry_config": {"type": "path"},
    "timeout": {"type": "float", "default": 600},
}

_RELEASE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,51}[a-z0-9])?")
"""What Helm takes as a name; with a dot, objects of some charts could not be named after it."""


def make_release(options: Options, *, tell: Callable[[str], None]) -> Result:
    """Find out which releases are not as they shall be, or are there and shall not be.

    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: everything that is wrong with the options, values files and charts; what keeps the state from
        being read; CONFLICT for releases that a helm is in the middle of.
    """
    if options["state"] == "absent":
        problems = [
            problem
            for index, given in enumerate(options["releases"])
            for problem in _misnamed(given, f"releases[{index}]")
        ]
        raise_all([*problems, *_not_recovered(options)])
        places = [(given["namespace"], given["name"]) for given in options["releases"]]
        return make_removal(options, connect(options), places, tell)
    wanted = _wanted(options)
    connection = connect(options)
    return _Releases(options, connection, plan(connection, wanted, recover=options["recover"]), tell)


@dataclass(frozen=True)
class _Releases:
    options: Options
    connection: Connection
    planned: list[Planned]
    tell: Callable[[str], None]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del return_document
        report = self._work(check_mode)
        done = {(one.planned.wanted.namespace, one.planned.wanted.name): one for one in report.done}
        told, shown = [], []
        for one in self.planned:
            key = (one.wanted.namespace, one.wanted.name)
            if one.why and key not in done:
                continue
            made = done.get(key) or Done(one, one.installed)
            told.append(_told(made, check_mode))
            if diff and one.why and made.rendered is not None:
                shown.append(_diff(made))
        result: dict[str, Any] = {
            "changed": any(entry["changed"] for entry in told),
            "releases": told,
        }
        if shown:
            result["diff"] = shown
        if report.problems:
            result.update(failed(_combined(report, told)))
        return result

    def _work(self, check_mode: bool) -> Report:
        report = None
        try:
            with working(self.options, self.connection, check_mode=check_mode) as begin:
                report = self._under_lease(check_mode, begin)
        except AicrError as error:
            if report is None:
                raise
            report.problems.append(error)  # the Lease was lost at the very end; what was done is to be told
        return report

    def _under_lease(self, check_mode: bool, begin: Callable[[], None]) -> Report:
        todo = [one for one in self.planned if one.why]
        if not todo:
            return Report()
        settings = Settings(
            program=self.options["helm"],
            timeout=self.options["timeout"],
            cache=self.options["cache"],
            registry_config=self.options["registry_config"],
        )
        with open_helm(self.connection, settings, self.options.environ, self.tell) as helm:
            if check_mode:
                return rehearse(self.connection, helm, todo)
            return bring_about(self.connection, helm, todo, begin, self.tell, under_lease=bool(self.options["run"]))


def _wanted(options: Options) -> list[Wanted]:
    """The releases; every problem of every one of them is told at once."""
    problems: list[AicrError] = [*_not_recovered(options)]
    wanted: list[Wanted] = []
    for index, given in enumerate(options["releases"]):
        problems += _misnamed(given, f"releases[{index}]")
        try:
            wanted.append(wanted_release(given, options["chart_source"]))
        except AicrError as error:
            message = f"releases[{index}]: {error.message}"
            problems.append(AicrError(error.code, message, error.hint, error.details))
    seen: set[tuple[str, str]] = set()
    for one in wanted:
        if (one.namespace, one.name) in seen:
            problems.append(invalid(f"{one}: stands twice in releases", "name each release once"))
        seen.add((one.namespace, one.name))
    raise_all(problems)
    return wanted


def _not_recovered(options: Options) -> Iterator[AicrError]:
    if options["recover"] and not options["run"]:
        yield invalid("recover: is for a run that holds the Lease", "name it in run")


def _misnamed(given: Mapping[str, Any], place: str) -> Iterator[AicrError]:
    for key, form in (("name", _RELEASE), ("namespace", NAMESPACE)):
        if not form.fullmatch(given[key]):
            hint = "lower-case letters, digits and dashes, at most 53 (63 for a namespace)"
            yield invalid(f'{place}.{key}: "{given[key]}" is no name of a {"release" if key == "name" else key}', hint)


def wanted_release(given: Mapping[str, Any], source: str | None) -> Wanted:
    """A release from an item of the option ``releases``.

    :param source: where charts come from in place of their own repositories.
    :raises AicrError: see :func:`chart_source.locate` and :func:`release_values.merged`.
    """
    if not given.get("chart"):
        raise invalid("it has no chart", "name one; only what shall be absent needs none")
    private = given.get("set_values") or {}
    return Wanted(
        namespace=given["namespace"],
        name=given["name"],
        component=given.get("component") or given["name"],
        chart=locate(given["chart"], given.get("repository"), given.get("version"), source),
        values=merged([Path(path) for path in given.get("values") or ()], private),
        private=private,
        create_namespace=given.get("create_namespace", True),
        take_ownership=given.get("take_ownership", False),
    )


def _told(done: Done, check_mode: bool) -> dict[str, Any]:
    wanted, installed = done.planned.wanted, done.installed
    told: dict[str, Any] = {
        "name": wanted.name,
        "namespace": wanted.namespace,
        "component": wanted.component,
        "chart": str(wanted.chart),
        "changed": bool(done.planned.why),
        "revision": installed.revision if installed else None,
        "status": installed.status if installed else "absent",
        "why": "; ".join(done.planned.why),
    }
    if check_mode:
        told["predicted"] = bool(done.predicted)
        if done.predicted:
            told["unjudged"] = done.predicted
    return told


def _diff(done: Done) -> dict[str, str]:
    wanted, installed = done.planned.wanted, done.planned.installed
    name, secrets = str(wanted), texts(wanted.private)
    if installed:
        secrets |= formerly_private(installed.values, wanted.values, wanted.private)
    before, after = compared(installed.manifest if installed else "", done.rendered or "", secrets)
    return {"before_header": name, "before": before, "after_header": name, "after": after}


def _combined(report: Report, told: list[dict[str, Any]]) -> AicrError:
    """One error for everything that went wrong, which also tells what went well and what was not begun."""
    error = combined(report.problems)
    names = [f"{one.namespace}/{one.name}" for one in report.begun_not]
    left = f"; not begun after that: {', '.join(names)}" if names else ""
    details = {**error.details, "releases": told, "not_begun": names}
    return AicrError(error.code, error.message + left, error.hint, details)
