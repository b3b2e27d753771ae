# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of an artifact while the API fails: the same one, or a clear error in time, and never half of one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import read
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot import make_snapshot
from ansible_collections.aicr.runtime.tests.cluster.bed import ApiError, Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind

NODES = "/api/v1/nodes"
SECONDS = 4.0
TIMEOUTS = dict.fromkeys(("k8s", "topology", "mariadb", "slinky"), SECONDS)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists come in several pages, as those of large clusters do."""
    monkeypatch.setattr(read, "PAGE", 2)


def take(kubeconfig: Path, dest: object, **options: Any) -> dict[str, Any]:
    """What the action snapshot returns."""
    made = make_snapshot(parse(SNAPSHOT, {"kubeconfig": str(kubeconfig), "dest": str(dest), **options}, {}))
    return made.deliver(check_mode=False, diff=False, return_document=False)


@pytest.fixture
def kept(bed: Bed, tmp_path: Path) -> Path:
    """The file of an earlier snapshot that says something else, alone in its folder."""
    folder = tmp_path / "artifacts"
    take(bed.kubeconfig, folder / "snapshot.yaml", collectors=["mariadb"])
    return folder / "snapshot.yaml"


@pytest.mark.parametrize(
    "fault",
    [
        Fault(Kind.GONE, NODES, times=1),
        Fault(Kind.CUT, f"{NODES}.*continue=", times=1, first_bytes=700),
        Fault(Kind.THROTTLED, "continue=", times=2, retry_after=1),
        Fault(Kind.FAILED, percent=30, times=12),
    ],
    ids=["410 in the middle", "cut in a later page", "429 in the middle", "500 now and then"],
)
def test_a_list_of_several_pages_is_read_whole(
    bed: Bed, kept: Path, tmp_path: Path, small_pages: None, fault: Fault
) -> None:
    with FaultyApi(bed, fault) as proxy:
        result = take(proxy.kubeconfig(tmp_path / "kubeconfig"), kept)
    assert fault.befallen
    assert (result["changed"], result["incomplete"]) == (True, [])
    assert take(bed.kubeconfig, kept)["changed"] is False


def test_a_list_that_expires_again_and_again_is_a_gap(bed: Bed, kept: Path, tmp_path: Path, small_pages: None) -> None:
    with FaultyApi(bed, Fault(Kind.GONE, NODES)) as proxy:
        result = take(proxy.kubeconfig(tmp_path / "kubeconfig"), kept)
    assert [gap.partition(":")[0] for gap in result["incomplete"]] == ["K8s.node", "NodeTopology"]
    assert all("the list expired while it was read" in gap for gap in result["incomplete"])


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        (Fault(Kind.THROTTLED, retry_after=1), {"TIMEOUT"}),
        (Fault(Kind.THROTTLED, retry_after=3600), {"TIMEOUT"}),
        (Fault(Kind.FAILED), {"SERVICE_UNAVAILABLE", "TIMEOUT"}),
        (Fault(Kind.CUT, first_bytes=100), {"SERVICE_UNAVAILABLE"}),
        (Fault(Kind.SILENT), {"TIMEOUT", "SERVICE_UNAVAILABLE"}),
        (Fault(Kind.ENDLESS), {"TIMEOUT"}),
    ],
    ids=["429", "429 for an hour", "500", "cut", "silent", "endless"],
)
def test_an_api_that_only_fails_is_an_error_in_time_and_the_file_stays(
    bed: Bed, kept: Path, tmp_path: Path, fault: Fault, codes: set[str]
) -> None:
    before = kept.read_bytes()
    begin = time.monotonic()
    with FaultyApi(bed, fault) as proxy, pytest.raises(AicrError) as caught:
        take(proxy.kubeconfig(tmp_path / "kubeconfig"), kept, timeouts=TIMEOUTS)
    assert time.monotonic() - begin < SECONDS + 6
    assert caught.value.code.value in codes
    assert caught.value.message
    assert kept.read_bytes() == before
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_a_gap_that_must_not_be_leaves_the_file_alone(bed: Bed, kept: Path, tmp_path: Path) -> None:
    before = kept.read_bytes()
    with FaultyApi(bed, Fault(Kind.ENDLESS, "/api/v1/pods")) as proxy:
        kubeconfig = proxy.kubeconfig(tmp_path / "kubeconfig")
        with pytest.raises(AicrError, match=r"K8s\.image"):
            take(kubeconfig, kept, timeouts=TIMEOUTS, on_partial="fail")
        assert kept.read_bytes() == before
        assert take(kubeconfig, kept, timeouts=TIMEOUTS)["incomplete"]
    assert kept.read_bytes() != before


def test_a_configmap_is_written_through_a_lost_answer_or_not_at_all(bed: Bed, namespace: str, tmp_path: Path) -> None:
    dest, path = f"cm://{namespace}/aicr-snapshot", f"/api/v1/namespaces/{namespace}/configmaps/aicr-snapshot"
    with FaultyApi(bed, Fault(Kind.FAILED, "configmaps", "PATCH")) as proxy, pytest.raises(AicrError, match="500"):
        take(proxy.kubeconfig(tmp_path / "kubeconfig"), dest)
    with pytest.raises(ApiError):
        bed.api.get(path)
    lost = Fault(Kind.CUT, "configmaps", "PATCH", times=2, first_bytes=0)
    with FaultyApi(bed, lost) as proxy:
        assert take(proxy.kubeconfig(tmp_path / "kubeconfig"), dest)["changed"] is True
    assert lost.befallen == 2
    assert take(bed.kubeconfig, dest)["changed"] is False
