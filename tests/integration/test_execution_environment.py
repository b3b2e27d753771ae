# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-builder makes the context of an image with the collection, and finds in the collection what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
DEFINITION = Path("awx") / "execution-environment" / "execution-environment.yml"


def ansible_builder(*arguments: str, cwd: Path) -> str:
    program = str(Path(sys.executable).with_name("ansible-builder"))
    ran = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, check=False, env=os.environ)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The definition where a checkout has it, with the tarball that ``make dist`` makes."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / DEFINITION).parent.mkdir(parents=True)
    (folder / DEFINITION).write_bytes((CHECKOUT / DEFINITION).read_bytes())
    command = [sys.executable, str(CHECKOUT / "tools" / "dist.py"), "--output", str(folder / "dist")]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def test_a_context_is_made_with_this_version_and_the_versions_that_are_tested(copy: Path) -> None:
    ansible_builder("create", "-f", str(DEFINITION), "-c", "context", cwd=copy)
    context = copy / "context"
    (tarball,) = (copy / "dist").iterdir()
    (collection,) = yaml.safe_load((context / "_build" / "requirements.yml").read_text())["collections"]
    assert collection == {"name": f"dist/{tarball.name}", "type": "file"}
    assert (context / "_build" / collection["name"]).read_bytes() == tarball.read_bytes()
    recipe = next(context.glob("*file")).read_text()
    pins = (CHECKOUT / "requirements" / "dev.in").read_text().split()
    for package in ("ansible-core", "ansible-runner"):
        (pin,) = [word for word in pins if word.startswith(f"{package}==")]
        assert pin in recipe
    assert "sha256sum -c helm-$HELM_VERSION" in recipe


def test_the_collection_says_what_it_needs(copy: Path, tmp_path: Path) -> None:
    """As ansible-builder asks it while an image is built: of what is shipped, not of the checkout."""
    (tarball,) = (copy / "dist").iterdir()
    place = tmp_path / "ansible_collections" / "aicr" / "runtime"
    with tarfile.open(tarball) as archive:
        archive.extractall(place, filter="data")
    found = yaml.safe_load(ansible_builder("introspect", str(tmp_path), cwd=tmp_path))
    lines = (CHECKOUT / "requirements.txt").read_text().splitlines()
    needed = {line.split("#")[0].strip() for line in lines} - {""}
    said = {line.split("#")[0].strip() for line in found["python"]}
    assert said == {package for package in needed if not package.startswith("PyYAML")}, "Ansible brings that one"
    assert [line.split("#")[0].strip() for line in found["system"]] == [
        "openssh-clients [platform:rpm]",
        "openssh-client [platform:dpkg]",
    ]
