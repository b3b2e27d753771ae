# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission: the only way a recipe from outside reaches the stages."""

from __future__ import annotations

from .admit import Admitted, admit_recipe
from .coherence import HELM, KUSTOMIZE, coherence_problems, effective_type

__all__ = ["HELM", "KUSTOMIZE", "Admitted", "admit_recipe", "coherence_problems", "effective_type"]
