# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a snapshot takes, as data and as manifests of a ServiceAccount: those of each collector, which only
reads, and those of the agent."""

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
    return _bound(name, namespace, "snapshot", cluster=rules(collectors))


AGENT_RULES: tuple[Rule, ...] = (
    {
        "apiGroups": ("",),
        "resources": ("configmaps", "serviceaccounts"),
        "verbs": ("create", "delete", "patch"),
    },
    {"apiGroups": ("batch",), "resources": ("jobs",), "verbs": ("create", "delete", "patch")},
    _list("", "pods"),
    {"apiGroups": ("",), "resources": ("pods/log",), "verbs": ("get",)},
)
"""What it takes to look at nodes from within, in the namespace of the agent."""
AGENT_CLUSTER_RULES: tuple[Rule, ...] = (_list("", "nodes"),)
"""And in the cluster."""
AGENT_HELPFUL_RULES: tuple[Rule, ...] = (_list("", "events"),)
"""Without these, errors say less."""


def agent_manifests(*, name: str = "aicr-snapshot-agent", namespace: str = "default") -> list[dict[str, Any]]:
    """A ServiceAccount that may have nodes looked at, for the controller; that of the pods has no rights at all."""
    return _bound(
        name,
        namespace,
        "snapshot-agent",
        cluster=_plain(AGENT_CLUSTER_RULES),
        namespaced=_plain(AGENT_RULES + AGENT_HELPFUL_RULES),
    )


def _plain(given: Iterable[Rule]) -> list[dict[str, list[str]]]:
    return [{key: list(values) for key, values in rule.items()} for rule in given]


def _bound(
    name: str,
    namespace: str,
    component: str,
    *,
    cluster: list[dict[str, list[str]]],
    namespaced: list[dict[str, list[str]]] | None = None,
) -> list[dict[str, Any]]:
    """A ServiceAccount, its roles, and what binds them."""
    labels = {"app.kubernetes.io/name": "aicr", "app.kubernetes.io/component": component}
    rbac = "rbac.authorization.k8s.io"
    local = {"name": name, "namespace": namespace, "labels": labels}
    made: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": local}]
    for kind, metadata, rules_of_kind in (
        ("Role", local, namespaced),
        ("ClusterRole", {"name": name, "labels": labels}, cluster),
    ):
        if rules_of_kind is None:
            continue
        made += [
            {"apiVersion": f"{rbac}/v1", "kind": kind, "metadata": metadata, "rules": rules_of_kind},
            {
                "apiVersion": f"{rbac}/v1",
                "kind": f"{kind}Binding",
                "metadata": metadata,
                "roleRef": {"apiGroup": rbac, "kind": kind, "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
            },
        ]
    return made
