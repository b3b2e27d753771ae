# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages under AWX, as far as they need no cluster (tests/integration/awx_jobs.py; spec/cases.md W1, W4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from ansible_collections.aicr.runtime.tests.integration.awx_jobs import Controller
from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT

SECRET = "sesame-0123456789"
SLURM = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "eks-h100-training.yaml"
CLUSTERS: Mapping[str, Mapping[str, object]] = {
    "berlin": {
        "aicr_criteria": SLURM,
        "aicr_slurm_accounting_mode": "disabled",
        "aicr_snapshot": str(SNAPSHOT),
        "aicr_context": "admin@berlin",
        "aicr_scheduling": {
            "system_node_selector": {"nodeGroup": "system"},
            "accelerated_node_selector": {"nodeGroup": "gpu"},
        },
    },
    "paris": {"aicr_criteria": {**SLURM, "platform": "kubeflow"}, "aicr_context": "admin@paris"},
}


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path, CLUSTERS, kubeconfig(), (SECRET,))


def kubeconfig() -> str:
    names = ("berlin", "paris")
    return json.dumps(
        {
            "clusters": [{"name": name, "cluster": {"server": "https://127.0.0.1:1"}} for name in names],
            "contexts": [{"name": f"admin@{name}", "context": {"cluster": name, "user": "admin"}} for name in names],
            "users": [{"name": "admin", "user": {"token": SECRET}}],
        }
    )


def test_stages_hand_to_each_other_what_they_made(controller: Controller) -> None:
    recipe = controller.launch("AICR recipe")
    assert recipe.status == 0, recipe.output
    made = recipe.artifacts["clusters_made"]
    assert {name: one["mode"] for name, one in made.items() if "mode" in one} == {"berlin": "disabled"}
    assert all(one["recipe"].startswith("sha256:") for one in made.values())

    bundle = controller.launch("AICR bundle", artifacts=recipe.artifacts, clusters={"berlin": CLUSTERS["berlin"]})
    assert bundle.status == 0, bundle.output
    berlin = bundle.artifacts["clusters_made"]["berlin"]
    assert berlin.items() > made["berlin"].items() and berlin["bundle"].startswith("sha256:")
    assert len(json.dumps(berlin)) < 300, "all of it goes with every job that follows"
    info = yaml.safe_load((controller.kept / "berlin" / "bundle" / "bundle-info.yaml").read_text())
    assert info["build"]["recipe"]["digest"].startswith(made["berlin"]["recipe"])


def test_the_mode_of_a_launch_arrives_and_is_told(controller: Controller) -> None:
    only = {"berlin": CLUSTERS["berlin"]}
    job = controller.launch("AICR recipe", clusters=only, aicr_slurm_accounting_mode="aicr-provided")
    assert job.artifacts["clusters_made"]["berlin"]["mode"] == "aicr-provided"


def test_the_text_of_an_answer_is_read_as_the_flag_that_it_is(controller: Controller, tmp_path: Path) -> None:
    """Any text is true to Python, also ``false``; and ansible-core from 2.19 on makes a boolean of it."""
    old = tmp_path / "old.yaml"
    old.write_text(SNAPSHOT.read_text(encoding="utf-8").replace("v1.36.3", "v1.20.3"), encoding="utf-8")
    only = {"berlin": {**CLUSTERS["berlin"], "aicr_snapshot": str(old)}}
    assert controller.launch("AICR recipe", clusters=CLUSTERS).status == 0
    for answer, passes in (("true", False), ("false", True), ("0", True)):
        job = controller.launch("AICR validate", clusters=only, answers={"aicr_fail_on_error": answer})
        assert (job.status == 0) is passes, job.output
        assert ("clusters_made" in job.artifacts) is passes
    failing = job.artifacts["clusters_made"]["berlin"]["failing"]
    assert isinstance(failing, int) and failing > 0


def test_a_credential_arrives_as_a_file_and_the_context_from_the_inventory(controller: Controller) -> None:
    """Nothing listens there, which is how one sees where it went."""
    job = controller.launch(
        "AICR snapshot", clusters={"paris": CLUSTERS["paris"]}, aicr_timeouts={"k8s": 2, "topology": 2}
    )
    assert job.status != 0
    assert 'context "admin@paris"' in job.output and "127.0.0.1:1" in job.output, job.output


def test_all_stages_go_in_one_job_which_looks_at_the_cluster_of_its_credential(controller: Controller) -> None:
    """No variable names a kubeconfig. Nothing listens there, and berlin has a snapshot and needs no cluster."""
    paris = {**CLUSTERS["paris"], "aicr_timeouts": {"k8s": 2, "topology": 2}}
    job = controller.launch("AICR site", clusters={"berlin": CLUSTERS["berlin"], "paris": paris})
    assert job.status != 0 and 'context "admin@paris"' in job.output, job.output
    made = {path.parent.name for path in controller.kept.glob("*/bundle")}
    assert made == {"berlin"}, "the survey says that nothing is deployed"


def test_a_job_hands_on_how_many_readings_have_changed_and_keeps_the_baseline(controller: Controller) -> None:
    kept = controller.kept / "berlin" / "snapshot.yaml"
    kept.parent.mkdir(parents=True)
    kept.write_text(SNAPSHOT.read_text(encoding="utf-8").replace("v1.36.3", "v1.35.3"), encoding="utf-8")
    then, only = kept.read_bytes(), {"berlin": CLUSTERS["berlin"]}
    for answer, passes in (("false", True), ("true", False)):
        job = controller.launch("AICR drift", clusters=only, answers={"aicr_fail_on_drift": answer})
        assert (job.status == 0) is passes, job.output
        told = job.artifacts.get("clusters_made", {}).get("berlin", {})
        assert ("snapshot" not in told) and (isinstance(told["drift"], int) if passes else not told)
        assert told.get("drift") != 0
    assert kept.read_bytes() == then and (kept.parent / "drift.yaml").is_file()


def test_a_name_that_is_mistyped_is_refused_and_nothing_is_reported(controller: Controller) -> None:
    job = controller.launch("AICR recipe", aicr_slurm_acounting_mode="disabled")
    assert job.status != 0 and 'did you mean "aicr_slurm_accounting_mode"?' in job.output
    assert job.artifacts == {}
