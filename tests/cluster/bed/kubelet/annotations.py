# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Annotations by which a test decides what becomes of a pod; docs/testing.md says what each does."""

from __future__ import annotations

from ..api import Object

HOLD, CRASH, EXECUTE = "bed/hold", "bed/crash", "bed/execute"


def held(pod: Object) -> str | None:
    """The state that it is to be held in."""
    value: str | None = pod["metadata"].get("annotations", {}).get(HOLD)
    return value


def crashes(pod: Object) -> int | None:
    """The exit code that it is to crash with."""
    code = pod["metadata"].get("annotations", {}).get(CRASH)
    return None if code is None else int(code)
