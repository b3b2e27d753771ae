# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a workload has rolled out (case N45, spec/slurm-accounting.md 2.6)."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.rollout import rollout_troubles

Object = dict[str, Any]


def workload(kind: str, spec: Object, status: Object, generation: int = 2) -> Object:
    metadata = {"name": "x", "generation": generation}
    return {"kind": kind, "metadata": metadata, "spec": spec, "status": {"observedGeneration": generation, **status}}


DAEMONS = {"desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberReady": 3}
SET = {"updatedReplicas": 2, "readyReplicas": 2, "replicas": 2, "currentRevision": "b", "updateRevision": "b"}
DEPLOYED = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}


@pytest.mark.parametrize(
    ("found", "path"),
    [
        (workload("DaemonSet", {}, DAEMONS), None),
        (workload("DaemonSet", {}, DAEMONS | {"numberUnavailable": 0}), None),
        (workload("DaemonSet", {}, dict.fromkeys(DAEMONS, 0)), "status.desiredNumberScheduled"),
        (workload("DaemonSet", {}, DAEMONS | {"updatedNumberScheduled": 1}), "status.updatedNumberScheduled"),
        (workload("DaemonSet", {}, DAEMONS | {"numberReady": 1, "numberUnavailable": 2}), "status.numberReady"),
        (workload("DaemonSet", {}, DAEMONS | {"numberUnavailable": 1}), "status.numberUnavailable"),
        (workload("DaemonSet", {}, DAEMONS | {"observedGeneration": 1}), "status.observedGeneration"),
        (workload("DaemonSet", {}, {"desiredNumberScheduled": 3, "numberReady": 3}), "status.updatedNumberScheduled"),
        (workload("StatefulSet", {"replicas": 2}, SET), None),
        (workload("StatefulSet", {}, SET), None),  # one replica is the default
        (workload("StatefulSet", {"replicas": 0}, {}), "spec.replicas"),
        (workload("StatefulSet", {"replicas": 2}, SET | {"currentRevision": "a"}), "status.currentRevision"),
        (workload("StatefulSet", {"replicas": 2}, SET | {"updatedReplicas": 1}), "status.updatedReplicas"),
        (workload("StatefulSet", {"replicas": 2}, SET | {"readyReplicas": 1}), "status.readyReplicas"),
        (
            workload(
                "StatefulSet",
                {"replicas": 2, "updateStrategy": {"type": "OnDelete"}},
                SET | {"currentRevision": "a"},
            ),
            None,
        ),
        (
            workload(
                "StatefulSet",
                {"replicas": 2, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}},
                SET | {"currentRevision": "a", "updatedReplicas": 1},
            ),
            None,
        ),
        (workload("Deployment", {"replicas": 2}, DEPLOYED), None),
        (workload("Deployment", {"replicas": 0}, {}), "spec.replicas"),
        (workload("Deployment", {"replicas": 2}, DEPLOYED | {"replicas": 3}), "status.replicas"),
        (workload("Deployment", {"replicas": 2}, DEPLOYED | {"availableReplicas": 1}), "status.availableReplicas"),
        (workload("Deployment", {"replicas": 2}, DEPLOYED | {"updatedReplicas": 1}), "status.updatedReplicas"),
        ({"kind": "Deployment", "metadata": {"generation": 1}, "spec": {"replicas": 1}}, "status.observedGeneration"),
    ],
)
def test_rollout(found: Object, path: str | None) -> None:
    troubles = rollout_troubles(found, f"{found['kind']} x")
    assert [trouble.path for trouble in troubles][:1] == ([] if path is None else [path])


def test_what_an_old_generation_says_is_not_told() -> None:
    found = workload("DaemonSet", {}, DAEMONS | {"observedGeneration": 1, "numberReady": 0})
    assert [str(trouble) for trouble in rollout_troubles(found, "DaemonSet a/x")] == [
        "DaemonSet a/x: status.observedGeneration: expected 2, the generation, found 1"
    ]
