# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a recipe will run, in which order and which levels: from a recipe alone."""

from __future__ import annotations

from .order import deployment_order, is_enabled, levels
from .runtime import RuntimeInventory, runtime_inventory

__all__ = ["RuntimeInventory", "deployment_order", "is_enabled", "levels", "runtime_inventory"]
