# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole leaf of the catalog live: every component for training with Slurm on EKS, and what other leaves have besides.

The tests of this file are one story on one cluster, in the order in which they stand.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import BUNDLE, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.deployments import Deployments
from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT

SITE = {
    "aicr_agent": True,
    "aicr_agent_select": "all",
    "aicr_criteria": {"intent": "training", "platform": "slurm"},
    "aicr_slurm_accounting_mode": "aicr-provided",
    "aicr_scheduling": {
        "system_node_selector": {"eks.amazonaws.com/nodegroup": "system"},
        "accelerated_node_selector": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
        "accelerated_node_tolerations": ["nvidia.com/gpu=present:NoSchedule"],
        "workload_selector": {"workload": "training"},
        "storage_class": "gp3",
    },
    "aicr_deploy": True,
}
PLAN, READY = "Lay out the deployment", "aicr.runtime.component : Wait until they are ready"
DELAY = 12.0

INFERENCE = {"intent": "inference", "os": "ubuntu"}
OTHERS: Mapping[str, Mapping[str, str]] = {
    "dynamo": {**INFERENCE, "service": "eks", "accelerator": "h100", "platform": "dynamo"},
    "nim": {**INFERENCE, "service": "eks", "accelerator": "h100", "platform": "nim"},
    "kubeflow": {"intent": "training", "service": "kind", "accelerator": "h100", "platform": "kubeflow"},
}
"""A leaf for each component that a chart of ours stands for and that the one for EKS does not have."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster in which nothing is deployed at first."""
    bed = Bed.start(tmp_path_factory.mktemp("eks") / "eks-h100", "eks-h100")
    yield bed
    bed.stop()


@dataclass(frozen=True)
class Story:
    """What a run of the playbook has recorded, in its order."""

    entries: list[dict[str, Any]]

    def of(self, *tasks: str) -> list[dict[str, Any]]:
        return [one for one in self.entries if one["task"] in tasks and one["status"] == "ok"]

    @property
    def ready(self) -> dict[str, dict[str, Any]]:
        """What readiness found of each component."""
        return {name: found for one in self.of(READY) for name, found in one["result"]["components"].items()}

    @property
    def plan(self) -> dict[str, Any]:
        (one,) = self.of(PLAN)
        plan: dict[str, Any] = one["result"]["plan"]
        return plan


@pytest.fixture(scope="module")
def first(own: Bed, deployments: Deployments) -> Story:
    """The first run through all stages; two operators of one level come late."""
    late = own.images.changed
    with late("*mariadb-operator[:@]*", BED_DELAY_WEBHOOK=str(DELAY)), late("*slurm-operator[:@]*", DELAY):
        deployments.run("aicr.runtime.site", SITE)
    return recorded(deployments)


@pytest.fixture(scope="module")
def second(deployments: Deployments, first: Story) -> Story:
    """All stages once more."""
    deployments.run("aicr.runtime.site", SITE)
    return recorded(deployments)


def recorded(deployments: Deployments) -> Story:
    lines = (deployments.ansible.folder / "record.jsonl").read_text(encoding="utf-8").splitlines()
    return Story([json.loads(line) for line in lines])


def spans(bed: Bed) -> dict[str, tuple[datetime, datetime]]:
    """When Helm began and ended the first revision of the releases, the end to the second, by name."""
    found = {}
    for one in bed.api.items("/api/v1/secrets", labelSelector="owner=helm,version=1"):
        release = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(one["data"]["release"]))))
        end = max(entry["time"] for entry in one["metadata"]["managedFields"])
        began = datetime.fromisoformat(release["info"]["first_deployed"])
        found[release["name"]] = (began, datetime.fromisoformat(end))
    return found


def recipe(deployments: Deployments) -> dict[str, Any]:
    document: dict[str, Any] = yamlio.load_file(deployments.ansible.folder / "artifacts/cluster/recipe.yaml")
    return document


def checks(component: str) -> list[str]:
    """The objects that the health check of a component speaks of: kind and name."""
    document = yamlio.load_file(CHECKOUT / "recipes" / "checks" / component / "health-check.yaml")
    operations = [operation for step in document["spec"]["steps"] for operation in step["try"]]
    resources = [next(iter(one.values()))["resource"] for one in operations]
    return [f"{one['kind']} {one['metadata'].get('name', '')}" for one in resources]


# ---- the leaf


def test_every_component_of_the_leaf_is_deployed_and_its_check_holds(deployments: Deployments, first: Story) -> None:
    made = recipe(deployments)
    assert "h100-eks-ubuntu-training-slurm" in made["metadata"]["appliedOverlays"]
    names = {one["name"] for one in made["componentRefs"]}
    assert len(names) >= 20
    assert not first.plan["skipped"]
    assert set(first.plan["components"]) == set(first.ready) == names
    for name in names:
        found = first.ready[name]
        assert found["ready"] and all(one["holds"] for one in found["assertions"]), name
        told = [one["object"] for one in found["assertions"]]
        assert len(told) >= len(checks(name)) > 0, name
        for kind, _space, wanted in (one.partition(" ") for one in checks(name)):
            assert any(one.startswith(kind) and one.endswith(wanted) for one in told), (name, kind, wanted)
    record = deployments.record()
    assert (record["state"], record["mode"]) == ("deployed", "aicr-provided")
    assert {one["component"] for one in json.loads(record["releases"])} == names


def test_nothing_is_begun_before_what_it_depends_on_is_there_and_the_rest_goes_side_by_side(
    own: Bed, deployments: Deployments, first: Story
) -> None:
    when = spans(own)
    of = {name: [one["name"] for one in plan["releases"]] for name, plan in first.plan["components"].items()}
    for one in recipe(deployments)["componentRefs"]:
        for needed in one.get("dependencyRefs", ()):
            ended = max(when[release][1] for release in of[needed])
            assert min(when[release][0] for release in of[one["name"]]) >= ended, (one["name"], needed)
    level = [when[release] for name in first.plan["levels"][0] for release in of[name]]
    began = sorted(begin for begin, _end in level)
    assert began[1] < min(end for _begin, end in level) + timedelta(seconds=1)


def test_all_stages_again_change_nothing_in_the_cluster_and_then_nothing_at_all(
    own: Bed, deployments: Deployments, first: Story, second: Story
) -> None:
    """The second time there is more in the cluster to take a snapshot of; our own database is in nobody's way."""
    changed = {one["task"] for one in second.entries if one["result"].get("changed")}
    assert changed <= {"Take a snapshot of the cluster", "Hold the recipe against the snapshot"}
    assert second.of(PLAN)[0]["result"]["plan"]["recipe_digest"] == first.plan["recipe_digest"]
    record = deployments.record()
    assert deployments.run("aicr.runtime.site", SITE).recap("cluster")["changed"] == 0
    assert deployments.record() == record
    assert not list(own.api.items("/api/v1/secrets", labelSelector="owner=helm,version=2"))


def test_what_is_late_in_one_level_is_waited_for_once(first: Story) -> None:
    """Two operators are late at once; what they take together is less than what each takes, one after the other."""
    waits = [first.ready[name]["seconds"] for name in ("mariadb-operator", "slinky-slurm-operator")]
    assert min(waits) > DELAY / 2  # else nothing was late
    (level,) = (one for one in first.of(READY) if "mariadb-operator" in one["result"]["components"])
    before = first.entries[first.entries.index(level) - 1]
    assert level["at"] - before["at"] < sum(waits)


# ---- other leaves


def test_the_components_of_other_leaves_are_installed_and_their_checks_hold(
    deployments: Deployments, first: Story, tmp_path: Path
) -> None:
    """Each once, on top of what is there; what is made for nodes of GKE, GB300 or OpenShift has no place here."""
    there = set(first.ready)
    levels = []
    for leaf, criteria in OTHERS.items():
        document: Any = make_recipe(parse(RECIPE, {"criteria": dict(criteria)})).document
        new = [one["name"] for one in document["componentRefs"] if one["name"] not in there]
        there |= set(new)
        place = tmp_path / leaf
        place.mkdir()
        (place / "recipe.yaml").write_text(yamlio.dump(document), encoding="utf-8")
        options = {"recipe": document, "dest": str(place / "bundle")}
        make_bundle(parse(BUNDLE, options)).deliver(check_mode=False, diff=False, return_document=False)
        levels += [{"leaf": leaf, "names": names} for names in levels_of(document, new)]
    role = {
        "name": "Install {{ item.names | join(', ') }}",
        "ansible.builtin.include_role": {"name": "aicr.runtime.component"},
        "vars": {
            "aicr_bundle": f"{tmp_path}/{{{{ item.leaf }}}}/bundle",
            "aicr_recipe": f"{tmp_path}/{{{{ item.leaf }}}}/recipe.yaml",
            "aicr_component_names": "{{ item.names }}",
        },
        "loop": levels,
    }
    playbook = tmp_path / "play.json"
    playbook.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [role]}]), encoding="utf-8")
    deployments.run(str(playbook), {})
    found = recorded(deployments).ready
    assert set(found) == {name for one in levels for name in one["names"]}
    gateway = {"agentgateway-crds", "agentgateway"}
    assert set(found) >= gateway | {
        "dynamo-platform",
        "grove",
        "k8s-nim-operator",
        "kubeflow-trainer",
        "network-operator",
    }
    for name, one in found.items():
        assert one["ready"] and len(one["assertions"]) >= len(checks(name)), name


def levels_of(document: Mapping[str, Any], names: list[str]) -> list[list[str]]:
    """Components of a recipe, each after those that it needs."""
    needs = {one["name"]: set(one.get("dependencyRefs", ())) & set(names) for one in document["componentRefs"]}
    levels: list[list[str]] = []
    left = list(names)
    while left:
        level = [name for name in left if not needs[name] & set(left)]
        levels.append(level)
        left = [name for name in left if name not in level]
    return levels
