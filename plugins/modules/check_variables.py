# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: check_variables
short_description: Check the variables of this collection's playbooks
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - The first task of each playbook of this collection. A playbook of yours can use it if it takes the same variables.
  - A variable of the playbooks is an option of a stage, such as O(aicr.runtime.recipe#module:criteria), with C(aicr_)
    before its name. C(aicr_artifacts_dir) (V(artifacts) by default), C(aicr_hosts) and C(aicr_host_snapshot) are more.
  - C(aicr_agent) has the nodes looked at by a Job in the cluster. The options of M(aicr.runtime.snapshot_agent) have
    C(aicr_agent_) before their names.
  - C(aicr_baseline) and C(aicr_fail_on_drift) are options of M(aicr.runtime.snapshot_diff), which C(aicr.runtime.drift)
    runs.
  - C(aicr_deploy) has C(aicr.runtime.site) deploy what it has bundled. The variables of C(aicr.runtime.deploy) are in
    C(docs/deploy.md), those of waves over many clusters in C(docs/fleet.md). The option
    O(aicr.runtime.bundle#module:serial) is C(aicr_bundle_serial), since C(aicr_serial) says how large the waves are.
  - A variable of any other name that begins with C(aicr_) is refused, and so is a value that an option would refuse.
  - A host whose name cannot be that of a folder is refused, since its artifacts go into one of that name.
options:
  stages:
    description: The stages whose variables are checked by value. The others are only known by name.
    type: list
    elements: str
    choices:
      - host_snapshot
      - snapshot
      - snapshot_agent
      - recipe
      - validate
      - bundle
      - deploy
      - waves
      - uninstall
      - verify
      - drift
    required: true
extends_documentation_fragment:
  - aicr.runtime._attributes
seealso:
  - module: aicr.runtime.recipe
  - module: aicr.runtime.bundle
"""

EXAMPLES = r"""
- name: Check the variables
  aicr.runtime.check_variables:
    stages: [recipe]
  register: checked

- name: Make the recipe in two formats
  aicr.runtime.recipe:
    criteria: "{{ aicr_criteria }}"
    format: "{{ item }}"
    dest: "{{ checked.path }}/recipe.{{ item }}"
  loop: [yaml, json]
"""

RETURN = r"""
path:
  description: The folder of the cluster's artifacts, below C(aicr_artifacts_dir). It need not exist.
  returned: success
  type: str
  sample: /srv/clusters/artifacts/eks-slurm
cluster:
  description:
    - Whether a cluster is meant, by C(aicr_kubeconfig), C(aicr_context), C(aicr_host) or C(aicr_in_cluster), or by
      E(K8S_AUTH_KUBECONFIG) or E(K8S_AUTH_HOST). The environment does not count with C(aicr_host_snapshot).
    - C(aicr.runtime.site) looks at such a cluster if it was given no snapshot.
  returned: success
  type: bool
  sample: true
waves:
  description:
    - What the end of a wave needs to know. C(canary) says whether any failure of the first wave ends the play,
      C(budget) how many failures in all waves do, and C(serial) whether there are waves.
  returned: when O(stages) has V(waves)
  type: dict
  sample: {canary: true, budget: 1, serial: true}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, V(INVALID_REQUEST).
      type: str
      returned: failure
      sample: INVALID_REQUEST
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: unknown variable "aicr_slurm_accounting_mod"
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: did you mean "aicr_slurm_accounting_mode"?
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {}
"""
