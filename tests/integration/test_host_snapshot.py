# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``host_snapshot`` as a user runs it, on this very machine and on the tree of a made-up one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import digest, snapshot, versions

CHECKOUT = Path(__file__).resolve().parents[2]
PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - aicr.runtime.host_snapshot: {options}
      register: taken
      ignore_errors: true
    - ansible.builtin.copy: {{content: "{{{{ taken | to_json }}}}", dest: {result}}}
      delegate_to: localhost
      check_mode: false
      diff: false
"""
HOST = {
    "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
    "proc/cmdline": "root=/dev/nvme0n1p1 iommu=pt systemd.setenv=TOKEN=hunter2\n",
    "proc/modules": "nvidia 1 0 - Live 0x0\n",
    "proc/sys/kernel/osrelease": "6.8.0-1028-aws\n",
    "proc/sys/kernel/hostname": "gpu-node-1\n",
    "proc/sys/kernel/shmmax": "18446744073692774399\n",
    "sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
    "sys/bus/pci/devices/0000:01:00.0/device": "0x2330\n",
    "sys/bus/pci/devices/0000:01:00.0/class": "0x030200\n",
    "sys/module/nvidia/version": "580.82.07\n",
}


class Play:
    """Runs one task of the module against this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dest = folder / "made" / "snapshot.yaml"

    def __call__(self, *arguments: str, expect: int = 0, **options: Any) -> dict[str, Any]:
        result = self.folder / "result.json"
        playbook = self.folder / "play.yml"
        playbook.write_text(PLAYBOOK.format(options=json.dumps(options), result=json.dumps(str(result))))
        run = subprocess.run(
            [
                str(Path(sys.executable).with_name("ansible-playbook")),
                *("-i", "node1,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}"),
                *arguments,
                str(playbook),
            ],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "LC_ALL": "C.UTF-8",
                "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
                "ANSIBLE_NOCOLOR": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == expect, run.stdout + run.stderr
        self.output = run.stdout
        answer: dict[str, Any] = json.loads(result.read_text())
        return answer


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path)


@pytest.fixture
def node(tmp_path: Path) -> str:
    """The root of a made-up node without systemd."""
    for name, text in HOST.items():
        path = tmp_path / "node" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(tmp_path / "node")


def test_this_machine_is_read_twice_and_written_once(play: Play) -> None:
    first = play(dest=str(play.dest))
    assert first["changed"] is True
    assert first["path"] == str(play.dest)
    written = play.dest.read_bytes()
    second = play(dest=str(play.dest))
    assert second["changed"] is False
    assert second["digest"] == first["digest"]
    assert play.dest.read_bytes() == written
    taken, warnings = snapshot.snapshot_from_document(yamlio.load_file(play.dest), "snapshot")
    assert warnings == []
    assert taken.reading("OS", "sysctl", "/proc/sys/kernel/osrelease") == os.uname().release


def test_a_node_gives_a_snapshot_that_the_engine_reads(play: Play, node: str) -> None:
    result = play(root=node, collectors=["os", "gpu"], dest=str(play.dest), return_document=True)
    document = yamlio.load_file(play.dest)
    assert document == result["document"]
    assert result["digest"] == digest.digest(document)
    assert result["incomplete"] == []
    assert result["summary"] == {"node": "gpu-node-1", "readings": {"GPU": 5, "OS": 7}, "gpus": 1, "model": "h100"}
    assert {key: document[key] for key in ("apiVersion", "kind", "measurements")} == {
        "apiVersion": versions.WRITTEN_SNAPSHOT,
        "kind": "Snapshot",
        "measurements": [
            {
                "type": "GPU",
                "subtypes": [
                    {
                        "subtype": "hardware",
                        "data": {
                            "gpu-present": True,
                            "gpu-count": 1,
                            "driver-loaded": True,
                            "detection-source": "pci",
                            "model": "h100",
                        },
                    }
                ],
            },
            {
                "type": "OS",
                "subtypes": [
                    {"subtype": "grub", "data": {"iommu": "pt"}},
                    {"subtype": "kmod", "data": {"nvidia": True}},
                    {"subtype": "release", "data": {"ID": "ubuntu", "VERSION_ID": "24.04"}},
                    {
                        "subtype": "sysctl",
                        "data": {
                            "/proc/sys/kernel/osrelease": "6.8.0-1028-aws",
                            "/proc/sys/kernel/hostname": "gpu-node-1",
                            "/proc/sys/kernel/shmmax": "18446744073692774399",
                        },
                    },
                ],
            },
        ],
    }
    assert document["metadata"]["source-node"] == "gpu-node-1"
    assert document["metadata"]["version"] == versions.RELEASE


def test_only_what_changed_on_the_node_rewrites_the_file(play: Play, node: str) -> None:
    options = {"root": node, "collectors": ["os"], "dest": str(play.dest)}
    play(**options)
    old = play.dest.read_text().replace("timestamp: '2", "timestamp: '1")
    play.dest.write_text(old)
    assert play(**options)["changed"] is False
    assert play.dest.read_text() == old
    (Path(node) / "proc/modules").write_text("nvidia 1 0 - Live 0x0\nnvidia_uvm 1 0 - Live 0x0\n")
    assert play(**options)["changed"] is True
    assert "nvidia_uvm: true" in play.dest.read_text()


def test_check_mode_predicts_and_diff_shows_while_nothing_is_written(play: Play, node: str) -> None:
    options = {"root": node, "collectors": ["gpu"], "dest": str(play.dest)}
    assert play("--check", "--diff", **options)["changed"] is True
    assert "+      gpu-count: 1" in play.output
    assert not play.dest.parent.exists()
    play(**options)
    assert play("--check", "--diff", **options)["changed"] is False


def test_gaps_are_named_in_result_warning_and_document(play: Play, node: str) -> None:
    (Path(node) / "proc/modules").unlink()
    result = play(root=node, dest=str(play.dest))
    assert [gap.split(":")[0] for gap in result["incomplete"]] == ["OS.kmod", "SystemD"]
    assert any(warning.startswith("the snapshot has gaps: OS.kmod: ") for warning in result["warnings"])
    assert yamlio.load_file(play.dest)["incomplete"] == result["incomplete"]


def test_gaps_may_be_a_failure_which_writes_nothing(play: Play, node: str) -> None:
    result = play(root=node, dest=str(play.dest), on_partial="fail")
    assert result["failed"] is True
    assert result["error"]["code"] == "NOT_FOUND"
    assert result["error"]["details"]["incomplete"][0].startswith("SystemD: ")
    assert "on_partial" in result["error"]["hint"]
    assert not play.dest.exists()


def test_without_dest_nothing_is_written_and_without_asking_no_document_returned(play: Play, node: str) -> None:
    result = play(root=node, collectors=["gpu"])
    assert result["changed"] is False
    assert result["path"] is None
    assert "document" not in result


def test_secrets_of_the_command_line_reach_neither_file_nor_output(play: Play, node: str) -> None:
    result = play("-vvv", "--diff", root=node, dest=str(play.dest), return_document=True)
    assert "hunter2" not in json.dumps(result) + play.output + play.dest.read_text()


@pytest.mark.parametrize("root", ["/no/such/root", "/etc/passwd", "{empty}", "{empty}/etc"])
def test_a_root_that_is_none_is_an_error_that_names_it(play: Play, root: str) -> None:
    (play.folder / "empty").mkdir()
    (play.folder / "empty" / "etc").touch()
    root = root.format(empty=play.folder / "empty")
    result = play(root=root, dest=str(play.dest))
    assert result["failed"] is True
    assert f"root: {root} is not the root of a machine" in result["msg"]
    assert not play.dest.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"root": ""}, "root: must not be empty"),
        ({"root": "host"}, 'root: "host" is a relative path'),
        ({"collectors": []}, "collectors: none is named"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_host_is_asked(
    play: Play, options: dict[str, Any], said: str
) -> None:
    result = play(dest=str(play.dest), **options)
    assert result["error"]["code"] == "INVALID_REQUEST"
    assert said in result["msg"]


def test_an_unknown_collector_is_refused_before_the_host_is_asked(play: Play) -> None:
    result = play(collectors=["os", "bios"])
    assert result["error"]["code"] == "INVALID_REQUEST"
    assert "bios" in result["msg"]
