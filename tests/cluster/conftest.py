# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters that these tests run on (docs/testing.md).

`cluster` is any cluster: that of AICR_TEST_KUBECONFIG, else the bed. `bed` is a bed of ours with all that a test may do
to it: the one that `make cluster` brought up, else one for this run alone.
"""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.__main__ import BEDS
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.deployments import Deployments
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

ELSEWHERE = os.environ.get("AICR_TEST_KUBECONFIG")
_LONG = {"charts", "beds", "costs", "helm", "slurm"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest comes first, for workers shall end at about the same time: the files in which something is
    deployed or thousands of nodes are made, then those with the most tests.

    On another cluster the tests of the bed itself say nothing, so they are no part of the run.
    """
    long = {item.path for item in items if _LONG & {*getattr(item, "fixturenames", ())}}
    tests = Counter(item.path for item in items if item.path not in long)
    items.sort(key=lambda item: (item.path not in long, -tests[item.path]))
    if ELSEWHERE:
        ours = [item for item in items if "bed" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=ours)
        items[:] = [item for item in items if item not in ours]


@dataclass(frozen=True)
class Cluster:
    """Some cluster, as its administrator."""

    kubeconfig: Path
    api: Api


@pytest.fixture(scope="session")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A bed of the cluster eks-h100.

    Of workers side by side (`pytest -n`) the first alone takes the one that is up, for an audit log shall tell of one.
    """
    up = BEDS / "eks-h100"
    if (up / "bed.json").exists() and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        found = Bed.open(up)
        yield found
        found.close()
        return
    own = Bed.start(tmp_path_factory.mktemp("bed") / "eks-h100", "eks-h100")
    yield own
    own.stop()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Any cluster with at least one node that takes pods."""
    if not ELSEWHERE:
        bed: Bed = request.getfixturevalue("bed")
        yield Cluster(bed.kubeconfig, bed.api)
        return
    with Api.of_kubeconfig(Path(ELSEWHERE)) as api:
        yield Cluster(Path(ELSEWHERE), api)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster for one file alone, in which nothing is deployed at first."""
    bed = Bed.start(tmp_path_factory.mktemp("own") / "kind", "kind")
    yield bed
    bed.stop()


@pytest.fixture(scope="module")
def deployments(own: Bed, charts: Path, tmp_path_factory: pytest.TempPathFactory) -> Deployments:
    """From one folder, as from one controller: a report that is there already is no change."""
    return Deployments(Ansible(tmp_path_factory.mktemp("ansible")), own, charts)


@pytest.fixture(scope="session")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a chart for each one of the catalog."""
    return charts_folder(tmp_path_factory.mktemp("charts"))


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace for one test, in which pods can be made."""
    name = f"aicr-test-{uuid.uuid4().hex[:8]}"
    cluster.api.create("/api/v1/namespaces", {"metadata": {"name": name}})
    accounts = f"/api/v1/namespaces/{name}/serviceaccounts"
    eventually(lambda: [one["metadata"]["name"] for one in cluster.api.items(accounts)] == ["default"])
    yield name
    cluster.api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Ansible in an empty folder."""
    return Ansible(tmp_path)
