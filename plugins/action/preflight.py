# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action behind the module preflight."""

from __future__ import annotations

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action, Result
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.catalogs import warm
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Options
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.preflight import SPEC, look_ahead

warm()  # here and not in make(), so that all forks inherit it


class ActionModule(Action):
    spec = SPEC

    def make(self, options: Options) -> Result:
        return look_ahead(options, tell=self._display.display)
