# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot stand open until the installation, because the bundle itself depends on it (spec/surface.md 1.11)."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog import Component
from ..errors import AicrError, invalid
from ..ownership import intersects
from .allocation import policy_path
from .overrides import TOGGLE, Override, Surface
from .value_path import dotted


def deferral_problems(override: Override, entry: Component | None) -> Iterator[AicrError]:
    """Why a value cannot be left to the installation; nothing for other overrides.

    :param entry: what the registry knows of the component.
    """
    if override.surface is not Surface.DYNAMIC:
        return
    policy = policy_path(override)
    if policy not in (None, TOGGLE):
        yield _refused(override, str(policy), "decides who hands out GPUs", "let the recipe's overlay decide it")
    for rule in entry.manifests if entry else ():
        if rule.when and intersects(rule.when, dotted(override.path)):
            yield _refused(override, rule.when, f"decides whether {rule.path} is in the bundle", "give it with set")
    for nodes in (entry.node_scheduling.system, entry.node_scheduling.accelerated) if entry else ():
        for path in nodes.node_selector_paths if nodes.require_node_selector else ():
            if intersects(path, dotted(override.path)):
                yield _refused(override, path, "must not be empty", "give it with scheduling")


def _refused(override: Override, path: str, why: str, hint: str) -> AicrError:
    return invalid(
        f"{override.place} defers {override.component}:{path}, which {why}, to the installation",
        hint,
        component=override.component,
        path=path,
    )
