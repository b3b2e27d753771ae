# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The audit log of a bed's API server, as a test asks it: who asked for what, and was anything written?"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .api import Api, Object

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
# Reviews of rights are created, but nothing is stored.
_REVIEWS = frozenset(
    {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "selfsubjectreviews"}
)


@dataclass(frozen=True)
class Request:
    """One request as the API server answered it."""

    user: str
    """Empty for somebody whose credentials were not accepted."""
    verb: str
    resource: str
    """With its subresource, as in `pods/log`; empty for what is no resource, such as /version."""
    namespace: str
    name: str
    uri: str
    code: int
    user_agent: str
    body: Object | None
    """Absent for requests without one, and for those that may hold a secret."""

    @property
    def dry_run(self) -> bool:
        return "dryRun=All" in self.uri

    @property
    def writes(self) -> bool:
        """Whether it was to store something: a dry run or a review of rights is not."""
        return self.verb in _WRITES and not self.dry_run and self.resource not in _REVIEWS


@dataclass(frozen=True)
class AuditLog:
    """The log file, and an API of which each request stands in it."""

    path: Path
    api: Api

    @contextlib.contextmanager
    def recording(self, user: str | None = None) -> Iterator[list[Request]]:
        """The requests that are made in the block, there when it has ended; of one user only, if one is given."""
        self._mark()
        start = self.path.stat().st_size
        requests: list[Request] = []
        yield requests
        marker = self._mark()
        requests += [r for r in self._read(start) if marker not in r.uri and (user is None or r.user == user)]

    def _mark(self) -> str:
        """Make a request of our own and wait until it stands in the log, as then all before it do."""
        start = self.path.stat().st_size if self.path.exists() else 0
        marker = uuid.uuid4().hex
        self.api.get("/version", mark=marker)
        end = time.monotonic() + 10
        while not any(marker in request.uri for request in self._read(start)):
            if time.monotonic() > end:
                raise TimeoutError(f"the audit log {self.path} does not grow")
            time.sleep(0.01)
        return marker

    def _read(self, start: int) -> Iterator[Request]:
        with open(self.path, "rb") as log:
            log.seek(start)
            for line in log:
                if line.endswith(b"\n"):  # else it is being written
                    yield _request(json.loads(line))


def _request(event: Object) -> Request:
    about = event.get("objectRef", {})
    resource = about.get("resource", "")
    user = event.get("impersonatedUser") or event["user"]
    return Request(
        user=user.get("username", ""),
        verb=event["verb"],
        resource=f"{resource}/{about['subresource']}" if "subresource" in about else resource,
        namespace=about.get("namespace", ""),
        name=about.get("name", ""),
        uri=event["requestURI"],
        code=event.get("responseStatus", {}).get("code", 0),
        user_agent=event.get("userAgent", ""),
        body=event.get("requestObject"),
    )
