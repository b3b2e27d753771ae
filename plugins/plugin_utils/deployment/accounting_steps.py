# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What proves Slurm accounting around the installation of Slurm: a login to its database, an answer of slurmdbd.

Both are read off the values that the chart gets, so that they see what slurmdbd will see; whose database it is makes
no difference (spec/slurm-accounting.md section 8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..artifacts.recipe import AccountingMode
from ..ownership.accounting import DATABASE, LEGACY_SWITCH, SLURM
from ..ownership.connection import STORAGE

Values = Mapping[str, object]
Step = dict[str, object]

_PARAMETERS = "StorageParameters"
_LINE = re.compile(rf"^\s*{_PARAMETERS}\s*=\s*(\S.*?)\s*$", re.IGNORECASE | re.MULTILINE)


def accounting_is_on(values: Values) -> bool:
    """Whether the chart of Slurm makes a slurmdbd."""
    return at(values, LEGACY_SWITCH) is True


def steps_before(
    component: str, namespace: str | None, values: Mapping[str, Values], mode: AccountingMode | None
) -> tuple[Step, ...]:
    """The probe of the database before Slurm, which only logs ``connect failed`` in a loop (2.9).

    :param mode: whose database it is, since what its owner can mend differs.
    """
    slurm = values.get(SLURM, {})
    if component != SLURM or not accounting_is_on(slurm):
        return ()
    storage = _mapping(at(slurm, STORAGE))
    step: Step = {
        "action": "database_probe",
        "namespace": namespace or "default",
        "database": {
            "host": storage.get("host"),
            "port": storage.get("port"),
            "database": storage.get("database"),
            "username": storage.get("username"),
            "password_secret": dict(_mapping(storage.get("passwordKeyRef"))),
        },
        "slurm_accounting_mode": str(mode),
        "tls": _tls(slurm),
        **_placement(slurm, "accounting.podSpec"),
    }
    image = at(values.get(DATABASE, {}), "mariadb.image")
    return ({**step, "image": image} if isinstance(image, str) else step,)


def steps_after(component: str, namespace: str | None, values: Mapping[str, Values]) -> tuple[Step, ...]:
    """The question to slurmdbd after Slurm: an open port does not show that accounting works (section 0, item 5)."""
    slurm = values.get(SLURM, {})
    if component != SLURM or not accounting_is_on(slurm):
        return ()
    name = full_name(slurm, component)
    cluster = slurm.get("clusterName") or f"{namespace or 'default'}_{name}"
    step: Step = {
        "action": "accounting_check",
        "namespace": namespace or "default",
        "name": name,
        "cluster": cluster,
        **_placement(slurm, "accounting.podSpec"),
    }
    image = _image(slurm)
    return ({**step, "image": image} if image else step,)


def _tls(slurm: Values) -> dict[str, object]:
    """How slurmdbd will speak to the database: in clear text, unless it is given a CA (4.7).

    With a CA encryption is what its owner wants, though slurmdbd itself would go on without; so the probe insists. A CA
    that is no file of a Secret or ConfigMap is one of the image, which a Job with another image cannot verify by.
    """
    authority = next((value for key, value in _parameters(slurm) if key.upper() == "SSL_CA"), None)
    if authority is None:
        return {"mode": "disabled"}
    mounted = _mounted_at(slurm, PurePosixPath(authority))
    return {"mode": "required", **mounted} if mounted else {"mode": "preferred"}


def _parameters(slurm: Values) -> Iterator[tuple[str, str]]:
    """``StorageParameters`` of slurmdbd.conf; raw lines win over the map (2.1)."""
    text = at(slurm, "accounting.extraConf")
    lines = _LINE.findall(text) if isinstance(text, str) else []
    held = _mapping(at(slurm, "accounting.extraConfMap")).get(_PARAMETERS)
    line = lines[-1] if lines else held
    entries = line if isinstance(line, list) else str(line or "").split(",")
    for entry in entries:
        key, _unused, value = str(entry).partition("=")
        if value:
            yield key.strip(), value.strip()


def _mounted_at(slurm: Values, file: PurePosixPath) -> dict[str, object]:
    """The key of a Secret or ConfigMap that is mounted in slurmdbd at a path, as an option of the probe."""
    volumes = {str(_mapping(volume).get("name")): volume for volume in _items(at(slurm, "accounting.podSpec.volumes"))}
    for mount in map(_mapping, _items(at(slurm, "accounting.slurmdbd.volumeMounts"))):
        folder = PurePosixPath(str(mount.get("mountPath")))
        if folder not in (file, *file.parents):
            continue
        inside = str(PurePosixPath(str(mount.get("subPath") or ""), file.relative_to(folder)))
        volume = volumes.get(str(mount.get("name")))
        for option, kind, name in (("ca_secret", "secret", "secretName"), ("ca_config_map", "configMap", "name")):
            source = _mapping(at(volume, kind))
            if source.get(name):
                keys = {_mapping(one).get("path"): _mapping(one).get("key") for one in _items(source.get("items"))}
                return {option: {"name": str(source[name]), "key": str(keys.get(inside, inside))}}
    return {}


def _placement(slurm: Values, pod: str) -> dict[str, object]:
    """Where the pods of the workload may run, and what their images are pulled with: a Job beside them needs the same
    (case N35)."""
    spec = _mapping(at(slurm, pod))
    pulls = [*_items(slurm.get("imagePullSecrets")), *_items(spec.get("imagePullSecrets"))]
    names = [str(_mapping(one).get("name")) for one in pulls if _mapping(one).get("name")]
    placement = {
        "node_selector": dict(_mapping(spec.get("nodeSelector"))),
        "tolerations": [dict(_mapping(one)) for one in _items(spec.get("tolerations"))],
        "image_pull_secrets": list(dict.fromkeys(names)),
    }
    return {key: value for key, value in placement.items() if value}


def full_name(slurm: Values, release: str) -> str:
    """The name of the chart's objects, as its template makes it (2.1)."""
    override = slurm.get("fullnameOverride")
    if isinstance(override, str) and override:
        return override
    word = slurm.get("nameOverride") or "slurm"
    return release if str(word) in release else f"{release}-{word}"


def _image(slurm: Values) -> str | None:
    """The image of the first login set, which has sacctmgr."""
    for login in _mapping(slurm.get("loginsets")).values():
        image = _mapping(at(_mapping(login), "login.image"))
        if image.get("repository"):
            tag, digest = image.get("tag"), image.get("digest")
            return f"{image['repository']}{f':{tag}' if tag else ''}{f'@{digest}' if digest else ''}"
    return None


def at(values: object, path: str) -> Any:
    """What stands at a dotted path of values, or ``None``."""
    for key in path.split("."):
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
