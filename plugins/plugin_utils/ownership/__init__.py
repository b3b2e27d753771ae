# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership: which decision owns which path of a component's values, and what follows from it."""

from __future__ import annotations

from .accounting import artifact_problems, derive, ownership, parse_mode
from .connection import value_problems
from .paths import Ownership, conflict, intersects
from .profile import lock, profile_ownership

__all__ = [
    "Ownership",
    "artifact_problems",
    "conflict",
    "derive",
    "intersects",
    "lock",
    "ownership",
    "parse_mode",
    "profile_ownership",
    "value_problems",
]
