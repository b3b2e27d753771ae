# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of every action: a task's arguments in, checked options through one stage, a result out."""

from __future__ import annotations

import abc
import os
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase

from ..errors import AicrError, internal, invalid, of_system
from .imports import Imports
from .options import Options, Spec, parse
from .outcome import failed

_CREDENTIALS = (
    "token",
    "password",
    "client-key-data",
    "access-token",
    "id-token",
    "refresh-token",
    "client-secret",
    "proxy-url",
)
_HIDDEN = re.compile("token|secret|password|key", re.IGNORECASE)


class Result(Protocol):
    """What an action has made."""

    def deliver(self, *, check_mode: bool, diff: bool, return_document: bool) -> dict[str, Any]:
        """Write what is to be written, and shape the task's result."""


class Action(ActionBase, abc.ABC):
    """An action that works on the controller and needs no connection to the host, since the host is a cluster.

    :cvar spec: the options.
    :cvar imports: the guarded imports of the file.
    :ivar hidden: the texts that nothing that is returned may hold.
    """

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    spec: ClassVar[Spec]
    imports: ClassVar[Imports] = Imports()

    @abc.abstractmethod
    def make(self, options: Options) -> Result:
        """Make the product of this stage from checked options; write nothing."""

    def _environ(self) -> dict[str, str]:
        """What this process sees, and what the keyword ``environment`` adds for the task."""
        added: dict[str, str] = {}
        if any(self._task.environment or ()):
            self._compute_environment_string(added)
        return {**os.environ, **{str(name): str(value) for name, value in added.items()}}

    def run(self, tmp: str | None = None, task_vars: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One task for one host."""
        del tmp
        self.hidden: set[str] = set()
        try:
            if self._task.async_val:
                raise invalid(
                    f"{self._task.action} does not run asynchronously",
                    "remove async and poll; for many clusters at once raise forks",
                )
            result: dict[str, Any] = super().run(task_vars=task_vars)
            if self.imports.problem is not None:
                raise self.imports.problem
            self.hidden |= secrets(self.spec, self._task.args)
            options = parse(self.spec, self._task.args, self._environ())
            outcome = self.make(options)
            result.update(
                outcome.deliver(
                    check_mode=self._task.check_mode,
                    diff=self._task.diff,
                    return_document=options.values.get("return_document", False),
                )
            )
        except AicrError as error:
            result = failed(error)
        except Exception as error:
            if type(error).__module__.startswith("ansible."):
                raise
            fault = internal(f"{type(error).__name__}: {error}", "this is a fault of aicr.runtime: report it")
            result = failed(of_system(error) if isinstance(error, OSError) else fault)
            result["exception"] = traceback.format_exc()
        masked: dict[str, Any] = remove_values(result, self.hidden) if self.hidden else result
        return masked


def _of_kubeconfig(value: object) -> Iterator[str]:
    """The credentials in a kubeconfig that was handed over instead of named."""
    if isinstance(value, Mapping):
        hidden = _HIDDEN.search(str(value.get("name", ""))) and "value" in value  # a variable of an exec plugin
        for key, item in value.items():
            if isinstance(item, str) and item and (key in _CREDENTIALS or (hidden and key == "value")):
                yield str(item)
            else:
                yield from _of_kubeconfig(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _of_kubeconfig(item)


def secrets(spec: Spec, arguments: object) -> set[str]:
    """Every text in an option with ``no_log``: nothing that is returned may hold it."""
    if not isinstance(arguments, Mapping):
        return set()
    found: set[str] = set()
    for name, option in spec.items():
        if option.get("no_log"):
            found |= set(_texts(arguments.get(name)))
        elif name == "kubeconfig":
            found |= set(_of_kubeconfig(arguments.get(name)))
        elif "options" in option:
            inner = arguments.get(name)
            for one in inner if isinstance(inner, list) else [inner]:
                found |= secrets(option["options"], one)
    return found


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield str(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)
