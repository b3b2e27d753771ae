# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Job that looks at a node from within, and what it needs, as manifests (spec/surface.md 3.6, in our own names).

The pod's ServiceAccount has no rights and no token: the collectors come by a ConfigMap, and the answer leaves by the
pod's log, which the caller reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..artifacts.versions import GROUP
from .script import KEPT_SECONDS, RUN, SPARE_SECONDS, Manifest, labels

IMAGE = "docker.io/library/python:3.13-slim"
SECONDS = 300.0
CONTAINER = "agent"
NODE = f"{GROUP}/node"
"""Annotation of a Job and its pod."""

_PACKAGE = "ansible_collections/aicr/runtime/plugins/module_utils"
_ENTRY = "host_agent"
_SOURCES = (_ENTRY, "findings", "gpu_sku", "host_collect", "host_gpu", "host_os", "host_systemd", "rootfs")
_MODULE_UTILS = Path(__file__).parents[2] / "module_utils"
_CODE, _HOST = "/aicr", "/host"

_FILES: Mapping[str, Mapping[str, str]] = {
    "os": {
        "/etc/os-release": "File",
        "/proc/cmdline": "File",
        "/proc/modules": "File",
        "/proc/sys": "Directory",
    },
    "gpu": {"/sys": "Directory"},
    "systemd": {"/": "Directory"},
}
"""What each collector reads of the host. To ask systemd takes the host's own systemctl, and its socket."""


@dataclass(frozen=True)
class Agent:
    """One run of the agent, on however many nodes.

    :ivar run: what tells its objects from those of every other run.
    :ivar timeouts: seconds by collector; it names the collectors.
    :ivar seconds: how long all of it may take.
    :ivar recursive: whether the API knows mounts that are read-only all the way down (Kubernetes 1.30).
    """

    run: str
    namespace: str
    timeouts: Mapping[str, float]
    image: str = IMAGE
    image_pull_secrets: tuple[str, ...] = ()
    selinux_type: str | None = None
    seconds: float = SECONDS
    recursive: bool = False

    @property
    def name(self) -> str:
        """Of everything that there is one of."""
        return f"aicr-snapshot-agent-{self.run}"

    @property
    def selector(self) -> str:
        """Of everything of this run."""
        return f"{RUN}={self.run}"

    def job_name(self, index: int) -> str:
        """Of the Job for the node with this index; a node's own name may be longer than a Job's."""
        return f"{self.name}-{index}"

    def account(self) -> Manifest:
        """The ServiceAccount, which has no rights."""
        return self._object("v1", "ServiceAccount", self.name, automountServiceAccountToken=False)

    def code(self) -> Manifest:
        """The ConfigMap with the collectors, as this collection has them."""
        data = {f"{name}.py": (_MODULE_UTILS / f"{name}.py").read_text(encoding="utf-8") for name in _SOURCES}
        return self._object("v1", "ConfigMap", self.name, data=data)

    def job(self, index: int, node: str) -> Manifest:
        """The Job for one node. The scheduler places it, as it does for DaemonSets, and says so if it cannot."""
        manifest = self._object("batch/v1", "Job", self.job_name(index), spec=self._job_spec(node))
        manifest["metadata"]["annotations"] = {NODE: node}
        return manifest

    def _job_spec(self, node: str) -> Manifest:
        return {
            "backoffLimit": 0,
            "activeDeadlineSeconds": int(self.seconds) + SPARE_SECONDS,
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "template": {
                "metadata": {"labels": self._labels, "annotations": {NODE: node}},
                "spec": self._pod_spec(node),
            },
        }

    def _pod_spec(self, node: str) -> Manifest:
        here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        selected = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [here]}}
        items = [{"key": f"{name}.py", "path": f"{_PACKAGE}/{name}.py"} for name in _SOURCES]
        code = {"name": "code", "configMap": {"name": self.name, "items": items}}
        spec: Manifest = {
            "restartPolicy": "Never",
            "serviceAccountName": self.name,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 2,
            "affinity": {"nodeAffinity": selected},
            "tolerations": [{"operator": "Exists"}],  # a node with GPUs is tainted for whatever uses none
            "containers": [self._container()],
            "volumes": [code, *(_volume(path, kind) for path, kind in self._files.items())],
        }
        if self.image_pull_secrets:
            spec["imagePullSecrets"] = [{"name": name} for name in self.image_pull_secrets]
        return spec

    def _container(self) -> Manifest:
        code = {"name": "code", "mountPath": _CODE, "readOnly": True}
        return {
            "name": CONTAINER,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "workingDir": _CODE,
            "command": ["python3", "-E", "-S", "-s", "-B", "-m", f"{_PACKAGE.replace('/', '.')}.{_ENTRY}"],
            "args": [_HOST, json.dumps(dict(self.timeouts), sort_keys=True)],
            "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            "resources": {
                "requests": {"cpu": "50m", "memory": "64Mi"},
                "limits": {"cpu": "1", "memory": "256Mi"},
            },
            "securityContext": self._security(),
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [code, *map(self._mount, self._files)],
        }

    def _security(self) -> Manifest:
        """Root, since some settings of the kernel are readable for root alone, and nothing else that root may do."""
        capabilities: Manifest = {"drop": ["ALL"]}
        if "systemd" in self.timeouts:
            capabilities["add"] = ["SYS_CHROOT"]
        security: Manifest = {
            "runAsUser": 0,
            "runAsGroup": 0,
            "privileged": False,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": capabilities,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        if self.selinux_type:
            security["seLinuxOptions"] = {"type": self.selinux_type}
        return security

    @property
    def _files(self) -> Mapping[str, str]:
        """Paths of the host, and what they must be: what is missing there is never made."""
        needed = {path: kind for collector in self.timeouts for path, kind in _FILES[collector].items()}
        return {"/": "Directory"} if "/" in needed else dict(sorted(needed.items()))

    def _mount(self, path: str) -> Manifest:
        mount: Manifest = {"name": _volume_name(path), "mountPath": f"{_HOST}{path}".rstrip("/"), "readOnly": True}
        if self.recursive:
            mount["recursiveReadOnly"] = "IfPossible"
        return mount

    @property
    def _labels(self) -> dict[str, str]:
        return labels("snapshot-agent", self.run)

    def _object(self, version: str, kind: str, name: str, **content: object) -> Manifest:
        metadata = {"name": name, "namespace": self.namespace, "labels": self._labels}
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def _volume(path: str, kind: str) -> Manifest:
    return {"name": _volume_name(path), "hostPath": {"path": path, "type": kind}}


def _volume_name(path: str) -> str:
    return "host" + path.rstrip("/").replace("/", "-")
