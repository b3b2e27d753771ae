# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the module of the same name look at the host, and make a Snapshot of what it saw here, on the controller."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.modules.host_snapshot import ARGUMENT_SPEC
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Options
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import Outcome

with Imports() as imports:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import invalid, raise_all
    from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.host_facts import host_snapshot


class ActionModule(Action):
    """The one action that needs a connection: its host is a node."""

    _requires_connection = True
    spec = ARGUMENT_SPEC
    imports = imports
    _task_vars: Mapping[str, Any] | None = None
    _facts: Mapping[str, Any] | None = None  # which Python the host has, so that no later task looks again

    def run(self, tmp: str | None = None, task_vars: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._task_vars = task_vars
        result = super().run(tmp, task_vars)
        if self._facts:
            result["ansible_facts"] = self._facts
        return result

    def make(self, options: Options) -> Outcome:
        _check(options)
        asked = {name: options[name] for name in ("collectors", "timeouts", "root")}
        observed = self._execute_module(module_args=asked, task_vars=self._task_vars)
        self._facts = observed.get("ansible_facts")
        dest = options["dest"]
        return host_snapshot(observed, None if dest is None else Path(dest), options["on_partial"])


def _check(options: Options) -> None:
    problems = []
    if not options["collectors"]:
        problems.append(invalid("collectors: none is named", "name some of os, systemd, gpu"))
    if not os.path.isabs(options["root"]):
        problems.append(invalid(f'root: "{options["root"]}" is a relative path', "write it from / on"))
    raise_all(problems)
