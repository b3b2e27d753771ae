# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: manifests
short_description: Write or remove the few objects that belong to no chart
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Brings objects about by server-side apply, as the field manager C(aicr). What others manage in them stays, except
    under the fields that are given here. A field that was given before and is no longer is removed.
  - The API server judges all objects, by a dry run, before the first one is written. Those that are as they shall be
    are not written.
  - It knows the kinds C(ConfigMap), C(Secret), C(Job), C(Lease), C(ServiceAccount) and C(Namespace) alone. Everything
    else comes by charts, see M(aicr.runtime.release). A C(PersistentVolumeClaim) may be removed, too, and is never
    written.
options:
  manifests:
    description:
      - The objects, each with C(apiVersion), C(kind), C(metadata.name) and, except for a Namespace,
        C(metadata.namespace). Namespaces are written first, the others in the order given.
      - What a Secret holds is never shown.
    type: list
    elements: dict
    required: true
  state:
    description:
      - V(present) writes the objects.
      - V(absent) removes them, the last one first, and in the background what belongs to them. Of an object only its
        kind and name count then. A Namespace is refused, as everything in it would go, too.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.run
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: full
    details:
      - The API server judges everything (C(dryRun=All)). An object whose namespace is not there yet is predicted, and
        RV(manifests[].predicted) says so.
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - It waits for nothing. For many clusters raise C(forks).
notes:
  - The caller needs the verbs C(get) and C(patch), or C(get) and C(delete), on the kinds that are named.
seealso:
  - module: aicr.runtime.release
"""

EXAMPLES = r"""
- name: Give slurmdbd the password of the database
  aicr.runtime.manifests:
    kubeconfig: /srv/kube/eks-slurm.yaml
    manifests:
      - apiVersion: v1
        kind: Namespace
        metadata:
          name: slurm
      - apiVersion: v1
        kind: Secret
        metadata:
          name: slurm-acct-db
          namespace: slurm
        stringData:
          password: "{{ vault_slurm_acct_db_password }}"
"""

RETURN = r"""
manifests:
  description: What became of each object, in the order in which they were written or removed.
  returned: success
  type: list
  elements: dict
  contains:
    kind:
      description: Its kind.
      type: str
      returned: always
      sample: Secret
    namespace:
      description: Its namespace, or null for a Namespace.
      type: str
      returned: always
      sample: slurm
    name:
      description: Its name.
      type: str
      returned: always
      sample: slurm-acct-db
    changed:
      description: Whether it was written or removed, or would be.
      type: bool
      returned: always
      sample: true
    predicted:
      description: Whether the API server could not judge it.
      type: bool
      returned: in check mode
      sample: false
    unjudged:
      description: Why it could not.
      type: str
      returned: in check mode, if RV(manifests[].predicted) is true
      sample: namespace slurm is not there yet
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description: The class of the failure, such as V(NOT_FOUND) for a namespace that is not there.
      type: str
      returned: failure
      sample: NOT_FOUND
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: "Secret slurm/slurm-acct-db: context \"eks\" of eks.yaml has no namespace slurm"
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: make it first, or name another
    details:
      description: Small facts, such as names and paths.
      type: dict
      returned: failure
      sample: {kind: Secret, status: 404}
"""
