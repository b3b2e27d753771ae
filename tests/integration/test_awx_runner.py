# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The project of awx/ run as AWX runs a job: by ansible-runner in a private folder that is gone when the job has ended.

The inventory is a script, the variables of a launch are a file in which all text is marked as unsafe, a credential is
a file that the environment names, and what one job hands to the next is what ``set_stats`` said (spec/cases.md W1, W4).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT
from ansible_collections.aicr.runtime.tests.integration.test_awx import AWX, TEMPLATES, questions, taken

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


class _Unsafe(yaml.SafeDumper):
    """Marks all text as AWX does with that of a launch, so that it is never a template."""


_Unsafe.add_representer(str, lambda dumper, text: dumper.represent_scalar("!unsafe", text))


@dataclass(frozen=True)
class Job:
    """What AWX keeps of a job.

    :ivar artifacts: what it hands to the jobs that follow.
    """

    status: int
    output: str
    artifacts: Mapping[str, Any]


Launch = Callable[..., Job]


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """Launches a job template; ``aicr_artifacts_dir`` is the one folder that outlives a job."""
    kept = tmp_path / "var-lib-aicr"

    def run(
        name: str,
        *,
        answers: Mapping[str, object] = MappingProxyType({}),
        artifacts: Mapping[str, object] = MappingProxyType({}),
        clusters: Mapping[str, Mapping[str, object]] | None = None,
        **variables: object,
    ) -> Job:
        template = TEMPLATES[name]
        private = tmp_path / "job"
        for folder in ("env", "inventory"):
            (private / folder).mkdir(parents=True)
        shutil.copytree(AWX / "project", private / "project")
        hosts = {
            "all": {"hosts": [*(clusters or CLUSTERS)]},
            "_meta": {"hostvars": clusters or CLUSTERS},
        }
        script = private / "inventory" / "hosts"
        script.write_text(f"#!{sys.executable}\nprint({json.dumps(hosts)!r})\n", encoding="utf-8")
        script.chmod(0o700)
        said = {
            **{question["variable"]: question["default"] for question in questions(template)},
            **taken(template, {**answers, **variables}),
            **artifacts,
        }
        for question in questions(template):
            if question["type"] == "multiselect" and isinstance(said[question["variable"]], str):
                said[question["variable"]] = said[question["variable"]].split("\n")
        (private / "env" / "extravars").write_text(
            yaml.safe_dump({"awx_job_id": 1}) + yaml.dump({**said, "aicr_artifacts_dir": str(kept)}, Dumper=_Unsafe),
            encoding="utf-8",
        )
        credential = private / "env" / "tmp8f3q"
        credential.write_text(kubeconfig(), encoding="utf-8")
        credential.chmod(0o600)
        environment = {
            "K8S_AUTH_KUBECONFIG": str(credential),
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
            "JOB_ID": "1",
        }
        (private / "env" / "envvars").write_text(yaml.safe_dump(environment), encoding="utf-8")
        ran = subprocess.run(
            [
                str(Path(sys.executable).with_name("ansible-runner")),
                *("run", str(private), "-p", template["playbook"], "--ident", "1"),
            ],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        events = [json.loads(path.read_bytes()) for path in (private / "artifacts" / "1" / "job_events").glob("*.json")]
        told = [event.get("event_data", {}).get("artifact_data") for event in events]
        made = [one for one in told if one]
        assert SECRET not in ran.stdout + ran.stderr + json.dumps(events)
        shutil.rmtree(private)
        return Job(ran.returncode, ran.stdout + ran.stderr, made[-1] if made else {})

    return run


def kubeconfig() -> str:
    names = ("berlin", "paris")
    return json.dumps(
        {
            "clusters": [{"name": name, "cluster": {"server": "https://127.0.0.1:1"}} for name in names],
            "contexts": [{"name": f"admin@{name}", "context": {"cluster": name, "user": "admin"}} for name in names],
            "users": [{"name": "admin", "user": {"token": SECRET}}],
        }
    )


def test_stages_hand_to_each_other_what_they_made(launch: Launch, tmp_path: Path) -> None:
    recipe = launch("AICR recipe")
    assert recipe.status == 0, recipe.output
    made = recipe.artifacts["clusters_made"]
    assert {name: one["mode"] for name, one in made.items() if "mode" in one} == {"berlin": "disabled"}
    assert all(one["recipe"].startswith("sha256:") for one in made.values())

    bundle = launch("AICR bundle", artifacts=recipe.artifacts, clusters={"berlin": CLUSTERS["berlin"]})
    assert bundle.status == 0, bundle.output
    berlin = bundle.artifacts["clusters_made"]["berlin"]
    assert berlin.items() > made["berlin"].items() and berlin["bundle"].startswith("sha256:")
    assert len(json.dumps(berlin)) < 300, "all of it goes with every job that follows"
    info = yaml.safe_load((tmp_path / "var-lib-aicr" / "berlin" / "bundle" / "bundle-info.yaml").read_text())
    assert info["build"]["recipe"]["digest"].startswith(made["berlin"]["recipe"])


def test_the_mode_of_a_launch_arrives_and_is_told(launch: Launch) -> None:
    only = {"berlin": CLUSTERS["berlin"]}
    job = launch("AICR recipe", clusters=only, aicr_slurm_accounting_mode="aicr-provided")
    assert job.artifacts["clusters_made"]["berlin"]["mode"] == "aicr-provided"


def test_the_text_of_an_answer_is_read_as_the_flag_that_it_is(launch: Launch, tmp_path: Path) -> None:
    """Any text is true to Python, also ``false``; and ansible-core from 2.19 on makes a boolean of it."""
    old = tmp_path / "old.yaml"
    old.write_text(SNAPSHOT.read_text(encoding="utf-8").replace("v1.36.3", "v1.20.3"), encoding="utf-8")
    only = {"berlin": {**CLUSTERS["berlin"], "aicr_snapshot": str(old)}}
    assert launch("AICR recipe", clusters=CLUSTERS).status == 0
    for answer, passes in (("true", False), ("false", True), ("0", True)):
        job = launch("AICR validate", clusters=only, answers={"aicr_fail_on_error": answer})
        assert (job.status == 0) is passes, job.output
        assert ("clusters_made" in job.artifacts) is passes
    assert int(job.artifacts["clusters_made"]["berlin"]["failing"]) > 0


def test_a_credential_arrives_as_a_file_and_the_context_from_the_inventory(launch: Launch) -> None:
    """Nothing listens there, which is how one sees where it went."""
    job = launch("AICR snapshot", clusters={"paris": CLUSTERS["paris"]}, aicr_timeouts={"k8s": 2, "topology": 2})
    assert job.status != 0
    assert 'context "admin@paris"' in job.output and "127.0.0.1:1" in job.output, job.output


def test_all_stages_go_in_one_job(launch: Launch, tmp_path: Path) -> None:
    """docs/awx.md has the fleet file name the file of the credential, so that it is read where there is no snapshot."""
    credential = "{{ lookup('ansible.builtin.env', 'K8S_AUTH_KUBECONFIG') }}"
    clusters = {
        "berlin": CLUSTERS["berlin"],
        "paris": {**CLUSTERS["paris"], "aicr_kubeconfig": credential, "aicr_timeouts": {"k8s": 2, "topology": 2}},
    }
    job = launch("AICR site", clusters=clusters)
    assert job.status != 0 and 'context "admin@paris"' in job.output, job.output
    made = {path.parent.name for path in (tmp_path / "var-lib-aicr").glob("*/bundle")}
    assert made == {"berlin"}, "the survey says that nothing is deployed, and berlin needs no cluster for the rest"


def test_a_name_that_is_mistyped_is_refused_and_nothing_is_reported(launch: Launch) -> None:
    job = launch("AICR recipe", aicr_slurm_acounting_mode="disabled")
    assert job.status != 0 and 'did you mean "aicr_slurm_accounting_mode"?' in job.output
    assert job.artifacts == {}
