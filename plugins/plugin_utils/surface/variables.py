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

BASELINE = "snapshot.yaml"
"""What the playbook snapshot writes, and drift compares with unless another one is named."""
DRIFT_SNAPSHOT = "drift-snapshot.yaml"
"""What the playbook drift takes is kept beside the baseline under this name."""
DRIFT_NODES = "drift-nodes.yaml"
"""What it takes of nodes by Jobs; those that are reached by SSH have a folder of this name."""

MAX_BYTES = 200
"""A file beside the folder has the folder's name and an ending, and 255 bytes are all that a file system takes."""

_PLAYBOOKS_OWN = ("dest", "format", "return_document")
_SEGMENT = re.compile(r"[^.$/\x00-\x1f\x7f-\x9f\u2028\u2029][^$/\x00-\x1f\x7f-\x9f\u2028\u2029]*")
"""Without a dollar sign, behind which a path takes what a variable of the environment holds."""


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
                "rename the host: no slash or dollar sign, no dot at its start, no control characters, "
                f"at most {MAX_BYTES} bytes",
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
    problems += [*_unfit(parsed), *(_two_targets(parsed) if "drift" in stages else ())]
    raise_all(problems)
    raise_all(_lost(parsed, folder) if "drift" in stages else ())
    ways = ("kubeconfig", "context", "host", "in_cluster")
    said: dict[str, Any] = {name: parsed.get(f"{PREFIX}{name}") for name in ways}
    meant = Access(**said).is_meant({} if parsed.get(f"{PREFIX}host_snapshot") else environ)
    return Checked(folder, meant, found)


def _unfit(parsed: Mapping[str, Any]) -> Iterator[AicrError]:
    """Values that an action would refuse only once a deployment has begun."""
    credentials = f"{PREFIX}registry_config"
    if parsed.get(credentials) and not os.path.isfile(parsed[credentials]):
        yield invalid(f"{credentials}: {parsed[credentials]} is no file", "helm registry login writes one")


def _two_targets(parsed: Mapping[str, Any]) -> Iterator[AicrError]:
    """A snapshot that is given, and one that shall be taken: only one of them can be compared with the baseline."""
    given, machine = f"{PREFIX}snapshot", f"{PREFIX}host_snapshot"
    if parsed.get(given) is not None and parsed.get(machine):
        yield invalid(
            f"{given} and {machine} are both set, and only one snapshot is compared with the baseline",
            f"leave {given} out to take one of the machine, or {machine} to compare the one that is given",
        )


def _lost(parsed: Mapping[str, Any], folder: str) -> Iterator[AicrError]:
    """Baselines that a new snapshot would replace before the two are compared.

    The name alone tells that of another cluster of the play, which takes its own at the same time. What stands where
    the default baseline does is never written, also if another one is compared.
    """
    option = parsed.get(f"{PREFIX}baseline")
    kept, taken = Path(folder) / BASELINE, [Path(folder) / name for name in (DRIFT_SNAPSHOT, DRIFT_NODES)]
    said, baseline = str(kept), real(kept)
    if isinstance(option, str) and "://" not in option:
        said, baseline = f"{PREFIX}baseline: {option}", real(expanded(option))
    if _is_taken(baseline):
        yield invalid(
            f"{said} is where aicr.runtime.drift keeps a snapshot that it takes{_leads(said, baseline)}",
            "copy it under another name first",
        )
        return
    for place in taken if parsed.get(f"{PREFIX}snapshot") is None else ():
        for name, found in {said: baseline, str(kept): real(kept)}.items():
            if real(place) == found:
                yield invalid(
                    f"{place} and {name} are the same file ({found}), so the new snapshot would replace the baseline",
                    f"remove the link {place}" if place.is_symlink() else "copy the baseline under another name first",
                )
                return
        if real(place).name == BASELINE:
            yield invalid(f"{place} leads to {real(place)}, which may be a baseline", f"remove the link {place}")
            return


def _is_taken(place: Path) -> bool:
    """Whether a file is one that drift writes for some cluster, by its name."""
    return place.name in (DRIFT_SNAPSHOT, DRIFT_NODES) or place.parent.name == Path(DRIFT_NODES).stem


def _leads(said: str, place: Path) -> str:
    return "" if said.endswith(place.name) else f" ({place})"
