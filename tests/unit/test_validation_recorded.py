# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the reference answered to a recipe and a snapshot is what we answer (golden/README.md, kind validate)."""

from __future__ import annotations

import argparse
import json
import re
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import recipe_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.snapshot import snapshot_from_document
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog
from ansible_collections.aicr.runtime.plugins.plugin_utils.validation import Report, validate

READING = re.compile(r"\b[A-Z]\w*(?:\.[\w/-]+){2,}")
FEWEST = 95
"""Of the 141 recorded cases; the others refuse their options or their files, which is judged by the conformance run."""


@pytest.fixture(scope="module")
def recorded(shared: Path) -> Mapping[str, bytes]:
    """The recorded files and inputs by their path in the archives."""
    files = {}
    for archive in ("inputs", "given"):
        with tarfile.open(shared / "golden" / f"{archive}.tar.xz") as tar:
            for member in tar:
                if member.isfile() and not member.name.startswith("given/bundles/"):
                    stream = tar.extractfile(member)
                    files[member.name] = stream.read() if stream else b""
    return files


@pytest.fixture(scope="module")
def reference_catalog(shared: Path) -> Catalog:
    return Catalog.load(shared / "catalog" / "aicr-2026-08-19")


def answer(arguments: list[str], recorded: Mapping[str, bytes], catalog: Catalog) -> Report | None:
    """Our report for a recorded command line; ``None`` if its recipe is not recorded or its options are not ours."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("-r", "--recipe")
    parser.add_argument("-s", "--snapshot")
    parser.add_argument("--phase", action="append")
    options, rest = parser.parse_known_args(arguments)
    if not options.recipe or not options.snapshot or any(each.startswith(("--emit", "--data")) for each in rest):
        return None
    paths = [
        re.sub("^OUT/snapshots/recipes/", "given/snapshots/out/", path) for path in (options.recipe, options.snapshot)
    ]
    if not all(path in recorded for path in paths):
        return None
    made, taken = (yamlio.load(recorded[path], path) for path in paths)
    recipe, _unused = recipe_from_document(made, paths[0])
    snapshot, _unused = snapshot_from_document(taken, paths[1])
    return validate(recipe, snapshot, catalog, phases=options.phase, recipe_digest="x", now=datetime.now(UTC))


def lines(document: Mapping[str, Any]) -> list[tuple[str, str, str, bool]]:
    """The tests of a report but those of readiness, which the reference does not list."""
    tests = document["results"]["tests"]
    found = [(test["name"], test["status"], *test["suite"], bool(test["message"])) for test in tests]
    return [line for line in found if line[2] != "readiness"]


def test_recorded_answers(recorded: Mapping[str, bytes], reference_catalog: Catalog) -> None:
    cases = [json.loads(line) for line in recorded["given/validate/cases.jsonl"].splitlines()]
    judged = refused = 0
    for case in cases:
        error = case.get("error", "")
        if error and "readiness check" not in error:
            continue
        report = answer(case["args"][1:], recorded, reference_catalog)
        if report is None:
            continue
        judged += 1
        failure = report.failure()
        assert (failure is None) is (case["exit"] == 0), case["name"]
        if failure is not None:
            refused += 1
            assert set(READING.findall(error)) <= set(READING.findall(str(failure))), case["name"]
            assert failure.code == "INVALID_REQUEST"
        if "out" in case:
            theirs = json.loads(recorded[f"given/validate/{case['out']}"])
            assert lines(report.to_ctrf()) == lines(theirs), case["name"]
    assert judged >= FEWEST
    assert refused >= 20
