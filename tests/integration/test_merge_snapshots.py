# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter ``merge_snapshots`` as a user writes it, on the results of a loop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  vars:
    results: {results}
  tasks:
    - ansible.builtin.copy:
        content: "{{{{ results | map(attribute='document') | aicr.runtime.merge_snapshots | to_json }}}}"
        dest: {dest}
"""


def merged(folder: Path, documents: list[dict[str, object]]) -> subprocess.CompletedProcess[str]:
    results = json.dumps([{"document": document} for document in documents])
    playbook = folder / "play.yml"
    playbook.write_text(PLAYBOOK.format(results=results, dest=folder / "merged.json"))
    return subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            *("-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}"),
            str(playbook),
        ],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def node(name: str, version: str) -> dict[str, object]:
    release = {"subtype": "release", "data": {"ID": "ubuntu", "VERSION_ID": version}}
    return {
        "apiVersion": "aicr.run/v1alpha2",
        "kind": "Snapshot",
        "metadata": {"source-node": name},
        "measurements": [{"type": "OS", "subtypes": [release]}],
    }


def test_the_snapshots_of_a_loop_become_one(tmp_path: Path) -> None:
    run = merged(tmp_path, [node("b", "24.04"), node("a", "22.04")])
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads((tmp_path / "merged.json").read_text())["measurements"] == [
        {
            "type": "OS",
            "subtypes": [
                {
                    "subtype": "release",
                    "data": {"ID": "ubuntu"},
                    "items": [
                        {"context": {"node": "a"}, "data": {"VERSION_ID": "22.04"}},
                        {"context": {"node": "b"}, "data": {"VERSION_ID": "24.04"}},
                    ],
                }
            ],
        }
    ]


def test_a_node_that_is_given_twice_is_refused_by_name(tmp_path: Path) -> None:
    run = merged(tmp_path, [node("a", "24.04"), node("a", "22.04")])
    assert run.returncode != 0
    assert 'two snapshots are of node "a"' in run.stdout + run.stderr
