# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurement ``K8s``: server, a sampled node, images that run, the GPU operator's policy (spec/surface.md 3.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from ..artifacts.snapshot import Item
from .discovery import discover
from .findings import Findings
from .nodes import NodePass
from .read import Object, Reader

TYPE = "K8s"
POLICY_GROUP, POLICY_RESOURCE = "nvidia.com", "clusterpolicies"
SAMPLE = "sample"
"""The name of :class:`NodeSample` in a :class:`NodePass`."""

_SERVER = {"version": "gitVersion", "platform": "platform", "goVersion": "goVersion"}
_NODE = {
    "kubelet-version": "kubeletVersion",
    "kernel-version": "kernelVersion",
    "operating-system": "operatingSystem",
    "os-image": "osImage",
}
_PROVIDERS = {"aws": "eks", "gce": "gke", "azure": "aks", "oci": "oke"}
_GPU_LABELS = (
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.product",
    "cloud.google.com/gke-accelerator",
    "feature.node.kubernetes.io/pci-10de.present",
)
_GPU_RESOURCE = "nvidia.com/gpu"
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]*@")


def collect(reader: Reader, found: Findings, nodes: NodePass) -> str | None:
    """What is read of the cluster itself; what asks least comes first, and the nodes come by themselves.

    :returns: the name of the sampled node.
    """
    with found.tolerate("server"):
        version = reader.get("/version")
        found.add("server", {key: version[field] for key, field in _SERVER.items() if version.get(field)})
    with found.tolerate("policy"):
        _policy(reader, found)
    with found.tolerate("image"):
        _images(reader, found)
    sample = NodeSample()
    with found.tolerate("node"):
        total = nodes.total(SAMPLE, reader.deadline)
        sample = cast(NodeSample, total)
        found.add("node", sample.facts)
    return sample.name


class NodeSample:
    """The facts of one node: the first by name of those that seem to have NVIDIA GPUs, else the first of all.

    :ivar name: ``None`` in a cluster without nodes.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self.facts: dict[str, object] = {}
        self._rank: tuple[bool, str] | None = None

    def take(self, node: Object) -> None:
        """Keep the node's facts if it is the better sample."""
        name = str((node.get("metadata") or {}).get("name"))
        rank = (not has_gpu(node), name)
        if self._rank is None or rank < self._rank:
            self._rank, self.name, self.facts = rank, name, dict(_node_facts(name, node))


def has_gpu(node: Object) -> bool:
    """By capacity, by label, or by the taint that keeps others off; a new cluster has nothing but the last."""
    capacity = (node.get("status") or {}).get("capacity") or {}
    labels = (node.get("metadata") or {}).get("labels") or {}
    taints = (node.get("spec") or {}).get("taints") or ()
    return (
        str(capacity.get(_GPU_RESOURCE, "0")) != "0"
        or any(labels.get(label, "false") != "false" for label in _GPU_LABELS)
        or any(taint.get("key") == _GPU_RESOURCE for taint in taints)
    )


def _node_facts(name: str, node: Object) -> Iterator[tuple[str, object]]:
    info = (node.get("status") or {}).get("nodeInfo") or {}
    provider_id = (node.get("spec") or {}).get("providerID")
    yield "source-node", name
    if provider_id:
        yield "provider", _provider(provider_id)
        yield "provider-id", provider_id
    runtime = info.get("containerRuntimeVersion")
    if runtime:
        kind, separator, version = runtime.partition("://")
        yield "container-runtime-id", runtime
        if separator:
            yield "container-runtime-name", kind
            yield "container-runtime-version", version
    for key, field in _NODE.items():
        if info.get(field):
            yield key, info[field]


def _provider(provider_id: str) -> str:
    """The service by the scheme of a provider's id; Oracle's have none (spec/engine.md 8.2)."""
    if provider_id.startswith("ocid1."):
        return "oke"
    scheme = provider_id.partition("://")[0].lower()
    return _PROVIDERS.get(scheme, scheme)


def _images(reader: Reader, found: Findings) -> None:
    """The images of all pods by the last part of their name.

    Where one name runs with several tags, ``data`` has the last of them in order of their text, and ``items`` have all.
    """

    def take(tags: dict[str, set[str]], pod: Object) -> None:
        spec = pod.get("spec") or {}
        for kind in _CONTAINERS:
            for container in spec.get(kind) or ():
                name, tag = _image(str(container.get("image", "")))
                if name:
                    tags.setdefault(name, set()).add(tag)

    images: dict[str, set[str]] = reader.fold("/api/v1/pods", dict, take)
    found.add(
        "image",
        {name: max(tags) for name, tags in sorted(images.items())},
        (
            Item(context={"image": name}, data={"tag": tag})
            for name, tags in sorted(images.items())
            if len(tags) > 1
            for tag in sorted(tags)
        ),
    )


def _image(reference: str) -> tuple[str, str]:
    name, _unused, tag = reference.rpartition("/")[2].partition("@")[0].partition(":")
    return name, tag or "latest"


def _policy(reader: Reader, found: Findings) -> None:
    """The spec of the GPU operator's ClusterPolicy, flattened; of several, ``items`` have each one's own.

    Other products have a kind of that name, too (Kyverno). Theirs is not read: both under the same keys would be
    nobody's.
    """
    group = discover(reader, POLICY_GROUP)
    if group is None or POLICY_RESOURCE not in group.resources:
        return

    def take(policies: dict[str, dict[str, object]], policy: Object) -> None:
        name = str((policy.get("metadata") or {}).get("name"))
        policies[name] = dict(_flat(policy.get("spec") or {}, ""))

    policies: dict[str, dict[str, object]] = reader.fold(group.path(POLICY_RESOURCE), dict, take)
    folded: dict[str, object] = {}
    for name in sorted(policies):
        folded.update(policies[name])
    found.add(
        "policy",
        folded,
        (Item(context={"policy": name}, data=policies[name]) for name in sorted(policies) if len(policies) > 1),
    )


def _flat(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Leaves as text under dotted paths (spec/engine.md 8.2); what may hold a credential is left out."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _flat(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if value:
            yield path, json.dumps([_without_values(item) for item in value], separators=(",", ":"), sort_keys=True)
    elif isinstance(value, str):
        yield path, _USER_INFO.sub("", value)
    else:
        yield path, "<nil>" if value is None else json.dumps(value)


def _without_values(item: Any) -> Any:
    """An environment variable by name alone: its value is anybody's text, a proxy's password among others."""
    if isinstance(item, dict) and "name" in item:
        return {key: value for key, value in item.items() if key != "value"}
    return _USER_INFO.sub("", item) if isinstance(item, str) else item
