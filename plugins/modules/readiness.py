# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: readiness
short_description: Wait until the components of a recipe are ready on a cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Waits until everything holds that a recipe expects of its components, all of it at once and for a while. What is
    expected comes from the recipe alone.
  - The health check of a component (C(healthCheckAsserts)) is a Test of Chainsaw. Its C(assert) and C(error) are
    evaluated as Chainsaw 0.2.12 does. What would run or change something is refused by name.
  - A workload that a check asserts, or that C(expectedResources) names, must have rolled out, too. What runs is of the
    generation and the revision of its spec, all that is desired is ready, and something is desired.
  - The mode of Slurm accounting says which objects there must be, and which there must not be. With V(disabled) there
    is no Accounting, no slurmdbd and no MariaDB of ours. With V(customer-managed) there is no MariaDB of ours. With
    V(aicr-provided) the MariaDB, its Database, User and Grant are Ready, the Secret has its key, and there is the
    Service.
  - It watches. An object that is not there yet is waited for, and so is a kind whose CRD is not there yet.
  - When time is up it says of each object what was expected and what there is, its conditions, its last warnings, what
    its pods suffer from, and the way out where the trouble is a known one.
options:
  recipe:
    description:
      - The path of a recipe, C(cm://namespace/name) for a ConfigMap, or the recipe itself as a dictionary.
      - An overlay of a catalog (kind C(RecipeMetadata)) is accepted, too, and resolved by its own criteria.
    type: raw
    required: true
  catalog:
    description: The directory of a catalog of your own that the recipe was made with.
    type: path
  components:
    description:
      - The components to wait for. Without it all that run.
      - Of a component that the recipe has but does not run nothing is expected, with a warning.
    type: list
    elements: str
  kept:
    description:
      - Releases of an earlier mode of Slurm accounting that a change of mode has left alone, as
        M(aicr.runtime.preflight) returns them. That they are there is no fault.
    type: list
    elements: str
  timeout:
    description:
      - How many seconds each component may take. Without it the longest time in its health check counts, or 300 if it
        has none.
    type: float
  stable:
    description:
      - For how many seconds everything must hold before it counts. Operators flap, and a state that is right for a
        moment says nothing.
    type: float
    default: 1
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.run
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: full
    details:
      - It looks once. What does not hold yet is told and predicted, and fails nothing.
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: none
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - The wait is bounded by O(timeout). For many clusters raise C(forks).
notes:
  - RV(ignore:changed) is never true. Nothing is written to the cluster but the Lease of O(run).
  - The caller needs the verbs C(list) and C(watch) on the kinds that the recipe names, in their namespaces. Secrets and
    CRDs are asked for by name, and no value of a Secret is looked at. Those rights that are missing are named at once.
  - With C(list) on events and pods, C(get) on nodes and C(pods/log) a failure is explained. It does not need them.
  - The Python package C(jmespath) reads the expressions of health checks.
seealso:
  - module: aicr.runtime.release
  - module: aicr.runtime.validate
"""

EXAMPLES = r"""
- name: Wait for everything
  aicr.runtime.readiness:
    kubeconfig: /srv/kube/eks-slurm.yaml
    recipe: artifacts/eks-slurm/recipe.yaml

- name: Wait for the database of Slurm accounting, for as long as a large volume takes
  aicr.runtime.readiness:
    kubeconfig: /srv/kube/eks-slurm.yaml
    recipe: artifacts/eks-slurm/recipe.yaml
    components: [slurm-accounting-mariadb]
    timeout: 900
  register: database

- name: Say how long it took
  ansible.builtin.debug:
    msg: "{{ database.components['slurm-accounting-mariadb'].seconds }} s"
"""

RETURN = r"""
components:
  description: What became of each component, by its name. It is also there when the wait was in vain.
  returned: when the cluster could be looked at
  type: dict
  contains:
    ready:
      description: Whether everything held, for as long as it had to.
      type: bool
      returned: always
      sample: true
    seconds:
      description: How long it took, or was waited.
      type: float
      returned: always
      sample: 41.3
    predicted:
      description: Whether it is not ready and only predicted to be.
      type: bool
      returned: in check mode
      sample: false
    assertions:
      description: Everything that is expected.
      type: list
      elements: dict
      returned: always
      contains:
        object:
          description: Which objects it is about.
          type: str
          returned: always
          sample: StatefulSet slurm/slinky-slurm-accounting
        source:
          description: Where it comes from, a step of the health check, C(expectedResources), or the accounting mode.
          type: str
          returned: always
          sample: step workloads-ready
        forbidden:
          description: Whether it is about what must not be.
          type: bool
          returned: always
          sample: false
        holds:
          description: Whether it held at the end.
          type: bool
          returned: always
          sample: true
        troubles:
          description: Where something else was found (C(object), C(path)), what was expected, and what there was.
          type: list
          elements: dict
          returned: always
          sample: []
    explanations:
      description:
        - What the cluster says of the objects that are to blame (C(object)), their C(conditions), last warnings
          (C(events)), C(pods), the end of the C(log) of slurmdbd and slurmctld, and C(hints) for known troubles.
      type: list
      elements: dict
      returned: always
      sample: []
warnings:
  description: Components of which nothing is expected, and in check mode those that are not ready yet.
  returned: when there are any
  type: list
  elements: str
  sample:
    - "mariadb-operator does not run by this recipe, so nothing is expected of it"
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - The class of the failure, such as V(TIMEOUT) for what was not ready in time, V(UNAUTHORIZED) for missing
          rights, V(CONFLICT) for a lost Lease, V(INVALID_REQUEST) for a health check that cannot be evaluated.
      type: str
      returned: failure
      sample: TIMEOUT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: >-
        not ready after 300 s: slinky-slurm: StatefulSet slurm/slinky-slurm-accounting: status.readyReplicas: expected 1
        ready, found 0
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: see to the objects that are named, or allow more time with timeout
    details:
      description: Small facts, such as the components that are not ready.
      type: dict
      returned: failure
      sample: {components: [slinky-slurm]}
"""
