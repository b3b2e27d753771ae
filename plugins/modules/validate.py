# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: validate
short_description: Hold a recipe against a snapshot of a cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Evaluates the constraints of a recipe on the readings of a snapshot, and writes a report in the Common Test Report
    Format (CTRF), with the recipe's digest and accounting mode in its environment.
  - A constraint passes, fails, or cannot be evaluated since its reading is missing; the report says which, and what was
    expected and found.
  - Nothing runs on a cluster. The checks that a recipe declares for its phases stand in the report as skipped.
options:
  snapshot:
    description:
      - The path of a snapshot, C(cm://namespace/name) for a ConfigMap, an C(https://) address, or the snapshot itself
        as a dictionary.
      - Required, here or in O(config).
    type: raw
  phases:
    description:
      - The phases whose checks the report covers; all of them by default.
        The constraints of readiness are always evaluated.
    type: list
    elements: str
    choices:
      - deployment
      - conformance
      - performance
      - all
  skip_checks:
    description:
      - Checks to leave out, by name. They stand in the report as skipped.
      - An unknown name is refused, as are all checks that the recipe declares for a phase of O(phases).
    type: list
    elements: str
  fail_on_error:
    description:
      - Whether a constraint that fails or cannot be evaluated fails the task. The report is written in any case.
    type: bool
    default: true
  dest:
    description:
      - The file to write. Folders on the way are made. Without it nothing is written.
      - A file that says the same, times aside, is left alone. One that holds anything but a report is never written
        over, nor is an input. A link is followed, and stays one.
    type: path
  format:
    description:
      - The format of the file at O(dest). V(json) is what readers of CTRF expect, V(table) is for people.
    type: str
    choices:
      - yaml
      - json
      - table
    default: json
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
  - aicr.runtime._options.recipe
seealso:
  - module: aicr.runtime.recipe
  - module: aicr.runtime.bundle
"""

EXAMPLES = r"""
- name: Hold the recipe against the cluster
  aicr.runtime.validate:
    recipe: artifacts/eks-slurm/recipe.yaml
    snapshot: artifacts/eks-slurm/snapshot.yaml
    dest: artifacts/eks-slurm/report.ctrf.json

- name: See what a cluster lacks for a recipe, and go on
  aicr.runtime.validate:
    recipe: artifacts/eks-slurm/recipe.yaml
    snapshot: artifacts/eks-slurm/snapshot.yaml
    fail_on_error: false
  register: report

- name: Show every constraint that does not hold
  ansible.builtin.debug:
    var: report.failures
"""

RETURN = r"""
path:
  description: The file at O(dest), or null if none was wanted.
  returned: success, and failure with a report
  type: str
  sample: artifacts/eks-slurm/report.ctrf.json
digest:
  description: The digest of what the report says, times aside.
  returned: success, and failure with a report
  type: str
  sample: sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
summary:
  description: How many tests came out how.
  returned: success, and failure with a report
  type: dict
  contains:
    passed:
      description: Constraints that hold.
      type: int
      returned: always
      sample: 4
    failed:
      description: Constraints that do not hold.
      type: int
      returned: always
      sample: 0
    unreadable:
      description: Constraints that cannot be evaluated, such as those whose reading the snapshot lacks.
      type: int
      returned: always
      sample: 0
    skipped:
      description: Checks that did not run.
      type: int
      returned: always
      sample: 10
    accounting:
      description:
        - The mode of Slurm accounting, V(unspecified) for a Slurm recipe from before there was one, or null where there
          is no Slurm.
      type: str
      returned: always
      sample: aicr-provided
failures:
  description: Every constraint that does not hold or cannot be evaluated, with what was expected and found.
  returned: success, and failure with a report
  type: list
  elements: str
  sample:
    - "K8s.server.version: expected >= 1.32.4, got v1.31.0"
warnings:
  description: What to know about the inputs, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - 'the snapshot is incomplete: SystemD: there is no systemctl to ask'
incomplete:
  description: What the snapshot could not read, by name.
  returned: success, and failure with a report
  type: list
  elements: str
  sample: []
document:
  description: The report.
  returned: O(return_document=true)
  type: dict
  sample: {reportFormat: CTRF, results: {summary: {tests: 14, passed: 4}}}
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
