# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage snapshot, and readings of one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..artifacts.config import SnapshotExecution, SnapshotOutput, SnapshotSection
from ..artifacts.digest import digest, without_header
from ..artifacts.merged_snapshot import differing, merge_snapshots
from ..artifacts.snapshot import Snapshot, snapshot_to_document
from ..artifacts.versions import RELEASE
from ..cluster.address import Address
from ..cluster.collectors import TIMEOUTS
from ..constraints import read, scalar_text
from ..errors import AicrError, invalid, raise_all
from .destination import destination
from .kind import SNAPSHOT as KIND
from .options import SNAPSHOT, Options
from .outcome import Document, Outcome, Product, as_format, columns
from .request import Field, Request, place, read_config, request, unsupported, word
from .source import read_snapshot

if TYPE_CHECKING:
    from ..cluster.connection import Connection


def make_snapshot(options: Options) -> Outcome:
    """Read a cluster.

    :raises AicrError: what is wrong with the options, the way to the cluster, or the cluster; see
        :func:`cluster.snapshot.collect`.
    """
    values = _request(options)
    _check(values)
    document, summary, warnings = _take(values, options)
    said = digest(document)  # before there is a text: both at once are the most memory that a large cluster needs
    form = values["format"]
    product, dest = placed(document, form, values["dest"], options)
    return Outcome(
        product=product,
        dest=dest,
        digest=said,
        summary=summary,
        warnings=[*values.overruled, *warnings],
        incomplete=document.get("incomplete", ()),
        document=document if options["return_document"] else None,
    )


def placed(
    document: Mapping[str, Any], form: str, dest: str | None, options: Options
) -> tuple[Product, Path | Address | None]:
    """A snapshot as what stands at a place, and the place; see :func:`destination` for what it raises.

    It is written and compared as text, and keeps no more of a document as large as its cluster than its header.
    """
    text = as_format(document, form, lambda: _table(document))
    header = {name: value for name, value in document.items() if name != "measurements"}
    return destination(Document(header, text, without_header, _HEADER), dest, form, options)


def told_differences(snapshot: Snapshot) -> tuple[int, list[str]]:
    """How many readings are not the same on all nodes, and a warning that names some of them."""
    paths = differing(snapshot)
    if not paths:
        return 0, []
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    named = ", ".join(paths[:_MOST_NAMED])
    return len(paths), [f"the nodes differ in {named}{more}; a constraint on these must hold on every node"]


def _take(values: Mapping[str, Any], options: Options) -> tuple[dict[str, Any], dict[str, object], list[str]]:
    """A snapshot's document, its summary, and what to tell about it; the rest of it is gone before a text is made."""
    from ..cluster.snapshot import collect
    from .cluster import connect

    connection = connect(options)
    taken = collect(
        connection,
        values["collectors"],
        values["timeouts"],
        values["max_nodes_per_entry"],
        values["on_partial"],
        now=datetime.now(UTC),
        tool_version=RELEASE,
    )
    snapshot, warnings = taken.snapshot, list(taken.warnings)
    summary = _summary(snapshot, connection)
    if values["nodes"]:
        of_nodes = [read_snapshot(node, options, "nodes") for node in values["nodes"]]
        snapshot = merge_snapshots([snapshot, *(node for node, _unused in of_nodes)])
        count, differences = told_differences(snapshot)
        summary |= {"differing": count}
        warnings += [*(warning for _unused, told in of_nodes for warning in told), *differences]
    return snapshot_to_document(snapshot), summary, warnings


def look_up_readings(paths: Sequence[str], options: Options) -> tuple[list[Any], list[str]]:
    """The reading at each constraint path, and warnings about the snapshot.

    :raises AicrError: NOT_FOUND for a reading that the snapshot lacks; see :func:`constraints.read`.
    """
    snapshot, warnings = read_snapshot(options["snapshot"], options)
    return [read(path, snapshot) for path in paths], warnings


_MOST_NAMED = 5

_HEADER = re.compile(r'^metadata:\n(?:  .*\n)*|^  "metadata": \{\n(?:    .*\n)*  \},?\n', re.MULTILINE)
"""Of a snapshot as YAML or JSON: when and where it was taken."""


def _request(options: Options) -> Request:
    config = read_config(options)
    section = (config.spec.snapshot if config else None) or SnapshotSection()
    output, execution = section.output or SnapshotOutput(), section.execution or SnapshotExecution()
    unsupported(options["config"], {"spec.snapshot.output.template": output.template})
    return request(
        options,
        SNAPSHOT,
        {
            "dest": Field("spec.snapshot.output.path", output.path or None, place),
            "format": Field("spec.snapshot.output.format", output.format or None, word),
            "max_nodes_per_entry": Field(
                "spec.snapshot.execution.maxNodesPerEntry", execution.max_nodes_per_entry or None
            ),
        },
    )


def _check(values: Mapping[str, Any]) -> None:
    problems: list[AicrError] = []
    if values["max_nodes_per_entry"] < 0:
        problems.append(invalid("max_nodes_per_entry: must not be below 0", "0 names all nodes"))
    if not values["collectors"]:
        problems.append(invalid("collectors: none is named", f"name some of {', '.join(TIMEOUTS)}"))
    raise_all(problems)


def _summary(snapshot: Snapshot, connection: Connection) -> dict[str, object]:
    return {
        "version": snapshot.reading("K8s", "server", "version"),
        "provider": snapshot.reading("K8s", "node", "provider"),
        "nodes": snapshot.reading("NodeTopology", "summary", "node-count"),
        "mariadb": snapshot.reading("K8s", "mariadb-operator", "collection-state"),
        "slinky": snapshot.reading("K8s", "slinky-slurm", "collection-state"),
        "requests": connection.requests,
    }


def _table(document: Mapping[str, Any]) -> str:
    """Readings for people; a reading of an item has the item's context before its key, as a selector has."""
    return columns(KIND.heading, list(_rows(document)))


def _rows(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for measurement in document["measurements"]:
        for subtype in measurement["subtypes"]:
            where = (measurement["type"], subtype["subtype"])
            for key, value in sorted(subtype.get("data", {}).items()):
                yield (*where, key, scalar_text(value))
            for item in subtype.get("items", ()):
                selector = ",".join(f"{key}={scalar_text(value)}" for key, value in item["context"].items())
                for key, value in sorted(item.get("data", {"": ""}).items()):
                    yield (*where, f"[{selector}]" + (f".{key}" if key else ""), scalar_text(value))
