# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for what a cluster does by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(check: Callable[[], T], seconds: float = 60) -> T:
    """The first answer that counts as true.

    :raises AssertionError: there was none in time; it tells the last one.
    """
    end = time.monotonic() + seconds
    while not (answer := check()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s; the last answer was {answer!r}")
        time.sleep(0.05)
    return answer
