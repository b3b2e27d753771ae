# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which GPU model a PCI device id stands for.

Sources: pci.ids (pci-ids.ucw.cz) and NVIDIA's open kernel modules (g_nv_name_released.h) and GPU admin tools
(devid_names.py). The names are those of the criterion ``accelerator``, in its spelling also for models that are no
accelerator of the catalog (gh200, b300, h800, h20, l4): a reading says what is there, not what is supported.
"""

from __future__ import annotations

NVIDIA = 0x10DE

_DEVICES = {
    "a100": (0x20B0, 0x20B1, 0x20B2, 0x20B3, 0x20B5, 0x20F1),
    "b200": (0x2901,),
    "b300": (0x3182,),
    "gb200": (0x2941,),
    "gb300": (0x31C2, 0x31C3),
    "gh200": (0x2342, 0x2343, 0x2345, 0x2348),
    "h100": (0x2313, 0x2321, 0x2330, 0x2331, 0x2336, 0x2337, 0x2338, 0x2339, 0x233D),
    "h20": (0x2309, 0x230C, 0x230E, 0x2328, 0x2329, 0x232C),
    "h200": (0x2335, 0x233B),
    "h800": (0x2322, 0x2324, 0x233A),
    "l4": (0x27B8,),
    "l40": (0x26B5,),
    "l40s": (0x26B9,),
    "rtx-pro-6000": (0x2BB1, 0x2BB5),
}
_SKU = {device: name for name, devices in _DEVICES.items() for device in devices}


def sku(device: int) -> str | None:
    """The model of NVIDIA's PCI device, or ``None`` if this release does not know it."""
    return _SKU.get(device)
