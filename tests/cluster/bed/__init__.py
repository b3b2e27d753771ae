# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test bed: one real control plane on loopback, with fake nodes and a stand-in kubelet (docs/testing.md)."""

from __future__ import annotations

from .api import Api, ApiError, Object
from .audit import AuditLog, Request
from .bed import Bed, BedError
from .database import Database
from .debian import Unbuildable

__all__ = ["Api", "ApiError", "AuditLog", "Bed", "BedError", "Database", "Object", "Request", "Unbuildable"]
