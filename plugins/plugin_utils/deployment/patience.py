# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Try until it works or time is over: each try is a Job of its own, which sees Secrets and names as they are then."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ..cluster.connection import Deadline
from .finding import Finding, Outcome, failures

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 2.0, 15.0


def look_until_good(
    look: Callable[[], Sequence[Finding]],
    patience: Callable[[Outcome], float],
    tell: Callable[[str], None],
) -> Sequence[Finding]:
    """The findings of the last look.

    :param look: makes one.
    :param patience: how many seconds, from the first look, it is worth waiting for a failure to pass.
    :param tell: takes a line about each look after which another follows.
    """
    waited = Deadline(max(map(patience, Outcome)))
    pause = _FIRST_PAUSE_SECONDS
    while True:
        findings = look()
        failed = failures(findings)
        spent = waited.seconds - waited.left
        left = min((patience(one.outcome) - spent for one in failed), default=0.0)
        if left <= 0:
            return findings
        tell(f"{failed[0].message}; {left:.0f} s are left for that")
        time.sleep(min(pause, left))
        pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)
