# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints: the path of a reading, what must be true of it, and whether it is (spec/engine.md section 3)."""

from __future__ import annotations

from .evaluation import Evaluation, evaluate, read
from .expression import Expression, Operator
from .narrowing import narrowed
from .node_set import GPU_NODES_LABEL
from .path import ConstraintPath, Predicate, addressability_problem
from .scalar import scalar_text
from .spelling import nearest
from .version import Version

__all__ = [
    "GPU_NODES_LABEL",
    "ConstraintPath",
    "Evaluation",
    "Expression",
    "Operator",
    "Predicate",
    "Version",
    "addressability_problem",
    "evaluate",
    "narrowed",
    "nearest",
    "read",
    "scalar_text",
]
