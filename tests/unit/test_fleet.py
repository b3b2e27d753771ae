# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet file becomes hosts as it says, or is refused by file, line and key; no credential becomes a variable."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet import (
    OPTIONS,
    Cluster,
    groups,
    read_fleet,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet_contexts import KUBECONFIGS
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.fleet_values import DOCUMENTS

KNOWN = ("plugin", "clusters", "defaults", "kubeconfigs", "compose", "strict")
SECRET = "sesame-0123456789"


def kubeconfig(*contexts: str) -> str:
    document = {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", "proxy-url": f"http://u:{SECRET}@p"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in contexts],
        "users": [{"name": "u", "user": {"token": SECRET, "client-key-data": SECRET, "password": SECRET}}],
        "current-context": contexts[0] if contexts else None,
    }
    return json.dumps(document)


class Folder:
    """A folder with a fleet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = path / "fleet.clusters.yml"

    def kubeconfig(self, name: str, *contexts: str) -> str:
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(kubeconfig(*contexts), encoding="utf-8")
        return str(file)

    def hosts(self, text: str, name_of: Any = None) -> dict[str, Cluster]:
        self.file.write_text(textwrap.dedent(text), encoding="utf-8")
        fleet = read_fleet(str(self.file), KNOWN)
        return {one.name: one for one in fleet.hosts(fleet.find(), name_of)}

    def refusal(self, text: str, name_of: Any = None) -> AicrError:
        with pytest.raises(AicrError) as raised:
            self.hosts(text, name_of)
        return raised.value


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_no_option_of_a_cluster_is_taken_for_one_of_the_search() -> None:
    assert not OPTIONS.keys() & {*KUBECONFIGS, "vars"}


def test_what_is_said_of_a_cluster_becomes_the_variables_of_the_playbooks(folder: Folder) -> None:
    hosts = folder.hosts(
        """
        defaults:
          deployer: argocd
          profile: base
          criteria: {os: ubuntu}
          vars: {team: red, floor: 1}
        clusters:
          berlin:
            kubeconfig: here/berlin.yaml
            context: admin
            criteria: {service: eks, nodes: 4}
            profile: null
            vars: {team: blue}
          paris:
        """
    )
    assert hosts["berlin"].variables == {
        "aicr_kubeconfig": str(folder.path / "here" / "berlin.yaml"),
        "aicr_context": "admin",
        "aicr_criteria": {"service": "eks", "nodes": 4},
        "aicr_deployer": "argocd",
        "team": "blue",
        "floor": 1,
    }
    assert hosts["paris"].variables["aicr_profile"] == "base"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("~/one", "{home}/one"),
        ("$AICR_TEST_FOLDER/one", "/elsewhere/one"),
        ("../one", "{up}/one"),
        ("/one", "/one"),
        ("{{ inventory_dir }}/one", "{{ inventory_dir }}/one"),
    ],
)
def test_the_path_of_a_kubeconfig_starts_where_the_file_is(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, written: str, read: str
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("AICR_TEST_FOLDER", "/elsewhere")
    hosts = folder.hosts(f"clusters: {{a: {{kubeconfig: '{written}'}}}}")
    expected = read.replace("{home}", "/home/somebody").replace("{up}", str(folder.path.parent))
    assert hosts["a"].variables == {"aicr_kubeconfig": expected}


def test_each_wanted_context_of_each_kubeconfig_is_a_host(folder: Folder) -> None:
    one = folder.kubeconfig("kc/one.yaml", "prod-1", "prod-2", "prod-old", "dev")
    two = folder.kubeconfig("kc/two.yaml", "arn:aws:eks:eu:1:cluster/prod-3")
    folder.kubeconfig("kc/three.txt", "prod-4")
    hosts = folder.hosts(
        """
        kubeconfigs:
          - path: kc/*.yaml
            include: ["prod-*", "arn:*"]
            exclude: ["*-old"]
            criteria: {service: eks}
        """
    )
    assert {name: dict(host.variables) for name, host in hosts.items()} == {
        name: {"aicr_kubeconfig": path, "aicr_context": context, "aicr_criteria": {"service": "eks"}}
        for name, path, context in (
            ("prod-1", one, "prod-1"),
            ("prod-2", one, "prod-2"),
            ("prod-3", two, "arn:aws:eks:eu:1:cluster/prod-3"),
        )
    }


def test_an_expression_makes_the_name_of_context_cluster_and_file(folder: Folder) -> None:
    path = folder.kubeconfig("kc/berlin.prod.yaml", "default")
    seen: list[Mapping[str, str]] = []

    def name_of(expression: str, facts: Mapping[str, str]) -> str:
        assert expression == "file"
        seen.append(facts)
        return facts["file"]

    hosts = folder.hosts("kubeconfigs: [{path: kc/*, hostname: file}]", name_of)
    assert list(hosts) == ["berlin"]
    assert seen == [{"context": "default", "cluster": "c", "kubeconfig": path, "file": "berlin"}]


def test_no_credential_of_a_kubeconfig_becomes_a_variable(folder: Folder) -> None:
    folder.kubeconfig("kc/one.yaml", "one", "two")
    hosts = folder.hosts("kubeconfigs: [kc/*]")
    assert len(hosts) == 2
    assert SECRET not in repr(hosts)


REFUSED: Mapping[str, tuple[str, str, str]] = {
    "a key": ("clustres: {a: {}}\nclusters: {b: }", "1: clustres", 'did you mean "clusters"?'),
    "an option": ("clusters:\n  a:\n    kubecnfig: x", "3: clusters.a.kubecnfig", 'did you mean "kubeconfig"?'),
    "an option of the search": ("kubeconfigs:\n- path: kc/*\n  exlude: [x]", "3: kubeconfigs[0].exlude", '"exclude"?'),
    "an option with the prefix": ("clusters:\n  a: {aicr_context: x}", "2: clusters.a.aicr_context", 'write "context"'),
    "an inner option": ("clusters:\n  a:\n    criteria: {servce: x}", "3: clusters.a.criteria", '"service"?'),
    "a choice": ("defaults:\n  slurm_accounting_mode: on", "2: defaults.slurm_accounting_mode", "customer-managed"),
    "a type": ("clusters:\n  a:\n    criteria: {nodes: many}", "3: clusters.a.criteria", "int"),
    "a number for text": ("clusters:\n  a: {target_revision: 1.30}", "2: clusters.a.target_revision", "in quotes"),
    "empty text": ("clusters:\n  a: {context: ''}", "2: clusters.a.context", "must not be empty"),
    "no mapping": ("clusters: [a, b]", "1: clusters", "must be a mapping"),
    "a cluster that is text": ("clusters: {a: kc/a.yaml}", "1: clusters.a", "must be a mapping"),
    "no list": ("kubeconfigs: {path: x}", "1: kubeconfigs", "must be a list"),
    "no path": ("kubeconfigs:\n- include: [x]", "2: kubeconfigs[0]", "path"),
    "a path that is a template": ("kubeconfigs: ['{{ x }}/*']", "1: kubeconfigs[0].path", "no template"),
    "a context of a context": ("kubeconfigs:\n- path: kc/*\n  context: x", "3: kubeconfigs[0].context", "says which"),
    "hosts of a play": ("clusters: {a: {hosts: all}}", "1: clusters.a.hosts", "unknown option"),
    "a key that is no text": ("clusters: {1: {}}", "1: clusters", "in quotes"),
    "a host name": ("clusters: {'a/b': {}}", "1: clusters.a/b", "cannot be the name of a host"),
    "a host name of dots": ("clusters: {..: {}}", "1: clusters...", "cannot be the name of a host"),
    "a host that is a group": ("clusters:\n  z: {}\n  all: {}", "3: clusters.all", "every inventory has a group"),
    "a host that is the other": ("clusters: {ungrouped: {}}", "1: clusters.ungrouped", "rename it"),
    "a long host name": (f"clusters: {{{'a' * 201}: {{}}}}", "1: clusters.aaaa", "at most 200"),
    "a variable of ours": ("clusters: {a: {vars: {aicr_x: 1}}}", "1: clusters.a.vars.aicr_x", "unprefixed"),
    "a variable's name": ("clusters: {a: {vars: {a-b: 1}}}", "1: clusters.a.vars.a-b", "name of a variable"),
    "a credential": (f"clusters: {{a: {{api_key: {SECRET}}}}}", "1: clusters.a.api_key", "a credential"),
    "a kubeconfig itself": (
        f"clusters: {{a: {{kubeconfig: {{users: [{{token: {SECRET}}}]}}}}}}",
        "1: clusters.a.kubeconfig",
        "path of a file",
    ),
    "criteria that are a template": ("clusters: {a: {criteria: '{{ x }}'}}", "1: clusters.a.criteria", "compose it"),
    "a template in a criterion": ("clusters: {a: {criteria: {service: '{{ x }}'}}}", "clusters.a.criteria", "compose"),
    "criteria as text": ("clusters: {a: {criteria: service=eks}}", "1: clusters.a.criteria", "a mapping, not text"),
    "a mode that is a template": (
        "clusters: {a: {slurm_accounting_mode: '{{ x }}'}}",
        "1: clusters.a.slurm_accounting_mode",
        "compose it",
    ),
    "a composed variable": ("clusters: {a: }\ncompose: {aicr_contxt: x}", "2: compose.aicr_contxt", '"aicr_context"?'),
    "a missing kubeconfig": ("kubeconfigs:\n- path: none/*", "2: kubeconfigs[0]", "none/*: no such file"),
    "a file that is none": ("kubeconfigs: ['*.yml']", "1: kubeconfigs[0]", "fleet.clusters.yml: is no kubeconfig"),
    "contexts that are not there": (
        "kubeconfigs:\n- {path: kc/*, include: [x]}",
        "2: kubeconfigs[0]",
        "there are: one",
    ),
    "no clusters at all": ("strict: true", "", "there is no cluster"),
    "no YAML": ("clusters: {a: {", "line 2", "expected node content"),
}


@pytest.mark.parametrize(("text", "place", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_refused_by_file_line_and_key(folder: Folder, text: str, place: str, message: str) -> None:
    folder.kubeconfig("kc/one.yaml", "one")
    said = str(folder.refusal(text))
    assert f"{folder.file}:" in said and place in said and message in said
    assert SECRET not in said


@pytest.mark.parametrize("text", ["clusters: [a, b]", "kubeconfigs: text", "clusters: text", "kubeconfigs: {a: b}"])
def test_a_fleet_that_cannot_be_read_is_not_called_empty(folder: Folder, text: str) -> None:
    said = str(folder.refusal(text))
    assert "must be a" in said and "no cluster" not in said


def test_the_places_of_many_clusters_are_found_in_one_look(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    compose = yaml.compose

    def counting(*given: Any) -> Any:
        looks.append(given)
        return compose(*given)

    monkeypatch.setattr(yaml, "compose", counting)
    clusters = "".join(f"  c{number}: {{}}\n" for number in range(50))
    hosts = folder.hosts(f"clusters:\n{clusters}")
    assert [host.place for host in hosts.values()] == [
        f"{folder.file}:{number + 2}: clusters.c{number}" for number in range(50)
    ]
    assert len(looks) <= 1


def test_a_host_that_is_there_twice_is_refused_with_both_places(folder: Folder) -> None:
    one, two = folder.kubeconfig("kc/1.yaml", "berlin"), folder.kubeconfig("kc/2.yaml", "x/berlin", "paris")
    error = folder.refusal("clusters:\n  paris: {context: p}\nkubeconfigs:\n- kc/1.yaml\n- kc/2.yaml\n")
    assert error.code is Code.CONFLICT
    said = str(error)
    first, second = f"{folder.file}:4: kubeconfigs[0]", f"{folder.file}:5: kubeconfigs[1]"
    assert (
        f'{second}: context "x/berlin" of {two}: the host "berlin" is there already: {first}: context "berlin" of {one}'
        in said
    )
    assert (
        f'{second}: context "paris" of {two}: the host "paris" is there already: {folder.file}:2: clusters.paris'
        in said
    )


def test_a_cluster_that_is_named_twice_is_refused_with_both_lines(folder: Folder) -> None:
    said = str(folder.refusal("clusters:\n  berlin: {context: a}\n  paris:\n  berlin: {context: b}\n"))
    assert "fleet.clusters.yml" in said and 'duplicate key "berlin", first in line 2' in said and "line 4" in said


LATER: Mapping[str, tuple[str, str, str]] = {
    "fewer nodes than none": ("criteria", "{service: eks, nodes: -1}", "a whole number from 0 to"),
    "too many nodes": ("criteria", "{nodes: 99999999999999999999}", "a whole number from 0 to"),
    "a password": ("snapshot", f"https://u:{SECRET}@x/y", "holds a user or a password"),
    "a password in capitals": ("snapshot", f"HTTPS://u:{SECRET}@x/y", "holds a user or a password"),
    "a password with a slash": ("snapshot", f"https://u:p/{SECRET}@x/y", "is no address"),
    "a password of a baseline": ("baseline", f"https://u:{SECRET}@x/y", "holds a user or a password"),
    "a password of a recipe": ("recipe", f"https://u:{SECRET}@x/y", "holds a user or a password"),
    "an address": ("recipe", "https://localhost:99999/x", "https://localhost:99999/x: is no address"),
    "a ConfigMap": ("snapshot", "cm://x", "names no ConfigMap"),
    "a registry": ("snapshot", "oci://x/y", "not supported"),
    "a remote bundle": ("bundle", "oci://x/y", "not supported"),
    "a remote catalog": ("catalog", "https://x/y", "not supported"),
    "a remote configuration": ("config", "https://x/y", "not supported"),
    "a password of a server": ("host", f"https://u:{SECRET}@x", "is not the URL of an API server"),
    "a password of a repository": ("repo", f"https://u:{SECRET}@x/y.git", "carries a password"),
    "a revision": ("target_revision", "a..b c", "a branch, a tag or a commit"),
    "a namespace of Argo CD": ("argocd", "{project: 'a b'}", "argocd.project"),
    "a password of a chart": ("values", f"{{x: {{auth: {{password: {SECRET}}}}}}}", "credential into the inventory"),
    "one of an installation": ("install_values", f"{{x: {{password: {SECRET}}}}}", "credential into the inventory"),
    "one of an entry": ("set", f"['x:auth.password={SECRET}']", "credential into the inventory"),
    "one of JSON": ("set_json", f"""['x:auth={{"password": "{SECRET}"}}']""", "credential into the inventory"),
    "no entry": ("set", "[nothing]", "nothing"),
}
"""What has the right type, and no stage takes."""


@pytest.mark.parametrize(("option", "value", "message"), LATER.values(), ids=LATER)
def test_what_every_playbook_would_refuse_is_refused_here(
    folder: Folder, option: str, value: str, message: str
) -> None:
    said = str(folder.refusal(f"clusters:\n  a:\n    {option}: {value}\n"))
    assert f"{folder.file}:3: clusters.a.{option}" in said and message in said
    assert SECRET not in said


@pytest.mark.parametrize(("option", "value", "message"), LATER.values(), ids=LATER)
def test_a_composed_value_is_checked_as_a_stated_one(folder: Folder, option: str, value: str, message: str) -> None:
    folder.hosts(f"clusters: {{a: }}\ncompose: {{aicr_{option}: x}}\n")
    with pytest.raises(AicrError) as raised:
        read_fleet(str(folder.file), KNOWN).check(
            "a", ("compose", f"aicr_{option}"), f"aicr_{option}", yamlio.load(value, "")
        )
    said = str(raised.value)
    assert f"{folder.file}:2: compose.aicr_{option}: host a: " in said and message in said
    assert SECRET not in said


def test_a_composed_credential_is_refused(folder: Folder) -> None:
    folder.hosts("clusters: {a: }")
    with pytest.raises(AicrError, match="a credential has no place in an inventory"):
        read_fleet(str(folder.file), KNOWN).check("a", ("compose", "aicr_api_key"), "aicr_api_key", SECRET)


def test_what_the_playbooks_take_is_taken(folder: Folder) -> None:
    options = {
        "criteria": {"service": "nope", "nodes": "16"},
        "snapshot": "cm://aicr/snapshot",
        "recipe": "https://server:8443/recipe.yaml?version=3",
        "baseline": {"kind": "Snapshot"},
        "host": "server:6443",
        "repo": "git@server:clusters.git",
        "catalog": "~/catalog",
        "values": {"x": {"auth": {"existingSecret": "database", "passwordKeyRef": {"name": "x"}}}},
        "set": ["x:a.b=c"],
        "chart_source": "oci://registry/charts",
    }
    hosts = folder.hosts(yamlio.dump({"clusters": {"a": options, "b": {"snapshot": "https://u:{{ password }}@x/y"}}}))
    assert hosts["a"].variables == {f"aicr_{name}": value for name, value in options.items()}


def test_every_option_that_may_be_a_document_is_known_as_one() -> None:
    assert {name for name, option in OPTIONS.items() if option["type"] == "raw"} == {"kubeconfig", *DOCUMENTS}


@pytest.mark.parametrize(
    "context", ["{{ lookup('pipe', 'id') }}", "all", "x/ungrouped", "a b", "a,b", "a:b", "!a", "-a", "ä"]
)
def test_a_context_that_names_no_host_is_refused(folder: Folder, context: str) -> None:
    path = folder.kubeconfig("one.yaml", context)
    said = str(folder.refusal("kubeconfigs: [one.yaml]"))
    assert f"{folder.file}:1: kubeconfigs[0]" in said and path in said


def test_an_expression_must_give_text(folder: Folder) -> None:
    folder.kubeconfig("one.yaml", "one")
    error = folder.refusal("kubeconfigs: [{path: one.yaml, hostname: x}]", lambda _expression, _facts: 3)
    assert "hostname must give text" in str(error)


def test_many_problems_are_counted_beyond_the_first(folder: Folder) -> None:
    lines = "\n".join(f"  c{number}: {{contxt: x}}" for number in range(1000))
    said = str(folder.refusal(f"clusters:\n{lines}\n"))
    assert "there are 980 more problems" in said
    assert said.count("did you mean") == 20


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, []),
        ({"aicr_slurm_accounting_mode": "customer-managed"}, ["mode_customer_managed"]),
        (
            {"aicr_criteria": {"service": " EKS ", "accelerator": "rtx-pro-6000", "os": "ubuntu", "platform": ""}},
            ["service_eks", "accelerator_rtx_pro_6000"],
        ),
        ({"aicr_criteria": "service=eks"}, []),
    ],
)
def test_groups_are_made_of_service_accelerator_platform_and_mode(
    variables: Mapping[str, object], expected: list[str]
) -> None:
    assert groups(variables) == expected
