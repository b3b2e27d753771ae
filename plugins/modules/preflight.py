# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: Find everything that stands in the way of a deployment, before it begins
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Holds the plan of a bundle against a cluster. It reads, and asks the cluster for the caller's rights; it writes
    nothing. All errors are told at once, and any of them fails the task.
  - It looks at the version of the API server, the program C(helm) and the charts of O(chart_source), and the rights to
    write every kind that the charts of the catalog have.
  - It looks at releases that are there, whether an interrupted one is among them, one of another chart, or one of a
    newer version.
  - It looks at the CRDs of the operators of Slurm and MariaDB and who owns them, StorageClasses, cert-manager where it
    is needed, other MariaDB operators, a volume of the database without its Secrets, and your own Secret with its
    password in the mode V(customer-managed). A password is judged by the rules of Slurm and SQL, and never shown.
  - It looks at the Lease of another run, and at the mode of Slurm accounting that is installed. Another mode than that
    is refused with the list of what would change, unless O(allow_mode_change) is set. From V(aicr-provided) to
    V(customer-managed) and back it is always refused, with the steps that a person must take, since the history of
    accounting would stay behind.
  - What the caller may not read is told as a warning.
options:
  bundle:
    description: The directory of a bundle that was made for the deployer V(helm). It is verified first.
    type: path
    required: true
  recipe:
    description: The path of the recipe, C(cm://namespace/name) for a ConfigMap, or the recipe itself as a dictionary.
    type: raw
    required: true
  values:
    description: Values that are given at the installation, as in O(aicr.runtime.deployment_plan#module:values).
    type: dict
  catalog:
    description: The directory of a catalog of your own, as in O(aicr.runtime.bundle#module:catalog).
    type: path
  allow_mode_change:
    description: Whether another mode of Slurm accounting than the installed one may be deployed.
    type: bool
    default: false
  allow_downgrade:
    description: Whether a chart may go back to an older version than the installed one.
    type: bool
    default: false
  recover_releases:
    description:
      - Whether a run may go on with a release that another one, which has died, has left in the middle, as in
        O(aicr.runtime.release#module:recover). It is then a warning.
    type: bool
    default: false
  restart_slurmctld:
    description:
      - Whether the deployment may delete the pod of slurmctld, as in
        O(aicr.runtime.accounting_check#module:restart_slurmctld). That takes a right of its own.
    type: bool
    default: false
  chart_source:
    description: Where charts come from, as in O(aicr.runtime.release#module:chart_source).
    type: str
  helm:
    description: The path of the program C(helm), as in O(aicr.runtime.release#module:helm).
    type: path
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.run
seealso:
  - module: aicr.runtime.deployment_plan
  - module: aicr.runtime.lease
  - module: aicr.runtime.release
"""

EXAMPLES = r"""
- name: See whether the cluster can take the bundle
  aicr.runtime.preflight:
    bundle: artifacts/eks-slurm/bundle
    recipe: artifacts/eks-slurm/recipe.yaml
    kubeconfig: kubeconfigs/eks-slurm
  register: preflight
"""

RETURN = r"""
summary:
  description: A few facts for people and for conditions.
  returned: success or failure by findings
  type: dict
  contains:
    errors:
      description: How many findings keep the deployment from beginning.
      type: int
      returned: always
      sample: 0
    warnings:
      description: How many do not.
      type: int
      returned: always
      sample: 1
    mode:
      description: The mode of Slurm accounting of the bundle, or null without Slurm.
      type: str
      returned: always
      sample: aicr-provided
    server:
      description: The version of the API server.
      type: str
      returned: always
      sample: v1.34.1
findings:
  description: Everything that was found, errors first.
  returned: success or failure by findings
  type: list
  elements: dict
  contains:
    severity:
      description: V(error) or V(warning).
      type: str
      returned: always
      sample: error
    check:
      description: The rule, as one word.
      type: str
      returned: always
      sample: orphan-volume
    what:
      description: What was found, naming the offender.
      type: str
      returned: always
      sample: PersistentVolumeClaim slurm/storage-mariadb-0 holds a database from before, but not the Secrets with its
        passwords
    way_out:
      description: What to do about it.
      type: str
      returned: always
      sample: to keep the data, put the Secrets back
warnings:
  description: The warnings as text, one sentence each.
  returned: success or failure by findings
  type: list
  elements: str
  sample: []
installed:
  description: What the last deployment recorded in the cluster, or null.
  returned: success or failure by findings
  type: dict
  sample: {state: deployed, mode: disabled}
kept:
  description: The releases that earlier deployments installed and this one leaves alone.
  returned: success or failure by findings
  type: list
  elements: str
  sample: [mariadb-operator, mariadb-operator-crds, slurm-accounting-mariadb]
begins:
  description: The ConfigMap that records that the deployment begins, or null if the cluster says so already.
  returned: success or failure by findings
  type: dict
  sample: {apiVersion: v1, kind: ConfigMap}
ends:
  description: The ConfigMap that records that it is done, without its time, or null if the cluster says so already.
  returned: success or failure by findings
  type: dict
  sample: {apiVersion: v1, kind: ConfigMap}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(CONFLICT), V(UNAUTHORIZED) or V(INVALID_REQUEST).
      type: str
      returned: failure
      sample: CONFLICT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: another run, "eks-slurm-20261130T120000-4711", works on this cluster
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: wait until it has ended
    details:
      description: Small facts, such as the check. Several problems stand in C(problems).
      type: dict
      returned: failure
      sample: {check: lease}
"""
