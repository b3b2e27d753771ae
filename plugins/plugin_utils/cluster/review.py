# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rights the caller lacks, asked before anything is written: all that are missing are told at once.

Whoever may everything is asked that alone: each question takes a way to the server and back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..errors import AicrError, Code
from .apply import SECONDS
from .connection import Connection, Deadline
from .request import AT_ONCE, ask, document_of, is_gap

_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, order=True)
class Right:
    """One verb on one resource (``pods/log`` with its subresource), in one namespace or, without, in the cluster.

    :ivar name: the one object that it is about; a role may name it.
    """

    verb: str
    group: str
    resource: str
    namespace: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        where = f"in namespace {self.namespace}" if self.namespace else "in the cluster"
        named = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.resource}{'.' if self.group else ''}{self.group}{named} {where}"


EVERYTHING = Right("*", "*", "*")
"""What an administrator may."""


def rights_of(rules: Iterable[Mapping[str, Iterable[str]]], namespace: str | None) -> Iterator[Right]:
    """The rights that the rules of a Role or, without a namespace, of a ClusterRole give."""
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield Right(verb, group, resource, namespace)


def require(connection: Connection, rights: Iterable[Right], hint: str) -> None:
    """Ask the API server for the rights; it stores nothing of that.

    A server that answers no such question will say later, and one by one, what it refuses.

    :raises AicrError: UNAUTHORIZED with every right that is missing; see :func:`request.ask` for a lost transport.
    """
    deadline = Deadline(SECONDS)
    asked = sorted(set(rights), key=str)
    try:
        if len(asked) > 1 and _allowed(connection, EVERYTHING, deadline):
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            allowed = list(pool.map(lambda right: _allowed(connection, right, deadline), asked))
    except AicrError as error:
        if not is_gap(error):
            raise
        return
    missing = [str(right) for right, may in zip(asked, allowed, strict=True) if not may]
    if missing:
        raise AicrError(
            Code.UNAUTHORIZED,
            f"{connection.name}: the caller lacks rights: {'; '.join(missing)}",
            hint,
            {"missing": missing},
        )


def _allowed(connection: Connection, right: Right, deadline: Deadline) -> bool:
    resource, _unused, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": right.namespace or "",
        "name": right.name or "",
    }
    review: dict[str, Any] = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = ask(connection, _PATH, deadline, method="POST", body=json.dumps(review).encode())
    return bool((document_of(answer, _PATH).get("status") or {}).get("allowed"))
