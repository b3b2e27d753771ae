# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action behind the module uninstall_plan."""

from __future__ import annotations

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action, Result
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Options

with Imports() as imports:  # here and not in make(), so that all forks inherit them
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.uninstall_plan import SPEC, plan_uninstall


class ActionModule(Action):
    spec = SPEC
    imports = imports

    def make(self, options: Options) -> Result:
        return plan_uninstall(options)
