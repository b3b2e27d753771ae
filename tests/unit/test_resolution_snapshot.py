# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.8, 1.16, 5.7, spec/surface.md 1.3: what a snapshot adds, rules out and records."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    AccountingMode,
    Constraint,
    Criteria,
    ExcludedOverlay,
    RecipeHeader,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import Snapshot, snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import Resolution, criteria_from_snapshot, resolve

PRODUCT = "nvidia.com/gpu.product"
READINGS: dict[str, dict[str, dict[str, object]]] = {
    "K8s": {"server": {"version": "v1.34.1-eks-1a2b3c4"}, "node": {"provider": "eks"}},
    "GPU": {"hardware": {"gpu-present": True, "driver-loaded": False, "model": "h100"}},
    "OS": {
        "release": {"ID": "ubuntu", "VERSION_ID": "24.04"},
        "sysctl": {"/proc/sys/kernel/osrelease": "6.8.0-1028-aws"},
    },
    "NodeTopology": {"summary": {"node-count": 4}, "label": {PRODUCT: "NVIDIA-H100-80GB-HBM3|n1,n2"}},
}


def snapshot(**changes: dict[str, dict[str, object] | None]) -> Snapshot:
    """The sample cluster with some subtypes replaced or, where ``None``, left out."""
    types: dict[str, Any] = {
        name: {**READINGS.get(name, {}), **changes.get(name, {})} for name in {**READINGS, **changes}
    }
    measurements = [
        {
            "type": name,
            "subtypes": [{"subtype": key, "data": data} for key, data in subtypes.items() if data is not None],
        }
        for name, subtypes in types.items()
    ]
    document = {"kind": "Snapshot", "apiVersion": "aicr.run/v1alpha2", "measurements": measurements}
    return snapshot_from_document(document, "snapshot.yaml")[0]


def from_snapshot(taken: Snapshot, mode: AccountingMode | None = None, **stated: Any) -> Resolution:
    return resolve(embedded(), Criteria(**stated), snapshot=taken, stated=stated.keys(), accounting_mode=mode)


def header(resolution: Resolution) -> RecipeHeader:
    assert resolution.recipe.metadata is not None
    return resolution.recipe.metadata


def test_a_snapshot_gives_service_accelerator_os_and_nodes() -> None:
    assert criteria_from_snapshot(snapshot()).criteria == Criteria("eks", "h100", None, "ubuntu", None, 4)


@pytest.mark.parametrize(("provider", "service"), [
    ("aws", "eks"), ("gce", "gke"), ("azure", "aks"), ("oci", "oke"),
    ("ocid1.instance.oc1", "oke"), ("linode://1", "lke"),
    ("kind", "kind"), ("EKS", "eks"), ("", None), ("rke2", None), ("aws:///us-east-1a/i-0abc", None),
])  # fmt: skip
def test_service_by_provider(provider: str, service: str | None) -> None:
    assert criteria_from_snapshot(snapshot(K8s={"node": {"provider": provider}})).criteria.service == service


@pytest.mark.parametrize(("name", "system"), [
    ("ubuntu", "ubuntu"), ("rhel", "rhel"), ("redhat-enterprise", "rhel"), ("amzn", "amazonlinux"), ("ol", "ol"),
    ("oraclelinux", "ol"), ("talos", "talos"), ("cos", "cos"), ("sles", None), ("", None),
])  # fmt: skip
def test_system_by_os_release(name: str, system: str | None) -> None:
    assert criteria_from_snapshot(snapshot(OS={"release": {"ID": name}})).criteria.os == system


@pytest.mark.parametrize(("product", "accelerator"), [
    ("NVIDIA-H100-80GB-HBM3", "h100"), ("NVIDIA-GB200", "gb200"), ("NVIDIA B200", "b200"), ("NVIDIA-L40S", "l40s"),
    ("NVIDIA-L40", "l40"), ("NVIDIA-RTX-PRO-6000-Blackwell", "rtx-pro-6000"), ("Tesla-A100-SXM4", "a100"),
    ("NVIDIA-RTX-6000", None), ("NVIDIA-GH200-480GB", None), ("NVIDIA-H1000", None),
])  # fmt: skip
def test_accelerator_by_whole_words_of_the_product(product: str, accelerator: str | None) -> None:
    taken = snapshot(NodeTopology={"label": {PRODUCT: f"{product}|n1"}}, GPU={"hardware": None})
    assert criteria_from_snapshot(taken).criteria.accelerator == accelerator


def test_different_gpus_give_no_accelerator_and_a_note() -> None:
    labels: dict[str, object] = {f"{PRODUCT}.NVIDIA-H100": "NVIDIA-H100|n1", f"{PRODUCT}.NVIDIA-L40S": "NVIDIA-L40S|n2"}
    found = criteria_from_snapshot(snapshot(NodeTopology={"label": labels}))
    assert found.criteria.accelerator is None
    assert "NVIDIA-H100, NVIDIA-L40S" in found.notes[0]


def test_without_a_label_the_card_on_the_sampled_node_counts() -> None:
    assert criteria_from_snapshot(snapshot(NodeTopology={"label": {}})).criteria.accelerator == "h100"


def test_what_the_user_states_beats_the_snapshot_even_if_it_is_any() -> None:
    recipe = from_snapshot(snapshot(), accelerator="gb200", os="any", intent="training").recipe
    assert recipe.criteria == Criteria("eks", "gb200", "training", "any", None, 4)


def test_a_detected_criterion_that_leads_nowhere_is_left_out_with_a_warning() -> None:
    resolution = from_snapshot(snapshot(OS={"release": {"ID": "talos"}}), intent="training")
    assert resolution.recipe.criteria is not None
    assert resolution.recipe.criteria.os == "any"
    assert any('os "talos"' in warning for warning in resolution.warnings)


def test_a_stated_criterion_is_never_left_out() -> None:
    with pytest.raises(AicrError, match='os "talos"'):
        from_snapshot(snapshot(), intent="training", os="talos")


def test_nothing_is_left_out_if_nothing_would_be_left() -> None:
    only_system = snapshot(
        OS={"release": {"ID": "talos"}},
        K8s={"node": None},
        GPU={"hardware": None},
        NodeTopology={"label": None, "summary": None},
    )
    with pytest.raises(AicrError, match='os "talos"'):
        from_snapshot(only_system)


def test_a_failed_constraint_excludes_the_leaf_and_is_named() -> None:
    with pytest.raises(AicrError) as caught:
        from_snapshot(snapshot(K8s={"server": {"version": "v1.20.1"}}), intent="training", platform="slurm")
    assert 'service "eks"' in caught.value.message
    assert 'K8s.server.version must be ">= 1.32.4", found "v1.20.1"' in caught.value.message
    assert 'overlay "h100-eks-ubuntu-training-slurm"' in caught.value.message


def test_a_missing_reading_excludes_as_well() -> None:
    with pytest.raises(AicrError, match=r"excluded: K8s\.server\.version"):
        from_snapshot(snapshot(K8s={"server": None}), intent="training")


def test_a_failed_constraint_of_a_mixin_excludes_its_users() -> None:
    with pytest.raises(AicrError, match=r'OS\.release\.VERSION_ID must be "24\.04", found "22\.04"'):
        from_snapshot(snapshot(OS={"release": {"ID": "ubuntu", "VERSION_ID": "22.04"}}), intent="training")


def test_a_reading_that_cannot_be_judged_stops_everything() -> None:
    with pytest.raises(AicrError, match=r"K8s\.server\.version") as caught:
        from_snapshot(snapshot(K8s={"server": {"version": "unknown"}}), intent="training")
    assert "excluded" not in caught.value.message


def test_a_detected_criterion_stays_if_a_constraint_is_to_blame() -> None:
    with pytest.raises(AicrError, match=r'service "eks".*found "v1\.20\.1"'):
        from_snapshot(snapshot(K8s={"server": {"version": "v1.20.1"}}))


def test_only_leaves_are_judged_by_their_constraints() -> None:
    catalog = embedded()
    ancestor = dataclasses.replace(catalog.overlays["eks"], constraints=(Constraint("K8s.server.version", ">= 99"),))
    changed = dataclasses.replace(catalog, overlays={**catalog.overlays, "eks": ancestor})
    resolution = resolve(changed, Criteria(intent="training"), snapshot=snapshot(), stated=("intent",))
    assert "h100-eks-training" in (header(resolution).applied_overlays or ())
    assert header(resolution).excluded_overlays is None


def test_an_exclusion_that_nothing_hangs_on_is_recorded() -> None:
    catalog = embedded()
    picky = catalog.overlays["monitoring-hpa"]
    picky = dataclasses.replace(picky, constraints=(Constraint("K8s.server.version", ">= 99"),))
    changed = dataclasses.replace(catalog, overlays={**catalog.overlays, picky.name: picky})
    resolution = resolve(changed, Criteria(), snapshot=snapshot())
    assert header(resolution).excluded_overlays == (ExcludedOverlay("monitoring-hpa", "constraint-failed"),)
    (warning,) = header(resolution).constraint_warnings or ()
    assert (warning.constraint, warning.expected, warning.actual) == (
        "K8s.server.version",
        ">= 99",
        "v1.34.1-eks-1a2b3c4",
    )
    assert any("monitoring-hpa" in text for text in resolution.warnings)


@pytest.mark.parametrize(("hardware", "state"), [
    ({"gpu-present": True, "driver-loaded": True}, "preinstalled"),
    ({"gpu-present": True, "driver-loaded": False}, "absent"),
    ({"gpu-present": False, "driver-loaded": False}, None),
    ({"gpu-present": True}, None),
    (None, None),
])  # fmt: skip
def test_the_state_of_the_gpu_driver_is_recorded(hardware: dict[str, object] | None, state: str | None) -> None:
    assert header(from_snapshot(snapshot(GPU={"hardware": hardware}))).gpu_driver_state == state


def test_a_preinstalled_driver_is_made_explicit_where_the_values_expect_one() -> None:
    kind = snapshot(K8s={"node": {"provider": "kind"}}, GPU={"hardware": {"gpu-present": True, "driver-loaded": True}})
    ref = from_snapshot(kind, intent="training", os="any").recipe.component("gpu-operator")
    assert ref is not None
    assert ref.overrides is not None
    assert ref.overrides["driver"]["enabled"] is False  # type: ignore[index]


def test_a_preinstalled_driver_elsewhere_is_a_warning() -> None:
    resolution = from_snapshot(snapshot(GPU={"hardware": {"gpu-present": True, "driver-loaded": True}}))
    assert any("has a driver already" in warning for warning in resolution.warnings)


@pytest.mark.parametrize(("reading", "state", "warns"), [
    ({"collection-state": "absent"}, "absent", False),
    ({"collection-state": "api-detected"}, "api-detected", True),
    ({"collection-state": "crs-detected"}, "crs-detected", True),
    ({"collection-state": "unknown"}, "unknown", True),
    ({"collection-state": "whatever"}, "unknown", True),
    ({"collection-state": True}, "unknown", True),
    ({"collection-state": ""}, "unknown", True),
    ({}, "unknown", True),
    (None, None, False),
])  # fmt: skip
def test_evidence_of_mariadb_is_recorded_and_only_warned_about(
    reading: dict[str, object] | None, state: str | None, warns: bool
) -> None:
    taken = snapshot(K8s={"mariadb-operator": reading})
    resolution = from_snapshot(taken, AccountingMode.AICR_PROVIDED, intent="training", platform="slurm")
    assert header(resolution).maria_db_operator_state == state
    assert any("mariadb-operator" in warning for warning in resolution.warnings) == warns


@pytest.mark.parametrize("mode", [None, AccountingMode.DISABLED, AccountingMode.CUSTOMER_MANAGED])
def test_evidence_of_mariadb_is_nothing_to_other_modes(mode: AccountingMode | None) -> None:
    taken = snapshot(K8s={"mariadb-operator": {"collection-state": "crs-detected"}})
    assert header(from_snapshot(taken, mode, intent="training", platform="slurm")).maria_db_operator_state is None


def test_the_gravest_of_several_readings_counts() -> None:
    document = {
        "kind": "Snapshot", "apiVersion": "aicr.run/v1alpha2",
        "measurements": [{"type": "K8s", "subtypes": [
            {"subtype": "mariadb-operator", "data": {"collection-state": state}}
            for state in ("absent", "crs-detected", "unknown")
        ]}],
    }  # fmt: skip
    taken = snapshot_from_document(document, "snapshot.yaml")[0]
    with_everything = Snapshot((*snapshot(K8s={}).measurements, *taken.measurements))
    stated = {"service": "eks", "accelerator": "h100", "os": "ubuntu", "intent": "training", "platform": "slurm"}
    resolution = from_snapshot(with_everything, AccountingMode.AICR_PROVIDED, **stated)
    assert header(resolution).maria_db_operator_state == "crs-detected"
