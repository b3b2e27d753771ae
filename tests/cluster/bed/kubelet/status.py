# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a pod in the words of a kubelet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..api import Object
from .container import now

State = Mapping[str, Any]
"""One of `waiting`, `running`, `terminated` with its content."""


def waiting(reason: str, message: str = "") -> State:
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


def running() -> State:
    return {"running": {"startedAt": now()}}


def status(
    pod: Object,
    phase: str,
    states: Mapping[str, State],
    *,
    unready: Collection[str] = (),
    ip: str = "",
    restarts: Mapping[str, int] | None = None,
    last: Mapping[str, State] | None = None,
) -> Object:
    """What to patch: phase, conditions and the state of each container, init containers included.

    :param states: by container; those that are missing wait.
    :param unready: the containers that are not ready although they run.
    """
    spec = pod["spec"]
    finished = phase in ("Succeeded", "Failed")
    pending = waiting("PodInitializing" if spec.get("initContainers") else "ContainerCreating")

    def container(one: Object) -> Object:
        name = one["name"]
        state = states.get(name, pending)
        return {
            "name": name,
            "image": one["image"],
            "imageID": "" if "waiting" in state else one["image"],
            "ready": "running" in state and name not in unready,
            "started": "running" in state,
            "restartCount": (restarts or {}).get(name, 0),
            "state": state,
            "lastState": (last or {}).get(name, {}),
        }

    initialized = phase != "Pending"
    not_ready = "PodCompleted" if phase == "Succeeded" else "PodFailed" if finished else "ContainersNotReady"
    statuses = [container(one) for one in spec["containers"]]
    names = [one["name"] for one in statuses if not one["ready"]]
    ready = phase == "Running" and not names
    gates = [gate["conditionType"] for gate in spec.get("readinessGates", ())]
    had = {condition["type"]: condition for condition in pod.get("status", {}).get("conditions", ())}
    open_gates = all(had.get(gate, {}).get("status") == "True" for gate in gates)
    wanted = {
        "PodReadyToStartContainers": (initialized and not finished, ""),
        "Initialized": (initialized, "ContainersNotInitialized"),
        "ContainersReady": (ready, not_ready),
        "Ready": (ready and open_gates, "ReadinessGatesNotReady" if ready else not_ready),
    }
    for kind, (holds, reason) in wanted.items():
        value = "True" if holds else "False"
        before = had.get(kind, {})
        changed = before.get("lastTransitionTime") if before.get("status") == value else now()
        had[kind] = {"type": kind, "status": value, "lastTransitionTime": changed}
        if not holds and reason:
            had[kind] |= {"reason": reason}
            if reason == "ContainersNotReady":
                had[kind] |= {"message": f"containers with unready status: [{' '.join(names)}]"}
    patch: Object = {
        "phase": phase,
        "conditions": list(had.values()),
        "containerStatuses": statuses,
        "startTime": pod.get("status", {}).get("startTime") or now(),
    }
    if spec.get("initContainers"):
        patch["initContainerStatuses"] = [container(one) for one in spec["initContainers"]]
    if ip:
        patch |= {"podIP": ip, "podIPs": [{"ip": ip}]}
    return patch
