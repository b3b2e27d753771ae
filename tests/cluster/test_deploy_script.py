# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle of Helm installs itself, too: its `deploy.sh`, by Helm 4 and Helm 3, makes what the roles make."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.census import Wanted
from ansible_collections.aicr.runtime.tests.cluster.deployments import DEPLOY, Deployments
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

# Every chart of a registry or repository comes from the folder CHARTS, in the version that was asked for.
HELM = """#!/usr/bin/env bash
set -euo pipefail
chart="$4" version="" arguments=("${@:1:3}")
shift 4
rest=()
while (($#)); do
  case "$1" in
    --repo) shift ;;
    --version) version="$2"; shift ;;
    *) rest+=("$1") ;;
  esac
  shift
done
if [[ -n "${version}" ]]; then chart="${CHARTS}/${chart##*/}-${version}.tgz"; fi
exec "${REAL_HELM}" "${arguments[@]}" "${chart}" "${rest[@]}"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    return bundled(tmp_path_factory.mktemp("bundle"), "aicr-provided")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Bed]:
    """A cluster in which nothing is deployed."""
    bed = Bed.start(tmp_path / "kind", "kind")
    yield bed
    bed.stop()


@pytest.fixture(scope="module")
def by_roles(tmp_path_factory: pytest.TempPathFactory, charts: Path, made: Bundled) -> dict[str, Any]:
    """What the roles make of an empty cluster."""
    bed = Bed.start(tmp_path_factory.mktemp("roles") / "kind", "kind")
    try:
        objects = Wanted(bed)
        Deployments(Ansible(tmp_path_factory.mktemp("ansible")), bed, charts).run(DEPLOY, made.variables())
        return objects.now()
    finally:
        bed.stop()


@pytest.mark.parametrize("helm", ["helm", "helm3"])
def test_its_own_script_makes_what_the_roles_make(
    own: Bed, charts: Path, made: Bundled, by_roles: dict[str, Any], tmp_path: Path, helm: str
) -> None:
    """From an empty cluster. The bundle is as it was made."""
    objects = Wanted(own)
    place = tmp_path / "bin" / "helm"
    place.parent.mkdir()
    place.write_text(HELM, encoding="utf-8")
    place.chmod(0o755)
    environment = {
        "PATH": f"{place.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "KUBECONFIG": str(own.kubeconfig),
        "CHARTS": str(charts),
        "REAL_HELM": str(own.programs[helm]),
        "HELM_TIMEOUT": "3m",
    }
    command = [str(made.bundle / "deploy.sh"), "--retries", "0"]
    ran = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with contextlib.suppress(AssertionError):  # helm does not wait for what an operator makes
        eventually(lambda: set(by_roles) == set(objects.now()), 30)
    now = objects.now()
    assert sorted(now) == sorted(by_roles)
    assert {name: one for name, one in now.items() if one != by_roles[name]} == {
        name: by_roles[name] for name, one in now.items() if one != by_roles[name]
    }
    assert "MariaDB slurm/mariadb" in now and "Controller slurm/slinky-slurm" in now
