# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action behind the module check_variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import invalid
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action, secrets
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import CHECK_VARIABLES, Options

with Imports() as imports:  # here and not in make(), so that all forks inherit them
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.variables import (
        PREFIX,
        SPEC,
        Checked,
        check_variables,
    )


class ActionModule(Action):
    spec = CHECK_VARIABLES
    imports = imports
    _task_vars: Mapping[str, Any]

    def run(self, tmp: str | None = None, task_vars: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._task_vars = task_vars or {}
        return super().run(tmp, task_vars)

    def make(self, options: Options) -> Checked:
        names = [name for name in self._task_vars if name.startswith(PREFIX)]
        values = {name: self._value(name) for name in names if name in SPEC}
        self.hidden |= secrets(SPEC, values)
        play: Any = self._task._parent._play
        return check_variables(
            self._task_vars["inventory_hostname"],
            names,
            values,
            options["stages"],
            len(self._task_vars.get("ansible_play_hosts_all", ())),
            play.serial,
            options.environ,
        )

    def _value(self, name: str) -> Any:
        """What a variable holds.

        :raises AicrError: INVALID_REQUEST for one that cannot be had, or is omit, which leaves out options alone.
        """
        hint = "define what it refers to, have it hold null, or leave the variable out"
        try:
            value = self._templar.template(self._task_vars[name])
        except AnsibleError as error:
            raise invalid(f"{name}: {error.message}", hint) from error
        if isinstance(value, str) and value == self._task_vars.get("omit"):  # ansible-core 2.18 makes no error of it
            raise invalid(f"{name}: A template was resolved to an Omit scalar.", hint)
        return value
