# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's shared volumes: what ``storage.enabled`` on slinky-slurm asks for, mounted on every login and worker set.

The claims themselves are a manifest of the component (spec/catalog.md, slinky-slurm).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..artifacts.recipe import ComponentRef
from ..errors import AicrError, invalid
from ..ownership.accounting import SLURM
from .scheduling import OBJECT_NAME
from .value_path import Blocked, Path, Values, dotted, find, put

CLAIMS = f"components/{SLURM}/manifests/shared-storage-pvcs.yaml"
_MOUNTS = {"home": "/home", "data": "/scratch/fsw"}
_SETS = (("loginsets", "login"), ("nodesets", "slurmd"))

_QUANTITY = re.compile(r"(?=.*[1-9])\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[kMGTPE]i?|[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class _Volume:
    key: str
    claim: str

    @property
    def name(self) -> str:
        return f"shared-{self.key}"

    def mount(self) -> dict[str, object]:
        return {"name": self.name, "mountPath": _MOUNTS[self.key]}

    def volume(self) -> dict[str, object]:
        return {"name": self.name, "persistentVolumeClaim": {"claimName": self.claim}}


def mount_shared_storage(ref: ComponentRef, values: Values, problems: list[AicrError]) -> Values:
    """The values with the shared volumes mounted, if they are enabled; what is wrong with them becomes problems."""
    if ref.name != SLURM or "storage" not in values:
        return values
    wrong = list(_problems(ref, values["storage"]))
    problems += wrong
    storage = values["storage"]
    if wrong or not isinstance(storage, Mapping) or storage.get("enabled") is not True:
        return values
    volumes = [_Volume(key, str(storage[key]["name"])) for key in _MOUNTS]
    for sets, container in _SETS:
        held = values.get(sets)
        for name in sorted(held) if isinstance(held, Mapping) else ():
            for path, entries in (
                ((sets, name, container, "volumeMounts"), [one.mount() for one in volumes]),
                ((sets, name, "podSpec", "volumes"), [one.volume() for one in volumes]),
            ):
                values = _extended(values, path, entries, problems)
    return values


def _extended(values: Values, path: Path, entries: list[dict[str, object]], problems: list[AicrError]) -> Values:
    held = find(values, path) or []
    names = {entry["name"] for entry in entries}
    if not isinstance(held, list) or any(
        isinstance(one, Mapping) and one.get("name") in names and one not in entries for one in held
    ):
        problems.append(
            _wrong(
                dotted(path),
                "already has an entry of a shared volume's name, or is no list",
                f"leave the names {', '.join(sorted(map(str, names)))} to the shared storage",
            )
        )
        return values
    try:
        return put(values, path, [*held, *(entry for entry in entries if entry not in held)])
    except Blocked as blocked:
        problems.append(_wrong(dotted(blocked.path), "is no mapping", "the shared volumes are mounted below it"))
        return values


def _problems(ref: ComponentRef, storage: object) -> Iterator[AicrError]:
    if not isinstance(storage, Mapping):
        yield _wrong("storage", "must be a mapping", f"its keys are enabled, {', '.join(_MOUNTS)}")
        return
    for key in sorted(set(map(str, storage)) - {"enabled", *_MOUNTS}):
        yield _wrong(f"storage.{key}", "is no shared volume", f"the keys are enabled, {', '.join(_MOUNTS)}")
    enabled = storage.get("enabled", False)
    if not isinstance(enabled, bool):
        yield _wrong("storage.enabled", "must be true or false", "leave it out for false")
    if enabled is not True:
        return
    if CLAIMS not in (ref.pre_manifest_files or ()):
        yield _wrong(
            "storage.enabled", "is true, but this recipe brings no claims for shared storage", "leave it false"
        )
        return
    for key in _MOUNTS:
        volume = storage.get(key)
        if not isinstance(volume, Mapping):
            yield _wrong(f"storage.{key}", "must be a mapping with name, storageClassName and size", "")
            continue
        for field, form, hint in (
            ("name", OBJECT_NAME, "the name of a PersistentVolumeClaim"),
            ("storageClassName", OBJECT_NAME, "give scheduling.shared_storage_class, a class for ReadWriteMany"),
            ("size", _QUANTITY, "a quantity above zero, such as 100Gi"),
        ):
            text = volume.get(field)
            if not isinstance(text, str) or not form.fullmatch(text):
                yield _wrong(f"storage.{key}.{field}", "is missing or is none", hint)
    names = [volume.get("name") for volume in map(storage.get, _MOUNTS) if isinstance(volume, Mapping)]
    if len(names) == len(_MOUNTS) and names[0] == names[1]:
        yield _wrong(
            "storage.data.name", f'is "{names[0]}", the claim of storage.home', "the two claims need different names"
        )


def _wrong(path: str, what: str, hint: str) -> AicrError:
    return invalid(f"{SLURM}:{path} {what}", hint, component=SLURM, path=path)
