# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task's arguments become checked options: by name, by type, and never by turning one thing into another."""

from __future__ import annotations

import copy
import math

import pytest

from ansible_collections.aicr.runtime.plugins.modules import host_snapshot
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import (
    database_probe,
    lease,
    options,
    readiness,
    release,
    variables,
    verify,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.validation import RUN_ORDER


def refusal(spec: options.Spec, **arguments: object) -> str:
    with pytest.raises(AicrError) as caught:
        parse(spec, arguments)
    assert caught.value.code.value == "INVALID_REQUEST"
    return str(caught.value)


def test_an_option_that_nobody_gave_has_its_default_and_is_not_stated() -> None:
    parsed = parse(options.RECIPE, {"criteria": {"service": "eks"}})
    assert (parsed["format"], parsed.stated("format")) == ("yaml", None)
    assert parse(options.RECIPE, {"format": "yaml"}).stated("format") == "yaml"


def test_no_request_changes_the_defaults_of_the_next() -> None:
    before = copy.deepcopy(options.SNAPSHOT)
    assert parse(options.SNAPSHOT, {})["timeouts"]
    assert before == options.SNAPSHOT


def test_criteria_that_nobody_gave_are_absent() -> None:
    assert parse(options.RECIPE, {"criteria": {"service": "eks", "os": None}})["criteria"] == {"service": "eks"}


@pytest.mark.parametrize("mode", [mode.value for mode in AccountingMode])
def test_each_accounting_mode_is_a_choice(mode: str) -> None:
    assert parse(options.RECIPE, {"slurm_accounting_mode": mode})["slurm_accounting_mode"] == mode


@pytest.mark.parametrize("mode", ["", "Disabled", " disabled", "aicr", "customer_managed"])
def test_as_an_option_the_accounting_mode_is_exactly_one_of_three_words(mode: str) -> None:
    assert "slurm_accounting_mode" in refusal(options.RECIPE, slurm_accounting_mode=mode)


def test_no_stage_but_the_recipe_takes_an_accounting_mode() -> None:
    for spec in (options.VALIDATE, options.BUNDLE):
        assert "slurm_accounting_mode" in refusal(spec, slurm_accounting_mode="disabled")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"set": 5}, "set: must be a list, not a number"),
        ({"set": {"a": "b"}}, "set: must be a list, not a mapping"),
        ({"timeouts": {"k8s": True}}, "timeouts.k8s: must be a number, not True"),
        ({"criteria": '{"service": false}'}, "criteria.service: must be text"),
        ({"dest": "a\0b"}, "dest: holds a NUL character"),
        ({"target_revision": 1.30}, "target_revision: must be text"),
        ({"criteria": {"service": False}}, "criteria.service: must be text"),
        ({"criteria": {"nodes": True}}, "criteria.nodes: must be a whole number"),
        ({"criteria": {"nodes": 8.5}}, "criteria.nodes: must be a whole number"),
        ({"dest": ["a"]}, "dest: must be text"),
        ({"dest": {"a": "b"}}, "dest: must be text"),
        ({"set": ["a:b=c", 5]}, "set[1]: must be text"),
        ({"scheduling": {"storage_class": 1}}, "scheduling.storage_class: must be text"),
        ({"return_document": "perhaps"}, "return_document"),
        ({"return_document": ""}, "return_document"),
        ({"format": "xml"}, "format"),
    ],
)
def test_what_is_wrong_is_named(arguments: dict[str, object], named: str) -> None:
    spec = {**options.RECIPE, **options.BUNDLE, **options.SNAPSHOT}
    assert named in refusal(spec, **arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"destination": "a"}, 'unknown option "destination" (did you mean "dest"?)'),
        ({"criterias": {}}, 'unknown option "criterias" (did you mean "criteria"?)'),
        ({"destt": None}, 'unknown option "destt" (did you mean "dest"?)'),
        ({"criteria": {"servic": "eks"}}, 'unknown option "criteria.servic" (did you mean "service"?)'),
        (
            {"criteria": {"gpu": "h100"}},
            'unknown option "criteria.gpu" (known here: accelerator, intent, nodes, os, platform, service)',
        ),
        ({"scheduling": {"storage_clas": "a"}}, 'unknown option "scheduling.storage_clas" (did you mean'),
    ],
)
def test_an_unknown_option_is_said_to_be_one_and_what_was_meant(arguments: dict[str, object], said: str) -> None:
    assert said in refusal({**options.RECIPE, **options.BUNDLE}, **arguments)


EVERY_SPEC = [
    options.SNAPSHOT,
    options.SNAPSHOT_LOOKUP,
    options.RECIPE,
    options.RECIPE_LOOKUP,
    options.QUERY,
    options.VALIDATE,
    options.BUNDLE,
    options.BUNDLE_VERIFY,
]


@pytest.mark.parametrize("spec", EVERY_SPEC)
@pytest.mark.parametrize("empty", ["", " "])
def test_no_option_takes_empty_text(spec: options.Spec, empty: str) -> None:
    for name, option in spec.items():
        assert f"{name}: must not be empty" in refusal(spec, **{name: empty})
        for inner in option.get("options", ()):
            assert f"{name}.{inner}: must not be empty" in refusal(spec, **{name: {inner: empty}})
        if option["type"] == "list":
            assert f"{name}[0]: must not be empty" in refusal(spec, **{name: [empty]})


@pytest.mark.parametrize("spec", EVERY_SPEC)
def test_null_says_as_much_as_leaving_an_option_out(spec: options.Spec) -> None:
    required = {name: "x" for name, option in spec.items() if option.get("required")}
    nothing: dict[str, object] = {name: None for name in spec if name not in required}
    said = parse(spec, {**nothing, **required})
    assert (said.values, said.given) == (parse(spec, required).values, frozenset(required))
    for name, option in spec.items():
        inner = option.get("options", {})
        assert (
            inner == {}
            or parse(spec, {**required, name: dict.fromkeys(inner)})[name] == parse(spec, {**required, name: {}})[name]
        )


@pytest.mark.parametrize("wrong", ["x", ["a"], 5, True])
@pytest.mark.parametrize("name", ["criteria", "scheduling", "values"])
def test_a_mapping_that_is_none_is_one_problem(name: str, wrong: object) -> None:
    said = refusal({**options.RECIPE, **options.BUNDLE}, **{name: wrong})
    assert said.startswith(f"[INVALID_REQUEST] {name}: must be a mapping, not ")


@pytest.mark.parametrize(
    ("spec", "name", "wrong", "said"),
    [
        (lease.RUN, "lease", "default/other", "lease: must be a mapping, not text (its keys are name, namespace)"),
        (options.RECIPE, "criteria", ["eks"], "(its keys are accelerator, intent, nodes, os, platform, service)"),
        (release.SPEC, "releases", ["demo"], "releases[0]: must be a mapping, not text (its keys are chart, "),
        (options.BUNDLE, "values", "a/b", "values: must be a mapping, not text"),
    ],
)
def test_the_keys_of_a_mapping_are_named(spec: options.Spec, name: str, wrong: object, said: str) -> None:
    refused = refusal(spec, **{name: wrong})
    assert said in refused
    assert ("its keys" in refused) is ("its keys" in said)


def test_every_mapping_with_known_keys_names_them() -> None:
    for spec in (*EVERY_SPEC, lease.RUN, release.SPEC, variables.SPEC):
        for name, option in spec.items():
            if option.get("type") == "dict" and "options" in option:
                assert f"(its keys are {', '.join(sorted(option['options']))})" in refusal(spec, **{name: "x/y"})


def test_a_mapping_may_come_as_json_text() -> None:
    assert parse(options.RECIPE, {"criteria": '{"service": "eks", "os": null}'})["criteria"] == {"service": "eks"}
    assert parse(options.BUNDLE, {"values": '{"a": {"b": null}}'})["values"] == {"a": {"b": None}}


def test_all_problems_come_at_once() -> None:
    said = refusal(options.BUNDLE, dest=1, target_revision=1.5)
    assert "dest:" in said
    assert "target_revision:" in said


@pytest.mark.parametrize(("given", "meant"), [("false", False), ("no", False), ("0", False), (0, False), ("yes", True)])
def test_booleans_are_booleans_however_a_form_sends_them(given: object, meant: bool) -> None:
    assert parse(options.VALIDATE, {"fail_on_error": given})["fail_on_error"] is meant


def test_digits_are_a_number_where_one_is_due() -> None:
    assert parse(options.RECIPE, {"criteria": {"nodes": "8"}})["criteria"] == {"nodes": 8}


@pytest.mark.parametrize("wrong", [math.inf, -math.inf, math.nan, "inf", "nan", "1e400", 1e12, 10**400])
def test_a_time_that_nobody_can_wait_for_is_refused(wrong: object) -> None:
    assert "timeout: " in refusal(options.SNAPSHOT_AGENT, timeout=wrong)
    assert "no number of seconds" in refusal(options.SNAPSHOT_AGENT, timeout=wrong)


@pytest.mark.parametrize("wrong", [0, -1, "0", -0.5])
@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (options.SNAPSHOT_AGENT, "timeout"),
        (options.SNAPSHOT_AGENT, "timeouts.gpu"),
        (options.SNAPSHOT, "timeouts.k8s"),
        (host_snapshot.ARGUMENT_SPEC, "timeouts.systemd"),
        (release.SPEC, "timeout"),
        (readiness.SPEC, "timeout"),
        (verify.SPEC, "probe_timeout"),
        (database_probe.SPEC, "timeout"),
    ],
)
def test_no_time_to_do_anything_in_is_refused_wherever_one_is_named(
    spec: options.Spec, name: str, wrong: object
) -> None:
    outer, _dot, inner = name.partition(".")
    assert f"{name}: {float(str(wrong)):g} s is no time" in refusal(spec, **{outer: {inner: wrong} if inner else wrong})


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (readiness.SPEC, "stable"),
        (verify.SPEC, "accounting_check_wait"),
        (database_probe.SPEC, "wait"),
        (database_probe.SPEC, "grace"),
    ],
)
def test_not_to_wait_is_a_time_and_less_is_none(spec: options.Spec, name: str) -> None:
    assert f"{name}: -1 s is less than no time" in refusal(spec, **{name: -1})
    assert "is less than no time" not in refusal(spec, **{name: 0, "no such option": 1})


def test_one_text_where_a_list_is_due_is_not_cut_at_its_commas() -> None:
    entry = 'gpuoperator:driver.env=[{"name": "A", "value": "1"}]'
    assert parse(options.BUNDLE, {"set_json": entry})["set_json"] == [entry]
    assert parse(options.BUNDLE, {"scheduling": {"system_node_tolerations": "a:NoSchedule"}})["scheduling"] == {
        "system_node_tolerations": ["a:NoSchedule"]
    }


def test_the_phases_are_those_of_the_engine() -> None:
    assert (*RUN_ORDER, "all") == options.PHASES
