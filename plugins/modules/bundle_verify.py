# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bundle_verify
short_description: Tell whether a bundle is still what was made
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Compares every file of a bundle with its list of checksums. The world of a bundle is closed. A file that is missing,
    changed or not listed, a directory without listed files, and any link make the task fail, all of them by name.
  - Nothing is written.
options:
  path:
    description: The directory of the bundle.
    type: path
    required: true
  digest:
    description:
      - The digest that M(aicr.runtime.bundle) returned when the bundle was made.
      - Who can change files can also write the list anew, which only a digest that is kept elsewhere tells.
    type: str
extends_documentation_fragment:
  - aicr.runtime._attributes
  - aicr.runtime._options.return_document
seealso:
  - module: aicr.runtime.bundle
"""

EXAMPLES = r"""
- name: Make sure that nobody touched the bundle
  aicr.runtime.bundle_verify:
    path: artifacts/eks-slurm/bundle

- name: Make sure that it is the one that was approved
  aicr.runtime.bundle_verify:
    path: artifacts/eks-slurm/bundle
    digest: "{{ approved_digest }}"
"""

RETURN = r"""
path:
  description: The directory at O(path).
  returned: when it is a bundle
  type: str
  sample: artifacts/eks-slurm/bundle
digest:
  description: The digest of the bundle, as M(aicr.runtime.bundle) returned it for exactly these files.
  returned: when it is a bundle
  type: str
  sample: sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35
problems:
  description: What is not as it was made, one sentence each.
  returned: when it is a bundle
  type: list
  elements: str
  sample: ['"010-gpu-operator/values.yaml" was changed', '"notes.txt" is not in the list']
summary:
  description: How much was looked at.
  returned: when it is a bundle
  type: dict
  contains:
    files:
      description: How many files the bundle lists.
      type: int
      returned: success
      sample: 96
    problems:
      description: How many problems there are.
      type: int
      returned: success
      sample: 0
warnings:
  description: Always empty.
  returned: when it is a bundle
  type: list
  elements: str
  sample: []
incomplete:
  description: Always empty.
  returned: when it is a bundle
  type: list
  elements: str
  sample: []
document:
  description: C(bundle-info.yaml), which says what the bundle is made of, or null if there is a problem.
  returned: O(return_document=true)
  type: dict
  sample: {kind: BundleInfo, build: {deployer: helm}, layout: {entrypoint: deploy.sh}}
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(INVALID_REQUEST), V(NOT_FOUND).
      type: str
      returned: failure
      sample: INVALID_REQUEST
    message:
      description: What is wrong, naming every file.
      type: str
      returned: failure
      sample: '"010-gpu-operator/values.yaml" was changed'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: make the bundle again from its recipe
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {path: 010-gpu-operator/values.yaml}
"""
