# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounting, Controller, RestApi and LoginSet: objects and order of spec/operators.md 2.1."""

from __future__ import annotations

import time
from collections.abc import Iterator

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from ..bed.api import Object
from . import slurm_conf, slurm_workloads
from .loop import Failure
from .objects import Objects, content, secret
from .session import delay
from .slurm_events import Events
from .slurm_sync import Step, Synced, key_hashes
from .slurm_workloads import Child, hashed

_RSA_SECONDS = 2.0
"""What the real one takes for its RSA key."""
_LAG = 5.0
_SSHD = (
    "#\n### GENERAL ###\nInclude /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\nX11Forwarding yes\n"
    "Subsystem sftp internal-sftp\n#\n### EXTRA CONFIG ###\n"
)


class Accountings(Synced):
    """Service, Secret and StatefulSet of slurmdbd. Status is never set."""

    kind = "Accounting"

    def steps(self, one: Object) -> Iterator[Step]:
        if one["spec"].get("external"):
            return  # slurm-accounting.md 2.5
        child = Child(one, "accounting", "slurmdbd", "-accounting")
        yield "Service", lambda: self.keep(one, "Service", child.service(6819))
        yield "Config", lambda: self.keep(one, "Secret", self._configuration(one, child))
        yield "StatefulSet", lambda: self.keep(one, "StatefulSet", self._workload(one, child))

    def __init__(self, objects: Objects, events: Events) -> None:
        super().__init__(objects, events)
        self._gone: dict[tuple[str, str], tuple[Object, float]] = {}

    def gone(self, one: Object) -> None:
        self._gone[one["metadata"]["namespace"], one["metadata"]["name"]] = one, time.monotonic() + _LAG

    def reconcile(self, namespace: str, name: str) -> float | None:
        """One pass; its cache lags behind, so children are made once more for a moment (operators.md 2.3, c6)."""
        key = namespace, name
        if key not in self._gone or self.objects.find(self.kind, namespace, name):
            self._gone.pop(key, None)
            return super().reconcile(namespace, name)
        stale, end = self._gone[key]
        if time.monotonic() < end and self.objects.find("Secret", namespace, f"{name}-accounting"):
            return 0.05
        del self._gone[key]
        self.bring(stale)
        return None

    def _configuration(self, one: Object, child: Child) -> Object:
        namespace, ref = one["metadata"]["namespace"], one["spec"]["storageConfig"]["passwordKeyRef"]
        found = self.objects.find("Secret", namespace, ref["name"])
        if found is None:
            raise Failure(f'failed to build: Secret "{ref["name"]}" not found')
        password = content(found, ref["key"])
        if password is None:
            raise Failure(f'failed to build: secret key "{ref["key"]}" not found')
        text = slurm_conf.slurmdbd(one, password.decode())
        return secret(child.metadata(), {"slurmdbd.conf": text}, immutable=False)

    def _workload(self, one: Object, child: Child) -> Object:
        ref = {"name": child.name, "key": "slurmdbd.conf"}
        conf = hashed("slurmdbd-conf-hash", self.value(one["metadata"]["namespace"], ref))
        return slurm_workloads.accounting(child, {**conf, **key_hashes(self, one, hashed)})


class Controllers(Synced):
    """Service, ConfigMap and StatefulSet of slurmctld."""

    kind = "Controller"

    def steps(self, one: Object) -> Iterator[Step]:
        child = Child(one, "controller", "slurmctld", "-controller")
        files = self._files(one)
        name = f"{one['metadata']['name']}-config"
        config = {"metadata": child.metadata(name), "immutable": False, "data": files}
        hashes = {**hashed("slurm-config-hash", files), **key_hashes(self, one, hashed)}
        yield "Service", lambda: self.keep(one, "Service", child.service(6817))
        yield "Config", lambda: self.keep(one, "ConfigMap", config)
        yield "StatefulSet", lambda: self.keep(one, "StatefulSet", slurm_workloads.controller(child, hashes))

    def _files(self, one: Object) -> dict[str, str]:
        namespace, name = one["metadata"]["namespace"], one["metadata"]["name"]
        nodesets = [
            nodeset
            for nodeset in self.objects.all("NodeSet", namespace)
            if nodeset["spec"]["controllerRef"]["name"] == name
        ]
        files = {"slurm.conf": slurm_conf.slurm(one, nodesets)}
        given: set[str] = set()
        for ref in one["spec"].get("configFileRefs") or ():
            found = self.objects.find("ConfigMap", namespace, ref["name"])
            given |= set((found or {}).get("data", {}))
        return files if "cgroup.conf" in given else {"cgroup.conf": slurm_conf.CGROUP, **files}


class RestApis(Synced):
    """Service and Deployment of slurmrestd."""

    kind = "RestApi"

    def steps(self, one: Object) -> Iterator[Step]:
        child = Child(one, "restapi", "slurmrestd", "-restapi")

        def workload() -> None:
            control = self.control(one, "failed to build: failed to build pod template: ")
            self.keep(one, "Deployment", slurm_workloads.restapi(child, control))

        yield "Service", lambda: self.keep(one, "Service", child.service(6820, bare=True))
        yield "Deployment", workload


class Logins(Synced):
    """Secret, ConfigMap, Service and Deployment of login nodes."""

    kind = "LoginSet"

    def steps(self, one: Object) -> Iterator[Step]:
        child = Child(one, "login", "login")
        namespace, spec = one["metadata"]["namespace"], one["spec"]
        name = f"{child.name}-ssh-host-keys"
        # The blank lines are the real one's.
        data = {
            "sshd_config": f"{_SSHD}{spec.get('extraSshdConfig', '')}\n",
            "authorized_keys": f"#\n### SLINKY ###\n{spec.get('rootSshAuthorizedKeys', '')}\n",
        }

        def keys() -> None:
            if self.objects.find("Secret", namespace, name) is None:
                time.sleep(_RSA_SECONDS + delay("LOGINSET"))
                self.keep(one, "Secret", secret(child.metadata(name), _ssh_keys(), immutable=True))

        def workload() -> None:
            control = self.control(one, "failed to build: failed to build pod template: ")
            found = self.objects.find("Secret", namespace, name) or {}
            hashes = {
                **hashed("ssh-host-keys-hash", found.get("data")),
                **hashed("sshd-conf-hash", data),
                **hashed("sssd-conf-hash", self.value(namespace, spec.get("sssdConfRef"))),
            }
            self.keep(one, "Deployment", slurm_workloads.login(child, control, hashes))

        def status() -> None:
            there = self.objects.find("Deployment", namespace, child.name) or {}
            selector = ",".join(f"{key}={value}" for key, value in sorted(child.app.items()))
            told = {"replicas": there.get("status", {}).get("replicas", 0), "selector": selector}
            if one.get("status") != told:
                self.objects.patch("LoginSet", namespace, child.name, {"status": told}, True)

        config = {"metadata": child.metadata(f"{child.name}-ssh-config"), "immutable": False, "data": data}
        yield "SshHostKeys", keys
        yield "SshConfig", lambda: self.keep(one, "ConfigMap", config)
        yield "Service", lambda: self.keep(one, "Service", child.service(22))
        yield "Deployment", workload
        yield "Status", status


def _ssh_keys() -> dict[str, bytes]:
    made = {
        "rsa": rsa.generate_private_key(public_exponent=65537, key_size=2048),
        "ed25519": ed25519.Ed25519PrivateKey.generate(),
        "ecdsa": ec.generate_private_key(ec.SECP256R1()),
    }
    form = serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    data = {}
    for kind, key in made.items():
        data[f"ssh_host_{kind}_key"] = key.private_bytes(serialization.Encoding.PEM, *form)
        public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        data[f"ssh_host_{kind}_key.pub"] = public + b"\n"
    return data
