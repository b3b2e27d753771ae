# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action behind the module recipe_list."""

from __future__ import annotations

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import RECIPE_LIST, Options

with Imports() as imports:  # here and not in make(), so that all forks inherit them
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.catalogs import warm
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe_list import Listing, list_all

    warm()


class ActionModule(Action):
    spec = RECIPE_LIST
    imports = imports

    def make(self, options: Options) -> Listing:
        return list_all(options)
