# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: recipe
short_description: Make the recipe for a GPU cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Resolves criteria, a snapshot, or both against the catalog to a recipe (kind C(RecipeResult)), which says what is to
    run on the cluster, in which versions, with which values, in which order, and what must hold there.
  - The same selection gives the same bytes, from this action, the lookup P(aicr.runtime.recipe#lookup), the playbook
    C(aicr.runtime.recipe) and a configuration file.
  - For Slurm the choice of accounting is made here, by O(slurm_accounting_mode).
options:
  dest:
    description:
      - The file to write. Folders on the way are made. Without it nothing is written.
      - C(cm://namespace/name) is a ConfigMap of the cluster that is named.
      - An equal file is left alone. One that holds anything but a recipe is never written over, nor is an input.
      - A link is followed, and stays one.
    type: path
  format:
    description:
      - The format of the file at O(dest). V(table) is a list of components for people, no stage reads it.
    type: str
    choices:
      - yaml
      - json
      - table
    default: yaml
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
  - aicr.runtime._options.selection
seealso:
  - plugin: aicr.runtime.recipe
    plugin_type: lookup
  - module: aicr.runtime.validate
  - module: aicr.runtime.bundle
"""

EXAMPLES = r"""
- name: Make the recipe for a Slurm cluster with a database of ours
  aicr.runtime.recipe:
    criteria:
      service: eks
      accelerator: h100
      intent: training
      os: ubuntu
      platform: slurm
    slurm_accounting_mode: aicr-provided
    dest: artifacts/eks-slurm/recipe.yaml

- name: Take what is not stated from a snapshot
  aicr.runtime.recipe:
    snapshot: artifacts/eks-slurm/snapshot.yaml
    criteria:
      intent: training
      platform: slurm
    dest: artifacts/eks-slurm/recipe.yaml

- name: Make a recipe, and say what to do if the combination is not in the catalog
  block:
    - name: Make the recipe
      aicr.runtime.recipe:
        config: clusters/{{ inventory_hostname }}.yaml
        dest: artifacts/{{ inventory_hostname }}/recipe.yaml
      register: recipe
  rescue:
    - name: Explain the refusal
      ansible.builtin.fail:
        msg: "{{ ansible_failed_result.error.hint }}"
      when: ansible_failed_result.error.code == "INVALID_REQUEST"
"""

RETURN = r"""
path:
  description: The file at O(dest), or null if none was wanted.
  returned: success
  type: str
  sample: artifacts/eks-slurm/recipe.yaml
digest:
  description:
    - The digest of what the recipe says. It covers the accounting mode, and no field that changes from run to run.
  returned: success
  type: str
  sample: sha256:5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9
summary:
  description: A few facts about the recipe.
  returned: success
  type: dict
  contains:
    criteria:
      description: The criteria, those that a snapshot gave among them.
      type: dict
      returned: success
      sample: {service: eks, accelerator: h100, intent: training, os: ubuntu, platform: slurm}
    components:
      description: How many components will run.
      type: int
      returned: success
      sample: 17
    accounting:
      description: The mode of Slurm accounting, or null where there is no Slurm.
      type: str
      returned: success
      sample: aicr-provided
    overlays:
      description: The overlays that the recipe is made of, from the most general to the most specific.
      type: list
      elements: str
      returned: success
      sample: [base, eks, eks-training, h100-eks-ubuntu-training-slurm]
warnings:
  description: What to know about the recipe, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - 'the snapshot is incomplete: SystemD: there is no systemctl to ask'
incomplete:
  description: What the snapshot could not read, by name.
  returned: success
  type: list
  elements: str
  sample: []
document:
  description: The recipe.
  returned: O(return_document=true)
  type: dict
  sample: {kind: RecipeResult, apiVersion: aicr.run/v1alpha3}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(INVALID_REQUEST), V(NOT_FOUND), V(CONFLICT), V(INTERNAL).
      type: str
      returned: failure
      sample: INVALID_REQUEST
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: 'criteria: service "esk" is not known'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: did you mean "eks"?
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {axis: service, value: esk}
"""
