# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage snapshot for nodes that nobody reaches by SSH: a Job on each looks at it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts.digest import digest
from ..artifacts.merged_snapshot import merge_snapshots
from ..artifacts.snapshot import Snapshot, snapshot_from_document, snapshot_to_document
from ..artifacts.versions import RELEASE
from ..cluster import agent as nodes_from_within
from ..cluster.address import NAMESPACE
from ..cluster.agent_job import Agent
from ..cluster.connection import Connection
from ..errors import AicrError, Code, invalid, raise_all
from .action import Result
from .cluster import connect
from .destination import destination
from .host_facts import refuse_gaps
from .options import Options
from .outcome import Document, Outcome
from .snapshot import placed, told_differences
from .source import read


def make_agent_snapshot(options: Options, *, check_mode: bool, tell: Callable[[str], None]) -> Result:
    """Look at nodes from within.

    :param check_mode: make nothing in the cluster, but let it judge what would be made.
    :param tell: takes a line about the progress of a long wait.
    :raises AicrError: what is wrong with the options, the way to the cluster, the caller's rights, or the nodes; see
        :func:`cluster.agent.look`.
    """
    _check(options)
    connection = connect(options)
    nodes_from_within.require_rights(connection, options["namespace"])
    there = nodes_from_within.list_nodes(connection)
    nodes = nodes_from_within.choose(there, options["nodes"] or (), options["select"] == "all")
    agent = _agent(options, connection)
    if check_mode:
        nodes_from_within.rehearse(connection, agent, nodes[0])
        return _prediction(nodes, options)
    looked = nodes_from_within.look(connection, agent, nodes, tell)
    left = [f"left behind in the cluster: {what}" for what in looked.left]
    merged = merge_snapshots([_snapshot(node, seen) for node, seen in looked.observed.items()])
    gaps = merged.incomplete or ()
    if options["on_partial"] == "fail":
        refuse_gaps(gaps, "see to what is missing, or set on_partial to accept")
    differing, differences = told_differences(merged)
    document = snapshot_to_document(merged)
    product, dest = placed(document, options["format"], options["dest"], options)
    return Outcome(
        product=product,
        dest=dest,
        digest=digest(document),
        summary={
            "nodes": list(nodes),
            "gpus": merged.reading("GPU", "hardware", "gpu-count"),
            "model": merged.reading("GPU", "hardware", "model"),
            "differing": differing,
            "requests": connection.requests,
        },
        warnings=[*_notes(looked.observed), *differences, *_told_gaps(gaps), *left],
        incomplete=gaps,
        document=document,
    )


def _check(options: Options) -> None:
    """What can be known to be wrong before the cluster is asked anything."""
    problems: list[AicrError] = []
    if not NAMESPACE.fullmatch(options["namespace"]):
        problems.append(invalid(f'namespace: "{options["namespace"]}" is no name of one'))
    if not options["collectors"]:
        problems.append(invalid("collectors: none is named", "name some of os, systemd, gpu"))
    if options["nodes"] and options.stated("select"):
        problems.append(invalid("nodes and select both say which nodes are meant", "keep one of them"))
    try:
        destination(Document({}, ""), options["dest"], options["format"], options)
    except AicrError as error:
        problems.append(error)
    raise_all(problems)


def _agent(options: Options, connection: Connection) -> Agent:
    return Agent(
        run=uuid.uuid4().hex[:8],
        namespace=options["namespace"],
        timeouts={name: options["timeouts"][name] for name in options["collectors"]},
        image=options["image"],
        image_pull_secrets=tuple(options["image_pull_secrets"] or ()),
        selinux_type=options["selinux_type"],
        seconds=options["timeout"],
        recursive=nodes_from_within.knows_recursive_mounts(connection),
    )


def _snapshot(node: str, seen: Mapping[str, Any]) -> Snapshot:
    """What a node said of itself, held to be anything until it is decoded."""
    if not seen.get("measurements"):
        gaps = [str(gap) for gap in seen.get("incomplete") or ()]
        raise AicrError(
            Code.SERVICE_UNAVAILABLE, f"{node}: nothing could be read: {'; '.join(gaps)}", "", {"node": node}
        )
    document = {
        "metadata": {"timestamp": seen.get("timestamp"), "version": RELEASE, "source-node": node},
        "measurements": seen["measurements"],
        "incomplete": seen.get("incomplete") or [],
    }
    return snapshot_from_document(document, f"node {node}")[0]


def _notes(observed: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [f"{node}: {note}" for node, seen in observed.items() for note in seen.get("notes") or ()]


def _told_gaps(gaps: Sequence[str]) -> list[str]:
    return ["the snapshot has gaps: " + "; ".join(gaps)] if gaps else []


@dataclass(frozen=True)
class _Prediction:
    """What can be said of nodes that were not looked at: what stands at ``dest`` is taken to stand.

    :ivar present: the snapshot there, if there is one.
    """

    dest: str | None
    present: dict[str, Any] | None
    nodes: Sequence[str]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del check_mode, diff
        what = "the snapshot there is taken to stand" if self.present else "what they are is not known"
        result: dict[str, Any] = {
            "changed": self.dest is not None and self.present is None,
            "path": self.dest,
            "digest": digest(self.present) if self.present else None,
            "summary": {"nodes": list(self.nodes)},
            "warnings": [f"check mode: no Job is run on {', '.join(self.nodes)}; {what}"],
            "incomplete": list((self.present or {}).get("incomplete") or ()),
        }
        if return_document:
            result["document"] = self.present
        return result


def _prediction(nodes: Sequence[str], options: Options) -> _Prediction:
    dest = options["dest"]
    try:
        present = read(dest, "snapshot", options).document if dest is not None else None
    except AicrError as error:
        if error.code not in (Code.NOT_FOUND, Code.INVALID_REQUEST):  # nothing, or something else
            raise
        present = None
    return _Prediction(dest, present if isinstance(present, dict) else None, nodes)
