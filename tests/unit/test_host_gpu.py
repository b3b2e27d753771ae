# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs as PCI shows them (spec/surface.md 3.3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.module_utils import gpu_sku, host_gpu
from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

H100, H200, NVSWITCH = "0x2330", "0x2335", "0x22a3"
GPU_3D, GPU_VGA, BRIDGE, NETWORK = "0x030200", "0x030000", "0x068000", "0x020000"


def device(
    root: Path, slot: int, vendor: str, identity: str, pci_class: str, *, slice_of_another: bool = False
) -> None:
    folder = root / f"sys/bus/pci/devices/0000:{slot:02x}:00.0"
    folder.mkdir(parents=True)
    for name, text in (("vendor", vendor), ("device", identity), ("class", pci_class)):
        (folder / name).write_text(text + "\n")
    if slice_of_another:
        (folder / "physfn").mkdir()


def collected(root: Path) -> Findings:
    found = Findings("GPU")
    host_gpu.collect(RootFs(str(root)), found)
    return found


def test_eight_gpus_of_one_model(tmp_path: Path) -> None:
    for slot in range(8):
        device(tmp_path, slot, "0x10de", H100, GPU_3D)
    (tmp_path / "sys/module/nvidia").mkdir(parents=True)
    found = collected(tmp_path)
    assert found.subtypes == {
        "hardware": {
            "gpu-present": True,
            "gpu-count": 8,
            "driver-loaded": True,
            "detection-source": "pci",
            "model": "h100",
        }
    }
    assert not found.gaps
    assert not found.warnings


def test_only_display_controllers_of_nvidia_count(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x10de", H100, GPU_VGA)
    device(tmp_path, 2, "0x10de", NVSWITCH, BRIDGE)
    device(tmp_path, 3, "0x1002", "0x74a1", GPU_3D)
    device(tmp_path, 4, "0x15b3", "0x1021", NETWORK)
    assert collected(tmp_path).subtypes["hardware"]["gpu-count"] == 1


def test_a_virtual_function_beside_its_gpu_does_not_count_again(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x10de", H100, GPU_3D)
    device(tmp_path, 2, "0x10de", H100, GPU_3D, slice_of_another=True)
    assert collected(tmp_path).subtypes["hardware"]["gpu-count"] == 1


def test_a_host_without_gpus_says_so_which_is_no_gap(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x15b3", "0x1021", NETWORK)
    found = collected(tmp_path)
    assert found.subtypes["hardware"] == {
        "gpu-present": False,
        "gpu-count": 0,
        "driver-loaded": False,
        "detection-source": "pci",
    }
    assert not found.gaps
    assert not found.warnings


def test_different_models_give_no_model_and_a_warning_that_names_them(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x10de", H100, GPU_3D)
    device(tmp_path, 2, "0x10de", H200, GPU_3D)
    found = collected(tmp_path)
    assert "model" not in found.subtypes["hardware"]
    assert found.warnings == ["GPU.hardware.model is left out, the host has: h100, h200"]


def test_two_ids_of_one_model_are_one_model(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x10de", "0x31c2", GPU_3D)
    device(tmp_path, 2, "0x10de", "0x31c3", GPU_3D)
    assert collected(tmp_path).subtypes["hardware"]["model"] == "gb300"


def test_an_unknown_id_gives_no_model_and_a_warning_that_names_it(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x10de", "0xfffe", GPU_3D)
    found = collected(tmp_path)
    assert "model" not in found.subtypes["hardware"]
    assert found.warnings == ["GPU.hardware.model is left out, the host has: unknown (10de:fffe)"]


def test_a_host_whose_bus_cannot_be_read_is_a_gap_and_not_without_gpus(tmp_path: Path) -> None:
    found = collected(tmp_path)
    assert found.subtypes == {}
    assert found.gaps == [f"GPU.hardware: {tmp_path}/sys/bus/pci/devices: No such file or directory"]


def test_a_device_that_cannot_be_made_out_is_a_gap(tmp_path: Path) -> None:
    device(tmp_path, 1, "0x10de", "", GPU_3D)
    found = collected(tmp_path)
    assert found.subtypes == {}
    assert len(found.gaps) == 1


@pytest.mark.parametrize(
    ("device_id", "model"),
    [
        (0x2330, "h100"),  # SXM5 80 GB
        (0x2331, "h100"),  # PCIe
        (0x2321, "h100"),  # NVL
        (0x2335, "h200"),  # SXM
        (0x233B, "h200"),  # NVL
        (0x2342, "gh200"),
        (0x20B0, "a100"),  # SXM4 40 GB
        (0x20B2, "a100"),  # SXM4 80 GB
        (0x20F1, "a100"),  # PCIe 40 GB
        (0x26B5, "l40"),
        (0x26B9, "l40s"),
        (0x2901, "b200"),
        (0x2941, "gb200"),
        (0x3182, "b300"),
        (0x31C2, "gb300"),
        (0x2BB5, "rtx-pro-6000"),  # Server Edition
        (0x20B7, None),  # A30
        (0x22A3, None),  # NVSwitch
    ],
)
def test_models_by_device_id(device_id: int, model: str | None) -> None:
    assert gpu_sku.sku(device_id) == model
