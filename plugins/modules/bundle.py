# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bundle
short_description: Turn a recipe into files that deploy it
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Writes one folder for each component of a recipe, with its effective values and manifests, in the order of
    deployment, together with what a deployer needs to put them on a cluster, and a list of checksums.
  - Every override is checked before anything is written. One that can take no effect, and one of a path that the
    recipe's choice of Slurm accounting owns, is refused by name.
  - The directory appears whole or not at all. A bundle is replaced, and any other directory is left alone.
options:
  dest:
    description:
      - The directory to write, not a link to one. Required, here or in O(config).
      - It is replaced as a whole if it is a bundle, and what was changed in it by hand is then as the recipe and the
        options say. One that holds anything else, also a bundle to which something was added, such as C(.git), is
        never touched; the task fails with C(CONFLICT) and names what is there.
      - Files get the mode C(0644) or C(0755), directories C(0755), whatever the umask is.
    type: path
  deployer:
    description:
      - What deploys the bundle. V(helm) stands for a script that calls Helm, V(argocd) for Argo CD Applications.
    type: str
    choices:
      - helm
      - argocd
    default: helm
  values:
    description:
      - Values by component, merged over those of the recipe. A null removes a key, a list replaces a list.
      - A component goes by its name or by any alias in the catalog's registry.
    type: dict
  set:
    description:
      - Scalar values, each as C(component:path=value). V(true) and V(false) are booleans, digits are numbers.
      - C(component:enabled=false) leaves a component out.
    type: list
    elements: str
  set_json:
    description: Values, each as C(component:path=json). A mapping is merged, anything else replaces.
    type: list
    elements: str
  set_file:
    description: Values from YAML or JSON files, each as C(component:path=file).
    type: list
    elements: str
  dynamic:
    description: Paths whose values are left to the time of deployment, each as C(component:path).
    type: list
    elements: str
  components:
    description: The components to bundle; all that the recipe enables by default.
    type: list
    elements: str
  scheduling:
    description:
      - Where pods run, and on which storage. The registry of the catalog knows the paths of each component.
    type: dict
    suboptions:
      system_node_selector:
        description: Labels of the nodes that take operators and other system pods.
        type: dict
      system_node_tolerations:
        description:
          - Taints that system pods tolerate, each as V(key=value:effect) or V(key:effect).
          - By default every taint is tolerated.
        type: list
        elements: str
      accelerated_node_selector:
        description: Labels of the nodes with accelerators.
        type: dict
      accelerated_node_tolerations:
        description:
          - Taints that pods on nodes with accelerators tolerate, each as V(key=value:effect) or V(key:effect).
          - By default every taint is tolerated.
        type: list
        elements: str
      workload_selector:
        description: Labels of the pods that are workloads, for the components that make room for them.
        type: dict
      workload_gate:
        description:
          - The taint that keeps workloads away from nodes that are not ready, as V(key=value:effect) or V(key:effect).
        type: str
      nodes:
        description: The number of nodes, for components that are told.
        type: int
      storage_class:
        description: The StorageClass of volumes.
        type: str
      shared_storage_class:
        description: The StorageClass of volumes that several pods write.
        type: str
  repo:
    description:
      - The URL of the Git repository that will hold the bundle. V(helm) reads none and refuses it.
    type: str
  target_revision:
    description: The branch, tag or commit of O(repo). V(helm) refuses it as well.
    type: str
  serial:
    description:
      - One component after the other, even where some could go together. V(helm) always does so.
    type: bool
    default: false
  argocd:
    description:
      - Options of the deployer V(argocd). All but O(argocd.app_name) are about the Applications of the components;
        their parent is always in the project C(default) of the cluster that runs Argo CD.
    type: dict
    suboptions:
      app_name:
        description: The name of the parent Application, C(nvidia-stack) by default.
        type: str
      name_prefix:
        description: What the names of the Applications begin with, so that several clusters can share one Argo CD.
        type: str
      destination_server:
        description: The address of the API server to deploy to, C(https://kubernetes.default.svc) by default.
        type: str
      project:
        description: The AppProject of the Applications, C(default) by default.
        type: str
      cascade_delete:
        description: Whether what an Application deployed goes with it when it is deleted.
        type: bool
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
  - aicr.runtime._options.recipe
seealso:
  - module: aicr.runtime.bundle_verify
  - module: aicr.runtime.recipe
  - module: aicr.runtime.validate
"""

EXAMPLES = r"""
- name: Bundle the recipe of a Slurm cluster
  aicr.runtime.bundle:
    recipe: artifacts/eks-slurm/recipe.yaml
    dest: artifacts/eks-slurm/bundle
    scheduling:
      system_node_selector:
        nodeGroup: system
      accelerated_node_selector:
        nodeGroup: gpu
      accelerated_node_tolerations:
        - nvidia.com/gpu=present:NoSchedule
      storage_class: gp3

- name: Bundle it with values of our own
  aicr.runtime.bundle:
    recipe: artifacts/eks-inference/recipe.yaml
    dest: artifacts/eks-inference/bundle
    values:
      gpu-operator:
        dcgmExporter:
          serviceMonitor:
            interval: 30s
    set:
      - kubeprometheusstack:grafana.enabled=false
    scheduling:
      system_node_selector:
        nodeGroup: system
"""

RETURN = r"""
path:
  description: The directory at O(dest).
  returned: success
  type: str
  sample: artifacts/eks-slurm/bundle
digest:
  description: The digest of the bundle. It covers the content of every file.
  returned: success
  type: str
  sample: sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35
files:
  description: The files of the bundle, by their paths within it.
  returned: success
  type: list
  elements: str
  sample: [README.md, checksums.txt, deploy.sh, recipe.yaml]
order:
  description: The folders of the bundle, in the order of installation.
  returned: success
  type: list
  elements: str
  sample: [001-cert-manager, 002-gpu-operator]
summary:
  description: A few facts about the bundle.
  returned: success
  type: dict
  contains:
    deployer:
      description: What deploys it.
      type: str
      returned: success
      sample: helm
    components:
      description: How many components it deploys.
      type: int
      returned: success
      sample: 17
    files:
      description: How many files it has.
      type: int
      returned: success
      sample: 96
    accounting:
      description: The mode of Slurm accounting, or null where there is no Slurm.
      type: str
      returned: success
      sample: aicr-provided
warnings:
  description: What to know before deploying, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - 'the snapshot is incomplete: SystemD: there is no systemctl to ask'
incomplete:
  description: Always empty; a bundle is whole or not there.
  returned: success
  type: list
  elements: str
  sample: []
document:
  description: C(bundle-info.yaml), which says what the bundle is made of.
  returned: O(return_document=true)
  type: dict
  sample: {kind: BundleInfo, build: {deployer: helm}, layout: {entrypoint: deploy.sh}}
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
