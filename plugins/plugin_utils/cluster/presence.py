# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the objects of a release are still in the cluster: Helm compares records, and takes them for the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import yamlio
from ..errors import AicrError
from .discovery import Kind, kinds
from .read import Reader
from .rendered import parts
from .request import is_gap

_HEAD = re.compile(r"^(?:apiVersion|kind|metadata):.*\n?(?:[ \t].*\n?|\n)*", re.MULTILINE)
_PASSING = ("Job", "Pod")
"""Kinds whose objects may end, and be removed, by themselves."""
_AT_ONCE = 8


class Presence:
    """Looks for the objects of releases; asks once for what an API version serves."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kinds: dict[str, dict[str, Kind]] = {}

    def missing(self, manifest: str, namespace: str) -> list[str]:
        """The objects of a rendered release that are not there. What cannot be asked for is taken to be there.

        :param manifest: as Helm keeps it: without hooks, which come and go.
        :param namespace: that of the release, in which objects are that name none.
        :raises AicrError: a rejected login or a lost transport; see :func:`request.is_gap`.
        """
        wanted = [one for one in heads(manifest) if _stays(one)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            gone = list(pool.map(lambda one: self._is_gone(one, namespace), wanted))
        return [
            f"{one['kind']} {one['metadata']['name']}" for one, is_gone in zip(wanted, gone, strict=True) if is_gone
        ]

    def _is_gone(self, one: Mapping[str, Any], namespace: str) -> bool:
        metadata = one["metadata"]
        try:
            kind = self._kind(str(one["apiVersion"]), str(one["kind"]))
            if kind is None:
                return False
            return self._reader.find(f"{kind.path(metadata.get('namespace') or namespace)}/{metadata['name']}") is None
        except AicrError as error:
            if not is_gap(error):
                raise
            return False

    def _kind(self, api_version: str, kind: str) -> Kind | None:
        if api_version not in self._kinds:
            self._kinds[api_version] = kinds(self._reader, api_version)
        return self._kinds[api_version].get(kind)


def _stays(one: Mapping[str, Any]) -> bool:
    metadata = one.get("metadata")
    named = isinstance(metadata, dict) and metadata.get("name") and one.get("apiVersion")
    return bool(named) and one.get("kind") not in (None, *_PASSING)


def heads(manifest: str) -> Iterator[dict[str, Any]]:
    """Version, kind and metadata of each object. Nothing else is read where that can be told from the text alone, for
    definitions of kinds are long."""
    for part in parts(manifest):
        text = "".join(one if one.endswith("\n") else f"{one}\n" for one in _HEAD.findall(part))
        document = _read(text)
        if document.get("kind") == "List" or not {"apiVersion", "kind", "metadata"} <= document.keys():
            document = _read(part)
        items = document.get("items") if document.get("kind") == "List" else [document]
        yield from (one for one in items or () if isinstance(one, dict))


def _read(text: str) -> dict[str, Any]:
    try:
        document = yamlio.load(text, "rendered")
    except AicrError:
        return {}
    return document if isinstance(document, dict) else {}
