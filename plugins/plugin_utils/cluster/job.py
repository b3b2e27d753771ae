# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a script of ours in the cluster: a Job, the script in a ConfigMap, its last message, nothing left behind."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..artifacts.versions import GROUP, RELEASE
from ..errors import AicrError, Code
from .apply import apply, delete, path_of
from .connection import Connection, Deadline
from .pod import pod_trouble
from .read import Object, Reader
from .rights import Rule

Manifest = dict[str, Any]

SPARE_SECONDS = 60
"""The cluster ends a Job by itself so much later than the controller would, which then may be gone."""
KEPT_SECONDS = 600
"""How long the cluster keeps an ended Job if the controller is gone and cannot remove it."""
PROGRESS_SECONDS = 15.0
RUN = f"{GROUP}/run-id"
"""Label of all objects of one run."""
NAME, COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/component"
UNDER_LEASE = f"{GROUP}/under-lease"
"""Label of what was made by a run that holds the cluster's Lease: whoever holds it next knows that run to be over."""
RULES: tuple[Rule, ...] = (
    {"apiGroups": ("",), "resources": ("configmaps",), "verbs": ("create", "delete", "list", "patch")},
    {"apiGroups": ("batch",), "resources": ("jobs",), "verbs": ("create", "delete", "list", "patch")},
    {"apiGroups": ("",), "resources": ("pods",), "verbs": ("list",)},
)
"""What it takes to run a script, in its namespace."""

_SCRIPT = "script.sh"
_FOLDER = "/aicr"
_UNREAD_SECONDS = 60
"""What has been over for so long, nobody is about to read."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 2.0
_READ_SECONDS = 30.0


def labels(component: str, run: str) -> dict[str, str]:
    """What tells our objects from others', and those of one run from those of the next."""
    return {NAME: "aicr", COMPONENT: component, "app.kubernetes.io/version": RELEASE, RUN: run}


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


@dataclass(frozen=True)
class Placement:
    """Where pods of ours run, and with which image: as the workload that they speak for (case N35)."""

    image: str
    image_pull_secrets: tuple[str, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Script:
    """A script to run in a pod. It says what it found as its termination message.

    :ivar component: what it is, in names and labels.
    :ivar run: what tells its objects from those of every other run.
    :ivar text: the script itself, for bash.
    :ivar environment: of the container, as Kubernetes has it.
    :ivar mounts: by their place in the container: volumes, as Kubernetes has them, but for their names.
    :ivar user: the number of the user and the group that it runs as.
    :ivar seconds: how long all of it may take, from the making of the Job.
    :ivar under_lease: whether the run holds the Lease of the cluster.
    """

    component: str
    run: str
    namespace: str
    text: str
    placement: Placement
    environment: Sequence[Mapping[str, Any]] = ()
    mounts: Mapping[str, Manifest] = field(default_factory=dict)
    user: int = 65534
    seconds: float = 120.0
    under_lease: bool = False

    @property
    def name(self) -> str:
        """Of its objects."""
        return f"aicr-{self.component}-{self.run}"

    def configmap(self, owner: Object | None = None) -> Manifest:
        """The ConfigMap with the script. Owned by its Job it goes with that, whatever becomes of the controller."""
        manifest = self._object("v1", "ConfigMap", data={_SCRIPT: self.text})
        if owner is not None:
            uid = owner["metadata"]["uid"]
            reference = {"apiVersion": "batch/v1", "kind": "Job", "name": self.name, "uid": uid}
            manifest["metadata"]["ownerReferences"] = [reference]
        return manifest

    def job(self) -> Manifest:
        """The Job. Its pod has no rights: neither in the cluster, nor of its own kernel beyond a plain process."""
        spec = {
            "backoffLimit": 0,
            "activeDeadlineSeconds": int(self.seconds) + SPARE_SECONDS,
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "template": {"metadata": {"labels": self._labels}, "spec": self._pod()},
        }
        return self._object("batch/v1", "Job", spec=spec)

    def _pod(self) -> Manifest:
        scratch: Manifest = {"emptyDir": {"sizeLimit": "16Mi"}}
        code: Manifest = {"configMap": {"name": self.name}}
        mounts = {_FOLDER: code, "/tmp": scratch, **self.mounts}
        names = {place: f"volume-{index}" for index, place in enumerate(mounts)}
        pod: Manifest = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 2,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": self.user,
                "runAsGroup": self.user,
                "fsGroup": self.user,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": self.component,
                    "image": self.placement.image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["bash", f"{_FOLDER}/{_SCRIPT}"],
                    "env": [dict(one) for one in self.environment],
                    "resources": {
                        "requests": {"cpu": "50m", "memory": "64Mi"},
                        "limits": {"cpu": "500m", "memory": "256Mi"},
                    },
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "readOnlyRootFilesystem": True,
                    },
                    "terminationMessagePolicy": "File",
                    "volumeMounts": [
                        {"name": names[place], "mountPath": place} | ({} if volume is scratch else {"readOnly": True})
                        for place, volume in mounts.items()
                    ],
                }
            ],
            "volumes": [{"name": names[place], **volume} for place, volume in mounts.items()],
        }
        placement = self.placement
        if placement.node_selector:
            pod["nodeSelector"] = dict(placement.node_selector)
        if placement.tolerations:
            pod["tolerations"] = [dict(one) for one in placement.tolerations]
        if placement.image_pull_secrets:
            pod["imagePullSecrets"] = [{"name": name} for name in placement.image_pull_secrets]
        return pod

    @property
    def _labels(self) -> dict[str, str]:
        return labels(self.component, self.run) | ({UNDER_LEASE: "true"} if self.under_lease else {})

    def _object(self, version: str, kind: str, **content: object) -> Manifest:
        metadata = {"name": self.name, "namespace": self.namespace, "labels": self._labels}
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


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
