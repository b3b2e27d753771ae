# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed between two snapshots, as a report (spec/surface.md 1.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..artifacts.digest import digest
from ..artifacts.snapshot import snapshot_from_document
from ..errors import MAX_SHOWN, AicrError, conflict
from ..validation.drift import Change, Drift, compare, visible
from .destination import refuse_inputs
from .kind import DRIFT
from .options import Options
from .outcome import Document, Outcome, as_format, columns
from .path import expanded
from .source import read, refuse_remote

MOST_RETURNED = 100
"""Changes that a task returns: a cluster that was rebuilt has thousands, and a result goes with every task after it."""

_MOST_NAMED = 5
_ABSENT = "<nil>"


def compare_snapshots(options: Options) -> Outcome:
    """Compare two snapshots.

    With ``fail_on_drift`` a change fails the task, with CONFLICT and the counts as details, so that nobody takes it for
    bad input; the report is written anyway.

    :raises AicrError: what is wrong with the options, or with one of the snapshots; see :func:`source.read`.
    """
    refuse_inputs(options.values)
    dest, form = options["dest"], options["format"]
    if dest is not None:
        refuse_remote(dest, "dest")
    sources = {option: read(options[option], option, options) for option in ("baseline", "target")}
    decoded = [snapshot_from_document(source.document, source.name) for source in sources.values()]
    (baseline, of_baseline), (target, of_target) = decoded
    drift = compare(baseline, target)
    document = drift.to_document(*(source.name for source in sources.values()))
    told = sorted(drift.changes, key=lambda change: change.of_item)  # one label more moves all items after it
    unnamed = [f"{option}Source" for option in sources if isinstance(options[option], dict)]
    product = Document(document, as_format(document, form, lambda: _table(drift)), _without(unnamed))
    return Outcome(
        product=product,
        dest=None if dest is None else expanded(dest),
        digest=digest({name: document[name] for name in ("changes", "summary")}),
        summary=drift.summary(),
        warnings=[*dict.fromkeys(map(visible, (*of_baseline, *of_target, *drift.warnings))), *_left_out(drift, dest)],
        incomplete=[
            *(visible(f"baseline: {gap}") for gap in baseline.incomplete or ()),
            *(visible(f"target: {gap}") for gap in target.incomplete or ()),
        ],
        document=document,
        also={"changes": [_short(change) for change in told[:MOST_RETURNED]]},
        failure=_failure(drift, told, dest) if options["fail_on_drift"] and told else None,
    )


def _without(unnamed: list[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What two reports must share to say the same: a snapshot that was handed over, as in check mode, has no place."""
    return lambda document: {name: value for name, value in document.items() if name not in unnamed}


def _left_out(drift: Drift, dest: str | None) -> list[str]:
    more = len(drift.changes) - MOST_RETURNED
    where = "but stand in the report" if dest is not None else "and there is no report: name a dest for one"
    return [f"{more} changes are not returned, {where}"] if more > 0 else []


def _short(change: Change) -> dict[str, str]:
    """A change without its severity, which is always the same, and with no more of a long value than shows it."""
    return {
        name: f"{text[:MAX_SHOWN]}…" if name != "path" and len(text) > MAX_SHOWN else text
        for name, text in change.to_document().items()
        if name != "severity"
    }


def _failure(drift: Drift, told: Sequence[Change], dest: str | None) -> AicrError:
    paths = [change.path for change in told]
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    look = "see the report" if dest is not None else "name a dest for a report"
    count = "1 reading is" if len(paths) == 1 else f"{len(paths)} readings are"
    return conflict(
        f"{count} not what the baseline says: {', '.join(paths[:_MOST_NAMED])}{more}",
        f"{look}; if all of it is meant to be so, take a new baseline with aicr.runtime.snapshot",
        **drift.summary(),
        paths=paths[:MOST_RETURNED],
    )


def _table(drift: Drift) -> str:
    rows = [(change.kind.value, change.path, *map(_cell, change.texts)) for change in drift.changes]
    return columns(DRIFT.heading, rows)


def _cell(text: str | None) -> str:
    """A value in one line; nothing is no empty text."""
    if text is None:
        return _ABSENT
    return visible(text) or '""'
