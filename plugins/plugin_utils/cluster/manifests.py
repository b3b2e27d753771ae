# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of our own, several at once: judged by the server before any of them is written, written only if they differ.

The server says what an object would become (a dry run of server-side apply), so defaults, and what others manage in it,
are no difference; and a check and a run come to the same result.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..artifacts.codec import type_name
from ..errors import AicrError, Code, invalid, raise_all
from .address import NAME, NAMESPACE
from .apply import REMOVED, SERVED, apply, delete, path_of
from .connection import Connection, Deadline
from .read import Object, Reader
from .rendered import without

API_VERSIONS: Mapping[str, str] = {"Job": "batch/v1", "Lease": "coordination.k8s.io/v1"}
"""Of the kinds that are not in ``v1``."""

_READ_SECONDS = 30.0
_VOLATILE = ("managedFields", "resourceVersion", "generation")
_SHORTEST_SECRET = 4


@dataclass(frozen=True)
class Judged:
    """An object, as it is and as it would be.

    :ivar before: as it is; ``None`` if it is not there.
    :ivar after: as it would be; ``None`` if it would be gone, or if the server could not judge it.
    :ivar predicted: why it could not.
    """

    manifest: Mapping[str, Any] = field(repr=False)
    before: Object | None = field(repr=False)
    after: Object | None = field(repr=False)
    predicted: str = ""

    @property
    def differs(self) -> bool:
        """Whether it is to be written, or to be removed."""
        if self.predicted:
            return True
        return _essence(self.before) != _essence(self.after)

    def __str__(self) -> str:
        return name_of(self.manifest)


def name_of(manifest: Mapping[str, Any]) -> str:
    """Kind, namespace and name of an object."""
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"


def check(manifests: Sequence[object], *, absent: bool) -> None:
    """What can be known to be wrong before the cluster is asked anything.

    :raises AicrError: INVALID_REQUEST with every manifest that is none of the kinds that this collection writes, has
        no name or namespace, or stands twice; and with a Namespace that would be removed.
    """
    seen: set[str] = set()
    problems: list[AicrError] = []
    for index, manifest in enumerate(manifests):
        wrong = list(_wrong(manifest, f"manifests[{index}]", absent))
        problems += wrong
        if not wrong and isinstance(manifest, Mapping):
            name = name_of(manifest)
            if name in seen:
                problems.append(invalid(f"manifests[{index}]: {name} stands twice", "name each object once"))
            seen.add(name)
    raise_all(problems)


def judge(connection: Connection, manifests: Sequence[Mapping[str, Any]], *, check_mode: bool) -> list[Judged]:
    """What would become of each object, Namespaces first; nothing is written.

    :param check_mode: take a namespace that is missing to be made by an earlier task.
    :raises AicrError: everything that the server refuses, at once.
    """
    ordered = sorted(manifests, key=lambda one: one["kind"] != "Namespace")
    made = {one["metadata"]["name"] for one in manifests if one["kind"] == "Namespace"}
    reader = Reader(connection, Deadline(_READ_SECONDS))
    judged: list[Judged] = []
    problems: list[AicrError] = []
    for one in ordered:
        namespace = one["metadata"].get("namespace")
        try:
            before = reader.find(path_of(one))
            after = apply(connection, one, dry_run=True)
        except AicrError as error:
            if error.code is Code.NOT_FOUND and namespace and (check_mode or namespace in made):
                judged.append(Judged(one, None, None, f"namespace {namespace} is not there yet"))
            else:
                problems.append(_named(error, one))
        else:
            judged.append(Judged(one, before, after))
    raise_all(problems)
    return judged


def judge_removal(connection: Connection, manifests: Sequence[Mapping[str, Any]]) -> list[Judged]:
    """What is there of objects that shall not be, the last one first; nothing is removed."""
    reader = Reader(connection, Deadline(_READ_SECONDS))
    return [Judged(one, reader.find(path_of(one)), None) for one in reversed(manifests)]


def write(connection: Connection, judged: Sequence[Judged], begin: Callable[[], None]) -> None:
    """Write those that differ.

    :param begin: raises if nothing new may be begun.
    :raises AicrError: see :func:`apply.apply`.
    """
    for one in judged:
        if one.differs:
            begin()
            try:
                apply(connection, one.manifest)
            except AicrError as error:
                raise _named(error, one.manifest) from None


def remove(connection: Connection, judged: Sequence[Judged], begin: Callable[[], None], *, dry_run: bool) -> None:
    """Remove those that are there; see :func:`apply.delete` for what it raises."""
    for one in judged:
        if one.differs:
            begin()
            delete(connection, path_of(one.manifest), dry_run=dry_run)


def _wrong(manifest: object, place: str, absent: bool) -> Iterator[AicrError]:
    if not isinstance(manifest, Mapping):
        yield invalid(f"{place}: must be an object, not {type_name(manifest)}")
        return
    kind, metadata = manifest.get("kind"), manifest.get("metadata")
    if kind not in SERVED and not (absent and kind in REMOVED):
        hint = f"these are written: {', '.join(sorted(SERVED))}; everything else comes by charts"
        yield invalid(f'{place}: the kind "{kind}" is not written by this action', hint)
        return
    due = API_VERSIONS.get(str(kind), "v1")
    if manifest.get("apiVersion") != due:
        yield invalid(f'{place}: apiVersion of a {kind} is "{due}", not "{manifest.get("apiVersion")}"')
    if not isinstance(metadata, Mapping):
        yield invalid(f"{place}: {kind} has no metadata")
        return
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not (NAMESPACE if kind == "Namespace" else NAME).fullmatch(name):
        yield invalid(f'{place}: metadata.name "{name}" is no name of a {kind}')
    if kind == "Namespace":
        if absent:
            yield invalid(
                f"{place}: Namespace {name} would be removed with everything in it, data included",
                "this action never does that; kubectl delete namespace does",
            )
    elif not isinstance(namespace, str) or not NAMESPACE.fullmatch(namespace):
        yield invalid(f"{place}: {kind} {name} names no namespace", "set metadata.namespace")
    yield from _ill_held(manifest, place)


def _ill_held(manifest: Mapping[str, Any], place: str) -> Iterator[AicrError]:
    """What is wrong with the data of a Secret or ConfigMap; the API server would call it a fault of its own."""
    for part in ("data", "stringData", "binaryData"):
        held = manifest.get(part)
        for key, value in held.items() if isinstance(held, Mapping) else ():
            encoded = part == "binaryData" or (part == "data" and manifest["kind"] == "Secret")
            if not isinstance(value, str):
                yield invalid(f"{place}: {part}.{key} must be text, not {type_name(value)}", "write it in quotes")
            elif encoded and _decoded(value) is None:
                yield invalid(f"{place}: {part}.{key} is not base64", "use the filter b64encode, or stringData")


def _decoded(value: str) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None


def _essence(one: Object | None) -> object:
    if one is None:
        return None
    metadata = {key: value for key, value in one["metadata"].items() if key not in _VOLATILE}
    return {**one, "metadata": metadata}


def _named(error: AicrError, manifest: Mapping[str, Any]) -> AicrError:
    """An error that names its object, and shows nothing of a Secret."""
    name, message = name_of(manifest), error.message
    if manifest["kind"] == "Secret":
        message = without(message, _held(manifest))
    if name not in message:
        message = f"{name}: {message}"
    hint = error.hint
    if manifest["kind"] == "Job" and error.details.get("status") == 422:
        hint = "what a Job runs cannot be changed: if that is meant, remove it first (state absent), then write it anew"
    return AicrError(error.code, message, hint, {**error.details, "kind": manifest["kind"]})


def _held(secret: Mapping[str, Any]) -> Iterator[str]:
    """Every text that a Secret holds, encoded and not."""
    for part in ("data", "stringData"):
        for value in (secret.get(part) or {}).values():
            if isinstance(value, str) and len(value) >= _SHORTEST_SECRET:
                yield value
                plain = (_decoded(value) or b"").decode(errors="replace")
                if len(plain) >= _SHORTEST_SECRET:
                    yield plain
