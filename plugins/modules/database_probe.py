# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: database_probe
short_description: Find out whether a database is fit for Slurm accounting, before slurmdbd needs it
version_added: 0.1.0
author:
  - AICR Runtime contributors (@aicr)
description:
  - Runs a Job in the namespace of Slurm that logs in to the database as slurmdbd will, reads what slurmdbd needs to
    find there, and says by name what is not as it should be. slurmdbd itself only writes C(mysql_real_connect failed)
    into a log, again and again, or listens although it lacks a right that it needs later.
  - The Job reads and changes nothing. It has no ServiceAccount token and no rights, runs a stock image of MariaDB as a
    user without privileges, and is removed afterwards, also after a failure. What a run has left that was killed is
    removed by the next one, or by the cluster itself.
  - The password comes to the pod by a reference to its Secret. It is in no argument of any process, no log and no
    result. Neither is a grant, in which MariaDB shows the hash of the password.
  - Before anything is made, the Secret must be there, and hold a password that survives the way to slurmdbd and to the
    database.
options:
  database:
    description: The database, in the words of C(accounting.storageConfig) of the chart of Slurm.
    type: dict
    required: true
    suboptions:
      host:
        description: Its name, or its address. It must be the same machine from every node.
        type: str
        required: true
      port:
        description: Its port.
        type: int
        default: 3306
      database:
        description: The name of the database in the server.
        type: str
        default: slurm_acct_db
      username:
        description: The user.
        type: str
        default: slurm
      password_secret:
        description: Where the password is, in O(namespace).
        type: dict
        required: true
        suboptions:
          name:
            description: The name of the Secret.
            type: str
            required: true
          key:
            description: The key of the password in it.
            type: str
            default: password
  slurm_accounting_mode:
    description: Whose database it is. It makes a difference for the hints alone.
    type: str
    choices: [customer-managed, aicr-provided]
    default: customer-managed
  tls:
    description: How to log in.
    type: dict
    default: {}
    suboptions:
      mode:
        description:
          - V(disabled) logs in in clear text, as slurmdbd does without a CA.
          - V(required) logs in with TLS and verifies the server's certificate and its name, as slurmdbd does with
            C(StorageParameters=SSL_CA=…). Then it tries to log in in clear text, which the server should refuse, since
            slurmdbd itself does not insist on TLS. That it is let in is a warning.
          - V(preferred) takes TLS if there is any, and verifies nothing. slurmdbd never does this. It is for a
            diagnosis.
        type: str
        choices: [disabled, preferred, required]
        default: disabled
      ca_secret:
        description: The Secret with the certificates of the CA, in O(namespace).
        type: dict
        suboptions:
          name:
            description: Its name.
            type: str
            required: true
          key:
            description: The key of the certificates in it.
            type: str
            default: ca.crt
      ca_config_map:
        description: The ConfigMap with the certificates of the CA, in place of O(tls.ca_secret).
        type: dict
        suboptions:
          name:
            description: Its name.
            type: str
            required: true
          key:
            description: The key of the certificates in it.
            type: str
            default: ca.crt
  image:
    description: An image with C(bash), C(timeout) and the client C(mariadb), version 11.4 or newer.
    type: str
    default: mariadb:11.8.8
  wait:
    description:
      - How many seconds to go on looking while the server cannot be reached, its name is not known, or it takes no
        further connection. A database may come up later than the cluster.
      - Each look is a Job of its own. Nothing else is waited for.
    type: float
    default: 0
  grace:
    description:
      - How many seconds to go on looking while the login is refused. The server may take a moment to learn a password
        that was just rotated. A server may also lock an account that fails too often.
    type: float
    default: 0
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
      - No Job is run, so the database is not looked at. The API server judges what would be made, without making it
        (C(dryRun=All)). A namespace or a Secret that is not there yet is predicted, with a warning.
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: none
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - The wait is bounded by O(timeout), O(wait) and O(grace). For many clusters raise C(forks).
notes:
  - RV(ignore:changed) is never true. What is made in the cluster is removed again.
  - The rights that the caller needs are in C(docs/accounting.md). Those that are missing are named before anything is
    made. To read the Secret is no need, but without it nobody looks at the password's form.
seealso:
  - module: aicr.runtime.accounting_check
"""

EXAMPLES = r"""
- name: Look at the customer's database before Slurm is installed
  aicr.runtime.database_probe:
    kubeconfig: /srv/kube/eks-slurm.yaml
    namespace: slurm
    database:
      host: accounting.db.example.com
      username: slurm
      password_secret: {name: slurm-db, key: password}
    tls:
      mode: required
      ca_secret: {name: slurm-db-ca}

- name: Wait for a database that comes up late, on nodes that are tainted
  aicr.runtime.database_probe:
    kubeconfig: /srv/kube/eks-slurm.yaml
    database:
      host: mariadb
      password_secret: {name: mariadb-password}
    slurm_accounting_mode: aicr-provided
    tolerations:
      - {key: dedicated, operator: Equal, value: system, effect: NoSchedule}
    wait: 300
    grace: 30
"""

RETURN = r"""
summary:
  description: What was looked at, and how it is.
  returned: success
  type: dict
  contains:
    host:
      description: The host of the database.
      type: str
      returned: success
      sample: accounting.db.example.com
    port:
      description: Its port.
      type: int
      returned: success
      sample: 3306
    database:
      description: The name of the database.
      type: str
      returned: success
      sample: slurm_acct_db
    username:
      description: The user.
      type: str
      returned: success
      sample: slurm
    tls:
      description: How the login was made.
      type: str
      returned: success
      sample: required
    outcome:
      description: V(ok), or the name of the first failure. Absent in check mode.
      type: str
      returned: when the database was looked at
      sample: ok
findings:
  description: Everything that was found, failures first. Empty if all is as it should be.
  returned: success
  type: list
  elements: dict
  contains:
    outcome:
      description:
        - Its name. One of V(unreachable), V(unknown-host), V(too-many-connections), V(wrong-password),
          V(account-unusable), V(host-refused), V(tls-required), V(tls-unavailable), V(tls-unverifiable),
          V(clear-text-accepted), V(read-only), V(no-right-on-database), V(missing-database), V(missing-rights),
          V(unsuitable-settings), V(unsuitable-server), V(not-upgraded), V(unreadable), V(failed).
      type: str
      returned: success
      sample: missing-rights
    severity:
      description: V(failure) fails the task, V(warning) and V(info) do not.
      type: str
      returned: success
      sample: failure
    message:
      description: What was found.
      type: str
      returned: success
      sample: >-
        database accounting.db.example.com:3306: user slurm lacks rights on slurm_acct_db: CREATE ROUTINE, EXECUTE
    hint:
      description: The way out.
      type: str
      returned: success
      sample: GRANT ALL PRIVILEGES ON `slurm_acct_db`.* TO 'slurm'@'%'
warnings:
  description: Findings that do not fail the task, and what could not be looked at, one sentence each.
  returned: when there are any
  type: list
  elements: str
  sample:
    - >-
      database mariadb:3306: innodb_lock_wait_timeout is 50, of which slurmdbd complains below 450 (set
      innodb_lock_wait_timeout=900)
error:
  description: What went wrong, in a form for programs.
  returned: failure
  type: dict
  contains:
    code:
      description:
        - The class of the failure, such as V(SERVICE_UNAVAILABLE) for a server that cannot be reached, V(UNAUTHORIZED)
          for a refused login or missing rights, V(NOT_FOUND) for a missing Secret or database, V(TIMEOUT) for a Job
          that did not answer in time, V(CONFLICT) for a server that is not fit.
      type: str
      returned: failure
      sample: UNAUTHORIZED
    message:
      description: What is wrong, naming the offender.
      type: str
      returned: failure
      sample: >-
        database accounting.db.example.com:3306: user slurm lacks rights on slurm_acct_db: CREATE ROUTINE, EXECUTE
    hint:
      description: The way out.
      type: str
      returned: failure
      sample: GRANT ALL PRIVILEGES ON `slurm_acct_db`.* TO 'slurm'@'%'
    details:
      description: Small facts, such as the name of what was found under C(outcome).
      type: dict
      returned: failure
      sample: {outcome: missing-rights}
"""
