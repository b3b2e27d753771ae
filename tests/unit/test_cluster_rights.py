# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of rights in the documentation is what the collectors need."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import rights

DOCS = Path(__file__).resolve().parents[2] / "docs"
MANIFEST = DOCS / "snapshot-rbac.yaml"


def test_the_documented_manifest_is_the_one_of_the_collectors() -> None:
    assert yamlio.load_file(MANIFEST)["items"] == rights.manifests()


def test_it_holds_no_right_but_to_list() -> None:
    verbs = {verb for rule in rights.rules(rights.RULES) for verb in rule["verbs"]}
    resources = {resource for rule in rights.rules(rights.RULES) for resource in rule["resources"]}
    assert verbs == {"list"}
    assert not resources & {"secrets", "configmaps", "*"}


def test_the_documented_manifest_of_the_agent_is_what_it_takes() -> None:
    assert yamlio.load_file(DOCS / "snapshot-agent-rbac.yaml")["items"] == rights.agent_manifests()


def test_the_agent_reads_no_secret_and_changes_nothing_but_its_own_kinds() -> None:
    written = {
        resource
        for manifest in rights.agent_manifests()
        for rule in manifest.get("rules", ())
        for resource in rule["resources"]
        if set(rule["verbs"]) - {"get", "list"}
    }
    assert written == {"configmaps", "jobs", "serviceaccounts"}
    everything = str(rights.agent_manifests())
    assert "secrets" not in everything and "*" not in everything
