# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed as ratios within one run (docs/performance.md); fails if a budget of docs/architecture.md is exceeded.

    python tests/benchmarks/bench.py [--runs 9] [--clusters 100] [--tasks 30]

All figures are processor seconds, user and system, of this process or of whole plays: they say the same on a machine
that others use as well. The yardstick Y is one libyaml parse and dump of the EKS Slurm recipe by plain PyYAML. A task's
cost is what a play grows by with each further one, above the same with an action plugin that does nothing; what is paid
once in a play (imports, parsing the catalog) is a figure of its own. All plays run in turn.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import (
    ANY,
    AXES,
    AccountingMode,
    Criteria,
    recipe_to_document,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog.criteria import KNOWN
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import resolve

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
RECIPES = CHECKOUT / "recipes"
EKS_SLURM = {"service": "eks", "accelerator": "h100", "os": "ubuntu", "intent": "training", "platform": "slurm"}
SCHEDULING = {
    "system_node_selector": {"nodeGroup": "system"},
    "accelerated_node_selector": {"nodeGroup": "gpu-worker"},
}
MADE = "made"
"""The folder of what plays write."""

BUDGETS = {"recipe": 1.5, "validate": 2.5, "bundle": 4.0}


@dataclass(frozen=True)
class Figure:
    """One measured ratio and the most that it may be."""

    name: str
    value: float
    budget: float
    unit: str

    @property
    def kept(self) -> bool:
        return self.value <= self.budget


def processor_seconds() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def seconds(work: Callable[[], object]) -> float:
    start = processor_seconds()
    work()
    return processor_seconds() - start


def yardstick(runs: int) -> float:
    """Y in seconds."""
    document = recipe_to_document(resolve(embedded(), Criteria(**EKS_SLURM)).recipe)
    text = yaml.dump(document, Dumper=yaml.CSafeDumper)

    def parse_and_dump() -> None:
        yaml.dump(yaml.load(text, Loader=yaml.CSafeLoader), Dumper=yaml.CSafeDumper)

    return median(seconds(lambda: [parse_and_dump() for _unused in range(10)]) / 10 for _unused in range(runs))


def warm_resolve(runs: int) -> float:
    """Seconds of one resolution with a catalog that is loaded and an input that is new."""
    catalog = embedded()
    resolve(catalog, Criteria(**EKS_SLURM))
    numbers = itertools.count(1)
    samples = []
    for _unused in range(runs):
        for mode in AccountingMode:
            criteria = Criteria(**EKS_SLURM, nodes=next(numbers))
            samples.append(seconds(lambda c=criteria, m=mode: resolve(catalog, c, accounting_mode=m)))  # type: ignore[misc]
    return median(samples)


def catalog_loading(runs: int) -> Figure:
    """Loading the whole catalog against one C parse of the same documents."""
    files = (*RECIPES.glob("overlays/*.yaml"), *RECIPES.glob("mixins/*.yaml"), *RECIPES.glob("*.yaml"))
    texts = [path.read_text(encoding="utf-8") for path in (*files, RECIPES / "validators" / "catalog.yaml")]
    took = in_turn(
        {
            "parsed": lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts],
            "loaded": Catalog.load,
        },
        runs,
    )
    name = f"the whole catalog, {took['loaded'] * 1e3:.0f} ms"
    return Figure(name, took["loaded"] / took["parsed"], 4.0, "C parses of its files")


def matrix(runs: int) -> Figure:
    """Every combination of the known criteria, resolved or refused in one process with one catalog."""
    files = (*RECIPES.glob("overlays/*.yaml"), *RECIPES.glob("mixins/*.yaml"), *RECIPES.glob("*.yaml"))
    texts = [path.read_text(encoding="utf-8") for path in (*files, RECIPES / "validators" / "catalog.yaml")]
    combinations = [Criteria(*each) for each in itertools.product(*([ANY, *KNOWN[axis]] for axis in AXES))]
    resolved: list[int] = []

    def resolve_all() -> None:
        catalog, made = Catalog.load(), 0
        for criteria in combinations:
            with contextlib.suppress(AicrError):
                resolve(catalog, criteria)
                made += 1
        resolved.append(made)

    took = in_turn(
        {
            "parsed": lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts],
            "resolved": resolve_all,
        },
        runs,
    )
    name = f"{len(combinations)} combinations of criteria, {resolved[0]} of them recipes, {took['resolved']:.1f} s"
    return Figure(name, took["resolved"] / took["parsed"], 60.0, "C parses of the catalog's files")


def play(name: str, hosts: str, tasks: list[dict[str, Any]], room: Path) -> Path:
    path = room / f"{name}.yml"
    path.write_text(json.dumps([{"hosts": hosts, "gather_facts": False, "tasks": tasks}]))
    return path


def run_play(path: Path, inventory: Path) -> None:
    environment = {
        **os.environ,
        "ANSIBLE_ACTION_PLUGINS": str(HERE / "action_plugins"),
        "ANSIBLE_LIBRARY": str(HERE / "library"),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "ANSIBLE_FORKS": "5",
    }
    command = ["ansible-playbook", "-i", str(inventory), str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def in_turn(
    works: dict[str, Callable[[], object]], runs: int, before: Callable[[], object] = lambda: None
) -> dict[str, float]:
    """The median seconds of each work, all measured in turn so that a slow moment hits all alike.

    :param before: is called before each, and not measured.
    """
    samples: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(runs + 1):
        for name, work in works.items():
            before()
            took = seconds(work)
            if turn:  # the first turn warms caches and byte code
                samples[name].append(took)
    return {name: median(taken) for name, taken in samples.items()}


def set_aside(room: Path) -> None:
    """Take away what a play has made: what is there already is compared, and not written.

    It is removed at the very end. For seconds after thousands of files were, ext4 looks at the place of each of them
    before it makes another file.
    """
    if (room / MADE).exists():
        (room / MADE).rename(room / f"{MADE}-{time.monotonic_ns()}")


def task_arguments(room: Path, suffix: str) -> dict[str, dict[str, Any]]:
    snapshot = str(CHECKOUT / "examples/snapshots/eks-h100-training.yaml")
    recipe = str(room / "given-recipe.yaml")
    return {
        "recipe": {
            "criteria": EKS_SLURM,
            "slurm_accounting_mode": "aicr-provided",
            "dest": f"{room}/{MADE}/recipe-{suffix}.yaml",
        },
        "validate": {"recipe": recipe, "snapshot": snapshot, "dest": f"{room}/{MADE}/report-{suffix}.json"},
        "bundle": {"recipe": recipe, "scheduling": SCHEDULING, "dest": f"{room}/{MADE}/bundle-{suffix}"},
    }


def single_tasks(y: float, tasks: int, runs: int, room: Path) -> list[Figure]:
    inventory = room / "one.json"
    inventory.write_text(json.dumps({"all": {"hosts": {"cluster": {"ansible_connection": "local"}}}}))
    given = {"aicr.runtime.recipe": {**task_arguments(room, "x")["recipe"], "dest": f"{room}/given-recipe.yaml"}}
    run_play(play("given", "all", [given], room), inventory)
    works: dict[str, Callable[[], object]] = {}
    for name, options in {"empty": {}, **task_arguments(room, "{{ item }}")}.items():
        task = {name if name == "empty" else f"aicr.runtime.{name}": options}
        for count in (1, tasks + 1):
            path = play(f"{name}-{count}", "all", [{**task, "loop": list(range(count))}], room)
            works[f"{name}-{count}"] = functools.partial(run_play, path, inventory)
    took = in_turn(works, runs, lambda: set_aside(room))
    each = {name: (took[f"{name}-{tasks + 1}"] - took[f"{name}-1"]) / tasks for name in (*BUDGETS, "empty")}
    once = max(took[f"{name}-1"] - took["empty-1"] for name in BUDGETS)
    return [
        *(
            Figure(f"{name}, a task above an empty one", (each[name] - each["empty"]) / y, BUDGETS[name], "Y")
            for name in BUDGETS
        ),
        Figure("the first task of a play, imports and catalog", once, math.inf, "s"),
    ]


def many_clusters(clusters: int, runs: int, room: Path) -> Figure:
    inventory = room / "many.json"
    hosts = {f"cluster-{number:03}": {"ansible_connection": "local"} for number in range(clusters)}
    inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
    arguments = task_arguments(room, "{{ inventory_hostname }}")
    three = play("three", "all", [{f"aicr.runtime.{name}": options} for name, options in arguments.items()], room)
    nothing = play("nothing", "all", [{"empty": {}}] * 3, room)
    works: dict[str, Callable[[], object]] = {
        "three": lambda: run_play(three, inventory),
        "nothing": lambda: run_play(nothing, inventory),
    }
    took = in_turn(works, runs, lambda: set_aside(room))
    ratio = took["three"] / took["nothing"]
    return Figure(f"{clusters} clusters through recipe, validate, bundle", ratio, 4.0, "times three empty actions")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--clusters", type=int, default=100)
    options = parser.parse_args()
    y = yardstick(options.runs)
    figures = [
        Figure("warm resolve", warm_resolve(options.runs) * 1e3, 1.0, "ms"),
        catalog_loading(options.runs),
        matrix(min(3, options.runs)),
    ]
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        figures += single_tasks(y, options.tasks, options.runs, room)
        figures.append(many_clusters(options.clusters, options.runs, room))
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    print(f"{machine}; Y = {y * 1e3:.1f} ms; medians of {options.runs}")
    for figure in figures:
        verdict = "kept" if figure.kept else "EXCEEDED"
        budget = "" if math.isinf(figure.budget) else f" (budget {figure.budget:g}, {verdict})"
        print(f"{figure.name}: {figure.value:.2f} {figure.unit}{budget}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of the largest process: {peak:.0f} MB")
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
