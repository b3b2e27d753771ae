# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a deployment takes by the clock, level by level, and how long one component after the other.

    python tests/benchmarks/deploy_time.py [--delay 18]

Slurm with a provided database is deployed by `aicr.runtime.deploy` and the real helm, from nothing, on a test bed of
its own (docs/testing.md) whose stand-ins are late: what a deployment waits for is known, and the rest is ours. Then the
same on a second bed with each component in a level of its own. It fails if

- the deployment takes longer than 1.15 times the sum over its levels of the slowest component, plus 10 seconds. What a
  component takes is the delay and what its daemons need beside it (MariaDB, slurmdbd and slurmctld are real): the time
  from when helm is done with its level until all of it holds;
- one component after the other takes less than 1.3 times as long as the deployment.

Times by the clock say something only on a machine that nobody else uses.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.readiness import STABLE_SECONDS
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.bundled import DATABASE, SLURM, Bundled, bundled
from ansible_collections.aicr.runtime.tests.cluster.charts import charts_folder
from ansible_collections.aicr.runtime.tests.cluster.deployments import DEPLOY, Deployments
from ansible_collections.aicr.runtime.tests.integration.conftest import CHECKOUT, Ansible

FACTOR, MORE_SECONDS, SERIAL_FACTOR = 1.15, 10.0, 1.3
ROLE = "aicr.runtime.component"
BEGIN, READY = f"{ROLE} : Lay out the deployment of the components", f"{ROLE} : Wait until they are ready"
LEVELS = '"{{ _aicr_planned.plan.levels }}"'
ONE_BY_ONE = '"{{ _aicr_planned.plan.levels | flatten | batch(1) | list }}"'


@dataclass(frozen=True)
class Late:
    """A component whose stand-ins are late.

    :ivar image: whose containers it is about.
    :ivar variable: of the operator that keeps it from being ready; without one the containers themselves start late.
    """

    seconds: float
    image: str
    variable: str | None = None


def lateness(delay: float) -> dict[str, Late]:
    """What is late: two components of each of the first two levels, and one of each other."""
    return {
        "cert-manager": Late(delay, "*cert-manager-controller[:@]*"),
        "nfd": Late(delay, "stand-in.invalid/nfd:*"),
        "mariadb-operator": Late(delay, "*mariadb-operator[:@]*", "BED_DELAY_WEBHOOK"),
        "slinky-slurm-operator": Late(delay, "*slurm-operator[:@]*"),
        "slurm-accounting-mariadb": Late(delay, "*mariadb-operator[:@]*", "BED_DELAY_MARIADB"),
        "slinky-slurm": Late(delay, "*slurm-operator[:@]*", "BED_DELAY_NODESET"),
    }


@dataclass(frozen=True)
class Step:
    """A part of a run: a level, or what comes before the first and after the last."""

    name: str
    seconds: float
    delay: float = 0.0
    """The longest of the delays in it."""
    slowest: float = 0.0
    """What its slowest component took."""


@dataclass(frozen=True)
class Timed:
    """A run by its parts."""

    seconds: float
    steps: Sequence[Step]

    @property
    def delay(self) -> float:
        return sum(step.delay for step in self.steps)

    @property
    def slowest(self) -> float:
        return sum(step.slowest for step in self.steps)

    def told(self) -> Iterator[str]:
        for step in self.steps:
            slowest = f" (slowest component {step.slowest:.1f} s)" if step.slowest else ""
            yield f"  {step.seconds:6.1f} s: {step.name}{slowest}"


@contextlib.contextmanager
def late_bed(folder: Path, late: Mapping[str, Late]) -> Iterator[Bed]:
    """A bed without a deployment, on which components are late."""
    bed = Bed.start(folder, "kind")
    try:
        for image in {one.image for one in late.values()}:
            of = [one for one in late.values() if one.image == image]
            start = max((one.seconds for one in of if one.variable is None), default=0.0)
            bed.images.set(image, start, **{one.variable: str(one.seconds) for one in of if one.variable})
        yield bed
    finally:
        bed.stop()


def one_by_one(folder: Path) -> Path:
    """The playbook deploy, with each component in a level of its own."""
    shutil.copytree(CHECKOUT / "playbooks", folder)
    tasks = folder / "tasks" / "deploy.yml"
    text = tasks.read_text(encoding="utf-8")
    if text.count(LEVELS) != 1:
        sys.exit(f"{tasks}: the levels are gone through otherwise than by {LEVELS}")
    tasks.write_text(text.replace(LEVELS, ONE_BY_ONE), encoding="utf-8")
    return folder / "deploy.yml"


def timed(deployments: Deployments, playbook: str, made: Bundled, late: Mapping[str, Late]) -> Timed:
    """Run a playbook that deploys, from nothing."""
    begin = time.time()
    deployments.run(playbook, made.variables(aicr_readiness_timeout=300))
    end = time.time()
    record = (deployments.ansible.folder / "record.jsonl").read_text(encoding="utf-8").splitlines()
    entries: list[dict[str, Any]] = [json.loads(line) for line in record]
    starts = [entries[number - 1]["at"] for number, one in enumerate(entries) if one["task"] == BEGIN]
    last = max(one["at"] for one in entries if one["task"].startswith(ROLE))
    levels = [one["result"]["components"] for one in entries if one["task"] == READY]
    steps = [Step("start, look at the cluster", starts[0] - begin)]
    for found, since, until in zip(levels, starts, [*starts[1:], last], strict=True):
        step = Step(
            ", ".join(found),
            until - since,
            max((late[name].seconds for name in found if name in late), default=0.0),
            max(one["seconds"] for one in found.values()) - STABLE_SECONDS,
        )
        if step.seconds < step.delay:
            sys.exit(f"{step.name}: not as late as the stand-ins were to make it, so this measures nothing")
        steps.append(step)
    steps.append(Step("record, verify, end", end - last))
    return Timed(end - begin, steps)


def run(room: Path, name: str, made: Bundled, charts: Path, late: Mapping[str, Late], playbook: str) -> Timed:
    """One deployment on a bed of its own."""
    folder = room / name
    folder.mkdir()
    with late_bed(folder / "kind", late) as bed:
        result = timed(Deployments(Ansible(folder), bed, charts), playbook, made, late)
    print(f"{name}: {result.seconds:.1f} s", *result.told(), sep="\n", flush=True)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--delay", type=float, default=18.0, help="seconds by which components are late")
    options = parser.parse_args()
    late = lateness(options.delay)
    busy = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} processors, of which {busy:.1f} were busy before")
    with tempfile.TemporaryDirectory(prefix="aicr-deploy-time-") as name:
        room = Path(name)
        charts = charts_folder(room / "charts")
        made = bundled(room / "bundled", "aicr-provided", components=[*SLURM, *DATABASE, "nfd"])
        levels = run(room, "level by level", made, charts, late, DEPLOY)
        serial = run(room, "one by one", made, charts, late, str(one_by_one(room / "playbooks")))
    bound, strict = (FACTOR * seconds + MORE_SECONDS for seconds in (levels.slowest, levels.delay))
    ratio = serial.seconds / levels.seconds
    kept, side_by_side = levels.seconds <= bound, ratio >= SERIAL_FACTOR
    print(f"a deployment: {levels.seconds:.1f} s, of which {levels.slowest:.1f} s are the slowest components")
    print(f"  with them it may take {bound:.1f} s: {'kept' if kept else 'EXCEEDED'}")
    print(f"  with the delays alone, {levels.delay:g} s, it could take {strict:.1f} s")
    print(
        f"one component after the other: {ratio:.2f} times as long, at least {SERIAL_FACTOR:g}: "
        f"{'kept' if side_by_side else 'MISSED'}"
    )
    return 0 if kept and side_by_side else 1


if __name__ == "__main__":
    sys.exit(main())
