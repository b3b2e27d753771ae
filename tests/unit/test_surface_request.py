# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and a configuration file are one request; where they disagree the option counts, and both are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from layered import overlay, write_catalog

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import options as spec
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import read_request as bundle_request
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import Document, Outcome
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.request import read_config
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.selection import read_request
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.validate import make_report

SLURM = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
SNAPSHOT = {
    "kind": "Snapshot",
    "measurements": [
        {
            "type": "K8s",
            "subtypes": [
                {"subtype": "server", "data": {"version": "v1.34.1-eks-3025e55"}},
                {"subtype": "node", "data": {"provider": "aws"}},
            ],
        },
        {"type": "GPU", "subtypes": [{"subtype": "hardware", "data": {"model": "h100"}}]},
        {
            "type": "OS",
            "subtypes": [
                {"subtype": "release", "data": {"ID": "ubuntu", "VERSION_ID": "24.04"}},
                {"subtype": "sysctl", "data": {"/proc/sys/kernel/osrelease": "6.8.0"}},
            ],
        },
    ],
}


@pytest.fixture
def config(tmp_path: Path) -> Any:
    def write(**spec: Any) -> str:
        path = tmp_path / "aicr.yaml"
        path.write_text(yamlio.dump({"kind": "AICRConfig", "apiVersion": "aicr.run/v1alpha2", "spec": spec}))
        return str(path)

    return write


def recipe(**arguments: object) -> Outcome:
    return make_recipe(parse(spec.RECIPE, arguments))


def text(outcome: Outcome) -> str:
    assert isinstance(outcome.product, Document)
    return outcome.product.text


def refusal(make: Any, **arguments: object) -> AicrError:
    with pytest.raises(AicrError) as caught:
        make(**arguments)
    assert caught.value.code.value == "INVALID_REQUEST"
    return caught.value


def test_a_configuration_file_selects_what_options_select(config: Any) -> None:
    accounting = {"slurm": {"accounting": {"mode": "aicr-provided"}}}
    by_file = recipe(config=config(recipe={"criteria": SLURM, "configuration": accounting}))
    by_options = recipe(criteria=SLURM, slurm_accounting_mode="aicr-provided")
    assert text(by_file) == text(by_options)


def test_options_complete_a_configuration_file(config: Any) -> None:
    rest = {axis: SLURM[axis] for axis in ("service", "accelerator", "os")}
    both = recipe(config=config(recipe={"criteria": rest}), criteria={"intent": "training", "platform": "slurm"})
    assert text(both) == text(recipe(criteria=SLURM))


def test_two_spellings_of_one_value_agree(config: Any) -> None:
    path = config(
        recipe={
            "criteria": {**SLURM, "service": "EKS "},
            "configuration": {"slurm": {"accounting": {"mode": " Disabled"}}},
        }
    )
    agreed = recipe(config=path, criteria={"service": "eks"}, slurm_accounting_mode="disabled")
    assert text(agreed) == text(recipe(criteria=SLURM))


@pytest.mark.parametrize(
    ("section", "arguments", "option", "field"),
    [
        ({"criteria": {"os": "cos"}}, {"criteria": {"os": "ubuntu"}}, "criteria.os", "spec.recipe.criteria.os"),
        ({"criteria": {"os": "cos"}}, {"criteria": {"os": "any"}}, "criteria.os", "spec.recipe.criteria.os"),
        ({"criteria": {"nodes": 8}}, {"criteria": {"nodes": 9}}, "criteria.nodes", "spec.recipe.criteria.nodes"),
        (
            {"configuration": {"slurm": {"accounting": {"mode": "disabled"}}}},
            {"slurm_accounting_mode": "aicr-provided"},
            "slurm_accounting_mode",
            "spec.recipe.configuration.slurm.accounting.mode",
        ),
        ({"profile": "a=b"}, {"profile": "a=c"}, "profile", "spec.recipe.profile"),
        ({"input": {"snapshot": "a.yaml"}}, {"snapshot": "b.yaml"}, "snapshot", "spec.recipe.input.snapshot"),
        ({"output": {"path": "a.yaml"}}, {"dest": "b.yaml"}, "dest", "spec.recipe.output.path"),
        ({"output": {"format": "json"}}, {"format": "yaml"}, "format", "spec.recipe.output.format"),
        ({"data": "a"}, {"catalog": "b"}, "catalog", "spec.recipe.data"),
    ],
)
def test_an_option_counts_over_a_field_and_a_warning_names_both(
    config: Any, section: dict[str, Any], arguments: dict[str, Any], option: str, field: str
) -> None:
    made = read_request(parse(spec.RECIPE, {"config": config(recipe=section), **arguments}), spec.RECIPE)
    head, _unused, tail = option.partition(".")
    assert (made[head][tail] if tail else made[head]) == (arguments[head][tail] if tail else arguments[head])
    (warning,) = made.overruled
    assert f"the option {option} (" in warning
    assert f"not {field} (" in warning


def test_a_snapshot_yields_to_a_configuration_file_and_that_to_an_option(config: Any) -> None:
    path = config(recipe={"criteria": {"accelerator": "gb200", "intent": "training"}})
    by_file = recipe(config=path, snapshot=SNAPSHOT)
    assert by_file.summary["criteria"] == {
        "service": "eks", "accelerator": "gb200", "intent": "training", "os": "ubuntu",
    }  # fmt: skip
    by_option = recipe(config=path, snapshot=SNAPSHOT, criteria={"accelerator": "h100"})
    assert by_option.summary["criteria"] == {**by_file.summary["criteria"], "accelerator": "h100"}  # type: ignore[dict-item]
    assert any("criteria.accelerator (h100) counts" in warning for warning in by_option.warnings)


def test_a_list_of_an_option_stands_for_the_whole_list_of_the_file(config: Any, tmp_path: Path) -> None:
    section = {"deployment": {"set": ["gpuoperator:driver.version=1"]}, "output": {"target": str(tmp_path / "bundle")}}
    given = {"config": config(bundle=section), "recipe": recipe(criteria=SLURM).document}
    made = bundle(**given, set=["gpuoperator:driver.rdma.enabled=true"])
    assert any("the option set counts, not spec.bundle.deployment.set" in warning for warning in made.warnings)
    assert "driver.version" not in " ".join(made.warnings)


def test_criteria_and_a_snapshot_exclude_each_other_within_one_file(config: Any) -> None:
    section = {"criteria": {"intent": "training"}, "input": {"snapshot": "snapshot.yaml"}}
    message = refusal(recipe, config=config(recipe=section)).message
    assert "spec.recipe.criteria" in message
    assert "spec.recipe.input.snapshot" in message


@pytest.mark.parametrize(("section", "key"), [
    ({"recipe": {"criteria": {"servce": "eks"}}}, "spec.recipe.criteria.servce"),
    ({"recipe": {"configuration": {"slurm": {"acounting": {}}}}}, "spec.recipe.configuration.slurm.acounting"),
    ({"snapshot": {"agent": {"imagee": "x"}}}, "spec.snapshot.agent.imagee"),
    ({"bundle": {"scheduling": {"node": 1}}}, "spec.bundle.scheduling.node"),
    ({"bundle": {"attestation": {"enable": True}}}, "spec.bundle.attestation.enable"),
    ({"bundle": {"registry": {"plainHttp": True}}}, "spec.bundle.registry.plainHttp"),
    ({"validate": {"execution": {"phase": []}}}, "spec.validate.execution.phase"),
    ({"validate": {"evidence": {"cncf": {"directory": ""}}}}, "spec.validate.evidence.cncf.directory"),
    ({"verify": {"policy": {"minTrust": "max"}}}, "spec.verify.policy.minTrust"),
    ({"verfy": {}, "recipe": {}}, "spec.verfy"),
])  # fmt: skip
def test_an_unknown_key_of_any_section_is_refused_with_the_one_that_was_meant(
    config: Any, section: dict[str, Any], key: str
) -> None:
    error = refusal(recipe, config=config(**section), criteria=SLURM)
    assert f"{key}: unknown key" in error.message
    assert error.hint


@pytest.mark.parametrize("nothing", [None, {}])
def test_a_null_and_an_empty_section_ask_for_nothing(config: Any, nothing: object) -> None:
    path = config(recipe={"criteria": SLURM, "configuration": nothing, "output": nothing}, bundle=nothing)
    assert text(recipe(config=path)) == text(recipe(criteria=SLURM))


def test_an_empty_selector_of_a_file_is_an_empty_selector(config: Any) -> None:
    path = config(bundle={"scheduling": {"workloadSelector": {}, "systemNodeTolerations": [], "storageClass": ""}})
    values = bundle_request(parse(spec.BUNDLE, {"config": path}), read_config(parse(spec.BUNDLE, {"config": path})))
    assert values["scheduling"] == {"workload_selector": {}, "system_node_tolerations": []}


def test_values_of_criteria_that_only_a_catalog_adds_can_be_left_out(config: Any, tmp_path: Path) -> None:
    new = overlay("ncp-h100", criteria={"service": "ncp", "accelerator": "h100"})
    catalog = str(write_catalog(tmp_path / "own", new))
    asked = {"criteria": {"service": "ncp", "accelerator": "h100"}, "catalog": catalog}
    assert recipe(**asked).summary["overlays"][-1] == "ncp-h100"  # type: ignore[index]
    strict = config(recipe={"criteriaStrict": True})
    for option in ({"criteria_strict": True}, {"config": strict}):
        assert '"ncp"' in refusal(recipe, **asked, **option).message
    assert recipe(**asked, config=strict, criteria_strict=False).summary


def test_a_default_disagrees_with_nothing(config: Any, tmp_path: Path) -> None:
    path = config(recipe={"criteria": SLURM, "output": {"format": "json", "path": str(tmp_path / "r.json")}})
    made = recipe(config=path)
    assert text(made).startswith("{")
    assert made.dest == tmp_path / "r.json"


@pytest.mark.parametrize("value", ["", "bogus"])
def test_a_mode_in_a_configuration_file_that_is_none_is_refused_at_its_field(config: Any, value: str) -> None:
    path = config(recipe={"criteria": SLURM, "configuration": {"slurm": {"accounting": {"mode": value}}}})
    assert "spec.recipe.configuration.slurm.accounting.mode" in refusal(recipe, config=path).message


def test_a_format_in_a_configuration_file_that_is_none_is_refused_at_its_field(config: Any) -> None:
    path = config(recipe={"criteria": SLURM, "output": {"format": "xml"}})
    assert "spec.recipe.output.format" in refusal(recipe, config=path).message


def test_empty_fields_say_nothing(config: Any) -> None:
    empty = {"profile": "", "data": "", "criteria": {**SLURM, "nodes": 0}, "output": {"path": "", "format": ""}}
    assert text(recipe(config=config(recipe=empty))) == text(recipe(criteria=SLURM))


def test_a_stage_reads_its_own_section(config: Any) -> None:
    assert "no criteria" in refusal(recipe, config=config(validate={"execution": {"noCluster": True}})).message


def test_a_configmap_needs_a_cluster_that_is_named(monkeypatch: Any) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/somebody/.kube/config")
    for options in ({"snapshot": "cm://gpu/snapshot"}, {"dest": "cm://gpu/recipe"}):
        assert refusal(recipe, criteria=SLURM, **options).message == "no cluster is named"
    assert (
        "cm://" in refusal(report, recipe=recipe(criteria=SLURM).document, snapshot=SNAPSHOT, dest="cm://a/b").message
    )
    assert "names no ConfigMap" in refusal(recipe, criteria=SLURM, dest="cm://gpu", host="http://127.0.0.1:1").message


@pytest.mark.parametrize("place", ["oci://example.com/s"])
def test_places_that_are_no_files_are_refused_by_name(place: str) -> None:
    error = refusal(recipe, criteria=SLURM, snapshot=place)
    assert error.details == {"option": "snapshot"}
    assert place.partition("//")[0] in error.message


def test_a_file_that_is_not_there_is_named_with_where_it_was_looked_for(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AicrError) as caught:
        recipe(criteria=SLURM, snapshot="snapshot.yaml")
    assert caught.value.code.value == "NOT_FOUND"
    assert "snapshot.yaml" in caught.value.message
    assert str(tmp_path) in caught.value.hint


def report(**arguments: object) -> Outcome:
    return make_report(parse(spec.VALIDATE, arguments))


def test_documents_may_be_handed_over_instead_of_files(tmp_path: Path) -> None:
    document = recipe(criteria=SLURM).document
    (tmp_path / "recipe.yaml").write_text(yamlio.dump(document))
    (tmp_path / "snapshot.yaml").write_text(yamlio.dump(SNAPSHOT))
    by_file = report(recipe=str(tmp_path / "recipe.yaml"), snapshot=str(tmp_path / "snapshot.yaml"))
    in_place = report(recipe=document, snapshot=SNAPSHOT)
    assert by_file.digest == in_place.digest
    assert by_file.summary == in_place.summary
    assert in_place.summary["unreadable"] == 0


def test_the_section_of_validate_is_read(config: Any, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(yamlio.dump(recipe(criteria=SLURM).document))
    (tmp_path / "snapshot.yaml").write_text(yamlio.dump({**SNAPSHOT, "measurements": SNAPSHOT["measurements"][1:]}))
    inputs = {name: str(tmp_path / f"{name}.yaml") for name in ("recipe", "snapshot")}
    execution = {"phases": ["Deployment"], "failOnError": False, "noCluster": True}
    by_file = report(config=config(validate={"input": inputs, "execution": execution}))
    by_options = report(**inputs, phases=["deployment"], fail_on_error=False)
    assert by_file.digest == by_options.digest
    assert by_file.failure is None
    assert by_file.summary["unreadable"] > 0
    assert report(**inputs).failure is not None


@pytest.mark.parametrize(
    ("section", "field"),
    [
        ({"execution": {"failFast": True}}, "spec.validate.execution.failFast"),
        ({"evidence": {"cncf": {"dir": "evidence"}}}, "spec.validate.evidence"),
    ],
)
def test_a_field_that_can_have_no_effect_is_refused(config: Any, section: dict[str, Any], field: str) -> None:
    assert field in refusal(report, config=config(validate=section), recipe={}, snapshot={}).message


def test_checks_are_left_out_by_name(config: Any) -> None:
    given = {"recipe": recipe(criteria=SLURM).document, "snapshot": SNAPSHOT}
    name = "slinky-slurm-health"
    by_file = report(**given, config=config(validate={"execution": {"skipChecks": [name]}}))
    for made in (by_file, report(**given, skip_checks=[name])):
        tests = {test["name"]: test for test in made.document["results"]["tests"]}  # type: ignore[index,call-overload]
        assert (tests[name]["status"], tests[name]["message"]) == ("skipped", "skipped: named in skip_checks")
        assert tests["operator-health"]["message"] == "skipped: no cluster was asked"
    error = refusal(report, **given, skip_checks=["slinky-slurm-helth", *all_of(given["recipe"], "deployment")])
    assert '"slinky-slurm-helth"' in error.message
    assert "every check of phase deployment" in error.message
    assert f'did you mean "{name}"?' in str(error)
    some = report(**given, skip_checks=all_of(given["recipe"], "deployment"), phases=["conformance"])
    assert some.failure is None


def all_of(document: Any, phase: str) -> list[str]:
    return list(document["validation"][phase]["checks"])


def test_a_field_at_its_default_asks_for_nothing(config: Any) -> None:
    section = {"execution": {"failFast": False, "skipChecks": []}, "evidence": {"cncf": {"dir": "", "features": []}}}
    made = report(config=config(validate=section), recipe=recipe(criteria=SLURM).document, snapshot=SNAPSHOT)
    assert made.summary["passed"] > 0


@pytest.mark.parametrize("missing", ["recipe", "snapshot"])
def test_what_validate_lacks_is_named(missing: str) -> None:
    given = {"recipe": recipe(criteria=SLURM).document, "snapshot": SNAPSHOT}
    del given[missing]
    assert refusal(report, **given).message == f"{missing} is missing"


@pytest.mark.parametrize(("value", "kind"), [(1.5, "a number"), (["a.yaml"], "a list"), (True, "a boolean")])
def test_what_is_neither_a_path_nor_a_document_is_refused(value: object, kind: str) -> None:
    message = refusal(report, recipe=value, snapshot=SNAPSHOT).message
    assert message == f"recipe: must be the path of a file, or a document, not {kind}"


@pytest.mark.parametrize(
    ("missing", "maker"), [("recipe", "aicr.runtime.recipe"), ("snapshot", "aicr.runtime.snapshot")]
)
def test_an_artifact_that_is_not_there_is_said_to_come_from_its_stage(missing: str, maker: str, tmp_path: Path) -> None:
    given = {"recipe": recipe(criteria=SLURM).document, "snapshot": SNAPSHOT, missing: str(tmp_path / "none.yaml")}
    with pytest.raises(AicrError) as caught:
        report(**given)
    assert caught.value.code.value == "NOT_FOUND"
    assert maker in caught.value.hint


def test_a_destination_that_is_read_is_refused_by_whatever_way_it_is_written(config: Any, tmp_path: Path) -> None:
    inputs = {"recipe": yamlio.dump(recipe(criteria=SLURM).document), "snapshot": yamlio.dump(SNAPSHOT), "ca": ""}
    for name, content in inputs.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "link").symlink_to("snapshot")
    (tmp_path / "folder").mkdir()
    given = {"recipe": str(tmp_path / "recipe"), "snapshot": str(tmp_path / "snapshot")}
    around = f"{tmp_path}/folder/../snapshot"
    path = config(validate={"input": given})
    for arguments, option in (
        ({**given, "dest": given["recipe"]}, "recipe"),
        ({**given, "dest": given["snapshot"]}, "snapshot"),
        ({**given, "dest": around}, "snapshot"),
        ({**given, "dest": str(tmp_path / "link")}, "snapshot"),
        ({**given, "snapshot": str(tmp_path / "link"), "dest": given["snapshot"]}, "snapshot"),
        ({"config": path, "dest": path}, "config"),
        ({"config": path, "dest": given["recipe"]}, "recipe"),
        ({**given, "ca_cert": str(tmp_path / "ca"), "dest": str(tmp_path / "ca")}, "ca_cert"),
    ):
        assert f"dest is what {option} reads" in refusal(report, **arguments).message
    assert "dest is what snapshot reads" in refusal(recipe, criteria=SLURM, snapshot=around, dest=around).message
    same = "cm://gpu/aicr"
    assert "dest is what snapshot reads" in refusal(recipe, criteria=SLURM, snapshot=same, dest=same).message
    make = {"recipe": given["recipe"], "set_file": [f"slinky-slurm:accounting.storageConfig={tmp_path}/ca"]}
    assert "dest is what set_file reads" in refusal(bundle, **make, dest=str(tmp_path / "ca")).message
    assert {name: (tmp_path / name).read_text() for name in inputs} == inputs


def bundle(**arguments: object) -> Outcome:
    return make_bundle(parse(spec.BUNDLE, arguments))


def test_a_tilde_in_a_configuration_file_is_the_home_of_the_user(config: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = recipe(config=config(recipe={"criteria": SLURM, "output": {"path": "~/recipe.yaml"}}))
    assert made.dest == tmp_path / "recipe.yaml"
    (tmp_path / "recipe.yaml").write_text(yamlio.dump(made.document))
    sections = {"input": {"recipe": "~/recipe.yaml"}, "output": {"target": "~/bundle"}}
    assert bundle(config=config(bundle=sections)).dest == tmp_path / "bundle"
