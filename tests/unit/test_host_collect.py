# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collectors side by side: one that fails or is late leaves a gap, and the others stand (spec/surface.md 3.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.module_utils import host_collect, host_gpu, host_os, host_systemd
from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

ALL = {"os": 5.0, "systemd": 5.0, "gpu": 5.0}


@pytest.fixture(autouse=True)
def collectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_os, "collect", lambda _fs, found: found.add("release", {"ID": "ubuntu"}))
    monkeypatch.setattr(host_gpu, "collect", lambda _fs, found: found.add("hardware", {"gpu-count": 8}))
    monkeypatch.setattr(host_systemd, "collect", lambda _fs, found, _timeout: found.add("a.service", {"Id": "a"}))


@pytest.fixture
def forever() -> Iterator[threading.Event]:
    release = threading.Event()
    yield release
    release.set()


def gaps(findings: list[Findings]) -> list[str]:
    return [gap for found in findings for gap in found.gaps]


def test_findings_are_sorted_by_type_whatever_the_order_asked_for() -> None:
    assert [found.type for found in host_collect.collect(RootFs(), ALL)] == ["GPU", "OS", "SystemD"]


def test_only_what_is_asked_for_runs() -> None:
    assert [found.type for found in host_collect.collect(RootFs(), {"gpu": 5.0})] == ["GPU"]


def test_a_collector_that_fails_leaves_the_others_and_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_fs: RootFs, _found: Findings) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(host_os, "collect", fail)
    findings = host_collect.collect(RootFs(), ALL)
    assert gaps(findings) == ["OS: RuntimeError: no such luck"]
    assert [measured["type"] for measured in host_collect.measurements(findings)] == ["GPU", "SystemD"]


def test_a_late_collector_is_left_behind_with_what_it_had_found(
    monkeypatch: pytest.MonkeyPatch, forever: threading.Event
) -> None:
    def hang(_fs: RootFs, found: Findings) -> None:
        found.add("release", {"ID": "ubuntu"})
        forever.wait()
        found.add("sysctl", {"late": "1"})

    monkeypatch.setattr(host_os, "collect", hang)
    findings = host_collect.collect(RootFs(), {**ALL, "os": 0.2})
    forever.set()
    assert gaps(findings) == ["OS: was not read to the end within 0.2 s"]
    assert findings[1].subtypes == {"release": {"ID": "ubuntu"}}
    assert findings[0].subtypes
    assert findings[2].subtypes


def test_a_subtype_without_readings_and_a_type_without_subtypes_are_left_out() -> None:
    empty, found = Findings("OS"), Findings("GPU")
    found.add("hardware", {"gpu-count": 0})
    found.add("smi", {})
    assert host_collect.measurements([empty, found]) == [
        {"type": "GPU", "subtypes": [{"subtype": "hardware", "data": {"gpu-count": 0}}]}
    ]


def test_the_node_is_called_as_kubernetes_says_else_as_the_host_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("NODE_NAME", "KUBERNETES_NODE_NAME"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/hostname").write_text("gpu-node-1\n")
    fs = RootFs(str(tmp_path))
    assert host_collect.node_name(fs) == "gpu-node-1"
    monkeypatch.setenv("KUBERNETES_NODE_NAME", "ip-10-0-0-2")
    assert host_collect.node_name(fs) == "ip-10-0-0-2"
    monkeypatch.setenv("NODE_NAME", "ip-10-0-0-1")
    assert host_collect.node_name(fs) == "ip-10-0-0-1"


def test_this_very_machine_reads_the_same_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    first, second = (host_collect.measurements(host_collect.collect(RootFs(), ALL)) for _run in range(2))
    assert first == second
    assert first != []
