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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT
from ansible_collections.aicr.runtime.tests.integration.test_awx import (
    AWX,
    TEMPLATES,
    WORKFLOWS,
    Template,
    questions,
    taken,
)


class _Unsafe(yaml.SafeDumper):
    """Marks all text as AWX does with that of a launch, so that it is never a template."""


_Unsafe.add_representer(str, lambda dumper, text: dumper.represent_scalar("!unsafe", text))


@dataclass(frozen=True)
class Job:
    """What AWX keeps of a job.

    :ivar artifacts: what it hands to the jobs that follow.
    :ivar recap: of each cluster, how many tasks were ok, changed, failed, ...
    """

    status: int
    output: str
    artifacts: Mapping[str, Any]
    recap: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Controller:
    """Launches job templates.

    :ivar folder: an empty one for its own files.
    :ivar clusters: the variables of each cluster of the inventory.
    :ivar credential: the content of the kubeconfig that is attached to the templates.
    :ivar secrets: texts of it that nothing which a job says may hold.
    :ivar variables: what is said at each launch besides.
    :ivar kept: ``aicr_artifacts_dir``, the one folder that outlives a job.
    """

    folder: Path
    clusters: Mapping[str, Mapping[str, object]]
    credential: str
    secrets: tuple[str, ...]
    variables: Mapping[str, object] = field(default_factory=dict)

    @property
    def kept(self) -> Path:
        return self.folder / "var-lib-aicr"

    def launch(
        self,
        name: str,
        *,
        answers: Mapping[str, object] = MappingProxyType({}),
        artifacts: Mapping[str, object] = MappingProxyType({}),
        clusters: Mapping[str, Mapping[str, object]] | None = None,
        **variables: object,
    ) -> Job:
        """Run a job of the template.

        :param answers: to the questions of its survey, which have defaults.
        :param artifacts: of the jobs before.
        :param clusters: those of the inventory, if the launch names another one.
        :param variables: of the launch.
        """
        template = TEMPLATES[name]
        said = {**self.variables, **answers, **variables}
        return self._run(template, {**_defaults(template), **taken(template, said), **artifacts}, clusters)

    def workflow(self, name: str, **variables: object) -> dict[str, Job]:
        """Run a workflow's jobs one after the other, as far as they succeed, with a person who approves at once.

        :param variables: of the launch; AWX gives them, and the answers to the workflow's survey, to each job.
        :returns: the jobs by the identifiers of their nodes.
        """
        workflow = WORKFLOWS[name]
        nodes = {node["identifier"]: node for node in workflow["simplified_workflow_nodes"]}
        said = {**_defaults(workflow), **taken(workflow, {**self.variables, **variables})}
        jobs: dict[str, Job] = {}
        artifacts: dict[str, object] = {}
        (ready,) = nodes.keys() - {after for node in nodes.values() for after in node.get("success_nodes", ())}
        while True:
            if "unified_job_template" in nodes[ready]:
                template = TEMPLATES[nodes[ready]["unified_job_template"]]
                given = {**_defaults(template), **taken(template, said), **artifacts}
                jobs[ready] = self._run(template, given, None)
                artifacts.update(jobs[ready].artifacts)
                if jobs[ready].status:
                    return jobs
            following = nodes[ready].get("success_nodes", ())
            if not following:
                return jobs
            (ready,) = following

    def _run(
        self, template: Template, said: dict[str, object], clusters: Mapping[str, Mapping[str, object]] | None
    ) -> Job:
        for question in questions(template):
            if question["type"] == "multiselect" and isinstance(said[question["variable"]], str):
                said[question["variable"]] = str(said[question["variable"]]).split("\n")
        private = self.folder / "job"
        self._prepare(private, said, self.clusters if clusters is None else clusters)
        ran = subprocess.run(
            [
                str(Path(sys.executable).with_name("ansible-runner")),
                *("run", str(private), "-p", template["playbook"], "--ident", "1"),
            ],
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        events = [json.loads(path.read_bytes()) for path in (private / "artifacts" / "1" / "job_events").glob("*.json")]
        events.sort(key=lambda event: event["counter"])
        shutil.rmtree(private)
        heard = ran.stdout + ran.stderr + json.dumps(events)
        assert not [secret for secret in self.secrets if secret in heard], "what a job says holds a credential"
        told = [event.get("event_data", {}) for event in events]
        made = [data["artifact_data"] for data in told if data.get("artifact_data")]
        stats = next((data for data in reversed(told) if "processed" in data), {})
        recap = {
            host: {what: counts.get(host, 0) for what, counts in stats.items() if isinstance(counts, dict)}
            for host in stats.get("processed", ())
        }
        return Job(ran.returncode, ran.stdout + ran.stderr, made[-1] if made else {}, recap)

    def _prepare(self, private: Path, said: Mapping[str, object], clusters: Mapping[str, Mapping[str, object]]) -> None:
        for folder in ("env", "inventory"):
            (private / folder).mkdir(parents=True)
        shutil.copytree(AWX / "project", private / "project")
        hosts = {"all": {"hosts": [*clusters]}, "_meta": {"hostvars": clusters}}
        script = private / "inventory" / "hosts"
        script.write_text(f"#!{sys.executable}\nprint({json.dumps(hosts)!r})\n", encoding="utf-8")
        script.chmod(0o700)
        given = {**said, "aicr_artifacts_dir": str(self.kept)}
        (private / "env" / "extravars").write_text(
            yaml.safe_dump({"awx_job_id": 1}) + yaml.dump(given, Dumper=_Unsafe), encoding="utf-8"
        )
        credential = private / "env" / "tmp8f3q"
        credential.write_text(self.credential, encoding="utf-8")
        credential.chmod(0o600)
        environment = {
            "K8S_AUTH_KUBECONFIG": str(credential),
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".venv" / "collections"),
            "JOB_ID": "1",
        }
        (private / "env" / "envvars").write_text(yaml.safe_dump(environment), encoding="utf-8")


def _defaults(template: Template) -> dict[str, object]:
    """The answers that a survey has from the start."""
    return {question["variable"]: question["default"] for question in questions(template)}
