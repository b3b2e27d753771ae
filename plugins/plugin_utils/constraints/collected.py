# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What collectors emit: a path to anything else is a typo (spec/engine.md 3.2, spec/surface.md 2.9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .spelling import nearest


@dataclass(frozen=True)
class Keys:
    """The keys of a subtype.

    :ivar known: those that are always or usually there.
    :ivar others: whether there are more that nobody can list.
    """

    known: frozenset[str]
    others: bool = False

    def meant(self, key: str) -> str | None:
        """The known key that this one is probably meant to be."""
        return nearest(key, self.known)

    def allow(self, key: str) -> bool:
        """Whether a collector can emit the key; next to a known one an unknown one is taken for a misspelling."""
        return key in self.known or (self.others and self.meant(key) is None)


@dataclass(frozen=True)
class Readings:
    """What a subtype offers: readings of its own, and readings of each of its items."""

    scalars: Keys | None = None
    items: Keys | None = None


def _keys(text: str, others: bool = False) -> Keys:
    return Keys(frozenset(text.split()), others)


ANY_KEY = Keys(frozenset(), others=True)
ANY_READING = Readings(ANY_KEY)

OS_RELEASE = _keys(
    "NAME ID ID_LIKE PRETTY_NAME CPE_NAME VARIANT VARIANT_ID VERSION VERSION_ID VERSION_CODENAME BUILD_ID IMAGE_ID"
    " IMAGE_VERSION RELEASE_TYPE HOME_URL DOCUMENTATION_URL SUPPORT_URL BUG_REPORT_URL PRIVACY_POLICY_URL"
    " SUPPORT_END LOGO ANSI_COLOR VENDOR_NAME VENDOR_URL ARCHITECTURE PLATFORM_ID UBUNTU_CODENAME",
    others=True,
)
"""os-release(5); distributions add keys of their own."""

COLLECTED: Mapping[str, Mapping[str, Readings]] = {
    "K8s": {
        "server": Readings(_keys("version platform goVersion")),
        "node": Readings(
            _keys(
                "source-node provider provider-id container-runtime-id container-runtime-name container-runtime-version"
                " kubelet-version kernel-version operating-system os-image"
            )
        ),
        "image": ANY_READING,
        "policy": ANY_READING,
        "aks-gpu-pools": Readings(_keys("gpu-pool-count gpu-pools gpu-driver")),
        "gke-gpu-pools": Readings(_keys("gpu-pool-count gpu-pools gpu-driver-installation")),
        "oke-addons": Readings(_keys("addon-count nvidia-gpu-plugin")),
        "oke-legacy-plugin": Readings(_keys("nvidia-gpu-device-plugin daemonset")),
        "slinky-slurm": Readings(
            _keys(
                "api-available api-version collection-state controller-count detected nodeset-count loginset-count"
                " restapi-count accounting-count"
            ),
            _keys(
                "cluster-name external accounting-ref-present partition-enabled id kind namespace name api-version"
                " controller-id"
            ),
        ),
        "slinky-crds": ANY_READING,
        "slinky-operator": Readings(_keys("operator-count"), _keys("namespace name version")),
        "slinky-releases": Readings(None, _keys("namespace name chart app-version")),
        "mariadb-operator": Readings(_keys("collection-state api-available api-version")),
        "default-storage-class": Readings(_keys("collection-state default-count default-classes")),
        "percona-server-mongodb": Readings(_keys("collection-state api-available api-version")),
    },
    "GPU": {"hardware": Readings(_keys("gpu-present gpu-count driver-loaded detection-source model"))},
    "OS": {
        "release": Readings(OS_RELEASE),
        "sysctl": ANY_READING,
        "grub": ANY_READING,
        "kmod": ANY_READING,
        "extensions": ANY_READING,
    },
    "SystemD": {},
    "NodeTopology": {
        "summary": Readings(_keys("node-count taint-count label-count")),
        "label": ANY_READING,
        "taint": ANY_READING,
    },
    "NetworkTopology": {
        "identity": Readings(_keys("pf-count rail-count")),
        "capabilities": Readings(_keys("sriov rdma ib")),
        "pfs": Readings(
            None,
            _keys(
                "pciAddress deviceID psid partNumber rdmaDevice networkInterface model connectedGPU gpuProximity rail"
                " numaNode traffic"
            ),
        ),
        "kernel-modules": ANY_READING,
    },
}
"""Measurement type, subtype, readings."""

ANY_SUBTYPE = ("SystemD",)
"""Types whose subtypes are names of the observed machine, such as units."""
