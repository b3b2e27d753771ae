# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collectors of a cluster, by name; light, since every plugin's options name them."""

from __future__ import annotations

from collections.abc import Mapping

TIMEOUTS: Mapping[str, float] = {"k8s": 60.0, "topology": 90.0, "mariadb": 60.0, "slinky": 60.0}
"""Every collector, and how many seconds it may take (spec/surface.md 3.1; the last two are parts of ``k8s`` there)."""
