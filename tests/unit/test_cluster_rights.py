# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of rights in the documentation is what the collectors need."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import rights

MANIFEST = Path(__file__).resolve().parents[2] / "docs" / "snapshot-rbac.yaml"


def test_the_documented_manifest_is_the_one_of_the_collectors() -> None:
    assert list(yamlio.load_all(MANIFEST.read_text(), "x")) == rights.manifests()


def test_it_holds_no_right_but_to_list() -> None:
    verbs = {verb for rule in rights.rules(rights.RULES) for verb in rule["verbs"]}
    resources = {resource for rule in rights.rules(rights.RULES) for resource in rule["resources"]}
    assert verbs == {"list"}
    assert not resources & {"secrets", "configmaps", "*"}
