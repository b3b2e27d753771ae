# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation: a recipe's constraints against a snapshot, its checks, and the report (spec/engine.md section 7)."""

from __future__ import annotations

from .checks import RUN_ORDER, requested_phases
from .readiness import Finding
from .report import UNSPECIFIED, Report, Status, Test, essence
from .validate import validate

__all__ = ["RUN_ORDER", "UNSPECIFIED", "Finding", "Report", "Status", "Test", "essence", "requested_phases", "validate"]
