# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the artifacts that a stage starts from come from: a file, or the document itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .. import yamlio
from ..artifacts import codec
from ..artifacts.snapshot import Snapshot, snapshot_from_document
from ..cluster.address import SCHEME, spelled
from ..errors import AicrError, Code, invalid
from .imports import Imports
from .options import Options
from .path import expanded, remote_problem

_MAKERS = {
    "baseline": "run aicr.runtime.snapshot first, which takes the snapshot to compare with",
    "recipe": "make the recipe first, with aicr.runtime.recipe",
    "nodes": "take the snapshot of the node first, with aicr.runtime.host_snapshot or aicr.runtime.snapshot_agent",
    "snapshot": "take the snapshot first, with aicr.runtime.snapshot or aicr.runtime.host_snapshot",
}


@dataclass(frozen=True)
class Source:
    """A document and what to call it in messages.

    :ivar text: the file that holds it; ``None`` if none does.
    """

    document: object
    name: str
    text: bytes | None = None


def read(value: object, option: str, options: Options) -> Source:
    """The document that an option names or holds.

    :param value: the path of a file, ``cm://namespace/name``, an ``https://`` address, or the document as a mapping.
    :param options: what says which cluster is meant, for a ConfigMap.
    :raises AicrError: NOT_FOUND without such a file, INVALID_REQUEST for anything else that is no document; see
        :func:`cluster.http.fetch` for an address.
    """
    if isinstance(value, dict):
        return Source(value, f"option {option}")
    if not isinstance(value, str):
        raise invalid(f"{option}: must be the path of a file, or a document, not {codec.type_name(value)}")
    address = spelled(value)
    if address.startswith(SCHEME):
        with Imports() as imports:  # brings the HTTP client along, which no file needs
            from .cluster import read_configmap
        if imports.problem is not None:
            raise imports.problem
        return Source(read_configmap(address, options), address)
    if address.startswith(("https://", "http://")):
        with Imports() as imports:
            from ..cluster.http import fetch, shown
        if imports.problem is not None:
            raise imports.problem
        text = fetch(address, options.environ)
        return Source(yamlio.load(text, shown(address)), shown(address), text)
    refuse_remote(value, option)
    path = expanded(value)
    try:
        text = yamlio.read_bytes(path)
        return Source(yamlio.load(text, str(path)), str(path), text)
    except AicrError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        hint = f"{_MAKERS[option]}, or name another file" if option in _MAKERS else "name another file"
        if not path.is_absolute():
            hint += f"; relative paths start in {Path.cwd()}"
        raise AicrError(error.code, error.message, hint, error.details) from error


def read_snapshot(value: object, options: Options, option: str = "snapshot") -> tuple[Snapshot, list[str]]:
    """The snapshot that an option names or holds, and warnings about it."""
    source = read(value, option, options)
    return snapshot_from_document(source.document, source.name)


def refuse_remote(value: str, option: str) -> None:
    """Places that cannot be reached: those of the network, and a ConfigMap where a file is due."""
    problem = remote_problem(value, option)
    if problem is not None:
        raise problem
