# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action behind the module accounting_check."""

from __future__ import annotations

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.accounting_check import SPEC, check_accounting
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action, Result
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Options


class ActionModule(Action):
    spec = SPEC

    def make(self, options: Options) -> Result:
        return check_accounting(options, check_mode=self._task.check_mode, tell=self._display.display)
