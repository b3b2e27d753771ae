# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resolution: criteria or a snapshot become a recipe, and a recipe answers queries."""

from __future__ import annotations

from .fingerprint import Detected, criteria_from_snapshot
from .hydrate import hydrate
from .resolve import Resolution, resolve, resolve_overlay
from .selector import select

__all__ = ["Detected", "Resolution", "criteria_from_snapshot", "hydrate", "resolve", "resolve_overlay", "select"]
