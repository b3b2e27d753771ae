#!/usr/bin/python
# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: host_snapshot
short_description: Take a snapshot of a node's operating system, services and GPUs
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Reads what the recipes of this collection put conditions on from the machine that the task runs on, and writes it as
    a Snapshot on the controller.
  - It only reads, needs no GPU driver and no Python package, and asks no network.
  - Environment variables, credentials and command lines of services never enter the snapshot, and of the kernel
    command line only known settings do.
  - What changes by itself (counters, process ids, times) is left out, so that two snapshots of an unchanged machine
    differ in their header alone.
options:
  collectors:
    description:
      - What to read.
      - V(os) reads the release, the kernel command line, the loaded modules and the kernel settings below C(/proc/sys)
        except C(/proc/sys/net).
      - V(systemd) asks C(systemctl) for C(containerd), C(docker) and C(kubelet).
      - V(gpu) counts NVIDIA's GPUs on the PCI bus and names their model.
    type: list
    elements: str
    choices: [os, systemd, gpu]
    default: [os, systemd, gpu]
  timeouts:
    description:
      - How many seconds each collector may take. They run side by side.
      - A collector that is late leaves a gap; what it had read until then stands.
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
  root:
    description:
      - Where the root of the machine is mounted, such as V(/host) in a container.
      - It is an absolute path, and something of a machine is there.
      - If it is not V(/), systemd is asked through C(chroot), which only O(root)'s owner may.
    type: path
    default: /
  on_partial:
    description:
      - What to do about a snapshot with gaps.
      - With V(accept) it is written; the gaps stand in it and in RV(incomplete).
      - With V(fail) the task fails and writes nothing.
    type: str
    choices: [accept, fail]
    default: accept
  dest:
    description:
      - The file on the controller that the snapshot is written to, as YAML. Its folder is made if it is missing.
      - A file that already says the same, header aside, is left alone. One that holds anything but a snapshot is never
        written over. A link is followed, and stays one.
      - Without it nothing is written.
    type: path
extends_documentation_fragment:
  - aicr.runtime._options.return_document
attributes:
  action_group:
    description: Use C(group/aicr.runtime.all) in C(module_defaults) to set defaults for this module.
    support: full
    membership:
      - aicr.runtime.all
  check_mode:
    description: Can run in check mode and return changed status prediction without modifying anything.
    support: full
  diff_mode:
    description: Will return details on what has changed, or possibly needs changing in check mode, when in diff mode.
    support: full
  idempotent:
    description: When run twice with the same arguments, the second run makes no change and says so.
    support: full
    details:
      - As long as the machine does not change in between.
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - The snapshot is made on the controller of what the host answers.
  platform:
    description: Target operating systems or families that can be operated against.
    support: full
    platforms: linux
seealso:
  - module: aicr.runtime.recipe
  - module: aicr.runtime.validate
"""

EXAMPLES = r"""
- name: Take a snapshot of a GPU node
  aicr.runtime.host_snapshot:
    dest: artifacts/{{ inventory_hostname }}/snapshot.yaml

- name: Read the GPUs of a node whose root is mounted in a container
  aicr.runtime.host_snapshot:
    collectors: [gpu]
    root: /host
    return_document: true
  register: node

- name: Insist on every reading, and give a slow service manager more time
  aicr.runtime.host_snapshot:
    dest: artifacts/{{ inventory_hostname }}/snapshot.yaml
    on_partial: fail
    timeouts:
      systemd: 30
  become: true
"""

RETURN = r"""
path:
  description: The file at O(dest), or null if none was wanted.
  returned: success
  type: str
  sample: /srv/clusters/artifacts/gpu-node-1/snapshot.yaml
digest:
  description: The digest of the snapshot without its header (time, version, node).
  returned: success
  type: str
  sample: sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
summary:
  description: What was read.
  returned: success
  type: dict
  contains:
    node:
      description: The name of the node, as the host knows it.
      type: str
      returned: success
      sample: gpu-node-1
    readings:
      description: How many readings there are of each type.
      type: dict
      returned: success
      sample: {GPU: 5, OS: 911, SystemD: 412}
    gpus:
      description: How many NVIDIA GPUs the host has, or null if they could not be counted.
      type: int
      returned: success
      sample: 8
    model:
      description: Their model, or null unless it is known and the same for all.
      type: str
      returned: success
      sample: h100
  sample: {node: gpu-node-1, readings: {GPU: 5, OS: 911, SystemD: 412}, gpus: 8, model: h100}
warnings:
  description: What to know about the snapshot, one sentence each.
  returned: success
  type: list
  elements: str
  sample:
    - "GPU.hardware.model is left out, the host has: a100, h100"
incomplete:
  description: What could not be read, and why.
  returned: success
  type: list
  elements: str
  sample:
    - "SystemD: there is no systemctl to ask"
document:
  description: The snapshot.
  returned: when O(return_document) is V(true)
  type: dict
  sample:
    apiVersion: aicr.run/v1alpha2
    kind: Snapshot
    metadata: {timestamp: "2026-11-30T10:30:00Z", version: 0.1.0, source-node: gpu-node-1}
    measurements:
      - type: GPU
        subtypes:
          - subtype: hardware
            data: {gpu-present: true, gpu-count: 8, driver-loaded: true, detection-source: pci, model: h100}
error:
  description: The failure for programs, to C(rescue) on its C(code).
  returned: failure
  type: dict
  sample:
    code: NOT_FOUND
    message: "the snapshot would have gaps: SystemD: there is no systemctl to ask"
    hint: "see to what is missing, use become for what may not be read, or set on_partial to accept"
    details: {incomplete: ["SystemD: there is no systemctl to ask"]}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.aicr.runtime.plugins.module_utils import host_collect
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

ARGUMENT_SPEC = {
    "collectors": {
        "type": "list",
        "elements": "str",
        "choices": ["os", "systemd", "gpu"],
        "default": ["os", "systemd", "gpu"],
    },
    "timeouts": {
        "type": "dict",
        "default": {},
        "options": {
            "os": {"type": "float", "default": 10},
            "systemd": {"type": "float", "default": 10},
            "gpu": {"type": "float", "default": 10},
        },
    },
    "root": {"type": "path", "default": "/"},
    "on_partial": {"type": "str", "choices": ["accept", "fail"], "default": "accept"},
    "dest": {"type": "path"},
    "return_document": {"type": "bool", "default": False},
}


def main() -> None:
    """Observe this host; the action plugin of the same name makes the artifact of it on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    root = RootFs(module.params["root"])
    if not root.is_system():
        module.fail_json(msg=f"root: {root.root} is not the root of a machine: neither etc, proc, sys nor usr is in it")
    timeouts = {name: module.params["timeouts"][name] for name in module.params["collectors"]}
    module.exit_json(changed=False, **host_collect.observe(root, timeouts))


if __name__ == "__main__":
    main()
