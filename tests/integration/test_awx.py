# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What awx/ describes is what infra.aap_configuration reads and what the playbooks take (spec/cases.md W1)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Spec, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.variables import SPEC, STAGES

CHECKOUT = Path(__file__).resolve().parents[2]
AWX = CHECKOUT / "awx"
Template = Mapping[str, Any]

TEXT, FLAG = {"type": "string", "minLength": 1}, {"type": "boolean"}
WHOLE = {"type": "integer", "minimum": 0}


def thing(required: Sequence[str], properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [*required],
        "properties": dict(properties),
        "additionalProperties": False,
    }


def many(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(item), "minItems": 1}


QUESTION = thing(
    ["variable", "question_name", "type", "required"],
    {
        "variable": TEXT,
        "question_name": TEXT,
        "question_description": TEXT,
        "type": {"enum": ["text", "textarea", "password", "integer", "float", "multiplechoice", "multiselect"]},
        "required": FLAG,
        "default": {"type": ["string", "number"]},
        "choices": many(TEXT),
        "min": {"type": "number"},
        "max": {"type": "number"},
    },
)
SURVEY = thing(
    ["name", "description", "spec"], {"name": TEXT, "description": {"type": "string"}, "spec": many(QUESTION)}
)
ASKS = {
    f"ask_{what}_on_launch": FLAG
    for what in (
        *("variables", "inventory", "limit", "credential", "job_type", "diff_mode", "verbosity", "forks"),
        *("job_slice_count", "timeout", "tags", "skip_tags", "scm_branch", "execution_environment", "labels"),
        "instance_groups",
    )
}
NODE = {
    **thing(
        ["identifier"],
        {
            "identifier": TEXT,
            "unified_job_template": TEXT,
            "lookup_organization": TEXT,
            "approval_node": thing(["name"], {"name": TEXT, "description": TEXT, "timeout": WHOLE}),
            **dict.fromkeys(("success_nodes", "failure_nodes", "always_nodes"), many(TEXT)),
        },
    ),
    "oneOf": [{"required": ["unified_job_template"]}, {"required": ["approval_node"]}],
}
OBJECTS: Mapping[str, Mapping[str, Any]] = {
    "controller_templates": thing(
        ["name", "organization", "project", "playbook", "inventory", "execution_environment", "job_type"],
        {
            **dict.fromkeys(("name", "description", "organization", "project", "playbook", "inventory"), TEXT),
            **dict.fromkeys(("execution_environment", "limit", "job_tags", "skip_tags", "scm_branch"), TEXT),
            "job_type": {"enum": ["run", "check"]},
            "credentials": many(TEXT),
            "extra_vars": {"type": "object"},
            **dict.fromkeys(("forks", "verbosity", "timeout", "job_slice_count"), WHOLE),
            **dict.fromkeys(("survey_enabled", "use_fact_cache", "allow_simultaneous", "become_enabled"), FLAG),
            "survey_spec": SURVEY,
            **ASKS,
        },
    ),
    "controller_workflows": thing(
        ["name", "organization", "simplified_workflow_nodes"],
        {
            **dict.fromkeys(("name", "description", "organization", "inventory", "limit"), TEXT),
            "extra_vars": {"type": "object"},
            **dict.fromkeys(("survey_enabled", "allow_simultaneous", "destroy_current_nodes"), FLAG),
            "survey_spec": SURVEY,
            "simplified_workflow_nodes": many(NODE),
            **{name: flag for name, flag in ASKS.items() if name.split("_")[1] in ("variables", "inventory", "limit")},
        },
    ),
    "controller_credential_types": thing(
        ["name", "kind", "inputs", "injectors"],
        {
            **dict.fromkeys(("name", "description"), TEXT),
            "kind": {"enum": ["cloud", "net"]},
            "inputs": thing(
                ["fields", "required"],
                {
                    "required": many(TEXT),
                    "fields": many(
                        thing(
                            ["id", "type", "label"],
                            {
                                **dict.fromkeys(("id", "label", "help_text"), TEXT),
                                "type": {"enum": ["string", "boolean"]},
                                **dict.fromkeys(("secret", "multiline"), FLAG),
                            },
                        )
                    ),
                },
            ),
            "injectors": {
                **thing([], {name: {"type": "object"} for name in ("file", "env", "extra_vars")}),
                "minProperties": 1,
            },
        },
    ),
    "controller_execution_environments": thing(
        ["name", "image"], {"name": TEXT, "image": TEXT, "pull": {"enum": ["always", "missing", "never"]}}
    ),
    "controller_projects": thing(
        ["name", "organization", "scm_type", "scm_url"],
        {
            **dict.fromkeys(("name", "organization", "scm_url", "scm_branch", "default_environment"), TEXT),
            "scm_type": {"const": "git"},
            **dict.fromkeys(("scm_update_on_launch", "allow_override", "wait"), FLAG),
        },
    ),
    "controller_inventories": thing(
        ["name", "organization"], dict.fromkeys(("name", "organization", "description"), TEXT)
    ),
    "controller_inventory_sources": thing(
        ["name", "inventory", "organization", "source"],
        {
            **dict.fromkeys(("name", "inventory", "organization", "source_project", "source_path"), TEXT),
            "execution_environment": TEXT,
            "source": {"const": "scm"},
            **dict.fromkeys(("overwrite", "overwrite_vars", "update_on_launch"), FLAG),
            "source_vars": {"type": "object"},
        },
    ),
}
"""What the roles of infra.aap_configuration know, as far as we have any use for it."""

TYPES: Mapping[str, tuple[str, ...]] = {
    "text": ("str", "path", "raw"),
    "textarea": ("str", "raw", "dict"),
    "integer": ("int",),
    "float": ("float",),
    "multiplechoice": ("str", "bool"),
    "multiselect": ("list",),
}
"""By the type of a question, those of an option that takes its answers as they are."""


class _Loader(yaml.SafeLoader):
    """Knows that ``!unsafe`` is text."""


_Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))


def load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), _Loader)


OURS: dict[str, list[dict[str, Any]]] = {
    name: objects
    for path in sorted((AWX / "controller").glob("*.yml"))
    for name, objects in load(path).items()
    if name.startswith("controller_")
}
TEMPLATES = {template["name"]: template for template in OURS["controller_templates"]}
WORKFLOWS = {workflow["name"]: workflow for workflow in OURS["controller_workflows"]}


def values_of(document: object, key: str) -> Iterator[Any]:
    if isinstance(document, dict):
        for name, value in document.items():
            if name == key:
                yield value
            yield from values_of(value, key)
    elif isinstance(document, list):
        for item in document:
            yield from values_of(item, key)


def playbook(template: Template) -> Path:
    """The playbook of the collection that a template's file imports first."""
    plays = load(AWX / "project" / template["playbook"])
    name = plays[0]["ansible.builtin.import_playbook"]
    assert name.startswith("aicr.runtime.")
    return CHECKOUT / "playbooks" / f"{name.removeprefix('aicr.runtime.')}.yml"


def variables(template: Template) -> Spec:
    """What the playbook of a template checks."""
    checks = list(values_of(load(playbook(template)), "aicr.runtime.check_variables"))
    assert checks, f"{template['name']} checks no variables"
    return {name: option for check in checks for stage in check["stages"] for name, option in STAGES[stage].items()}


def of_workflow(workflow: Template) -> Spec:
    nodes = [node.get("unified_job_template") for node in workflow["simplified_workflow_nodes"]]
    return {name: option for node in nodes if node for name, option in variables(TEMPLATES[node]).items()}


def questions(template: Template) -> list[Mapping[str, Any]]:
    return list(template.get("survey_spec", {}).get("spec", ()))


def disagreements(template: Template, spec: Spec) -> list[str]:
    """In what a survey is not that of its playbook."""
    found = []
    for question in questions(template):
        name = question["variable"]
        option = spec.get(name)
        if option is None:
            found.append(f"{name} is no variable of the playbook")
            continue
        kind, choices = option.get("type", "str"), question.get("choices")
        expected = ["true", "false"] if kind == "bool" else option.get("choices")
        if kind not in TYPES[question["type"]]:
            found.append(f"{name} is of type {kind}, which {question['type']} does not give")
        if choices != expected:
            found.append(f"{name} has the choices {expected}, not {choices}")
        if not question["required"] or question.get("default") in (None, ""):
            found.append(f"{name} may be left blank, which means one thing here and another there")
        for answer in [question.get("default"), *(choices or ())]:
            try:
                parse({name: option}, {name: [answer] if question["type"] == "multiselect" else answer})
            except AicrError as error:
                found.append(f"{name} refuses the answer {answer!r}: {error.message}")
    return found


@pytest.mark.parametrize("name", OURS)
def test_objects_are_in_the_shape_that_the_roles_read(name: str) -> None:
    validator = jsonschema.Draft202012Validator(OBJECTS[name])
    problems = [f"{error.json_path}: {error.message}" for entry in OURS[name] for error in validator.iter_errors(entry)]
    assert not problems
    assert len({entry["name"] for entry in OURS[name]}) == len(OURS[name])


@pytest.mark.parametrize(("key", "value"), [("survey", {}), ("ask_variable_on_launch", True), ("forks", "50")])
def test_the_shape_refuses_what_the_roles_do_not_know(key: str, value: object) -> None:
    wrong = {**TEMPLATES["AICR deploy"], key: value}
    assert not jsonschema.Draft202012Validator(OBJECTS["controller_templates"]).is_valid(wrong)


def test_there_is_a_template_for_each_playbook() -> None:
    wanted = {path.name for path in (CHECKOUT / "playbooks").glob("*.yml")}
    assert {playbook(template).name for template in TEMPLATES.values()} <= wanted
    stages = {
        "snapshot.yml",
        "recipe.yml",
        "validate.yml",
        "bundle.yml",
        "deploy.yml",
        "verify.yml",
        "drift.yml",
        "site.yml",
    }
    assert {template["playbook"] for template in TEMPLATES.values()} == stages


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_survey_asks_for_variables_of_its_playbook_by_their_types(template: Template) -> None:
    assert disagreements(template, variables(template)) == []
    assert template["survey_enabled"] is bool(questions(template))


@pytest.mark.parametrize("workflow", WORKFLOWS.values(), ids=WORKFLOWS)
def test_a_workflow_asks_for_variables_of_its_jobs(workflow: Template) -> None:
    assert questions(workflow)
    assert disagreements(workflow, of_workflow(workflow)) == []


def test_a_variable_that_was_renamed_or_retyped_is_noticed() -> None:
    """Seeded faults: what the tests above must find."""
    template = TEMPLATES["AICR deploy"]
    for name in ("aicr_allow_mode_change", "aicr_release_timeout"):
        spec = dict(variables(template))
        spec[f"{name}d"] = spec.pop(name)
        assert disagreements(template, spec) == [f"{name} is no variable of the playbook"]
    for name, option in (("aicr_allow_downgrade", {"type": "str"}), ("aicr_release_timeout", {"type": "int"})):
        assert any(name in found for found in disagreements(template, {**variables(template), name: option}))
    blank = copy.deepcopy(dict(template))
    del blank["survey_spec"]["spec"][0]["default"]
    assert any("may be left blank" in found for found in disagreements(blank, variables(template)))


SURVEYS = [*TEMPLATES.values(), *WORKFLOWS.values()]


@pytest.mark.parametrize("name", sorted({question["variable"] for asked in SURVEYS for question in questions(asked)}))
def test_an_option_that_is_renamed_fails_each_survey_that_asks_for_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeded in the playbooks' own variables, so that the tests above would see it."""
    for stage, options in STAGES.items():
        renamed = {f"{one}_new" if one == name else one: option for one, option in options.items()}
        monkeypatch.setitem(STAGES, stage, renamed)  # type: ignore[arg-type]
    found = [disagreements(template, variables(template)) for template in TEMPLATES.values()]
    found += [disagreements(workflow, of_workflow(workflow)) for workflow in WORKFLOWS.values()]
    asking = [name in {question["variable"] for question in questions(asked)} for asked in SURVEYS]
    assert found == [[f"{name} is no variable of the playbook"] if asks else [] for asks in asking]


def taken(template: Template, launch: Mapping[str, object]) -> dict[str, object]:
    """The variables of a launch that AWX hands to the job; it drops the others without a word (W1)."""
    asked = {question["variable"] for question in questions(template)} if template.get("survey_enabled") else set()
    return {name: value for name, value in launch.items() if template.get("ask_variables_on_launch") or name in asked}


@pytest.mark.parametrize("template", [*TEMPLATES.values(), *WORKFLOWS.values()], ids=[*TEMPLATES, *WORKFLOWS])
def test_no_variable_of_a_launch_is_dropped(template: Template) -> None:
    launch = dict.fromkeys(SPEC, "said")
    assert taken(template, launch) == launch
    assert taken({**template, "ask_variables_on_launch": False}, launch) != launch


def test_a_workflow_runs_all_stages_in_order_with_a_person_before_the_deployment() -> None:
    (workflow,) = WORKFLOWS.values()
    nodes = {node["identifier"]: node for node in workflow["simplified_workflow_nodes"]}
    following = {name for node in nodes.values() for name in node.get("success_nodes", ())}
    (name,) = nodes.keys() - following
    order = [name]
    while nodes[name].get("success_nodes"):
        (name,) = nodes[name]["success_nodes"]
        order.append(name)
    assert order == ["snapshot", "recipe", "validate", "bundle", "approve", "deploy", "verify"]
    jobs = [nodes[name].get("unified_job_template") for name in order if name != "approve"]
    assert jobs == [f"AICR {name}" for name in order if name != "approve"]
    assert "approval_node" in nodes["approve"]


def test_what_is_referred_to_is_there() -> None:
    named = {kind: {entry["name"] for entry in entries} for kind, entries in OURS.items()}
    for template in TEMPLATES.values():
        assert template["project"] in named["controller_projects"]
        assert template["inventory"] in named["controller_inventories"]
        assert template["execution_environment"] in named["controller_execution_environments"]
        assert (AWX / "project" / template["playbook"]).is_file()
    (source,) = OURS["controller_inventory_sources"]
    assert source["inventory"] in named["controller_inventories"]
    assert source["source_path"].endswith("clusters.yml")


def test_a_kubeconfig_is_a_file_and_never_a_variable() -> None:
    (kind,) = OURS["controller_credential_types"]
    (field,) = kind["inputs"]["fields"]
    assert field["secret"] and kind["inputs"]["required"] == [field["id"]]
    assert kind["injectors"] == {
        "file": {"template.kubeconfig": f"{{{{ {field['id']} }}}}"},
        "env": {"K8S_AUTH_KUBECONFIG": "{{ tower.filename.kubeconfig }}"},
    }
