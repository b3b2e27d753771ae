# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of thousands of nodes: what it takes of memory and time goes with the document (docs/performance.md)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_from_document
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed

MEASURED = "ansible_collections.aicr.runtime.tests.cluster.measured_snapshot"
RUNS = 3


@dataclass(frozen=True)
class Cost:
    """Of one snapshot; memory in bytes. The best time of some runs, since other processes can only add to it."""

    nodes: int
    size: int
    peak: int
    seconds: float
    pages: int
    requests: int
    file: Path


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Cost]]:
    """Of one cluster as it grows."""
    folder = tmp_path_factory.mktemp("scale")
    growing = Bed.start(folder / "bed", "eks-h100", 200, workloads=False)
    try:
        found = {}
        for nodes in (200, 2000, 5000):
            growing.add_nodes(nodes, ready=nodes < 5000)
            with growing.audit.recording("admin") as requests:
                found[nodes] = measure(growing.kubeconfig, folder / f"{nodes}.yaml")
            assert {request.verb for request in requests} == {"get", "list"}
            assert len(requests) == RUNS * found[nodes].requests
        yield found
    finally:
        growing.stop()


def measure(kubeconfig: Path, file: Path) -> Cost:
    runs = []
    for _run in range(RUNS):  # the first one writes the file, the others compare it
        command = [sys.executable, "-m", MEASURED, str(kubeconfig), str(file)]
        runs.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        assert runs[-1].pop("incomplete") == []
    best = {name: min(run[name] for run in runs) for name in runs[0]}
    return Cost(**{**best, "peak": max(run["peak"] for run in runs)}, file=file)


def test_the_number_of_requests_is_the_documented_one(costs: dict[int, Cost]) -> None:
    """Seven, and one more for each further 500 nodes (docs/performance.md)."""
    assert {nodes: cost.requests for nodes, cost in costs.items()} == {200: 7, 2000: 10, 5000: 16}


def test_memory_grows_with_the_document(costs: dict[int, Cost]) -> None:
    few, many = costs[200], costs[2000]
    assert (many.peak - few.peak) / (many.size - few.size) <= 4
    assert many.pages <= 2


def test_time_grows_with_the_nodes(costs: dict[int, Cost]) -> None:
    assert costs[2000].seconds / costs[200].seconds <= 12


def test_five_thousand_nodes(costs: dict[int, Cost]) -> None:
    few, most = costs[200], costs[5000]
    assert most.nodes == 5000
    assert (most.peak - few.peak) / (most.size - few.size) <= 4
    assert most.pages <= 2
    snapshot, warnings = snapshot_from_document(yamlio.load_file(most.file), "snapshot")
    assert warnings == []
    assert snapshot.reading("NodeTopology", "summary", "node-count") == 5000
    names = {
        str((item.context or {})["value"])
        for subtype in snapshot.subtypes("NodeTopology", "label")
        for item in subtype.items or ()
        if (item.context or {})["key"] == "kubernetes.io/hostname"
    }
    assert len(names) == 5000
