# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster is what its bundle makes of it: record, releases, readiness, accounting, as one report.

Everything is looked at, whatever fails first, and what cannot be read is a test that failed. Where nothing can be
looked at the report says that, so that no older one passes for it. Nothing is written to the cluster, but for the Jobs
of the probes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..artifacts.versions import RELEASE
from ..cluster.connection import Connection, Deadline
from ..cluster.presence import Presence
from ..cluster.read import Reader
from ..cluster.release import Wanted, reasons
from ..cluster.release_state import find
from ..deployment.expectations import Expected, expected_of
from ..deployment.finding import failures
from ..deployment.installed import DONE, Installed, read_record
from ..deployment.plan import Plan
from ..deployment.readiness import STABLE_SECONDS, Unread, Verdict, await_ready, look, readable
from ..errors import AicrError, Code
from ..validation import Report, Status, Test, essence
from . import accounting_check, database_probe
from .check import Checked
from .cluster import connect
from .deployment_plan import BUNDLE_INPUT, Planned, plan_deployment
from .given import given_recipe
from .lease import RUN
from .options import CLUSTER, Options, Spec, parse
from .outcome import Document, Outcome, as_format
from .path import expanded
from .release import wanted_release
from .source import refuse_remote

SPEC: Spec = {
    **CLUSTER,
    **BUNDLE_INPUT,
    "lease": RUN["lease"],
    "chart_source": {"type": "str"},
    "timeout": {"type": "float"},
    "stable": {"type": "float", "default": STABLE_SECONDS},
    "wait": {"type": "bool", "default": True},
    "probe": {"type": "bool", "default": True},
    "probe_image": {"type": "str"},
    "probe_timeout": {"type": "float"},
    "accounting_check_image": {"type": "str"},
    "accounting_check_timeout": {"type": "float"},
    "accounting_check_wait": {"type": "float", "default": 30},
    "fail_on_error": {"type": "bool", "default": True},
    "dest": {"type": "path"},
    "return_document": {"type": "bool", "default": False},
}

RECORD, RELEASES, READINESS, FORBIDDEN, ACCOUNTING = "record", "releases", "readiness", "forbidden", "accounting"
"""The suites of the report, in its order."""
STOPPED = "stopped"
"""The suite of a report that could not be made, in place of all others."""

_READ_SECONDS = 60.0
_MOST_FAILURES = 6


def verify(options: Options, *, check_mode: bool, tell: Callable[[str], None]) -> Outcome:
    """Hold a cluster against its bundle.

    With ``fail_on_error`` a test that fails makes the task fail; the report is written anyway. In check mode it looks
    once and runs no Job, and no test makes it fail: what is not there may be what an earlier task would have made.

    What keeps it from looking at all (the bundle, the recipe, the way to the cluster) fails the task in any case, with
    its own error, and the report has a single test that says it.

    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: INVALID_REQUEST for a ``dest`` that is no file.
    """
    dest = options["dest"]
    if dest is not None:
        refuse_remote(dest, "dest")
    at = datetime.now(UTC)
    try:
        planned = plan_deployment(options)
        seen = _look(options, planned, check_mode=check_mode, tell=tell)
    except AicrError as error:
        test = Test("the deployment can be verified", STOPPED, Status.FAILED, str(error))
        return _outcome(dest, Report((), (test,), "", None, at, RELEASE), failure=error)
    plan = planned.plan
    report = Report((), seen.tests, plan.recipe_digest, plan.mode.value if plan.mode else None, at, RELEASE)
    return _outcome(
        dest,
        report,
        time=seen.record.time if seen.record else None,
        warnings=planned.warnings,
        failure=_failure(_failed(report)) if options["fail_on_error"] and not check_mode else None,
    )


@dataclass(frozen=True)
class _Seen:
    """What was found.

    :ivar record: of the last deployment, if it is known.
    """

    record: Installed | None
    tests: tuple[Test, ...]


def _look(options: Options, planned: Planned, *, check_mode: bool, tell: Callable[[str], None]) -> _Seen:
    """Every test.

    :raises AicrError: what is wrong with the recipe or the way to the cluster, so that there is no test at all.
    """
    connection, plan = connect(options), planned.plan
    record, trouble = _record(connection, options)
    expected = _expected(options, planned, record)
    tests = (
        *_record_tests(record, trouble, plan),
        *_release_tests(connection, planned, options["chart_source"]),
        *_readiness_tests(*_verdicts(options, connection, expected, check_mode=check_mode, tell=tell)),
        *_accounting_tests(options, plan, check_mode=check_mode, tell=tell),
    )
    return _Seen(record, tests)


def _outcome(
    dest: str | None,
    report: Report,
    *,
    time: str | None = None,
    warnings: Sequence[str] = (),
    failure: AicrError | None = None,
) -> Outcome:
    document = report.to_ctrf()
    product = Document(document, as_format(document, "json", str), essence)
    return Outcome(
        product=product,
        dest=None if dest is None else expanded(dest),
        digest=product.digest,
        summary={
            **report.counts(),
            "mode": report.accounting,
            "recipe_digest": report.recipe_digest or None,
            "time": time,
        },
        warnings=warnings,
        document=document,
        also={"failures": [f"{test.name}: {test.message}" for test in _failed(report)]},
        failure=failure,
    )


def _failed(report: Report) -> list[Test]:
    return [test for test in report.tests if test.status is Status.FAILED]


def _unknown(error: AicrError) -> str:
    """The message of a test of which nothing is known."""
    return f"not known: {error}"


def _failure(failed: Sequence[Test]) -> AicrError | None:
    if not failed:
        return None
    shown = "; ".join(f"{test.name}: {test.message}" for test in failed[:_MOST_FAILURES])
    more = len(failed) - _MOST_FAILURES
    return AicrError(
        Code.CONFLICT,
        f"{len(failed)} of the tests of this cluster failed: {shown}" + (f"; and {more} more" if more > 0 else ""),
        "the report has them all; to deploy the bundle again mends a record and releases that differ, "
        "and nothing else; what is not known says itself what it takes",
        {"failed": [test.name for test in failed]},
    )


def _record(connection: Connection, options: Options) -> tuple[Installed | None, str]:
    """What the last deployment recorded, or why that is not known.

    :raises AicrError: nothing answers, or the login is rejected: it is so for all that would be asked after it.
    """
    namespace, name = options["lease"]["namespace"], options["lease"]["name"]
    try:
        found = Reader(connection, Deadline(_READ_SECONDS)).find(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        if found is None:
            return None, f"there is no ConfigMap {namespace}/{name}: no deployment is recorded"
        return read_record(found), ""
    except AicrError as error:
        if error.code is not Code.CONFLICT and error.details.get("status", 401) == 401:
            raise
        return None, _unknown(error)


def _record_tests(record: Installed | None, trouble: str, plan: Plan) -> Iterator[Test]:
    if record is None:
        yield Test("the record of the deployment", RECORD, Status.FAILED, trouble)
        return
    mode = plan.mode.value if plan.mode else ""
    found = {
        "the state of the deployment": (record.state, DONE),
        "the mode of Slurm accounting": (record.mode.value if record.mode else "", mode),
        "the digest of the recipe": (record.recipe_digest, plan.recipe_digest),
        "the digest of the bundle": (record.bundle_digest, plan.bundle_digest),
    }
    for name, (recorded, due) in found.items():
        holds = recorded == due
        said = f"{recorded or 'none'}" if holds else f'"{recorded}" is recorded, "{due}" is due'
        yield Test(name, RECORD, Status.PASSED if holds else Status.FAILED, said)


def _release_tests(connection: Connection, planned: Planned, source: str | None) -> Iterator[Test]:
    reader = Reader(connection, Deadline(_READ_SECONDS))
    presence = Presence(reader)
    for release in planned.plan.releases:
        begun = time.monotonic()
        wanted: Wanted = wanted_release(release.to_item(), source)
        try:
            why = "; ".join(reasons(wanted, find(reader, wanted.namespace, wanted.name), presence))
        except AicrError as error:
            why = _unknown(error)
        yield Test(
            str(wanted),
            RELEASES,
            Status.FAILED if why else Status.PASSED,
            why or f"deployed, {wanted.chart}, with the values of the bundle",
            _since(begun),
        )


def _since(begun: float) -> int:
    """Milliseconds."""
    return int((time.monotonic() - begun) * 1000)


def _expected(options: Options, planned: Planned, record: Installed | None) -> tuple[Expected, ...]:
    recipe, _warnings = given_recipe(options["recipe"], options, "recipe", planned.catalog)
    kept = [one.name for one in record.kept] if record else []
    return expected_of(recipe, list(planned.plan.components), kept)


def _verdicts(
    options: Options,
    connection: Connection,
    expected: Sequence[Expected],
    *,
    check_mode: bool,
    tell: Callable[[str], None],
) -> tuple[Sequence[Verdict], Sequence[Unread]]:
    """What became of what can be read, and what cannot."""

    def judge(chosen: Sequence[Expected]) -> Sequence[Verdict]:
        if check_mode or not options["wait"]:
            return look(connection, chosen)
        return await_ready(connection, chosen, timeout=options["timeout"], stable=options["stable"], tell=tell)

    try:
        return judge(expected), ()
    except AicrError:
        seen, unread = readable(connection, expected)
    try:
        return judge(seen) if seen else (), unread
    except AicrError as error:
        return (), [Unread(each.component, one, error) for each in expected for one in each.expectations]


def _readiness_tests(verdicts: Sequence[Verdict], unread: Sequence[Unread]) -> Iterator[Test]:
    """One test for each expectation; a component of which nothing is expected is said to be so, not to be well."""
    tests = [
        Test(
            f"{one.component}: {one.expectation.selection}",
            FORBIDDEN if one.expectation.forbids else READINESS,
            Status.FAILED,
            f"{_unknown(one.why)} ({one.expectation.source})",
        )
        for one in unread
    ]
    for verdict in verdicts:
        duration = int(verdict.seconds * 1000)
        if not verdict.assertions:
            said = "nothing says when it is ready: it has no health check and no expectedResources"
            tests.append(Test(verdict.component, READINESS, Status.SKIPPED, said))
        for one in verdict.assertions:
            suite = FORBIDDEN if one.forbids else READINESS
            status = Status.FAILED if one.troubles else Status.PASSED
            said = "; ".join(map(str, one.troubles)) or ("is not there" if one.forbids else "holds")
            tests.append(Test(f"{verdict.component}: {one.of}", suite, status, f"{said} ({one.source})", duration))
        if not verdict.ready and not verdict.troubles:
            said = "everything held, but not for long enough"
            tests.append(Test(verdict.component, READINESS, Status.FAILED, said, duration))
    yield from sorted(tests, key=lambda test: test.phase == FORBIDDEN)


def _accounting_tests(options: Options, plan: Plan, *, check_mode: bool, tell: Callable[[str], None]) -> Iterator[Test]:
    for component in plan.components.values():
        for step in (*component.before, *component.after):
            name = _NAMES[str(step["action"])]
            if check_mode or not options["probe"]:
                said = "check mode runs no Job" if check_mode else "not asked for: probe is false"
                yield Test(name, ACCOUNTING, Status.SKIPPED, said)
                continue
            begun = time.monotonic()
            status, said = _probed(options, step, tell)
            yield Test(name, ACCOUNTING, status, said, _since(begun))


_NAMES = {"database_probe": "a login to the database", "accounting_check": "an answer of slurmdbd"}


def _probed(options: Options, step: Mapping[str, object], tell: Callable[[str], None]) -> tuple[Status, str]:
    """What became of one of the two Jobs; that it could not even be run is a failure of the test as well."""
    try:
        checked = _probe(options, step, tell)
    except AicrError as error:
        return Status.FAILED, error.message
    said = "; ".join(one.message for one in checked.findings)
    return (Status.FAILED if failures(checked.findings) else Status.PASSED), said or "ok"


def _probe(options: Options, step: Mapping[str, object], tell: Callable[[str], None]) -> Checked:
    given: dict[str, Any] = {name: options.stated(name) for name in CLUSTER}
    given |= {key: value for key, value in step.items() if key != "action"}
    if step["action"] == "database_probe":
        given |= _said(options, image="probe_image", timeout="probe_timeout")
        asked = parse(database_probe.SPEC, given, options.environ)
        return database_probe.probe_database(asked, check_mode=False, tell=tell)
    given |= _said(
        options, image="accounting_check_image", timeout="accounting_check_timeout", wait="accounting_check_wait"
    )
    asked = parse(accounting_check.SPEC, given, options.environ)
    return accounting_check.check_accounting(asked, check_mode=False, tell=tell)


def _said(options: Options, **names: str) -> dict[str, Any]:
    return {name: options[ours] for name, ours in names.items() if options[ours] is not None}
