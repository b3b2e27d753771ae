# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of our own in a cluster, as a task has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import yamlio
from ..cluster.connection import Connection
from ..cluster.manifests import Judged, check, judge, judge_removal, remove, write
from ..cluster.read import Object
from ..cluster.rendered import masked
from .action import Result
from .cluster import connect
from .lease import RUN, working
from .options import CLUSTER, Options, Spec

SPEC: Spec = {
    **CLUSTER,
    **RUN,
    "manifests": {"type": "list", "elements": "dict", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}

_SERVERS_OWN = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")


def make_manifests(options: Options, *, check_mode: bool) -> Result:
    """Have the server judge what would be written or removed.

    :raises AicrError: everything that is wrong with the manifests, or that the server refuses.
    """
    manifests, absent = options["manifests"], options["state"] == "absent"
    check(manifests, absent=absent)
    connection = connect(options)
    if absent:
        return _Manifests(options, connection, judge_removal(connection, manifests))
    return _Manifests(options, connection, judge(connection, manifests, check_mode=check_mode))


@dataclass(frozen=True)
class _Manifests:
    options: Options
    connection: Connection
    judged: list[Judged]

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        del return_document
        changed = any(one.differs for one in self.judged)
        absent = self.options["state"] == "absent"
        with working(self.options, self.connection, check_mode=check_mode) as begin:
            if absent:
                remove(self.connection, self.judged, begin, dry_run=check_mode)
            elif not check_mode:  # what would be written, the server has judged
                write(self.connection, self.judged, begin)
        result: dict[str, Any] = {
            "changed": changed,
            "manifests": [_told(one, check_mode) for one in self.judged],
        }
        if diff and changed:
            result["diff"] = [_diff(one) for one in self.judged if one.differs]
        return result


def _told(one: Judged, check_mode: bool) -> dict[str, Any]:
    metadata = one.manifest["metadata"]
    told: dict[str, Any] = {
        "kind": one.manifest["kind"],
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "changed": one.differs,
    }
    if check_mode:
        told["predicted"] = bool(one.predicted)
        if one.predicted:
            told["unjudged"] = one.predicted
    return told


def _diff(one: Judged) -> dict[str, str]:
    after = dict(one.manifest) if one.predicted else one.after
    return {
        "before_header": str(one),
        "before": _shown(one.before, after, "before"),
        "after_header": str(one),
        "after": _shown(after, one.before, "after"),
    }


def _shown(one: Object | None, other: Object | None, word: str) -> str:
    if one is None:
        return ""
    metadata = {key: value for key, value in one["metadata"].items() if key not in _SERVERS_OWN}
    return yamlio.dump(masked({**one, "metadata": metadata}, other, word))
