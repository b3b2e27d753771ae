# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage validate."""

from __future__ import annotations

from datetime import UTC, datetime

from ..artifacts.config import Execution, ValidateInput, ValidateSection
from ..artifacts.digest import digest
from ..artifacts.recipe import recipe_to_document
from ..artifacts.versions import RELEASE
from ..errors import AicrError, invalid
from ..validation import Finding, Report, essence, validate
from .catalogs import catalog as catalog_of
from .given import given_recipe
from .kind import REPORT
from .options import VALIDATE, Options
from .outcome import Document, Outcome, as_format, columns
from .path import expanded
from .request import Field, Request, place, read_config, request, unsupported, word
from .source import read_snapshot, refuse_remote


def make_report(options: Options) -> Outcome:
    """Hold a recipe's constraints against a snapshot.

    With ``fail_on_error`` a constraint that fails or cannot be evaluated fails the task; the report is written anyway.

    :raises AicrError: what is wrong with the options, the files they name, or the recipe.
    """
    values = _request(options)
    catalog = catalog_of(values["catalog"])
    recipe, warnings = given_recipe(values["recipe"], options, "spec.validate.input.recipe", catalog)
    if values["snapshot"] is None:
        raise invalid("snapshot is missing", "name it as option, or as spec.validate.input.snapshot in a config")
    snapshot, notes = read_snapshot(values["snapshot"], options)
    report = validate(
        recipe,
        snapshot,
        catalog,
        phases=values["phases"],
        skip_checks=values["skip_checks"] or (),
        recipe_digest=digest(recipe_to_document(recipe)),
        now=datetime.now(UTC),
        tool_version=RELEASE,
    )
    document = report.to_ctrf()
    product = Document(document, as_format(document, values["format"], lambda: _table(report)), essence)
    dest = values["dest"]
    if dest is not None:
        refuse_remote(dest, "dest")
    return Outcome(
        product=product,
        dest=None if dest is None else expanded(dest),
        digest=product.digest,
        summary=_summary(report),
        warnings=(*values.overruled, *warnings, *notes, *report.warnings),
        incomplete=snapshot.incomplete or (),
        document=document,
        also={"failures": [f"{finding.constraint.name}: {finding.message}" for finding in _not_passed(report)]},
        failure=report.failure() if values["fail_on_error"] else None,
    )


def _not_passed(report: Report) -> list[Finding]:
    return [finding for finding in report.readiness if not finding.passed]


def _summary(report: Report) -> dict[str, object]:
    failed = _not_passed(report)
    unreadable = sum(isinstance(finding.outcome, AicrError) for finding in failed)
    return {
        "passed": len(report.readiness) - len(failed),
        "failed": len(failed) - unreadable,
        "unreadable": unreadable,
        "skipped": len(report.checks),
        "accounting": report.accounting,
    }


def _request(options: Options) -> Request:
    config = read_config(options)
    section = (config.spec.validate if config else None) or ValidateSection()
    source, execution = section.input or ValidateInput(), section.execution or Execution()
    unsupported(
        options["config"],
        {
            "spec.validate.execution.failFast": execution.fail_fast,
            "spec.validate.evidence": section.evidence,
        },
    )
    fields = {
        "recipe": Field("spec.validate.input.recipe", source.recipe or None, place),
        "snapshot": Field("spec.validate.input.snapshot", source.snapshot or None, place),
        "phases": Field(
            "spec.validate.execution.phases",
            list(execution.phases or ()) or None,
            lambda names: [word(name) for name in names],
        ),
        "skip_checks": Field("spec.validate.execution.skipChecks", list(execution.skip_checks or ()) or None),
        "fail_on_error": Field("spec.validate.execution.failOnError", execution.fail_on_error),
    }
    return request(options, VALIDATE, fields)


def _table(report: Report) -> str:
    return columns(
        REPORT.heading,
        [(test.name, test.phase, test.status.value, " ".join(test.message.split())) for test in report.tests],
    )
