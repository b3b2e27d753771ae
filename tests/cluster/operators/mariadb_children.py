# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that belong to a MariaDB, as spec/operators.md 1.2 lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..bed.api import Object
from .objects import digest, owned

_DEFAULT_CONF = "[mariadb]\nskip-name-resolve\ntemp-pool\nignore_db_dirs = 'lost+found'\n"
_TLS_CONF = (
    "[mariadb]\nssl_cert = /etc/pki/server.crt\nssl_key = /etc/pki/server.key\nssl_ca = /etc/pki/ca.crt\n"
    "require_secure_transport = {required}\ntls_version = TLSv1.3\n"
)


def labels(mariadb: Object) -> dict[str, str]:
    """By which its pods are selected."""
    return {"app.kubernetes.io/name": "mariadb", "app.kubernetes.io/instance": mariadb["metadata"]["name"]}


def configuration(mariadb: Object) -> Iterator[tuple[str, Object]]:
    """Its ConfigMaps."""
    name, spec = mariadb["metadata"]["name"], mariadb["spec"]
    yield "ConfigMap", {"metadata": owned(mariadb, f"{name}-config-default"), "data": {"0-default.cnf": _DEFAULT_CONF}}
    if "myCnf" in spec:
        yield "ConfigMap", {"metadata": owned(mariadb, f"{name}-config"), "data": {"my.cnf": spec["myCnf"]}}


def tls_configuration(mariadb: Object) -> Object:
    """The ConfigMap with the settings of TLS."""
    required = str(bool(mariadb["spec"]["tls"].get("required"))).lower()
    text = _TLS_CONF.format(required=required)
    return {"metadata": owned(mariadb, f"{mariadb['metadata']['name']}-config-tls"), "data": {"1-tls.cnf": text}}


def account(mariadb: Object) -> Object:
    return {"metadata": owned(mariadb, mariadb["spec"]["serviceAccountName"])}


def services(mariadb: Object) -> Iterator[Object]:
    """The headless one, then that of the database; without labels."""
    name, port = mariadb["metadata"]["name"], mariadb["spec"]["port"]
    ports = [{"name": "mariadb", "port": port, "protocol": "TCP", "targetPort": port}]
    spec = {"selector": labels(mariadb), "ports": ports}
    headless = {**spec, "clusterIP": "None", "publishNotReadyAddresses": True}
    yield {"metadata": owned(mariadb, f"{name}-internal"), "spec": headless}
    yield {"metadata": owned(mariadb, name), "spec": {**spec, "type": "ClusterIP"}}


def workload(mariadb: Object, tls: Mapping[str, str]) -> Object:
    """The StatefulSet.

    :param tls: annotations with the digests of certificates; empty without TLS.
    """
    spec, metadata = mariadb["spec"], mariadb["metadata"]
    name = metadata["name"]
    ephemeral = spec["storage"].get("ephemeral")
    annotations = {"k8s.mariadb.com/config": digest([_DEFAULT_CONF, spec.get("myCnf", "")]), **tls}
    pod: Object = {
        "automountServiceAccountToken": False,
        "serviceAccountName": spec["serviceAccountName"],
        "securityContext": {"fsGroup": 999, "runAsGroup": 999, "runAsNonRoot": True, "runAsUser": 999},
        "containers": [_container(spec, name, bool(tls))],
        "volumes": [
            _configuration_volume(spec, name, bool(tls)),
            *([_certificates_volume(name)] if tls else []),
            *([{"name": "storage", "emptyDir": {}}] if ephemeral else []),
        ],
    }
    for field in ("nodeSelector", "tolerations", "affinity", "imagePullSecrets", "priorityClassName"):
        if spec.get(field):
            pod[field] = spec[field]
    template = {
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": labels(mariadb),
            "annotations": annotations,
        },
        "spec": pod,
    }
    claim = {
        "metadata": {"name": "storage", "labels": {"pvc.k8s.mariadb.com/role": "storage"}},
        "spec": spec["storage"].get("volumeClaimTemplate"),
    }
    return {
        "metadata": owned(mariadb, name),
        "spec": {
            "serviceName": f"{name}-internal",
            "replicas": spec["replicas"],
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "selector": {"matchLabels": labels(mariadb)},
            "template": template,
            **({} if ephemeral else {"volumeClaimTemplates": [claim]}),
        },
    }


def _container(spec: Object, name: str, tls: bool) -> Object:
    command = ["bash", "-c", 'mariadb -u root -p"${MARIADB_ROOT_PASSWORD}" -e "SELECT 1;"']
    probe = {"exec": {"command": command}, "initialDelaySeconds": 20, "periodSeconds": 10, "timeoutSeconds": 5}
    root = {key: spec["rootPasswordSecretKeyRef"][key] for key in ("name", "key")}
    certificates = {"CA_CERT": "ca.crt"}
    for side in ("server", "client"):
        certificates |= {f"{side.upper()}_CERT": f"{side}.crt", f"{side.upper()}_KEY": f"{side}.key"}
    paths = [{"name": f"TLS_{key}_PATH", "value": f"/etc/pki/{file}"} for key, file in certificates.items()]
    return {
        "name": "mariadb",
        "image": spec["image"],
        "imagePullPolicy": spec.get("imagePullPolicy", "IfNotPresent"),
        "ports": [{"name": "mariadb", "containerPort": spec["port"]}],
        "env": [
            {"name": "MYSQL_TCP_PORT", "value": str(spec["port"])},
            {"name": "MARIADB_ROOT_HOST", "value": "%"},
            {"name": "CLUSTER_NAME", "value": "cluster.local"},
            _field("POD_NAME", "metadata.name"),
            _field("POD_NAMESPACE", "metadata.namespace"),
            _field("POD_IP", "status.podIP"),
            {"name": "MARIADB_NAME", "value": name},
            *([{"name": "TLS_ENABLED", "value": "true"}, *paths] if tls else []),
            {"name": "MARIADB_ROOT_PASSWORD", "valueFrom": {"secretKeyRef": root}},
            {"name": "MYSQL_INITDB_SKIP_TZINFO", "value": "1"},
        ],
        "resources": spec.get("resources", {}),
        "startupProbe": probe,
        "livenessProbe": probe,
        "readinessProbe": probe,
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/mysql/conf.d"},
            *([{"name": "pki", "mountPath": "/etc/pki"}] if tls else []),
            {"name": "storage", "mountPath": "/var/lib/mysql"},
        ],
    }


def _field(name: str, path: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def _configuration_volume(spec: Object, name: str, tls: bool) -> Object:
    files = {"0-default.cnf": f"{name}-config-default"}
    if "myCnfConfigMapKeyRef" in spec:
        files[spec["myCnfConfigMapKeyRef"]["key"]] = spec["myCnfConfigMapKeyRef"]["name"]
    if tls:
        files["1-tls.cnf"] = f"{name}-config-tls"
    sources = [{"configMap": {"name": one, "items": [{"key": file, "path": file}]}} for file, one in files.items()]
    return {"name": "config", "projected": {"sources": sources}}


def _certificates_volume(name: str) -> Object:
    def source(of: str, items: Mapping[str, str]) -> Object:
        return {"secret": {"name": of, "items": [{"key": key, "path": path} for key, path in items.items()]}}

    sources = [source(f"{name}-ca-bundle", {"ca.crt": "ca.crt"})]
    for side in ("client", "server"):
        sources.append(source(f"{name}-{side}-cert", {"tls.crt": f"{side}.crt", "tls.key": f"{side}.key"}))
    return {"name": "pki", "projected": {"sources": sources}}


def sql_objects(mariadb: Object) -> Iterator[list[tuple[str, Object]]]:
    """Steps of the SQL objects that are made from its spec; all of a step together."""
    spec, name = mariadb["spec"], mariadb["metadata"]["name"]
    database, user = spec.get("database"), spec.get("username")

    def child(suffix: str, **fields: Any) -> Object:
        policy = {"cleanupPolicy": spec["cleanupPolicy"]} if "cleanupPolicy" in spec else {}
        ref = {"name": name, "namespace": mariadb["metadata"]["namespace"], "waitForIt": False}
        return {"metadata": owned(mariadb, f"{name}-{suffix}"), "spec": {"mariaDbRef": ref, **policy, **fields}}

    # The number is fixed in the operator, not settable (1.2).
    system = child("mariadb-sys", name="mariadb.sys", host="localhost", maxUserConnections=20, passwordPlugin={})
    made = child("database", name=database, characterSet="utf8", collate="utf8_general_ci")
    yield [*([("Database", made)] if database else []), ("User", system)]
    rights = child(
        "mariadb-sys-global-priv",
        privileges=["SELECT", "UPDATE", "DELETE"],
        database="mysql",
        table="global_priv",
        username="mariadb.sys",
        host="localhost",
        grantOption=False,
    )
    yield [("Grant", rights)]
    if user:
        ref = spec.get("passwordSecretKeyRef")
        password = {"passwordSecretKeyRef": {key: ref[key] for key in ("name", "key")}} if ref else {}
        yield [("User", child("user", name=user, host="%", maxUserConnections=20, passwordPlugin={}, **password))]
    if user and database:
        everything: Object = {
            "privileges": ["ALL PRIVILEGES"],
            "database": database,
            "table": "*",
            "grantOption": False,
        }
        yield [("Grant", child("user-all", username=user, host="%", **everything))]
