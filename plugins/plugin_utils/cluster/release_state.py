# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is installed: the newest revision of a Helm release, read from where Helm keeps it.

Helm 3 and 4 keep each revision in a Secret of type ``helm.sh/release.v1``, with name, status and number as labels; what
it holds is JSON, zipped, in base64, within the base64 of every Secret.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import AicrError, Code
from .read import Object, Reader

DIGEST_LABEL = "aicr.run/chart-digest"
"""Our own, on the Secret: the content of the chart (:class:`chart_source.Chart`)."""
MAX_RELEASE_BYTES = 256 * 1024 * 1024

_QUERY = {"fieldSelector": "type=helm.sh/release.v1"}
_PENDING = ("pending-install", "pending-upgrade", "pending-rollback", "uninstalling")


@dataclass(frozen=True)
class Installed:
    """The newest revision of a release.

    :ivar status: Helm's word; ``deployed`` is the good one.
    :ivar values: what its user gave.
    :ivar manifest: its objects as they were rendered, which may hold secrets.
    :ivar changed: when the revision was made.
    :ivar last_good: the newest revision that was deployed, if there is one.
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

    @property
    def is_pending(self) -> bool:
        """Whether Helm is at work on it, or was ended in the middle."""
        return self.status in _PENDING


@dataclass
class _Newest:
    revision: int = 0
    last_good: int | None = None
    data: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def take(self, secret: Object) -> None:
        labels = (secret.get("metadata") or {}).get("labels") or {}
        number = str(labels.get("version", ""))
        if not number.isdecimal():
            return
        revision = int(number)
        if labels.get("status") == "deployed":
            self.last_good = max(revision, self.last_good or 0)
        if revision > self.revision:
            self.revision, self.labels = revision, dict(labels)
            self.data = str((secret.get("data") or {}).get("release") or "")


def find(reader: Reader, namespace: str, name: str) -> Installed | None:
    """The release of a name in a namespace, or ``None``.

    Revisions that were superseded are not even asked for: each holds a whole chart.

    :raises AicrError: SERVICE_UNAVAILABLE if it cannot be decoded; see :func:`request.ask`.
    """
    selector = {"labelSelector": f"owner=helm,name={name},status!=superseded"}
    newest = reader.fold(f"/api/v1/namespaces/{namespace}/secrets", _Newest, _Newest.take, _QUERY | selector)
    if not newest.revision:
        return None
    release = _decoded(newest.data, f"release {namespace}/{name}, revision {newest.revision}")
    info, metadata = release.get("info") or {}, (release.get("chart") or {}).get("metadata") or {}
    return Installed(
        revision=newest.revision,
        status=str(info.get("status") or newest.labels.get("status") or "unknown"),
        chart=str(metadata.get("name", "")),
        version=str(metadata.get("version", "")),
        digest=newest.labels.get(DIGEST_LABEL),
        values=release.get("config") or {},
        manifest=str(release.get("manifest") or ""),
        changed=str(info.get("last_deployed") or ""),
        description=str(info.get("description") or ""),
        last_good=newest.last_good,
    )


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
