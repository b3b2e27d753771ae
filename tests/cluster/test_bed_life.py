# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Beds come up side by side, and stopping one ends exactly what it started and leaves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, Bed, BedError, slot
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bed.nodes import FakeCluster, names, root_of
from ansible_collections.aicr.runtime.tests.cluster.bed.processes import Processes


def commands_that_name(directory: Path) -> list[str]:
    """Command lines of all processes that name a directory or work in it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if str(directory) in f"{command} {os.readlink(process / 'cwd')} {os.readlink(process / 'root')}":
                found.append(command)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended, or is none of ours
    return found


def test_two_beds_side_by_side(bed: Bed, namespace: str, tmp_path: Path) -> None:
    begin = time.monotonic()
    other = Bed.start(tmp_path / "other", "gke-h100")
    assert time.monotonic() - begin < 60
    try:
        assert other.server != bed.server
        assert other.api.get("/version")["gitVersion"] == "v1.36.3-gke.1198000"
        assert {n["spec"]["providerID"].partition(":")[0] for n in other.api.items("/api/v1/nodes")} == {"gce"}
        assert {n["spec"]["providerID"].partition(":")[0] for n in bed.api.items("/api/v1/nodes")} == {"aws"}
        spaces = {one["metadata"]["name"] for one in other.api.items("/api/v1/namespaces")}
        assert namespace not in spaces

        other.add_nodes(12)
        assert len(list(other.api.items("/api/v1/nodes"))) == 12

        # A pod that runs on, and a volume outside of the bed's directory: both go with the bed.
        work = {"name": "main", "image": "busybox", "command": ["sh", "-c", "setsid sleep 1000 & sleep 1000"]}
        pod = {"metadata": {"name": "pod", "annotations": {"bed/execute": ""}}, "spec": {"containers": [work]}}
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        claims = "/api/v1/namespaces/default/persistentvolumeclaims"
        other.api.create(claims, {"metadata": {"name": "data"}, "spec": claim})
        other.api.create("/api/v1/namespaces/default/pods", pod)
        assert eventually(lambda: other.api.get("/api/v1/namespaces/default/pods/pod")["status"]["phase"] == "Running")
        volumes = eventually(lambda: list(other.api.items("/api/v1/persistentvolumes")))
        volume = Path(volumes[0]["spec"]["hostPath"]["path"])
        assert volume.is_dir()
        port = other.slot.port("kube-apiserver")
        assert len(commands_that_name(other.directory)) >= 6
    finally:
        other.stop()
    assert not other.directory.exists()
    assert not volume.exists()
    assert commands_that_name(other.directory) == []
    assert str(other.directory) not in Path("/proc/mounts").read_text()
    with pytest.raises(ConnectionRefusedError):
        Api(f"https://127.0.0.1:{port}", bed.api.tls).get("/version")
    assert bed.api.get("/version")["gitVersion"] == "v1.36.3-eks-3025e55"


def test_a_number_is_free_again_when_its_bed_has_ended(bed: Bed, tmp_path: Path) -> None:
    """Only living processes hold a number, so one that was killed gives it back too."""
    first = slot.claim()
    second = slot.claim()
    assert len({bed.settings.slot, first.number, second.number}) == 3
    holder = subprocess.Popen(["sleep", "1000"], pass_fds=[first.lock])
    os.close(first.lock)
    third = slot.claim()
    assert third.number != first.number
    holder.kill()
    holder.wait()
    again = slot.claim()
    assert again.number == first.number
    for claimed in (second, third, again):
        os.close(claimed.lock)


def test_a_bed_that_does_not_come_up_says_which_part_and_leaves_nothing(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeCluster, "load", lambda name: FakeCluster("odd", "v9.9.9", "standard", (), ()))
    with pytest.raises(BedError, match=r"kube-apiserver of the bed in .* has ended; its log ends:\n(.*\n)*.*v9\.9\.9"):
        Bed.start(tmp_path / "odd", "odd")
    assert not (tmp_path / "odd").exists()
    assert commands_that_name(tmp_path / "odd") == []


def test_a_part_that_has_ended_is_named(bed: Bed, tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    processes.start("lasting", ["sleep", "1000"])
    processes.start("brief", ["true"])
    assert eventually(lambda: [process.name for process in [processes.ended()] if process]) == ["brief"]
    processes.stop()
    assert processes.all() == []


def test_a_process_that_only_has_the_number_is_left_alone(bed: Bed, tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    stranger = processes.start("stranger", ["sleep", "1000"])
    replace(stranger, started="1").kill()
    assert stranger.alive()
    processes.stop()
    assert not stranger.alive()


def test_the_command_keeps_what_is_up_and_refuses_what_it_does_not_know(bed: Bed) -> None:
    command = [sys.executable, "-m", "ansible_collections.aicr.runtime.tests.cluster.bed", "start", "nonesuch"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert all(name in answer.stderr for name in names())


@pytest.mark.parametrize("name", names())
def test_a_fake_cluster_is_the_same_every_time(bed: Bed, tmp_path: Path, name: str) -> None:
    cluster = FakeCluster.load(name)
    nodes = list(cluster.nodes(1))
    assert nodes == list(FakeCluster.load(name).nodes(1))
    assert len({node["metadata"]["name"] for node in nodes}) == len(nodes)
    assert len({node["spec"]["providerID"] for node in nodes}) == len(nodes)
    for node in nodes:
        place = root_of(tmp_path, node, cluster)
        release = (place / "proc/sys/kernel/osrelease").read_text().strip()
        assert release == node["status"]["nodeInfo"]["kernelVersion"]
        assert release.rstrip("+") in (place / "proc/cmdline").read_text() or name == "gke-h100"


def test_a_cluster_grows_to_as_many_nodes_as_are_asked_for() -> None:
    nodes = list(FakeCluster.load("eks-h100").nodes(1, total=2000))
    assert len({node["metadata"]["name"] for node in nodes}) == 2000
    assert nodes[:5] == list(FakeCluster.load("eks-h100").nodes(1))
