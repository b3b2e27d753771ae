# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: verify
short_description: Hold a cluster against the bundle that was deployed to it
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Looks at all of a deployment, whatever fails first, and writes a report in the Common Test Report Format (CTRF).
  - What cannot be read of the cluster, such as for want of a right, is a test that failed, with the reason.
  - The record of the deployment must be done, and have the mode of Slurm accounting and the digests of the recipe and
    the bundle.
  - Each release of the bundle must be deployed, with its chart, its version and its values.
  - What M(aicr.runtime.readiness) waits for must hold, and what the mode of Slurm accounting forbids must not be there.
  - With accounting a Job logs in to the database (M(aicr.runtime.database_probe)), and another one asks slurmdbd for
    the cluster (M(aicr.runtime.accounting_check)). They are all that is written to the cluster. O(probe=false) leaves
    them out.
options:
  bundle:
    description: The directory of the bundle that was deployed. It is verified first.
    type: path
    required: true
  recipe:
    description: The path of its recipe, C(cm://namespace/name) for a ConfigMap, or the recipe itself as a dictionary.
    type: raw
    required: true
  values:
    description: The values that were given at the installation, as in O(aicr.runtime.deployment_plan#module:values).
    type: dict
  catalog:
    description: The directory of a catalog of your own, as in O(aicr.runtime.bundle#module:catalog).
    type: path
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
  chart_source:
    description:
      - The folder that charts were taken from, as in O(aicr.runtime.release#module:chart_source). With a folder the
        content of the charts is compared, too, and not only their names and versions.
    type: str
  timeout:
    description: How many seconds each component may take to be ready. Without it its own check says so.
    type: float
  stable:
    description: For how many seconds everything must hold before it counts.
    type: float
    default: 1
  wait:
    description: Whether to wait for what is not ready. Without that only the first look counts.
    type: bool
    default: true
  probe:
    description: Whether to run the two Jobs. They are in the report as skipped if not.
    type: bool
    default: true
  probe_image:
    description: The image of the Job that logs in to the database.
    type: str
  probe_timeout:
    description: How many seconds one login may take.
    type: float
  accounting_check_image:
    description: The image of the Job that asks slurmdbd.
    type: str
  accounting_check_timeout:
    description: How many seconds one question may take.
    type: float
  accounting_check_wait:
    description: How many seconds slurmdbd has to know the cluster.
    type: float
    default: 30
  fail_on_error:
    description:
      - Whether a test that fails makes the task fail, after the report is written.
      - What keeps it from looking at all makes it fail in any case.
    type: bool
    default: true
  dest:
    description: The file to write the report to. One that says the same, times aside, is left alone.
    type: path
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: full
    details:
      - It looks once, runs no Job and writes no report. No test makes it fail, since an earlier task may not have run.
        To have it fail and write nothing to the cluster, run it without check mode and with O(probe=false).
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - Every wait is bounded. For many clusters raise C(forks).
notes:
  - It takes no Lease. While a deployment is at work, the record says so and a test fails.
  - What keeps it from looking at all (the bundle, the recipe, a cluster that cannot be reached, a rejected login)
    fails the task with its own error. The report then has that as its single test, in place of what an earlier run has
    found.
seealso:
  - module: aicr.runtime.readiness
  - module: aicr.runtime.preflight
"""

EXAMPLES = r"""
- name: Verify a cluster
  aicr.runtime.verify:
    kubeconfig: /srv/kube/eks-slurm.yaml
    bundle: artifacts/eks-slurm/bundle
    recipe: artifacts/eks-slurm/recipe.yaml
    dest: artifacts/eks-slurm/verify.ctrf.json

- name: Only look, once, and go on whatever is found
  aicr.runtime.verify:
    kubeconfig: /srv/kube/eks-slurm.yaml
    bundle: artifacts/eks-slurm/bundle
    recipe: artifacts/eks-slurm/recipe.yaml
    wait: false
    probe: false
    fail_on_error: false
  register: verified
"""

RETURN = r"""
path:
  description: The file at O(dest), or null if none was wanted.
  returned: success, and failure with a report
  type: str
  sample: artifacts/eks-slurm/verify.ctrf.json
digest:
  description: The digest of what the report says, times aside.
  returned: success, and failure with a report
  type: str
  sample: sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
summary:
  description: How many tests came out how, and what is installed.
  returned: success, and failure with a report
  type: dict
  contains:
    passed:
      description: Tests that passed.
      type: int
      returned: always
      sample: 61
    failed:
      description: Tests that failed.
      type: int
      returned: always
      sample: 0
    skipped:
      description: Tests that were not run.
      type: int
      returned: always
      sample: 2
    pending:
      description: Always 0.
      type: int
      returned: always
      sample: 0
    other:
      description: Always 0.
      type: int
      returned: always
      sample: 0
    mode:
      description: The mode of Slurm accounting, or null without Slurm and where nothing could be looked at.
      type: str
      returned: always
      sample: aicr-provided
    recipe_digest:
      description: The digest of the recipe, or null where nothing could be looked at.
      type: str
      returned: always
      sample: sha256:fdf2f4af3864b2810430b8feb1540d5711dfa3ae36932e5e05a8428fed31e769
    time:
      description: When the deployment was recorded, or null if none was.
      type: str
      returned: always
      sample: "2026-11-30T10:00:00Z"
failures:
  description: Every test that failed, with what was expected and found.
  returned: success, and failure with a report
  type: list
  elements: str
  sample:
    - "release slurm/slinky-slurm: its values differ: controller.replicas"
warnings:
  description: What should be known though nothing is wrong, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample: []
incomplete:
  description: Always empty.
  returned: success, and failure with a report
  type: list
  elements: str
  sample: []
document:
  description: The report.
  returned: when O(return_document=true)
  type: dict
  sample: {reportFormat: CTRF}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, V(CONFLICT) for tests that failed, another where there was none to run.
      type: str
      returned: failure
      sample: CONFLICT
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: >-
        1 of the tests of this cluster failed: release slurm/slinky-slurm: it is not installed
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: >-
        the report has them all; to deploy the bundle again mends a record and releases that differ, and nothing else;
        what is not known says itself what it takes
    details:
      description: Small facts, such as the names of the tests that failed.
      type: dict
      returned: failure
      sample: {failed: [release slurm/slinky-slurm]}
"""
