# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: snapshot
short_description: Readings of a snapshot
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Returns what a snapshot says at each constraint path. A reading that the snapshot lacks is an error, never empty.
options:
  _terms:
    description:
      - Constraint paths, such as V(K8s.server.version), V(OS.release.ID), V(SystemD.containerd.service.ActiveState) or
        V(K8s.slinky-slurm[kind=Controller].cluster-name).
    type: list
    elements: str
    required: true
  snapshot:
    description:
      - The path of a snapshot, C(cm://namespace/name) for a ConfigMap, or the snapshot itself as a dictionary.
    type: raw
    required: true
extends_documentation_fragment:
  - aicr.runtime._options.cluster
notes:
  - Relative paths start in the directory in which Ansible was started.
seealso:
  - module: aicr.runtime.snapshot
"""

EXAMPLES = r"""
- name: Show the version of a cluster and its provider
  ansible.builtin.debug:
    msg: "{{ query('aicr.runtime.snapshot', 'K8s.server.version', 'K8s.node.provider', snapshot=file) }}"
  vars:
    file: artifacts/eks-slurm/snapshot.yaml

- name: Stop where somebody else's MariaDB operator is
  ansible.builtin.assert:
    that: lookup('aicr.runtime.snapshot', 'K8s.mariadb-operator.collection-state', snapshot=file) == 'absent'
  vars:
    file: artifacts/eks-slurm/snapshot.yaml
"""

RETURN = r"""
_raw:
  description:
    - The reading at each path, in the order of the paths. It is text, a number or a boolean.
  type: list
  elements: raw
  sample: [v1.34.1-eks-3cfe0ce, eks]
"""

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.lookup import Lookup
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT_LOOKUP, Options

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot import look_up_readings


class LookupModule(Lookup):
    spec = SNAPSHOT_LOOKUP
    imports = imports
    term = "a constraint path, such as K8s.server.version"

    def find(self, terms, options: Options):
        return look_up_readings(terms, options)
