# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes over MariaDB resources: from defaults of the spec to the SQL objects (spec/operators.md 1.1)."""

from __future__ import annotations

import hashlib
import secrets
import string
import time

from ..bed.api import Object
from . import mariadb_children as children
from .loop import Failure
from .mariadb_server import Refused, Server
from .mariadb_tls import certify
from .objects import Objects, condition, conditions, content, owned, secret
from .session import delay, passing_failure

_DEFAULT_VERSION, _DEFAULT_IMAGE = "11.8", "mariadb:11.8.8"
_SYMBOLS = "~!@%^&*()_+-={}|[]:<>/"  # slurm-accounting.md 3.4


class Instances:
    """The controller of MariaDB resources."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._ready_since: dict[str, float] = {}

    def reconcile(self, namespace: str, name: str) -> float | None:
        """One pass. It ends with the first phase that fails, or that has to wait for an event."""
        mariadb = self._objects.find("MariaDB", namespace, name)
        if mariadb is None or "deletionTimestamp" in mariadb["metadata"]:
            return None
        if self._set_defaults(mariadb):
            return None  # the patch is an event
        again = self._tell_state(mariadb)
        if mariadb["spec"]["suspend"]:
            return None
        self._phase(mariadb, "Secret", self._keep_secrets)
        self._keep_children(mariadb)
        if condition(mariadb).get("status") != "True":
            return again
        self._update(mariadb)
        self._phase(mariadb, "Root Password", self._keep_root_password)
        self._phase(mariadb, "SQL", self._keep_sql_objects)
        return None

    def _phase(self, mariadb: Object, title: str, phase) -> None:  # type: ignore[no-untyped-def]
        try:
            phase(mariadb)
        except Failure as error:
            message = f"Error reconciling {title}: {error}"
            self._write_status(mariadb, conditions=conditions(mariadb, ("Ready", "False", "Failed", message)))
            raise Failure(message) from error

    def _write_status(self, mariadb: Object, **fields: object) -> None:
        metadata = mariadb["metadata"]
        before = mariadb.get("status", {})
        if any(before.get(name) != value for name, value in fields.items()):
            new = self._objects.patch("MariaDB", metadata["namespace"], metadata["name"], {"status": fields}, True)
            mariadb["status"] = new.get("status", {})

    # ---- spec and status

    def _set_defaults(self, mariadb: Object) -> bool:
        """Patch what is not stated into the spec: generation 1 becomes 2 (operators.md 1.1)."""
        spec, name = mariadb["spec"], mariadb["metadata"]["name"]
        storage, size = spec.get("storage", {}), spec.get("storage", {}).get("size")
        wanted: Object = {
            "image": _DEFAULT_IMAGE,
            "rootEmptyPassword": False,
            "serviceAccountName": name,
            "tls": {"enabled": True},
            "updateStrategy": {"type": "ReplicasFirstPrimaryLast", "autoUpdateDataPlane": False},
        }
        generated = {"key": "password", "generate": True}
        wanted["rootPasswordSecretKeyRef"] = {"name": f"{name}-root", **generated}
        if "username" in spec and "passwordHashSecretKeyRef" not in spec:
            wanted["passwordSecretKeyRef"] = {"name": f"{name}-password", **generated}
        if "myCnf" in spec:
            wanted["myCnfConfigMapKeyRef"] = {"name": f"{name}-config", "key": "my.cnf"}
        lacking: Object = {key: value for key, value in wanted.items() if key not in spec}
        if not storage.get("ephemeral"):
            claim: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
            if "storageClassName" in storage:
                claim["storageClassName"] = storage["storageClassName"]
            kept = {
                "ephemeral": False,
                "resizeInUseVolumes": True,
                "waitForVolumeResize": True,
                "volumeClaimTemplate": claim,
            }
            more = {key: value for key, value in kept.items() if key not in storage}
            if more:
                lacking["storage"] = more
        if lacking:
            self._objects.patch("MariaDB", mariadb["metadata"]["namespace"], name, {"spec": lacking})
        return bool(lacking)

    def _tell_state(self, mariadb: Object) -> float | None:
        """Write what the StatefulSet says; seconds to wait if a test wants Ready later."""
        namespace, name = mariadb["metadata"]["namespace"], mariadb["metadata"]["name"]
        first = {"currentPrimary": f"{name}-0", "currentPrimaryPodIndex": 0, "defaultVersion": _DEFAULT_VERSION}
        if mariadb["spec"]["suspend"]:  # a7: the children keep their conditions
            self._write_status(mariadb, conditions=conditions(mariadb, ("Ready", "False", "Suspended", "Suspended")))
            return None
        workload = self._objects.find("StatefulSet", namespace, name)
        pod = self._objects.find("Pod", namespace, f"{name}-0")
        state = (workload or {}).get("status", {})
        revision = (pod or {}).get("metadata", {}).get("labels", {}).get("controller-revision-hash")
        wanted = mariadb["spec"]["replicas"]
        settled = workload is not None and state.get("observedGeneration") == workload["metadata"]["generation"]
        pending = settled and pod is not None and revision != state.get("updateRevision")
        away = condition(mariadb).get("reason") == "PendingUpdate" and not state.get("readyReplicas")
        if pending or away:  # while the pod is away it remains so (1.4, a5)
            ready, updated = ("True", "PendingUpdate", "Pending update"), ("False", "PendingUpdate", "Pending update")
            told = conditions(mariadb, ("Ready", *ready), ("Updated", *updated))
            self._write_status(mariadb, conditions=told)
            return None
        if not settled or state.get("readyReplicas") != wanted or pod is None:
            told = conditions(mariadb, ("Ready", "False", "StatefulSetNotReady", "Not ready"))
            gone = {"replicas": None} if "replicas" in mariadb.get("status", {}) else {}
            self._write_status(mariadb, conditions=told, **first, **gone)
            return None
        since = self._ready_since.setdefault(workload["metadata"]["uid"], time.monotonic())
        left = since + delay("MARIADB") - time.monotonic()
        if left > 0:
            return left
        label = {"k8s.mariadb.com/role": "primary"}
        if not label.items() <= pod["metadata"]["labels"].items():
            self._objects.patch("Pod", namespace, pod["metadata"]["name"], {"metadata": {"labels": label}})
        ready, updated = ("True", "StatefulSetReady", "Running"), ("True", "Updated", "Updated")
        told = conditions(mariadb, ("Ready", *ready), ("Updated", *updated))
        self._write_status(mariadb, conditions=told, replicas=wanted)
        return None

    # ---- children

    def _keep_secrets(self, mariadb: Object) -> None:
        namespace, name, spec = mariadb["metadata"]["namespace"], mariadb["metadata"]["name"], mariadb["spec"]
        for field in ("rootPasswordSecretKeyRef", "passwordSecretKeyRef"):
            ref = spec.get(field)
            if ref is None or self._objects.find("Secret", namespace, ref["name"]) is not None:
                continue  # without its key it is not completed (1.4, b8)
            if not ref.get("generate"):
                raise Failure(f'error reconciling password Secret: Secret "{ref["name"]}" not found')
            # No owner, no labels: it outlives the MariaDB (1.2).
            metadata = {"name": ref["name"], "namespace": namespace}
            self._objects.create("Secret", secret(metadata, {ref["key"]: _password()}))
        ref = spec["rootPasswordSecretKeyRef"]
        root = self._root_password(mariadb)
        if self._objects.find("Secret", namespace, f"internal-{name}") is None:
            # Made once, and not kept up to date with the Secret it was copied from (1.2).
            self._objects.create("Secret", secret(owned(mariadb, f"internal-{name}"), {ref["key"]: root}))

    def _root_password(self, mariadb: Object) -> bytes:
        ref = mariadb["spec"]["rootPasswordSecretKeyRef"]
        found = self._objects.find("Secret", mariadb["metadata"]["namespace"], ref["name"])
        password = content(found or {}, ref["key"])
        if password is None:
            raise Failure(f'error getting root password secret: secret key "{ref["key"]}" not found')
        return password

    def _keep_children(self, mariadb: Object) -> None:
        for kind, child in children.configuration(mariadb):
            self._objects.put(kind, child)
        annotations = certify(self._objects, mariadb) if mariadb["spec"]["tls"].get("enabled") else {}
        account = children.account(mariadb)
        if self._objects.find("ServiceAccount", account["metadata"]["namespace"], account["metadata"]["name"]) is None:
            self._objects.create("ServiceAccount", account)
        workload = children.workload(mariadb, annotations)
        namespace, name = workload["metadata"]["namespace"], workload["metadata"]["name"]
        there = self._objects.find("StatefulSet", namespace, name)
        if there is None:
            self._objects.create("StatefulSet", workload)
        else:
            changeable = {"replicas": workload["spec"]["replicas"], "template": workload["spec"]["template"]}
            self._objects.patch("StatefulSet", namespace, name, {"spec": changeable})
        for service in children.services(mariadb):
            if self._objects.find("Service", namespace, service["metadata"]["name"]) is None:
                self._objects.create("Service", service)

    def _update(self, mariadb: Object) -> None:
        """OnDelete: the operator deletes the pod that is not of the newest revision (1.4, a5)."""
        namespace, name = mariadb["metadata"]["namespace"], f"{mariadb['metadata']['name']}-0"
        if condition(mariadb)["reason"] != "PendingUpdate":
            return
        workload = self._objects.find("StatefulSet", namespace, mariadb["metadata"]["name"]) or {}
        pod = self._objects.find("Pod", namespace, name)
        newest = workload.get("status", {}).get("updateRevision")
        if pod is not None and pod["metadata"]["labels"].get("controller-revision-hash") != newest:
            self._objects.delete("Pod", namespace, name)

    # ---- SQL

    def _keep_root_password(self, mariadb: Object) -> None:
        """Take a new root password over, by a login with the old one: the trap of 1.4, b7."""
        namespace, name = mariadb["metadata"]["namespace"], mariadb["metadata"]["name"]
        root = self._root_password(mariadb)
        key = mariadb["spec"]["rootPasswordSecretKeyRef"]["key"]
        internal = content(self._objects.find("Secret", namespace, f"internal-{name}") or {}, key)
        if internal is None:
            raise Failure(f'error getting internal root password secret: secret key "{key}" not found')
        if internal != root:
            try:
                server = Server(self._objects, mariadb, internal)
                with server.connect() as sql:
                    for host in ("%", "localhost"):
                        sql.execute("ALTER USER IF EXISTS root@%s IDENTIFIED BY %s", (host, root.decode()))
            except Refused as error:
                raise Failure(f"error creating SQL client for root password update: {error}") from error
            new = secret({"name": f"internal-{name}", "namespace": namespace}, {key: root})
            self._objects.patch("Secret", namespace, f"internal-{name}", {"data": new["data"]})
        self._write_status(mariadb, rootPasswordHash=hashlib.sha256(root).hexdigest())

    def _keep_sql_objects(self, mariadb: Object) -> None:
        """Make the SQL objects, each only when those before it are Ready (1.1)."""
        namespace = mariadb["metadata"]["namespace"]
        for step in children.sql_objects(mariadb):
            states = []
            for kind, child in step:
                name = child["metadata"]["name"]
                there = self._objects.find(kind, namespace, name)
                if there is None:
                    there = self._objects.create(kind, child)
                    if name.endswith("-global-priv") and passing_failure():
                        # The real one's cache lags behind (1.1, passing Failed).
                        raise Failure(f'error getting mariadb.sys Grant: Grant.k8s.mariadb.com "{name}" not found')
                states.append(condition(there).get("status"))
            if any(state != "True" for state in states):
                return


def _password() -> str:
    """16 characters, 4 of them digits and 2 symbols (slurm-accounting.md 3.4)."""
    letters = [secrets.choice(string.ascii_letters) for _n in range(10)]
    digits = [secrets.choice(string.digits) for _n in range(4)]
    mixed = [*letters, *digits, *(secrets.choice(_SYMBOLS) for _n in range(2))]
    secrets.SystemRandom().shuffle(mixed)
    return "".join(mixed)
