# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documentation says about options is what the plugins take: names, types, defaults, choices, required."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.modules import host_snapshot
from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import (
    accounting_check,
    database_probe,
    deployment_plan,
    lease,
    manifests,
    options,
    preflight,
    readiness,
    release,
    uninstall_plan,
    verify,
)

CHECKOUT = Path(__file__).resolve().parents[2]
NAMES = {
    kind: sorted(path.stem for path in (CHECKOUT / "plugins" / folder).glob("[!_]*.py"))
    for kind, folder in (("module", "modules"), ("lookup", "lookup"))
}
SPECS: Mapping[tuple[str, str], options.Spec] = {
    ("module", "accounting_check"): accounting_check.SPEC,
    ("module", "bundle"): options.BUNDLE,
    ("module", "bundle_verify"): options.BUNDLE_VERIFY,
    ("module", "check_variables"): options.CHECK_VARIABLES,
    ("module", "convert"): options.CONVERT,
    ("module", "database_probe"): database_probe.SPEC,
    ("module", "deployment_plan"): deployment_plan.SPEC,
    ("module", "host_snapshot"): host_snapshot.ARGUMENT_SPEC,
    ("module", "lease"): lease.SPEC,
    ("module", "manifests"): manifests.SPEC,
    ("module", "preflight"): preflight.SPEC,
    ("module", "readiness"): readiness.SPEC,
    ("module", "recipe"): options.RECIPE,
    ("module", "recipe_list"): options.RECIPE_LIST,
    ("module", "release"): release.SPEC,
    ("module", "snapshot"): options.SNAPSHOT,
    ("module", "snapshot_agent"): options.SNAPSHOT_AGENT,
    ("module", "snapshot_diff"): options.SNAPSHOT_DIFF,
    ("module", "uninstall_plan"): uninstall_plan.SPEC,
    ("module", "validate"): options.VALIDATE,
    ("module", "verify"): verify.SPEC,
    ("lookup", "query"): options.QUERY,
    ("lookup", "recipe"): options.RECIPE_LOOKUP,
    ("lookup", "recipe_list"): options.RECIPE_LIST,
    ("lookup", "snapshot"): options.SNAPSHOT_LOOKUP,
}
NO_ARTIFACT = {
    "accounting_check",
    "database_probe",
    "deployment_plan",
    "lease",
    "manifests",
    "preflight",
    "readiness",
    "recipe_list",
    "release",
    "uninstall_plan",
}
"""What makes no document, but works on a cluster or tells of the catalog."""
ATTRIBUTES = {"action_group", "async", "check_mode", "diff_mode", "idempotent", "platform"}


@functools.cache
def documentation(kind: str) -> dict[str, Any]:
    """``ansible-doc --json`` of all plugins of a kind."""
    names = [f"aicr.runtime.{name}" for name in NAMES[kind]]
    program = str(Path(sys.executable).with_name("ansible-doc"))
    ran = subprocess.run(
        [program, "--json", "-t", kind, *names], capture_output=True, text=True, check=True, cwd=CHECKOUT
    )
    assert "[WARNING]" not in ran.stderr, ran.stderr
    loaded: dict[str, Any] = json.loads(ran.stdout)
    return loaded


def plugins() -> list[tuple[str, str]]:
    return [(kind, name) for kind, names in NAMES.items() for name in names]


def documented(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Documented options in the form of an argument specification."""
    return {name: form(entry, "suboptions") for name, entry in entries.items() if name != "_terms"}


def form(entry: Mapping[str, Any], nested: str) -> dict[str, Any]:
    shape = {
        "type": entry.get("type", "str"),
        "elements": entry.get("elements"),
        "default": entry.get("default"),
        "choices": entry.get("choices"),
        "required": bool(entry.get("required")),
    }
    inner = entry.get(nested)
    if inner is not None:
        shape["options"] = {name: form(one, nested) for name, one in inner.items()}
    return shape


def specified(spec: options.Spec) -> dict[str, Any]:
    return {name: form(option, "options") for name, option in spec.items()}


def test_every_plugin_is_held_against_its_documentation() -> None:
    assert sorted(SPECS) == sorted(plugins())


@pytest.mark.parametrize(("kind", "name"), plugins())
def test_the_documentation_says_what_the_plugin_takes(kind: str, name: str) -> None:
    entry = documentation(kind)[f"aicr.runtime.{name}"]
    assert documented(entry["doc"]["options"]) == specified(SPECS[kind, name])


@pytest.mark.parametrize(("kind", "name"), plugins())
def test_everything_that_is_documented_is_explained_and_shown(kind: str, name: str) -> None:
    entry = documentation(kind)[f"aicr.runtime.{name}"]
    assert entry["doc"]["version_added"]
    assert f"aicr.runtime.{name}" in entry["examples"]
    options_of = walk(entry["doc"]["options"], "suboptions")
    unexplained = [path for path, option in options_of if not option.get("description")]
    assert not unexplained
    without_sample = [
        path for path, value in walk(entry["return"], "contains") if "sample" not in value and "contains" not in value
    ]
    assert not without_sample


@pytest.mark.parametrize("name", NAMES["module"])
def test_a_module_says_how_it_behaves(name: str) -> None:
    doc = documentation("module")[f"aicr.runtime.{name}"]["doc"]
    assert doc["attributes"].keys() >= ATTRIBUTES
    returned = {"error"}
    if name not in NO_ARTIFACT:
        returned |= {"path"}
    if name not in (*NO_ARTIFACT, "check_variables"):
        returned |= {"digest", "summary", "warnings", "incomplete", "document"}
    assert returned <= documentation("module")[f"aicr.runtime.{name}"]["return"].keys()


def walk(entries: Mapping[str, Any] | None, nested: str, parent: str = "") -> list[tuple[str, Mapping[str, Any]]]:
    found = []
    for name, entry in (entries or {}).items():
        found += [(parent + name, entry), *walk(entry.get(nested), nested, f"{parent}{name}.")]
    return found


def test_a_role_takes_the_options_of_its_action() -> None:
    """``format`` and ``return_document`` are the role's own business, and a destination is due."""
    role = yamlio.load_file(CHECKOUT / "roles" / "snapshot_agent" / "meta" / "argument_specs.yml")
    expected = {
        f"aicr_{name}" if name in options.CLUSTER else f"aicr_agent_{name}": option
        for name, option in specified(options.SNAPSHOT_AGENT).items()
        if name not in ("format", "return_document")
    }
    expected["aicr_agent_dest"]["required"] = True
    assert specified(role["argument_specs"]["main"]["options"]) == expected


def test_the_action_groups_hold_the_modules_that_they_are_for() -> None:
    """A default of ``group/aicr.runtime.cluster`` is an option of each of its members, and of no other module."""
    groups = yamlio.load_file(CHECKOUT / "meta" / "runtime.yml")["action_groups"]
    assert groups["all"] == NAMES["module"]
    of_a_cluster = [name for name in NAMES["module"] if options.CLUSTER.keys() <= SPECS["module", name].keys()]
    assert groups["cluster"] == of_a_cluster
    others = [SPECS["module", name] for name in NAMES["module"] if name not in of_a_cluster]
    assert not [spec for spec in others if {"kubeconfig", "context"} & spec.keys()]


@pytest.mark.parametrize("name", NAMES["module"])
def test_a_module_names_the_action_groups_that_it_is_in(name: str) -> None:
    groups = yamlio.load_file(CHECKOUT / "meta" / "runtime.yml")["action_groups"]
    stated = documentation("module")[f"aicr.runtime.{name}"]["doc"]["attributes"]["action_group"]
    assert stated["membership"] == [f"aicr.runtime.{group}" for group in groups if name in groups[group]]
    assert not [group for group in stated["membership"] if f"group/{group}" not in str(stated["description"])]


def test_what_counts_beside_a_configuration_file_is_told_alike() -> None:
    described = {
        tuple(entry["doc"]["options"]["config"]["description"])[-1].partition("Required")[0]
        for kind, name in plugins()
        if "config" in (entry := documentation(kind)[f"aicr.runtime.{name}"])["doc"]["options"]
    }
    assert described == {
        "Where an option and a field of the file say different things, the option counts, and a warning tells so."
    }
