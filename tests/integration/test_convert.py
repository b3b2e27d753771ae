# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action convert as a user writes it: to a file and back, with check mode, and read by the next stage."""

from __future__ import annotations

from .conftest import Ansible

CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}


def test_there_and_back(ansible: Ansible) -> None:
    there = {"source": "recipe.yaml", "track": "stable", "dest": "stable.json", "format": "json"}
    tasks = [
        {"name": "make", "aicr.runtime.recipe": {"criteria": CRITERIA, "dest": "recipe.yaml"}},
        {"name": "rehearse", "aicr.runtime.convert": there, "check_mode": True},
        {"name": "there", "aicr.runtime.convert": there},
        {"name": "again", "aicr.runtime.convert": there},
        {"name": "back", "aicr.runtime.convert": {"source": "stable.json", "track": "alpha", "dest": "back.yaml"}},
        {"name": "next", "aicr.runtime.bundle": {"recipe": "stable.json", "dest": "bundle"}},
        {
            "name": "other",
            "aicr.runtime.convert": {"source": "bundle/bundle-info.yaml", "track": "alpha"},
            "ignore_errors": True,
        },
    ]
    run = ansible.tasks(tasks)
    assert [run.result(name)["changed"] for name in ("rehearse", "there", "again", "back")] == [True, True, False, True]
    assert len({run.result(name)["digest"] for name in ("make", "rehearse", "there", "again", "back")}) == 1
    assert run.result("there")["summary"]["to"] == "aicr.run/v1beta2"
    assert (ansible.folder / "back.yaml").read_bytes() == (ansible.folder / "recipe.yaml").read_bytes()
    assert run.result("other")["error"]["code"] == "INVALID_REQUEST"
    assert "BundleInfo" in run.result("other")["msg"]


def test_what_is_as_it_should_be_is_copied_byte_for_byte(ansible: Ansible) -> None:
    """Comments and order included; what the stages read without a version is copied without one."""
    text = b"# by hand\nkind: Snapshot\nmeasurements:\n- type: K8s\n  subtypes:\n  - {subtype: a, data: {b: c}}\n"
    (ansible.folder / "given.yaml").write_bytes(text)
    copied = {"source": "given.yaml", "dest": "copied.yaml"}
    run = ansible.tasks(
        [
            {"name": "rehearse", "aicr.runtime.convert": copied, "check_mode": True},
            {"name": "copy", "aicr.runtime.convert": copied},
            {"name": "again", "aicr.runtime.convert": copied},
            {"name": "other", "aicr.runtime.convert": {**copied, "dest": "copied.json", "format": "json"}},
            {"name": "none", "aicr.runtime.convert": {"source": "play.yml", "dest": "x.yaml"}, "ignore_errors": True},
        ]
    )
    assert [run.result(name)["changed"] for name in ("rehearse", "copy", "again", "other")] == [True, True, False, True]
    assert (ansible.folder / "copied.yaml").read_bytes() == text
    assert (ansible.folder / "copied.json").read_bytes().startswith(b"{")
    assert run.result("none")["error"]["code"] == "INVALID_REQUEST"
    assert not (ansible.folder / "x.yaml").exists()
