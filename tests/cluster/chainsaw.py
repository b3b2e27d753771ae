# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real Chainsaw, asked whether an assertion passes (bed/pins/chainsaw/main.go)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .bed.programs import CHAINSAW, ensure

Object = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """Whether an operation passes.

    :ivar operation: ``assert`` or ``error``.
    :ivar resource: what it is about, and its tree.
    :ivar objects: all there are; ``None`` for those of a cluster.
    """

    operation: str
    resource: Object
    objects: tuple[Object, ...] | None = None


@dataclass(frozen=True)
class Answer:
    """What Chainsaw says."""

    passed: bool
    error: str


def ask(questions: Iterable[Question], kubeconfig: Path | None = None) -> list[Answer]:
    """The answers of Chainsaw, in the order of the questions.

    :raises Unbuildable: it cannot be built here.
    """
    program = ensure((CHAINSAW,))["chainsaw"]
    lines = [
        json.dumps({"operation": one.operation, "resource": one.resource, "objects": one.objects}) for one in questions
    ]
    environment = {**os.environ, **({"KUBECONFIG": str(kubeconfig)} if kubeconfig else {})}
    ran = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True, env=environment, timeout=600
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(lines), ran.stderr
    return [Answer(one["passed"], one.get("error", "")) for one in answers]
