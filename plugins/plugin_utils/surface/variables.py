# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the playbooks: the options of the stages, with ``aicr_`` before their names."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..cluster.access import Access
from ..errors import AicrError, invalid, raise_all
from . import waves
from .lease import RUN
from .options import (
    BUNDLE,
    CLUSTER,
    RECIPE,
    SNAPSHOT,
    SNAPSHOT_AGENT,
    SNAPSHOT_DIFF,
    VALIDATE,
    Spec,
    parse,
    unknown,
)
from .path import expanded, real

PREFIX = "aicr_"
"""A variable whose name begins so is in :data:`SPEC`. Those of the playbooks' own begin with ``_aicr_``."""

AGENT_PREFIX = "aicr_agent_"

DRIFT_SNAPSHOT = "drift-snapshot.yaml"
"""What the playbook drift takes is kept beside the baseline under this name."""

MAX_BYTES = 200
"""A file beside the folder has the folder's name and an ending, and 255 bytes are all that a file system takes."""

_PLAYBOOKS_OWN = ("dest", "format", "return_document")
_SEGMENT = re.compile(r"[^./\x00-\x1f\x7f-\x9f\u2028\u2029][^/\x00-\x1f\x7f-\x9f\u2028\u2029]*")


def _variables(
    options: Spec, prefix: str = PREFIX, own: Iterable[str] = _PLAYBOOKS_OWN
) -> dict[str, Mapping[str, Any]]:
    """Options as variables; a default is the action's business, which then knows that nobody stated the option."""
    return {
        f"{prefix}{name}": {key: value for key, value in option.items() if key != "default"}
        for name, option in options.items()
        if name not in own
    }


def _bundle_variables() -> dict[str, Mapping[str, Any]]:
    """``aicr_serial`` says how large the waves over an inventory are, so the option of a bundle has a longer name."""
    renamed = {f"bundle_{name}" if name == "serial" else name: option for name, option in BUNDLE.items()}
    return _variables(renamed)


def _drift_variables() -> dict[str, Mapping[str, Any]]:
    """Both snapshots have places of their own: a baseline may be named, and what is compared with it be given."""
    places: Spec = {"baseline": {"type": "raw"}, "snapshot": VALIDATE["snapshot"]}
    return _variables({**SNAPSHOT_DIFF, **places}, own=(*_PLAYBOOKS_OWN, "target"))


def _agent_variables() -> dict[str, Mapping[str, Any]]:
    """Whether there is an agent, and its options; their prefix tells them from those of the snapshot around it."""
    own = _variables(SNAPSHOT_AGENT, AGENT_PREFIX, (*_PLAYBOOKS_OWN, *CLUSTER))
    return {**_variables({"agent": {"type": "bool"}}), **own}


DEPLOY: Spec = {
    **CLUSTER,
    "bundle": {"type": "path"},
    "recipe": {"type": "raw"},
    "catalog": {"type": "path"},
    "install_values": {"type": "dict"},
    "allow_mode_change": {"type": "bool"},
    "allow_downgrade": {"type": "bool"},
    "recover_releases": {"type": "bool"},
    "chart_source": {"type": "str"},
    "helm": {"type": "path"},
    "chart_cache": {"type": "path"},
    "registry_config": {"type": "path"},
    "release_timeout": {"type": "float"},
    "readiness_timeout": {"type": "float"},
    "readiness_stable": {"type": "float"},
    "probe_image": {"type": "str"},
    "probe_timeout": {"type": "float"},
    "probe_wait": {"type": "float"},
    "probe_grace": {"type": "float"},
    "accounting_check_image": {"type": "str"},
    "accounting_check_timeout": {"type": "float"},
    "accounting_check_wait": {"type": "float"},
    "restart_slurmctld": {"type": "bool"},
    **RUN,
}
"""Options of the actions by which a bundle is deployed; two actions have some by the same name, so these say whose."""

EVERYWHERE: Spec = _variables({"hosts": {"type": "raw"}, "artifacts_dir": {"type": "path"}})
STAGES: Mapping[str, Spec] = {
    "host_snapshot": _variables({"host_snapshot": {"type": "bool"}}),
    "snapshot": _variables(SNAPSHOT, own=(*_PLAYBOOKS_OWN, "nodes")),
    "snapshot_agent": _agent_variables(),
    "recipe": _variables(RECIPE),
    "validate": _variables(VALIDATE),
    "bundle": _bundle_variables(),
    "deploy": _variables({"deploy": {"type": "bool"}, **DEPLOY}),
    "waves": _variables(waves.VARIABLES),
    "uninstall": _variables({f"remove_{what}": {"type": "bool"} for what in ("data", "secrets", "crds")}),
    "verify": _variables({"verify_probe": {"type": "bool"}, "fail_on_error": VALIDATE["fail_on_error"]}),
    "drift": _drift_variables(),
}
SPEC: Spec = {**EVERYWHERE, **{name: option for stage in STAGES.values() for name, option in stage.items()}}
"""All of them."""


@dataclass(frozen=True)
class Checked:
    """What the playbooks go on with.

    :ivar folder: where the artifacts of the cluster are.
    :ivar cluster: whether a cluster is meant, by a variable or by ``K8S_AUTH_*``.
    :ivar waves: those of the play, where that stage was asked for.
    """

    folder: str
    cluster: bool
    waves: waves.Waves | None = None

    def deliver(self, **_task: bool) -> dict[str, Any]:
        """The task's result, which is the same in check mode."""
        result: dict[str, Any] = {"changed": False, "path": self.folder, "cluster": self.cluster}
        return result | ({"waves": self.waves.to_result()} if self.waves else {})


def check_variables(
    host: str,
    names: Iterable[str],
    values: Mapping[str, Any],
    stages: Sequence[str],
    hosts: int = 1,
    serial: Sequence[object] | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Checked:
    """Check the variables of one host before anything is done for it.

    :param host: its name, which is also that of its folder.
    :param names: all variables whose name begins with :data:`PREFIX`.
    :param values: those that are in :data:`SPEC`.
    :param stages: whose variables are checked by value; the others are only known by name.
    :param hosts: how many hosts the play has.
    :param serial: the keyword of the play.
    :param environ: what stands for variables of a cluster where none is set. It is not asked about a host that is
        itself looked at: such a host is a machine.
    :raises AicrError: INVALID_REQUEST with everything that is wrong.
    """
    problems = [unknown("variable", name, name, SPEC) for name in names if name not in SPEC]
    if not _SEGMENT.fullmatch(host) or len(host.encode()) > MAX_BYTES:
        problems.append(
            invalid(
                f"the host name {json.dumps(host[:40], ensure_ascii=False)} cannot be the name of a folder",
                f"rename the host: no slash, no dot at its start, no control characters, at most {MAX_BYTES} bytes",
            )
        )
    spec = {**EVERYWHERE, **{name: option for stage in stages for name, option in STAGES[stage].items()}}
    parsed: Mapping[str, Any] = {}
    try:
        parsed = parse(spec, {name: value for name, value in values.items() if name in spec}).values
    except AicrError as error:
        problems.append(error)
    found = None
    if "waves" in stages:
        try:
            found = waves.waves(values, hosts, serial)
        except AicrError as error:
            problems.append(error)
    folder = os.path.join(os.path.realpath(parsed.get(f"{PREFIX}artifacts_dir") or "artifacts"), host)
    problems += [*_unfit(parsed), *_lost(parsed, folder)]
    raise_all(problems)
    ways = ("kubeconfig", "context", "host", "in_cluster")
    said: dict[str, Any] = {name: parsed.get(f"{PREFIX}{name}") for name in ways}
    meant = Access(**said).is_meant({} if parsed.get(f"{PREFIX}host_snapshot") else environ)
    return Checked(folder, meant, found)


def _unfit(parsed: Mapping[str, Any]) -> Iterator[AicrError]:
    """Values that an action would refuse only once a deployment has begun."""
    credentials = f"{PREFIX}registry_config"
    if parsed.get(credentials) and not os.path.isfile(parsed[credentials]):
        yield invalid(f"{credentials}: {parsed[credentials]} is no file", "helm registry login writes one")


def _lost(parsed: Mapping[str, Any], folder: str) -> Iterator[AicrError]:
    """A baseline that the new snapshot would replace before the two are compared."""
    baseline, taken = parsed.get(f"{PREFIX}baseline"), Path(folder) / DRIFT_SNAPSHOT
    if not isinstance(baseline, str) or "://" in baseline or parsed.get(f"{PREFIX}snapshot") is not None:
        return
    if real(expanded(baseline)) == real(taken):
        yield invalid(
            f"{PREFIX}baseline: {baseline} is where aicr.runtime.drift keeps the snapshot that it takes",
            "copy it under another name first",
        )
