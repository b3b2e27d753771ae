# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action behind the module snapshot_diff."""

from __future__ import annotations

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT_DIFF, Options
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import Outcome

with Imports() as imports:  # here and not in make(), so that all forks inherit them
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot_diff import compare_snapshots


class ActionModule(Action):
    spec = SNAPSHOT_DIFF
    imports = imports

    def make(self, options: Options) -> Outcome:
        return compare_snapshots(options)
