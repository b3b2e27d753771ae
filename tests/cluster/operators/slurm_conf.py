# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration files that slurm-operator writes (recordings/case-c1-slurmdbd.conf, case-c1-slurm.conf)."""

from __future__ import annotations

from collections.abc import Iterable

from ..bed.api import Object

CGROUP = "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n"


def slurmdbd(accounting: Object, password: str) -> str:
    """slurmdbd.conf; the password is raw and unescaped (slurm-accounting.md 2.4)."""
    name, spec = accounting["metadata"]["name"], accounting["spec"]
    storage = spec["storageConfig"]
    sections = {
        "GENERAL": [f"DbdHost={name}-accounting-0", "DbdPort=6819", "SlurmUser=slurm"],
        "PLUGINS & PARAMETERS": [
            "AuthType=auth/slurm",
            "AuthAltTypes=auth/jwt",
            "AuthAltParameters=jwt_key=/etc/slurm/jwt.key",
            "AuthInfo=use_client_ids",
        ],
        "STORAGE": [
            "StorageType=accounting_storage/mysql",
            f"StorageHost={storage['host']}",
            f"StoragePort={storage.get('port', 3306)}",
            f"StorageUser={storage.get('username', '')}",
            f"StorageLoc={storage.get('database', 'slurm_acct_db')}",
            f"StoragePass={password}",
        ],
        "LOGGING": ["LogFile=/dev/null"],
    }
    if spec.get("extraConf"):
        sections["EXTRA CONFIG"] = [spec["extraConf"]]
    return _text(sections)


def slurm(controller: Object, nodesets: Iterable[Object]) -> str:
    """slurm.conf."""
    metadata, spec = controller["metadata"], controller["spec"]
    name, namespace = metadata["name"], metadata["namespace"]
    cluster, log = cluster_name(controller), "/var/log/slurm/slurmctld.log"
    parameters = "reconfig_on_restart"
    accounting = ["AccountingStorageType=accounting_storage/none"]
    if (spec.get("accountingRef") or {}).get("name"):
        accounting = [
            "AccountingStorageType=accounting_storage/slurmdbd",
            f"AccountingStorageHost={spec['accountingRef']['name']}-accounting",
            "AccountingStoragePort=6819",
        ]
    sections = {
        "GENERAL": [
            f"ClusterName={cluster}",
            "SlurmUser=slurm",
            f"SlurmctldHost={name}-controller-0({name}-controller.{namespace})",
            "SlurmctldPort=6817",
            f"StateSaveLocation=/var/spool/slurmctld/{cluster}",
            "SlurmdUser=root",
            "SlurmdPort=6818",
            "SlurmdSpoolDir=/var/spool/slurmd",
            "MaxNodeCount=1024",
        ],
        "LOGGING": [f"SlurmctldLogFile={log}", f"SlurmSchedLogFile={log}", "SlurmdLogFile=/var/log/slurm/slurmd.log"],
        "PLUGINS & PARAMETERS": [
            "AuthType=auth/slurm",
            "CredType=cred/slurm",
            "AuthAltTypes=auth/jwt",
            "AuthAltParameters=jwt_key=/etc/slurm/jwt.key",
            "AuthInfo=use_client_ids",
            f"SlurmctldParameters=enable_configless,{parameters}",
        ],
        "ACCOUNTING": accounting,
    }
    nodes = [line for one in nodesets for line in _nodeset(one)]
    if nodes:
        sections["NODESET & PARTITION"] = nodes
    if spec.get("extraConf"):
        sections["EXTRA CONFIG"] = [spec["extraConf"]]
    return _text(sections)


def cluster_name(controller: Object) -> str:
    """What accounting knows the cluster by (slurm-accounting.md 2.4)."""
    metadata = controller["metadata"]
    stated: str | None = controller["spec"].get("clusterName")
    return stated or f"{metadata['namespace']}_{metadata['name']}"


def _nodeset(one: Object) -> Iterable[str]:
    host = (one["spec"].get("template", {}).get("spec") or {}).get("hostname", "")
    name = host.rstrip("-") or one["metadata"]["name"]
    yield f"NodeSet={name} Feature={name}"
    partition = one["spec"].get("partition", {})
    if partition.get("enabled"):
        yield f"PartitionName={name} Nodes={name} {partition.get('config', '')}"


def _text(sections: dict[str, list[str]]) -> str:
    lines = [line for title, body in sections.items() for line in ("#", f"### {title} ###", *body)]
    return "\n".join(lines) + "\n"
