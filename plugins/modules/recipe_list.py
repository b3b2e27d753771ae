# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe_list
short_description: List what the catalog has recipes for
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Lists the overlays of the catalog with their criteria, and of each leaf whether these make a recipe and which checks
    that recipe has, phase by phase.
  - Nothing is written.
extends_documentation_fragment:
  - aicr.runtime._attributes
  - aicr.runtime._options.listing
seealso:
  - module: aicr.runtime.recipe
  - plugin: aicr.runtime.recipe_list
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: List all Slurm recipes
  aicr.runtime.recipe_list:
    criteria:
      platform: slurm
  register: slurm

- name: Make sure that every leaf of our own catalog makes a recipe
  aicr.runtime.recipe_list:
    catalog: own-catalog
    leaves_only: true
  register: all
  failed_when: all.recipes | selectattr('health.status', 'ne', 'pass')
"""

RETURN = r"""
recipes:
  description: The overlays, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The name of the overlay.
      type: str
      returned: success
      sample: h100-eks-ubuntu-training-slurm
    criteria:
      description: The criteria that it states.
      type: dict
      returned: success
      sample: {service: eks, accelerator: h100, intent: training, os: ubuntu, platform: slurm}
    is_leaf:
      description: Whether no other overlay builds on it.
      type: bool
      returned: success
      sample: true
    source:
      description: V(embedded), or V(external) if it comes from O(catalog).
      type: str
      returned: success
      sample: embedded
    profile:
      description: The configuration profile that it or an overlay below it declares, with its default and values.
      type: dict
      returned: where one is declared
      sample: {name: gpuStack, default: azure-managed, values: [azure-managed, operator-managed]}
    health:
      description:
        - Whether its criteria make a recipe (RV(ignore:status), RV(ignore:problem)), and by phase whether the recipe
          has it, its checks, and the number of its constraints.
      type: dict
      returned: O(health=true), for leaves
      sample:
        status: pass
        coverage:
          deployment: {declared: true, checks: [expected-resources, operator-health], constraints: 1}
summary:
  description: How many there are.
  returned: success
  type: dict
  contains:
    recipes:
      description: All that are listed.
      type: int
      returned: success
      sample: 12
    leaves:
      description: Those on which no other builds.
      type: int
      returned: success
      sample: 5
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(INVALID_REQUEST), V(NOT_FOUND).
      type: str
      returned: failure
      sample: INVALID_REQUEST
    message:
      description: What is wrong.
      type: str
      returned: failure
      sample: 'criteria: service "ekss" is not known'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: did you mean "eks"?
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {axis: service}
"""
