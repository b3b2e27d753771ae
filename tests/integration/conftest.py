# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs playbooks as a user does: with the checkout as the collection, in a folder of its own."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]


@dataclass(frozen=True)
class Run:
    """One run of ansible-playbook.

    :ivar results: by task, then by host: the last of a task that ran more than once, as long as it was not skipped.
    :ivar changed: the tasks that changed something, each time that they did.
    """

    returncode: int
    output: str
    results: Mapping[str, Mapping[str, dict[str, Any]]]
    changed: Sequence[str] = ()

    def result(self, task: str, host: str = "cluster") -> dict[str, Any]:
        return self.results[task][host]

    def recap(self, host: str) -> dict[str, int]:
        """What the recap says about a host."""
        line = next(line for line in self.output.splitlines() if line.startswith(host) and "unreachable=" in line)
        return {
            name: int(count) for name, _unused, count in (word.partition("=") for word in line.split(":")[1].split())
        }


class Ansible:
    """Runs things in a working directory.

    :ivar environment: what every run sees beside the few variables that it needs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment: dict[str, str] = {}

    def _all_of_the_environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
            "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callback_plugins"),
            "ANSIBLE_CALLBACKS_ENABLED": "record",
            "ANSIBLE_NOCOLOR": "1",
            "AICR_RECORD": str(self.folder / "record.jsonl"),
            **self.environment,
        }

    def command(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(Path(sys.executable).with_name(program)), *arguments],
            cwd=self.folder,
            env=self._all_of_the_environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, output: Path, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Begin to run a program in a session of its own; what it says goes to a file."""
        with output.open("wb") as file:
            return subprocess.Popen(
                [str(Path(sys.executable).with_name(program)), *arguments],
                cwd=self.folder,
                env=self._all_of_the_environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def playbook(self, playbook: str, *arguments: str, inventory: str = "cluster,", expect: int = 0) -> Run:
        """Run a playbook by its path or its name in a collection."""
        record = self.folder / "record.jsonl"
        record.unlink(missing_ok=True)
        ran = self.command("ansible-playbook", "-i", inventory, *arguments, playbook)
        assert ran.returncode == expect, ran.stdout + ran.stderr
        results: dict[str, dict[str, dict[str, Any]]] = {}
        changed = []
        for line in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
            entry = json.loads(line)
            of_task = results.setdefault(entry["task"], {})
            if entry["status"] != "skipped" or entry["host"] not in of_task:
                of_task[entry["host"]] = {"status": entry["status"], **entry["result"]}
            if entry["result"].get("changed"):
                changed.append(entry["task"])
        return Run(ran.returncode, ran.stdout + ran.stderr, results, changed)

    def tasks(self, tasks: Sequence[Mapping[str, Any]], *arguments: str, expect: int = 0, **play: Any) -> Run:
        """Run tasks against one cluster that nobody could connect to."""
        file = self.folder / "play.yml"
        file.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks, **play}]), encoding="utf-8")
        return self.playbook(str(file), *arguments, expect=expect)

    def tree(self, root: str) -> dict[str, bytes]:
        """All files below a folder of the working directory."""
        folder = self.folder / root
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Ansible in an empty folder."""
    return Ansible(tmp_path)


@pytest.fixture(scope="module")
def shared_ansible(tmp_path_factory: pytest.TempPathFactory) -> Ansible:
    """Ansible in a folder that all tests of a module share."""
    return Ansible(tmp_path_factory.mktemp("ansible"))


@pytest.fixture(scope="session")
def without_mode() -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Makes a recipe without accounting into one from before there was a choice, which knows no MariaDB components."""
    mariadb = ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb")

    def make(recipe: Mapping[str, Any]) -> dict[str, Any]:
        legacy = {key: value for key, value in copy.deepcopy(dict(recipe)).items() if key != "configuration"}
        legacy["apiVersion"] = "aicr.run/v1alpha2"
        legacy["componentRefs"] = [ref for ref in legacy["componentRefs"] if ref["name"] not in mariadb]
        for ref in legacy["componentRefs"]:
            ref["dependencyRefs"] = [name for name in ref.get("dependencyRefs", ()) if name not in mariadb]
            ref.get("overrides", {}).pop("accounting", None)
        return legacy

    return make
