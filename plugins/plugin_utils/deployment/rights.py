# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a deployment takes, asked for before its first write.

An operator that is installed by halves can stop the scheduling of a whole cluster, so what is missing has to be known
before (spec/slurm-accounting.md section 7, item 11). Charts hold what their authors put there; these are the kinds that
the charts of the catalog have. Rights that a chart hands on by its own roles the caller must have, or ``escalate``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..cluster.connection import Connection
from ..cluster.review import Right, require
from ..errors import AicrError, Code
from ..ownership.accounting import DATABASE, SLURM
from .plan import Plan

_RBAC, _ADMISSION = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
_NAMESPACED = (
    ("", "configmaps"),
    ("", "secrets"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("batch", "jobs"),
    (_RBAC, "rolebindings"),
    (_RBAC, "roles"),
)
_OF_THE_CLUSTER = (
    ("", "namespaces"),
    (_ADMISSION, "mutatingwebhookconfigurations"),
    (_ADMISSION, "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    (_RBAC, "clusterrolebindings"),
    (_RBAC, "clusterroles"),
)
_OF_COMPONENTS = {
    SLURM: (
        ("slinky.slurm.net", "accountings"),
        ("slinky.slurm.net", "controllers"),
        ("slinky.slurm.net", "loginsets"),
        ("slinky.slurm.net", "nodesets"),
        ("slinky.slurm.net", "restapis"),
    ),
    DATABASE: (("k8s.mariadb.com", "mariadbs"),),
}
_WRITES = ("create", "delete", "get", "patch")

HINT = (
    "let somebody deploy who has these rights in the whole cluster, such as one with the ClusterRole cluster-admin; "
    "docs/deploy.md lists them"
)


def rights(plan: Plan, state_namespace: str, *, restart_slurmctld: bool = False) -> Iterator[Right]:
    """What the deployment of a plan takes.

    :param state_namespace: where the Lease and the record are.
    :param restart_slurmctld: whether the check of accounting may delete the pod of slurmctld.
    """
    for step in plan.components[SLURM].after if restart_slurmctld and SLURM in plan.components else ():
        yield Right("delete", "", "pods", str(step["namespace"]))
    for group, resource in _OF_THE_CLUSTER:
        for verb in _WRITES:
            yield Right(verb, group, resource)
    for namespace in sorted({release.namespace for release in plan.releases}):
        for group, resource in _NAMESPACED:
            for verb in _WRITES:
                yield Right(verb, group, resource, namespace)
        for verb in ("list", "update"):
            yield Right(verb, "", "secrets", namespace)  # in which Helm keeps its releases
    for name, kinds in _OF_COMPONENTS.items():
        for release in plan.components[name].releases if name in plan.components else ():
            for group, resource in kinds:
                for verb in (*_WRITES, "list", "watch"):
                    yield Right(verb, group, resource, release.namespace)
    for verb in ("create", "delete", "get", "update"):
        yield Right(verb, "coordination.k8s.io", "leases", state_namespace)
    for verb in ("create", "get", "patch"):
        yield Right(verb, "", "configmaps", state_namespace)


def missing_rights(connection: Connection, wanted: Iterable[Right]) -> tuple[str, ...]:
    """Those that the caller lacks; a right in the whole cluster is one in every namespace.

    :raises AicrError: see :func:`review.require`.
    """
    asked = set(wanted)
    anywhere = {Right(one.verb, one.group, one.resource) for one in asked}
    lacking = _lacks(connection, anywhere)
    return tuple(_lacks(connection, [one for one in asked if str(Right(one.verb, one.group, one.resource)) in lacking]))


def _lacks(connection: Connection, asked: Iterable[Right]) -> list[str]:
    try:
        require(connection, asked, HINT)
    except AicrError as error:
        missing = error.details.get("missing")
        if error.code is not Code.UNAUTHORIZED or not isinstance(missing, list):
            raise
        return missing
    return []
