# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenarios of extensions/molecule on a bed, as they are run on any cluster (docs/testing.md).

They go in the order in which roles need each other, so that each finds what it needs installed; the last is destroyed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.deployments import absent
from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT

ORDER = (
    "snapshot_agent",
    "component",
    "mariadb_operator_crds",
    "mariadb_operator",
    "slurm_accounting_mariadb",
    "slinky_slurm_operator_crds",
    "slinky_slurm_operator",
    "slinky_slurm",
)
CONTROLLER = "/apis/slinky.slurm.net/v1beta1/namespaces/slurm/controllers/slinky-slurm"


def molecule(home: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it on the checkout, with all that it keeps in a home of its own."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("molecule")), *arguments],
        cwd=CHECKOUT,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_is_a_scenario_for_each_role() -> None:
    scenarios = {path.parent.name for path in (CHECKOUT / "extensions" / "molecule").glob("*/molecule.yml")}
    assert scenarios == set(ORDER) == {path.name for path in (CHECKOUT / "roles").iterdir()}


def test_a_scenario_without_a_cluster_says_how_to_name_one(tmp_path: Path) -> None:
    ran = molecule(tmp_path, {}, "test", "--scenario-name", "snapshot_agent")
    assert ran.returncode != 0
    assert "AICR_TEST_KUBECONFIG must name the kubeconfig" in ran.stdout + ran.stderr


@pytest.mark.parametrize("role", ORDER)
def test_a_role_converges_changes_nothing_more_and_works(role: str, own: Bed, charts: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{own.programs['kubectl'].parent}:{os.environ['PATH']}",
        "AICR_TEST_KUBECONFIG": str(own.kubeconfig),
        "AICR_TEST_CHARTS": str(charts),
    }
    destroy = "always" if role == ORDER[-1] else "never"
    ran = molecule(tmp_path, environment, "test", "--scenario-name", role, f"--destroy={destroy}")
    told = ran.stdout + ran.stderr
    assert ran.returncode == 0, told
    assert f"{role} > idempotence: Executed: Successful" in told
    if role == ORDER[-1]:
        assert absent(own, CONTROLLER)
        assert not absent(own, "/apis/slinky.slurm.net/v1beta1")
