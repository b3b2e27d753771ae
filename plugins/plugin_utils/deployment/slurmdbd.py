# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why slurmdbd does not listen, from its pod: only its log says what the database told it (slurm-accounting.md 2.9)."""

from __future__ import annotations

import contextlib
import re

from ..cluster.connection import Connection, Deadline
from ..cluster.job import trouble
from ..cluster.read import Object, Reader
from ..cluster.request import ask
from ..errors import AicrError

_READ_SECONDS = 30.0
_LOG_LINES, _LOG_BYTES = "60", "32768"
_REFUSAL = re.compile(r"mysql_real_connect failed: (\d+ [^\n]*)")


def why_silent(connection: Connection, namespace: str, name: str) -> str:
    """What keeps slurmdbd from listening, as far as the caller may see it.

    :param name: of the Accounting.
    """
    pods: list[Object] = []
    query = {"labelSelector": f"app.kubernetes.io/name=slurmdbd,app.kubernetes.io/instance={name}"}
    with contextlib.suppress(AicrError):
        path = f"/api/v1/namespaces/{namespace}/pods"
        pods = Reader(connection, Deadline(_READ_SECONDS)).fold(path, list[Object], list.append, query)
    if not pods:
        return f"there is no pod of slurmdbd {name}"
    (pod, *_unused) = pods
    refused = _refused(_log(connection, namespace, pod["metadata"]["name"]))
    said = trouble(connection, namespace, "", pod)
    return f"{said}; its database refuses it: {refused}" if refused else said


def _log(connection: Connection, namespace: str, pod: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
    query = {"container": "slurmdbd", "tailLines": _LOG_LINES, "limitBytes": _LOG_BYTES}
    with contextlib.suppress(AicrError):  # the right to read logs is a help, not a need
        return ask(connection, path, Deadline(_READ_SECONDS), query).body().decode("utf-8", "replace")
    return ""


def _refused(log: str) -> str:
    """The last refusal of the database, and nothing else of the log, which may hold parts of a password (4.4)."""
    refusals = _REFUSAL.findall(log)
    return refusals[-1].strip() if refusals else ""
