# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subtypes ``K8s.slinky-*``: Slurm on Kubernetes that is there already: resources, operators, releases.

``slinky-slurm`` is as spec/surface.md 3.2 has it. A list that fails is never a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..artifacts.snapshot import Item
from ..errors import not_found
from .discovery import Group, discover
from .findings import Findings
from .read import Object, Reader

GROUP = "slinky.slurm.net"
CONTROLLERS = "controllers"
CHILDREN = {"nodesets": "nodeset", "loginsets": "loginset", "restapis": "restapi", "accountings": "accounting"}
SUBTYPE, CRDS, OPERATOR, RELEASES = "slinky-slurm", "slinky-crds", "slinky-operator", "slinky-releases"
OPERATOR_PATH, OPERATOR_SELECTOR = "/apis/apps/v1/deployments", "app.kubernetes.io/name=slurm-operator"

_KINDS = {
    "controllers": "Controller",
    "nodesets": "NodeSet",
    "loginsets": "LoginSet",
    "restapis": "RestApi",
    "accountings": "Accounting",
}
_RELEASE, _NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"

Releases = dict[tuple[str, str], dict[str, object]]


def collect(reader: Reader, found: Findings) -> None:
    """Resources of Slinky by kind, the Deployments of its operator, and the Helm releases that these belong to.

    A release is known by what Helm writes on its objects. Helm's own Secrets are not read: the right to list Secrets
    is the right to read them.
    """
    releases: Releases = {}
    found.add(SUBTYPE, {"collection-state": "unknown"})  # until it is known, however this ends
    with found.tolerate(SUBTYPE):
        group = discover(reader, GROUP)
        if group is not None:
            found.add(CRDS, dict(sorted(group.resources.items())))
        _slurm(reader, found, group, releases)
    with found.tolerate(OPERATOR):
        _operator(reader, found, releases)
    found.add(RELEASES, {}, _release_items(releases))


def _slurm(reader: Reader, found: Findings, group: Group | None, releases: Releases) -> None:
    version = group.resources.get(CONTROLLERS) if group else None
    if group is None or version is None:
        found.add(SUBTYPE, {"collection-state": "absent", "api-available": False, "detected": False})
        return
    data: dict[str, object] = {"api-available": True, "api-version": version}
    found.add(SUBTYPE, {"collection-state": "unknown", **data})
    controllers = _list(reader, group, CONTROLLERS, releases)
    count = len(controllers)
    data |= {
        "collection-state": ("absent", "detected")[count] if count < 2 else "unsupported-multicluster",
        "detected": count > 0,
        "controller-count": count,
    }
    items = controllers
    if count == 1:
        counts: dict[str, object] = {}
        for resource, name in CHILDREN.items():
            with found.tolerate(f"{SUBTYPE}.{name}-count"):
                if resource not in group.resources:
                    raise not_found(f"the cluster serves no {resource}.{GROUP}", status=404)
                children = _list(reader, group, resource, releases)
                counts[f"{name}-count"] = len(children)
                items = items + children
        if len(counts) == len(CHILDREN):
            data |= counts
    found.add(SUBTYPE, data, sorted(items, key=lambda item: str((item.context or {})["id"])))


def _list(reader: Reader, group: Group, resource: str, releases: Releases) -> list[Item]:
    kind, version = _KINDS[resource], group.resources[resource]
    # What had been noted when a list begins again is overwritten by the same.

    def take(items: list[Item], item: Object) -> None:
        _note_release(releases, item)
        items.append(_item(kind, version, item))

    return reader.fold(group.path(resource), list, take)


def _item(kind: str, version: str, item: Object) -> Item:
    metadata, spec = item.get("metadata") or {}, item.get("spec") or {}
    namespace, name = str(metadata.get("namespace")), str(metadata.get("name"))
    context: dict[str, object] = {
        "id": f"{kind}/{namespace}/{name}",
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "api-version": version,
    }
    controller = spec.get("controllerRef")
    if kind == "Controller":
        context["controller-id"] = context["id"]
    elif isinstance(controller, Mapping) and controller.get("name"):
        context["controller-id"] = f"Controller/{controller.get('namespace') or namespace}/{controller['name']}"
    data = {key: value for key, value in _facts(kind, spec) if value is not None}
    return Item(context=context, data=data or None)


def _facts(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    if kind == "Controller":
        yield "cluster-name", spec.get("clusterName") or None
        yield "external", bool(spec.get("external"))
        yield "accounting-ref-present", bool(spec.get("accountingRef"))
    elif kind == "NodeSet":
        partition = spec.get("partition")
        yield "partition-enabled", bool(partition.get("enabled")) if isinstance(partition, Mapping) else None
    elif kind == "Accounting":
        yield "external", bool(spec.get("external"))


def _operator(reader: Reader, found: Findings, releases: Releases) -> None:
    noted: Releases = {}

    def take(items: list[Item], deployment: Object) -> None:
        _note_release(noted, deployment)
        metadata = deployment.get("metadata") or {}
        labels = metadata.get("labels") or {}
        version = labels.get("app.kubernetes.io/version")
        items.append(
            Item(
                context={"namespace": str(metadata.get("namespace")), "name": str(metadata.get("name"))},
                data={"version": str(version)} if version else None,
            )
        )

    operators: list[Item] = reader.fold(OPERATOR_PATH, list, take, {"labelSelector": OPERATOR_SELECTOR})
    releases.update(noted)
    found.add(OPERATOR, {"operator-count": len(operators)}, sorted(operators, key=lambda item: str(item.context)))


def _note_release(releases: Releases, item: Object) -> None:
    metadata = item.get("metadata") or {}
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    name, namespace = annotations.get(_RELEASE), annotations.get(_NAMESPACE)
    if not name or not namespace:
        return
    chart = labels.get("helm.sh/chart")
    version = labels.get("app.kubernetes.io/version")
    facts = {"chart": chart, "app-version": version}
    releases[str(namespace), str(name)] = {key: str(value) for key, value in facts.items() if value}


def _release_items(releases: Releases) -> Iterable[Item]:
    for (namespace, name), facts in sorted(releases.items()):
        yield Item(context={"namespace": namespace, "name": name}, data=facts or None)
