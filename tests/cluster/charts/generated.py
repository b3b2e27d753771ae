# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A chart from a component's health check: what the check asks for, and nothing else.

Workloads are made as they are named. A CustomResourceDefinition gets a schema that keeps every field. A custom resource
of which the check expects a status has it by the default values of its definition, whoever makes the resource: its own
operator would set it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]
_CLUSTER_SCOPED = {"clusterpolicies", "nicclusterpolicies", "gatewayclasses", "skyhooks"}
_WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet")
_CONDITION = re.compile(r"\(conditions\[\?type == '(\w+)'\]\)")
_OTHERS = {"slinky-slurm-config-extra"}
"""Asserted objects that another chart makes."""


@dataclass(frozen=True)
class Catalog:
    """The catalog's charts and what their checks ask for; by name of the component."""

    components: Mapping[str, Object]
    asserted: Mapping[str, list[Object]]
    manifests: Mapping[str, str]
    pinned: frozenset[tuple[str, str]]
    """Component and version, as overlays and mixins state it."""

    @classmethod
    def load(cls, recipes: Path) -> Catalog:
        registry = yaml.safe_load((recipes / "registry.yaml").read_text(encoding="utf-8"))
        components = {entry["name"]: entry for entry in registry["components"]}
        asserted, manifests = {}, {}
        for name, entry in components.items():
            check = yaml.safe_load((recipes / entry["healthCheck"]["assertFile"]).read_text(encoding="utf-8"))
            steps = (operation for step in check["spec"]["steps"] for operation in step["try"])
            asserted[name] = [operation["assert"]["resource"] for operation in steps if "assert" in operation]
            files = (recipes / manifest["path"] for manifest in entry.get("manifests", ()))
            manifests[name] = "\n---\n".join(file.read_text(encoding="utf-8") for file in files)
        pinned = set()
        for file in (*(recipes / "overlays").glob("*.yaml"), *(recipes / "mixins").glob("*.yaml")):
            refs = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"].get("componentRefs") or ()
            pinned |= {(ref["name"], str(ref["version"])) for ref in refs if "version" in ref}
        return cls(components, asserted, manifests, frozenset(pinned))

    def chart(self, component: str) -> tuple[str, str]:
        """Name and version of its chart; an empty name where it has none."""
        helm = self.components[component]["helm"]
        return helm.get("defaultChart", "").rpartition("/")[2], str(helm.get("defaultVersion", ""))

    def versions(self, component: str) -> set[str]:
        """All that the catalog asks for: that of the registry, and those of overlays."""
        return {self.chart(component)[1], *(version for name, version in self.pinned if name == component)}

    def _namespace(self, component: str) -> str:
        return str(self.components[component]["helm"]["defaultNamespace"])

    def templates(self, component: str) -> Mapping[str, str]:
        """Files of the chart of a component.

        :raises ValueError: the check asks for what no chart of this kind can give.
        """
        fullname = "{{ .Values.fullnameOverride | default .Release.Name }}"
        own = {component: fullname, self._namespace(component): "{{ .Release.Namespace }}"}
        objects = list(self._objects(component))
        for one in objects:  # components that share a chart differ in these
            for field in ("name", "namespace") if one["kind"] in _WORKLOADS else ():
                one["metadata"][field] = own.get(one["metadata"][field], one["metadata"][field])
        groups = {one["apiVersion"].partition("/")[0] for one in objects}
        # Helm knows no kind that the chart itself defines, unless it stands where Helm looks first.
        first = [one for one in objects if one.get("spec", {}).get("group") in groups]
        files = {"templates/objects.yaml": [one for one in objects if one not in first], "crds/objects.yaml": first}
        return {name: yaml.safe_dump_all(held) for name, held in files.items() if held}

    def _objects(self, component: str) -> Iterator[Object]:
        for wanted in self.asserted[component]:
            kind, metadata = wanted["kind"], wanted["metadata"]
            if kind == "CustomResourceDefinition":
                if f"name: {metadata['name']}\n" not in self.manifests[component]:
                    yield self._definition(metadata["name"])
            elif kind in _WORKLOADS:
                yield _workload(component, kind, metadata)
            elif "." in wanted["apiVersion"].partition("/")[0]:
                yield {"apiVersion": wanted["apiVersion"], "kind": kind, "metadata": dict(metadata)}
            elif metadata["name"] not in _OTHERS:
                raise ValueError(f"{component}: no chart is made with a {kind}, as its health check wants")

    def _definition(self, name: str) -> Object:
        plural, _dot, group = name.partition(".")
        kind, version = self._known(plural, group)
        schema: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        status = self._status(group, kind)
        if status:
            schema["properties"] = {"status": _defaulted(status)}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {
                "group": group,
                "names": {"kind": kind, "plural": plural},
                "scope": "Cluster" if plural in _CLUSTER_SCOPED else "Namespaced",
                "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        }

    def _known(self, plural: str, group: str) -> tuple[str, str]:
        """Kind and version, as a check or a manifest of the catalog uses them."""
        pattern = re.compile(rf"^apiVersion: {re.escape(group)}/(\w+)\nkind: (\w+)$", re.MULTILINE)
        used = [(kind, version) for text in self.manifests.values() for version, kind in pattern.findall(text)]
        for wanted in (one for list_ in self.asserted.values() for one in list_):
            of, _slash, version = wanted["apiVersion"].partition("/")
            if of == group:
                used.append((wanted["kind"], version))
        for kind, version in used:
            one = kind.lower()
            if plural in (one, f"{one}s", f"{one}es", f"{one[:-1]}ies"):
                return kind, version
        return re.sub(r"(ie|e)?s$", "", plural).capitalize(), "v1"

    def _status(self, group: str, kind: str) -> Object:
        wanted = (one for list_ in self.asserted.values() for one in list_)
        for one in wanted:
            if one["kind"] == kind and one["apiVersion"].startswith(f"{group}/"):
                return dict(_plain(one.get("status", {})))
        return {}


def _plain(status: Object) -> Iterator[tuple[str, Any]]:
    for key, value in status.items():
        condition = _CONDITION.fullmatch(key)
        if condition:
            yield "conditions", [{"type": condition[1], **value[0]}]
        elif key.startswith("("):
            raise ValueError(f"no status can be made up for {key}")
        else:
            yield key, value


def _defaulted(status: Object) -> Object:
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": status}


def _workload(component: str, kind: str, metadata: Object) -> Object:
    labels = {**metadata.get("labels", {"app.kubernetes.io/name": metadata.get("name")})}
    name = metadata.get("name") or labels["app.kubernetes.io/name"]
    spec: Object = {
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "stand-in", "image": f"stand-in.invalid/{component}:1"}]},
        },
    }
    if kind == "DaemonSet":  # of agents, which go to every node
        spec["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]
    else:
        spec["replicas"] = 1
    if kind == "StatefulSet":
        spec["serviceName"] = name
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": metadata["namespace"], "labels": labels},
        "spec": spec,
    }
