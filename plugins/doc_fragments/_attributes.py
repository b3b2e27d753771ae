# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PRIVATE to this collection: how its actions behave."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Can run in C(check_mode) and return changed status prediction without modifying the target.
    support: full
  diff_mode:
    description:
      - Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: full
  idempotent:
    description: When run twice with the same arguments, the second run makes no change and says so.
    support: full
  async:
    description: Supports being used with the C(async) keyword.
    support: none
    details:
      - The action does its work on the controller, in milliseconds. For many clusters raise C(forks).
  connection:
    description: Uses the target's configured connection information to execute code on it.
    support: none
    details:
      - A host of the inventory is a cluster. Nothing is started on it, and no connection is opened.
  action_group:
    description:
      - Use C(group/aicr.runtime.all) in C(module_defaults) to set defaults for all actions of this collection.
      - An action that does not know an option refuses it, so set there what every action of the play takes.
    support: full
    membership:
      - aicr.runtime.all
  platform:
    description: Platform on which the work is done, which is the controller.
    support: full
    platforms: posix
"""

    # Named before the others, whose membership would hide this one.
    CLUSTER = r"""
attributes:
  action_group:
    description:
      - Use C(group/aicr.runtime.cluster) in C(module_defaults) to say which cluster is meant (C(kubeconfig),
        C(context), C(host) and so on) for all actions that take these options.
      - In C(group/aicr.runtime.all) are all actions of this collection. One that does not know an option refuses it,
        so set there what every action of the play takes.
    support: full
    membership:
      - aicr.runtime.all
      - aicr.runtime.cluster
"""
