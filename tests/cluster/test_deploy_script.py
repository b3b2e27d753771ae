# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle of Helm installs itself, too: its `deploy.sh`, by Helm 4 and Helm 3, makes what the roles make."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bundled import Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.census import MADE_BY_THE_CLUSTER, census, wanted
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


class Wanted:
    """What was wanted of the objects that a deployment has made, by their names."""

    def __init__(self, bed: Bed) -> None:
        self._bed, self._before = bed, set(census(bed.api))

    def now(self) -> dict[str, Any]:
        """Without what the cluster makes of them, what Helm keeps of a release, and the roles' own record and Jobs.

        A namespace is what it is called: the roles label it as ours, and each Helm in its own way.
        """
        return {
            name: one["kind"] if one["kind"] == "Namespace" else without_hashes(wanted(one))
            for name, one in census(self._bed.api).items()
            if name not in self._before
            and one["kind"] not in MADE_BY_THE_CLUSTER
            and one.get("type") != "helm.sh/release.v1"
            and "/aicr-" not in name
            and not name.endswith("/kube-root-ca.crt")  # each cluster has its own authority
        }


_HASH = re.compile("[0-9a-f]{64}")


def without_hashes(one: dict[str, Any]) -> dict[str, Any]:
    """Of a workload's pods that they carry hashes, not which: generated Secrets are in them."""
    metadata = one.get("spec", {}).get("template", {}).get("metadata") if isinstance(one.get("spec"), dict) else None
    if metadata:
        held = metadata.get("annotations") or {}
        metadata["annotations"] = {key: _HASH.sub("a hash", value) for key, value in held.items()}
    return one


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
