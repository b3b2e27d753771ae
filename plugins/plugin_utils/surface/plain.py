# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's values as the builtins that the engine knows.

Ansible hands over tagged or unsafe subclasses of text, mappings and lists; the engine tests ``type(x)``. Ansible's own
YAML reader also turns some unquoted text into something else before anybody can look (1.30, no, 2026-11-30), so what
cannot be the author's text any more is refused here, by name.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from ..artifacts.codec import key_problem, type_name
from ..errors import AicrError, invalid


def plain(value: object, name: str) -> object:
    """A value made of ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and ``None`` alone.

    :param name: what to call the value in a message: the option, then the path within it.
    :raises AicrError: INVALID_REQUEST: a key that is not text, a date, a type that no document can hold.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {_key(key, name): plain(item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(item, f"{name}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, (datetime.date, datetime.time)):
        raise invalid(f"{name}: {value} is a date to Ansible's YAML reader where text is due", "write it in quotes")
    raise invalid(f"{name}: is of type {type(value).__name__}, which no document can hold")


def text_problem(value: object, name: str) -> AicrError | None:
    """What is wrong with a plain value where text is due; nothing is ever turned into text by itself.

    Ansible would: ``1.30`` becomes ``1.3``, ``no`` becomes ``False``, a list becomes its Python spelling. Empty text is
    no text: a variable that was meant to hold something usually stands behind it.
    """
    if value is None:
        return None
    if isinstance(value, str):
        if not value.strip():
            return invalid(f"{name}: must not be empty", "leave it out, or say something")
        return invalid(f"{name}: holds a NUL character", "remove it") if "\0" in value else None
    hint = (
        "write it in quotes; to YAML 1.30 is the number 1.3, and no is false" if isinstance(value, (int, float)) else ""
    )
    return invalid(f"{name}: must be text, not {type_name(value)}", hint)


def _key(key: object, name: str) -> str:
    problem = key_problem(key)
    if problem:
        raise invalid(f"{name}: {problem[0]}", problem[1])
    return str.__str__(key)
