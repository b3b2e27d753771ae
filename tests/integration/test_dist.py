# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shipped holds what a user needs and nothing else, is the same file each time, and works by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

SHIPPED_FILES = {
    "CHANGELOG.md",
    "FILES.json",
    "MANIFEST.json",
    "README.md",
    "REUSE.toml",
    "requirements.txt",
}
SHIPPED_FOLDERS = {
    "LICENSES",
    "awx",
    "docs",
    "examples",
    "meta",
    "playbooks",
    "plugins",
    "recipes",
    "roles",
}


def build(output: Path) -> Path:
    command = [sys.executable, CHECKOUT / "tools" / "dist.py", "--output", output]
    subprocess.run(command, check=True, capture_output=True)
    (tarball,) = output.iterdir()
    return tarball


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


def ansible(collections: Path, *command: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of Ansible's for which COLLECTIONS is the only place; Python's path would lead to this checkout."""
    only = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false"}
    words = [str(word) for word in command]
    result = subprocess.run(words, check=False, capture_output=True, text=True, env={**os.environ, **only}, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture(scope="module")
def installed(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collections path that was empty and then took the tarball, with no index to ask."""
    path = tmp_path_factory.mktemp("collections")
    ansible(path, "ansible-galaxy", "collection", "install", "--offline", "--collections-path", path, tarball)
    return path


def test_only_what_a_user_needs_is_shipped(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        names = archive.getnames()
    assert {name for name in names if "/" not in name} <= SHIPPED_FILES | SHIPPED_FOLDERS
    assert {name.partition("/")[0] for name in names if "/" in name} <= SHIPPED_FOLDERS
    assert {"README.md", "LICENSES/GPL-3.0-or-later.txt", "LICENSES/Apache-2.0.txt", "meta/runtime.yml"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or Path(name).name.startswith(".")]


def test_what_meta_points_at_is_shipped(tarball: Path) -> None:
    """ansible-builder reads what meta/execution-environment.yml names."""
    with tarfile.open(tarball) as archive:
        named = {"meta/execution-environment.yml", "meta/ee-bindep.txt", "requirements.txt"}
        assert named <= set(archive.getnames())


def test_one_commit_gives_one_file(tarball: Path, tmp_path: Path) -> None:
    again = build(tmp_path)
    assert again.name == tarball.name
    assert again.read_bytes() == tarball.read_bytes()


def test_time_and_owner_are_those_of_the_commit(tarball: Path) -> None:
    command = ["git", "log", "-1", "--format=%ct"]
    time = int(subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True).stdout)
    with tarfile.open(tarball) as archive:
        stamps = {(member.mtime, member.uid, member.gid, member.uname, member.gname) for member in archive}
    assert stamps == {(time, 0, 0, "", "")}


def test_installed_files_match_their_checksums(installed: Path) -> None:
    ansible(installed, "ansible-galaxy", "collection", "verify", "--offline", "aicr.runtime")


def test_the_demo_runs_from_what_was_installed(installed: Path, tmp_path: Path) -> None:
    listed = ansible(installed, "ansible-galaxy", "collection", "list", "--format", "json", cwd=tmp_path)
    found = [path for path, collections in json.loads(listed.stdout).items() if "aicr.runtime" in collections]
    assert found == [str(installed / "ansible_collections")]

    inventory = installed / "ansible_collections" / "aicr" / "runtime" / "examples" / "inventory"
    played = ansible(installed, "ansible-playbook", "aicr.runtime.site", "-i", inventory, cwd=tmp_path)
    assert str(CHECKOUT) not in played.stdout
    made = {path.name for path in tmp_path.glob("artifacts/*/*")}
    assert made >= {"snapshot.yaml", "recipe.yaml", "report.ctrf.json", "bundle"}
