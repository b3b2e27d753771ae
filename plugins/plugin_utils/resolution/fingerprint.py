# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Criteria that a snapshot gives away (spec/engine.md 1.16, spec/surface.md 1.3); intent and platform it never does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..artifacts.recipe import Criteria
from ..artifacts.snapshot import Snapshot
from ..catalog import criteria as known_criteria
from ..constraints import scalar_text

PRODUCT = "nvidia.com/gpu.product"
_SERVICES = {"aws": "eks", "gce": "gke", "azure": "aks", "oci": "oke"}
_SERVICES_BY_PREFIX = (("ocid1.", "oke"), ("linode", "lke"))
_SYSTEMS = (("redhat", "rhel"), ("oracle", "ol"), ("talos", "talos"))
_AMAZON = ("amzn", "amazon", "al2", "al2023")
_SEPARATOR = re.compile(r"[\s-]+")


@dataclass(frozen=True)
class Detected:
    """What a snapshot gives away.

    :ivar criteria: an axis is ``None`` if the snapshot does not tell.
    :ivar notes: why not, where that is not obvious.
    """

    criteria: Criteria
    notes: tuple[str, ...] = ()


def criteria_from_snapshot(
    snapshot: Snapshot,
    valid: Mapping[str, AbstractSet[str]] | Mapping[str, tuple[str, ...]] | None = None,
) -> Detected:
    """Service, accelerator, operating system and number of nodes as read off a cluster.

    :param valid: the values that can be a criterion; any other reading is noted and gives none.
    """
    valid = known_criteria.KNOWN if valid is None else valid
    notes: list[str] = []
    found: dict[str, str | None] = {
        "service": _service(snapshot),
        "accelerator": _accelerator(snapshot, valid["accelerator"], notes),
        "os": _system(snapshot),
    }
    for axis, value in found.items():
        if value is not None and value not in valid[axis]:
            notes.append(f'{axis} "{value}" in the snapshot is no criterion of this catalog')
            found[axis] = None
    return Detected(Criteria(**found, nodes=_nodes(snapshot)), tuple(notes))


def _text(snapshot: Snapshot, type_name: str, subtype: str, key: str) -> str:
    reading = snapshot.reading(type_name, subtype, key)
    return scalar_text(reading).strip() if isinstance(reading, (str, int, float)) else ""


def _service(snapshot: Snapshot) -> str | None:
    provider = _text(snapshot, "K8s", "node", "provider").lower()
    by_prefix = (service for prefix, service in _SERVICES_BY_PREFIX if provider.startswith(prefix))
    return next(by_prefix, None) or _SERVICES.get(provider, provider) or None


def _system(snapshot: Snapshot) -> str | None:
    name = _text(snapshot, "OS", "release", "ID").lower()
    if name in _AMAZON:
        return "amazonlinux"
    return next((system for prefix, system in _SYSTEMS if name.startswith(prefix)), name) or None


def _nodes(snapshot: Snapshot) -> int | None:
    count = _text(snapshot, "NodeTopology", "summary", "node-count")
    return int(count) or None if count.isdecimal() else None


def _accelerator(snapshot: Snapshot, valid: AbstractSet[str] | tuple[str, ...], notes: list[str]) -> str | None:
    products = set(_products(snapshot))
    if len(products) > 1:
        notes.append(f"nodes have different GPUs ({', '.join(sorted(products))}), so no accelerator is assumed")
        return None
    for product in products:
        model = _model(product, valid)
        if model:
            return model
        notes.append(f'GPU "{product}" in the snapshot is no known accelerator')
    model = _text(snapshot, "GPU", "hardware", "model").lower()
    return model if model in valid else None


def _products(snapshot: Snapshot) -> Iterator[str]:
    """The values of the product label; where nodes differ, each has a key of its own (spec/engine.md 8.3)."""
    for subtype in snapshot.subtypes("NodeTopology", "label"):
        items = [item for item in subtype.items or () if (item.context or {}).get("key") == PRODUCT]
        for item in items:
            yield str((item.context or {}).get("value", ""))
        for key, reading in (subtype.data or {}).items() if not items else ():
            if key == PRODUCT or key.startswith(PRODUCT + "."):
                yield str(reading).partition("|")[0]


def _model(product: str, valid: AbstractSet[str] | tuple[str, ...]) -> str | None:
    """The accelerator whose words stand next to each other in a product's name: an L40S is no L40."""
    words = _SEPARATOR.split(product.strip().lower())
    for model in sorted(valid):
        due = model.split("-")
        if any(words[start : start + len(due)] == due for start in range(len(words))):
            return model
    return None
