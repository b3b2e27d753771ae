# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeSet: nothing but warnings until slurmrestd answers, then pods and a status.

There is no slurmrestd in a bed. The real operator asks it over HTTP; this one takes an available replica of the
Deployment and of slurmctld for its answer, since that is when it would. What it shows then was not recorded: pods and
status follow the CRD and slurm-accounting.md 2.6, with nodes idle as soon as their pods are ready.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from ..bed.api import Object
from .loop import Failure
from .objects import Objects, condition, digest, owned
from .session import delay
from .slurm_events import Events
from .slurm_sync import Step, Synced
from .slurm_workloads import Child, container

_API = "slurm/v0.0.44"


class NodeSets(Synced):
    """Revision, headless Service and budget; pods and status once there is a Slurm to register with."""

    kind = "NodeSet"

    def __init__(self, objects: Objects, events: Events) -> None:
        super().__init__(objects, events)
        self._since: dict[str, float] = {}

    def steps(self, one: Object) -> Iterator[Step]:
        namespace, cluster = one["metadata"]["namespace"], one["spec"]["controllerRef"]["name"]
        if self.objects.find("Controller", namespace, cluster) is None:
            note = (
                f'Failed to get Controller ({namespace}/{cluster}): Controller.slinky.slurm.net "{cluster}" not found'
            )
            self.events.tell(one, "Warning", "ControllerRefFailed", "Info", note)
            return
        yield "Revision", lambda: self._keep_revision(one)
        yield "Service", lambda: self._keep_once(one, "Service", _service(one, cluster))
        yield "PodDisruptionBudget", lambda: self._keep_once(one, "PodDisruptionBudget", _budget(one, cluster))
        yield "RefreshNodeCache", lambda: self._ask(one, cluster)
        if self._answers(namespace, cluster):
            yield "Pods", lambda: self._keep_pods(one, cluster)
            yield "Status", lambda: self._tell_status(one)

    def _keep_once(self, one: Object, kind: str, child: Object) -> None:
        if self.objects.find(kind, one["metadata"]["namespace"], child["metadata"]["name"]) is None:
            self.objects.create(kind, child)

    def _keep_revision(self, one: Object) -> None:
        spec, code = _revision(one)
        labels = {**one["metadata"].get("labels", {}), "controller.kubernetes.io/hash": code}
        metadata = owned(one, f"{one['metadata']['name']}-{code}", labels=labels)
        metadata["annotations"] = one["metadata"].get("annotations", {})
        self._keep_once(one, "ControllerRevision", {"metadata": metadata, "data": {"spec": spec}, "revision": 1})

    def _ask(self, one: Object, cluster: str) -> None:
        namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
        if self._answers(namespace, cluster):
            return
        place = f"http://{cluster}-restapi.{namespace}:6820/{_API}"
        why = f"dial tcp: lookup {cluster}-restapi.{namespace}: no such host"
        note = f'Failed "Reservation" step: Get "{place}/reservation/SlurmOperatorMaint-{name}": {why}'
        self.events.tell(one, "Warning", "SyncFinalizerFailed", "SyncFinalizer", note)
        raise Failure(f'Get "{place}/nodes/": {why}')

    def _answers(self, namespace: str, cluster: str) -> bool:
        found = (
            self.objects.find("Deployment", namespace, f"{cluster}-restapi"),
            self.objects.find("StatefulSet", namespace, f"{cluster}-controller"),
        )
        return all((one or {}).get("status", {}).get("availableReplicas") for one in found)

    def _keep_pods(self, one: Object, cluster: str) -> None:
        namespace, name, wanted = one["metadata"]["namespace"], one["metadata"]["name"], one["spec"].get("replicas", 1)
        there = {pod["metadata"]["name"] for pod in self._pods(one)}
        for number in range(wanted):
            if f"{name}-{number}" not in there:
                self.objects.create("Pod", _pod(one, cluster, number))
        for extra in sorted(there - {f"{name}-{number}" for number in range(wanted)}):
            self.objects.delete("Pod", namespace, extra)

    def _tell_status(self, one: Object) -> None:
        namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
        since = self._since.setdefault(one["metadata"]["uid"], time.monotonic())
        if time.monotonic() < since + delay("NODESET"):
            raise Failure("nodes have not registered yet")
        pods = self._pods(one)
        ready = sum(condition(pod).get("status") == "True" for pod in pods)
        status = {
            "desired": one["spec"].get("replicas", 1),
            "replicas": len(pods),
            "updatedReplicas": len(pods),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "unavailableReplicas": len(pods) - ready,
            "slurmIdle": ready,
            "observedGeneration": one["metadata"]["generation"],
            "nodeSetHash": _revision(one)[1],
            "selector": f"app.kubernetes.io/instance={name},app.kubernetes.io/name=slurmd",
        }
        before = one.get("status", {})
        if any(before.get(key) != value for key, value in status.items()):
            self.objects.patch("NodeSet", namespace, name, {"status": status}, True)

    def _pods(self, one: Object) -> list[Object]:
        selector = f"app.kubernetes.io/instance={one['metadata']['name']},app.kubernetes.io/name=slurmd"
        return self.objects.all("Pod", one["metadata"]["namespace"], labelSelector=selector)


def _revision(one: Object) -> tuple[Object, str]:
    spec = {key: one["spec"].get(key) for key in ("logfile", "slurmd", "template")}
    return spec, digest(spec)[:10]


def _service(one: Object, cluster: str) -> Object:
    ports = [{"name": "slurmd", "port": 6818, "protocol": "TCP", "targetPort": "slurmd"}]
    selector = {"app.kubernetes.io/name": "slurmd", "slinky.slurm.net/cluster": cluster}
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector, "ports": ports}
    return {"metadata": owned(one, f"slurm-workers-{cluster}", controller=False), "spec": spec}


def _budget(one: Object, cluster: str) -> Object:
    labels = {"nodeset.slinky.slurm.net/pod-protect": "true", "slinky.slurm.net/cluster": cluster}
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": labels}}
    return {"metadata": owned(one, f"slurm-workers-pdb-{cluster}", controller=False), "spec": spec}


def _pod(one: Object, cluster: str, number: int) -> Object:
    child = Child(one, "worker", "slurmd")
    main = container(
        "slurmd",
        one["spec"].get("slurmd", {}),
        ports=[{"name": "slurmd", "containerPort": 6818}],
        env=[{"name": "SLURMD_OPTIONS", "value": f"--conf-server {cluster}-controller:6817"}],
    )
    template = child.template(main, {}, {"subdomain": f"slurm-workers-{cluster}"})
    host = (one["spec"].get("template", {}).get("spec") or {}).get("hostname", "")
    template["spec"]["hostname"] = f"{host}{number}"
    labels = {**template["metadata"]["labels"], "slinky.slurm.net/cluster": cluster}
    annotations = template["metadata"]["annotations"]
    metadata = owned(one, f"{one['metadata']['name']}-{number}", labels=labels, annotations=annotations)
    return {"metadata": metadata, "spec": template["spec"]}
