# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: snapshot_diff
short_description: Tell what has changed between two snapshots of a cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Compares two snapshots reading by reading, and writes a report of what was added, removed and modified.
  - A reading is the same if its value and its type are. Snapshots of both tracks of versions compare, since the version
    of the format is no reading, nor are the header (time, release, node) and the order of measurements and keys.
  - The order of the items of a subtype counts; they are known by their positions, so one more moves all that come after
    it.
  - Each reading has a path of its own, such as C(K8s.server.version). A name in it that could be taken for something
    else, or that is empty or has a control character, stands in brackets as JSON, C(K8s.server["a b"]); one with a dot
    only where two readings would share a path.
  - No change is good or bad here, so all have the severity V(informational).
    C(aicr.runtime.validate) says what a cluster lacks for a recipe, C(aicr.runtime.verify) whether it still is what
    was deployed.
options:
  baseline:
    description:
      - The snapshot to compare with.
      - The path of a file, C(cm://namespace/name) for a ConfigMap, an C(https://) address, or the snapshot itself as a
        dictionary.
    type: raw
    required: true
  target:
    description: The snapshot of today, likewise.
    type: raw
    required: true
  fail_on_drift:
    description:
      - Whether any change makes the task fail, after the report is written.
      - The code of that failure is V(CONFLICT), with the counts in its details. Bad input has another code.
    type: bool
    default: false
  dest:
    description:
      - The file to write. Folders on the way are made. Without it nothing is written.
      - A file that says the same is left alone. One that holds anything but a report of drift is never written over,
        nor is one of the two snapshots.
    type: path
  format:
    description: The format of the file at O(dest). V(table) is for people.
    type: str
    choices:
      - yaml
      - json
      - table
    default: yaml
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
notes:
  - A warning tells what may look like drift and is none - a snapshot with gaps, one that has not measured the nodes,
    other releases, other nodes.
seealso:
  - module: aicr.runtime.snapshot
  - module: aicr.runtime.verify
  - module: aicr.runtime.validate
"""

EXAMPLES = r"""
- name: See what has changed since the cluster was deployed
  aicr.runtime.snapshot_diff:
    baseline: artifacts/eks-slurm/snapshot.yaml
    target: artifacts/eks-slurm/drift-snapshot.yaml
    dest: artifacts/eks-slurm/drift.yaml
  register: drift

- name: Stop at a cluster that is not what it was, and at nothing else
  block:
    - name: Compare
      aicr.runtime.snapshot_diff:
        baseline: artifacts/eks-slurm/snapshot.yaml
        target: cm://ops/aicr-snapshot
        kubeconfig: /srv/kube/eks-slurm.yaml
        fail_on_drift: true
  rescue:
    - name: Say what is different
      ansible.builtin.debug:
        msg: "{{ ansible_failed_result.error.details.paths }}"
      when: ansible_failed_result.error.code == 'CONFLICT'

    - name: Fail for any other reason
      ansible.builtin.fail:
        msg: "{{ ansible_failed_result.msg }}"
      when: ansible_failed_result.error.code != 'CONFLICT'
"""

RETURN = r"""
path:
  description: The file at O(dest), or null if none was wanted.
  returned: success, and failure with a report
  type: str
  sample: artifacts/eks-slurm/drift.yaml
digest:
  description: The digest of the changes, wherever the two snapshots came from.
  returned: success, and failure with a report
  type: str
  sample: sha256:4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce
summary:
  description: How many readings are different.
  returned: success, and failure with a report
  type: dict
  contains:
    added:
      description: Readings that O(target) alone has.
      type: int
      returned: always
      sample: 0
    removed:
      description: Readings that O(baseline) alone has.
      type: int
      returned: always
      sample: 0
    modified:
      description: Readings with another value, or one of another type.
      type: int
      returned: always
      sample: 1
    total:
      description: All of them.
      type: int
      returned: always
      sample: 1
changes:
  description:
    - The first 100 changes, those of subtypes before those of items, by path. The report at O(dest) has all of them by
      path, with severities and whole values.
  returned: success, and failure with a report
  type: list
  elements: dict
  contains:
    kind:
      description: V(added), V(removed) or V(modified).
      type: str
      returned: always
      sample: modified
    path:
      description:
        - Where the reading stands, C(TYPE.SUBTYPE.KEY), with C(.context.KEY) for what a subtype is about, and
          C(.items.length), C(.items[0].context.KEY), C(.items[0].data.KEY) for its items. A key that begins with
          C(context) or C(items) is quoted, as in C(K8s.node["context.node"]).
      type: str
      returned: always
      sample: K8s.server.version
    baseline:
      description:
        - What it was, as text. Values of the same text and different types are written as JSON.
        - Of a value of more than 200 characters the first 200.
      type: str
      returned: if it was there
      sample: v1.34.1-eks-3cfe0ce
    target:
      description: What it is, likewise.
      type: str
      returned: if it is there
      sample: v1.35.0-eks-7fcb6a1
  sample:
    - {kind: modified, path: K8s.server.version, baseline: v1.34.1-eks-3cfe0ce, target: v1.35.0-eks-7fcb6a1}
warnings:
  description: What to know about the two snapshots, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - 'the target has not measured GPU, OS: take both snapshots in the same way'
incomplete:
  description: What either snapshot could not read, by name.
  returned: success, and failure with a report
  type: list
  elements: str
  sample: []
document:
  description: The report.
  returned: O(return_document=true)
  type: dict
  sample:
    baselineSource: artifacts/eks-slurm/snapshot.yaml
    targetSource: artifacts/eks-slurm/drift-snapshot.yaml
    changes: []
    summary: {added: 0, removed: 0, modified: 0, total: 0}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - The class of the failure. V(CONFLICT) is drift, with O(fail_on_drift=true), or something else that stands at
          O(dest), which has no C(total) in its details.
      type: str
      returned: failure
      sample: CONFLICT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: '1 reading is not what the baseline says: K8s.server.version'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: see the report; if all of it is meant to be so, take a new baseline with aicr.runtime.snapshot
    details:
      description: Small facts, such as names and paths. For drift the counts, and the first 100 paths.
      type: dict
      returned: failure
      sample: {added: 0, removed: 0, modified: 1, total: 1, paths: [K8s.server.version]}
"""
