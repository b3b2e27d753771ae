# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a bundle is still what was made (case N28)."""

from __future__ import annotations

from pathlib import Path

from .. import yamlio
from ..bundle import verify_bundle
from ..bundle.bundle_info import BUNDLE_INFO
from ..errors import AicrError, combined, invalid
from .options import Options
from .outcome import Diff, Outcome
from .source import refuse_remote


class Untouched:
    """What stands at a path and is only looked at."""

    def differs(self, dest: Path) -> bool:  # noqa: ARG002 - it is compared with itself
        return False

    def diff(self, dest: Path) -> Diff:  # noqa: ARG002
        return []

    def rehearse(self, dest: Path) -> None:
        """Nothing is stored."""

    def store(self, dest: Path) -> None:
        """Nothing is stored."""


def verify(options: Options) -> Outcome:
    """Compare a bundle with its own list of checksums, and the list with the digest that somebody kept.

    The task fails with every file that is missing, changed, unknown, or a link.

    :raises AicrError: NOT_FOUND without such a directory, INVALID_REQUEST if it is no bundle.
    """
    refuse_remote(options["path"], "path")
    path = Path(options["path"])
    found = verify_bundle(path)
    problems = [*found.problems, *_digest_problems(options["digest"], found.digest)]
    return Outcome(
        product=Untouched(),
        dest=path,
        digest=found.digest,
        summary={"files": found.files, "problems": len(problems)},
        document=None if problems else yamlio.load_file(path / BUNDLE_INFO),
        also={"problems": [problem.message for problem in problems]},
        failure=combined(problems) if problems else None,
    )


def _digest_problems(expected: str | None, found: str) -> list[AicrError]:
    """The list could have been written anew together with what it lists."""
    if expected in (None, found):
        return []
    return [
        invalid(
            f"the bundle's digest is {found}, not {expected}: it is another one, or its list was written anew",
            "make the bundle again from its recipe",
            digest=found,
        )
    ]
