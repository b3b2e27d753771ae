# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seed faults that a deployment must not have, one by one, and see that a test fails because of each.

``seeded_faults.yml`` says what is changed, which test must fail, and what it must then say. The working tree is never
touched: everything happens in a copy of it with an environment of its own. Arguments choose faults by name.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[1]
FAULTS = Path(__file__).with_name("seeded_faults.yml")
_CAUGHT, _MISSED, _UNCLEAR = "caught", "MISSED", "UNCLEAR"
_TESTS_FAILED = 1  # pytest's own code for it; any other says that it could not even ask
_SHOWN_LINES = 40


@dataclass(frozen=True)
class Edit:
    """A text that stands once in a file, and what a fault puts in its place."""

    file: str
    text: str
    seeded: str

    def count(self, checkout: Path) -> int:
        """How often the text stands there."""
        return (checkout / self.file).read_text(encoding="utf-8").count(self.text)

    def seed(self, checkout: Path) -> None:
        place = checkout / self.file
        place.write_text(place.read_text(encoding="utf-8").replace(self.text, self.seeded), encoding="utf-8")


@dataclass(frozen=True)
class Fault:
    """Something that could be wrong, and how that shows.

    :ivar test: the narrowest test that must fail, as pytest names it, after those that it builds on.
    :ivar because: what stands in the lines of pytest that tell why it failed, if it did for the right reason.
    """

    name: str
    edits: Sequence[Edit]
    test: str
    because: str


@dataclass(frozen=True)
class Result:
    """What became of a fault.

    :ivar output: what pytest wrote.
    """

    verdict: str
    seconds: float
    output: str


def faults() -> list[Fault]:
    """All that are listed."""
    listed = yaml.safe_load(FAULTS.read_text(encoding="utf-8"))
    return [Fault(**{**one, "edits": [Edit(**edit) for edit in one["edits"]]}) for one in listed]


def copy_checkout(copy: Path) -> None:
    """What a commit of the working tree would hold, with an environment in which it is the collection."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source = CHECKOUT / name
        if source.exists() or source.is_symlink():  # else: deleted, not yet committed
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name, follow_symlinks=False)
    (copy / ".cache").mkdir()
    (copy / ".cache" / "uv").symlink_to(CHECKOUT / ".cache" / "uv")
    subprocess.run(["make", "--silent", "setup"], cwd=copy, check=True)


def run(fault: Fault, copy: Path) -> Result:
    """Seed a fault in a copy, run its test there, and take the fault out again."""
    before = {edit.file: (copy / edit.file).read_bytes() for edit in fault.edits}
    for edit in fault.edits:
        edit.seed(copy)
    begun = time.monotonic()
    python = copy / ".venv" / "bin" / "python"
    try:
        ran = subprocess.run(
            [python, "-m", "pytest", "-p", "no:cacheprovider", "--verbosity=2", *fault.test.split()],
            cwd=copy,
            env=_environment(copy),
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    finally:
        for name, content in before.items():
            (copy / name).write_bytes(content)
    return Result(_judge(fault, ran.returncode, ran.stdout), time.monotonic() - begun, ran.stdout)


def _environment(copy: Path) -> dict[str, str]:
    shared = os.environ.get("AICR_SHARED", str(CHECKOUT.parent / "shared"))
    path = os.pathsep.join([str(copy / ".venv" / "bin"), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "VIRTUAL_ENV"))}
    collections = str(copy / ".venv" / "collections")
    return {**kept, "PATH": path, "ANSIBLE_COLLECTIONS_PATH": collections, "AICR_SHARED": shared}


def _judge(fault: Fault, code: int, output: str) -> str:
    if code == 0:
        return _MISSED
    # Of a traceback, the line that failed (>) and what it said (E).
    why = "\n".join(line[1:] for line in output.splitlines() if line.startswith((">", "E")))
    return _CAUGHT if code == _TESTS_FAILED and fault.because in " ".join(why.split()) else _UNCLEAR


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="faults, by the beginning of their names; all without any")
    names = tuple(parser.parse_args().names)
    chosen = [one for one in faults() if not names or one.name.startswith(names)]
    lost = [f"{one.name}: {edit.file}" for one in chosen for edit in one.edits if edit.count(CHECKOUT) != 1]
    if lost or not chosen:
        print(*(f"the text of the fault does not stand there once: {one}" for one in lost), sep="\n")
        return 2
    uncaught = 0
    with tempfile.TemporaryDirectory(prefix="aicr-seeded-") as folder:
        copy = Path(folder) / "aicr"
        copy_checkout(copy)
        for fault in chosen:
            result = run(fault, copy)
            print(f"{result.verdict:8} {result.seconds:5.0f} s  {fault.name}: {fault.test}", flush=True)
            if result.verdict != _CAUGHT:
                uncaught += 1
                print(*result.output.splitlines()[-_SHOWN_LINES:], sep="\n", flush=True)
    print(f"{len(chosen) - uncaught} of {len(chosen)} seeded faults made their test fail")
    return min(uncaught, 1)


if __name__ == "__main__":
    sys.exit(main())
