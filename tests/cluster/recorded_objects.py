# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as recorded and as made, without what differs from one run to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from .bed import Bed, Object
from .operators.objects import path

Objects = dict[tuple[str, str], Object]
_PASSING = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "finalizers")
_ADDRESSES = ("clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort")


def recorded(file: Path) -> Objects:
    """The objects of a recording."""
    documents = [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]
    return {(one["kind"], one["metadata"]["name"]): comparable(one) for one in documents}


def present(bed: Bed, namespace: str, kinds: Mapping[str, str] | tuple[str, ...]) -> Objects:
    """Those of a namespace, as if it had the name of the recorded one."""
    found: Objects = {}
    for kind in kinds:
        for one in bed.api.items(path(kind, namespace)):
            # A namespace of a test has a name that stands for nothing else.
            named = json.loads(json.dumps(one).replace(namespace, "slurm"))
            found[kind, named["metadata"]["name"]] = comparable({"kind": kind, **named})
    return found


def comparable(one: Object) -> Object:
    """Its kind, metadata and content; of a Secret the keys, of hashes that they are there, no status."""
    metadata = {key: value for key, value in one["metadata"].items() if key not in _PASSING}
    for reference in metadata.get("ownerReferences", ()):
        reference.pop("uid")
    metadata.pop("namespace", None)
    kept: Object = {"kind": one["kind"], "metadata": metadata}
    for field in ("spec", "data", "immutable", "type"):
        if field in one:
            kept[field] = one[field]
    if one["kind"] == "Secret":
        kept["data"] = sorted(one.get("data", {}))
    plain: Object = _plain(kept)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key in _ADDRESSES or (key == "namespace" and item == "slurm"):
            continue
        if key.endswith("-hash") or (key.startswith("k8s.mariadb.com/") and len(str(item)) == 64):
            kept[key] = "a hash" if item else ""
        elif key == "command" and item[:2] == ["sh", "-c"]:
            kept[key] = [*item[:2], "a script"]
        else:
            kept[key] = _plain(item)
    return kept
