# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: accounting_check
short_description: Ask slurmdbd whether it knows the cluster
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Runs a Job in the namespace of Slurm that asks slurmdbd, as a user at a login node would, which clusters it knows
    (C(sacctmgr show cluster)) and which associations (C(sacctmgr show assoc)). That proves the whole way, from
    C(slurm.conf) and the key over slurmdbd to the stored procedures in its database. An open port proves less, and the
    port stays open when the database is gone.
  - It tells apart that slurmdbd does not listen, that its database does not let it in, that it has lost its database,
    that it does not accept the key, and that slurmctld has not registered.
  - The Job changes nothing, and without O(restart_slurmctld) nothing else does. It has no ServiceAccount token and no
    rights, runs Slinky's login image as Slurm's user, and is removed afterwards, also after a failure.
options:
  name:
    description:
      - The name of the objects of the chart of Slurm, which is that of its release if C(slurm) is part of it, else
        C(RELEASE-slurm).
    type: str
    default: slurm
  cluster:
    description: The name of the cluster in Slurm. Without it, that which the operator gives it, C(NAMESPACE_NAME).
    type: str
  auth_secret:
    description: The Secret with the key of C(auth/slurm).
    type: dict
    default: {}
    suboptions:
      name:
        description: Its name. Without it C(NAME-auth-slurm).
        type: str
      key:
        description: The key in it.
        type: str
        default: slurm.key
  config_map:
    description: The ConfigMap with C(slurm.conf), which says where slurmdbd is.
    type: dict
    default: {}
    suboptions:
      name:
        description: Its name. Without it C(NAME-config), which the operator makes.
        type: str
      key:
        description: The key of C(slurm.conf) in it.
        type: str
        default: slurm.conf
  image:
    description:
      - An image with C(bash), C(timeout), C(sackd) and C(sacctmgr), such as Slinky's login images.
      - The default is that of the login set that the catalog installs.
    type: str
    default: >-
      ghcr.io/slinkyproject/login-pyxis@sha256:9e782d1a645aff1dedc498d7a3256733cde55a152659f44716e8a5f0dca02028
  restart_slurmctld:
    description:
      - Delete the pod of slurmctld, once, if slurmdbd answers and slurmctld has not registered with it for half a
        minute. Its StatefulSet makes it again, and jobs go on meanwhile.
      - A slurmctld that ran without accounting before, and started before slurmdbd answered, does not register by
        itself. Then O(wait) is for the new one, too, and it is a failure if that has not registered either.
      - Without this, the failure says how to do it by hand.
    type: bool
    default: false
  wait:
    description:
      - How many seconds to go on asking until slurmdbd answers, has its database, and slurmctld has registered.
      - Each question is a Job of its own.
    type: float
    default: 300
extends_documentation_fragment:
  - aicr.runtime._attributes.cluster
  - aicr.runtime._attributes
  - aicr.runtime._options.cluster
  - aicr.runtime._options.run
  - aicr.runtime._options.check
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: partial
    details:
      - No Job is run, so slurmdbd is not asked. The API server judges what would be made, without making it
        (C(dryRun=All)). What is not there yet is predicted, with a warning.
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: none
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - The wait is bounded by O(timeout) and O(wait). For many clusters raise C(forks).
notes:
  - RV(ignore:changed) is true if slurmctld was started anew, and never otherwise. What is made in the cluster is
    removed again.
  - The rights that the caller needs are in C(docs/accounting.md). Those that are missing are named before anything is
    made.
seealso:
  - module: aicr.runtime.database_probe
"""

EXAMPLES = r"""
- name: See that accounting works
  aicr.runtime.accounting_check:
    kubeconfig: /srv/kube/eks-slurm.yaml
    namespace: slurm
    name: slurm

- name: See it at once, or fail, with an image from a registry of one's own
  aicr.runtime.accounting_check:
    kubeconfig: /srv/kube/eks-slurm.yaml
    cluster: gpu_west
    image: registry.example.com/mirror/login:26.05-ubuntu26.04
    image_pull_secrets: [mirror]
    wait: 0
"""

RETURN = r"""
summary:
  description: What was found.
  returned: success
  type: dict
  contains:
    cluster:
      description: The name of the cluster that was looked for.
      type: str
      returned: success
      sample: slurm_slurm
    control_host:
      description: The address that slurmctld has registered with, or null before it has.
      type: str
      returned: success
      sample: 10.0.3.17
    outcome:
      description: V(ok), or the name of the failure. Absent in check mode.
      type: str
      returned: when slurmdbd was asked
      sample: ok
findings:
  description: What is wrong. Empty if all is as it should be.
  returned: success
  type: list
  elements: dict
  contains:
    outcome:
      description:
        - Its name. One of V(unreachable), V(unknown-host), V(slurmdbd-without-database), V(key-refused),
          V(not-registered), V(missing-rights), V(unusable-configuration), V(failed).
      type: str
      returned: success
      sample: not-registered
    severity:
      description: V(failure) fails the task.
      type: str
      returned: success
      sample: failure
    message:
      description: What was found.
      type: str
      returned: success
      sample: "slurmdbd slurm/slurm-accounting: knows no cluster slurm_slurm (it knows: none)"
    hint:
      description: The way out.
      type: str
      returned: success
      sample: slurmctld registers itself when it starts; see the log of its pod
warnings:
  description: What could not be looked at, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - "Secret slurm/slurm-auth-slurm: may not be read, so nobody has looked at key slurm.key"
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - The class of the failure, such as V(SERVICE_UNAVAILABLE) for a slurmdbd that does not listen or has no
          database, V(UNAUTHORIZED) for a key that is not accepted, V(NOT_FOUND) for a cluster that has not registered.
      type: str
      returned: failure
      sample: NOT_FOUND
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: "slurmdbd slurm/slurm-accounting: knows no cluster slurm_slurm (it knows: none)"
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: slurmctld registers itself when it starts; see the log of its pod
    details:
      description: Small facts, such as the name of what was found under C(outcome).
      type: dict
      returned: failure
      sample: {outcome: not-registered}
"""
