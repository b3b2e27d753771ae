# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: query
short_description: A part of a recipe, with the values of its components
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Returns what stands at a selector of a recipe that somebody has, as the lookup P(aicr.runtime.query#lookup) does of
    one that it resolves. The recipe is checked as the stages check it.
positional: selector
options:
  _input:
    description: The recipe, as M(aicr.runtime.recipe) returns it or as a file holds it.
    type: dict
    required: true
  selector:
    description:
      - Keys separated by dots, such as V(components.gpu-operator.version). V(.) is the whole recipe.
      - A key with a dot goes in quotes (V(components.x.values.limits."nvidia.com/gpu")), and an element of a list is a
        number (V(deploymentOrder[0])).
    type: str
    required: true
  catalog:
    description: The directory of the catalog of your own that the recipe was made with.
    type: path
  format:
    description:
      - Return text of this format. A scalar is its bare text, unless it is V(json).
      - Without it the value is returned as what it is.
    type: str
    choices:
      - yaml
      - json
      - table
seealso:
  - plugin: aicr.runtime.query
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Show which driver a bundle will install
  ansible.builtin.debug:
    msg: "{{ recipe | aicr.runtime.query('components.gpu-operator.values.driver.version') }}"
  vars:
    recipe: "{{ lookup('ansible.builtin.file', 'artifacts/eks-slurm/recipe.yaml') | from_yaml }}"
"""

RETURN = r"""
_value:
  description: What stands at the selector.
  type: raw
  sample: v25.10.1
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.query import query_recipe


def query(recipe, selector, catalog=None, format=None):  # noqa: A002  # pylint: disable=redefined-builtin
    """One value."""
    if imports.problem is not None:
        raise AnsibleFilterError(str(imports.problem))
    try:
        return query_recipe(recipe, selector, catalog, format)
    except AicrError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"query": query}
