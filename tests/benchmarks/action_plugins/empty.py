# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The yardstick of a task: an action plugin that does nothing."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

READ = {
    "path": ".",
    "cluster": True,
    "waves": {"canary": False, "budget": 1, "serial": False},
    "failures": [],
}
"""What the playbooks read of the results of our actions; fleet.py puts this one in their place."""


class ActionModule(ActionBase):
    """Returns at once, so what its task takes is Ansible's own."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        return {**super().run(tmp, task_vars), "changed": False, **READ}
