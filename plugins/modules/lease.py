# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: lease
short_description: Let one run at a time work on a cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Takes a Lease of the cluster (C(coordination.k8s.io/v1)) for a run, or gives it back. While a run holds it, another
    one fails, with the name of the one that holds it, since when, and when the Lease expires.
  - A Lease lasts 120 seconds. Every action that is given its O(run) renews it when it begins, and every 15 seconds
    while it works, so that of a run that has died is free two minutes later. The run that takes it over is warned.
  - Time is that of the API server. The clocks of two controllers need not agree.
  - Two runs that take it at once cannot both succeed, since each write names the version of the Lease that it replaces.
options:
  run:
    description:
      - The name of the run. No other run may have it, and every task of this run must.
    type: str
    required: true
  namespace:
    description: The namespace of the Lease. It must exist.
    type: str
    default: default
  name:
    description: The name of the Lease. Runs that must not meet have one in common.
    type: str
    default: aicr-deployment
  state:
    description:
      - V(present) takes the Lease, or renews it if O(run) holds it already.
      - V(absent) removes the Lease if O(run) holds it. One of another run stays, with a warning.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: full
    details:
      - Nothing is written. That another run holds the Lease fails the task as it would without C(check_mode).
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: none
notes:
  - RV(ignore:changed) is never true. A Lease comes and goes with its run and is no change of the cluster.
  - The caller needs the verbs C(get), C(create), C(update) and C(delete) on C(leases) in O(namespace).
"""

EXAMPLES = r"""
- name: Work on the cluster alone
  vars:
    run: "{{ lookup('ansible.builtin.pipe', 'hostname') }}-{{ now(utc=true).strftime('%s') }}"
  block:
    - name: Take the Lease
      aicr.runtime.lease:
        kubeconfig: /srv/kube/eks-slurm.yaml
        run: "{{ run }}"

    - name: Install the operator
      aicr.runtime.release:
        kubeconfig: /srv/kube/eks-slurm.yaml
        run: "{{ run }}"
        releases:
          - name: mariadb-operator
            namespace: mariadb-operator
            chart: mariadb-operator
            repository: oci://ghcr.io/mariadb-operator/charts
            version: 26.6.0
  always:
    - name: Give the Lease back
      aicr.runtime.lease:
        kubeconfig: /srv/kube/eks-slurm.yaml
        run: "{{ run }}"
        state: absent
"""

RETURN = r"""
lease:
  description: Where the Lease is.
  returned: success
  type: str
  sample: default/aicr-deployment
run:
  description: The name of the run.
  returned: success
  type: str
  sample: controller-1764514800
acquired:
  description:
    - Whether the Lease was taken by this task, or would be in check mode, and not just renewed.
  returned: success
  type: bool
  sample: true
warnings:
  description:
    - That the Lease was taken over from a run that has died, or was not given back since another run holds it. In check
      mode what would be done.
  returned: when there are any
  type: list
  elements: str
  sample:
    - >-
      Lease default/aicr-deployment: taken over from the run "ops-1764514000", which gave no sign of life until it
      expired at 2026-11-30T14:57:24Z; see what it has left half done
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure. V(CONFLICT) is another run that holds the Lease.
      type: str
      returned: failure
      sample: CONFLICT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: >-
        Lease default/aicr-deployment: another run, "ops-1764514000", works on this cluster since 2026-11-30T14:55:24Z;
        unless it renews it, the Lease expires at 2026-11-30T14:57:24Z
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: wait until it has ended; a run that has died is taken over after 120 s
    details:
      description: Small facts, such as the holder of the Lease.
      type: dict
      returned: failure
      sample: {lease: default/aicr-deployment, holder: ops-1764514000}
"""
