# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answer the recorded questions of the reference implementation with our plugins.

Turns the reference's command line into the options of our plugins, calls what the plugins call, and writes the answers
as ``../shared/golden/README.md`` wants them. It decides nothing: every rule is in the engine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils import catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import catalog as catalog_module
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, internal, invalid
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import options
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import make_bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.query import query
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe_list import list_all
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.validate import make_report

EXIT = {"INVALID_REQUEST": 2, "CONFLICT": 2, "NOT_FOUND": 3, "UNAUTHORIZED": 4, "TIMEOUT": 5, "SERVICE_UNAVAILABLE": 6}
OTHER_EXIT = 8

Answer = dict[str, Any]
Flags = dict[str, list[str]]

CRITERIA = ("service", "accelerator", "intent", "os", "platform", "nodes")
SELECTION = (*CRITERIA, "criteria-strict", "snapshot", "profile", "slurm-accounting-mode", "config", "data", "format")
OVERRIDES = ("set", "set-json", "set-file", "dynamic")
SELECTORS = ("system-node-selector", "accelerated-node-selector", "workload-selector")
TOLERATIONS = ("system-node-toleration", "accelerated-node-toleration")
PLACEMENT = ("workload-gate", "nodes", "storage-class", "shared-storage-class")
DEPLOYMENT = ("deployer", "repo", "app-name", "serial")
BUNDLE = ("recipe", "config", "data", *DEPLOYMENT, *OVERRIDES, *SELECTORS, *TOLERATIONS, *PLACEMENT)
WITHOUT_MEANING = ("output", "kubeconfig", "no-cluster", "fail-fast", "evidence-dir", "yes")
"""Where the reference writes and how it reaches a cluster; our stages are told by their caller or reach none."""
SWITCHES = ("no-health", "criteria-strict", "no-cluster", "fail-fast", "serial", "yes")
SHORT = {
    "d": "deployer",
    "gpu": "accelerator",
    "k": "kubeconfig",
    "o": "output",
    "r": "recipe",
    "s": "snapshot",
    "t": "format",
}


def flags_of(words: Sequence[str], known: Sequence[str], repeatable: Sequence[str] = ()) -> Flags:
    """The flags of a command line by their long names."""
    found: Flags = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            raise invalid(f'unexpected argument "{word}"')
        name, given, value = word.lstrip("-").partition("=")
        name = SHORT.get(name, name)
        if name not in (*known, *WITHOUT_MEANING):
            raise invalid(f"there is no option --{name}")
        if name in found and name not in repeatable:
            raise invalid(f"--{name} is given twice")
        if name in SWITCHES:
            value = value or "true"
        elif not given:
            value = next(rest, "")
        found.setdefault(name, []).append(value)
    return found


def one(flags: Flags, name: str) -> str | None:
    """The value of a flag that is given at most once."""
    return flags[name][0] if name in flags else None


def selection(flags: Flags) -> Mapping[str, Any]:
    """The options that recipe and query share."""
    criteria = {name: flags[name][0] for name in CRITERIA if name in flags}
    mode = one(flags, "slurm-accounting-mode")
    return given(
        criteria=criteria or None,
        criteria_strict=one(flags, "criteria-strict"),
        snapshot=one(flags, "snapshot"),
        profile=one(flags, "profile"),
        # The reference's flag takes any spelling of a word, our option is a choice.
        slurm_accounting_mode=None if mode is None else mode.strip().lower(),
        config=one(flags, "config"),
        catalog=one(flags, "data"),
        format=one(flags, "format"),
    )


def given(**values: Any) -> dict[str, Any]:
    """The options that somebody gave."""
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Written:
    """An answer's file or folder, and the warnings that came with it."""

    path: Path
    warnings: Sequence[str]


def write(place: Path, suffix: str, text: str, warnings: Sequence[str]) -> Written:
    """Write a document beside the others."""
    path = place.with_name(place.name + suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return Written(path, warnings)


def recipe(words: Sequence[str], place: Path) -> Written:
    """Answer to ``recipe``."""
    chosen = selection(flags_of(words, SELECTION))
    outcome = make_recipe(options.parse(options.RECIPE, chosen))
    product: Any = outcome.product
    return write(place, ending(chosen.get("format"), ".yaml"), product.text, outcome.warnings)


def ask(words: Sequence[str], place: Path) -> Written:
    """Answer to ``query``."""
    flags = flags_of(words, (*SELECTION, "selector"))
    chosen = {"format": "yaml", **selection(flags)}
    if "selector" not in flags:
        raise invalid("--selector is missing")
    values, warnings = query(flags["selector"], options.parse(options.QUERY, chosen))
    return write(place, ending(chosen["format"], ".txt"), str(values[0]), warnings)


def validate(words: Sequence[str], place: Path) -> Written:
    """Answer to ``validate``."""
    flags = flags_of(words, ("recipe", "snapshot", "phase", "config", "data"), ("phase",))
    chosen = given(
        recipe=one(flags, "recipe"),
        snapshot=one(flags, "snapshot"),
        phases=[phase for phase in flags.get("phase", []) if phase != "all"] or None,
        config=one(flags, "config"),
        catalog=one(flags, "data"),
    )
    outcome = make_report(options.parse(options.VALIDATE, chosen))
    if outcome.failure:
        raise outcome.failure
    product: Any = outcome.product
    return write(place, ".json", product.text, outcome.warnings)


def bundle(words: Sequence[str], place: Path) -> Written:
    """Answer to ``bundle``."""
    flags = flags_of(words, BUNDLE, (*OVERRIDES, *SELECTORS, *TOLERATIONS))
    deployer = one(flags, "deployer")
    chosen = given(
        recipe=one(flags, "recipe"),
        # The reference's flag takes any spelling of a word, our option is a choice.
        deployer=None if deployer is None else deployer.strip().lower(),
        scheduling=placement(flags) or None,
        repo=one(flags, "repo"),
        serial=one(flags, "serial"),
        argocd=given(app_name=one(flags, "app-name")) or None,
        config=one(flags, "config"),
        catalog=one(flags, "data"),
        dest=str(place),
        **{name.replace("-", "_"): flags.get(name) for name in OVERRIDES},
    )
    outcome = make_bundle(options.parse(options.BUNDLE, chosen))
    outcome.deliver(check_mode=False, diff=False, return_document=False)
    return Written(place, outcome.warnings)


def placement(flags: Flags) -> dict[str, Any]:
    """The option ``scheduling`` of bundle."""
    return given(
        **{name.replace("-", "_"): labels(flags, name) for name in SELECTORS},
        **{f"{name.replace('-', '_')}s": flags.get(name) for name in TOLERATIONS},
        **{name.replace("-", "_"): one(flags, name) for name in PLACEMENT},
    )


def labels(flags: Flags, name: str) -> dict[str, str] | None:
    """A flag of labels, each as ``key=value``, as a mapping."""
    pairs = [entry.partition("=") for entry in flags.get(name, [])]
    for key, separator, _unused in pairs:
        if not separator:
            raise invalid(f'--{name}: "{key}" is no label, which is key=value')
    return {key: value for key, _unused, value in pairs} or None


def listing(words: Sequence[str], place: Path) -> Written:
    """Answer to ``recipe list``."""
    flags = flags_of(words, (*CRITERIA[:5], "data", "no-health", "format"))
    criteria = {name: flags[name][0] for name in CRITERIA if name in flags}
    chosen = given(criteria=criteria or None, catalog=one(flags, "data"), health="no-health" not in flags)
    made = list_all(options.parse(options.RECIPE_LIST, chosen))
    return write(place, ".json", json.dumps([as_recorded(each) for each in made.recipes]), ())


def as_recorded(listed: Mapping[str, Any]) -> dict[str, Any]:
    """An overlay as the recorded state shows it: criteria by the names of a Go structure, with what nobody stated."""
    axes = {"service": "Service", "accelerator": "Accelerator", "intent": "Intent", "os": "OS", "platform": "Platform"}
    criteria = {name: listed["criteria"].get(axis, "") for axis, name in axes.items()}
    return {**listed, "criteria": {**criteria, "Nodes": 0}}


COMMANDS: Mapping[str, Callable[[Sequence[str], Path], Written]] = {
    "recipe": recipe,
    "recipe list": listing,
    "query": ask,
    "validate": validate,
    "bundle": bundle,
}


def ending(form: str | None, otherwise: str) -> str:
    """The ending of a document's file."""
    return {"json": ".json", "table": ".txt"}.get(form or "", otherwise)


def answer(case: Mapping[str, Any], out: Path) -> Answer:
    """The answer to one case in the recorded form."""
    command, *words = case["args"]
    if case["args"][:2] == ["recipe", "list"]:
        command, words = "recipe list", words[1:]
    try:
        if command not in COMMANDS or (words and not words[0].startswith("-")):
            raise invalid(f'there is no command "{" ".join(case["args"][:2])}" yet')
        written = COMMANDS[command](words, out / "out" / case["name"])
    except AicrError as error:
        return refusal(case["name"], error)
    except Exception as error:  # a fault of ours is an answer, too, and must not cost the others theirs
        return refusal(case["name"], internal(f"{type(error).__name__}: {error}"))
    path = written.path.relative_to(out).as_posix()
    return {"name": case["name"], "exit": 0, "out": path, "warnings": list(written.warnings)}


def refusal(name: str, error: AicrError) -> Answer:
    """The answer to a case that we refuse."""
    return {"name": name, "exit": EXIT.get(error.code.value, OTHER_EXIT), "error": str(error)}


def answers(arguments: argparse.Namespace) -> Iterator[Answer]:
    """The answers to all cases."""
    catalog_module.EMBEDDED_ROOT = arguments.catalog.resolve()
    catalog.embedded.cache_clear()
    lines, out = arguments.cases.read_text(encoding="utf-8").splitlines(), arguments.out.resolve()
    os.chdir(arguments.inputs.resolve().parent)  # where every path of a question starts, also one within a file
    for line in lines:
        yield answer(json.loads(line), out)


def main() -> int:
    """Answer all cases of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--inputs", "--catalog", "--cases", "--out"):
        parser.add_argument(option, type=Path, required=True)
    arguments = parser.parse_args()
    with (arguments.out / "answers.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(one) + "\n" for one in answers(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
