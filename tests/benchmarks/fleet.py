# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fleet costs in one play, against the same play with empty actions (docs/performance.md).

    python tests/benchmarks/fleet.py [--runs 3] [--forks 20] [--bundled 200] [--asked 200] [--validated 1000]

The clusters come from the inventory plugin aicr.runtime.clusters: contexts of one kubeconfig, all of which lead to one
test bed (docs/testing.md). Their snapshots are files, or a ConfigMap of the bed that every cluster is asked for.

The other play has the same playbook, inventory, tasks, options and conditions, but a collection whose action plugins
return at once: what is left is Ansible. Plays run in turn; a figure is the median of the runs. It fails if a play takes
more than 4 times the processor time of the empty one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

import yaml

from ansible_collections.aicr.runtime.tests.cluster.bed import Bed

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
COLLECTIONS = CHECKOUT / ".venv" / "collections"
SNAPSHOT = CHECKOUT / "examples/snapshots/eks-h100-training.yaml"
CRITERIA = {"service": "eks", "accelerator": "h100", "os": "ubuntu", "intent": "training", "platform": "slurm"}
BUDGET = 4.0
"""Times the processor time of the same play with empty actions (DESIGN, *Speed*)."""
EVERY = 1.0
"""Seconds between two looks at the memory of all processes."""


@dataclass(frozen=True)
class Cost:
    """What a play takes: seconds by the clock and of processors, peak of the largest process and of all, in MB."""

    wall: float
    processor: float
    largest: float
    together: float


def median_of(costs: list[Cost]) -> Cost:
    return Cost(*(median(getattr(cost, each.name) for cost in costs) for each in fields(Cost)))


class Together:
    """The peak of the memory of a process and its children; what they share counts once (Pss of Linux)."""

    def __init__(self, pid: int) -> None:
        self.peak = 0.0
        self._pid, self._over = pid, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Together:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self.peak = max(self.peak, sum(map(_proportional, _family(self._pid))))


def _family(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return [pid, *(one for child in children for one in _family(int(child)))]
    return []


def _proportional(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


@dataclass(frozen=True)
class Fleet:
    """An inventory, and the environment of plays over it.

    :ivar snapshot: what each cluster's ``aicr_snapshot`` is.
    """

    room: Path
    hosts: int
    forks: int
    kubeconfig: Path
    snapshot: str

    def write(self) -> Path:
        """The fleet file, beside a kubeconfig with a context for each cluster."""
        self.room.mkdir(parents=True)
        config = yaml.safe_load(self.kubeconfig.read_text(encoding="utf-8"))
        leads = config["contexts"][0]["context"]
        config["contexts"] = [{"name": f"cluster-{number:04}", "context": leads} for number in range(self.hosts)]
        (self.room / "kubeconfig.json").write_text(json.dumps(config), encoding="utf-8")
        entry = {
            "path": "kubeconfig.json",
            "criteria": CRITERIA,
            "slurm_accounting_mode": "aicr-provided",
            "snapshot": self.snapshot,
            "scheduling": {"system_node_selector": {"a": "b"}, "accelerated_node_selector": {"c": "d"}},
            "fail_on_error": False,
        }
        file = self.room / "fleet.clusters.yml"
        file.write_text(json.dumps({"plugin": "aicr.runtime.clusters", "kubeconfigs": [entry]}), encoding="utf-8")
        return file

    def run(self, inventory: Path, playbook: str, collections: Path) -> Cost:
        """One run, with artifacts that are not there yet."""
        with tempfile.TemporaryDirectory(dir=self.room) as folder:
            environment = {
                **os.environ,
                "ANSIBLE_COLLECTIONS_PATH": str(collections),
                "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
                "ANSIBLE_FORKS": str(self.forks),
            }
            command = ["ansible-playbook", "-i", str(inventory), playbook]
            with (self.room / "said").open("w+b") as said:
                start = time.monotonic()
                process = subprocess.Popen(command, env=environment, cwd=folder, stdout=said, stderr=said)
                with Together(process.pid) as together:
                    _pid, status, used = os.wait4(process.pid, 0)
                wall = time.monotonic() - start
                process.returncode = os.waitstatus_to_exitcode(status)
                said.seek(0)
                text = said.read().decode()
            if process.returncode or text.count("failed=0") != self.hosts:
                sys.exit(f"{' '.join(command)}\n{text[-5000:]}")
        return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, together.peak)


def emptied(room: Path) -> Path:
    """Collections in which this one's actions do nothing, and all else of it is as it stands."""
    root = room / "ansible_collections" / "aicr" / "runtime"
    (root / "plugins" / "action").mkdir(parents=True)
    for entry in ("meta", "playbooks", "roles", "galaxy.yml"):
        (root / entry).symlink_to(CHECKOUT / entry)
    for entry in (CHECKOUT / "plugins").iterdir():
        if entry.name != "action":
            (root / "plugins" / entry.name).symlink_to(entry)
    for action in (CHECKOUT / "plugins" / "action").glob("*.py"):
        (root / "plugins" / "action" / action.name).symlink_to(HERE / "action_plugins" / "empty.py")
    return room


def recipe_and_validate(room: Path) -> str:
    """A play of the two stages as the playbooks have them."""
    tasks = [
        {"aicr.runtime.check_variables": {"stages": ["recipe", "validate"]}, "register": "_aicr_checked"},
        {"import_tasks": str(CHECKOUT / "playbooks/tasks/recipe.yml")},
        {"import_tasks": str(CHECKOUT / "playbooks/tasks/validate.yml")},
    ]
    play = [{"hosts": "all", "gather_facts": False, "strategy": "ansible.builtin.linear", "tasks": tasks}]
    file = room / "recipe_and_validate.yml"
    file.write_text(json.dumps(play), encoding="utf-8")
    return str(file)


@contextlib.contextmanager
def bed_with_snapshot(room: Path) -> Iterator[Bed]:
    bed = Bed.start(room / "bed", "kind", nodes=1, workloads=False)
    try:
        text = SNAPSHOT.read_text(encoding="utf-8")
        holds = {"metadata": {"name": "snapshot"}, "data": {"snapshot.yaml": text}}
        bed.api.create("/api/v1/namespaces/default/configmaps", holds)
        yield bed
    finally:
        bed.stop()


def compare(fleet: Fleet, playbook: str, runs: int, empty: Path) -> Mapping[str, Cost]:
    """The median cost of the play and of the empty one, measured in turn so that a slow moment hits both."""
    inventory = fleet.write()
    costs: dict[str, list[Cost]] = {"ours": [], "empty": []}
    for turn in range(runs):
        for name, collections in (("ours", COLLECTIONS), ("empty", empty)):
            costs[name].append(fleet.run(inventory, playbook, collections))
            print(f"  run {turn + 1}, {name}: {costs[name][-1]}", file=sys.stderr, flush=True)
    return {name: median_of(each) for name, each in costs.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--forks", type=int, default=20)
    parser.add_argument("--bundled", type=int, default=200, help="clusters through recipe, validate and bundle")
    parser.add_argument("--asked", type=int, default=200, help="the same, with snapshots that are read from the API")
    parser.add_argument("--validated", type=int, default=1000, help="clusters through recipe and validate")
    options = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, "
        f"{options.forks} forks; medians of {options.runs}"
    )
    kept = True
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        empty = emptied(room / "empty")
        two_stages = recipe_and_validate(room)
        site = "aicr.runtime.site"
        with bed_with_snapshot(room) as bed:
            for hosts, what, playbook, snapshot in (
                (options.bundled, "recipe, validate, bundle (site)", site, str(SNAPSHOT)),
                (options.asked, "the same, snapshots from the API", site, "cm://default/snapshot"),
                (options.validated, "recipe, validate", two_stages, str(SNAPSHOT)),
            ):
                if not hosts:
                    continue
                fleet = Fleet(room / f"{hosts} {what}", hosts, options.forks, bed.kubeconfig, snapshot)
                cost = compare(fleet, playbook, options.runs, empty)
                ours, nothing = cost["ours"], cost["empty"]
                ratio = ours.processor / nothing.processor
                kept = kept and ratio <= BUDGET
                verdict = "kept" if ratio <= BUDGET else "EXCEEDED"
                print(f"{hosts} clusters, {what}: {ratio:.2f} times the empty play (budget {BUDGET:g}, {verdict})")
                for title, one in (("ours", ours), ("empty", nothing)):
                    print(
                        f"  {title:5} {one.wall:6.0f} s by the clock, {one.processor:6.0f} s of processors "
                        f"({one.processor / hosts * 1e3:.0f} ms a cluster), "
                        f"largest process {one.largest:.0f} MB, all together {one.together:.0f} MB",
                        flush=True,
                    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
