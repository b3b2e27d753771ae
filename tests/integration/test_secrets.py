# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A password lies in every file that a run reads: it is in no artifact, diff, output at -vvvv, or process argument.

The search is for the password itself, as JSON and as base64 have it, and for a run of plain letters out of its middle.
That it finds what it should is shown by tasks that leak on purpose.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .conftest import Ansible, Run

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]

CORE = "Zq8vR2mW5tKd"
PASSWORD = f'p"l\\{CORE}/é+'
SNAPSHOT = str(CHECKOUT / "examples" / "snapshots" / "eks-h100-training.yaml")
CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
CONNECTION = {
    "host": "db.example.com",
    "port": 3306,
    "database": "slurm_acct_db",
    "username": "slurm",
    "passwordKeyRef": {"name": "slurm-db", "key": "password"},
}
STORAGE = "slinkyslurm:accounting.storageConfig"


def forms(secret: str) -> set[bytes]:
    """How a secret may look: plain, escaped for JSON (once and within JSON), quoted for a URL, all of it in base64."""
    texts = {secret, repr(secret)[1:-1], urllib.parse.quote(secret), urllib.parse.quote_plus(secret)}
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        texts |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    plain = {text.encode() for text in texts} | {secret.encode("latin-1")}
    return plain | {coded for text in plain for coded in in_base64(text)}


def in_base64(secret: bytes) -> Iterable[bytes]:
    """The characters that a secret alone decides, wherever in a longer text it begins."""
    for shift in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            first = -(-shift * 4 // 3)  # of the characters before, the last one mixes in what comes before
            last = (shift + len(secret)) * 8 // 6
            yield encode(b"\0" * shift + secret)[first:last]


FORMS = forms(PASSWORD) | forms(CORE)


class Watched:
    """Runs playbooks and looks for the password in all that comes of them.

    :ivar inputs: the folder of the files that hold the password by right.
    :ivar temporary: where the run keeps temporary files; its path is short, for Ansible puts a socket there.
    """

    def __init__(self, ansible: Ansible, temporary: Path) -> None:
        self.ansible = ansible
        self.inputs = ansible.folder / "inputs"
        self.inputs.mkdir()
        self.processes = ansible.folder / "processes.txt"
        self.outputs: list[str] = []
        self.temporary = temporary
        ansible.environment |= {
            "PYTHONPATH": str(HERE / "recorded_processes"),
            "AICR_PROCESSES": str(self.processes),
            "TMPDIR": str(temporary),
            "ANSIBLE_KEEP_REMOTE_FILES": "1",
        }

    def file(self, name: str, content: object) -> str:
        """A file that holds the password."""
        path = self.inputs / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def playbook(self, name: str, variables: str, *arguments: str, inventory: str = "cluster,", expect: int = 0) -> Run:
        run = self.ansible.playbook(
            name, "-e", f"@{variables}", "-vvvv", "--diff", *arguments, inventory=inventory, expect=expect
        )
        self.outputs.append(run.output)
        record = self.ansible.folder / "record.jsonl"
        if record.exists():
            self.outputs.append(record.read_text(encoding="utf-8"))
        return run

    def tasks(self, tasks: list[dict[str, Any]], variables: str, *arguments: str, expect: int = 0) -> Run:
        play = self.ansible.folder / "play.yml"
        play.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")
        return self.playbook(str(play), variables, *arguments, expect=expect)

    def leaks(self) -> list[str]:
        """Every place where the password is and should not be."""
        texts = {f"output {number}": text.encode() for number, text in enumerate(self.outputs)}
        for root in (self.ansible.folder, self.temporary):
            for path in root.rglob("*"):
                if path.is_file() and self.inputs not in path.parents:
                    texts[str(path.relative_to(root))] = path.read_bytes()
        assert self.processes.read_text(encoding="utf-8"), "no process was seen"
        return sorted(name for name, text in texts.items() if any(form in text for form in FORMS))


@pytest.fixture
def watched(ansible: Ansible) -> Iterator[Watched]:
    with tempfile.TemporaryDirectory(prefix="aicr-") as temporary:
        yield Watched(ansible, Path(temporary))


def kubeconfig(watched: Watched) -> str:
    """A kubeconfig with a password, a token and a key, as a user's environment names it."""
    credentials = {"username": "u", "password": PASSWORD, "token": PASSWORD, "client-key-data": in_pem(PASSWORD)}
    path = watched.file(
        "kubeconfig",
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": credentials}],
        },
    )
    watched.ansible.environment |= {"KUBECONFIG": path, "K8S_AUTH_KUBECONFIG": path, "K8S_AUTH_PASSWORD": PASSWORD}
    return path


def in_pem(text: str) -> str:
    return base64.b64encode(f"-----BEGIN PRIVATE KEY-----\n{text}\n".encode()).decode()


def extra_vars(watched: Watched) -> str:
    """What every cluster gets, and a password that has nothing to do with it."""
    wanted = {"aicr_criteria": CRITERIA, "aicr_slurm_accounting_mode": "customer-managed", "vault": {"token": PASSWORD}}
    return watched.file("vars.json", {**wanted, "database_password": PASSWORD})


def inventory(watched: Watched, clusters: Mapping[str, object]) -> str:
    return watched.file("inventory.yaml", {"all": {"hosts": clusters}})


def test_nothing_of_a_run_that_succeeds_holds_a_password(watched: Watched) -> None:
    kubeconfig(watched)
    reference = watched.file("storage.yaml", f"# as long as it is {PASSWORD}\n{json.dumps(CONNECTION)}\n")
    values = watched.file("values.yaml", f"# {PASSWORD}\nreplicas: 2\n")
    given = {
        "aicr_snapshot": SNAPSHOT,
        "aicr_set_file": [f"{STORAGE}={reference}", f"slinkyslurm:restapi={values}"],
        "aicr_values": {"gpu-operator": {"driver": {"env": [{"name": "PASSWORD_FILE", "value": "/run/p"}]}}},
    }
    clusters = inventory(watched, {"one": given, "two": {**given, "aicr_deployer": "argocd"}})
    for arguments in (("site", "--check"), ("site",), ("recipe",), ("validate",), ("bundle",)):
        run = watched.playbook(f"aicr.runtime.{arguments[0]}", extra_vars(watched), *arguments[1:], inventory=clusters)
        assert [run.recap(cluster)["failed"] for cluster in ("one", "two")] == [0, 0]
    for cluster in ("one", "two"):
        bundle = watched.ansible.folder / "artifacts" / cluster / "bundle"
        assert any(b"db.example.com" in path.read_bytes() for path in bundle.rglob("values.yaml")), "the file was used"
    assert watched.leaks() == []


SECRET_MANIFEST = {"kind": "Secret", "metadata": {"name": "slurm-db"}, "stringData": {"password": PASSWORD}}

# What is refused: the file for set_file, or the variables; and what the refusal names.
FILES: dict[str, tuple[str, object, str]] = {
    "password": (STORAGE, {**CONNECTION, "password": PASSWORD}, "storageConfig.password"),
    "text-for-reference": (STORAGE, {**CONNECTION, "passwordKeyRef": PASSWORD}, "storageConfig.passwordKeyRef"),
    "value-in-reference": (
        STORAGE,
        {**CONNECTION, "passwordKeyRef": {"name": "a", "key": "b", "value": PASSWORD}},
        "passwordKeyRef.value",
    ),
    "password-in-host": (STORAGE, {**CONNECTION, "host": f"mysql://slurm:{PASSWORD}@db"}, "storageConfig.host"),
    "password-before-host": (STORAGE, {**CONNECTION, "host": f"slurm:{CORE}@db"}, "storageConfig.host"),
    "password-for-port": (STORAGE, {**CONNECTION, "port": PASSWORD}, "storageConfig.port"),
    "password-for-user": (STORAGE, {**CONNECTION, "username": PASSWORD}, "storageConfig.username"),
    "password-for-secret": (
        STORAGE,
        {**CONNECTION, "passwordKeyRef": {"name": PASSWORD, "key": PASSWORD}},
        "passwordKeyRef.name",
    ),
    "broken": (STORAGE, f"host: db\npassword: '{PASSWORD}' x: [\n", "broken.yaml: line 2"),
    "broken-json": (STORAGE, f'{{"password": "{CORE}}}', "broken-json.yaml"),
    "twice": (STORAGE, f"password: {CORE}\npassword: {CORE}\n", 'duplicate key "password"'),
    "tagged": (STORAGE, f"password: !!int {CORE}\n", "tagged.yaml"),
    "secret-manifest": ("slinkyslurm:restapi", SECRET_MANIFEST, "restapi.stringData.password"),
    "text": ("slinkyslurm:restapi.auth.token", PASSWORD, "restapi.auth.token"),
    "many-documents": ("nobody:auth", f"{{}}\n---\npassword: {CORE}\n", "nobody"),
}
BY_TEMPLATE = "{{ database_password }}"
VARIABLES: dict[str, tuple[dict[str, object], str]] = {
    "values": ({"aicr_values": {"slurmcluster": {"restapi": {"apiKey": BY_TEMPLATE}}}}, "restapi.apiKey"),
    "values-env": (
        {"aicr_values": {"slurmcluster": {"restapi": {"env": [{"name": "DB_PASSWORD", "value": BY_TEMPLATE}]}}}},
        "restapi.env",
    ),
    "values-text": ({"aicr_values": BY_TEMPLATE}, "aicr_values"),
    "values-list": ({"aicr_values": [BY_TEMPLATE]}, "aicr_values"),
    "values-shallow": ({"aicr_values": {"slurmcluster": BY_TEMPLATE}}, "slurmcluster"),
    "values-number-key": ({"aicr_values": "{{ {'slurmcluster': {1: database_password}} }}"}, "slurmcluster"),
    "set": ({"aicr_set": [f"slinkyslurm:restapi.token={BY_TEMPLATE}"]}, "restapi.token"),
    "set-no-component": ({"aicr_set": [f"restapi.token={BY_TEMPLATE}"]}, "restapi.token"),
    "set-no-path": ({"aicr_set": [f"slinkyslurm:={BY_TEMPLATE}"]}, "slinkyslurm:"),
    "set-bad-path": ({"aicr_set": [f"slinkyslurm:a..token={BY_TEMPLATE}"]}, "a..token"),
    "set-nobody": ({"aicr_set": [f"nobody:x={BY_TEMPLATE}"]}, "nobody"),
    "set-blocked": ({"aicr_set": ["cert-manager:x=1", f"cert-manager:x.y={BY_TEMPLATE}"]}, "x.y"),
    "set-toggle": ({"aicr_set": [f"cert-manager:enabled={BY_TEMPLATE}"]}, "cert-manager:enabled"),
    "set-mapping": ({"aicr_set": [{"password": BY_TEMPLATE}]}, "set"),
    "set-owned": ({"aicr_set": [f"slinkyslurm:accounting.enabled={BY_TEMPLATE}"]}, "accounting.enabled"),
    "set-json": (
        {"aicr_set_json": ["slinkyslurm:restapi={{ {'auth': {'passwd': database_password}} | to_json }}"]},
        "restapi.auth.passwd",
    ),
    "set-json-broken": ({"aicr_set_json": [f'slinkyslurm:restapi={{"passwd": "{CORE}}}']}, "slinkyslurm:restapi"),
    "set-json-twice": (
        {"aicr_set_json": [f'slinkyslurm:restapi={{"passwd": "{CORE}", "passwd": "{CORE}"}}']},
        'duplicate key "passwd"',
    ),
    "dynamic": ({"aicr_dynamic": [f"slinkyslurm:restapi.token={BY_TEMPLATE}"]}, "restapi.token"),
    "repo": ({"aicr_deployer": "argocd", "aicr_repo": f"https://u:{CORE}@git.example.com/x.git"}, "repo"),
}


def test_no_refusal_of_a_bundle_holds_a_password(watched: Watched) -> None:
    kubeconfig(watched)
    given = extra_vars(watched)
    watched.playbook("aicr.runtime.recipe", given)
    recipe = str(watched.ansible.folder / "artifacts" / "cluster" / "recipe.yaml")
    clusters: dict[str, dict[str, object]] = {name: dict(variables) for name, (variables, _unused) in VARIABLES.items()}
    named = {name: path for name, (_unused, path) in VARIABLES.items()}
    for name, (target, content, path) in FILES.items():
        clusters[f"file-{name}"] = {"aicr_set_file": [f"{target}={watched.file(f'{name}.yaml', content)}"]}
        named[f"file-{name}"] = path
    hosts = inventory(watched, {name: {**variables, "aicr_recipe": recipe} for name, variables in clusters.items()})
    run = watched.playbook("aicr.runtime.bundle", given, inventory=hosts, expect=2)
    told = messages(run)
    assert {name: path for name, path in named.items() if path not in told.get(name, "")} == {}, told
    assert sorted(path.parent.name for path in watched.ansible.folder.glob("artifacts/*/bundle")) == []
    assert watched.leaks() == []


def messages(run: Run) -> dict[str, str]:
    """Why each cluster failed."""
    return {
        host: result["msg"]
        for results in run.results.values()
        for host, result in results.items()
        if result["status"] == "failed"
    }


def test_a_kubeconfig_in_the_wrong_place_is_refused_unread(watched: Watched) -> None:
    path = kubeconfig(watched)
    document = "{{ lookup('ansible.builtin.file', '" + path + "') | from_yaml }}"
    clusters = {
        "snapshot": {"aicr_snapshot": path},
        "snapshot-document": {"aicr_snapshot": document},
        "recipe": {"aicr_snapshot": SNAPSHOT, "aicr_recipe": path},
        "config": {"aicr_config": path},
        "catalog": {"aicr_catalog": path},
        "set-file": {"aicr_set_file": [f"slinkyslurm:restapi={path}"]},
        "values": {"aicr_values": document},
        "component-values": {"aicr_values": {"slurmcluster": document}},
    }
    hosts, given = inventory(watched, clusters), extra_vars(watched)
    run = watched.playbook("aicr.runtime.site", given, inventory=hosts, expect=2)
    assert messages(run).keys() == clusters.keys() - {"recipe"}, "site makes the recipe by itself"
    run = watched.playbook("aicr.runtime.validate", given, "--limit", "recipe,snapshot", inventory=hosts, expect=2)
    assert messages(run).keys() == {"recipe", "snapshot"}
    run = watched.playbook("aicr.runtime.bundle", given, "--limit", "recipe", inventory=hosts, expect=2)
    assert messages(run).keys() == {"recipe"}
    assert watched.leaks() == []


KEYS = ("password", "passwd", "token", "secret", "apiKey", "privateKey", "adminPassword", "API_TOKEN")


def test_a_credential_is_refused_by_every_surface_without_its_value(watched: Watched) -> None:
    """ADR-016 section 6: a Secret is referred to. What refers, is empty, or switches, passes."""
    watched.playbook("aicr.runtime.recipe", extra_vars(watched))
    refused: dict[str, dict[str, object]] = {}
    for key in KEYS:
        file = watched.file(f"{key}.yaml", {"auth": {key: PASSWORD}})
        refused |= {
            f"values {key}": {"values": {"cert-manager": {"auth": {key: BY_TEMPLATE}}}},
            f"set {key}": {"set": [f"cert-manager:auth.{key}={BY_TEMPLATE}"]},
            f"set_json {key}": {"set_json": ["cert-manager:auth={{ {'" + key + "': database_password} | to_json }}"]},
            f"set_json list {key}": {
                "set_json": ["cert-manager:auth={{ [{'" + key + "': database_password}] | to_json }}"]
            },
            f"set_file {key}": {"set_file": [f"cert-manager:x={file}"]},
        }
    referring = {f"{key}{end}": "name-of-a-secret" for key in KEYS[:6] for end in ("Ref", "Name", "KeyRef")}
    accepted: dict[str, dict[str, object]] = {
        "references": {"values": {"cert-manager": {"auth": referring}}},
        "below a reference": {"values": {"cert-manager": {"auth": {"existingSecretRef": {"token": "key-in-it"}}}}},
        "empty": {"values": {"cert-manager": {"auth": {**dict.fromkeys(KEYS, ""), "token": None}}}},
    }
    tasks = [
        {
            "name": name,
            "aicr.runtime.bundle": {"recipe": "artifacts/cluster/recipe.yaml", "dest": "bundle", **options},
            "check_mode": name in accepted,
            "ignore_errors": True,
        }
        for name, options in (accepted | refused).items()
    ]
    run = watched.tasks(tasks, extra_vars(watched))
    assert {name for name in run.results if run.result(name)["status"] == "failed"} == set(refused)
    for name in refused:
        key = name.split()[-1]
        assert key in run.result(name)["msg"]
        assert "credential" in run.result(name)["msg"]
    assert not (watched.ansible.folder / "bundle").exists()
    assert watched.leaks() == []


def test_what_nobody_can_know_for_a_secret_stays_in_the_values(watched: Watched) -> None:
    """Under a harmless key it is a value like any other: in the bundle, but in no output, diff or process argument."""
    values = {"cert-manager": {"note": BY_TEMPLATE}}
    task = {"aicr.runtime.bundle": {"recipe": "artifacts/cluster/recipe.yaml", "dest": "bundle", "values": values}}
    watched.playbook("aicr.runtime.recipe", extra_vars(watched))
    watched.tasks([task, {**task, "check_mode": True}], extra_vars(watched), "--check")
    watched.tasks([task], extra_vars(watched))
    found = watched.leaks()
    assert len(found) == 1
    assert found[0].startswith("bundle/") and found[0].endswith("-cert-manager/values.yaml")


def test_helm_gets_no_value_as_argument(watched: Watched) -> None:
    """It renders a catalog in the reference's format; this one repeats its arguments where errors are shown."""
    programs, own = watched.ansible.folder / "programs", watched.ansible.folder / "own"
    programs.mkdir()
    (programs / "helm").write_text('#!/bin/sh\necho "arguments: $*" >&2\nexit 1\n')
    (programs / "helm").chmod(0o755)
    watched.ansible.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    header = {"apiVersion": "aicr.run/v1alpha2"}
    component = {"name": "own", "displayName": "own", "helm": {"defaultNamespace": "own"}}
    manifest = "components/own/manifests/note.yaml"
    for path, content in {
        "registry.yaml": {**header, "kind": "ComponentRegistry", "components": [component]},
        "overlays/own.yaml": {
            **header,
            "kind": "RecipeMetadata",
            "metadata": {"name": "own"},
            "spec": {
                "base": "eks-training",
                "criteria": {"service": "eks", "accelerator": "own", "intent": "training"},
                "componentRefs": [{"name": "own", "type": "Helm", "namespace": "own", "manifestFiles": [manifest]}],
            },
        },
        manifest: {"kind": "ConfigMap", "data": {"note": "{{ .Values.own.note }}"}},
    }.items():
        (own / path).parent.mkdir(parents=True, exist_ok=True)
        (own / path).write_text(json.dumps(content), encoding="utf-8")
    criteria = {"service": "eks", "accelerator": "own", "intent": "training"}
    run = watched.tasks(
        [
            {"aicr.runtime.recipe": {"criteria": criteria, "catalog": "own", "dest": "recipe.yaml"}},
            {
                "aicr.runtime.bundle": {
                    "recipe": "recipe.yaml",
                    "catalog": "own",
                    "dest": "bundle",
                    "values": {"own": {"note": BY_TEMPLATE}},
                }
            },
        ],
        extra_vars(watched),
        expect=2,
    )
    assert "arguments: template" in messages(run)["cluster"]
    assert watched.leaks() == []


@pytest.mark.parametrize("before", ["", "x", "xy", "user:"])
@pytest.mark.parametrize("after", ["", "\n", "@db"])
def test_the_search_knows_base64_wherever_the_secret_begins(before: str, after: str) -> None:
    whole = f"{before}{PASSWORD}{after}".encode()
    for coded in (base64.b64encode(whole), base64.urlsafe_b64encode(whole)):
        assert any(form in coded for form in FORMS)
        assert CORE.encode() not in coded


def test_the_search_finds_tasks_that_leak_on_purpose(watched: Watched) -> None:
    """Each in a place or a form of its own, or a search that looks nowhere would pass."""

    def written(name: str, content: str) -> dict[str, Any]:
        file = {"content": content, "dest": f"{watched.ansible.folder}/{name}", "mode": "0600"}
        return {"ansible.builtin.copy": file, "no_log": True, "delegate_to": "localhost"}

    given = extra_vars(watched)
    quiet = watched.tasks([{"ansible.builtin.debug": {"msg": "{{ database_password | length }}"}}], given)
    assert quiet.result("ansible.builtin.debug")["status"] == "ok"
    watched.processes.write_text("none yet")
    assert watched.leaks() == []
    watched.ansible.environment["ANSIBLE_KEEP_REMOTE_FILES"] = "0"
    watched.tasks(
        [
            written("plain", "{{ database_password }}"),
            written("json", "{{ {'a': database_password} | to_json }}"),
            written("base64", "{{ ('ab' ~ database_password ~ 'cd') | b64encode }}"),
            written("unrelated", "{{ database_password | length }}"),
            {
                "ansible.builtin.command": {"argv": ["true", "{{ database_password }}"]},
                "no_log": True,
                "delegate_to": "localhost",
            },
        ],
        given,
    )
    assert watched.leaks() == ["base64", "json", "plain", "processes.txt"]
    watched.tasks([{"ansible.builtin.debug": {"msg": "{{ database_password | b64encode }}"}}], given)
    shown = f"output {len(watched.outputs) - 2}"
    assert shown in watched.leaks()
