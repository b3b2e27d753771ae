# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths into a document, as queries write them (spec/engine.md 1.14, spec/surface.md 1.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..errors import AicrError, invalid, not_found

_STEP = re.compile(r"""\[(?P<index>\d+)\]|\[?"(?P<double>[^"]*)"\]?|\[?'(?P<single>[^']*)'\]?|(?P<key>[^.\[\]"']*)""")


def select(document: object, selector: str) -> object:
    """What stands at a path; the whole document for an empty one or ``.``.

    Keys are separated by dots, a leading dot is optional. A key with a dot goes in quotes
    (``limits."nvidia.com/gpu"``); an element of a list is a number (``deploymentOrder.0`` or ``deploymentOrder[0]``).

    :raises AicrError: NOT_FOUND with the keys that there are; INVALID_REQUEST for a selector that cannot be read.
    """
    found = document
    for step in _steps(selector):
        found = _descend(found, step, selector)
    return found


def _steps(selector: str) -> list[str]:
    text = selector.removeprefix(".")
    steps: list[str] = []
    position = 0
    while position < len(text):
        if text[position] == ".":
            position += 1
            if position == len(text) or text[position] == ".":
                steps.append("")
            continue
        step = _STEP.match(text, position)
        if step is None or step.end() == position:
            raise invalid(
                f'selector "{selector}" cannot be read from "{text[position:]}" on',
                "separate keys by dots and quote a key that has one",
                selector=selector,
            )
        steps.append(next(group for group in step.groups() if group is not None))
        position = step.end()
    return steps


def _descend(found: object, step: str, selector: str) -> object:
    if isinstance(found, Mapping):
        if step in found:
            return found[step]
        raise _absent(selector, step, [str(key) for key in found])
    if isinstance(found, Sequence) and not isinstance(found, str):
        if step.isdecimal() and int(step) < len(found):
            return found[int(step)]
        raise not_found(
            f'selector "{selector}": the list has {len(found)} elements and no "{step}"',
            "elements are counted from 0",
            selector=selector,
        )
    raise not_found(
        f'selector "{selector}": "{step}" cannot be looked up in a single value', "leave it out", selector=selector
    )


def _absent(selector: str, step: str, keys: list[str]) -> AicrError:
    dotted = [key for key in keys if key.startswith(step + ".")] if step else []
    hint = f'quote a key with dots: "{dotted[0]}"' if dotted else f"available keys: {', '.join(sorted(keys))}"
    return not_found(
        f'selector "{selector}": there is no key "{step}"', hint, selector=selector, available=sorted(keys)
    )
