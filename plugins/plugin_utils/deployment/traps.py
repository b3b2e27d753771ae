# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the words of conditions, events and logs mean here, and the way out: known traps of the operators and slurmdbd.

Sources: spec/operators.md 1.3, 1.4 and 2.2, spec/slurm-accounting.md 2.9 and 4.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_ERRNO = re.compile(r"(?:failed: |[Ee]rror:? |ERROR )(\d{4})\b")
ERRNOS: Mapping[int, str] = {
    1020: "a write met another one: set innodb_snapshot_isolation=OFF on the database",
    1040: "the database has no connection left: raise its max_connections",
    1044: "the account has no right on that database: grant it, or name the right database",
    1045: "the database refuses the login: wrong user or password, or it demands TLS of this account",
    1049: "the database does not exist yet: slurmdbd makes it, if it may",
    1142: "a right on a table is missing: grant all on the database",
    1203: "the account has no connection left: raise max_user_connections",
    1205: "a lock was waited for too long: raise innodb_lock_wait_timeout on the database",
    1226: "the account has used its MaxUserConnections (20 by mariadb-operator): wait, or use a User of your own",
    1290: "the database is read-only: name the Service of the primary",
    1370: "a right on a routine is missing: grant CREATE ROUTINE, ALTER ROUTINE and EXECUTE on the database",
    1548: "the database's own tables are older than its server: run mariadb-upgrade",
    1558: "the database's own tables are older than its server: run mariadb-upgrade",
    1728: "the database's own tables are older than its server: run mariadb-upgrade",
    2002: "the database cannot be reached: look at its host and port, its Service, a NetworkPolicy",
    2003: "the database cannot be reached: look at its host and port, its Service, a NetworkPolicy",
    2005: "the database's host name is unknown to the cluster's DNS",
    2026: "TLS with the database fails: a wrong CA, a name that is not in the certificate, or a server without TLS",
    3159: "the database demands TLS: set StorageParameters=SSL_CA=… for slurmdbd",
    5027: "slurmdbd ends once after it has made its database, and is well after its next start",
}
"""What an error number of MySQL's protocol means to slurmdbd (4.5)."""

_TRAPS: Mapping[str, str] = {
    "Error reconciling Root Password": (
        "mariadb-operator keeps the first root password in Secret internal-<name> and never corrects it: delete that "
        "Secret (kubectl delete secret internal-mariadb), it is made again at once"
    ),
    r"Access denied for user 'root'": (
        "the root password is not the server's: correct its Secret, then delete Secret internal-<name>, where "
        "mariadb-operator keeps the first one"
    ),
    r'secret key "[^"]*" not found': "the Secret is there, but lacks this key: add it; it is not generated then",
    r'Secret "[^"]*" not found': "make this Secret in the same namespace",
    r"SyncFailed.*Secret": (
        "slurm-operator does not watch the password Secret: once it is right, annotate the Accounting, or wait for its "
        "next try (up to 16 minutes)"
    ),
    r"connection refused": "the database does not answer: is its pod ready, does its Service have endpoints?",
    r"running with a database but.*no TRES": "slurmctld ends until slurmdbd answers: see to slurmdbd",
    r"No \w+ usage file \(\S+\) to recover": (
        "slurmctld was ended before it had saved its state for the first time, and does not start from half of it: in "
        "a cluster without jobs delete its claim statesave-… and its pod; else start it once with -i"
    ),
    r"ImagePullBackOff|ErrImagePull": "the image cannot be pulled: look at its name, the registry, its pull Secret",
    r"FailedScheduling|not scheduled": "no node takes the pod: look at taints, selectors, resources and claims",
    r"FailedMount|CreateContainerConfigError": "what the pod mounts or reads is missing: make it",
    r"ServiceMonitor CRD not installed": "metrics.enabled needs the CRDs of the Prometheus operator",
    r"failed calling webhook": "a webhook does not answer: is its Deployment ready, and its CA in place?",
    r"exceeded quota": "a ResourceQuota is used up: raise it",
}
_PATTERNS = {re.compile(words, re.DOTALL): hint for words, hint in _TRAPS.items()}


def hints(texts: Iterable[str]) -> list[str]:
    """The ways out that conditions, events and logs point at, each once."""
    found: dict[str, None] = {}
    for text in texts:
        for number in _ERRNO.findall(text):
            if int(number) in ERRNOS:
                found[f"{number}: {ERRNOS[int(number)]}"] = None
        for pattern, hint in _PATTERNS.items():
            if pattern.search(text):
                found[hint] = None
    return list(found)


def crashes(pod: Mapping[str, Any], daemon: str) -> bool:
    """Whether a pod of one of Slurm's daemons is in a crash loop."""
    labels = pod["metadata"].get("labels") or {}
    status = pod.get("status") or {}
    containers = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return labels.get("app.kubernetes.io/name") == daemon and any(
        ((container.get("state") or {}).get("waiting") or {}).get("reason") == "CrashLoopBackOff"
        for container in containers
    )
