# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle becomes a deployment as it was made: verified, with its own recipe, with values through the same gate."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import deployment_plan, options, preflight, variables
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.deployment_plan import plan_deployment
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import BUNDLE, RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import failed
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe

if TYPE_CHECKING:
    from .conftest import Ansible

CHECKOUT = Path(__file__).resolve().parents[2]
CRITERIA = {"service": "kind", "accelerator": "h100", "intent": "training", "platform": "slurm"}
OPEN = ["slinky-slurm:controller.slurmctld.resources", "slinkyslurm:restapi.replicas", "nfd:master.extra"]
ROLES = {
    "mariadb_operator_crds": "mariadb-operator-crds",
    "mariadb_operator": "mariadb-operator",
    "slurm_accounting_mariadb": "slurm-accounting-mariadb",
    "slinky_slurm_operator_crds": "slinky-slurm-operator-crds",
    "slinky_slurm_operator": "slinky-slurm-operator",
    "slinky_slurm": "slinky-slurm",
}


def run(spec: options.Spec, make: Callable[..., Any], **arguments: object) -> dict[str, Any]:
    """One task, as its action runs it."""
    try:
        result: dict[str, Any] = make(parse(spec, arguments)).deliver(
            check_mode=False, diff=False, return_document=True
        )
    except AicrError as error:
        return failed(error)
    return result


def planned(**arguments: object) -> dict[str, Any]:
    result = run(deployment_plan.SPEC, plan_deployment, **arguments)
    assert not result.get("failed"), result
    found: dict[str, Any] = result["plan"]
    return found


def refused(**arguments: object) -> str:
    """Why there is no plan, with the way out."""
    result = run(deployment_plan.SPEC, plan_deployment, **arguments)
    assert result.get("failed"), f"was accepted: {arguments}"
    assert result["error"]["hint"]
    return str(result["msg"])


@pytest.fixture(scope="module")
def recipes() -> Mapping[str, dict[str, Any]]:
    """By mode."""
    return {
        mode: run(RECIPE, make_recipe, criteria=CRITERIA, slurm_accounting_mode=mode)["document"]
        for mode in ("disabled", "customer-managed", "aicr-provided")
    }


@pytest.fixture(scope="module")
def bundles(recipes: Mapping[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """By mode, with some paths left open."""
    folder = tmp_path_factory.mktemp("bundles")
    for mode, recipe in recipes.items():
        made = run(BUNDLE, make_bundle, recipe=recipe, dest=str(folder / mode), dynamic=OPEN)
        assert not made.get("failed"), made
    return {mode: folder / mode for mode in recipes}


@pytest.fixture
def disabled(recipes: Mapping[str, dict[str, Any]], bundles: Mapping[str, Path]) -> dict[str, object]:
    """The options that name a bundle without accounting."""
    return {"bundle": str(bundles["disabled"]), "recipe": recipes["disabled"]}


@pytest.fixture
def copied(bundles: Mapping[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundles["disabled"], tmp_path / "bundle"))


# ---- the bundle and its recipe


def test_each_folder_is_one_release_in_the_order_of_the_bundle(
    recipes: Mapping[str, dict[str, Any]], bundles: Mapping[str, Path]
) -> None:
    for mode, bundle in bundles.items():
        plan = planned(bundle=str(bundle), recipe=recipes[mode])
        folders = [
            entry["path"] for entry in yaml.safe_load((bundle / "bundle-info.yaml").read_text())["layout"]["releases"]
        ]
        releases = [one for name in plan["components"] for one in plan["components"][name]["releases"]]
        assert sorted(Path(one["values"][0]).parent.name for one in releases) == sorted(folders)
        assert sorted(name for level in plan["levels"] for name in level) == sorted(plan["components"])
        for one in releases:
            folder = Path(one["values"][0]).parent
            assert one["values"] == [str(folder / "values.yaml"), str(folder / "cluster-values.yaml")]
            upstream = folder / "upstream.env"
            if upstream.exists():
                address = (
                    f"{one['repository']}/{one['chart']}" if one["repository"].startswith("oci://") else one["chart"]
                )
                assert f"CHART='{address}'" in upstream.read_text()
                assert f"VERSION='{one['version']}'" in upstream.read_text()
            else:
                assert one["chart"] == str(folder)
                assert not {"repository", "version"} & one.keys()


@pytest.mark.parametrize(
    "tamper",
    [
        lambda bundle: (bundle / "README.md").write_text("x"),
        lambda bundle: next(bundle.glob("*-nfd/values.yaml")).write_text("x: 1\n"),
        lambda bundle: (bundle / "extra.yaml").write_text("a: 1\n"),
        lambda bundle: (bundle / "deploy.sh").unlink(),
    ],
    ids=["changed", "values", "added", "removed"],
)
def test_a_bundle_that_was_touched_is_not_deployed(
    copied: Path, disabled: dict[str, object], tamper: Callable[[Path], object]
) -> None:
    tamper(copied)
    said = refused(**{**disabled, "bundle": str(copied)})
    assert any(word in said for word in ("was changed", "not in the list", "is missing"))


def test_every_deviation_of_a_bundle_is_named_at_once(copied: Path, disabled: dict[str, object]) -> None:
    (copied / "README.md").write_text("x", encoding="utf-8")
    (copied / "extra.yaml").write_text("x", encoding="utf-8")
    said = refused(**{**disabled, "bundle": str(copied)})
    assert '"README.md" was changed' in said
    assert '"extra.yaml" is not in the list' in said


def test_what_is_no_bundle_is_said_to_be_none(tmp_path: Path, disabled: dict[str, object]) -> None:
    assert "no such directory" in refused(**{**disabled, "bundle": str(tmp_path / "nowhere")})
    assert "has no checksums.txt" in refused(**{**disabled, "bundle": str(tmp_path)})


def test_a_bundle_of_argo_cd_is_left_to_it(recipes: Mapping[str, dict[str, Any]], tmp_path: Path) -> None:
    made = run(
        BUNDLE,
        make_bundle,
        recipe=recipes["disabled"],
        dest=str(tmp_path / "bundle"),
        deployer="argocd",
        repo="https://git.example.com/x.git",
        target_revision="main",
    )
    assert not made.get("failed"), made
    said = refused(bundle=str(tmp_path / "bundle"), recipe=recipes["disabled"])
    assert 'is a bundle for "argocd"' in said


def test_the_recipe_is_the_one_that_the_bundle_was_made_from(
    recipes: Mapping[str, dict[str, Any]], bundles: Mapping[str, Path]
) -> None:
    assert "is not the one that" in refused(bundle=str(bundles["disabled"]), recipe=recipes["customer-managed"])
    changed = copy.deepcopy(recipes["disabled"])
    changed["constraints"] = []
    assert "is not the one that" in refused(bundle=str(bundles["disabled"]), recipe=changed)


# ---- values at the installation


def at(values: Any, path: str) -> Any:
    for key in path.split("."):
        values = values[key]
    return values


def test_a_path_that_was_left_open_takes_a_value_by_name_or_alias(disabled: dict[str, object]) -> None:
    given = {
        "slinkyslurm": {"controller": {"slurmctld": {"resources": {"limits": {"cpu": 2}}}}, "restapi": {"replicas": 2}}
    }
    plan = planned(**disabled, values=given, components=["slurmcluster"])
    for one in plan["components"]["slinky-slurm"]["releases"]:
        assert one["set_values"] == given["slinkyslurm"]
    assert list(plan["components"]) == ["slinky-slurm"]
    assert plan["record"] is None  # a part of a bundle is no deployment


@pytest.mark.parametrize(
    ("mode", "values", "words"),
    [
        ("disabled", {"nfd": {"image": {"tag": "v1"}}}, ["nfd:image.tag", "does not stand open", "master.extra"]),
        ("disabled", {"nfd": {"master": "x"}}, ["nfd:master", "does not stand open"]),
        ("disabled", {"cert-manager": {"replicaCount": 2}}, ["does not stand open"]),
        (
            "disabled",
            {"slinky-slurm": {"accounting": {"enabled": True}}},
            ["owned by configuration.slurm.accounting.mode"],
        ),
        ("disabled", {"slurmcluster": {"accounting": {"enabled": False}}}, ["owned by"]),
        (
            "customer-managed",
            {"slinky-slurm": {"accounting": {"storageConfig": {"host": "db"}}}},
            ["accounting.storageConfig.host", "does not stand open"],
        ),
        ("customer-managed", {"slinky-slurm": {"accounting": {"external": True}}}, ["owned by"]),
        (
            "aicr-provided",
            {"slurm-accounting-mariadb": {"mariadb": {"cleanupPolicy": "Delete"}}},
            ["mariadb.cleanupPolicy", "owned by"],
        ),
        ("aicr-provided", {"mariadb-operator": {"install": False}}, ["owned by"]),
        ("disabled", {"mariadb-operator": {"resources": {}}}, ["is not in the bundle, the recipe disables it"]),
        ("disabled", {"nosuch": {"a": 1}}, ['unknown component "nosuch"']),
        ("disabled", {"nfd": {"enabled": False}}, ["enabled"]),
        ("disabled", {"nfd": {"master": {"extra": {"password": "hunter2"}}}}, ["credential"]),
        ("disabled", {"nfd": {"master": {"extra": {"tag": 1.3}}}}, ["is a fraction"]),
        ("disabled", {"nfd": 3}, ["must be a mapping"]),
    ],
)
def test_values_of_the_installation_pass_the_gate_of_the_bundling(
    mode: str,
    values: dict[str, Any],
    words: list[str],
    recipes: Mapping[str, dict[str, Any]],
    bundles: Mapping[str, Path],
) -> None:
    said = refused(bundle=str(bundles[mode]), recipe=recipes[mode], values=values)
    assert all(word in said for word in words), said
    assert "hunter2" not in said


def test_everything_that_a_value_does_wrong_is_told_at_once(disabled: dict[str, object]) -> None:
    said = refused(
        **disabled, values={"nfd": {"a": 1}, "slinky-slurm": {"accounting": {"enabled": True}}, "x": {"b": 1}}
    )
    assert said.count("problems:") == 1
    assert all(word in said for word in ("nfd:a", "slinky-slurm:accounting", '"x"'))


def test_what_is_left_open_and_given_nothing_is_told(disabled: dict[str, object]) -> None:
    result = run(deployment_plan.SPEC, plan_deployment, **disabled)
    assert any("nfd:master.extra was left open" in text for text in result["warnings"])
    given = run(deployment_plan.SPEC, plan_deployment, **disabled, values={"nfd": {"master": {"extra": "x"}}})
    assert not any("nfd:master.extra" in text for text in given["warnings"])


def test_a_bundle_that_leaves_nothing_open_says_so_in_every_refusal(
    recipes: Mapping[str, dict[str, Any]], tmp_path: Path
) -> None:
    made = run(BUNDLE, make_bundle, recipe=recipes["disabled"], dest=str(tmp_path / "bundle"))
    assert not made.get("failed"), made
    said = refused(
        bundle=str(tmp_path / "bundle"), recipe=recipes["disabled"], values={"nfd": {"master": {"extra": "x"}}}
    )
    assert "leave it open there with dynamic nfd:master.extra" in said


# ---- roles and playbook


def test_the_roles_take_the_variables_of_the_playbook() -> None:
    """And ``component`` alone says which components are meant."""
    ours = dict(variables.STAGES["deploy"])
    not_of_a_role = {"aicr_deploy", "aicr_allow_mode_change", "aicr_allow_downgrade"}
    for role in ("component", *ROLES):
        document = yamlio.load_file(CHECKOUT / "roles" / role / "meta" / "argument_specs.yml")
        taken = document["argument_specs"]["main"]["options"]
        assert taken.keys() - {"aicr_component_names", "aicr_kept"} == ours.keys() - not_of_a_role
        assert ("aicr_component_names" in taken) == (role == "component")
        for name in ours.keys() & taken.keys():
            assert taken[name]["type"] == ours[name]["type"], f"{role}: {name}"
            assert taken[name].get("elements") == ours[name].get("elements")


def test_a_named_role_is_the_generic_one_with_a_fixed_name() -> None:
    for role, component in ROLES.items():
        (task,) = yamlio.load_file(CHECKOUT / "roles" / role / "tasks" / "main.yml")
        assert task["ansible.builtin.include_role"] == {"name": "aicr.runtime.component"}
        assert task["vars"] == {"aicr_component_names": [component]}


def test_preflight_takes_what_the_plan_takes() -> None:
    assert deployment_plan.BUNDLE_INPUT.items() <= preflight.SPEC.items()


@pytest.mark.parametrize("role", ["mariadb_operator_crds", "mariadb_operator", "slurm_accounting_mariadb"])
def test_a_role_is_a_no_op_with_a_message_where_the_mode_says_so(
    ansible: Ansible, recipes: Mapping[str, dict[str, Any]], bundles: Mapping[str, Path], role: str
) -> None:
    """Without any cluster: sockets are blocked, and the plan needs none."""
    ansible.environment["PYTHONPATH"] = str(Path(__file__).resolve().parent / "no_sockets")
    play = [
        {
            "hosts": "all",
            "gather_facts": False,
            "roles": [
                {
                    "role": f"aicr.runtime.{role}",
                    "aicr_bundle": str(bundles["customer-managed"]),
                    "aicr_recipe": recipes["customer-managed"],
                }
            ],
        }
    ]
    playbook = ansible.folder / "play.json"
    playbook.write_text(json.dumps(play), encoding="utf-8")
    ran = ansible.playbook(str(playbook))
    assert ran.recap("cluster")["changed"] == 0
    assert f"{ROLES[role]}: left out, Slurm accounting mode customer-managed installs no database" in ran.output


def test_the_playbook_refuses_before_it_asks_a_cluster(
    ansible: Ansible, recipes: Mapping[str, dict[str, Any]], copied: Path
) -> None:
    (copied / "README.md").write_text("x", encoding="utf-8")
    given = ansible.folder / "vars.json"
    given.write_text(
        json.dumps({"aicr_bundle": str(copied), "aicr_recipe": recipes["disabled"], "aicr_kubeconfig": "/nowhere"}),
        encoding="utf-8",
    )
    ran = ansible.playbook("aicr.runtime.deploy", "-e", f"@{given}", expect=2)
    assert '"README.md" was changed' in ran.output
    assert "/nowhere" not in ran.output
    assert "stopped at: Lay out the deployment" in ran.output
    assert "is undefined" not in ran.output
    assert ran.recap("cluster")["changed"] == 0
