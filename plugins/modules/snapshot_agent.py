# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: snapshot_agent
short_description: Take a snapshot of nodes that are reached through the API of their cluster alone
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Runs a Job on one node, or on every node with GPUs, that reads there what M(aicr.runtime.host_snapshot) reads over
    SSH, and writes what all of them said as one Snapshot.
  - A reading that is the same on every node stands in it as if there were one node. One that differs stands in it once
    for each node, and a constraint on it must hold on all of them.
  - Its pods run a stock image of Python with the collectors of this collection from a ConfigMap. They have files of the
    host mounted read-only, and a ServiceAccount without rights and without a token. What they say is read from their
    logs.
  - Everything that is made for this is removed afterwards, also after a failure. The cluster itself ends and removes
    the Jobs if the controller dies.
  - The rights that the caller needs are in C(docs/snapshot-agent-rbac.yaml). Those that are missing are named before
    anything is made.
options:
  namespace:
    description:
      - The namespace to work in. It must exist, and admit pods that mount files of the host (the level C(privileged)
        of Pod Security).
    type: str
    default: default
  select:
    description:
      - Which nodes are looked at.
      - V(one) is the first by name with GPUs that is Ready or, in a cluster without GPUs, the first that is Ready.
      - V(all) is every node with GPUs. Nodes of several pools usually differ, and a constraint is then held against
        each of them.
    type: str
    choices: [one, all]
    default: one
  nodes:
    description: The names of the nodes to look at, in place of O(select).
    type: list
    elements: str
  collectors:
    description:
      - What to read.
      - V(os) reads the release, the kernel command line, the loaded modules and the kernel settings below C(/proc/sys)
        except C(/proc/sys/net). Settings that a pod has of its own (C(kernel/hostname), C(kernel/pid_max), those of
        shared memory, semaphores and message queues) are left out.
      - V(gpu) counts NVIDIA's GPUs on the PCI bus and names their model.
      - V(systemd) asks the host's own C(systemctl) for C(containerd), C(docker) and C(kubelet). For this alone the
        whole root folder of the host is mounted, with the sockets in it, and the pod may C(chroot). No recipe of this
        collection needs it.
    type: list
    elements: str
    choices: [os, systemd, gpu]
    default: [os, gpu]
  timeouts:
    description: How many seconds each collector may take on a node. A collector that is late leaves a gap.
    type: dict
    default: {}
    suboptions:
      os:
        description: The time of the collector V(os).
        type: float
        default: 10
      systemd:
        description: The time of the collector V(systemd).
        type: float
        default: 10
      gpu:
        description: The time of the collector V(gpu).
        type: float
        default: 10
  timeout:
    description:
      - How many seconds all of it may take, from the first Job to the last answer. The image may have to be pulled.
      - A node that has not answered by then fails the task, with what its pod and the events say.
    type: float
    default: 300
  image:
    description: An image with Python 3.9 or newer as C(python3), and C(chroot) if systemd is asked.
    type: str
    default: docker.io/library/python:3.13-slim
  image_pull_secrets:
    description: The names of Secrets in O(namespace) that the image is pulled with.
    type: list
    elements: str
  selinux_type:
    description:
      - The SELinux type of the pods, such as V(spc_t), for nodes that enforce SELinux and keep containers from the
        files of the host. What they keep from them is named as a gap.
    type: str
  on_partial:
    description:
      - What to do about a snapshot with gaps.
      - With V(accept) it is written. The gaps stand in it and in RV(incomplete).
      - With V(fail) the task fails and writes nothing.
      - A node that was not looked at is no gap, and always fails the task.
    type: str
    choices: [accept, fail]
    default: accept
  dest:
    description:
      - The file to write. Folders on the way are made. Without it nothing is written.
      - C(cm://namespace/name) is a ConfigMap of the cluster. The namespace must exist, and what is larger than 1 MiB is
        refused.
      - A snapshot that already says the same, header aside, is left alone.
    type: path
  format:
    description: The format at O(dest). V(table) is for people, no stage reads it.
    type: str
    choices: [yaml, json, table]
    default: yaml
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: partial
    details:
      - No Job is run, so it is not known what the nodes are. A snapshot that stands at O(dest) is taken to stand, and
        one that is missing is predicted.
      - The API server judges what would be made, without making it (C(dryRun=All)), so that missing rights, a missing
        namespace and refusals of admission show.
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - The wait is bounded by O(timeout). For many clusters raise C(forks).
notes:
  - Relative paths start in the directory in which Ansible was started.
  - RV(ignore:changed) is about the snapshot. What is made in the cluster and removed again is no change.
seealso:
  - module: aicr.runtime.host_snapshot
  - module: aicr.runtime.snapshot
  - plugin: aicr.runtime.merge_snapshots
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Look at every node with GPUs
  aicr.runtime.snapshot_agent:
    kubeconfig: /srv/kube/eks-slurm.yaml
    namespace: aicr-system
    select: all
    dest: artifacts/eks-slurm/nodes.yaml
  register: nodes

- name: Take the snapshot of the cluster, with what its nodes are
  aicr.runtime.snapshot:
    kubeconfig: /srv/kube/eks-slurm.yaml
    nodes: ["{{ nodes.path }}"]
    dest: artifacts/eks-slurm/snapshot.yaml

- name: Look at one node, with an image from a registry of one's own
  aicr.runtime.snapshot_agent:
    kubeconfig: /srv/kube/eks-slurm.yaml
    nodes: [gpu-1]
    image: registry.example.com/mirror/python:3.13-slim
    image_pull_secrets: [mirror]
    return_document: true
"""

RETURN = r"""
path:
  description: What O(dest) names, or null if nothing was to be written.
  returned: success
  type: str
  sample: artifacts/eks-slurm/nodes.yaml
digest:
  description: The digest of the snapshot without its header (time, version, node). Null in check mode without one.
  returned: success
  type: str
  sample: sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
summary:
  description: What was read. In check mode it has the names of the nodes alone.
  returned: success
  type: dict
  contains:
    nodes:
      description: The names of the nodes.
      type: list
      elements: str
      returned: success
      sample: [gpu-1, gpu-2]
    gpus:
      description: How many NVIDIA GPUs each of them has, or null where they differ.
      type: int
      returned: success
      sample: 8
    model:
      description: Their model, or null where it is unknown, or they differ.
      type: str
      returned: success
      sample: h100
    differing:
      description: How many readings are not the same on all nodes.
      type: int
      returned: success
      sample: 0
    requests:
      description: How many requests the API was sent.
      type: int
      returned: success
      sample: 24
warnings:
  description:
    - What to know about the snapshot, one sentence each. Readings that differ between nodes, gaps, and what could not
      be removed from the cluster.
  returned: when there are any
  type: list
  elements: str
  sample:
    - "the nodes differ in OS.release.VERSION_ID; a constraint on these must hold on every node"
incomplete:
  description: What could not be read, on which node, and why.
  returned: success
  type: list
  elements: str
  sample:
    - "gpu-1: SystemD: there is no systemctl to ask"
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
        - The class of the failure, such as V(UNAUTHORIZED) for missing rights, V(TIMEOUT) for nodes that did not answer
          in time, V(SERVICE_UNAVAILABLE) for pods that failed, V(NOT_FOUND) for nodes that are not there or not Ready.
      type: str
      returned: failure
      sample: TIMEOUT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: "gpu-1: was not looked at within 300 s: its pod is Pending; its container waits: ImagePullBackOff"
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: mend what is said of the pod, allow more time, or name the other nodes
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {node: gpu-1}
"""
