# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of a fake cluster, as its file in clusters/ describes them, and the root folder of each one's host."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .api import Object

_CLUSTERS = Path(__file__).parent / "clusters"
_CONDITIONS = [
    {"type": kind, "status": status, "reason": f"Kubelet{reason}"}
    for kind, status, reason in (
        ("MemoryPressure", "False", "HasSufficientMemory"),
        ("DiskPressure", "False", "HasNoDiskPressure"),
        ("PIDPressure", "False", "HasSufficientPID"),
        ("Ready", "True", "Ready"),
    )
]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def names() -> tuple[str, ...]:
    """The clusters that there are to choose from."""
    return tuple(sorted(path.stem for path in _CLUSTERS.glob("*.yaml")))


@dataclass(frozen=True)
class FakeCluster:
    """One file of clusters/."""

    name: str
    version: str
    """What the API server says it is: KUBERNETES with a vendor's suffix."""
    storage_class: str
    groups: tuple[Mapping[str, Any], ...]
    workloads: tuple[Mapping[str, Any], ...]

    @classmethod
    def load(cls, name: str) -> FakeCluster:
        """:raises FileNotFoundError: there is no such cluster."""
        document = yaml.safe_load((_CLUSTERS / f"{name}.yaml").read_text(encoding="utf-8"))
        groups, workloads = tuple(document["groups"]), tuple(document["workloads"])
        return cls(name, document["version"], document["storage_class"], groups, workloads)

    def nodes(self, kubelet_port: int, total: int | None = None) -> Iterator[Object]:
        """The Node objects, always the same ones.

        :param total: how many there shall be; the last group grows or shrinks for it, each group keeps one.
        """
        counts = [group["count"] for group in self.groups]
        if total is not None:
            counts[-1] = max(1, total - sum(counts[:-1]))
        index = 0
        for group, count in zip(self.groups, counts, strict=True):
            for number in range(1, count + 1):
                yield self._node(group, index, number, kubelet_port)
                index += 1

    def host(self, node: Object) -> Mapping[str, Any]:
        """What the root folder of a node holds."""
        found: Mapping[str, Any] = self.groups[int(node["metadata"]["annotations"]["bed/group"])]["host"]
        return found

    def storage(self) -> Object:
        """The default StorageClass, by the vendor's name for it; what provisions is the controller-manager itself."""
        default = {"storageclass.kubernetes.io/is-default-class": "true"}
        metadata = {"name": self.storage_class, "annotations": default}
        return {"metadata": metadata, "provisioner": "kubernetes.io/host-path"}

    def workload(self, workload: Mapping[str, Any]) -> tuple[str, Object]:
        """One of `workloads` as an object, with the path to create it at."""
        labels = {"k8s-app": workload["name"]}
        pod: Object = {
            "containers": [{"name": workload["name"], "image": workload["image"]}],
            "tolerations": [{"operator": "Exists"}],
            "nodeSelector": workload.get("node_selector", {}),
        }
        spec: Object = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
        if "replicas" in workload:
            spec["replicas"] = workload["replicas"]
        path = f"/apis/apps/v1/namespaces/kube-system/{workload['kind'].lower()}s"
        return path, {"metadata": {"name": workload["name"], "labels": labels}, "spec": spec}

    def _node(self, group: Mapping[str, Any], index: int, number: int, kubelet_port: int) -> Object:
        digest = hashlib.sha256(f"{self.name}/{index}".encode()).hexdigest()
        ip = f"10.0.{128 + index // 250}.{1 + index % 250}"
        facts = {
            "ip": ip.replace(".", "-"),
            "id": digest,
            "letters": "".join(
                _LETTERS[int(pair, 16) % 26] for pair in (digest[:2], digest[2:4], digest[4:6], digest[6:8])
            ),
            "number": number if number > 1 else "",
        }
        name = group["name"].format(**facts)
        built_in = {
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": built_in | group["labels"],
                "annotations": {"bed/group": str(self.groups.index(group))},
            },
            "spec": {"providerID": group["provider_id"].format(name=name, **facts), "taints": group.get("taints", [])},
            "status": {
                "addresses": [
                    {"type": "InternalIP", "address": ip},
                    {"type": "Hostname", "address": name},
                    # By this one the API server finds the stand-in kubelet, for the logs of containers.
                    {"type": "ExternalDNS", "address": "localhost"},
                ],
                "capacity": group["capacity"],
                "allocatable": group["capacity"],
                "conditions": _CONDITIONS,
                "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
                "images": [
                    {"names": [workload["image"]], "sizeBytes": 50_000_000}
                    for workload in self.workloads
                    if workload.get("node_selector", {}).items() <= group["labels"].items()
                ],
                "nodeInfo": {
                    "architecture": "amd64",
                    "bootID": digest[:32],
                    "kubeProxyVersion": "",
                    "machineID": digest[8:40],
                    "operatingSystem": "linux",
                    "systemUUID": digest[16:48],
                    **group["info"],
                },
            },
        }


def root_of(roots: Path, node: Object, cluster: FakeCluster) -> Path:
    """The root folder of a node, made when it is first asked for: what host collectors read, and nothing to execute."""
    name = node["metadata"]["name"]
    place: Path = roots / name
    if not place.exists():
        roots.mkdir(exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=".", dir=roots))
        _fill(new, cluster.host(node), name)
        new.chmod(0o755)
        with contextlib.suppress(FileExistsError, OSError):
            new.rename(place)  # unless another was first
        shutil.rmtree(new, ignore_errors=True)
    return place


def _fill(place: Path, host: Mapping[str, Any], name: str) -> None:
    slots = [device for device in host["pci"] for _each in range(device.get("count", 1))]
    files = {
        "etc/hostname": name,
        "etc/os-release": "\n".join(f'{key}="{value}"' for key, value in host["os_release"].items()),
        "proc/cmdline": host["cmdline"],
        "proc/modules": "\n".join(f"{module} 16384 0 - Live 0x0000000000000000" for module in host["modules"]),
        **{f"proc/sys/{key}": value for key, value in host["sysctl"].items()},
        **{f"sys/module/{module}/initstate": "live" for module in host["modules"]},
        **{
            f"sys/bus/pci/devices/0000:{index:02x}:00.0/{key}": device[key]
            for index, device in enumerate(slots, start=0x10)
            for key in ("class", "vendor", "device")
        },
    }
    for folder in ("run", "tmp", "var/lib", "sys/bus/pci/devices"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(f"{text}\n", encoding="utf-8")
    (place / "tmp").chmod(0o1777)
