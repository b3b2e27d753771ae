# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: deployment_plan
short_description: Lay out the deployment of a bundle
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Turns a bundle and its recipe into what is to be done about them, as data that the role
    P(aicr.runtime.component#role) and the playbook C(aicr.runtime.deploy) go through. It asks nothing of the cluster.
  - The bundle is verified first. A file that is missing, changed, unknown or a link fails the task, and all of them are
    named.
  - The recipe must be the one that the bundle was made from, which its digest shows. C(recipe.yaml) in a bundle has
    what runs there alone, so it is not the whole recipe if anything in it is switched off.
options:
  bundle:
    description: The directory of a bundle that was made for the deployer V(helm).
    type: path
    required: true
  recipe:
    description: The path of the recipe, C(cm://namespace/name) for a ConfigMap, or the recipe itself as a dictionary.
    type: raw
    required: true
  values:
    description:
      - Values that are given at the installation, by component name or alias.
      - They pass the gate that they would have passed when the bundle was made. Only paths that the bundle left open,
        with the option O(aicr.runtime.bundle#module:dynamic), take a value here, and never one that the mode of Slurm
        accounting owns.
    type: dict
  components:
    description: The components that are meant, by name or alias. Without it all are.
    type: list
    elements: str
  lease:
    description: Where the Lease of a deployment is. The record of what is installed stands beside it.
    type: dict
    default: {}
    suboptions:
      namespace:
        description: Its namespace.
        type: str
        default: default
      name:
        description: Its name.
        type: str
        default: aicr-deployment
  catalog:
    description: The directory of a catalog of your own, as in O(aicr.runtime.bundle#module:catalog).
    type: path
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
notes:
  - A cluster is only asked for a recipe at C(cm://namespace/name).
seealso:
  - module: aicr.runtime.bundle
  - module: aicr.runtime.bundle_verify
  - module: aicr.runtime.preflight
"""

EXAMPLES = r"""
- name: Lay out the deployment
  aicr.runtime.deployment_plan:
    bundle: artifacts/eks-slurm/bundle
    recipe: artifacts/eks-slurm/recipe.yaml
  register: planned

- name: Lay out one component, with a value that the bundle left open
  aicr.runtime.deployment_plan:
    bundle: artifacts/eks-slurm/bundle
    recipe: artifacts/eks-slurm/recipe.yaml
    components: [kube-prometheus-stack]
    values:
      kube-prometheus-stack:
        grafana:
          ingress:
            hosts: [grafana.example.com]
"""

RETURN = r"""
path:
  description: The directory of the bundle.
  returned: success
  type: str
  sample: /srv/clusters/artifacts/eks-slurm/bundle
digest:
  description: The digest of the recipe.
  returned: success
  type: str
  sample: sha256:fdf2f4af3864b2810430b8feb1540d5711dfa3ae36932e5e05a8428fed31e769
summary:
  description: A few facts for people and for conditions.
  returned: success
  type: dict
  contains:
    mode:
      description: The mode of Slurm accounting, or null without Slurm.
      type: str
      returned: success
      sample: aicr-provided
    levels:
      description: How many levels there are.
      type: int
      returned: success
      sample: 4
    components:
      description: How many components there are.
      type: int
      returned: success
      sample: 20
    releases:
      description: How many Helm releases there are.
      type: int
      returned: success
      sample: 21
warnings:
  description: What should be known though nothing is wrong, one sentence each.
  returned: success
  type: list
  elements: str
  sample: []
plan:
  description: The plan.
  returned: success
  type: dict
  contains:
    mode:
      description: The mode of Slurm accounting, or null without Slurm.
      type: str
      returned: success
      sample: aicr-provided
    recipe_digest:
      description: The digest of the recipe.
      type: str
      returned: success
      sample: sha256:fdf2f4af3864b2810430b8feb1540d5711dfa3ae36932e5e05a8428fed31e769
    bundle_digest:
      description: The digest of the bundle's list of checksums.
      type: str
      returned: success
      sample: sha256:93e15219571f2e06c658114c8fd961642655d9ebc287d2fa6994e6a85ac23716
    levels:
      description: The names of the components by depth of dependency. Those of one level may go together.
      type: list
      elements: list
      returned: success
      sample: [[cert-manager, nfd], [gpu-operator]]
    components:
      description:
        - By component C(releases), a list for the action C(release); C(before), actions that must succeed before its
          releases are touched; and C(after), actions that prove it once it is ready. An action has its name under
          C(action), beside its options.
      type: dict
      returned: success
      sample:
        nfd:
          releases:
            - name: nfd
              namespace: node-feature-discovery
              component: nfd
              chart: node-feature-discovery
              repository: https://kubernetes-sigs.github.io/node-feature-discovery/charts
              version: 0.19.0
              values:
                - /srv/clusters/artifacts/eks-slurm/bundle/006-nfd/values.yaml
                - /srv/clusters/artifacts/eks-slurm/bundle/006-nfd/cluster-values.yaml
          before: []
          after: []
    skipped:
      description: By component why it is left out.
      type: dict
      returned: success
      sample: {mariadb-operator: Slurm accounting mode disabled installs no database}
    record:
      description: The ConfigMap that records the deployment once it is done, or null where O(components) are named.
      type: dict
      returned: success
      sample: {apiVersion: v1, kind: ConfigMap}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(INVALID_REQUEST) or V(NOT_FOUND).
      type: str
      returned: failure
      sample: INVALID_REQUEST
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: '"020-slinky-slurm-pre/values.yaml" was changed'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: make the bundle again from its recipe
    details:
      description: Small facts, such as names and paths. Several problems stand in C(problems).
      type: dict
      returned: failure
      sample: {}
"""
