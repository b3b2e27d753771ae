# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes every task's result as a line of JSON to $AICR_RECORD, for tests that look at what a callback gets."""

from __future__ import annotations

import json
import os
import time

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: record
type: notification
short_description: Write results for tests
description: Writes every result as a line of JSON.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "record"

    def _record(self, status, outcome):
        line = {
            "at": time.time(),
            "status": status,
            "host": outcome._host.get_name(),
            "task": outcome._task.get_name(),
            "result": outcome._result,
        }
        with open(os.environ["AICR_RECORD"], "a", encoding="utf-8") as record:
            record.write(json.dumps(line, default=str) + "\n")

    def v2_runner_on_ok(self, result):
        self._record("ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._record("failed", result)

    def v2_runner_on_skipped(self, result):
        self._record("skipped", result)

    def v2_runner_on_unreachable(self, result):
        self._record("unreachable", result)
