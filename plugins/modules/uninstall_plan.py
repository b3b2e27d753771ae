# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: uninstall_plan
short_description: Lay out the removal of a deployment
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Reads what the last deployment has recorded in the cluster, and what there still is of it, and says what is to be
    removed, in which order, and what stands in the way. The playbook C(aicr.runtime.uninstall) goes through it.
  - Slurm goes first, then its database, then the operators, in reverse order of their installation. An operator must be
    there while its objects go.
  - The volumes of slurmctld and of the database, the Secrets that open the latter, and releases that hold CRDs stay
    unless each is asked for.
  - It refuses what would drop the database by the C(cleanupPolicy) of its MariaDB, or of a Database, User or Grant that
    was made of it, and to take an operator away from servers of MariaDB that are not of the deployment.
options:
  remove_data:
    description:
      - Whether the volumes go, that of the provided database, and with it the history of accounting, and that of
        slurmctld, and with it its jobs.
    type: bool
    default: false
  remove_secrets:
    description: Whether the Secrets that open the volume go as well.
    type: bool
    default: false
  remove_crds:
    description: Whether releases that hold CRDs go, and with them every object of those kinds in the cluster.
    type: bool
    default: false
  recover_releases:
    description:
      - Whether a run may remove a release that another one, which has died, has left in the middle of its installation,
        as in O(aicr.runtime.release#module:recover). It is then a warning.
    type: bool
    default: false
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.run
notes:
  - It only reads, and asks the cluster for rights. The database of a customer is never touched.
seealso:
  - module: aicr.runtime.release
  - module: aicr.runtime.preflight
"""

EXAMPLES = r"""
- name: See what an uninstallation would remove
  aicr.runtime.uninstall_plan:
    kubeconfig: /srv/kube/eks-slurm.yaml
  register: planned

- name: Remove the releases in that order
  aicr.runtime.release:
    kubeconfig: /srv/kube/eks-slurm.yaml
    state: absent
    releases: "{{ planned.releases }}"
"""

RETURN = r"""
summary:
  description: How much there is to do.
  returned: when the cluster could be looked at
  type: dict
  contains:
    releases:
      description: How many releases go.
      type: int
      returned: always
      sample: 6
    objects:
      description: How many volumes and Secrets go.
      type: int
      returned: always
      sample: 0
    errors:
      description: How many findings keep it from beginning.
      type: int
      returned: always
      sample: 0
findings:
  description: What was found, as in RV(aicr.runtime.preflight#module:findings).
  returned: when the cluster could be looked at
  type: list
  elements: dict
  sample: []
releases:
  description: The releases that go, the first one first, for O(aicr.runtime.release#module:releases).
  returned: when the cluster could be looked at
  type: list
  elements: dict
  sample: [{namespace: slurm, name: slinky-slurm}]
data:
  description: The volumes and Secrets that go, for O(aicr.runtime.manifests#module:manifests).
  returned: when the cluster could be looked at
  type: list
  elements: dict
  sample: []
kept:
  description: What stays, by name.
  returned: when the cluster could be looked at
  type: list
  elements: str
  sample: [mariadb-operator-crds, PersistentVolumeClaim storage-mariadb-0]
begins:
  description: The record to write when it begins, or null if nothing is to be done.
  returned: when the cluster could be looked at
  type: dict
  sample: {apiVersion: v1, kind: ConfigMap}
ends:
  description: The record to write when it is done, or null if nothing is left.
  returned: when the cluster could be looked at
  type: dict
  sample: {apiVersion: v1, kind: ConfigMap}
forgets:
  description: The record to remove when it is done, or null if something is left.
  returned: when the cluster could be looked at
  type: dict
  sample: null
warnings:
  description: What should be known though nothing is wrong, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample: []
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(CONFLICT) or V(UNAUTHORIZED).
      type: str
      returned: failure
      sample: CONFLICT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: "MariaDB slurm/mariadb has the cleanupPolicy Delete: its operator would drop the database"
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: set spec.cleanupPolicy to Skip
    details:
      description: Small facts. Several problems stand in C(problems).
      type: dict
      returned: failure
      sample: {}
"""
