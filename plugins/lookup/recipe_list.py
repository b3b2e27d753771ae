# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: recipe_list
short_description: What the catalog has recipes for
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Lists the overlays of the catalog with their criteria, as the action M(aicr.runtime.recipe_list) does.
options:
  _terms:
    description: There are no terms. O(criteria) filters.
    type: list
    elements: str
extends_documentation_fragment:
  - aicr.runtime._options.listing
seealso:
  - module: aicr.runtime.recipe_list
  - plugin: aicr.runtime.recipe
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Show for which accelerators of a service there are Slurm recipes
  ansible.builtin.debug:
    msg: "{{ slurm | map(attribute='criteria.accelerator') | unique | sort }}"
  vars:
    slurm: "{{ query('aicr.runtime.recipe_list', criteria={'service': 'eks', 'platform': 'slurm'}, health=false) }}"
"""

RETURN = r"""
_raw:
  description:
    - The overlays, sorted by name, in the form that RV(aicr.runtime.recipe_list#module:recipes) has.
  type: list
  elements: dict
  sample:
    - name: eks
      criteria: {service: eks}
      is_leaf: false
      source: embedded
"""

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.lookup import Lookup
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import RECIPE_LIST, Options

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe_list import look_up_list


class LookupModule(Lookup):
    spec = RECIPE_LIST
    imports = imports

    def find(self, terms, options: Options):
        return look_up_list(terms, options)
