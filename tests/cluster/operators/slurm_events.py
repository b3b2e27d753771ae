# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of slurm-operator, in events.k8s.io/v1 with series (spec/operators.md 2.2)."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from ..bed.api import ApiError, Object
from .objects import Objects


class Events:
    """What one controller tells of its objects."""

    def __init__(self, objects: Objects, controller: str) -> None:
        self._objects, self._controller = objects, controller
        self._told: dict[tuple[str, ...], tuple[str, int]] = {}

    def tell(self, about: Object, kind: str, reason: str, action: str, note: str) -> None:
        """Write it, or count it: a second one makes a series of two, and later ones are not written."""
        metadata = about["metadata"]
        namespace, key = metadata["namespace"], (metadata["uid"], reason, action, note)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        name, count = self._told.get(key, (f"{metadata['name']}.{uuid.uuid4().hex[:16]}", 0))
        self._told[key] = name, count + 1
        try:
            if count == 0:
                self._objects.create("Event", self._event(about, name, now, kind, reason, action, note))
            elif count == 1:
                series = {"count": 2, "lastObservedTime": now}
                self._objects.patch("Event", namespace, name, {"series": series})
        except ApiError as error:  # the namespace goes, or the event has gone
            if error.code != 404 and "being terminated" not in str(error):
                raise

    def _event(self, about: Object, name: str, now: str, kind: str, reason: str, action: str, note: str) -> Object:
        metadata = about["metadata"]
        regarding = {
            "apiVersion": about["apiVersion"],
            "kind": about["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        }
        return {
            "metadata": {"name": name, "namespace": metadata["namespace"]},
            "eventTime": now,
            "reportingController": self._controller,
            "reportingInstance": f"{self._controller}-bed",
            "type": kind,
            "reason": reason,
            "action": action,
            "note": note,
            "regarding": regarding,
        }
