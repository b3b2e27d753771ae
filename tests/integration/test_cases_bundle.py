# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that users of such software met in the field, each as its whole kind (the ids are those of spec/cases.md).

A stage is run as its action runs it: the task's arguments in, the task's result out. Written files are read with plain
PyYAML. Only what Ansible itself does to values needs a playbook (Y7).
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import verify_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import BUNDLE, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import failed
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe

if TYPE_CHECKING:
    from .conftest import Ansible

CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
STORAGE = {
    "host": "db.example.com",
    "port": 3306,
    "database": "acct",
    "username": "svc",
    "passwordKeyRef": {"name": "db", "key": "password"},
}
STAGES: Mapping[str, tuple[Any, Callable[..., Any]]] = {
    "recipe": (RECIPE, make_recipe),
    "bundle": (BUNDLE, make_bundle),
}


def run(stage: str, **arguments: object) -> dict[str, Any]:
    """One task of a stage."""
    spec, make = STAGES[stage]
    try:
        result: dict[str, Any] = make(parse(spec, arguments)).deliver(
            check_mode=False, diff=False, return_document=True
        )
    except AicrError as error:
        return failed(error)
    return result


class Bench:
    """Makes bundles in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.numbers = itertools.count()

    def recipe(self, mode: str = "disabled") -> dict[str, Any]:
        """A recipe that a test may change."""
        result = run("recipe", criteria=CRITERIA, slurm_accounting_mode=mode)
        assert not result.get("failed"), result
        document: dict[str, Any] = copy.deepcopy(result["document"])
        return document

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def made(self, recipe: object = None, **arguments: object) -> Path:
        """The folder of a bundle that must come to be."""
        dest = self.folder / f"bundle-{next(self.numbers)}"
        result = run("bundle", recipe=recipe or self.recipe(), dest=str(dest), **arguments)
        assert not result.get("failed"), result
        self.warnings: list[str] = result["warnings"]
        return dest

    def refused(self, recipe: object = None, **arguments: object) -> str:
        """Why a bundle must not come to be, with the way out."""
        dest = self.folder / f"bundle-{next(self.numbers)}"
        result = run("bundle", recipe=recipe or self.recipe(), dest=str(dest), **arguments)
        assert result.get("failed"), f"was accepted: {arguments}"
        assert not dest.exists()
        assert result["error"]["hint"]
        return str(result["msg"])

    def values(self, component: str, recipe: object = None, **arguments: object) -> dict[str, Any]:
        """The values that a component has in a bundle."""
        (file,) = self.made(recipe, **arguments).glob(f"[0-9][0-9][0-9]-{component}/values.yaml")
        found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def reference(recipe: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(ref for ref in recipe["componentRefs"] if ref["name"] == name)
    return found


def at(values: object, path: str) -> Any:
    for key in path.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    return values


# ---- N15: a version that installs whatever is newest

UNPINNED = [
    "",
    "v",
    "V",
    " ",
    "\t",
    "latest",
    "*",
    "1.x",
    "1.2.*",
    "^1.2",
    "~1.2.1",
    ">= 1.2.1",
    "1.2.1 || 2",
    "=1.2.1",
]
BLANKS = [" 1.2.1", "1.2.1 ", "1.2.1\n", " 1.2.1 "]


@pytest.mark.parametrize("version", UNPINNED + BLANKS)
def test_n15_a_version_of_no_one_release_is_refused(bench: Bench, version: str) -> None:
    recipe = bench.recipe()
    reference(recipe, "slinky-slurm")["version"] = version
    assert '"slinky-slurm"' in bench.refused(recipe)


@pytest.mark.parametrize("version", ["1.2.1", "v1.2.1", "1.3.0-rc1", "1.2.1+build.x"])
def test_n15_a_version_is_passed_on_as_it_is(bench: Bench, version: str) -> None:
    recipe = bench.recipe()
    reference(recipe, "slinky-slurm")["version"] = version
    (file,) = bench.made(recipe).glob("*-slinky-slurm/upstream.env")
    assert f"VERSION='{version}'" in file.read_text()


@pytest.mark.parametrize("missing", ["version", "source", "chart and source"])
def test_n15_a_chart_without_version_or_source_is_refused(bench: Bench, missing: str) -> None:
    recipe = bench.recipe()
    for key in missing.split(" and "):
        del reference(recipe, "slinky-slurm")[key]
    assert '"slinky-slurm"' in bench.refused(recipe)


def own_catalog(bench: Bench, registry: str, component: str) -> str:
    """An external catalog with one component of its own, in an overlay for an accelerator of its own."""
    header = "apiVersion: aicr.run/v1alpha2\n"
    bench.file("own/registry.yaml", f"kind: ComponentRegistry\n{header}components:\n{registry}")
    bench.file(
        "own/overlays/own.yaml",
        f"kind: RecipeMetadata\n{header}metadata:\n  name: own\nspec:\n  criteria:\n    service: eks\n"
        f"    accelerator: own\n  componentRefs:\n  - name: own\n{component}",
    )
    return str(bench.folder / "own")


REGISTERED = """\
- name: own
  displayName: Own
  helm:
    defaultRepository: https://charts.example.com
    defaultChart: own
    defaultVersion: {version}
    defaultNamespace: own
"""


def own_recipe(catalog: str) -> dict[str, Any]:
    return run("recipe", criteria={"service": "eks", "accelerator": "own"}, catalog=catalog)


@pytest.mark.parametrize("version", UNPINNED + BLANKS)
def test_n15_a_catalog_cannot_ask_for_the_newest(bench: Bench, version: str) -> None:
    quoted = json.dumps(version)
    refused = own_recipe(own_catalog(bench, REGISTERED.format(version=quoted), ""))
    assert "registry.yaml:9" in refused["msg"]
    in_overlay = own_recipe(own_catalog(bench, REGISTERED.format(version='"1.0.0"'), f"    version: {quoted}\n"))
    assert "own.yaml:11" in in_overlay["msg"]


# ---- N28: a bundle that somebody changed


def problems(bundle: Path) -> list[str]:
    return [problem.message for problem in verify_bundle(bundle).problems]


def test_n28_every_change_of_every_file_is_found(bench: Bench) -> None:
    bundle = bench.made(bench.recipe("aicr-provided"))
    assert problems(bundle) == []
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file() and path.name != "checksums.txt"]
    assert {"recipe.yaml", "README.md", "deploy.sh", "bundle-info.yaml"} < {path.name for path in files}
    assert any("templates" in path.parts for path in files)
    for path in files:
        name, content = str(path.relative_to(bundle)), path.read_bytes()
        path.write_bytes(content + b" ")
        assert problems(bundle) == [f'"{name}" was changed']
        path.write_bytes(content[:-1])
        assert problems(bundle) == [f'"{name}" was changed']
        path.unlink()
        assert any(f'"{name}"' in problem for problem in problems(bundle))
        (bench.folder / "elsewhere").write_bytes(content)
        path.symlink_to(bench.folder / "elsewhere")
        assert any(f'"{name}" is a link' in problem for problem in problems(bundle))
        path.unlink()
        path.write_bytes(content)
    assert problems(bundle) == []


@pytest.mark.parametrize("where", ["", "021-slinky-slurm", "020-slinky-slurm-pre/templates"])
@pytest.mark.parametrize("what", ["extra.yaml", ".hidden", "link", "folder"])
def test_n28_what_nobody_listed_is_found(bench: Bench, where: str, what: str) -> None:
    bundle = bench.made(bench.recipe("aicr-provided"))
    path = bundle / where / what
    assert path.parent.is_dir()
    if what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to(bundle / "README.md")
    else:
        path.write_text("kind: ConfigMap\n")
    (found,) = problems(bundle)
    assert f'"{path.relative_to(bundle)}"' in found


def test_n28_a_list_that_was_changed_as_well_gives_another_digest(bench: Bench) -> None:
    dest = bench.folder / "bundle"
    digest = run("bundle", recipe=bench.recipe(), dest=str(dest))["digest"]
    assert verify_bundle(dest).digest == digest
    listing = dest / "checksums.txt"
    lines = listing.read_text().splitlines(keepends=True)
    for changed in (lines[1:], lines + lines[:1], [lines[0].swapcase(), *lines[1:]], []):
        listing.write_text("".join(changed))
        try:
            verified = verify_bundle(dest)
        except AicrError:
            continue
        assert verified.problems or verified.digest != digest
    listing.unlink()
    with pytest.raises(AicrError, match=r"checksums\.txt"):
        verify_bundle(dest)


# ---- N30: an override that cannot take effect

SURFACES: Mapping[str, Callable[[Bench, str, str, object], dict[str, object]]] = {
    "values": lambda _, component, path, value: {"values": {component: nested(path, value)}},
    "set": lambda _, component, path, value: {"set": [f"{component}:{path}={value}"]},
    "set_json": lambda _, component, path, value: {"set_json": [f"{component}:{path}={json.dumps(value)}"]},
    "set_file": lambda bench, component, path, value: {
        "set_file": [f"{component}:{path}={bench.file(f'value-{next(bench.numbers)}.json', json.dumps(value))}"]
    },
    "dynamic": lambda _, component, path, value: {"dynamic": [f"{component}:{path}"]},
}
STATIC = [surface for surface in SURFACES if surface != "dynamic"]


def nested(path: str, value: object) -> Any:
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def merged(options: list[dict[str, Any]]) -> dict[str, Any]:
    """The options of many overrides by one surface."""
    (surface,) = {name for option in options for name in option}
    if surface != "values":
        return {surface: [entry for option in options for entry in option[surface]]}
    together: dict[str, Any] = {}
    for option in options:
        merge(together, option["values"])
    return {"values": together}


def merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict):
            merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(
    ("component", "more"),
    [
        ("nvsentinl", {}),
        ("NVSentinel", {}),
        ("no-such-thing", {}),
        ("mariadb-operator", {}),
        ("mariadboperator", {}),
        ("nvsentinel", {"components": ["cert-manager", "slinky-slurm"]}),
        ("nvsentinel", {"set": ["nvsentinel:enabled=false"]}),
        ("agentgateway", {}),
    ],
    ids=["typo", "case", "unknown", "disabled", "alias-disabled", "filtered", "switched-off", "not-declared"],
)
def test_n30_an_override_without_effect_is_refused_by_name(
    bench: Bench, surface: str, component: str, more: dict[str, list[str]]
) -> None:
    options = SURFACES[surface](bench, component, "some.key", "1")
    for name, entries in more.items():
        options[name] = [*entries, *options.get(name, [])]  # type: ignore[misc]
    message = bench.refused(**options)
    assert f"{surface} {component}:some.key" in message
    assert "cannot take effect" in message


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("component", ["slinky-slurm", "slinkyslurm", "slurmcluster"])
def test_n30_a_name_and_its_aliases_take_effect(bench: Bench, surface: str, component: str) -> None:
    bundle = bench.made(**SURFACES[surface](bench, component, "some.key", "text"))
    file = "cluster-values.yaml" if surface == "dynamic" else "values.yaml"
    (path,) = bundle.glob(f"*-slinky-slurm/{file}")
    assert at(yaml.safe_load(path.read_text()), "some.key") == ("" if surface == "dynamic" else "text")


@pytest.mark.parametrize("name", ["nvsentinl", "mariadb-operator", "agentgateway"])
def test_n30_a_filter_without_effect_is_refused_by_name(bench: Bench, name: str) -> None:
    assert f'"{name}"' in bench.refused(components=["cert-manager", name])


# ---- N31: a position in a list is no key of a mapping


@pytest.mark.parametrize("surface", ["set", "set_json", "set_file", "dynamic"])
@pytest.mark.parametrize(
    "path", ["operator.tolerations[2].key", "driver.env[3].name", "driver.env[0]", "env[-1].x", "a[b]", "a[].b", "a]b"]
)
def test_n31_a_list_position_is_refused(bench: Bench, surface: str, path: str) -> None:
    message = bench.refused(**SURFACES[surface](bench, "gpuoperator", path, "x"))
    assert "list position" in message
    assert path in message


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("path", ["devicePlugin.env.0.value", "validator.plugin.env.0.name"])
def test_n31_a_path_through_a_list_is_refused(bench: Bench, surface: str, path: str) -> None:
    """As a number between dots a position would replace the list by a mapping."""
    recipe = bench.recipe()
    if surface == "values":  # a mapping in values replaces a list on purpose
        assert (
            at(bench.values("gpu-operator", recipe, **SURFACES[surface](bench, "gpuoperator", path, "x")), path) == "x"
        )
        return
    message = bench.refused(recipe, **SURFACES[surface](bench, "gpuoperator", path, "x"))
    assert path in message
    assert "is a list" in message


@pytest.mark.parametrize("surface", ["values", "set"])
def test_n31_a_mapping_for_tolerations_does_not_get_lost(bench: Bench, surface: str) -> None:
    message = bench.refused(**SURFACES[surface](bench, "gpuoperator", "operator.tolerations.2.key", "x"))
    assert "gpu-operator:operator.tolerations must be a list" in message


# ---- N33: what a recipe leaves empty on purpose

EMPTY = [[], None]


def toleration_paths(recipe: Mapping[str, Any], registry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = {ref["name"] for ref in recipe["componentRefs"] if ref.get("overrides", {}).get("install") is not False}
    for component in registry["components"]:
        classes = component.get("nodeScheduling", {})
        if component["name"] in names:
            for node_class in ("system", "accelerated"):
                for path in classes.get(node_class, {}).get("tolerationPaths", ()):
                    yield component["name"], path


@pytest.mark.parametrize("empty", EMPTY, ids=json.dumps)
@pytest.mark.parametrize(
    "scheduling",
    [{}, {"system_node_tolerations": ["a=b:NoSchedule"], "accelerated_node_tolerations": ["a=b:NoSchedule"]}],
    ids=["default", "option"],
)
def test_n33_an_empty_list_of_the_recipe_is_no_gap(bench: Bench, empty: object, scheduling: dict[str, object]) -> None:
    """At every path that the registry knows. An option for all components is not meant for this one: it says so."""
    recipe = bench.recipe()
    registry = yaml.safe_load((Path(__file__).resolve().parents[2] / "recipes" / "registry.yaml").read_text())
    places = sorted(set(toleration_paths(recipe, registry)))
    assert len(places) > 20
    for component, path in places:
        overrides = reference(recipe, component).setdefault("overrides", {})
        *parents, last = path.split(".")
        for key in parents:
            overrides = overrides.setdefault(key, {})
        overrides[last] = empty
    bundle = bench.made(recipe, scheduling=scheduling)
    left_out = "\n".join(bench.warnings)
    for component, path in places:
        (file,) = bundle.glob(f"[0-9][0-9][0-9]-{component}/values.yaml")
        assert not at(yaml.safe_load(file.read_text()), path), f"{component}:{path}"
        assert (f"{component}:{path} is empty on purpose" in left_out) == bool(scheduling)


@pytest.mark.parametrize("surface", ["values", "set_json", "set_file"])
@pytest.mark.parametrize("held", [[], [{"key": "recipe", "operator": "Exists"}]], ids=json.dumps)
def test_n33_a_users_own_list_beats_recipe_and_default(bench: Bench, surface: str, held: object) -> None:
    recipe = bench.recipe()
    reference(recipe, "gpu-operator").setdefault("overrides", {})["daemonsets"] = {"tolerations": held}
    mine = [{"key": "mine", "operator": "Exists"}]
    options = SURFACES[surface](bench, "gpuoperator", "daemonsets.tolerations", mine)
    assert at(bench.values("gpu-operator", recipe, **options), "daemonsets.tolerations") == mine
    nothing = SURFACES[surface](bench, "gpuoperator", "daemonsets.tolerations", [])
    assert at(bench.values("gpu-operator", recipe, **nothing), "daemonsets.tolerations") == []


def test_n33_an_option_adds_to_a_recipes_list_and_beats_the_default(bench: Bench) -> None:
    recipe = bench.recipe()
    assert at(bench.values("gpu-operator", recipe), "daemonsets.tolerations") == [{"operator": "Exists"}]
    taint = {"effect": "NoSchedule", "key": "a", "operator": "Equal", "value": "b"}
    scheduling = {"accelerated_node_tolerations": ["a=b:NoSchedule"]}
    assert at(bench.values("gpu-operator", recipe, scheduling=scheduling), "daemonsets.tolerations") == [taint]
    held = {"key": "recipe", "operator": "Exists"}
    reference(recipe, "gpu-operator").setdefault("overrides", {})["daemonsets"] = {"tolerations": [held]}
    assert at(bench.values("gpu-operator", recipe), "daemonsets.tolerations") == [held]
    assert at(bench.values("gpu-operator", recipe, scheduling=scheduling), "daemonsets.tolerations") == [held, taint]


# ---- S8: databases that slurmdbd cannot speak to; S11: a host that is another machine on every node


def connection(surface: str, bench: Bench, key: str, value: object) -> dict[str, object]:
    options = SURFACES[surface](bench, "slinkyslurm", f"accounting.storageConfig.{key}", value)
    storage = {name: held for name, held in STORAGE.items() if name != key}
    if surface == "values":
        options["values"]["slinkyslurm"]["accounting"]["storageConfig"].update(storage)  # type: ignore[index]
    else:
        options["values"] = {"slinky-slurm": {"accounting": {"storageConfig": storage}}}
    return options


@pytest.mark.parametrize("surface", STATIC)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("port", 5432),
        ("host", "postgres://db.example.com/acct"),
        ("host", "postgresql://svc@db.example.com:5432/acct"),
        ("host", "POSTGRES://db.example.com"),
        ("host", "jdbc:postgresql://db.example.com/acct"),
        ("host", "postgresql+psycopg://db.example.com"),
        ("host", "db.example.com:5432"),
    ],
)
def test_s8_an_address_of_postgresql_is_called_so(bench: Bench, surface: str, key: str, value: object) -> None:
    message = bench.refused(bench.recipe("customer-managed"), **connection(surface, bench, key, value))
    assert f"slinky-slurm:accounting.storageConfig.{key}" in message
    assert "PostgreSQL" in message
    assert "MariaDB or MySQL" in message


@pytest.mark.parametrize("surface", STATIC)
@pytest.mark.parametrize("host", ["mongodb://db", "mysql://db.example.com", "jdbc:mariadb://db/acct", "tcp://db:3306"])
def test_s8_a_url_is_no_host(bench: Bench, surface: str, host: str) -> None:
    message = bench.refused(bench.recipe("customer-managed"), **connection(surface, bench, "host", host))
    assert "slinky-slurm:accounting.storageConfig.host is a URL" in message


@pytest.mark.parametrize("host", ["postgres.example.com", "pg-5432.db", "mysql.example.com"])
def test_s8_a_name_tells_nothing_about_the_server(bench: Bench, host: str) -> None:
    options = connection("values", bench, "host", host)
    values = bench.values("slinky-slurm", bench.recipe("customer-managed"), **options)
    assert at(values, "accounting.storageConfig.host") == host


@pytest.mark.parametrize("surface", STATIC)
@pytest.mark.parametrize(
    "host",
    [
        *(
            "localhost",
            "LOCALHOST",
            "localhost.",
            "localhost.localdomain",
            "db.localhost",
            "localhost4",
            "ip6-localhost",
        ),
        *("127.0.0.1", "127.8.8.8", "127.0.0.1.", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "0.0.0.0", "::"),
        *(
            "127.1",
            "0x7f000001",
            "2130706433",
            "169.254.10.1",
            "fe80::1",
            "fe80::1%eth0",
            "224.0.0.1",
            "255.255.255.255",
        ),
    ],
)
def test_s11_a_host_that_every_node_takes_for_another_machine_is_refused(bench: Bench, surface: str, host: str) -> None:
    message = bench.refused(bench.recipe("customer-managed"), **connection(surface, bench, "host", host))
    assert "slinky-slurm:accounting.storageConfig.host" in message


@pytest.mark.parametrize(
    "host", ["mariadb", "db.example.com", "DB-1.example.com.", "mylocalhost.example.com", "10.1.2.3", "fd00::7", "1.db"]
)
def test_s11_any_other_name_or_address_is_a_host(bench: Bench, host: str) -> None:
    options = connection("set_json", bench, "host", host)
    values = bench.values("slinky-slurm", bench.recipe("customer-managed"), **options)
    assert at(values, "accounting.storageConfig.host") == host


# ---- H1: large numbers; H3: tags that look like numbers; H5: keys with dots


QUIET = [0, 7, 999_999, -999_999, 0.5, 0.0001]
LOUD = [1_000_000, 8_388_608, 356_136_738, -1_000_000, 1_000_000.5, 0.00001]


@pytest.mark.parametrize("surface", STATIC)
def test_h1_a_number_stays_and_helms_way_with_it_is_told(bench: Bench, surface: str) -> None:
    numbers = {f"n{index}": number for index, number in enumerate(QUIET + LOUD)}
    options: list[dict[str, object]] = []
    for name, number in numbers.items():
        written = f"{number:.6f}".rstrip("0").rstrip(".") if surface == "set" else number
        options.append(SURFACES[surface](bench, "slinkyslurm", f"own.{name}", written))
    values = bench.values("slinky-slurm", **merged(options))
    assert values["own"] == numbers
    assert {name: type(value) for name, value in values["own"].items()} == {
        name: type(number) for name, number in numbers.items()
    }
    told = [warning.partition(" is a number")[0] for warning in bench.warnings if "exponent" in warning]
    assert sorted(told) == sorted(
        f"{surface} slinkyslurm:own.{name}" for name, number in numbers.items() if number in LOUD
    )


@pytest.mark.parametrize("surface", ["values", "set_json", "set_file"])
def test_h1_numbers_in_files_and_lists_are_seen_and_quoted_ones_left_alone(bench: Bench, surface: str) -> None:
    given = {"list": [1, 2_000_000], "deep": [{"size": 3_000_000}], "text": "4000000", "small": [5]}
    values = bench.values("slinky-slurm", **SURFACES[surface](bench, "slinkyslurm", "own", given))
    assert values["own"] == given
    told = [warning.partition(" is a number")[0] for warning in bench.warnings if "exponent" in warning]
    assert told == [f"{surface} slinkyslurm:own.list", f"{surface} slinkyslurm:own.deep.size"]


NUMBERLIKE = ["20161216", "4651090", "1234e56", "1e6", "0755", "0x1f", "1.30", "1_000", ".5", "true", "null", "no", "~"]


@pytest.mark.parametrize("surface", STATIC)
@pytest.mark.parametrize("key", ["tag", "imageTag", "version", "digest", "appVersion"])
def test_h3_a_tag_that_looks_like_something_else_stays_text(bench: Bench, surface: str, key: str) -> None:
    texts = {f"image{index}": {key: text} for index, text in enumerate(NUMBERLIKE)}
    options = [
        SURFACES[surface](bench, "slinkyslurm", f"own.{name}.{key}", image[key]) for name, image in texts.items()
    ]
    assert bench.values("slinky-slurm", **merged(options))["own"] == texts


@pytest.mark.parametrize("key", ["accountId", "clusterID", "id"])
def test_h3_an_account_number_keeps_its_digits(bench: Bench, key: str) -> None:
    texts = {f"cloud{index}": {key: text} for index, text in enumerate(["20161216", "1234e56", "0755", "012345678901"])}
    entries = [f"slinkyslurm:own.{name}.{key}={cloud[key]}" for name, cloud in texts.items()]
    assert bench.values("slinky-slurm", set=entries)["own"] == texts


@pytest.mark.parametrize("surface", ["set", "set_json", "set_file", "dynamic"])
def test_h5_an_escaped_dot_is_part_of_the_key(bench: Bench, surface: str) -> None:
    path = r"operator.nodeSelector.nvidia\.com/gpu\.present"
    bundle = bench.made(**SURFACES[surface](bench, "gpuoperator", path, "yes-please"))
    file = "cluster-values.yaml" if surface == "dynamic" else "values.yaml"
    (found,) = bundle.glob(f"*-gpu-operator/{file}")
    selector = yaml.safe_load(found.read_text())["operator"]["nodeSelector"]
    assert selector == {"nvidia.com/gpu.present": "" if surface == "dynamic" else "yes-please"}


@pytest.mark.parametrize("options", ["values", "scheduling"])
def test_h5_a_dot_in_a_key_of_a_mapping_needs_no_escape(bench: Bench, options: str) -> None:
    selector = {"nvidia.com/gpu.present": "true"}
    given: dict[str, object] = {"values": {"gpuoperator": {"operator": {"nodeSelector": selector}}}}
    if options == "scheduling":
        given = {"scheduling": {"system_node_selector": selector}}
    assert bench.values("gpu-operator", **given)["operator"]["nodeSelector"] == selector


def test_h5_an_escaped_dot_is_no_way_around_the_lock(bench: Bench) -> None:
    r"""``accounting\.enabled`` is a key of its own; the owned one is reached by no spelling."""
    values = bench.values("slinky-slurm", set=[r"slinkyslurm:accounting\.enabled=true"])
    assert (values["accounting.enabled"], values["accounting"]["enabled"]) == (True, False)
    for path in ("accounting.enabled", r"accounting.enabled.x\.y", "accounting"):
        assert "is owned by" in bench.refused(dynamic=[f"slinkyslurm:{path}"])


# ---- Y1: a float where a version is due

FLOATS = [1.30, 1.40, 2.20]


@pytest.mark.parametrize("number", FLOATS)
def test_y1_a_float_where_text_is_due_is_refused_with_the_fix(bench: Bench, number: float) -> None:
    told = {
        "criteria.os": run("recipe", criteria={"service": "eks", "os": number}),
        "profile": run("recipe", criteria=CRITERIA, profile=number),
        "target_revision": run("bundle", recipe=bench.recipe(), dest="x", target_revision=number),
        "scheduling.storage_class": run(
            "bundle", recipe=bench.recipe(), dest="x", scheduling={"storage_class": number}
        ),
        "set[0]": run("bundle", recipe=bench.recipe(), dest="x", set=[number]),
    }
    for option, result in told.items():
        assert option in result["msg"], option
        assert "quotes" in result["error"]["hint"], option


@pytest.mark.parametrize("number", ["1.30", "1.40", "2.20", "1.3", "2"])
def test_y1_an_unquoted_version_in_a_file_is_refused_with_the_fix(bench: Bench, number: str) -> None:
    in_registry = own_recipe(own_catalog(bench, REGISTERED.format(version=number), ""))
    assert "registry.yaml:9" in in_registry["msg"]
    in_overlay = own_recipe(own_catalog(bench, REGISTERED.format(version='"1.0.0"'), f"    version: {number}\n"))
    assert "own.yaml:11" in in_overlay["msg"]
    constraint = f"  constraints:\n  - name: K8s.server.version\n    value: {number}\n"
    in_constraint = own_recipe(own_catalog(bench, REGISTERED.format(version='"1.0.0"'), constraint))
    assert "own.yaml:13" in in_constraint["msg"]
    recipe = bench.recipe()
    reference(recipe, "slinky-slurm")["version"] = "VERSION"
    text = yaml.safe_dump(recipe).replace("VERSION", number)
    in_recipe = run("bundle", recipe=bench.file("recipe.yaml", text), dest=str(bench.folder / "b"))
    assert "version" in in_recipe["msg"]
    for result in (in_registry, in_overlay, in_constraint, in_recipe):
        assert "quotes" in result["msg"]


@pytest.mark.parametrize("surface", ["values", "set_json"])
@pytest.mark.parametrize("number", FLOATS)
@pytest.mark.parametrize("value", [lambda number: number, lambda number: [{"tag": number}]], ids=["bare", "in-a-list"])
def test_y1_a_float_as_a_version_among_values_is_refused(
    bench: Bench, surface: str, number: float, value: Callable[[float], object]
) -> None:
    message = bench.refused(**SURFACES[surface](bench, "slinkyslurm", "own.version", value(number)))
    assert f"{surface} slinkyslurm:own.version" in message
    assert "quotes" in message


def test_y1_a_float_as_a_version_in_a_file_is_refused_and_as_its_only_text_kept(bench: Bench) -> None:
    file = bench.file("image.yaml", "tag: 1.30\nfactor: 1.30\n")
    assert "own.tag" in bench.refused(set_file=[f"slinkyslurm:own={file}"])
    file = bench.file("tag.yaml", "1.30\n")
    assert bench.values("slinky-slurm", set_file=[f"slinkyslurm:own.tag={file}"])["own"]["tag"] == "1.30"


# ---- Y4: words that YAML 1.1 reads as booleans

WORDS = [
    "no",
    "NO",
    "yes",
    "on",
    "off",
    "y",
    "n",
    "true",
    "False",
    "null",
    "~",
    "1e3",
    "0o7",
    "12:30",
    "2026-11-30",
    "=",
]


def test_y4_a_word_is_the_same_text_to_every_reader_of_the_bundle(bench: Bench) -> None:
    """What Helm reads as YAML 1.2 and PyYAML as YAML 1.1 is quoted in the file."""
    own = {
        "labels": {word: word for word in WORDS},
        "list": WORDS,
        **{f"name{i}": word for i, word in enumerate(WORDS)},
    }
    selector = {f"example.com/{word}": word for word in WORDS if word.isalnum()}
    bundle = bench.made(values={"slinkyslurm": {"own": own}}, scheduling={"system_node_selector": selector})
    (slurm,), (operator,) = bundle.glob("*-slinky-slurm/values.yaml"), bundle.glob("*-gpu-operator/values.yaml")
    assert yaml.safe_load(slurm.read_text())["own"] == own
    assert yaml.safe_load(operator.read_text())["operator"]["nodeSelector"] == selector


def test_y4_set_reads_yaml_1_2(bench: Bench) -> None:
    words = {f"name{i}": word for i, word in enumerate(["no", "NO", "yes", "on", "off", "y", "n"])}
    entries = [f"slinkyslurm:own.{name}={word}" for name, word in words.items()]
    assert bench.values("slinky-slurm", set=entries)["own"] == words


@pytest.mark.parametrize("boolean", [True, False])
def test_y4_a_boolean_where_text_is_due_is_refused_with_the_fix(bench: Bench, boolean: bool) -> None:
    told = {
        "criteria.os": run("recipe", criteria={"service": "eks", "os": boolean}),
        "nodes-are": run(
            "bundle", recipe=bench.recipe(), dest="x", scheduling={"system_node_selector": {"nodes-are": boolean}}
        ),
        "accelerated_node_tolerations": run(
            "bundle", recipe=bench.recipe(), dest="x", scheduling={"accelerated_node_tolerations": [boolean]}
        ),
        "own.tag": run("bundle", recipe=bench.recipe(), dest="x", values={"slinkyslurm": {"own": {"tag": boolean}}}),
    }
    for option, result in told.items():
        assert option in result["msg"], option
        assert "quotes" in result["error"]["hint"], option


# ---- Y7: what Ansible's own types do to a bundle


def test_y7_templated_unsafe_and_tagged_values_are_plain_in_the_bundle(ansible: Ansible) -> None:
    variables = {
        "labels": {"team": "{{ 'a' ~ 'b' }}", "raw": "{{ lookup('ansible.builtin.env', 'HOME') | basename }}"},
        "size": "{{ 200 }}",
        "flag": "{{ true }}",
        "list": "{{ ['a', 'b'] | map('upper') | list }}",
        "number_as_text": "{{ '0755' }}",
    }
    own = (
        "{{ {'labels': labels, 'size': size, 'flag': flag, 'list': list, 'text': number_as_text,"
        " 'joined': inventory_hostname ~ '-x'} }}"
    )
    recipe = {"aicr.runtime.recipe": {"criteria": CRITERIA, "dest": "recipe.yaml"}}
    bundle = {
        "aicr.runtime.bundle": {
            "recipe": "recipe.yaml",
            "dest": "bundle",
            "values": {"slinky-slurm": {"own": own}},
            "set": ["{{ 'slinkyslurm:clusterName=' ~ inventory_hostname }}"],
            "components": "{{ ['slinky-slurm', 'slinky-slurm-operator', 'slinky-slurm-operator-crds'] }}",
        }
    }
    ansible.tasks([recipe, bundle], vars=variables)
    (file,) = (ansible.folder / "bundle").glob("*-slinky-slurm/values.yaml")
    values = yaml.safe_load(file.read_text())  # which knows no tags of Python
    assert values["own"] == {
        "labels": {"team": "ab", "raw": ansible.folder.name},
        "size": 200,
        "flag": True,
        "list": ["A", "B"],
        "text": "0755",
        "joined": "cluster-x",
    }
    assert values["clusterName"] == "cluster"


# ---- names and addresses that the reference passes on unread (rule input-strict)


@pytest.mark.parametrize(
    "source", ["not a url", "charts.example.com", "http//charts.example.com", "file:///charts", "../charts", "https://"]
)
def test_an_address_of_a_repository_is_checked(bench: Bench, source: str) -> None:
    recipe = bench.recipe()
    reference(recipe, "slinky-slurm")["source"] = source
    message = bench.refused(recipe)
    assert '"slinky-slurm"' in message
    assert "source" in message


@pytest.mark.parametrize("scheme", ["https", "oci"])
def test_a_password_in_an_address_is_refused_and_not_repeated(bench: Bench, scheme: str) -> None:
    recipe = bench.recipe()
    reference(recipe, "slinky-slurm")["source"] = f"{scheme}://user:hunter2@charts.example.com/slurm"
    message = bench.refused(recipe)
    assert '"slinky-slurm"' in message
    assert "hunter2" not in message
    address = "https://user:hunter2@git.example.com/clusters.git"
    message = bench.refused(deployer="argocd", repo=address)
    assert "repo:" in message
    assert "hunter2" not in message


@pytest.mark.parametrize("repo", ["git.example.com/clusters", "https://git.example.com/a b", "clusters", "https://"])
def test_an_address_for_argocd_is_checked(bench: Bench, repo: str) -> None:
    assert "repo:" in bench.refused(deployer="argocd", repo=repo)


@pytest.mark.parametrize("namespace", ["Slurm", "a_b", "a.b", "-a", "a" * 64, "a b"])
def test_a_namespace_is_checked(bench: Bench, namespace: str) -> None:
    recipe = bench.recipe()
    reference(recipe, "slinky-slurm")["namespace"] = namespace
    assert f'the namespace "{namespace}", which is no name of a namespace' in bench.refused(recipe)


@pytest.mark.parametrize("option", ["storage_class", "shared_storage_class"])
@pytest.mark.parametrize("name", ["GP3", "a_b", "-a", "a b", "a" * 254])
def test_a_storage_class_is_checked(bench: Bench, option: str, name: str) -> None:
    assert f"scheduling.{option}" in bench.refused(scheduling={option: name})


# ---- several violations at once

SEVERAL: Mapping[str, object] = {
    "values": {"slinkyslurm": {"accounting": {"enabled": False, "external": True}}, "nvsentinl": {"x": 1}},
    "set": [
        "slurmcluster:accounting.enabled=true",
        "mariadb-operator:install=false",
        "gpuoperator:driver.env[3].name=Y",
        "slinkyslurm:login.adminPassword=hunter2",
        "gpuoperator:toolkit.version.x=1",
    ],
    "set_json": ['slinky-slurm:accounting={"enabled": true}', "slurmaccountingmariadb:mariadb={}"],
    "dynamic": ["slinkyslurm:accounting.storageConfig.host", "slurm-accounting-mariadb:users", "no-such:x"],
    "components": ["slinky-slurm", "cert-manager", "nvsentinl"],
    "scheduling": {"storage_class": "gp3"},
}
NAMED = [
    "values slinkyslurm:accounting.enabled",
    "values slinkyslurm:accounting.external",
    "values nvsentinl:x",
    "set slurmcluster:accounting.enabled",
    "set mariadb-operator:install",
    "driver.env[3].name",
    "set slinkyslurm:login.adminPassword",
    "set gpuoperator:toolkit.version.x",
    "set_json slinky-slurm:accounting",
    "set_json slurmaccountingmariadb:mariadb",
    "dynamic slinkyslurm:accounting.storageConfig.host",
    "dynamic slurm-accounting-mariadb:users",
    "dynamic no-such:x",
    'components: unknown component "nvsentinl"',
    "components leaves out mariadb-operator-crds",
    "components leaves out mariadb-operator,",
    "components leaves out slurm-accounting-mariadb",
]
SCRIPT = """
import json, sys
from pathlib import Path
from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.admission import admit_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import BundleRequest, make_bundle, read_scheduling
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
options, catalog = json.loads(sys.argv[2]), embedded()
recipe = admit_recipe(yamlio.load(Path(sys.argv[1]).read_bytes(), "recipe"), catalog, "recipe").recipe
options["scheduling"] = read_scheduling(options["scheduling"])
try:
    make_bundle(BundleRequest(recipe=recipe, catalog=catalog, **options))
except AicrError as error:
    print(json.dumps([str(error), error.to_result()]))
"""


def told_with(seed: int, recipe: str) -> list[Any]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    told: list[Any] = json.loads(
        subprocess.run(
            [sys.executable, "-c", SCRIPT, recipe, json.dumps(SEVERAL)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    return told


def test_all_violations_are_told_at_once_and_always_in_the_same_order(bench: Bench) -> None:
    recipe, dest = bench.file("recipe.json", json.dumps(bench.recipe("aicr-provided"))), bench.folder / "bundle"
    result = run("bundle", recipe=recipe, dest=str(dest), **SEVERAL)
    assert not dest.exists()
    message, error = result["msg"], result["error"]
    missing = [name for name in NAMED if name not in message]
    assert not missing, f"{missing} of {message}"
    found = [problem["message"] for problem in error["details"]["problems"]]
    assert found == sorted(found)
    assert len(found) == len(NAMED), found
    assert "hunter2" not in json.dumps(result)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        told = list(threads.map(lambda seed: told_with(seed, recipe), range(1, 21)))
    assert told == [[message, error]] * 20
