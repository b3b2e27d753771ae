# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that each collector needs, as data and as manifests of a read-only ServiceAccount."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import k8s, mariadb, slinky

Rule = Mapping[str, tuple[str, ...]]


def _list(group: str, *resources: str) -> Rule:
    return {"apiGroups": (group,), "resources": resources, "verbs": ("list",)}


RULES: Mapping[str, tuple[Rule, ...]] = {
    "k8s": (_list("", "nodes", "pods"), _list(k8s.POLICY_GROUP, k8s.POLICY_RESOURCE)),
    "topology": (_list("", "nodes"),),
    "mariadb": (_list(mariadb.GROUP, mariadb.RESOURCE),),
    "slinky": (_list(slinky.GROUP, slinky.CONTROLLERS, *slinky.CHILDREN), _list("apps", "deployments")),
}
"""By collector. To ask which APIs there are, and for the server's version, is everybody's right who can log in."""


def rules(collectors: Iterable[str]) -> list[dict[str, list[str]]]:
    """The rules of a ClusterRole for some collectors; each resource stands once."""
    wanted: dict[str, set[str]] = {}
    for collector in collectors:
        for rule in RULES[collector]:
            wanted.setdefault(rule["apiGroups"][0], set()).update(rule["resources"])
    return [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": ["list"]}
        for group, resources in sorted(wanted.items())
    ]


def manifests(
    collectors: Iterable[str] = tuple(RULES), *, name: str = "aicr-snapshot", namespace: str = "default"
) -> list[dict[str, Any]]:
    """A ServiceAccount that may take a snapshot, and nothing else: itself, its ClusterRole, and what binds them."""
    labels = {"app.kubernetes.io/name": "aicr", "app.kubernetes.io/component": "snapshot"}
    rbac = "rbac.authorization.k8s.io"
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
        },
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels},
            "rules": rules(collectors),
        },
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name, "labels": labels},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        },
    ]
