# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflow of awx/ on a cluster, as AWX runs it: of the cluster nothing is said but its credential and a context.

The tests of this file are one story on one cluster, in the order in which they stand.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bundled import CRITERIA, SLURM
from ansible_collections.aicr.runtime.tests.cluster.deployments import LEASE, RECORD, absent, written
from ansible_collections.aicr.runtime.tests.integration.awx_jobs import Controller, Job

WEBHOOK = "/apis/apps/v1/namespaces/slinky/deployments/slurm-operator-webhook"


@pytest.fixture(scope="module")
def controller(own: Bed, charts: Path, tmp_path_factory: pytest.TempPathFactory) -> Controller:
    berlin = {
        "aicr_context": "admin@berlin",
        "aicr_criteria": CRITERIA,
        "aicr_slurm_accounting_mode": "disabled",
        "aicr_components": list(SLURM),
        "aicr_chart_source": str(charts),
        "aicr_helm": str(own.programs["helm"]),
        "aicr_readiness_timeout": 180,
    }
    folder = tmp_path_factory.mktemp("controller")
    return Controller(folder, {"berlin": berlin}, json.dumps(kubeconfig(own)), (own.settings.tokens["admin"],))


def kubeconfig(own: Bed) -> dict[str, object]:
    """All in one file, and no context that is the current one (docs/awx.md)."""
    authority = base64.b64encode(own.authority.certificate.read_bytes()).decode()
    server = {"server": own.server, "certificate-authority-data": authority}
    return {
        "clusters": [{"name": "berlin", "cluster": server}],
        "contexts": [{"name": "admin@berlin", "context": {"cluster": "berlin", "user": "admin"}}],
        "users": [{"name": "admin", "user": {"token": own.settings.tokens["admin"]}}],
    }


def report(controller: Controller, status: str) -> list[str]:
    """The names of the tests of such a status that ``verify`` has written down."""
    document = json.loads((controller.kept / "berlin" / "verify.ctrf.json").read_text(encoding="utf-8"))
    return [test["name"] for test in document["results"]["tests"] if test["status"] == status]


def made(job: Job) -> dict[str, str]:
    assert job.status == 0, job.output
    found: dict[str, str] = job.artifacts["clusters_made"]["berlin"]
    return found


def test_the_workflow_goes_from_a_snapshot_to_a_deployment_that_was_seen_to_work(
    own: Bed, controller: Controller
) -> None:
    jobs = controller.workflow("AICR rollout")
    assert list(jobs) == ["snapshot", "recipe", "validate", "bundle", "deploy", "verify"], [*jobs.values()][-1].output
    steps = [set(made(job)) for job in jobs.values()]
    assert [sorted(after - before) for before, after in zip([set(), *steps], steps, strict=False)] == [
        ["snapshot"],
        ["mode", "recipe"],
        ["failing"],
        ["bundle"],
        ["deployed", "verified"],
        [],
    ]
    at_the_end = made(jobs["verify"])
    assert (at_the_end["mode"], int(at_the_end["failing"])) == ("disabled", 0)
    assert at_the_end["recipe"] == at_the_end["deployed"] == at_the_end["verified"]
    assert len(json.dumps(at_the_end)) < 300, "all of it goes with every job that follows"
    assert own.api.get(RECORD)["data"]["recipe-digest"].startswith(at_the_end["recipe"])
    assert own.api.get(WEBHOOK)["status"]["readyReplicas"] == 1
    passed = report(controller, "passed")
    assert passed and not report(controller, "failed")
    assert f"verified: {len(passed)} passed, 0 failed" in jobs["verify"].output


def test_site_finds_nothing_left_to_do(own: Bed, controller: Controller) -> None:
    """It looks at the cluster anew, in which there is a deployment by now."""
    first = controller.launch("AICR site", answers={"aicr_deploy": "true"})
    with own.audit.recording("admin") as requests:
        again = controller.launch("AICR site", answers={"aicr_deploy": "true"})
    assert made(again) == made(first)
    assert again.recap["berlin"]["changed"] == 0, again.output
    assert {resource for _verb, resource, _name in written(requests)} == {"leases"}
    assert absent(own, LEASE)


def test_a_job_that_verifies_fails_with_the_reason_when_something_is_gone(own: Bed, controller: Controller) -> None:
    own.api.delete(WEBHOOK)
    job = controller.launch("AICR verify", aicr_readiness_timeout=5)
    assert job.status != 0
    assert job.artifacts == {}
    assert job.recap["berlin"]["failures"] == 1
    assert "stopped at: Hold the cluster against its bundle" in job.output
    assert "slurm-operator-webhook" in job.output
    assert report(controller, "failed") == [
        "release slinky/slinky-slurm-operator",
        "slinky-slurm-operator: Deployment slinky/slurm-operator-webhook",
    ]


def test_what_an_earlier_job_has_verified_is_told_no_more_once_a_test_fails(controller: Controller) -> None:
    before = {"clusters_made": {"berlin": {"verified": "sha256:r", "bundle": "sha256:b"}}}
    job = controller.launch("AICR verify", artifacts=before, aicr_readiness_timeout=5, aicr_fail_on_error=False)
    assert made(job) == {"bundle": "sha256:b"}
    assert "not as its bundle says: " in job.output
