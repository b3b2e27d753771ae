# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: query
short_description: Parts of the recipe for a GPU cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Resolves criteria, a snapshot, or both to a recipe with the effective values of every component, and returns what
    stands at each selector.
options:
  _terms:
    description:
      - Selectors, such as V(deploymentOrder), V(components.gpu-operator.version),
        V(components.slinky-slurm.values.accounting.enabled) or V(configuration.slurm.accounting.mode).
      - V(.) is the whole recipe.
    type: list
    elements: str
    required: true
  format:
    description:
      - Return text of this format. A scalar is its bare text, unless it is V(json).
      - Without it values are returned as what they are.
    type: str
    choices:
      - yaml
      - json
      - table
extends_documentation_fragment:
  - aicr.runtime._options
  - aicr.runtime._options.cluster
  - aicr.runtime._options.selection
seealso:
  - plugin: aicr.runtime.recipe
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Show the version of an operator and the order of deployment
  ansible.builtin.debug:
    msg: "{{ query('aicr.runtime.query', 'components.gpu-operator.version', 'deploymentOrder', criteria=cluster) }}"
  vars:
    cluster:
      service: eks
      accelerator: h100
      intent: inference
      os: ubuntu

- name: Make sure that accounting is on before jobs are billed
  ansible.builtin.assert:
    that: lookup('aicr.runtime.query', 'configuration.slurm.accounting.mode', config=aicr_config) != 'disabled'
"""

RETURN = r"""
_raw:
  description:
    - What stands at each selector, in the order of the selectors.
  type: list
  elements: raw
  sample: [v25.10.1]
"""

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.lookup import Lookup
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import QUERY, Options

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.query import query


class LookupModule(Lookup):
    spec = QUERY
    imports = imports
    term = "a selector, such as components.gpu-operator.version; a dot is the whole recipe"

    def find(self, terms, options: Options):
        return query(terms, options)
