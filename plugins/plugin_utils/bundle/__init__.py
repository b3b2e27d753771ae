# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundle: a recipe and what a user changes about it, as files that install themselves (spec/engine.md section 4)."""

from __future__ import annotations

from .bundle import Bundle, BundleRequest, Judged, judge, make_bundle, write_bundle
from .deployers import DEPLOYERS
from .scheduling import Scheduling, read_scheduling
from .verify import Verification, verify_bundle
from .writer import is_bundle

__all__ = [
    "DEPLOYERS",
    "Bundle",
    "BundleRequest",
    "Judged",
    "Scheduling",
    "Verification",
    "is_bundle",
    "judge",
    "make_bundle",
    "read_scheduling",
    "verify_bundle",
    "write_bundle",
]
