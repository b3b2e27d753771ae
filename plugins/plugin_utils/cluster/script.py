# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A script of ours as manifests: a Job whose pod runs it, and the ConfigMap that it comes by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..artifacts.versions import GROUP, RELEASE
from .read import Object

Manifest = dict[str, Any]

SPARE_SECONDS = 60
"""The cluster ends a Job by itself so much later than the controller would, which then may be gone."""
KEPT_SECONDS = 600
"""How long the cluster keeps an ended Job if the controller is gone and cannot remove it."""
RUN = f"{GROUP}/run-id"
"""Label of all objects of one run."""
NAME, COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/component"
UNDER_LEASE = f"{GROUP}/under-lease"
"""Label of what was made by a run that holds the cluster's Lease: whoever holds it next knows that run to be over."""

_SCRIPT = "script.sh"
_FOLDER = "/aicr"


def labels(component: str, run: str) -> dict[str, str]:
    """What tells our objects from others', and those of one run from those of the next."""
    return {NAME: "aicr", COMPONENT: component, "app.kubernetes.io/version": RELEASE, RUN: run}


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
                        {"name": names[place], "mountPath": place, "readOnly": "emptyDir" not in volume}
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
