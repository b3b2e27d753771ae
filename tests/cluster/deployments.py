# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments to a bed as a user runs them, and what tests ask about the cluster before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.api import ApiError
from ansible_collections.aicr.runtime.tests.cluster.bed.audit import Request
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible, Run

DEPLOY = "aicr.runtime.deploy"
RECORD = "/api/v1/namespaces/default/configmaps/aicr-deployment"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/aicr-deployment"
INSTALL = "aicr.runtime.component : Install their releases"
PROBE = "aicr.runtime.component : Log in to the database"
ASK = "aicr.runtime.component : Ask slurmdbd"


class Deployments:
    """Runs playbooks on a cluster.

    :ivar told: all that the runs have written, with the results that callbacks were given.
    """

    def __init__(self, ansible: Ansible, bed: Bed, charts: Path, arguments: Sequence[str] = ()) -> None:
        self.ansible, self.bed, self.arguments = ansible, bed, arguments
        self.told: list[str] = []
        self.common: dict[str, object] = {
            "aicr_kubeconfig": str(bed.kubeconfig),
            "aicr_chart_source": str(charts),
            "aicr_helm": str(bed.programs["helm"]),
            "aicr_artifacts_dir": str(ansible.folder / "artifacts"),
            "aicr_readiness_timeout": 180,
        }

    def given(self, variables: dict[str, object]) -> str:
        """The variables of a run as a value of the argument -e."""
        place = self.ansible.folder / "vars.json"
        place.write_text(json.dumps({**self.common, **variables}), encoding="utf-8")
        return f"@{place}"

    def run(self, playbook: str, variables: dict[str, object], *arguments: str, expect: int = 0) -> Run:
        given = self.given(variables)
        ran = self.ansible.playbook(playbook, "-e", given, *self.arguments, *arguments, expect=expect)
        record = self.ansible.folder / "record.jsonl"
        self.told += [ran.output, *([record.read_text(encoding="utf-8")] if record.exists() else [])]
        return ran

    def record(self) -> dict[str, Any]:
        data: dict[str, Any] = self.bed.api.get(RECORD)["data"]
        return data


def absent(bed: Bed, path: str) -> bool:
    try:
        bed.api.get(path)
    except ApiError as error:
        return error.code == 404
    return False


def written(requests: list[Request]) -> list[tuple[str, str, str]]:
    return sorted({(one.verb, one.resource, one.name) for one in requests if one.writes})


def releases(bed: Bed, *namespaces: str) -> dict[str, str]:
    """When the first revision of each release was made, by the name of the release, in the order of their making."""
    found = [one["metadata"] for one in bed.api.items("/api/v1/secrets", labelSelector="owner=helm,version=1")]
    chosen = [one for one in found if not namespaces or one["namespace"] in namespaces]
    return {
        one["labels"]["name"]: one["creationTimestamp"]
        for one in sorted(chosen, key=lambda one: one["creationTimestamp"])
    }
