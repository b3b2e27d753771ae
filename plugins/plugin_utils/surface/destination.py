# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a document goes: a file, or a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..cluster.address import SCHEME, Address, spelled
from ..errors import invalid
from .imports import Imports
from .options import Options
from .outcome import Document, Product
from .path import expanded, real
from .source import refuse_remote


def destination(
    document: Document, dest: str | None, form: str, options: Options
) -> tuple[Product, Path | Address | None]:
    """The product that stands at a place, and the place.

    :param dest: a path, ``cm://namespace/name``, or ``None`` for nowhere.
    :param form: the format that the document is written in.
    :param options: what says which cluster is meant.
    :raises AicrError: INVALID_REQUEST for any other place, or if no cluster is named for a ConfigMap.
    """
    if dest is None:
        return document, None
    if spelled(dest).startswith(SCHEME):
        with Imports() as imports:  # brings the HTTP client along, which no file needs
            from .cluster import in_cluster
        if imports.problem is not None:
            raise imports.problem
        return in_cluster(document, form, options), Address.parse(spelled(dest))
    refuse_remote(dest, "dest")
    return document, expanded(dest)


def refuse_inputs(values: Mapping[str, Any]) -> None:
    """Refuse a destination that is one of the things that its task reads.

    :param values: the whole request.
    :raises AicrError: INVALID_REQUEST, naming the option.
    """
    dest = values.get("dest")
    for option, text in _inputs(values):
        if dest is not None and _place(text) == _place(dest):
            raise invalid(f"dest is what {option} reads ({text}); nothing was touched", "name another dest")


_INPUTS = ("recipe", "snapshot", "nodes", "baseline", "target", "catalog", "config", "kubeconfig", "ca_cert")


def _inputs(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for option in _INPUTS:
        value = values.get(option)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str):
                yield option, one
    for entry in values.get("set_file") or ():
        yield "set_file", entry.partition("=")[2]


def _place(text: str) -> str | Path:
    return spelled(text) if "://" in text else real(expanded(text))
