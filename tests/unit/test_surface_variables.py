# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the playbooks: each is an option of a stage, anything else is refused, and a host has one folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import options, variables
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.variables import check_variables

CHECKOUT = Path(__file__).resolve().parents[2]
TASKS = [*(CHECKOUT / "playbooks").rglob("*.yml"), *(CHECKOUT / "roles").rglob("tasks/*.yml")]
STAGES = list(variables.STAGES)


def folder(host: str = "berlin", **values: Any) -> str:
    return check_variables(host, list(values), {k: v for k, v in values.items() if k in variables.SPEC}, STAGES).folder


def refusal(host: str = "berlin", **values: Any) -> str:
    with pytest.raises(AicrError) as caught:
        folder(host, **values)
    assert caught.value.code.value == "INVALID_REQUEST"
    return str(caught.value)


def test_the_stages_that_the_action_knows_are_those_that_have_variables() -> None:
    assert options.CHECK_VARIABLES["stages"]["choices"] == STAGES


def test_each_variable_that_a_playbook_uses_is_one_that_is_checked() -> None:
    """And each that is checked is used: otherwise it would be accepted and have no effect."""
    used = {
        name
        for path in TASKS
        for name in re.findall(r"\baicr_[a-z_]+", re.sub("#.*", "", path.read_text(encoding="utf-8")))
    }
    used -= {"aicr_nodes_"}  # groups of the inventory
    used -= {"aicr_agent_dest", "aicr_component_names", "aicr_kept"}  # what the playbooks tell the roles
    assert used | {"aicr_artifacts_dir"} == set(variables.SPEC)


@pytest.mark.parametrize("host", ["berlin", "eu-1.example.com", "-rf", "a b", "ü", "..x"[2:], "n" * 200])
def test_a_host_has_a_folder_of_its_name(host: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder(host) == str(tmp_path / "artifacts" / host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc",
        ".git",
        "a\nb",
        "a\n",
        "a\0",
        "a\x1b[2J",
        "a\x85",
        "a\u2028",
        "n" * 201,
        "ü" * 101,
    ],
)
def test_a_host_whose_name_is_not_that_of_one_folder_is_refused(host: str) -> None:
    said = refusal(host)
    assert "the host name" in said
    assert len(said) < 300


def test_the_folder_of_artifacts_is_found_as_a_shell_would(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder(aicr_artifacts_dir="~/out") == str(tmp_path / "out" / "berlin")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert folder(aicr_artifacts_dir=str(tmp_path / "link")) == str(tmp_path / "real" / "berlin")
    assert folder(aicr_artifacts_dir=None) == folder()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("aicr_slurm_accounting_mod", "aicr_slurm_accounting_mode"),
        ("aicr_sheduling", "aicr_scheduling"),
        ("aicr_snapshots", "aicr_snapshot"),
        ("aicr_artifact_dir", "aicr_artifacts_dir"),
    ],
)
def test_a_misspelt_variable_is_refused_with_what_was_meant(name: str, meant: str) -> None:
    said = refusal(**{name: "x"})
    assert f'unknown variable "{name}"' in said
    assert f'did you mean "{meant}"?' in said


def test_everything_is_said_at_once() -> None:
    said = refusal("../x", aicr_foo=1, aicr_artifacts_dir="", aicr_criteria={"gpu": "h100"}, aicr_phases=["x"])
    for part in ('"../x"', '"aicr_foo"', "aicr_artifacts_dir: must not be empty", '"aicr_criteria.gpu"'):
        assert part in said


@pytest.mark.parametrize(
    "wrong",
    [
        {"aicr_target_revision": 1.30},
        {"aicr_fail_on_error": "perhaps"},
        {"aicr_on_partial": "maybe"},
        {"aicr_host_snapshot": "perhaps"},
        {"aicr_scheduling": {"selector": {}}},
        {"aicr_snapshot": ""},
    ],
)
def test_a_value_that_an_option_would_refuse_is_refused(wrong: dict[str, Any]) -> None:
    assert next(iter(wrong)) in refusal(**wrong)


def test_the_variables_of_other_stages_are_only_known_by_name() -> None:
    values = {"aicr_deployer": "bogus"}
    assert check_variables("berlin", list(values), values, ["recipe"]).folder == folder()
    with pytest.raises(AicrError):
        check_variables("berlin", list(values), values, ["bundle"])


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ({}, False),
        ({"aicr_context": "prod"}, True),
        ({"aicr_in_cluster": "false"}, False),
        ({"aicr_in_cluster": "true"}, True),
        ({"aicr_kubeconfig": "/kube"}, True),
        ({"aicr_kubeconfig": "/kube", "aicr_host_snapshot": True}, True),
    ],
)
def test_a_variable_says_that_there_is_a_cluster(values: dict[str, Any], meant: bool) -> None:
    assert check_variables("berlin", list(values), values, STAGES).cluster is meant


@pytest.mark.parametrize(("values", "meant"), [({}, True), ({"aicr_host_snapshot": True}, False)])
def test_the_environment_does_so_too_but_not_of_a_machine(values: dict[str, Any], meant: bool) -> None:
    environ = {"K8S_AUTH_KUBECONFIG": "/kube"}
    assert check_variables("berlin", list(values), values, STAGES, environ=environ).cluster is meant


@pytest.mark.parametrize("name", [name for name in variables.SPEC if name.endswith("_timeout")])
@pytest.mark.parametrize("seconds", [0, -1, "inf", "nan"])
def test_no_time_to_wait_is_refused_before_a_deployment_begins(name: str, seconds: object) -> None:
    assert name in refusal(**{name: seconds})


def test_credentials_of_registries_that_are_not_there_are_noticed_before_a_deployment_begins(tmp_path: Path) -> None:
    missing = tmp_path / "config.json"
    assert f"aicr_registry_config: {missing} is no file" in refusal(aicr_registry_config=str(missing))
    missing.write_text("{}", encoding="utf-8")
    assert folder(aicr_registry_config=str(missing))


@pytest.mark.parametrize("given", ["given.yaml", "cm://ops/given", {"kind": "Snapshot"}])
def test_drift_compares_with_one_snapshot(given: Any) -> None:
    said = refusal(aicr_snapshot=given, aicr_host_snapshot=True)
    assert "aicr_snapshot and aicr_host_snapshot are both set" in said
    assert folder(aicr_snapshot=given, aicr_host_snapshot=False) and folder(aicr_snapshot=None, aicr_host_snapshot=True)
    values = {"aicr_snapshot": given, "aicr_host_snapshot": True}
    assert check_variables("berlin", list(values), values, [stage for stage in STAGES if stage != "drift"])


@pytest.mark.parametrize("given", [{}, {"aicr_snapshot": "given.yaml"}])
@pytest.mark.parametrize("name", [variables.DRIFT_SNAPSHOT, variables.DRIFT_NODES, "drift-nodes/gpu-1.yaml"])
def test_a_baseline_that_a_new_snapshot_would_replace_is_refused(
    tmp_path: Path, monkeypatch: Any, name: str, given: dict[str, Any]
) -> None:
    """Else a cluster would be compared with itself, and nothing ever have changed; also with what another one takes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.yaml").symlink_to(tmp_path / "artifacts" / "berlin" / name)
    for host in ("berlin", "cadiz"):
        for spelling in (f"artifacts/berlin/{name}", str(tmp_path / "link.yaml")):
            said = refusal(host=host, aicr_baseline=spelling, **given)
            assert f"aicr_baseline: {spelling} is where aicr.runtime.drift keeps" in said
    for other in ("artifacts/berlin/snapshot.yaml", "cm://ops/drift-snapshot.yaml", {"kind": "Snapshot"}):
        assert folder(aicr_baseline=other, **given)
    playbook = (CHECKOUT / "playbooks" / "tasks" / "drift.yml").read_text(encoding="utf-8")
    assert f"_aicr_taken_for: {variables.DRIFT_SNAPSHOT.removesuffix('snapshot.yaml')}\n" in playbook
    assert f"_aicr_checked.path ~ '/{variables.BASELINE}'" in playbook


@pytest.mark.parametrize("name", [variables.DRIFT_SNAPSHOT, variables.DRIFT_NODES])
@pytest.mark.parametrize("baseline", [None, "{{ path }}/snapshot.yaml", "other.yaml", {"kind": "Snapshot"}])
@pytest.mark.parametrize("layout", ["taken leads to kept", "kept leads to taken", "both lead elsewhere", "to another"])
def test_what_is_kept_is_written_by_no_way(
    tmp_path: Path, monkeypatch: Any, name: str, baseline: Any, layout: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "artifacts" / "berlin"
    path.mkdir(parents=True)
    kept, taken = path / variables.BASELINE, path / name
    if layout == "taken leads to kept":
        taken.symlink_to(kept.name)
    elif layout == "kept leads to taken":
        kept.symlink_to(taken.name)
    elif layout == "both lead elsewhere":
        kept.symlink_to(tmp_path / "elsewhere")
        taken.symlink_to(tmp_path / "elsewhere")
    else:
        taken.symlink_to(tmp_path / "artifacts" / "cadiz" / variables.BASELINE)
    named = baseline.replace("{{ path }}", str(path)) if isinstance(baseline, str) else baseline
    said = refusal(aicr_baseline=named)
    assert str(taken) in said or name in said
    assert layout == "to another" or str(kept) in said
    if layout != "kept leads to taken":
        assert folder(aicr_baseline=named, aicr_snapshot="given.yaml"), "then nothing is taken"
    taken.unlink(missing_ok=True)
    kept.unlink(missing_ok=True)
    taken.symlink_to(tmp_path / "large" / "taken.yaml")
    assert folder(aicr_baseline=named), "which replaces nothing"
