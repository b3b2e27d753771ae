# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workloads and Services that slurm-operator makes, as spec/operators.md 2.1 and the recordings have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..bed.api import Object
from .objects import digest, owned
from .slurm_conf import cluster_name

_MEMORY = {"emptyDir": {"medium": "Memory"}}
_SSH_KEYS = [f"ssh_host_{kind}_key{end}" for kind in ("rsa", "ed25519", "ecdsa") for end in ("", ".pub")]
_COPY = "mkdir -p /mnt/etc/slurm\nfind /mnt/slurm -type f -exec cp -v '{}' /mnt/etc/slurm ';'\n"
_LOG = 'mkfifo -m 777 "$SOCKET"\nwhile true; do cat "$SOCKET" || true; sleep 1; done\n'


class Child:
    """What the children of one resource have in common."""

    def __init__(self, owner: Object, component: str, program: str, suffix: str = "") -> None:
        self.owner, self.program = owner, program
        self.name = owner["metadata"]["name"] + suffix
        self.app = {"app.kubernetes.io/name": program, "app.kubernetes.io/instance": owner["metadata"]["name"]}
        self.labels = {**self.app, "app.kubernetes.io/component": component}

    def metadata(self, name: str = "", bare: bool = False) -> Object:
        """That of a child, with all annotations of the resource (2.1), unless it is one that gets the labels alone."""
        own = self.owner["metadata"]
        if bare:
            return owned(self.owner, name or self.name, labels=self.labels)
        labels = {**self.labels, **own.get("labels", {})}
        return owned(self.owner, name or self.name, labels=labels, annotations=own.get("annotations", {}))

    def service(self, port: int, bare: bool = False) -> Object:
        stated = (self.owner["spec"].get("service") or {}).get("spec") or {}
        name = {"slurmctld": "slurmctld", "slurmdbd": "slurmdbd", "slurmrestd": "slurmrestd"}.get(self.program, "login")
        ports = [{"name": name, "port": port, "protocol": "TCP", "targetPort": name}]
        spec = {"type": "ClusterIP", **stated, "selector": self.app, "ports": ports}
        return {"metadata": self.metadata(bare=bare), "spec": spec}

    def template(self, container: Object, annotations: Mapping[str, str], pod: Object) -> Object:
        """A pod template: what the resource says of the pod, under what the operator says."""
        stated = {key: value for key, value in (self._stated("spec") or {}).items() if value}
        stated.pop("hostname", None)
        stated.pop("resources", None)
        metadata = self.owner["metadata"]
        lists = ("volumes", "initContainers")
        joined = {key: [*pod.get(key, ()), *stated.pop(key, ())] for key in lists}
        labels = {**self.labels, **(self._stated("metadata") or {}).get("labels", {})}
        notes = {"kubectl.kubernetes.io/default-container": container["name"], **metadata.get("annotations", {})}
        return {
            "metadata": {
                "name": self.name,
                "namespace": metadata["namespace"],
                "labels": labels,
                "annotations": {**notes, **annotations},
            },
            "spec": {
                "automountServiceAccountToken": False,
                **stated,
                **pod,
                **{key: value for key, value in joined.items() if value},
                "containers": [container],
            },
        }

    def _stated(self, field: str) -> Object | None:
        found: Object | None = (self.owner["spec"].get("template") or {}).get(field)
        return found

    def stateful_set(self, template: Object, claims: Sequence[Object] = ()) -> Object:
        spec: Object = {
            "serviceName": self.name,
            "replicas": 1,
            "podManagementPolicy": "Parallel",
            "revisionHistoryLimit": 0,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "selector": {"matchLabels": self.app},
            "template": template,
            **({"volumeClaimTemplates": list(claims)} if claims else {}),
        }
        return {"metadata": self.metadata(), "spec": spec}

    def deployment(self, template: Object) -> Object:
        replicas = self.owner["spec"].get("replicas", 1)
        selector = {"matchLabels": self.app}
        spec = {"replicas": replicas, "revisionHistoryLimit": 0, "selector": selector, "template": template}
        return {"metadata": self.metadata(), "spec": spec}


def container(name: str, stated: Object, **own: Any) -> Object:
    """A container: the operator's fields, over or joined with those of the resource."""
    given = {key: value for key, value in stated.items() if value and key != "name"}
    for field in ("env", "ports", "volumeMounts"):
        if field in own or field in given:
            own[field] = [*own.get(field, ()), *given.pop(field, ())]
    stated_context = {key: value for key, value in given.pop("securityContext", {}).items() if value}
    context = {**stated_context, **own.pop("securityContext", {})}
    return {"name": name, "resources": {}, **own, **given, **({"securityContext": context} if context else {})}


def _user(number: int) -> Object:
    return {"runAsUser": number, "runAsGroup": number, "runAsNonRoot": True}


def _file(kind: str, ref: Mapping[str, str], file: str, mode: int | None = None) -> Object:
    item = {"key": ref["key"], "path": file, **({"mode": mode} if mode else {})}
    return {kind: {"name": ref["name"], "items": [item]}}


def _projected(name: str, mode: int, sources: Sequence[Object]) -> Object:
    return {"name": name, "projected": {"defaultMode": mode, "sources": list(sources)}}


def _keys(spec: Object) -> list[Object]:
    jwt = spec.get("jwtKeyRef") or spec.get("jwtHs256KeyRef")
    return [_file("secret", spec["slurmKeyRef"], "slurm.key"), *([_file("secret", jwt, "jwt.key")] if jwt else [])]


def accounting(child: Child, hashes: Mapping[str, str]) -> Object:
    """The StatefulSet of slurmdbd: one probe, of readiness (slurm-accounting.md 2.3)."""
    spec = child.owner["spec"]
    main = container(
        "slurmdbd",
        spec.get("slurmdbd", {}),
        ports=[{"name": "slurmdbd", "containerPort": 6819}],
        readinessProbe={"tcpSocket": {"port": 6819}},
        securityContext=_user(401),
        volumeMounts=[
            {"name": "slurm-etc", "mountPath": "/etc/slurm", "readOnly": True},
            {"name": "run", "mountPath": "/run"},
        ],
    )
    sources = [_file("secret", {"name": child.name, "key": "slurmdbd.conf"}, "slurmdbd.conf"), *_keys(spec)]
    volumes = [_projected("slurm-etc", 0o600, sources), {"name": "run", **_MEMORY}]
    pod = {"securityContext": {**_user(401), "fsGroup": 401}, "volumes": volumes}
    return child.stateful_set(child.template(main, hashes, pod))


def controller(child: Child, hashes: Mapping[str, str]) -> Object:
    """The StatefulSet of slurmctld."""
    owner, spec = child.owner, child.owner["spec"]
    probe = {"httpGet": {"path": "/livez", "port": "slurmctld"}, "failureThreshold": 6}
    spool = f"/var/spool/slurmctld/{cluster_name(owner)}"
    mounts = {
        "/run": "run",
        spool: "statesave",
        "/run/slurmctld": "slurm-authsocket",
        "/var/log/slurm": "slurm-logfile",
    }
    main = container(
        "slurmctld",
        spec.get("slurmctld", {}),
        ports=[{"name": "slurmctld", "containerPort": 6817}],
        startupProbe=probe,
        livenessProbe=probe,
        readinessProbe={"httpGet": {"path": "/readyz", "port": "slurmctld"}},
        securityContext=_user(401),
        volumeMounts=[
            {"name": "slurm-etc", "mountPath": "/etc/slurm", "readOnly": True},
            *({"name": name, "mountPath": place} for place, name in mounts.items()),
        ],
    )
    log = container(
        "logfile",
        spec.get("logfile", {}),
        command=["sh", "-c", _LOG],
        env=[{"name": "SOCKET", "value": "/var/log/slurm/slurmctld.log"}],
        restartPolicy="Always",
        volumeMounts=[{"name": "slurm-logfile", "mountPath": "/var/log/slurm"}],
    )
    files = [f"{owner['metadata']['name']}-config", *(one["name"] for one in spec.get("configFileRefs") or ())]
    sources = [*({"configMap": {"name": name}} for name in files), *_keys(spec)]
    volumes = [
        _projected("slurm-etc", 0o610, sources),
        {"name": "slurm-logfile", **_MEMORY},
        {"name": "run", **_MEMORY},
        {"name": "slurm-authsocket", "emptyDir": {}},
    ]
    persistence, claims = spec.get("persistence") or {}, []
    if not persistence.get("enabled"):
        volumes.append({"name": "statesave", "emptyDir": {}})
    elif persistence.get("existingClaim"):
        volumes.append({"name": "statesave", "persistentVolumeClaim": {"claimName": persistence["existingClaim"]}})
    else:
        claim = {key: value for key, value in persistence.items() if key not in ("enabled", "existingClaim")}
        metadata = {"name": "statesave", "namespace": owner["metadata"]["namespace"]}
        claims = [{"metadata": metadata, "spec": claim}]
    pod = {"securityContext": {**_user(401), "fsGroup": 401}, "volumes": volumes, "initContainers": [log]}
    return child.stateful_set(child.template(main, hashes, pod), claims)


def restapi(child: Child, control: Object) -> Object:
    """The Deployment of slurmrestd; its arguments depend on accounting (2.1)."""
    probe = {"tcpSocket": {"port": 6820}}
    accounts = bool((control["spec"].get("accountingRef") or {}).get("name"))
    stated = child.owner["spec"].get("slurmrestd", {})
    main = container(
        "slurmrestd",
        {key: value for key, value in stated.items() if key != "args"},
        args=[*(stated.get("args") or ()), *([] if accounts else ["-s", "openapi/slurmctld"]), "0.0.0.0:6820"],
        env=[
            {"name": "SLURM_JWT", "value": "daemon"},
            {"name": "SLURMRESTD_SECURITY", "value": "disable_unshare_files,disable_unshare_sysv"},
        ],
        ports=[{"name": "slurmrestd", "containerPort": 6820}],
        startupProbe={**probe, "failureThreshold": 6},
        livenessProbe={**probe, "failureThreshold": 6},
        readinessProbe=probe,
        securityContext=_user(65534),
        volumeMounts=[{"name": "slurm-etc", "mountPath": "/etc/slurm", "readOnly": True}],
    )
    config = {"name": f"{control['metadata']['name']}-config", "key": "slurm.conf"}
    sources = [_file("configMap", config, "slurm.conf"), _file("secret", control["spec"]["slurmKeyRef"], "slurm.key")]
    pod = {
        "securityContext": {**_user(65534), "fsGroup": 65534},
        "volumes": [_projected("slurm-etc", 0o600, sources)],
    }
    return child.deployment(child.template(main, {}, pod))


def login(child: Child, control: Object, hashes: Mapping[str, str]) -> Object:
    """The Deployment of a login node."""
    spec, metadata = child.owner["spec"], control["metadata"]
    place = f"{metadata['name']}-controller.{metadata['namespace']}:6817"
    single = {"/etc/ssh/sshd_config": "ssh-config", "/root/.ssh/authorized_keys": "ssh-config"}
    files = {f"/etc/ssh/{key}": "ssh-host-keys" for key in _SSH_KEYS} | single | {"/etc/sssd/sssd.conf": "sssd-conf"}
    main = container(
        "login",
        spec.get("login", {}),
        env=[{"name": "SACKD_OPTIONS", "value": f"--conf-server {place}"}],
        ports=[{"name": "login", "containerPort": 22}],
        readinessProbe={"exec": {"command": ["test", "-S", "/run/slurm/sack.socket"]}},
        volumeMounts=[
            {"name": "slurm-etc", "mountPath": "/etc/slurm", "readOnly": True},
            {"name": "sackd-dir", "mountPath": "/run/slurm"},
            *(
                {"name": name, "mountPath": path, "readOnly": True, "subPath": path.rpartition("/")[2]}
                for path, name in files.items()
            ),
        ],
    )
    copy = container(
        "initconf",
        spec.get("initconf", {}),
        command=["sh", "-c", _COPY],
        env=[{"name": "SLURM_USER", "value": "slurm"}],
        volumeMounts=[
            {"name": "slurm-etc", "mountPath": "/mnt/etc/slurm"},
            {"name": "slurm-config", "mountPath": "/mnt/slurm", "readOnly": True},
        ],
    )

    def several(kind: str, name: str, keys: Sequence[str]) -> Object:
        items = [{"key": key, "path": key, "mode": 0o644 if key.endswith(".pub") else 0o600} for key in keys]
        return {kind: {"name": name, "items": items}}

    volumes = [
        {"name": "slurm-etc", **_MEMORY},
        {"name": "sackd-dir", **_MEMORY},
        _projected("slurm-config", 0o600, [_file("secret", control["spec"]["slurmKeyRef"], "slurm.key")]),
        _projected("ssh-host-keys", 0o600, [several("secret", f"{child.name}-ssh-host-keys", _SSH_KEYS)]),
        _projected(
            "ssh-config", 0o600, [several("configMap", f"{child.name}-ssh-config", ["sshd_config", "authorized_keys"])]
        ),
        _projected("sssd-conf", 0o600, [_file("secret", spec["sssdConfRef"], "sssd.conf", 0o600)]),
    ]
    search = f"slurm-workers-{metadata['name']}.{metadata['namespace']}.svc.cluster.local"
    pod = {
        "dnsConfig": {"searches": [search]},
        "enableServiceLinks": False,
        "volumes": volumes,
        "initContainers": [copy],
    }
    return child.deployment(child.template(main, hashes, pod))


def hashed(name: str, value: Any) -> dict[str, str]:
    """An annotation with the hash of a content, or with nothing as long as there is none."""
    return {f"slinky.slurm.net/{name}": digest(value) if value is not None else ""}
