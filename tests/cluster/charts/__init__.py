# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts that stand for those of the catalog, where no registry is to be had (docs/testing.md)."""

from __future__ import annotations

from .pack import charts_folder

__all__ = ["charts_folder"]
