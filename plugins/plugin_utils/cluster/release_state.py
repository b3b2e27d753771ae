# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is installed: the newest revision of a Helm release, read from where Helm keeps it.

Helm 3 and 4 keep each revision in a Secret of type ``helm.sh/release.v1``, with name, status and number as labels; what
it holds is JSON, zipped, in base64, within the base64 of every Secret.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import AicrError, Code, conflict
from .connection import Connection, Deadline
from .read import Object, Reader
from .request import ask, get

DIGEST_LABEL = "aicr.run/chart-digest"
"""Our own, on the Secret: the content of the chart (:class:`chart_source.Chart`)."""
ATTEMPT_LABEL = "aicr.run/attempt"
"""Our own, drawn anew for each helm that we start. One that somebody else starts hands on that of the revision before,
so a mark that two revisions have tells nothing."""
UNDER_LEASE = "run-"
"""What the mark of a helm begins with that was started under the Lease of a run."""
MAX_RELEASE_BYTES = 256 * 1024 * 1024

_QUERY = {"fieldSelector": "type=helm.sh/release.v1"}
UNINSTALLING = "uninstalling"
"""The state of a release whose removal was ended in the middle; to remove it again goes on from there."""

_PENDING = ("pending-install", "pending-upgrade", "pending-rollback", UNINSTALLING)
_BEGUN = ("pending-install", "pending-upgrade")
_WRITE_SECONDS = 30.0
_ATTEMPTS = 3


@dataclass(frozen=True)
class Installed:
    """The newest revision of a release.

    :ivar status: Helm's word; ``deployed`` is the good one.
    :ivar values: what its user gave.
    :ivar manifest: its objects as they were rendered, which may hold secrets.
    :ivar changed: when the revision was made, or its removal began.
    :ivar last_good: the newest revision that was deployed, if there is one.
    :ivar attempt: the mark of the helm of ours that made the revision, if it was one.
    :ivar secret: where Helm keeps it: path and UID.
    """

    revision: int
    status: str
    chart: str
    version: str
    digest: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    manifest: str = field(default="", repr=False)
    changed: str = ""
    description: str = field(default="", repr=False)
    last_good: int | None = None
    attempt: str | None = None
    secret: tuple[str, str] = ("", "")

    @property
    def is_pending(self) -> bool:
        """Whether Helm is at work on it, or was ended in the middle."""
        return self.status in _PENDING

    @property
    def is_uninstalled(self) -> bool:
        """Whether nothing is left of it but its history, which Helm was told to keep."""
        return self.status == "uninstalled"

    @property
    def is_left_by_a_run(self) -> bool:
        """Whether it is pending, and a run made it that held the Lease.

        Whoever holds the Lease now knows that this run is over, and its helm with it (:mod:`helm_watch`).
        """
        return self.status in _BEGUN and (self.attempt or "").startswith(UNDER_LEASE)


@dataclass
class _Newest:
    revision: int = 0
    last_good: int | None = None
    data: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attempts: list[str] = field(default_factory=list)

    def take(self, secret: Object) -> None:
        metadata = secret.get("metadata") or {}
        labels = metadata.get("labels") or {}
        number = str(labels.get("version", ""))
        if not number.isdecimal():
            return
        revision = int(number)
        if labels.get("status") == "deployed":
            self.last_good = max(revision, self.last_good or 0)
        if ATTEMPT_LABEL in labels:
            self.attempts.append(labels[ATTEMPT_LABEL])
        if revision > self.revision:
            self.revision, self.labels = revision, dict(labels)
            self.metadata = {key: str(metadata.get(key, "")) for key in ("name", "uid")}
            self.data = str((secret.get("data") or {}).get("release") or "")


def find(reader: Reader, namespace: str, name: str) -> Installed | None:
    """The release of a name in a namespace, or ``None``.

    Revisions that were superseded are not even asked for: each holds a whole chart.

    :raises AicrError: SERVICE_UNAVAILABLE if it cannot be decoded; see :func:`request.ask`.
    """
    selector = {"labelSelector": f"owner=helm,name={name},status!=superseded"}
    path = f"/api/v1/namespaces/{namespace}/secrets"
    newest = reader.fold(path, _Newest, _Newest.take, _QUERY | selector)
    if not newest.revision:
        return None
    release = _decoded(newest.data, f"release {namespace}/{name}, revision {newest.revision}")
    attempt = newest.labels.get(ATTEMPT_LABEL)
    info, metadata = release.get("info") or {}, (release.get("chart") or {}).get("metadata") or {}
    status = str(info.get("status") or newest.labels.get("status") or "unknown")
    return Installed(
        revision=newest.revision,
        status=status,
        chart=str(metadata.get("name", "")),
        version=str(metadata.get("version", "")),
        digest=newest.labels.get(DIGEST_LABEL),
        values=release.get("config") or {},
        manifest=str(release.get("manifest") or ""),
        changed=str(info.get("deleted" if status == UNINSTALLING else "last_deployed") or ""),
        description=str(info.get("description") or ""),
        last_good=newest.last_good,
        attempt=attempt if attempt is not None and newest.attempts.count(attempt) == 1 else None,
        secret=(f"{path}/{newest.metadata['name']}", newest.metadata["uid"]),
    )


def mark_failed(connection: Connection, state: Installed) -> None:
    """Write down of a revision in between that it failed, as its helm would have done had it not been ended.

    :raises AicrError: CONFLICT if the revision has changed since it was read; see :func:`request.ask`.
    """
    path, uid = state.secret
    for _attempt in range(_ATTEMPTS):
        secret = get(connection, path, Deadline(_WRITE_SECONDS))
        release = _decoded(str((secret.get("data") or {}).get("release") or ""), path)
        info = release.setdefault("info", {})
        if info.get("status") == "failed":  # an earlier attempt, whose answer was lost
            return
        if secret["metadata"]["uid"] != uid or info.get("status") != state.status:
            break
        info.update(status="failed", description="its helm was ended in the middle, says aicr.runtime")
        packed = base64.b64encode(gzip.compress(json.dumps(release).encode(), mtime=0))
        secret["data"]["release"] = base64.b64encode(packed).decode()
        secret["metadata"]["labels"]["status"] = "failed"
        try:
            ask(connection, path, Deadline(_WRITE_SECONDS), method="PUT", body=json.dumps(secret).encode())
        except AicrError as error:
            if error.details.get("status") != 409:
                raise
        else:
            return
    raise conflict(f"{path}: changes meanwhile: a helm works on the release", "wait for it, then run again")


def way_out(namespace: str, name: str, installed: Installed, option: str, *, removing: bool = False) -> str:
    """What a person can do about a release in between.

    :param option: what lets a run go on with what a dead one has left.
    :param removing: whether it shall not be there in the end.
    """
    recovery = (
        f"a run began it that held the Lease: if that has died, set {option}=true, and a run goes on from there. Or, "
        if installed.is_left_by_a_run
        else ""
    )
    uninstall = f"helm uninstall {name} --namespace {namespace}"
    if installed.status == UNINSTALLING:
        return (
            "its removal was ended in the middle: run aicr.runtime.uninstall again, which goes on from there, or, once "
            f"it is sure that no helm works on it, `{uninstall}`; then run this again"
        )
    if removing:
        command, since = uninstall, ""
    elif installed.last_good is not None:
        command, since = f"helm rollback {name} {installed.last_good} --namespace {namespace}", ""
    else:
        command, since = uninstall, ", since it was never installed"
    return f"{recovery}once it is sure that no helm works on it: `{command}`{since}, then run again"


def _decoded(data: str, name: str) -> Object:
    try:
        unzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
        text = unzip.decompress(base64.b64decode(base64.b64decode(data)), MAX_RELEASE_BYTES)
        release = json.loads(text)
        if not unzip.eof or not isinstance(release, dict):
            raise ValueError
    except (ValueError, RecursionError, zlib.error):
        raise AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"{name}: the Secret in which Helm keeps it cannot be read",
            "see what `helm history` says of it",
        ) from None
    return release
