# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The volumes of a pod: where each lies on this machine, with what in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..api import Object
from .environment import Find, Unresolved, entries, field, resource

Token = Callable[[Object, Mapping[str, Any]], bytes]
"""A token for a pod, by the projected source that asks for one."""


@dataclass(frozen=True)
class File:
    path: str
    content: bytes
    mode: int


@dataclass(frozen=True)
class Sources:
    """Where volumes come from."""

    find: Find
    volume_of_claim: Callable[[str, str], Object | None]
    token: Token
    node_root: Callable[[], Path]


def contents(pod: Object, node: Object, volume: Object, sources: Sources) -> tuple[File, ...] | Path | None:
    """Files to write, or a place that is there already, or nothing: a new directory.

    :raises Unresolved: what it refers to is not there.
    """
    if "hostPath" in volume:
        return _host_path(volume["hostPath"], sources.node_root())
    if "emptyDir" in volume:
        return None
    if "persistentVolumeClaim" in volume:
        return _claimed(pod["metadata"]["namespace"], volume["persistentVolumeClaim"]["claimName"], sources)
    if "projected" in volume:
        parts, default = volume["projected"].get("sources", ()), volume["projected"].get("defaultMode", 0o644)
    else:
        parts, default = [volume], next(v for k, v in volume.items() if k != "name").get("defaultMode", 0o644)
    return tuple(file for part in parts for file in _files(pod, node, part, default, sources))


def _files(pod: Object, node: Object, part: Object, mode: int, sources: Sources) -> Iterator[File]:
    namespace = pod["metadata"]["namespace"]
    for kind, missing in (("secret", "secret key"), ("configMap", "config key")):
        if kind in part:
            held = entries(kind, namespace, part[kind], sources.find)
            items = part[kind].get("items") or [{"key": key, "path": key} for key in held]
            for item in items:
                if item["key"] in held:
                    yield File(item["path"], held[item["key"]], item.get("mode", mode))
                elif not part[kind].get("optional"):
                    prefix = "configmap " if kind == "configMap" else ""
                    raise Unresolved(f"{prefix}references non-existent {missing}: {item['key']}")
            return
    if "downwardAPI" in part:
        for item in part["downwardAPI"].get("items", ()):
            if "fieldRef" in item:
                text = field(item["fieldRef"]["fieldPath"], pod, node)
            else:
                text = resource(item["resourceFieldRef"], pod, node, pod["spec"]["containers"][0])
            yield File(item["path"], text.encode(), item.get("mode", mode))
    elif "serviceAccountToken" in part:
        source = part["serviceAccountToken"]
        yield File(source["path"], sources.token(pod, source), 0o600 if mode == 0o600 else mode)
    else:
        raise Unresolved(f"the bed has no volumes of this kind: {', '.join(key for key in part if key != 'name')}")


def _host_path(source: Object, root: Path) -> Path:
    place: Path = root / source["path"].lstrip("/")
    kind = source.get("type", "")
    if kind in ("", "DirectoryOrCreate") and not place.exists():
        place.mkdir(parents=True)
    elif kind == "FileOrCreate" and not place.exists():
        place.touch()
    elif (kind == "Directory" and not place.is_dir()) or (kind == "File" and not place.is_file()):
        raise Unresolved(f"hostPath type check failed: {source['path']} is not a {kind.lower()}")
    elif kind in ("Socket", "CharDevice", "BlockDevice"):
        raise Unresolved(f"hostPath type check failed: {source['path']} is not a {kind}: nodes of a bed have none")
    return place


def _claimed(namespace: str, claim: str, sources: Sources) -> Path:
    volume = sources.volume_of_claim(namespace, claim)
    if volume is None:
        raise Unresolved(f'persistentvolumeclaim "{claim}" is not bound')
    if "hostPath" not in volume["spec"]:
        raise Unresolved(f"the bed mounts volumes of its own provisioner only, not {volume['metadata']['name']}")
    place = Path(volume["spec"]["hostPath"]["path"])
    place.mkdir(parents=True, exist_ok=True)
    return place
