# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a script of ours in the cluster: a Job, the script in a ConfigMap, its last message, nothing left behind."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import datetime

from ..errors import AicrError, Code
from . import review
from .apply import apply, delete, path_of
from .connection import Connection, Deadline
from .pod import pod_trouble
from .read import Object, Reader
from .rights import Rule
from .script import COMPONENT, NAME, RUN, UNDER_LEASE, Manifest, Script

PROGRESS_SECONDS = 15.0
RULES: tuple[Rule, ...] = (
    {"apiGroups": ("",), "resources": ("configmaps",), "verbs": ("create", "delete", "list", "patch")},
    {"apiGroups": ("batch",), "resources": ("jobs",), "verbs": ("create", "delete", "list", "patch")},
    {"apiGroups": ("",), "resources": ("pods",), "verbs": ("list",)},
)
"""What it takes to run a script, in its namespace."""
HELPFUL_RULES: tuple[Rule, ...] = (
    {"apiGroups": ("",), "resources": ("events",), "verbs": ("list",)},
    {"apiGroups": ("",), "resources": ("pods/log",), "verbs": ("get",)},
    {"apiGroups": ("",), "resources": ("configmaps", "secrets"), "verbs": ("get",)},
)
"""Without these, less is checked beforehand, and errors say less."""

_RIGHTS_HINT = "docs/accounting.md has a Role with all that it takes"
_UNREAD_SECONDS = 60
"""What has been over for so long, nobody is about to read."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 1.0
_READ_SECONDS = 30.0


class Objects:
    """What a run has made and must remove."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._paths: list[str] = []

    def make(self, manifest: Manifest) -> Object:
        """Make an object; where the answer is lost it counts as made.

        :returns: the object as the server has it.
        """
        path = path_of(manifest)
        self._paths.append(path)
        try:
            return apply(self._connection, manifest)
        except AicrError as error:
            status = error.details.get("status")
            if isinstance(status, int) and 400 <= status < 500:
                self._paths.remove(path)
            raise

    def remove(self, path: str) -> None:
        """Remove one object."""
        delete(self._connection, path)
        self._paths.remove(path)

    def remove_all(self) -> list[str]:
        """Remove everything, the last first.

        :returns: what is left, and why.
        """
        left = []
        for path in reversed(self._paths):
            try:
                delete(self._connection, path)
            except AicrError as error:
                left.append(error.message)
        self._paths.clear()
        return left

    @contextlib.contextmanager
    def removed(self) -> Iterator[list[str]]:
        """Remove everything at the end of a block, also after a failure, whose hint then names what is left.

        Yields the list of what is left, which is filled when the block has ended.
        """
        left: list[str] = []
        try:
            yield left
        except AicrError as error:
            left += self.remove_all()
            if not left:
                raise
            hint = "; ".join(filter(None, [error.hint, f"these were left behind: {', '.join(left)}"]))
            raise AicrError(error.code, error.message, hint, {**error.details, "left": [*left]}) from error
        except BaseException:
            self.remove_all()
            raise
        left += self.remove_all()


def trouble(connection: Connection, namespace: str, job: str, pod: Object | None) -> str:
    """What a pod and its events say or, where there is no pod, the events of its Job.

    :param job: the UID of the Job.
    """
    events: list[Object] = []
    query = {"fieldSelector": f"involvedObject.uid={pod['metadata']['uid'] if pod else job}"}
    with contextlib.suppress(AicrError):  # what the pod itself says is worth more than a second error
        events = Reader(connection, Deadline(_READ_SECONDS)).fold(
            f"/api/v1/namespaces/{namespace}/events", list[Object], list.append, query
        )
    return pod_trouble(pod, events)


def require_rights(connection: Connection, namespace: str) -> None:
    """:raises AicrError: UNAUTHORIZED with every right that the caller lacks."""
    review.require(connection, review.rights_of(RULES, namespace), _RIGHTS_HINT)


def rehearse(connection: Connection, script: Script) -> None:
    """Let the server judge what a run would make, and store nothing.

    :raises AicrError: what the server would refuse; NOT_FOUND without the namespace.
    """
    for manifest in (script.configmap(), script.job()):
        apply(connection, manifest, dry_run=True)


def run(connection: Connection, script: Script, tell: Callable[[str], None]) -> str:
    """Run a script and wait for what it has to say; then remove what was made, also after a failure.

    What a run left that was killed is removed as well.

    :param tell: takes a line about the progress, now and then.
    :returns: the termination message of its pod.
    :raises AicrError: TIMEOUT if it does not end in time, SERVICE_UNAVAILABLE if its pod fails, each with what the pod
        and the events say; otherwise see :func:`request.ask`.
    """
    objects = Objects(connection)
    with objects.removed():
        code = objects.make(script.configmap())
        _sweep(connection, script, str(code["metadata"]["creationTimestamp"]))
        job = objects.make(script.job())
        apply(connection, script.configmap(owner=job))
        return _message(connection, script, job, tell)


def _message(connection: Connection, script: Script, job: Object, tell: Callable[[str], None]) -> str:
    deadline, pause, told = Deadline(script.seconds), _FIRST_PAUSE_SECONDS, time.monotonic()
    uid, pod = str(job["metadata"]["uid"]), None
    while deadline.left:
        time.sleep(min(pause, deadline.left))
        pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)
        pod = _pod_of(connection, script)
        phase = pod["status"].get("phase") if pod else None
        if pod is not None and phase in ("Succeeded", "Failed"):
            containers = pod["status"].get("containerStatuses") or ()
            messages = [str(one["state"].get("terminated", {}).get("message") or "") for one in containers]
            message = "".join(messages)
            if phase == "Succeeded" and message:
                return message
            raise AicrError(
                Code.SERVICE_UNAVAILABLE,
                f"Job {script.namespace}/{script.name} has failed: {trouble(connection, script.namespace, uid, pod)}",
                "mend what is said of the pod; its image must have bash, and what the script calls",
            )
        if time.monotonic() - told >= PROGRESS_SECONDS:
            told = time.monotonic()
            why = trouble(connection, script.namespace, uid, pod)
            tell(f"{connection.name}: {script.component}: {why}; {deadline.left:.0f} s are left")
    raise AicrError(
        Code.TIMEOUT,
        f"Job {script.namespace}/{script.name} has not ended within {script.seconds:g} s: "
        f"{trouble(connection, script.namespace, uid, pod)}",
        "mend what is said of the pod, or allow more time",
    )


def _pod_of(connection: Connection, script: Script) -> Object | None:
    """The pod of a script, if it has one by now."""
    query = {"labelSelector": f"{RUN}={script.run},{COMPONENT}={script.component}"}
    path = f"/api/v1/namespaces/{script.namespace}/pods"
    found: list[Object] = Reader(connection, Deadline(_READ_SECONDS)).fold(path, list[Object], list.append, query)
    return found[0] if found else None


def _sweep(connection: Connection, script: Script, now: str) -> None:
    """Remove what a killed run has left, and nothing of one that may be at work beside this one.

    A Job that has been over for a while, or is overdue, has nobody who waits for it. Of those of a run that held the
    Lease none has, if this run holds it. A ConfigMap has an owner as soon as its Job is made.

    :param now: the time of the API server, as one of its timestamps.
    """
    query = {"labelSelector": f"{NAME}=aicr,{COMPONENT}={script.component},{RUN}!={script.run}"}
    reader = Reader(connection, Deadline(_READ_SECONDS))
    for manifest, is_left in ((script.job(), _is_left_job), (script.configmap(), _is_orphan)):
        path = path_of(manifest).rpartition("/")[0]
        for item in reader.fold(path, list[Object], list.append, query):
            dead = script.under_lease and UNDER_LEASE in item["metadata"]["labels"]
            if dead or is_left(item, now):
                delete(connection, f"{path}/{item['metadata']['name']}")


def _is_left_job(job: Object, now: str) -> bool:
    bound = float(job["spec"].get("activeDeadlineSeconds") or 0)
    ends = [
        one["lastTransitionTime"]
        for one in (job.get("status") or {}).get("conditions") or ()
        if one.get("type") in ("Complete", "Failed") and one.get("status") == "True"
    ]
    if ends:
        return _seconds(ends[0], now) > _UNREAD_SECONDS
    return _seconds(job["metadata"]["creationTimestamp"], now) > bound


def _is_orphan(configmap: Object, now: str) -> bool:
    metadata = configmap["metadata"]
    return not metadata.get("ownerReferences") and _seconds(metadata["creationTimestamp"], now) > _UNREAD_SECONDS


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
