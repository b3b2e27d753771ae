# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PRIVATE to this collection: the options that several of its plugins share."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  catalog:
    description:
      - The directory of a catalog of your own, laid over the one that comes with this collection.
      - It has the same layout, and must hold C(registry.yaml), if only with an empty list of components.
        A component of its registry replaces the one of that name, and a file replaces the one at the same path.
    type: path
  config:
    description:
      - The path of a configuration file (kind C(AICRConfig)) that holds options of all stages.
        Each stage reads its own section.
      - Where an option and a field of the file say different things, the option counts, and a warning tells so.
    type: path
notes:
  - Relative paths start in the directory in which Ansible was started.
"""

    RETURN_DOCUMENT = r"""
options:
  return_document:
    description:
      - Return the document itself.
      - Large registered results cost time in every task that follows. A file with the document does not.
    type: bool
    default: false
"""

    CLUSTER = r"""
options:
  kubeconfig:
    description:
      - The path of a kubeconfig, or the kubeconfig itself as a dictionary. It names the cluster.
      - Tokens, client certificates, exec plugins, C(proxy-url), CA bundles and impersonation in it are used.
        An exec plugin runs on the controller, with no terminal.
      - The variable E(K8S_AUTH_KUBECONFIG) stands for it if no cluster is named by an option.
      - There is no default. Neither C(~/.kube/config) nor E(KUBECONFIG) is looked at, nor the credentials of a pod.
    type: raw
  context:
    description:
      - The context in O(kubeconfig). Without it the C(current-context) of that file counts.
      - The variable E(K8S_AUTH_CONTEXT) stands for it.
    type: str
  host:
    description:
      - The URL of an API server, in place of a O(kubeconfig).
      - If no cluster is named by an option, the variables E(K8S_AUTH_HOST), E(K8S_AUTH_API_KEY),
        E(K8S_AUTH_SSL_CA_CERT) and E(K8S_AUTH_VERIFY_SSL) stand for O(host), O(api_key), O(ca_cert) and
        O(validate_certs), as a credential of AWX sets them. They never mix with a cluster that an option names.
    type: str
  api_key:
    description: The bearer token for O(host).
    type: str
  ca_cert:
    description: The path of a bundle of certificates that the API server's own must be signed by.
    type: path
  validate_certs:
    description: Whether the certificate of the API server is checked. Without it the kubeconfig says so, else it is.
    type: bool
  impersonate_user:
    description:
      - The user to act as. The variable E(K8S_AUTH_IMPERSONATE_USER) stands for it.
    type: str
  impersonate_groups:
    description:
      - The groups to act as, with O(impersonate_user). The variable E(K8S_AUTH_IMPERSONATE_GROUPS) stands for it,
        with commas between.
    type: list
    elements: str
  in_cluster:
    description: Take the ServiceAccount of the pod that Ansible runs in. Nothing else makes this happen.
    type: bool
    default: false
requirements:
  - urllib3 >= 2.1, which the Python package kubernetes brings along, on the controller, if a cluster is named
"""

    RUN = r"""
options:
  run:
    description:
      - The name of the run that this task belongs to, as M(aicr.runtime.lease) was given it.
      - The Lease is renewed when the task begins and every 15 seconds while it works. A run that has lost it begins
        nothing more, and the task fails.
      - Without it the task works under no Lease. Nothing is renewed in check mode.
    type: str
  lease:
    description: Where the Lease is.
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
"""

    CHECK = r"""
options:
  namespace:
    description:
      - The namespace of Slurm, in which the Job runs, so that it sees names and network policies as slurmdbd does.
      - Secrets and ConfigMaps that are named are read there.
    type: str
    default: slurm
  image_pull_secrets:
    description: The names of Secrets in O(namespace) that the image is pulled with.
    type: list
    elements: str
  node_selector:
    description: Labels of the nodes that the Job may run on. Give it those of the workload that it speaks for.
    type: dict
    default:
      kubernetes.io/os: linux
  tolerations:
    description: Taints that the Job bears, as Kubernetes writes them. Give it those of the workload that it speaks for.
    type: list
    elements: dict
  timeout:
    description:
      - How many seconds one Job may take, from its making to its answer. The image may have to be pulled.
      - A Job that has not answered by then fails the task, with what its pod and the events say.
    type: float
    default: 120
"""

    LISTING = r"""
options:
  catalog:
    description: The directory of a catalog of your own, laid over the one that comes with this collection.
    type: path
  criteria:
    description: List only what states exactly these values. Values that the catalog does not know are refused.
    type: dict
    suboptions:
      service:
        description: The kind of Kubernetes, such as V(eks).
        type: str
      accelerator:
        description: The GPU, such as V(h100).
        type: str
      intent:
        description: V(training) or V(inference).
        type: str
      os:
        description: The operating system of the nodes, such as V(ubuntu).
        type: str
      platform:
        description: What runs the work, such as V(slurm).
        type: str
  leaves_only:
    description: Leave out the overlays on which others build.
    type: bool
    default: false
  health:
    description: Resolve each leaf by its own criteria, and tell what its checks cover. Without it listing is faster.
    type: bool
    default: true
"""

    SELECTION = r"""
options:
  criteria:
    description:
      - What the recipe is for. A criterion that is left out, or V(any), matches every value.
      - Every criterion that is stated must be met by the catalog, otherwise the valid completions are named.
    type: dict
    suboptions:
      service:
        description: The Kubernetes service, for example V(eks), V(gke), V(aks), V(oke), V(kind).
        type: str
      accelerator:
        description: The accelerator's model, for example V(h100), V(gb200).
        type: str
      intent:
        description: What the cluster is for, V(training) or V(inference).
        type: str
      os:
        description: The operating system of the nodes, for example V(ubuntu).
        type: str
      platform:
        description: The workload platform, for example V(slurm), V(kubeflow), V(dynamo).
        type: str
      nodes:
        description: The number of nodes. It is recorded, and selects nothing.
        type: int
  snapshot:
    description:
      - The path of a snapshot, C(cm://namespace/name) for a ConfigMap, an C(https://) address, or the snapshot itself
        as a dictionary.
      - Criteria that are not stated are taken from it, and overlays whose constraints it does not meet are left out
        with a warning.
    type: raw
  criteria_strict:
    description:
      - Take only the values of criteria that the collection itself knows, not those that the overlays of O(catalog)
        add.
    type: bool
    default: false
  profile:
    description:
      - The choice of a configuration profile that the catalog declares, as V(name=value); without it, the profile's
        default.
    type: str
  slurm_accounting_mode:
    description:
      - Who owns the database of Slurm accounting. It is valid for O(criteria.platform=slurm) alone, where it defaults
        to V(disabled), and is recorded in the recipe.
      - V(disabled) runs Slurm without accounting.
      - V(customer-managed) runs slurmdbd against a database of yours.
      - V(aicr-provided) also installs MariaDB with its operator.
      - It is chosen here and nowhere else. No later stage can change it.
    type: str
    choices:
      - disabled
      - customer-managed
      - aicr-provided
"""

    RECIPE = r"""
options:
  recipe:
    description:
      - The path of a recipe, C(cm://namespace/name) for a ConfigMap, an C(https://) address, or the recipe itself as a
        dictionary.
      - An overlay of a catalog (kind C(RecipeMetadata)) is accepted, too, and resolved by its own criteria.
      - Required, here or in O(config).
    type: raw
"""
