# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of every plugin, and a task's arguments as checked options.

One specification for each plugin; its documentation says the same (``tests/integration/test_argument_specs.py``).
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.validation import check_type_dict

from ..artifacts.codec import type_name
from ..artifacts.recipe import AccountingMode
from ..cluster.address import scheme
from ..cluster.collectors import TIMEOUTS as COLLECTORS
from ..constraints import nearest
from ..errors import AicrError, invalid, raise_all
from .path import remote_problem
from .plain import plain, text_problem

Spec = Mapping[str, Mapping[str, Any]]
"""Ansible's argument specification."""

FORMATS = ("yaml", "json", "table")
PHASES = ("deployment", "conformance", "performance", "all")

_EVERYWHERE: Spec = {
    "catalog": {"type": "path"},
    "config": {"type": "path"},
}
_DOCUMENT: Spec = {"return_document": {"type": "bool", "default": False}}
_SELECTION: Spec = {
    "criteria": {
        "type": "dict",
        "options": {
            "service": {"type": "str"},
            "accelerator": {"type": "str"},
            "intent": {"type": "str"},
            "os": {"type": "str"},
            "platform": {"type": "str"},
            "nodes": {"type": "int"},
        },
    },
    "snapshot": {"type": "raw"},
    "criteria_strict": {"type": "bool", "default": False},
    "profile": {"type": "str"},
    "slurm_accounting_mode": {"type": "str", "choices": [mode.value for mode in AccountingMode]},
}

CLUSTER: Spec = {
    "kubeconfig": {"type": "raw"},
    "context": {"type": "str"},
    "host": {"type": "str"},
    "api_key": {"type": "str", "no_log": True},
    "ca_cert": {"type": "path"},
    "validate_certs": {"type": "bool"},
    "impersonate_user": {"type": "str"},
    "impersonate_groups": {"type": "list", "elements": "str"},
    "in_cluster": {"type": "bool", "default": False},
}
_FORMAT: Spec = {"format": {"type": "str", "choices": list(FORMATS), "default": "yaml"}}

SNAPSHOT: Spec = {
    **_DOCUMENT,
    **CLUSTER,
    "config": {"type": "path"},
    "collectors": {
        "type": "list",
        "elements": "str",
        "choices": list(COLLECTORS),
        "default": list(COLLECTORS),
    },
    "timeouts": {
        "type": "dict",
        "default": {},
        "options": {name: {"type": "float", "default": seconds} for name, seconds in COLLECTORS.items()},
    },
    "max_nodes_per_entry": {"type": "int", "default": 0},
    "nodes": {"type": "list", "elements": "raw"},
    "on_partial": {"type": "str", "choices": ["accept", "fail"], "default": "accept"},
    "dest": {"type": "path"},
    **_FORMAT,
}
SNAPSHOT_AGENT: Spec = {
    **_DOCUMENT,
    **CLUSTER,
    "namespace": {"type": "str", "default": "default"},
    "nodes": {"type": "list", "elements": "str"},
    "select": {"type": "str", "choices": ["one", "all"], "default": "one"},
    "collectors": {"type": "list", "elements": "str", "choices": ["os", "systemd", "gpu"], "default": ["os", "gpu"]},
    "timeouts": {
        "type": "dict",
        "default": {},
        "options": {name: {"type": "float", "default": 10} for name in ("os", "systemd", "gpu")},
    },
    "timeout": {"type": "float", "default": 300},
    "image": {"type": "str", "default": "docker.io/library/python:3.13-slim"},
    "image_pull_secrets": {"type": "list", "elements": "str"},
    "selinux_type": {"type": "str"},
    "on_partial": {"type": "str", "choices": ["accept", "fail"], "default": "accept"},
    "dest": {"type": "path"},
    **_FORMAT,
}
SNAPSHOT_DIFF: Spec = {
    **_DOCUMENT,
    **CLUSTER,
    "baseline": {"type": "raw", "required": True},
    "target": {"type": "raw", "required": True},
    "fail_on_drift": {"type": "bool", "default": False},
    "dest": {"type": "path"},
    **_FORMAT,
}
SNAPSHOT_LOOKUP: Spec = {**CLUSTER, "snapshot": {"type": "raw", "required": True}}
RECIPE: Spec = {**_EVERYWHERE, **_DOCUMENT, **CLUSTER, **_SELECTION, **_FORMAT, "dest": {"type": "path"}}
RECIPE_LOOKUP: Spec = {**_EVERYWHERE, **_DOCUMENT, **CLUSTER, **_SELECTION, **_FORMAT}
QUERY: Spec = {**_EVERYWHERE, **CLUSTER, **_SELECTION, "format": {"type": "str", "choices": list(FORMATS)}}
VALIDATE: Spec = {
    **_EVERYWHERE,
    **_DOCUMENT,
    **CLUSTER,
    "recipe": {"type": "raw"},
    "snapshot": {"type": "raw"},
    "phases": {"type": "list", "elements": "str", "choices": list(PHASES)},
    "skip_checks": {"type": "list", "elements": "str"},
    "fail_on_error": {"type": "bool", "default": True},
    "dest": {"type": "path"},
    "format": {"type": "str", "choices": list(FORMATS), "default": "json"},
}
BUNDLE: Spec = {
    **_EVERYWHERE,
    **_DOCUMENT,
    **CLUSTER,
    "recipe": {"type": "raw"},
    "dest": {"type": "path"},
    "deployer": {"type": "str", "choices": ["helm", "argocd"], "default": "helm"},
    "values": {"type": "dict"},
    "set": {"type": "list", "elements": "str"},
    "set_json": {"type": "list", "elements": "str"},
    "set_file": {"type": "list", "elements": "str"},
    "dynamic": {"type": "list", "elements": "str"},
    "components": {"type": "list", "elements": "str"},
    "scheduling": {
        "type": "dict",
        "options": {
            "system_node_selector": {"type": "dict"},
            "system_node_tolerations": {"type": "list", "elements": "str"},
            "accelerated_node_selector": {"type": "dict"},
            "accelerated_node_tolerations": {"type": "list", "elements": "str"},
            "workload_selector": {"type": "dict"},
            "workload_gate": {"type": "str"},
            "nodes": {"type": "int"},
            "storage_class": {"type": "str"},
            "shared_storage_class": {"type": "str"},
        },
    },
    "repo": {"type": "str"},
    "target_revision": {"type": "str"},
    "serial": {"type": "bool", "default": False},
    "argocd": {
        "type": "dict",
        "options": {
            "app_name": {"type": "str"},
            "name_prefix": {"type": "str"},
            "destination_server": {"type": "str"},
            "project": {"type": "str"},
            "cascade_delete": {"type": "bool"},
        },
    },
}
RECIPE_LIST: Spec = {
    "catalog": {"type": "path"},
    "criteria": {
        "type": "dict",
        "options": {axis: {"type": "str"} for axis in ("service", "accelerator", "intent", "os", "platform")},
    },
    "leaves_only": {"type": "bool", "default": False},
    "health": {"type": "bool", "default": True},
}
CONVERT: Spec = {
    **_DOCUMENT,
    **CLUSTER,
    "source": {"type": "raw", "required": True},
    "track": {"type": "str", "choices": ["alpha", "stable"]},
    "dest": {"type": "path"},
    "format": {"type": "str", "choices": ["yaml", "json"], "default": "yaml"},
}
CHECK_VARIABLES: Spec = {
    "stages": {
        "type": "list",
        "elements": "str",
        "choices": [
            "host_snapshot",
            "snapshot",
            "snapshot_agent",
            "recipe",
            "validate",
            "bundle",
            "deploy",
            "waves",
            "uninstall",
            "verify",
            "drift",
        ],
        "required": True,
    }
}
BUNDLE_VERIFY: Spec = {**_DOCUMENT, "path": {"type": "path", "required": True}, "digest": {"type": "str"}}


@dataclass(frozen=True)
class Options:
    """Checked options of builtins.

    :ivar values: every option of the specification, with its default where nothing was given.
    :ivar given: the names of those that somebody gave; a default must not contradict a configuration file.
    :ivar environ: the environment that the task sees, which may say which cluster is meant.
    """

    values: Mapping[str, Any]
    given: frozenset[str]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def stated(self, name: str) -> Any:
        """The value that somebody gave, or ``None``."""
        return self.values[name] if name in self.given else None


_YEAR = 365 * 24 * 3600


def parse(spec: Spec, arguments: Mapping[str, object], environ: Mapping[str, str] | None = None) -> Options:
    """A task's or a lookup's arguments as options; null says as much as leaving the option out.

    :param environ: the environment, where it is not this process's.
    :raises AicrError: INVALID_REQUEST with every unknown option, wrong type, empty text, and value that is no choice.
    """
    stated = _stated(spec, {str(name): plain(value, str(name)) for name, value in arguments.items()})
    raise_all(_problems(spec, stated, ""))
    result = ArgumentSpecValidator(copy.deepcopy(dict(spec))).validate(stated)  # which writes into defaults
    raise_all(invalid(message) for message in result.error_messages)
    return Options(
        values={name: _without_nulls(spec[name], value) for name, value in result.validated_parameters.items()},
        given=frozenset(stated),
        environ=os.environ if environ is None else environ,
    )


def _stated(spec: Spec, values: Mapping[str, object]) -> dict[str, object]:
    """What somebody said; an option that nobody knows is kept, so that it is refused whatever it says."""
    return {
        name: _read(spec.get(name, {}), value)
        for name, value in values.items()
        if value is not None or name not in spec
    }


def _read(option: Mapping[str, Any], value: object) -> object:
    """A value in the form that its option has, where Ansible would read text as one, but with less care.

    One text where a list is due is its only item: Ansible would cut it at every comma, also within JSON.
    """
    kind = option.get("type")
    if kind == "list" and isinstance(value, str) and value.strip():
        return [value]
    if kind == "dict" and isinstance(value, str):
        with contextlib.suppress(TypeError):  # it stays text, which is refused
            value = plain(check_type_dict(value), "mapping")
    if "options" in option and isinstance(value, dict):
        return _stated(option["options"], value)
    if "options" in option and isinstance(value, list):
        return [_stated(option["options"], item) if isinstance(item, dict) else item for item in value]
    return value


def _problems(spec: Spec, values: Mapping[str, object], parent: str) -> list[AicrError]:
    """Unknown names, and values that Ansible would turn into text, a number or an empty mapping without a word."""
    problems: list[AicrError | None] = []
    for name, value in values.items():
        path = f"{parent}{name}"
        if name not in spec:
            problems.append(unknown("option", path, name, spec))
        elif isinstance(value, dict) and "options" in spec[name]:
            problems += _problems(spec[name]["options"], value, f"{path}.")
        elif isinstance(value, list) and spec[name].get("type") == "list":
            for index, item in enumerate(value):
                if isinstance(item, dict) and "options" in spec[name]:
                    problems += _problems(spec[name]["options"], item, f"{path}[{index}].")
                else:
                    kind = spec[name].get("elements")
                    problems.append(_value_problem(kind, item, f"{path}[{index}]", spec[name].get("options", ())))
        else:
            kind = spec[name].get("type")
            problems.append(_value_problem(kind, value, path, spec[name].get("options", ())))
    return [problem for problem in problems if problem]


def unknown(what: str, path: str, name: str, known: Iterable[str]) -> AicrError:
    """The refusal of a name that is none of the known ones, with the one that was probably meant."""
    part = (one for one in sorted(known) if one.startswith(name) or name.startswith(one))
    meant = nearest(name, known) or next(part, None)
    return invalid(
        f'unknown {what} "{path}"', f'did you mean "{meant}"?' if meant else f"known here: {', '.join(sorted(known))}"
    )


def _value_problem(kind: object, value: object, path: str, keys: Iterable[str]) -> AicrError | None:
    if kind == "path" and isinstance(value, str) and not (path.endswith("dest") and scheme(value) == "cm"):
        return text_problem(value, path) or remote_problem(value, path)
    if kind in ("str", "path") or isinstance(value, str):
        return text_problem(value, path) or _form_problem(kind, value, path, keys)
    return _form_problem(kind, value, path, keys)


def _form_problem(kind: object, value: object, path: str, keys: Iterable[str]) -> AicrError | None:
    """Whether a value has the form of its kind.

    :param keys: of a mapping, where they are known.
    """
    hints = {"dict": f"its keys are {', '.join(sorted(keys))}"} if keys else {}
    if kind == "int" and isinstance(value, (bool, float)):
        return invalid(f"{path}: must be a whole number, not {value}")
    if kind == "float" and isinstance(value, bool):
        return invalid(f"{path}: must be a number, not {value}")
    if kind == "float" and isinstance(value, (str, int, float)):
        return _seconds_problem(value, path)
    for form, kind_of_value, noun in (("list", list, "a list"), ("dict", dict, "a mapping")):
        if kind == form and not isinstance(value, kind_of_value):
            return invalid(f"{path}: must be {noun}, not {type_name(value)}", hints.get(form, ""))
    return None


def _seconds_problem(value: str | float, path: str) -> AicrError | None:
    """Whether a number can be waited for: Python, Go and the kernel have limits of their own. Other text is refused
    where it is read."""
    try:
        seconds = float(value)
    except OverflowError:
        seconds = float("inf")
    except ValueError:
        return None
    if not abs(seconds) <= _YEAR:
        return invalid(f"{path}: {str(value)[:20]} is no number of seconds", f"name at most {_YEAR}, which is a year")
    if "timeout" in path and seconds <= 0:
        return invalid(f"{path}: {seconds:g} s is no time to do anything in", "name seconds above 0")
    if seconds < 0:
        return invalid(f"{path}: {seconds:g} s is less than no time", "name seconds, or 0 for not at all")
    return None


def _without_nulls(option: Mapping[str, Any], value: object) -> object:
    """Mappings of options without those that nobody gave, which Ansible adds as nulls."""
    if "options" in option and isinstance(value, dict):
        return {name: item for name, item in value.items() if item is not None}
    if "options" in option and isinstance(value, list):
        return [_without_nulls(option, item) for item in value]
    return value
