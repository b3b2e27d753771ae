# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who hands out GPUs is the recipe's choice: overrides of these paths are deprecated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..ownership import intersects
from ..ownership.profile import ALLOCATION
from .overrides import TOGGLE, Override, Surface
from .value_path import dotted

POLICY = {component: (*paths, TOGGLE) for component, paths in ALLOCATION.items()}


def policy_path(override: Override) -> str | None:
    """The path of the allocation policy that an override touches, if any."""
    return next((path for path in POLICY.get(override.component, ()) if intersects(path, dotted(override.path))), None)


def policy_warnings(overrides: Iterable[Override]) -> Iterator[str]:
    """One deprecation per override that changes the allocation policy of a recipe."""
    for override in overrides:
        if override.surface is not Surface.DYNAMIC and policy_path(override):
            yield (
                f"deprecated: {override.place} changes who hands out GPUs on component {override.component}, which "
                "validation takes from the recipe and will report as drift; let the recipe's overlay decide it"
            )
