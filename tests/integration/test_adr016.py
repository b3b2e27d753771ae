# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ADR-016, *Acceptance Criteria*: one test for each row, through the playbooks.

Every scenario is a cluster of one inventory, so the recipe playbook and the bundle playbook run once for all of them.
What was written is read with plain PyYAML; the expected contents are typed here. What of a row only a cluster can show,
stands in tests/cluster: test_deploy.py (disabled), test_deploy_customer.py, test_deploy_provided.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from .conftest import Ansible, Run

CHECKOUT = Path(__file__).resolve().parents[2]
SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "eks-h100-training.yaml"
CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
MODES = ("disabled", "customer-managed", "aicr-provided")
SLURM, CRDS, OPERATOR, DATABASE = (
    "slinky-slurm",
    "mariadb-operator-crds",
    "mariadb-operator",
    "slurm-accounting-mariadb",
)
MARIADB = (CRDS, OPERATOR, DATABASE)
PASSWORD = "qV7-planted-password-9w"

IN_CLUSTER = {
    "host": "mysql.databases.svc.cluster.local",
    "port": 3306,
    "database": "slurm_acct_db",
    "username": "slurm",
    "passwordKeyRef": {"name": "acct-db", "key": "password"},
}
EXTERNAL = {**IN_CLUSTER, "host": "db.example.com", "port": 3307}
PROVIDED = {
    "host": "mariadb",
    "port": 3306,
    "database": "slurm_acct_db",
    "username": "slurm",
    "passwordKeyRef": {"name": "mariadb-password", "key": "password"},
}


def cluster(mode: str | None = None, **options: object) -> dict[str, object]:
    """The variables of a cluster; ``options`` are those of the bundle, without their ``aicr_``."""
    chosen = {"aicr_slurm_accounting_mode": mode} if mode else {}
    return {"aicr_criteria": CRITERIA, **chosen, **{f"aicr_{name}": value for name, value in options.items()}}


def storage_file(name: str) -> dict[str, object]:
    return {"set_file": [f"slinkyslurm:accounting.storageConfig={name}.yaml"]}


@dataclass(frozen=True)
class Attempt:
    """One override of something that the mode owns; ``written`` is the component's name or alias."""

    surface: str
    written: str
    path: str
    value: object = None

    @property
    def place(self) -> str:
        return f"{self.surface} {self.written}:{self.path}"

    @property
    def file(self) -> str:
        return "attempt-" + "".join(filter(str.isalnum, json.dumps(self.value))) + ".json"

    def option(self) -> Any:
        """The value of the bundle's option that makes the attempt."""
        if self.surface == "values":
            value = self.value
            for key in reversed(self.path.split(".")):
                value = {key: value}
            return {self.written: value}
        if self.surface == "dynamic":
            return [f"{self.written}:{self.path}"]
        text = self.file if self.surface == "set_file" else json.dumps(self.value)
        return [f"{self.written}:{self.path}={text}"]


OWN_NAMES = {"slinkyslurm": SLURM, "slurmcluster": SLURM, "slurmaccountingmariadb": DATABASE}


def attempts(what: str, mode: str, *tried: Attempt) -> list[tuple[str, str, Attempt]]:
    """A cluster that tries all of these at once: each has to be named, since each alone is enough to be refused."""
    name = f"{what}-{mode}-{len(CLUSTERS)}"
    options: dict[str, Any] = {}
    for one in tried:
        FILES[one.file] = one.value
        option = one.option()
        options[one.surface] = option if one.surface == "values" else [*options.get(one.surface, ()), *option]
    CLUSTERS[name] = cluster(**options, recipe=f"artifacts/{RECIPE_OF[mode]}/recipe.yaml")
    return [(name, mode, one) for one in tried]


RECIPE_OF = {"disabled": "disabled", "customer-managed": "external", "aicr-provided": "provided"}

CLUSTERS: dict[str, dict[str, object]] = {
    "default": cluster(),
    "disabled": cluster("disabled"),
    "in-cluster": cluster("customer-managed", **storage_file("in-cluster")),
    "external": cluster("customer-managed", **storage_file("external")),
    "unreachable-by-form": cluster("customer-managed", **storage_file("wrong-endpoint")),
    "provided": cluster("aicr-provided"),
    "own-volume": cluster(
        "aicr-provided",
        set=["slurmaccountingmariadb:mariadb.storage.size=200Gi"],
        scheduling={"storage_class": "fast-ssd"},
    ),
    "own-class": cluster("aicr-provided", set=[f"{DATABASE}:mariadb.storage.storageClassName=slow-hdd"]),
    **{
        state: {**cluster("aicr-provided"), "aicr_snapshot": f"{state}.yaml"}
        for state in ("absent", "api-detected", "crs-detected", "unknown")
    },
    "other-mode-crs": {**cluster("customer-managed", **storage_file("external")), "aicr_snapshot": "crs-detected.yaml"},
    "password-in-file": cluster("customer-managed", **storage_file("with-password")),
    "password-in-reference": cluster("customer-managed", **storage_file("with-password-in-reference")),
    "password-in-values": cluster("customer-managed", values={SLURM: {"login": {"adminPassword": PASSWORD}}}),
    "password-in-set": cluster("aicr-provided", set=[f"{SLURM}:login.apiToken={PASSWORD}"]),
    "password-on-owned-path": cluster(
        "aicr-provided", set_json=[f'{SLURM}:accounting={{"storageConfig": {{"password": "{PASSWORD}"}}}}']
    ),
}
FILES: dict[str, object] = {
    "in-cluster.yaml": IN_CLUSTER,
    "external.yaml": EXTERNAL,
    "wrong-endpoint.yaml": {**EXTERNAL, "host": "postgres://db.example.com"},
    "with-password.yaml": {**EXTERNAL, "password": PASSWORD},
    "with-password-in-reference.yaml": {
        **EXTERNAL,
        "passwordKeyRef": {"name": "acct-db", "key": "password", "value": PASSWORD},
    },
}

SWITCHED = [
    row
    for mode in MODES
    for on in (True, False)
    for row in attempts(
        "switch",
        mode,
        Attempt("values", SLURM, "accounting.enabled", on),
        Attempt("set", "slinkyslurm", "accounting.enabled", on),
        Attempt("set_json", "slurmcluster", "accounting", {"enabled": on}),
        Attempt("set_file", SLURM, "accounting.enabled", on),
    )
]
GATED = [
    row
    for mode in MODES
    for on in (True, False)
    for row in attempts(
        "gate",
        mode,
        Attempt("set", CRDS, "install", on),
        Attempt("values", OPERATOR, "install", on),
        Attempt("set_json", "slurmaccountingmariadb", "install", on),
        Attempt("set_file", DATABASE, "install", on),
        Attempt("set", CRDS, "enabled", on),
        Attempt("set", OPERATOR, "enabled", on),
        Attempt("set", "slurmaccountingmariadb", "enabled", on),
    )
]
DEFERRED = [
    row
    for mode in MODES
    for row in attempts(
        "defer",
        mode,
        Attempt("dynamic", SLURM, "accounting.enabled"),
        Attempt("dynamic", "slinkyslurm", "accounting"),
        Attempt("dynamic", CRDS, "install"),
        Attempt("dynamic", OPERATOR, "install"),
        Attempt("dynamic", "slurmaccountingmariadb", "install"),
        *(
            (
                Attempt("dynamic", SLURM, "accounting.storageConfig"),
                Attempt("dynamic", DATABASE, "mariadb.passwordSecretKeyRef.name"),
            )
            if mode == "aicr-provided"
            else ()
        ),
    )
]
LEGACY = {
    "legacy": {},
    "legacy-set": {"set": ["slinkyslurm:accounting.enabled=true"]},
    "legacy-ancestor": {"set_json": [f'{SLURM}:accounting={{"enabled": true}}']},
    "legacy-values": {"values": {"slurmcluster": {"accounting": {"enabled": True}}}},
}
CLUSTERS |= {name: cluster(recipe="legacy-recipe.yaml", **options) for name, options in LEGACY.items()}
CLUSTERS["legacy-provided"] = cluster(
    recipe="v1-recipe.yaml", set=[f"{SLURM}:accounting.enabled=true", f"{DATABASE}:install=true"]
)


@dataclass(frozen=True)
class Fleet:
    """What the two playbooks made of all clusters."""

    folder: Path
    recipes: Run
    bundles: Run

    def path(self, name: str, file: str) -> Path:
        return self.folder / "artifacts" / name / file

    def recipe(self, name: str) -> dict[str, Any]:
        return read(self.path(name, "recipe.yaml"))

    def refs(self, name: str) -> dict[str, dict[str, Any]]:
        return {ref["name"]: ref for ref in self.recipe(name)["componentRefs"]}

    def made(self, name: str) -> dict[str, Any]:
        result = self.bundles.result("Make the bundle", name)
        assert result["status"] == "ok", result
        return result

    def refused(self, name: str) -> dict[str, Any]:
        """The error of a bundle that was not made; nothing may stand where it would be."""
        result = self.bundles.result("Make the bundle", name)
        assert result["status"] == "failed", f"{name}: made {result['path']}"
        left = {path.name for path in self.path(name, "").glob("*")}
        assert left <= {"recipe.yaml"}, f"{name}: {left} was written"
        error: dict[str, Any] = result["error"]
        return error

    def warnings(self, run: Run, task: str, name: str) -> str:
        return "\n".join(run.result(task, name).get("warnings", ()))

    def components(self, name: str) -> list[str]:
        """The components in the bundle, in the order of installation."""
        order = self.made(name)["order"]
        return list(dict.fromkeys(folder.partition("-")[2].removesuffix("-pre") for folder in order))

    def values(self, name: str, component: str) -> dict[str, Any]:
        (file,) = self.path(name, "bundle").glob(f"[0-9][0-9][0-9]-{component}/values.yaml")
        return read(file)

    def files(self, name: str) -> dict[str, bytes]:
        root = self.path(name, "bundle")
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def snapshot_with(state: str) -> dict[str, Any]:
    snapshot = read(SNAPSHOT)
    readings = next(measured for measured in snapshot["measurements"] if measured["type"] == "K8s")["subtypes"]
    reading = next(subtype for subtype in readings if subtype["subtype"] == "mariadb-operator")
    available = {"absent": {"api-available": False}, "unknown": {}}.get(state, {"api-available": True})
    reading["data"] = {"collection-state": state, **available}
    return snapshot


@pytest.fixture(scope="module")
def fleet(shared_ansible: Ansible, without_mode: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Fleet:
    folder = shared_ansible.folder
    for name, content in FILES.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    for state in ("absent", "api-detected", "crs-detected", "unknown"):
        (folder / f"{state}.yaml").write_text(yaml.safe_dump(snapshot_with(state)), encoding="utf-8")
    recipe_hosts = dict.fromkeys(name for name, variables in CLUSTERS.items() if "aicr_recipe" not in variables)
    inventory = {"all": {"hosts": CLUSTERS, "children": {"without_recipe": {"hosts": recipe_hosts}}}}
    (folder / "inventory.yml").write_text(yaml.safe_dump(inventory), encoding="utf-8")
    recipes = shared_ansible.playbook(
        "aicr.runtime.recipe", "-e", "aicr_hosts=without_recipe", inventory="inventory.yml"
    )
    disabled = read(folder / "artifacts" / "disabled" / "recipe.yaml")
    cut_out = {key: value for key, value in disabled.items() if key != "configuration"}
    for name, recipe in (
        ("legacy", without_mode(disabled)),
        ("v1", {**cut_out, "apiVersion": "aicr.run/v1alpha2"}),  # as an old interface hands a new recipe on
    ):
        (folder / f"{name}-recipe.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    bundles = shared_ansible.playbook("aicr.runtime.bundle", inventory="inventory.yml", expect=2)
    return Fleet(folder, recipes, bundles)


def same_but(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> set[str]:
    """The files in which two bundles differ."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def test_no_accounting_input(fleet: Fleet) -> None:
    """The recipe records ``disabled``; no accounting and no MariaDB resources are rendered.

    Live: test_deploy.py, ``test_a_deployment_goes_from_nothing_to_a_running_slurm``.
    """
    assert fleet.recipe("default")["configuration"] == {"slurm": {"accounting": {"mode": "disabled"}}}
    refs = fleet.refs("default")
    assert {name: refs[name]["overrides"]["install"] for name in MARIADB} == dict.fromkeys(MARIADB, False)
    assert not set(MARIADB) & set(fleet.components("default"))
    assert fleet.values("default", SLURM)["accounting"]["enabled"] is False
    beside = {name: text for name, text in fleet.files("default").items() if name != "recipe.yaml"}
    assert not [name for name, text in beside.items() if b"k8s.mariadb.com" in text or b"mariadb-operator" in text]


def test_explicit_disabled(fleet: Fleet) -> None:
    """Byte for byte what the default gives."""
    assert fleet.path("disabled", "recipe.yaml").read_bytes() == fleet.path("default", "recipe.yaml").read_bytes()
    assert not same_but(fleet.files("disabled"), fleet.files("default"))
    assert len(fleet.files("default")) > 50


def test_customer_managed_in_cluster_database(fleet: Fleet) -> None:
    """slurmdbd comes with the customer's Service and Secret reference; our MariaDB resources do not.

    That slurmdbd accounts in such a database, and that nothing of MariaDB is in the cluster: test_deploy_customer.py,
    ``test_slurmdbd_accounts_in_the_customers_database``, ``test_nothing_of_mariadb_is_there``.
    """
    accounting = fleet.values("in-cluster", SLURM)["accounting"]
    assert accounting["enabled"] is True
    assert accounting["storageConfig"] == IN_CLUSTER
    assert not set(MARIADB) & set(fleet.components("in-cluster"))
    (check,) = (ref["healthCheckAsserts"] for ref in (fleet.refs("in-cluster")[SLURM],))
    assert "slinky-slurm-accounting" in check
    assert "slinky-slurm-accounting" not in fleet.refs("disabled")[SLURM]["healthCheckAsserts"]


def test_customer_managed_external_database(fleet: Fleet) -> None:
    """The same ownership; an external endpoint is accepted and checked.

    Offline the check is one of form. What an endpoint may answer: test_deploy_customer.py,
    ``test_what_is_wrong_is_named_and_nothing_of_slurm_is_made`` and those around it.
    """
    assert fleet.path("external", "recipe.yaml").read_bytes() == fleet.path("in-cluster", "recipe.yaml").read_bytes()
    assert fleet.values("external", SLURM)["accounting"]["storageConfig"] == EXTERNAL
    differing = same_but(fleet.files("external"), fleet.files("in-cluster"))
    assert {name.partition("/")[2] or name for name in differing} == {"values.yaml", "checksums.txt"}
    assert {name.partition("/")[0].partition("-")[2].removesuffix("-pre") for name in differing if "/" in name} == {
        SLURM
    }
    refused = fleet.refused("unreachable-by-form")
    assert refused["code"] == "INVALID_REQUEST"
    assert f"{SLURM}:accounting.storageConfig.host" in refused["message"]


def test_aicr_provided(fleet: Fleet) -> None:
    """CRDs, operator, database, the contract of the made Secret, and slurmdbd, in the order of their dependencies.

    That they become ready one after the other: test_deploy_provided.py,
    ``test_each_step_waits_for_the_one_that_it_needs``, ``test_the_mode_is_what_it_says``.
    """
    order = fleet.components("provided")
    assert [name for name in order if name in (*MARIADB, SLURM)] == [CRDS, OPERATOR, DATABASE, SLURM]
    accounting = fleet.values("provided", SLURM)["accounting"]
    assert (accounting["enabled"], accounting["storageConfig"]) == (True, PROVIDED)
    database = fleet.values("provided", DATABASE)
    mariadb = database["mariadb"]
    assert (database["fullnameOverride"], database["namespaceOverride"]) == ("mariadb", "slurm")
    assert (mariadb["database"], mariadb["username"]) == ("slurm_acct_db", "slurm")
    assert mariadb["passwordSecretKeyRef"] == {**PROVIDED["passwordKeyRef"], "generate": True}  # type: ignore[dict-item]
    assert mariadb["rootPasswordSecretKeyRef"] == {"name": "mariadb-root-password", "key": "root", "generate": True}
    assert (mariadb["cleanupPolicy"], mariadb["replicas"], mariadb["galera"]) == ("Skip", 1, {"enabled": False})
    assert (database["users"], database["databases"], database["grants"]) == ([], [], [])
    assert fleet.values("provided", OPERATOR)["crds"] == {"enabled": False}
    assert all("install" not in fleet.values("provided", name) or name in MARIADB for name in (*MARIADB, SLURM))


def each(rows: list[tuple[str, str, Attempt]]) -> pytest.MarkDecorator:
    ids = [f"{mode}-{attempt.place}={json.dumps(attempt.value)}" for _unused, mode, attempt in rows]
    return pytest.mark.parametrize(("name", "mode", "attempt"), rows, ids=ids)


@each(SWITCHED)
def test_mode_plus_conflicting_accounting_enabled(fleet: Fleet, name: str, mode: str, attempt: Attempt) -> None:
    """Fails before anything is written, by every surface, for the value that the mode has as well."""
    assert_owned(fleet.refused(name), mode, attempt)


@each(GATED)
def test_mode_plus_conflicting_install_gate(fleet: Fleet, name: str, mode: str, attempt: Attempt) -> None:
    """Fails before anything is written, by every surface, for the value that the mode has as well."""
    assert_owned(fleet.refused(name), mode, attempt)


@each(DEFERRED)
def test_protected_dynamic_path(fleet: Fleet, name: str, mode: str, attempt: Attempt) -> None:
    """Fails: what the mode owns cannot be left to the installation, nor can what lies around it."""
    assert_owned(fleet.refused(name), mode, attempt)


def assert_owned(error: Mapping[str, Any], mode: str, attempt: Attempt) -> None:
    """Surface, component, path and owner are named, and the way out."""
    problems = [one for one in error["details"]["problems"] if attempt.place in one["message"]]
    assert len(problems) == 1, error["message"]
    assert problems[0]["code"] == "INVALID_REQUEST"
    assert f"configuration.slurm.accounting.mode={mode}" in problems[0]["message"]
    assert f"{OWN_NAMES.get(attempt.written, attempt.written)}:" in problems[0]["message"]
    assert "accounting mode" in problems[0]["hint"]
    assert attempt.place in error["message"]


@pytest.mark.parametrize("state", ["crs-detected", "unknown"])
def test_aicr_provided_plus_mariadb_resources_or_inconclusive_detection(fleet: Fleet, state: str) -> None:
    """The recipe warns and records what was seen; the bundle is refused with customer-managed as the way out.

    That a snapshot of a cluster has the reading is for the tests on a cluster.
    """
    assert fleet.recipe(state)["metadata"]["mariaDBOperatorState"] == state
    assert "customer-managed" in fleet.warnings(fleet.recipes, "Make the recipe", state)
    error = fleet.refused(state)
    assert error["code"] == "CONFLICT"
    assert state in error["message"]
    assert "customer-managed" in error["hint"]
    digests = {name: fleet.recipes.result("Make the recipe", name)["digest"] for name in ("absent", state, "provided")}
    assert len(set(digests.values())) == 3, "the digest covers the evidence"


def test_mariadb_resources_do_not_matter_to_other_modes(fleet: Fleet) -> None:
    """ADR-016 section 7: a customer's database may well be made by that operator."""
    assert "mariaDBOperatorState" not in fleet.recipe("other-mode-crs")["metadata"]
    assert "MariaDB" not in fleet.warnings(fleet.recipes, "Make the recipe", "other-mode-crs")
    assert fleet.values("other-mode-crs", SLURM)["accounting"]["enabled"] is True


def test_aicr_provided_plus_mariadb_api_only(fleet: Fleet) -> None:
    """The recipe and the bundle warn, and the bundle is made. Without the API nobody warns."""
    assert fleet.recipe("api-detected")["metadata"]["mariaDBOperatorState"] == "api-detected"
    assert "API of a MariaDB operator" in fleet.warnings(fleet.recipes, "Make the recipe", "api-detected")
    assert "api-detected" in fleet.warnings(fleet.bundles, "Make the bundle", "api-detected")
    assert DATABASE in fleet.components("api-detected")
    for run, task in ((fleet.recipes, "Make the recipe"), (fleet.bundles, "Make the bundle")):
        assert "MariaDB" not in fleet.warnings(run, task, "absent")
    assert DATABASE in fleet.components("absent")


def test_aicr_provided_without_snapshot_evidence(fleet: Fleet) -> None:
    """The bundle warns that conflicts were not evaluated, and is made."""
    assert "mariaDBOperatorState" not in fleet.recipe("provided")["metadata"]
    assert "were not evaluated" in fleet.warnings(fleet.bundles, "Make the bundle", "provided")
    assert DATABASE in fleet.components("provided")


@pytest.mark.parametrize("name", ["legacy-set", "legacy-ancestor", "legacy-values"])
def test_legacy_recipe_plus_accounting_enable_override(fleet: Fleet, name: str) -> None:
    """Behaves as customer-managed inside the window, with a warning that says when it closes and what to do."""
    assert fleet.values(name, SLURM)["accounting"]["enabled"] is True
    assert not set(MARIADB) & set(fleet.components(name))
    assert "configuration" not in read(fleet.path(name, "bundle") / "recipe.yaml")
    (warning,) = (text for text in fleet.made(name)["warnings"] if "deprecated" in text)
    assert "2.0.0" in warning
    assert "customer-managed" in warning
    assert "generate" in warning


def test_a_legacy_recipe_alone_stays_without_accounting_and_makes_no_claim(fleet: Fleet) -> None:
    assert fleet.values("legacy", SLURM)["accounting"]["enabled"] is False
    assert not [text for text in fleet.made("legacy").get("warnings", ()) if "deprecated" in text]
    assert fleet.made("legacy")["summary"]["accounting"] is None


def test_a_legacy_recipe_can_never_select_aicr_provided(fleet: Fleet) -> None:
    assert DATABASE in fleet.refused("legacy-provided")["message"]


def test_mode_changed_and_recipe_regenerated(fleet: Fleet) -> None:
    """The digest changes with the mode, and with nothing else.

    What becomes of a cluster: test_deploy_provided.py, ``test_another_mode_keeps_volume_secrets_and_data``.
    """
    names = ("disabled", "in-cluster", "provided")
    digests = {name: fleet.recipes.result("Make the recipe", name)["digest"] for name in (*names, "default")}
    assert len({digests[name] for name in names}) == 3
    assert digests["default"] == digests["disabled"]


PLANTED = [name for name in CLUSTERS if name.startswith("password-")]


def test_credential_inspection(fleet: Fleet) -> None:
    """No password is in a recipe, a bundle, or what the playbooks print; what brings one along is refused.

    Clusters, Helm's releases, failures, ``-vvvv`` and processes: test_deploy_customer.py,
    ``test_the_password_is_nowhere_but_in_its_secret_and_in_slurmdbds``, and its like in test_deploy_provided.py.
    """
    holding = {str(path.relative_to(fleet.folder)) for path in fleet.folder.rglob("*") if has_password(path)}
    given = {"inventory.yml", "with-password.yaml", "with-password-in-reference.yaml"}
    assert holding == given, "the search finds what the test planted, and nothing else"
    assert PASSWORD not in fleet.recipes.output + fleet.bundles.output
    for name in PLANTED:
        fleet.refused(name)
    for name in ("provided", "external"):
        assert not [where for file in fleet.path(name, "bundle").rglob("*.yaml") for where in passwords(file)]


def has_password(path: Path) -> bool:
    return path.is_file() and PASSWORD.encode() in path.read_bytes()


def passwords(file: Path) -> Iterator[str]:
    """Keys that end in ``password`` and hold text."""
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8")) if "{{" not in file.read_text() else ():
        pending = [document]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                pending += value.values()
                yield from (f"{file}: {key}" for key, text in value.items() if is_password(key, text))
            elif isinstance(value, list):
                pending += value


def is_password(key: object, value: object) -> bool:
    return str(key).lower().endswith("password") and isinstance(value, (str, int)) and value != ""


def test_volume_of_the_database_stays_the_customers(fleet: Fleet) -> None:
    """ADR-016 section 9: the size and the StorageClass are the customer's, also where AICR provides the rest."""
    assert fleet.values("provided", DATABASE)["mariadb"]["storage"] == {"size": "20Gi"}
    assert fleet.values("own-volume", DATABASE)["mariadb"]["storage"] == {
        "size": "200Gi",
        "storageClassName": "fast-ssd",
    }
    assert fleet.values("own-class", DATABASE)["mariadb"]["storage"]["storageClassName"] == "slow-hdd"
