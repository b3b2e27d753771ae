# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pod of every node of a bed: which state it is brought to, and why it stays short of it."""

from __future__ import annotations

import itertools
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..api import Api, ApiError, Object
from ..images import ImageSettings, find
from ..nodes import FakeCluster, root_of
from ..slot import Slot
from .annotations import EXECUTE, crashes, held
from .container import now
from .environment import Unresolved, environment, node_ip
from .mirror import Mirror
from .proxy import Proxy
from .queue import WorkQueue
from .run import Bed, Run
from .status import State, running, status, waiting
from .volumes import Sources, contents

_WORKERS = 4
_LONGEST_RETRY = 2.0
_PODS, _SERVICES = "/api/v1/pods", "/api/v1/services"


class Kubelet:
    """Watches the pods that have a node, and gives each the state that a kubelet would."""

    def __init__(self, api: Api, directory: Path, cluster: FakeCluster, slot: Slot) -> None:
        self._api, self._directory, self._cluster, self._slot = api, directory, cluster, slot
        self._queue = WorkQueue()
        self._pods = Mirror(api, _PODS, self._queue.add, "spec.nodeName!=")
        self._services = Mirror(api, _SERVICES, lambda _uid: self._route())
        self._proxy = Proxy()
        self._settings = ImageSettings(directory / "images.json")
        self._runs: dict[str, Run] = {}
        self._over: set[str] = set()
        self._logs: dict[tuple[str, str, str], list[Path]] = {}
        self._numbers: dict[str, int] = {}
        self._next_number = itertools.count()
        self._retries: dict[str, int] = {}
        self._begun: dict[str, float] = {}
        self._events: dict[tuple[str, str, str], tuple[str, int]] = {}

    def run(self) -> None:
        """Work until the process ends."""
        for _worker in range(_WORKERS):
            threading.Thread(target=self._work, daemon=True).start()
        threading.Thread(target=self._services.run, daemon=True).start()
        self._pods.run()

    def logs(self, namespace: str, pod: str, container: str) -> list[Path] | None:
        """The log of each run of a container, the last one at the end; `None` if there is no such pod."""
        if not any(_name(one) == (namespace, pod) for one in self._pods.all()):
            return None
        return self._logs.get((namespace, pod, container), [])

    # ---- what comes in

    def _work(self) -> None:
        while True:
            uid = self._queue.get()
            try:
                self._reconcile(uid)
            except ApiError as error:
                if error.code not in (404, 409):  # it is gone, or another came first: the watch will tell
                    print(f"pod {uid}: {error}", file=sys.stderr, flush=True)
                    self._queue.add(uid, 0.5)
            except Exception:
                traceback.print_exc()
                self._queue.add(uid, 0.5)
            finally:
                self._queue.done(uid)

    # ---- what a pod comes to

    def _reconcile(self, uid: str) -> None:
        pod, run = self._pods.get(uid), self._runs.get(uid)
        if pod is None:
            if run is not None:
                run.stop()
            self._forget(uid)
            self._route()
        elif "deletionTimestamp" in pod["metadata"]:
            if run is None or uid in self._over:
                self._delete(pod)
            else:
                run.pod["metadata"] = pod["metadata"]
                run.stop()
                self._route()
        elif run is not None:
            if run.pod["metadata"] != pod["metadata"]:
                run.pod["metadata"] = pod["metadata"]
                self._route()  # a Service may select it now
        elif pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            self._advance(pod)

    def _advance(self, pod: Object) -> None:
        hold, code, names = held(pod), crashes(pod), [one["name"] for one in pod["spec"]["containers"]]
        everyone = names + [one["name"] for one in pod["spec"].get("initContainers", ())]
        if hold == "pulling":
            image = pod["spec"]["containers"][0]["image"]
            self._event(pod, "Warning", "Failed", f'Failed to pull image "{image}": not found')
            self._patch(
                pod,
                "Pending",
                {name: waiting("ImagePullBackOff", f'Back-off pulling image "{image}"') for name in names},
            )
            return
        if hold is not None and hold != "unready":
            self._patch(pod, "Pending", {})
            return
        node = self._api.get(f"/api/v1/nodes/{pod['spec']['nodeName']}")
        if self._lacks_volume(pod, node) or self._lacks_variable(pod, node, everyone):
            return
        self._retries.pop(pod["metadata"]["uid"], None)
        whole = _is_of_job(pod) or EXECUTE in pod["metadata"].get("annotations", {})
        if code is not None:
            self._crash(pod, code, names)
        elif whole or any(_starts(one) for one in pod["spec"]["containers"]):
            self._execute(pod, node, whole)
        else:
            done = {
                one["name"]: _completed()
                for one in pod["spec"].get("initContainers", ())
                if one.get("restartPolicy") != "Always"
            }
            states = {name: running() for name in everyone} | done
            left = self._left_of_delay(pod)
            if left > 0:
                self._queue.add(pod["metadata"]["uid"], left)
            unready = names if hold or left > 0 else ()
            self._patch(pod, "Running", states, unready=unready, ip=self._ip(pod, node))

    def _left_of_delay(self, pod: Object) -> float:
        """Seconds until a pod in which nothing runs is as late as its images are to be."""
        uid = pod["metadata"]["uid"]
        due = max(self._settings.of(one["image"]).delay for one in pod["spec"]["containers"])
        if not due:
            return 0.0
        return self._begun.setdefault(uid, time.monotonic()) + due - time.monotonic()

    def _lacks_volume(self, pod: Object, node: Object) -> bool:
        for volume in pod["spec"].get("volumes", ()):
            try:
                contents(pod, node, volume, self._sources(node, token=lambda _pod, _source: b""))
            except Unresolved as error:
                message = f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}'
                self._patch(pod, "Pending", {})
                self._event(pod, "Warning", "FailedMount", message)
                self._retry(pod)
                return True
        return False

    def _lacks_variable(self, pod: Object, node: Object, names: list[str]) -> bool:
        for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            try:
                environment(pod, node, one, self._find)
            except Unresolved as error:
                state = waiting("CreateContainerConfigError", str(error))
                self._patch(pod, "Pending", {one["name"]: state})
                self._event(pod, "Warning", "Failed", f"Error: {error}")
                self._retry(pod)
                return True
        return False

    def _crash(self, pod: Object, code: int, names: list[str]) -> None:
        ended: State = {"terminated": {"exitCode": code, "reason": "Error", "startedAt": now(), "finishedAt": now()}}
        if pod["spec"].get("restartPolicy") == "Never":
            self._patch(pod, "Failed", dict.fromkeys(names, ended))
            return
        of = f"pod {pod['metadata']['name']}_{pod['metadata']['namespace']}"
        self._event(pod, "Warning", "BackOff", f"Back-off restarting failed container {names[0]} in {of}")
        state = waiting("CrashLoopBackOff", f"back-off 40s restarting failed container={names[0]} {of}")
        more = {"restarts": dict.fromkeys(names, 3), "last": dict.fromkeys(names, ended)}
        self._patch(pod, "Running", dict.fromkeys(names, state), **more)

    def _execute(self, pod: Object, node: Object, whole: bool) -> None:
        """Execute all of its containers, or only those whose images have a program."""
        uid = pod["metadata"]["uid"]
        self._runs[uid] = run = Run(
            pod,
            node,
            self._directory / "pods" / uid,
            self._ip(pod, node),
            self._slot.pod(self._number(uid)),
            whole,
            Bed(
                self._sources(node, self._token),
                self._services.all,
                lambda: [run.endpoint() for run in list(self._runs.values())],
                self._settings.of,
                self._slot.kubernetes_service,
            ),
            self._publish_run,
            self._finished,
        )
        for one in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            self._logs[(*_name(pod), one["name"])] = run.logs.setdefault(one["name"], [])
        run.start()

    def _finished(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        self._over.add(uid)
        self._queue.add(uid)

    def _publish_run(self, pod: Object, patch: Object) -> None:
        self._route()
        self._publish(pod, patch)

    def _route(self) -> None:
        """Let Services lead where they are to, before anyone can see that they should."""
        self._proxy.sync(self._services.all(), [run.endpoint() for run in list(self._runs.values())])

    def _forget(self, uid: str) -> None:
        self._runs.pop(uid, None)
        self._over.discard(uid)
        self._numbers.pop(uid, None)
        self._retries.pop(uid, None)
        self._begun.pop(uid, None)
        for key in [key for key in list(self._events) if key[0] == uid]:
            self._events.pop(key, None)

    # ---- what goes out

    def _patch(self, pod: Object, phase: str, states: Mapping[str, State], **more: Any) -> None:
        patch = status(pod, phase, states, **more)
        if not _says(pod.get("status", {}), patch):
            self._publish(pod, patch)

    def _publish(self, pod: Object, patch: Object) -> None:
        namespace, name = _name(pod)
        try:
            body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": patch}
            self._api.patch(f"/api/v1/namespaces/{namespace}/pods/{name}/status", body)
        except ApiError as error:
            if error.code not in (404, 409):  # deleted, perhaps with another of the same name in its place
                raise

    def _delete(self, pod: Object) -> None:
        namespace, name = _name(pod)
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self._api.delete(f"/api/v1/namespaces/{namespace}/pods/{name}", body)

    def _retry(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        self._retries[uid] = tries = self._retries.get(uid, 0) + 1
        self._queue.add(uid, min(0.25 * 2**tries, _LONGEST_RETRY))

    def _event(self, pod: Object, kind: str, reason: str, message: str) -> None:
        """Tell it, or that it happened once more."""
        namespace, name = _name(pod)
        key = (pod["metadata"]["uid"], reason, message)
        told, count = self._events.get(key, (f"{name}.{uuid.uuid4().hex[:16]}", 0))
        self._events[key] = (told, count + 1)
        path = f"/api/v1/namespaces/{namespace}/events"
        if count:
            self._api.patch(f"{path}/{told}", {"count": count + 1, "lastTimestamp": now()})
            return
        about = {"kind": "Pod", "apiVersion": "v1", "namespace": namespace, "name": name, "uid": key[0]}
        node = pod["spec"]["nodeName"]
        self._api.create(
            path,
            {
                "metadata": {"name": told, "namespace": namespace},
                "involvedObject": about,
                "type": kind,
                "reason": reason,
                "message": message,
                "count": 1,
                "firstTimestamp": now(),
                "lastTimestamp": now(),
                "source": {"component": "kubelet", "host": node},
                "reportingComponent": "kubelet",
                "reportingInstance": node,
            },
        )

    # ---- where a pod's parts come from

    def _sources(self, node: Object, token: Any) -> Sources:
        roots = self._directory / "roots"
        return Sources(self._find, self._volume_of_claim, token, lambda: root_of(roots, node, self._cluster))

    def _find(self, kind: str, namespace: str, name: str) -> Object | None:
        return self._maybe(f"/api/v1/namespaces/{namespace}/{kind}/{name}")

    def _volume_of_claim(self, namespace: str, name: str) -> Object | None:
        claim = self._maybe(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")
        if claim is None or claim.get("status", {}).get("phase") != "Bound":
            return None
        return self._maybe(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")

    def _maybe(self, path: str) -> Object | None:
        try:
            return self._api.get(path)
        except ApiError as error:
            if error.code != 404:
                raise
            return None

    def _token(self, pod: Object, source: Mapping[str, Any]) -> bytes:
        namespace, name = _name(pod)
        account = pod["spec"].get("serviceAccountName", "default")
        request: Object = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "expirationSeconds": source.get("expirationSeconds", 3600),
                "audiences": [source["audience"]] if "audience" in source else [],
                "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": pod["metadata"]["uid"]},
            },
        }
        answer = self._api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", request)
        token: str = answer["status"]["token"]
        return token.encode()

    def _ip(self, pod: Object, node: Object) -> str:
        """An address for show: the API server refuses loopback ones, so nothing answers there."""
        if pod["spec"].get("hostNetwork"):
            return node_ip(node)
        number = self._number(pod["metadata"]["uid"])
        return f"10.244.{number // 250 % 250}.{1 + number % 250}"

    def _number(self, uid: str) -> int:
        if uid not in self._numbers:
            self._numbers[uid] = next(self._next_number)
        return self._numbers[uid]


def _name(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _is_of_job(pod: Object) -> bool:
    return any(owner["kind"] == "Job" for owner in pod["metadata"].get("ownerReferences", ()))


def _starts(container: Object) -> bool:
    image = find(container["image"])
    return image is not None and image.start is not None


def _completed() -> State:
    return {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}}


def _says(there: Any, wanted: Any) -> bool:
    """Whether a status says already what a patch is to say, whatever its times."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(
            key in ("startedAt", "finishedAt", "startTime") or _says(there.get(key, {} if value == {} else None), value)
            for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(there, list) and len(there) == len(wanted) and all(map(_says, there, wanted))
    return bool(there == wanted)
