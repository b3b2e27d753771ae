# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: convert
short_description: Spell the version of an artifact as the other track does
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Artifacts have two tracks of versions that say the same. This collection writes C(aicr.run/v1alpha2) and
    C(aicr.run/v1alpha3), and reads both. The reference implementation wants C(aicr.run/v1), C(aicr.run/v1beta1) and
    C(aicr.run/v1beta2) since its release 1.0.0.
  - Changes the version alone, so that converting back gives the same document. The digest stays.
  - What has the version and the format already is written byte for byte as it stands.
  - Takes a Snapshot, RecipeResult, AICRConfig, RecipeMetadata, RecipeMixin or ComponentRegistry, and refuses one that
    no stage would read.
options:
  source:
    description: The path of the artifact, C(cm://namespace/name), an C(https://) address, or the artifact itself.
    type: raw
    required: true
  track:
    description:
      - The track that is wanted. One that is there already is no error.
      - Without it the version stays, so that an artifact is copied, once it is known to be one.
    type: str
    choices:
      - alpha
      - stable
  dest:
    description:
      - The path of the file to write, or C(cm://namespace/name). Without it, nothing is written.
      - A file of the same content is left alone.
    type: path
  format:
    description: The format of what is written.
    type: str
    choices:
      - yaml
      - json
    default: yaml
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.return_document
seealso:
  - module: aicr.runtime.recipe
  - module: aicr.runtime.snapshot
"""

EXAMPLES = r"""
- name: Hand a recipe to a reference implementation of release 1.0.0
  aicr.runtime.convert:
    source: artifacts/eks-slurm/recipe.yaml
    track: stable
    dest: handed-over/recipe.yaml
"""

RETURN = r"""
path:
  description: The file or ConfigMap at O(dest), or null.
  returned: success
  type: str
  sample: handed-over/recipe.yaml
digest:
  description: The digest of the artifact, which is the same on both tracks.
  returned: success
  type: str
  sample: sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35
summary:
  description: What was done.
  returned: success
  type: dict
  contains:
    kind:
      description: The kind of the artifact.
      type: str
      returned: success
      sample: RecipeResult
    from:
      description: The version that it had.
      type: str
      returned: success
      sample: aicr.run/v1alpha3
    to:
      description: The version that it has.
      type: str
      returned: success
      sample: aicr.run/v1beta2
warnings:
  description: What is odd about the artifact.
  returned: success
  type: list
  elements: str
  sample: []
incomplete:
  description: Always empty.
  returned: success
  type: list
  elements: str
  sample: []
document:
  description: The converted artifact.
  returned: O(return_document=true)
  type: dict
  sample: {kind: RecipeResult, apiVersion: aicr.run/v1beta2}
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
      description: What is wrong.
      type: str
      returned: failure
      sample: 'report.json: is of kind "Report", which has no tracks'
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: name a recipe
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {path: report.json}
"""
