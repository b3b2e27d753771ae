# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of the services of a host, and that nothing secret or restless is (spec/surface.md 3.4)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.module_utils import host_systemd
from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

CONTAINERD = """Restart=always
Type=notify
CPUAccounting=yes
Delegate=yes
ProtectSystem=no
LimitNOFILE=infinity
TimeoutStartUSec=1min 30s
Id=containerd.service
Names=containerd.service
After=sysinit.target local-fs.target basic.target
ActiveState=active
LoadState=loaded
SubState=running"""
KUBELET = """Id=kubelet.service
Names=kubelet.service
LoadState=loaded
ActiveState=active
SubState=running"""
DOCKER = """Restart=no
CPUAccounting=no
Id=docker.service
Names=docker.service
LoadState=not-found
ActiveState=inactive
SubState=dead
LimitNOFILE=524288"""

RESTLESS = """
MainPID=812
ControlPID=0
ExecMainPID=812
ExecMainStartTimestampMonotonic=5
InvocationID=0f3b
NRestarts=3
MemoryCurrent=1
MemorySwapCurrent=1
MemoryPeak=2
MemoryAvailable=4
TasksCurrent=40
CPUUsageNSec=12
IOReadBytes=1
IOWriteOperations=1
IPIngressBytes=4
StateChangeTimestamp=Mon 2026-11-30 10:00:00 UTC
ActiveEnterTimestampMonotonic=77
ConditionTimestamp=Mon 2026-11-30 10:00:00 UTC
WatchdogTimestampMonotonic=0
StatusText=Serving
ControlGroupId=5417
NFileDescriptorStore=0
Job=14""".splitlines()[1:]
SECRET = """
Environment=HTTPS_PROXY=http://user:hunter2@proxy TOKEN=hunter2
EnvironmentFiles=/etc/default/hunter2 (ignore_errors=yes)
PassEnvironment=hunter2
UnsetEnvironment=hunter2
LoadCredential=db:/run/hunter2
SetCredential=db:hunter2
SetCredentialEncrypted=db:hunter2
ImportCredential=hunter2
StandardInputData=aHVudGVyMg==hunter2
ExecStart={ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet --token=hunter2 ; start_time=[x] ; pid=812 }
ExecStartEx={ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet --token=hunter2 ; flags= }
TOKEN=hunter2
token=hunter2
no property at all hunter2""".splitlines()[1:]


def answering(monkeypatch: pytest.MonkeyPatch, stdout: str = "", stderr: str = "", rc: int = 0) -> list[Any]:
    """Put an answer of systemctl in place; returns the calls that were made."""
    calls: list[Any] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        calls.append((command, options))
        return subprocess.CompletedProcess(command, rc, stdout.encode(), stderr.encode())

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def collected(root: str = "/") -> Findings:
    found = Findings("SystemD")
    host_systemd.collect(RootFs(root), found, 3)
    return found


def test_each_service_is_a_subtype(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, f"{CONTAINERD}\n\n{DOCKER}\n\n{KUBELET}\n")
    found = collected()
    assert found.gaps == []
    assert set(found.subtypes) == {"containerd.service", "docker.service", "kubelet.service"}


def test_readings_have_the_types_that_systemd_gives_them(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, CONTAINERD)
    data = collected().subtypes["containerd.service"]
    assert data["CPUAccounting"] is True
    assert data["Delegate"] is True
    assert data["ProtectSystem"] == "no"
    assert data["LimitNOFILE"] == "infinity"
    assert data["TimeoutStartUSec"] == "1min 30s"


def test_restart_no_is_a_word_and_no_boolean() -> None:
    assert host_systemd.parse("Id=a.service\nRestart=no\n")["a.service"]["Restart"] == "no"


def test_lists_of_units_are_sorted_since_systemd_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, CONTAINERD)
    assert collected().subtypes["containerd.service"]["After"] == "basic.target local-fs.target sysinit.target"


@pytest.mark.parametrize("line", RESTLESS)
def test_what_changes_by_itself_stays_out(line: str) -> None:
    assert host_systemd.parse(f"{KUBELET}\n{line}") == host_systemd.parse(KUBELET)


@pytest.mark.parametrize("line", SECRET)
def test_what_may_hold_a_secret_stays_out(line: str) -> None:
    assert "hunter2" not in str(host_systemd.parse(f"{KUBELET}\n{line}\nSlice=system.slice"))


def test_a_service_that_is_not_installed_is_a_reading_and_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, f"{CONTAINERD}\n\n{DOCKER}\n\n{KUBELET}\n")
    assert collected().subtypes["docker.service"] == {
        "Id": "docker.service",
        "Names": "docker.service",
        "LoadState": "not-found",
        "ActiveState": "inactive",
        "SubState": "dead",
    }


def test_a_service_is_found_by_any_of_its_names() -> None:
    units = host_systemd.parse("Id=k3s.service\nNames=k3s.service kubelet.service\nActiveState=active\n")
    assert units["kubelet.service"] == units["k3s.service"]


def test_a_service_that_is_not_answered_for_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, f"{CONTAINERD}\n\n{DOCKER}\n")
    found = collected()
    assert found.gaps == ["SystemD.kubelet.service: systemctl says nothing of it"]
    assert set(found.subtypes) == {"containerd.service", "docker.service"}


def test_a_machine_without_systemd_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, stderr="System has not been booted with systemd.\nFailed to connect to bus\n", rc=1)
    assert collected().gaps == ["SystemD: systemctl show: System has not been booted with systemd."]


def test_an_empty_answer_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch)
    assert collected().gaps == ["SystemD: systemctl show: exit code 0, no output"]


@pytest.mark.parametrize(
    ("failure", "gap"),
    [
        (FileNotFoundError(2, "No such file", "systemctl"), "SystemD: there is no systemctl to ask"),
        (subprocess.TimeoutExpired("systemctl", 3), "SystemD: systemctl did not answer within 3 s"),
    ],
)
def test_a_systemctl_that_is_absent_or_hangs_is_a_gap(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, gap: str
) -> None:
    def run(*_command: object, **_options: object) -> None:
        raise failure

    monkeypatch.setattr(subprocess, "run", run)
    assert collected().gaps == [gap]


def test_another_root_is_asked_by_way_of_chroot(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = answering(monkeypatch, KUBELET)
    collected("/host")
    ((command, options),) = calls
    assert command[:4] == ["chroot", "/host", "systemctl", "show"]
    assert options["env"]["SYSTEMD_IGNORE_CHROOT"] == "1"
    assert options["env"]["LC_ALL"] == "C"
    assert options["timeout"] == 3
