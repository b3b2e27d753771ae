# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVIDIA GPUs of a host as PCI shows them, whether or not a driver is there (spec/surface.md 3.3)."""

from __future__ import annotations

from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.gpu_sku import NVIDIA, sku
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

DEVICES = "/sys/bus/pci/devices"
DISPLAY_CLASSES = (0x0300, 0x0302)
"""VGA and 3D controllers; an NVSwitch is a bridge (0x0680)."""


def collect(fs: RootFs, found: Findings) -> None:
    """Count the GPUs and name their model; it is left out, with a warning, where it is unknown or differs."""
    try:
        devices = [device for device in fs.names(DEVICES) if _is_gpu(fs, f"{DEVICES}/{device}")]
        ids = sorted({_number(fs, f"{DEVICES}/{device}/device") for device in devices})
    except (OSError, ValueError) as error:
        found.gap(error, "hardware")
        return
    data: dict[str, object] = {
        "gpu-present": bool(devices),
        "gpu-count": len(devices),
        "driver-loaded": fs.exists("/sys/module/nvidia"),
        "detection-source": "pci",
    }
    models = sorted({sku(identity) or f"unknown (10de:{identity:04x})" for identity in ids})
    if len(models) == 1 and sku(ids[0]):
        data["model"] = models[0]
    elif models:
        found.warnings.append("GPU.hardware.model is left out, the host has: " + ", ".join(models))
    found.add("hardware", data)


def _is_gpu(fs: RootFs, device: str) -> bool:
    """A virtual function with its parent beside it is a slice of a GPU that counts already; in a guest it has none."""
    return (
        _number(fs, f"{device}/vendor") == NVIDIA
        and _number(fs, f"{device}/class") >> 8 in DISPLAY_CLASSES
        and not fs.exists(f"{device}/physfn")
    )


def _number(fs: RootFs, name: str) -> int:
    return int(fs.text(name), 16)
