# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waves over three clusters (cases F1, F3): a canary that fails, one budget for all waves, a run that goes on.

The tests of this file are one story, in the order in which they stand. What is deployed is small.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bundled import SLURM, Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.deployments import DEPLOY, RECORD, absent, written
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible, Run

VERIFY = "aicr.runtime.verify"
NAMESPACE = "cert-manager"
QUOTA = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/cert-manager"
FLEET = ("amsterdam", "berlin", "cadiz")


class Fleet:
    """Three clusters, and runs over them from one folder of artifacts."""

    def __init__(self, folder: Path, beds: Mapping[str, Bed], made: Bundled) -> None:
        self.beds, self.folder = beds, folder
        self.inventory = folder / "inventory.json"
        hosts = {name: {"aicr_kubeconfig": str(bed.kubeconfig)} for name, bed in beds.items()}
        any_bed = next(iter(beds.values()))
        variables = made.variables(
            aicr_chart_source=str(charts_folder(folder / "charts")),
            aicr_helm=str(any_bed.programs["helm"]),
            aicr_artifacts_dir=str(folder / "artifacts"),
        )
        self.inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": variables}}), encoding="utf-8")

    def run(self, ansible: Ansible, playbook: str, expect: int, *arguments: str, **variables: object) -> Run:
        given = json.dumps({"aicr_readiness_timeout": 120, **variables})
        return ansible.playbook(playbook, "-e", given, *arguments, inventory=str(self.inventory), expect=expect)

    def report(self, name: str, of: str = "verify") -> dict[str, str]:
        """The tests of the last report about a cluster, that of ``deploy`` or of ``verify``."""
        text = (self.folder / "artifacts" / name / f"{of}.ctrf.json").read_text(encoding="utf-8")
        return {test["name"]: test["status"] for test in json.loads(text)["results"]["tests"]}


@pytest.fixture(scope="module")
def beds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Bed]]:
    folder = tmp_path_factory.mktemp("fleet")
    with contextlib.ExitStack() as stack:
        up = {}
        for name in FLEET:
            up[name] = Bed.start(folder / name, "kind", nodes=1, workloads=False)
            stack.callback(up[name].stop)
        yield up


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, beds: Mapping[str, Bed]) -> Fleet:
    made = bundled(tmp_path_factory.mktemp("bundle"), "disabled", without=SLURM[1:])
    return Fleet(tmp_path_factory.mktemp("run"), beds, made)


def states(ran: Run) -> dict[str, str]:
    """The last column of the summary, by cluster."""
    (told,) = (result["msg"] for result in ran.results["Say how far each cluster came"].values() if "msg" in result)
    return {line.split()[0]: line.split(None, 3)[3] for line in told[1:]}


def test_a_canary_that_fails_leaves_the_others_untouched(ansible: Ansible, fleet: Fleet) -> None:
    """Case F3, too: no later play works on them. They are not even read."""
    canary, *others = fleet.beds.values()
    canary.api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    canary.api.create(QUOTA, {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})
    with contextlib.ExitStack() as stack:
        seen = [stack.enter_context(bed.audit.recording("admin")) for bed in others]
        ran = fleet.run(ansible, DEPLOY, 2, aicr_serial=[1, 2], aicr_max_failures=3, aicr_readiness_timeout=15)
    assert seen == [[], []]
    told = states(ran)
    assert told["amsterdam"].startswith("stopped at: Wait until they are ready: [TIMEOUT]")
    assert told["berlin"] == told["cadiz"] == "not begun: the canary failed: amsterdam"
    assert [ran.recap(name)["failed"] for name in FLEET] == [1, 1, 1]


def test_when_it_is_mended_the_same_run_does_all_that_is_left(ansible: Ansible, fleet: Fleet) -> None:
    fleet.beds["amsterdam"].api.delete(f"{QUOTA}/none")
    ran = fleet.run(ansible, DEPLOY, 0, aicr_serial=[1, 2])
    assert states(ran) == dict.fromkeys(FLEET, "deployed")
    for name, bed in fleet.beds.items():
        assert bed.api.get(RECORD)["data"]["state"] == "deployed"
        report = fleet.report(name, "deploy")
        assert set(report.values()) == {"passed"}
        assert {"the digest of the recipe", "release cert-manager/cert-manager"} <= report.keys()


def test_a_run_over_a_deployed_fleet_leaves_all_out_and_says_why(ansible: Ansible, fleet: Fleet) -> None:
    with contextlib.ExitStack() as stack:
        seen = [stack.enter_context(bed.audit.recording("admin")) for bed in fleet.beds.values()]
        ran = fleet.run(ansible, DEPLOY, 0, aicr_serial=[1, 2])
    assert [written(requests) for requests in seen] == [[], [], []]
    for said in states(ran).values():
        assert said.startswith("left out: it was deployed at 20")
        assert said.endswith("and nothing differs from its bundle")
    assert [ran.recap(name)["changed"] for name in FLEET] == [0, 0, 0]


def test_a_cluster_that_was_changed_is_what_is_left(ansible: Ansible, fleet: Fleet) -> None:
    bed = fleet.beds["berlin"]
    for secret in bed.api.items(f"/api/v1/namespaces/{NAMESPACE}/secrets", labelSelector="owner=helm"):
        bed.api.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/{secret['metadata']['name']}")
    bed.api.delete(DEPLOYMENT)
    ran = fleet.run(ansible, VERIFY, 2, aicr_readiness_timeout=12)
    assert [ran.recap(name)["failed"] for name in FLEET] == [0, 1, 0]
    assert fleet.report("berlin")["release cert-manager/cert-manager"] == "failed"
    assert "it is not installed" in states(ran)["berlin"]
    ran = fleet.run(ansible, VERIFY, 0, "--limit", "berlin", "--check")
    assert states(ran)["berlin"].startswith("not as its bundle says: "), "no test fails a check, and no word hides it"


def test_the_budget_is_one_for_all_waves_whatever_their_size(ansible: Ansible, fleet: Fleet) -> None:
    """Case F1. Ansible alone would end with the first wave of one, and never count over waves."""
    fleet.beds["amsterdam"].api.delete(DEPLOYMENT)
    quick = {"aicr_serial": 1, "aicr_readiness_timeout": 12}
    ran = fleet.run(ansible, VERIFY, 2, **quick, aicr_max_failures=2)
    told = states(ran)
    assert told["amsterdam"].startswith("stopped at: ")
    assert told["berlin"].startswith("stopped at: ")
    assert told["cadiz"] == "not begun: 2 stopped (amsterdam, berlin), and aicr_max_failures is 2"
    ran = fleet.run(ansible, VERIFY, 2, **quick, aicr_max_failures="100%")
    assert states(ran)["cadiz"].startswith("verified: ")
    ran = fleet.run(ansible, VERIFY, 2, **quick | {"aicr_serial": 2}, aicr_max_failures=1)
    assert states(ran)["cadiz"].startswith("not begun: 2 stopped")


def test_verify_writes_nothing_to_a_cluster(ansible: Ansible, fleet: Fleet) -> None:
    bed = fleet.beds["cadiz"]
    with bed.audit.recording("admin") as requests:
        fleet.run(ansible, VERIFY, 0, "--limit", "cadiz")
    assert requests
    assert written(requests) == []


def test_who_may_not_read_secrets_gets_a_report_that_says_so(ansible: Ansible, fleet: Fleet, tmp_path: Path) -> None:
    bed = fleet.beds["cadiz"]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}
    binding = {"metadata": {"name": "viewer"}, "roleRef": role, "subjects": [subject]}
    bed.api.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    mine = bed.write_kubeconfig(tmp_path / "viewer", token=bed.settings.tokens["nobody"])
    fleet.run(ansible, VERIFY, 2, "--limit", "cadiz", aicr_kubeconfig=str(mine), aicr_readiness_timeout=12)
    report = fleet.report("cadiz")
    assert report["release cert-manager/cert-manager"] == "failed"
    assert report["the digest of the recipe"] == "passed"
    assert report["cert-manager: Deployment cert-manager/cert-manager"] == "passed"
    nowhere = str(bed.write_kubeconfig(tmp_path / "nowhere", "https://127.0.0.1:1", token="t"))
    fleet.run(ansible, VERIFY, 2, "--limit", "cadiz", aicr_kubeconfig=nowhere, aicr_fail_on_error=False)
    assert fleet.report("cadiz") == {"the deployment can be verified": "failed"}


def test_no_approval_is_no_approval(ansible: Ansible, fleet: Fleet) -> None:
    """Where nobody can be asked, as under AWX, nothing more begins."""
    ran = fleet.run(
        ansible,
        VERIFY,
        2,
        "--limit",
        "cadiz,berlin",
        aicr_serial=[1, 1],
        aicr_pause_between_waves=True,
        aicr_max_failures=2,
        aicr_hosts="cadiz,berlin",
        aicr_readiness_timeout=12,
    )
    assert "not begun" in ran.output


def test_of_two_runs_at_once_one_deploys_and_the_other_is_told_by_name(fleet: Fleet, tmp_path: Path) -> None:
    runs = [Ansible(tmp_path / name) for name in ("one", "two")]
    for each in runs:
        each.folder.mkdir()
    bed = fleet.beds["berlin"]

    def go(each: Ansible) -> str:
        given = json.dumps({"aicr_run": each.folder.name, "aicr_readiness_timeout": 120})
        ran = each.command("ansible-playbook", "-i", str(fleet.inventory), "--limit", "berlin", "-e", given, DEPLOY)
        return f"{ran.returncode} {ran.stdout}{ran.stderr}"

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(go, runs))
    codes = [each[0] for each in said]
    assert "0" in codes, said
    if codes.count("0") == 1:
        assert f'another run, "{runs[codes.index("0")].folder.name}"' in said[1 - codes.index("0")]
    assert bed.api.get(RECORD)["data"]["state"] == "deployed"
    assert absent(bed, "/apis/coordination.k8s.io/v1/namespaces/default/leases/aicr-deployment")
