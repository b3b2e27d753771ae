# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands for slurm-operator 1.2.1 (spec/operators.md 2)."""

from __future__ import annotations

import sys

from ..bed.api import Object
from .loop import Controller, forever, watch
from .objects import Objects, owners, path
from .session import connect, end_when_told, option
from .slurm_daemons import Accountings, Controllers, Logins, RestApis
from .slurm_events import Events
from .slurm_nodes import NodeSets
from .webhook import health

_KINDS = {
    "Accounting": Accountings,
    "Controller": Controllers,
    "RestApi": RestApis,
    "LoginSet": Logins,
    "NodeSet": NodeSets,
}
_KEYS = ("slurmKeyRef", "jwtKeyRef", "jwtHs256KeyRef")


def main(arguments: list[str]) -> None:
    end_when_told()
    health(int(option(arguments, "health-addr", ":8081").rpartition(":")[2]))
    synced = {}
    for kind, of in _KINDS.items():
        objects = Objects(connect(), "slurm-operator")
        synced[kind] = of(objects, Events(objects, f"{kind.lower()}-controller"))
    controllers = {kind: Controller(kind, one.reconcile) for kind, one in synced.items()}
    read = Objects(connect(), "slurm-operator")

    def own(kind: str, event: str, one: Object) -> None:
        namespace = one["metadata"]["namespace"]
        if event == "DELETED":
            synced[kind].gone(one)
        controllers[kind].add(namespace, one["metadata"]["name"])
        if kind in ("Controller", "NodeSet"):
            # A NodeSet changes slurm.conf; what a Controller says is in the pods of all others (2.1).
            for other in set(_KINDS) - {kind} if kind == "Controller" else ("Controller",):
                for found in read.all(other, namespace):
                    controllers[other].add(namespace, found["metadata"]["name"])

    def child(_event: str, one: Object) -> None:
        for kind, controller in controllers.items():
            for owner in owners(one, kind):
                controller.add(one["metadata"]["namespace"], owner)
                if kind in ("Controller", "RestApi"):  # slurmrestd may answer now
                    for nodeset in read.all("NodeSet", one["metadata"]["namespace"]):
                        controllers["NodeSet"].add(nodeset["metadata"]["namespace"], nodeset["metadata"]["name"])

    def secret(event: str, one: Object) -> None:
        """Only those with slurm's and JWT's keys are watched besides its own, not the one with the password (2.3)."""
        child(event, one)
        namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
        for kind in ("Accounting", "Controller"):
            for reader in read.all(kind, namespace):
                if name in {(reader["spec"].get(key) or {}).get("name") for key in _KEYS}:
                    controllers[kind].add(namespace, reader["metadata"]["name"])

    for kind in _KINDS:
        watch(connect(), path(kind), lambda event, one, kind=kind: own(kind, event, one))  # type: ignore[misc]
    for kind in ("StatefulSet", "Deployment", "Pod"):
        watch(connect(), path(kind), child)
    watch(connect(), path("Secret"), secret)
    for controller in controllers.values():
        controller.start()
    forever()


if __name__ == "__main__":
    main(sys.argv[1:])
