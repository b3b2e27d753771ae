# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action bundle_verify: the closed world of a bundle, as a user asks for it (case N28)."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import Ansible, Run

CRITERIA = {"service": "kind", "accelerator": "h100", "intent": "training", "platform": "slurm"}
SELECTORS = {"system_node_selector": {"nodeGroup": "system"}, "accelerated_node_selector": {"nodeGroup": "gpu"}}


@pytest.fixture(scope="module")
def made(shared_ansible: Ansible) -> dict[str, Any]:
    """What the action bundle returned for the bundle at ``bundle``."""
    ran = shared_ansible.tasks(
        [
            {"name": "recipe", "aicr.runtime.recipe": {"criteria": CRITERIA, "dest": "recipe.yaml"}},
            {
                "name": "bundle",
                "aicr.runtime.bundle": {"recipe": "recipe.yaml", "dest": "bundle", "scheduling": SELECTORS},
            },
        ]
    )
    return ran.result("bundle")


@pytest.fixture
def bundle(shared_ansible: Ansible, made: dict[str, Any], tmp_path: Path) -> Path:
    """A copy of the bundle that a test may spoil."""
    assert made["changed"]
    return Path(shutil.copytree(shared_ansible.folder / "bundle", tmp_path / "copy"))


def verified(ansible: Ansible, path: Path, expect: int, **options: object) -> dict[str, Any]:
    task = {"name": "verify", "aicr.runtime.bundle_verify": {"path": str(path), **options}}
    ran: Run = ansible.tasks([task], expect=expect)
    return ran.result("verify")


def test_a_bundle_as_it_was_made_is_right_and_has_its_digest(
    shared_ansible: Ansible, made: dict[str, Any], bundle: Path
) -> None:
    result = verified(shared_ansible, bundle, 0, digest=made["digest"], return_document=True)
    assert not result["changed"]
    assert result["digest"] == made["digest"]
    assert result["summary"] == {"files": len(made["files"]) - 1, "problems": 0}  # the list does not list itself
    assert result["problems"] == []
    assert result["document"]["kind"] == "BundleInfo"


def change(bundle: Path) -> None:
    (bundle / "recipe.yaml").write_text("kind: RecipeResult\n")


def add(bundle: Path) -> None:
    (bundle / "notes.txt").write_text("")


def remove(bundle: Path) -> None:
    (bundle / "README.md").unlink()


def link(bundle: Path) -> None:
    shutil.move(bundle / "deploy.sh", bundle.parent / "deploy.sh")
    (bundle / "deploy.sh").symlink_to(bundle.parent / "deploy.sh")


CHANGES: dict[str, Callable[[Path], None]] = {
    "recipe.yaml": change,
    "notes.txt": add,
    "README.md": remove,
    "deploy.sh": link,
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_deviation_fails_the_task_by_name(shared_ansible: Ansible, bundle: Path, name: str) -> None:
    CHANGES[name](bundle)
    result = verified(shared_ansible, bundle, 2)
    assert result["error"]["code"] == "INVALID_REQUEST"
    assert [name in problem for problem in result["problems"]] == [True]
    assert name in result["msg"]


def test_all_deviations_are_told_at_once(shared_ansible: Ansible, bundle: Path) -> None:
    for spoil in CHANGES.values():
        spoil(bundle)
    result = verified(shared_ansible, bundle, 2)
    assert result["summary"]["problems"] == len(CHANGES)
    assert all(name in result["msg"] for name in CHANGES)


def test_a_list_that_was_written_anew_is_told_by_the_digest_alone(
    shared_ansible: Ansible, made: dict[str, Any], bundle: Path
) -> None:
    change(bundle)
    listed = (bundle / "checksums.txt").read_text().splitlines()
    anew = hashlib.sha256((bundle / "recipe.yaml").read_bytes()).hexdigest()
    lines = [f"{anew}  recipe.yaml" if line.endswith("  recipe.yaml") else line for line in listed]
    (bundle / "checksums.txt").write_text("".join(f"{line}\n" for line in lines))
    assert verified(shared_ansible, bundle, 0)["problems"] == []
    result = verified(shared_ansible, bundle, 2, digest=made["digest"])
    assert made["digest"] in result["msg"]


def test_what_is_no_bundle_is_refused(shared_ansible: Ansible, tmp_path: Path) -> None:
    assert verified(shared_ansible, tmp_path / "nowhere", 2)["error"]["code"] == "NOT_FOUND"
    assert verified(shared_ansible, tmp_path, 2)["error"]["code"] == "INVALID_REQUEST"


def test_argocd_and_serial_are_said_by_variables_of_the_playbook(shared_ansible: Ansible, made: dict[str, Any]) -> None:
    assert made["changed"]
    variables = {
        "aicr_recipe": str(shared_ansible.folder / "recipe.yaml"),
        "aicr_deployer": "argocd",
        "aicr_repo": "https://git.example.com/clusters.git",
        "aicr_target_revision": "v1",
        "aicr_bundle_serial": True,
        "aicr_argocd": {"app_name": "gpu", "name_prefix": "c1-", "project": "infra", "cascade_delete": True},
        "aicr_scheduling": SELECTORS,
    }
    ran = shared_ansible.playbook("aicr.runtime.bundle", "-e", json.dumps(variables))
    order = ran.result("Make the bundle")["order"]
    root = shared_ansible.folder / "artifacts" / "cluster" / "bundle"
    assert "name: gpu\n" in (root / "app-of-apps.yaml").read_text()
    for wave, folder in enumerate(order):
        application = (root / folder / "application.yaml").read_text()
        assert f"sync-wave: '{wave}'" in application
        assert f"name: c1-{folder[4:]}\n" in application
        assert "project: infra\n" in application
        assert "resources-finalizer.argocd.argoproj.io" in application
