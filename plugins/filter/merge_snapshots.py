# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: merge_snapshots
short_description: Make one snapshot of a cluster out of those of its nodes
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - A reading that is the same on every node stands in the result as if there were one node.
  - One that differs, or that a node lacks, stands in it once for each node. A constraint on it holds if it holds on
    every node, and it gives no criterion to a recipe.
options:
  _input:
    description:
      - The snapshots of the nodes, as M(aicr.runtime.host_snapshot) returns them.
      - What was measured of the cluster itself (C(K8s), C(NodeTopology)) is kept. It may be in one of them, or in a
        snapshot of its own.
    type: list
    elements: dict
    required: true
seealso:
  - module: aicr.runtime.host_snapshot
"""

EXAMPLES = r"""
- name: Look at every node of a cluster
  aicr.runtime.host_snapshot:
    return_document: true
  delegate_to: "{{ item }}"
  loop: "{{ groups['aicr_nodes_' ~ inventory_hostname] }}"
  register: nodes

- name: Hold a recipe against all of them
  aicr.runtime.validate:
    recipe: artifacts/{{ inventory_hostname }}/recipe.yaml
    snapshot: "{{ nodes.results | map(attribute='document') | aicr.runtime.merge_snapshots }}"
    dest: artifacts/{{ inventory_hostname }}/report.ctrf.json
"""

RETURN = r"""
_value:
  description: The snapshot of the cluster.
  type: dict
  sample:
    apiVersion: aicr.run/v1alpha2
    kind: Snapshot
    metadata: {timestamp: "2026-11-30T10:30:00Z", version: 0.1.0}
    measurements:
      - type: OS
        subtypes:
          - subtype: release
            data: {ID: ubuntu}
            items:
              - context: {node: gpu-node-1}
                data: {VERSION_ID: "22.04"}
              - context: {node: gpu-node-2}
                data: {VERSION_ID: "24.04"}
"""

from ansible.errors import AnsibleFilterError

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.host_facts import merged


def merge_snapshots(snapshots):
    """One document out of several."""
    if imports.problem is not None:
        raise AnsibleFilterError(str(imports.problem))
    try:
        return merged(snapshots)
    except AicrError as error:
        raise AnsibleFilterError(str(error)) from None


class FilterModule:
    def filters(self):
        return {"merge_snapshots": merge_snapshots}
