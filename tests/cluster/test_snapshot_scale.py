# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of thousands of nodes: what it takes of memory and time goes with the document (docs/performance.md)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_from_document
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed

MEASURED = "ansible_collections.aicr.runtime.tests.cluster.measured_snapshot"
RUNS = 5


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
    """Of a small cluster, and of one that grows."""
    folder = tmp_path_factory.mktemp("scale")
    with contextlib.ExitStack() as stack:
        small, growing = (stack.enter_context(untended(folder / name)) for name in ("small", "growing"))
        small.add_nodes(200, ready=False)
        growing.add_nodes(2000, ready=False)
        few, many = measure({200: small, 2000: growing}, folder)
        growing.add_nodes(5000, ready=False)
        (most,) = measure({5000: growing}, folder)
        yield {cost.nodes: cost for cost in (few, many, most)}


@contextlib.contextmanager
def untended(folder: Path) -> Iterator[Bed]:
    """A bed of a few nodes. Those that are added stay as they are made, for to make each one Ready takes far longer."""
    bed = Bed.start(folder, "eks-h100", workloads=False)
    try:
        with bed.processes.paused("kwok", "kube-controller-manager", "kube-scheduler"):
            yield bed
    finally:
        bed.stop()


def measure(beds: Mapping[int, Bed], folder: Path) -> list[Cost]:
    """Of snapshots by the number of nodes, taken in turn: what else the machine does slows each of them as much."""
    runs: dict[int, list[dict[str, Any]]] = {nodes: [] for nodes in beds}
    with contextlib.ExitStack() as stack:
        requests = {nodes: stack.enter_context(bed.audit.recording("admin")) for nodes, bed in beds.items()}
        for _run in range(RUNS):  # the first one writes the file, the others compare it
            for nodes, bed in beds.items():
                command = [sys.executable, "-m", MEASURED, str(bed.kubeconfig), str(folder / f"{nodes}.yaml")]
                answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                runs[nodes].append(json.loads(answer))
                assert runs[nodes][-1].pop("incomplete") == []
    costs = []
    for nodes, ran in runs.items():
        assert {request.verb for request in requests[nodes]} == {"get", "list"}
        best = {name: min(run[name] for run in ran) for name in ran[0]}
        costs.append(Cost(**{**best, "peak": max(run["peak"] for run in ran)}, file=folder / f"{nodes}.yaml"))
        assert len(requests[nodes]) == RUNS * costs[-1].requests
    return costs


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
