# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: recipe
short_description: The recipe for a GPU cluster, as text
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Resolves criteria, a snapshot, or both against the catalog to a recipe (kind C(RecipeResult)), as the action
    M(aicr.runtime.recipe) does, and writes nothing.
  - The text is byte for byte what the action would write.
options:
  _terms:
    description: There are no terms. The selection is made by options.
    type: list
    elements: str
  format:
    description: The format of the text. V(table) is a list of components for people, no stage reads it.
    type: str
    choices:
      - yaml
      - json
      - table
    default: yaml
extends_documentation_fragment:
  - aicr.runtime._options
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
  - aicr.runtime._options.selection
seealso:
  - module: aicr.runtime.recipe
  - plugin: aicr.runtime.query
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Keep a recipe beside other files of a cluster
  ansible.builtin.copy:
    content: "{{ lookup('aicr.runtime.recipe', criteria=aicr_criteria, slurm_accounting_mode='disabled') }}"
    dest: /srv/clusters/eks-slurm/recipe.yaml
    mode: "0644"

- name: Count the components of a recipe
  ansible.builtin.debug:
    msg: "{{ recipe.componentRefs | length }} components"
  vars:
    recipe: "{{ lookup('aicr.runtime.recipe', criteria=aicr_criteria, return_document=true) }}"
    aicr_criteria:
      service: eks
      accelerator: h100
      intent: training
"""

RETURN = r"""
_raw:
  description:
    - The recipe as text, or as a dictionary with O(return_document=true).
  type: raw
  sample: |
    apiVersion: aicr.run/v1alpha2
    kind: RecipeResult
"""

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.lookup import Lookup
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import RECIPE_LOOKUP, Options

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import look_up_recipe


class LookupModule(Lookup):
    spec = RECIPE_LOOKUP
    imports = imports

    def find(self, terms, options: Options):
        return look_up_recipe(terms, options)
