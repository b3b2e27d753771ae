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
      - An option and a field of the file that say different things are refused.
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
      - The path of a snapshot, or the snapshot itself as a dictionary.
      - Criteria that are not stated are taken from it, and overlays whose constraints it does not meet are left out
        with a warning.
    type: raw
  profile:
    description:
      - The choice of a configuration profile that the catalog declares, as V(name=value).
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
      - The path of a recipe, or the recipe itself as a dictionary.
      - An overlay of a catalog (kind C(RecipeMetadata)) is accepted, too, and resolved by its own criteria.
      - Required, here or in O(config).
    type: raw
"""
