# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of mariadb-operator: the operator, its webhook or its cert controller, as the arguments say."""

from __future__ import annotations

import sys

from ..bed.api import Object
from . import mariadb_certificates, mariadb_webhook
from .loop import Controller, forever, watch
from .mariadb_instance import Instances
from .mariadb_sql import SqlObjects
from .objects import Objects, condition, owners, path
from .session import connect, end_when_told

_WATCHED = "k8s.mariadb.com/watch"
_SQL = ("Database", "User", "Grant")


def main(arguments: list[str]) -> None:
    end_when_told()
    if arguments[:1] == ["webhook"]:
        mariadb_webhook.main(arguments)
    elif arguments[:1] == ["cert-controller"]:
        mariadb_certificates.main(arguments)
    else:
        operate()


def operate() -> None:
    """Reconcile until the process ends."""
    instances = Controller("MariaDB", Instances(Objects(connect(), "mariadb-operator")).reconcile)
    controllers = {
        kind: Controller(kind, SqlObjects(kind, Objects(connect(), "mariadb-operator")).reconcile) for kind in _SQL
    }
    controllers["MariaDB"] = instances

    def own(kind: str, _event: str, one: Object) -> None:
        controllers[kind].add(one["metadata"]["namespace"], one["metadata"]["name"])

    def wake_owner(_event: str, child: Object) -> None:
        for owner in owners(child, "MariaDB"):
            instances.add(child["metadata"]["namespace"], owner)

    ready: dict[str, str] = {}

    def sql(kind: str, event: str, one: Object) -> None:
        """A SQL object that becomes Ready is news for its MariaDB; that it is gone is not (operators.md 1.4, b1)."""
        own(kind, event, one)
        uid, state = one["metadata"]["uid"], condition(one).get("status", "")
        if ready.get(uid) != state:
            ready[uid] = state
            wake_owner(event, one)

    secret_users = Objects(connect(), "mariadb-operator")

    def secret(_event: str, one: Object) -> None:
        """Only Secrets with the label are watched, and to get it is an event (operators.md 1.4, b9)."""
        namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
        for user in secret_users.all("User", namespace):
            if user["spec"].get("passwordSecretKeyRef", {}).get("name") == name:
                controllers["User"].add(namespace, user["metadata"]["name"])

    watch(connect(), path("MariaDB"), lambda event, one: own("MariaDB", event, one))
    watch(connect(), path("StatefulSet"), wake_owner)
    for kind in _SQL:
        watch(connect(), path(kind), lambda event, one, kind=kind: sql(kind, event, one))  # type: ignore[misc]
    watch(connect(), path("Secret"), secret, labelSelector=_WATCHED)
    for controller in controllers.values():
        controller.start()
    forever()


if __name__ == "__main__":
    main(sys.argv[1:])
