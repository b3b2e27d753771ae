# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``host_snapshot`` saw on a node, as a Snapshot (spec/surface.md 2.1 and 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from .. import yamlio
from ..artifacts.digest import without_header
from ..artifacts.merged_snapshot import merge_snapshots
from ..artifacts.snapshot import Snapshot, SnapshotHeader, new_snapshot, snapshot_from_document, snapshot_to_document
from ..artifacts.versions import RELEASE
from ..errors import AicrError, Code, invalid, not_found
from .outcome import Document, Outcome
from .plain import plain

_ANSWER = ("node", "timestamp", "measurements", "incomplete", "notes")
_FAILURE = ("msg", "module_stdout", "module_stderr", "rc")


def host_snapshot(observed: Mapping[str, object], dest: Path | None, on_partial: str) -> Outcome:
    """The Snapshot of one node.

    :param observed: the module's result.
    :param dest: the file to write, if any.
    :param on_partial: ``accept`` or ``fail``.
    :raises AicrError: SERVICE_UNAVAILABLE if the module failed on the host, NOT_FOUND if there are gaps and that is a
        failure.
    """
    wanted = {name: observed[name] for name in (*_ANSWER, *_FAILURE) if name in observed}
    seen = cast(dict[str, Any], plain(wanted, "host_snapshot"))
    if "measurements" not in seen:
        raise AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"the host could not be read: {seen.get('msg', 'its answer is none of the module')}",
            "see details for what the host said",
            {name: seen[name] for name in _FAILURE if name in seen},
        )
    gaps = sorted(seen["incomplete"])
    if on_partial == "fail":
        refuse_gaps(gaps, "see to what is missing, use become for what may not be read, or set on_partial to accept")
    snapshot = _snapshot(seen, gaps)
    document = snapshot_to_document(snapshot)
    file = Document(document, yamlio.dump(document), essence=without_header)
    return Outcome(
        product=file,
        dest=dest,
        digest=file.digest,
        summary=_summary(snapshot),
        warnings=[*seen["notes"], *(["the snapshot has gaps: " + "; ".join(gaps)] if gaps else [])],
        incomplete=gaps,
        document=document,
    )


def refuse_gaps(gaps: Sequence[str], hint: str) -> None:
    """:raises AicrError: NOT_FOUND if there are any."""
    if gaps:
        raise not_found("the snapshot would have gaps: " + "; ".join(gaps), hint, incomplete=list(gaps))


def _snapshot(seen: Mapping[str, Any], gaps: list[str]) -> Snapshot:
    """A host without any reading still has a snapshot: one that says so."""
    measured = {"measurements": seen["measurements"]}
    taken = snapshot_from_document(measured, "host_snapshot")[0].measurements if seen["measurements"] else ()
    return new_snapshot(taken, SnapshotHeader(seen["timestamp"], RELEASE, seen["node"]), gaps)


def _summary(snapshot: Snapshot) -> dict[str, object]:
    readings = {
        measurement.type: sum(len(subtype.data or ()) for subtype in measurement.subtypes or ())
        for measurement in snapshot.measurements
    }
    return {
        "node": snapshot.metadata.source_node if snapshot.metadata else None,
        "readings": readings,
        "gpus": snapshot.reading("GPU", "hardware", "gpu-count"),
        "model": snapshot.reading("GPU", "hardware", "model"),
    }


def merged(documents: object) -> dict[str, Any]:
    """The Snapshot of a cluster out of those of its nodes.

    :param documents: a list of Snapshots, or what a filter of Jinja's made of one.
    :raises AicrError: INVALID_REQUEST if one of them is no Snapshot, and what
        :func:`artifacts.merged_snapshot.merge_snapshots` raises.
    """
    given = plain(list(documents) if isinstance(documents, Iterator) else documents, "merge_snapshots")
    if not isinstance(given, list):
        raise invalid("merge_snapshots: takes a list of snapshots", "put the snapshots of all nodes into one list")
    snapshots = [
        snapshot_from_document(document, f"snapshot {position}")[0] for position, document in enumerate(given, start=1)
    ]
    return snapshot_to_document(merge_snapshots(snapshots))
