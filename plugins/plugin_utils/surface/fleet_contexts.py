# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contexts of kubeconfigs that a fleet file asks for, and the names of their hosts."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..artifacts.codec import type_name
from ..cluster.contexts import contexts
from ..errors import AicrError, invalid, not_found
from .options import Spec
from .variables import MAX_BYTES

KUBECONFIGS: Spec = {
    "path": {"type": "str", "required": True},
    "include": {"type": "list", "elements": "str"},
    "exclude": {"type": "list", "elements": "str"},
    "hostname": {"type": "str"},
}
"""How hosts are found in kubeconfigs; options of their clusters stand beside these."""

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")
_ANSIBLES_GROUPS = ("all", "ungrouped")
_TEMPLATE = re.compile(r"\{[{%#]")


@dataclass(frozen=True)
class Context:
    """A context of a kubeconfig that some entry asks for.

    :ivar entry: the position of the entry in ``kubeconfigs``.
    :ivar cluster: what the kubeconfig calls the cluster.
    """

    entry: int
    kubeconfig: str
    context: str
    cluster: str


NameOf = Callable[[str, Mapping[str, str]], object]
"""Evaluates a Jinja2 expression."""


def find(index: int, pattern: str, how: Mapping[str, Any]) -> list[Context]:
    """The contexts that an entry asks for.

    :param index: its position.
    :param pattern: the path of its kubeconfigs, with a folder to start in.
    :param how: the entry.
    :raises AicrError: nothing matches, or a file is no kubeconfig.
    """
    files = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    if not files:
        raise not_found(f"{pattern}: no such file", "paths start where the fleet file is; ~ and $NAME are known")
    seen: list[str] = []
    found: list[Context] = []
    for path in files:
        try:
            of_file = contexts(Path(path))
        except AicrError as error:
            hint = f"let the pattern match kubeconfigs alone; {error.hint}" if path != pattern else error.hint
            raise AicrError(error.code, error.message, hint.rstrip("; ")) from error
        seen += of_file
        found += [Context(index, path, name, cluster) for name, cluster in of_file.items() if _is_wanted(name, how)]
    if not found:
        raise not_found(
            f"{pattern}: include and exclude leave no context",
            f"there are: {', '.join(sorted(set(seen))[:20]) or 'none'}",
        )
    return found


def _is_wanted(context: str, how: Mapping[str, Any]) -> bool:
    included = any(fnmatchcase(context, pattern) for pattern in how.get("include") or ["*"])
    return included and not any(fnmatchcase(context, pattern) for pattern in how.get("exclude") or [])


def is_template(value: object) -> bool:
    """Whether Ansible would evaluate any text in a value."""
    if isinstance(value, str):
        return bool(_TEMPLATE.search(value))
    if isinstance(value, Mapping):
        return any(is_template(item) for item in value.values())
    return isinstance(value, list) and any(is_template(item) for item in value)


def host_name(one: Context, expression: str | None, name_of: NameOf) -> str:
    """The name of a context's host: what follows its last slash, unless there is an expression.

    :raises AicrError: INVALID_REQUEST
    """
    place = f'context "{one.context}" of {one.kubeconfig}'
    if is_template(one.context) or is_template(one.kubeconfig):
        raise invalid(f"{place}: Ansible would take it for a template", "rename it, or leave it out (exclude)")
    name: object = one.context.rpartition("/")[2]
    if expression is not None:
        facts = {
            "context": one.context,
            "cluster": one.cluster,
            "kubeconfig": one.kubeconfig,
            "file": os.path.basename(one.kubeconfig).partition(".")[0] or os.path.basename(one.kubeconfig),
        }
        name = name_of(expression, facts)
    if not isinstance(name, str):
        raise invalid(f"{place}: hostname must give text, not {type_name(name)}")
    problem = name_problem(name)
    if problem:
        raise invalid(f"{place}: {problem.message}", f"{problem.hint}; hostname makes another of it")
    return str.__str__(name)


def name_problem(name: str) -> AicrError | None:
    """What keeps a name from being one of a host and of a folder, and from standing in a pattern of hosts."""
    if name in _ANSIBLES_GROUPS:
        return invalid(f'"{name}" cannot be the name of a host: every inventory has a group of that name', "rename it")
    if _HOST.fullmatch(name) and len(name) <= MAX_BYTES:
        return None
    return invalid(
        f'"{name}" cannot be the name of a host',
        f"ASCII letters, digits and . _ - @, at most {MAX_BYTES}, with a letter, a digit or _ at the beginning",
    )
