# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: snapshot
short_description: Take a snapshot of a GPU cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Reads through the API of a cluster what the recipes of this collection put conditions on, and writes it as a
    Snapshot.
  - It only reads. The rights that it needs are in C(docs/snapshot-rbac.yaml). Secrets, status and configuration of
    workloads are never read into it.
  - A right or a kind that is missing, or a collector that is late, leaves a gap, by name. What else was read stands.
    If the API cannot be reached the task fails, and what stands at O(dest) stays.
  - What stands on the nodes themselves is read by M(aicr.runtime.host_snapshot).
options:
  collectors:
    description:
      - What to read.
      - V(k8s) reads the version of the server, one node (the first with GPUs), the images of all pods, and the
        C(ClusterPolicy) of the GPU operator.
      - V(topology) reads which nodes have which labels and taints.
      - V(mariadb) looks for a MariaDB operator that is there already, by its API and resources.
      - V(slinky) looks for Slurm on Kubernetes that is there already. It reads resources, operators and releases.
    type: list
    elements: str
    choices: [k8s, topology, mariadb, slinky]
    default: [k8s, topology, mariadb, slinky]
  timeouts:
    description: How many seconds each collector may take. They run side by side.
    type: dict
    default: {}
    suboptions:
      k8s:
        description: The time of the collector V(k8s).
        type: float
        default: 60
      topology:
        description: The time of the collector V(topology).
        type: float
        default: 90
      mariadb:
        description: The time of the collector V(mariadb).
        type: float
        default: 60
      slinky:
        description: The time of the collector V(slinky).
        type: float
        default: 60
  max_nodes_per_entry:
    description:
      - Name no more nodes for a label or a taint, and say how many more there are. V(0) names all of them.
      - It makes the snapshot of a large cluster small. A constraint on all GPU nodes cannot be evaluated against a list
        that was cut.
    type: int
    default: 0
  nodes:
    description:
      - Snapshots of the cluster's nodes, which become part of this one. Each is the path of a file, C(cm://namespace/name),
        or the snapshot itself as a dictionary.
      - They are those of single nodes, from M(aicr.runtime.host_snapshot), or one that is merged already, from
        M(aicr.runtime.snapshot_agent). Readings that differ between nodes are kept for each of them.
    type: list
    elements: raw
  on_partial:
    description:
      - What to do about a snapshot with gaps.
      - With V(accept) it is written. The gaps stand in it and in RV(incomplete).
      - With V(fail) the task fails and writes nothing.
    type: str
    choices: [accept, fail]
    default: accept
  dest:
    description:
      - The file to write. Folders on the way are made. Without it nothing is written.
      - C(cm://namespace/name) is a ConfigMap of the cluster. The namespace must exist, and what is larger than 1 MiB is
        refused.
      - A snapshot that already says the same, header aside, is left alone. What is no snapshot is never written over.
      - A link to a file is followed, and stays one.
    type: path
  format:
    description: The format at O(dest). V(table) is for people, no stage reads it.
    type: str
    choices: [yaml, json, table]
    default: yaml
  config:
    description:
      - The path of a configuration file (kind C(AICRConfig)) that holds options of all stages.
        Each stage reads its own section.
      - Where an option and a field of the file say different things, the option counts, and a warning tells so.
    type: path
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
notes:
  - Relative paths start in the directory in which Ansible was started.
seealso:
  - module: aicr.runtime.host_snapshot
  - module: aicr.runtime.snapshot_agent
  - module: aicr.runtime.recipe
  - plugin: aicr.runtime.snapshot
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Take a snapshot of a cluster
  aicr.runtime.snapshot:
    kubeconfig: /srv/kube/eks-slurm.yaml
    context: admin
    dest: artifacts/eks-slurm/snapshot.yaml

- name: Insist on every reading, and keep the snapshot in the cluster itself
  aicr.runtime.snapshot:
    kubeconfig: /srv/kube/eks-slurm.yaml
    on_partial: fail
    max_nodes_per_entry: 20
    dest: cm://gpu-operator/aicr-snapshot

- name: Take a snapshot with what two of its nodes are
  aicr.runtime.snapshot:
    kubeconfig: /srv/kube/eks-slurm.yaml
    nodes: [artifacts/eks-slurm/nodes/gpu-1.yaml, artifacts/eks-slurm/nodes/gpu-2.yaml]
    dest: artifacts/eks-slurm/snapshot.yaml

- name: Look only whether a MariaDB operator is there
  aicr.runtime.snapshot:
    kubeconfig: /srv/kube/eks-slurm.yaml
    collectors: [mariadb]
  register: cluster
"""

RETURN = r"""
path:
  description: What O(dest) names, or null if nothing was to be written.
  returned: success
  type: str
  sample: artifacts/eks-slurm/snapshot.yaml
digest:
  description: The digest of the snapshot without its header (time, version, node).
  returned: success
  type: str
  sample: sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
summary:
  description: What was read. A value is null where its collector was not asked for, or left a gap.
  returned: success
  type: dict
  contains:
    version:
      description: The version of the API server.
      type: str
      returned: success
      sample: v1.34.1-eks-3cfe0ce
    provider:
      description: The service that the sampled node belongs to.
      type: str
      returned: success
      sample: eks
    nodes:
      description: How many nodes there are.
      type: int
      returned: success
      sample: 42
    mariadb:
      description:
        - Evidence of a MariaDB operator of somebody else, V(absent), V(api-detected), V(crs-detected) or V(unknown).
        - V(absent) as well where every MariaDB is that of a deployment of AICR.
      type: str
      returned: success
      sample: absent
    slinky:
      description: Evidence of Slurm, V(absent), V(detected), V(unsupported-multicluster) or V(unknown).
      type: str
      returned: success
      sample: absent
    requests:
      description: How many requests the API was sent.
      type: int
      returned: success
      sample: 7
    differing:
      description: How many readings are not the same on all of O(nodes).
      type: int
      returned: when O(nodes) are given
      sample: 0
warnings:
  description: What to know about the snapshot, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - "the snapshot has gaps: K8s.image: /api/v1/pods: not allowed"
incomplete:
  description: What could not be read, and why.
  returned: success
  type: list
  elements: str
  sample:
    - "K8s.image: /api/v1/pods: not allowed"
document:
  description: The snapshot.
  returned: O(return_document=true)
  type: dict
  sample:
    apiVersion: aicr.run/v1alpha2
    kind: Snapshot
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - The class of the failure, such as V(SERVICE_UNAVAILABLE) for an API that cannot be reached, V(UNAUTHORIZED),
          V(NOT_FOUND), V(TIMEOUT), V(INVALID_REQUEST), V(INTERNAL).
      type: str
      returned: failure
      sample: NOT_FOUND
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: '/srv/kube/eks-slurm.yaml: has no context "prod"'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: 'it has: admin, viewer'
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {context: prod}
"""
