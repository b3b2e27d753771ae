# SPDX-FileCopyrightText: 2026 AICR Runtime contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the catalog promises users by default, read from its files without the engine.

A change of a row here is a change of the product: ADR-016, "Initial Product Defaults" and "Database connection
contract".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

RECIPES = Path(__file__).parents[2] / "recipes"
ABSENT = object()
SLURM_LEAVES = sorted(path.stem for path in (RECIPES / "overlays").glob("*-slurm.yaml"))
MARIADB = ("mariadb-operator-crds", "mariadb-operator", "slurm-accounting-mariadb")
SLINKY = ("slinky-slurm-operator-crds", "slinky-slurm-operator", "slinky-slurm")


def load(path: str) -> Any:
    return yaml.safe_load((RECIPES / path).read_text(encoding="utf-8"))


def at(document: Any, path: str) -> Any:
    """The value at a dotted path, ABSENT where the path ends early."""
    for key in path.split("."):
        if not isinstance(document, dict) or key not in document:
            return ABSENT
        document = document[key]
    return document


def registry() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in load("registry.yaml")["components"]}


def component_refs() -> list[tuple[str, dict[str, Any]]]:
    """Every reference to a component, with the overlay or mixin that makes it."""
    files = sorted([*RECIPES.glob("overlays/*.yaml"), *RECIPES.glob("mixins/*.yaml")])
    documents = [load(str(path.relative_to(RECIPES))) for path in files]
    return [(doc["metadata"]["name"], ref) for doc in documents for ref in doc["spec"].get("componentRefs", [])]


@pytest.mark.parametrize(
    ("component", "path", "expected"),
    [
        # Nothing is installed unless the mode says so.
        ("mariadb-operator-crds", "install", False),
        ("mariadb-operator", "install", False),
        ("slurm-accounting-mariadb", "install", False),
        ("slinky-slurm", "accounting.enabled", False),
        # A 20 GiB volume of the class that the customer chooses.
        ("slurm-accounting-mariadb", "mariadb.storage.size", "20Gi"),
        ("slurm-accounting-mariadb", "mariadb.storage.storageClassName", ABSENT),
        # One standalone replica.
        ("slurm-accounting-mariadb", "mariadb.replicas", 1),
        ("slurm-accounting-mariadb", "mariadb.galera.enabled", False),
        ("slurm-accounting-mariadb", "mariadb.replication", ABSENT),
        ("mariadb-operator", "ha.enabled", False),
        ("mariadb-operator", "webhook.ha.enabled", False),
        ("mariadb-operator", "certController.ha.enabled", False),
        # Backups are the customer's.
        ("slurm-accounting-mariadb", "backups", ABSENT),
        ("slurm-accounting-mariadb", "physicalBackups", ABSENT),
        ("slurm-accounting-mariadb", "mariadb.bootstrapFrom", ABSENT),
        # Explicit requests and limits.
        ("slurm-accounting-mariadb", "mariadb.resources.requests", {"cpu": 1, "memory": "6Gi"}),
        ("slurm-accounting-mariadb", "mariadb.resources.limits", {"cpu": 2, "memory": "8Gi"}),
        ("mariadb-operator", "resources.requests", {"cpu": "100m", "memory": "128Mi"}),
        ("mariadb-operator", "resources.limits", {"cpu": 1, "memory": "512Mi"}),
        ("mariadb-operator", "webhook.resources.requests", {"cpu": "50m", "memory": "64Mi"}),
        ("mariadb-operator", "webhook.resources.limits", {"cpu": "500m", "memory": "256Mi"}),
        ("mariadb-operator", "certController.resources.requests", {"cpu": "50m", "memory": "64Mi"}),
        ("mariadb-operator", "certController.resources.limits", {"cpu": "500m", "memory": "256Mi"}),
        # No automatic upgrade of the database.
        ("slurm-accounting-mariadb", "mariadb.image", "mariadb:11.8.8"),
        ("slurm-accounting-mariadb", "mariadb.updateStrategy", ABSENT),
        # History outlives its objects.
        ("slurm-accounting-mariadb", "mariadb.cleanupPolicy", "Skip"),
        # The connection contract, on the MariaDB resource and nowhere else ...
        ("slurm-accounting-mariadb", "fullnameOverride", "mariadb"),
        ("slurm-accounting-mariadb", "namespaceOverride", "slurm"),
        ("slurm-accounting-mariadb", "mariadb.database", "slurm_acct_db"),
        ("slurm-accounting-mariadb", "mariadb.username", "slurm"),
        (
            "slurm-accounting-mariadb",
            "mariadb.passwordSecretKeyRef",
            {"name": "mariadb-password", "key": "password", "generate": True},
        ),
        (
            "slurm-accounting-mariadb",
            "mariadb.rootPasswordSecretKeyRef",
            {"name": "mariadb-root-password", "key": "root", "generate": True},
        ),
        ("slurm-accounting-mariadb", "users", []),
        ("slurm-accounting-mariadb", "databases", []),
        ("slurm-accounting-mariadb", "grants", []),
        # ... and on the side that reads it.
        ("slinky-slurm", "accounting.storageConfig.host", "mariadb"),
        ("slinky-slurm", "accounting.storageConfig.port", 3306),
        ("slinky-slurm", "accounting.storageConfig.database", "slurm_acct_db"),
        ("slinky-slurm", "accounting.storageConfig.username", "slurm"),
        ("slinky-slurm", "accounting.storageConfig.passwordKeyRef", {"name": "mariadb-password", "key": "password"}),
        # CRDs come from their own releases: two owners would conflict.
        ("mariadb-operator", "crds.enabled", False),
        ("slinky-slurm-operator", "crds.enabled", False),
        # People's volumes are opt-in.
        ("slinky-slurm", "storage.enabled", False),
    ],
)
def test_default_value(component: str, path: str, expected: Any) -> None:
    actual = at(load(f"components/{component}/values.yaml"), path)
    assert actual is ABSENT if expected is ABSENT else (actual, type(actual)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("innodb_buffer_pool_size", "4096M"),
        ("innodb_log_file_size", "1024M"),
        ("innodb_lock_wait_timeout", "900"),
        ("max_allowed_packet", "16M"),
        ("innodb_snapshot_isolation", "OFF"),
    ],
)
def test_server_setting(setting: str, expected: str) -> None:
    """What slurmdbd checks at its start, or dies of later."""
    section, *lines = load("components/slurm-accounting-mariadb/values.yaml")["mariadb"]["myCnf"].splitlines()
    assert section == "[mariadb]"
    assert dict(line.split("=") for line in lines)[setting] == expected


@pytest.mark.parametrize(
    ("component", "owner", "chart", "version", "namespace"),
    [
        ("mariadb-operator-crds", "mariadb-operator", "mariadb-operator-crds", "26.6.0", "mariadb-system"),
        ("mariadb-operator", "mariadb-operator", "mariadb-operator", "26.6.0", "mariadb-system"),
        ("slurm-accounting-mariadb", "mariadb-operator", "mariadb-cluster", "26.6.0", "slurm"),
        ("slinky-slurm-operator-crds", "slinkyproject", "slurm-operator-crds", "1.2.1", "slinky"),
        ("slinky-slurm-operator", "slinkyproject", "slurm-operator", "1.2.1", "slinky"),
        ("slinky-slurm", "slinkyproject", "slurm", "1.2.1", "slurm"),
    ],
)
def test_pin(component: str, owner: str, chart: str, version: str, namespace: str) -> None:
    assert registry()[component]["helm"] == {
        "defaultRepository": f"oci://ghcr.io/{owner}/charts",
        "defaultChart": chart,
        "defaultVersion": version,
        "defaultNamespace": namespace,
    }


@pytest.mark.parametrize("family", [MARIADB, SLINKY], ids=["mariadb", "slinky"])
def test_lockstep(family: tuple[str, ...]) -> None:
    """CRDs, operator and what it runs are of one version, and no overlay changes one of them."""
    components = registry()
    assert len({components[name]["helm"]["defaultVersion"] for name in family}) == 1
    assert not [overlay for overlay, ref in component_refs() if ref["name"] in family and "version" in ref]


@pytest.mark.parametrize("leaf", SLURM_LEAVES)
def test_slurm_leaf_declares_the_whole_inventory(leaf: str) -> None:
    """The same six references in every mode, in an order in which each finds what it needs."""
    spec = load(f"overlays/{leaf}.yaml")["spec"]
    parts = [spec, *(load(f"mixins/{name}.yaml")["spec"] for name in spec["mixins"])]
    refs = {ref["name"]: ref for part in parts for ref in part.get("componentRefs", [])}
    assert {*MARIADB, *SLINKY} <= refs.keys()
    needs = {name: set(refs[name].get("dependencyRefs", [])) for name in refs}
    assert needs["mariadb-operator"] >= {"mariadb-operator-crds"}
    assert needs["slurm-accounting-mariadb"] >= {"mariadb-operator-crds", "mariadb-operator"}
    assert needs["slinky-slurm-operator"] >= {"slinky-slurm-operator-crds", "cert-manager"}
    assert needs["slinky-slurm"] >= {"slurm-accounting-mariadb", "slinky-slurm-operator", "slinky-slurm-operator-crds"}
    for name in (*MARIADB, "slinky-slurm"):
        assert at(refs[name], "overrides.install") is ABSENT, f"{name}: the mode alone decides"
        assert at(refs[name], "overrides.enabled") is ABSENT, f"{name}: the mode alone decides"
        assert at(refs[name], "overrides.accounting") is ABSENT, f"{name}: the mode alone decides"


def test_there_are_slurm_leaves() -> None:
    assert SLURM_LEAVES == [
        "gb200-eks-ubuntu-training-slurm",
        "gb200-gke-cos-training-slurm",
        "gb300-eks-ubuntu-training-slurm",
        "h100-aks-ubuntu-training-slurm",
        "h100-eks-ubuntu-training-slurm",
        "h100-gke-cos-training-slurm",
        "h100-kind-training-slurm",
    ]


def test_both_ends_of_the_contract_agree() -> None:
    database = load("components/slurm-accounting-mariadb/values.yaml")
    storage = load("components/slinky-slurm/values.yaml")["accounting"]["storageConfig"]
    secret = database["mariadb"]["passwordSecretKeyRef"]
    assert storage == {
        "host": database["fullnameOverride"],
        "port": 3306,
        "database": database["mariadb"]["database"],
        "username": database["mariadb"]["username"],
        "passwordKeyRef": {"name": secret["name"], "key": secret["key"]},
    }
    assert database["namespaceOverride"] == registry()["slinky-slurm"]["helm"]["defaultNamespace"]


def test_each_component_is_used_and_has_its_check() -> None:
    components = registry()
    used = {ref["name"] for _unused, ref in component_refs()}
    assert used == components.keys()
    named = {entry["healthCheck"]["assertFile"] for entry in components.values()}
    assert named == {str(path.relative_to(RECIPES)) for path in RECIPES.glob("checks/*/*")}
    for name, entry in components.items():
        # A component of OpenShift that goes by another one's names is judged by its check.
        assert entry["healthCheck"]["assertFile"].split("/")[1] in (name, name.removesuffix("-ocp"))


def test_each_manifest_is_listed_and_used() -> None:
    """An unlisted one would be taken for the format of the reference."""
    entries = {
        (name, manifest["path"]): manifest.get("when")
        for name, entry in registry().items()
        for manifest in entry.get("manifests", [])
    }
    files = {str(path.relative_to(RECIPES)) for path in RECIPES.glob("components/*/manifests/*")}
    assert files == {path for _unused, path in entries}
    used = {
        (ref["name"], path)
        for _unused, ref in component_refs()
        for field in ("manifestFiles", "preManifestFiles")
        for path in ref.get(field, [])
    }
    assert used == entries.keys()
    for (component, _unused), when in entries.items():
        assert when is None or at(load(f"components/{component}/values.yaml"), when) is not ABSENT


def test_each_values_file_is_used() -> None:
    used = {ref["valuesFile"] for _unused, ref in component_refs() if "valuesFile" in ref}
    assert {str(path.relative_to(RECIPES)) for path in RECIPES.glob("components/*/values*.yaml")} == used
