# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of a release: how several files become one, and in which paths two of them differ.

Helm is given the merged values, so what was compared is what it gets. They are read as everything here is, by YAML 1.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import yamlio
from ..artifacts.codec import type_name
from ..catalog import merge_overrides
from ..errors import invalid

_SHORTEST_SECRET = 4
_ABSENT = object()


def merged(files: Sequence[Path], over: Mapping[str, Any]) -> dict[str, Any]:
    """What the files say, the later ones over the earlier ones, and something over all of them.

    A ``null`` stays: it is for Helm, which deletes its chart's default.

    :raises AicrError: INVALID_REQUEST for a file that holds something else than a mapping; NOT_FOUND without the file.
    """
    values: Mapping[str, Any] = {}
    for file in files:
        document = yamlio.load_file(file)
        if not isinstance(document, dict | None):
            raise invalid(f"{file}: holds {type_name(document)} where values are due", "values are a mapping")
        values = merge_overrides(values, document or {})
    return dict(merge_overrides(values, over))


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The paths in which values differ, sorted; to Helm 1 and 1.0 are the same, and true is neither."""
    return sorted(_differing(_as_stored(one), _as_stored(other), ""))


def texts(values: object) -> frozenset[str]:
    """Every text, line of a text and number in values that is long enough to be looked for in other texts."""
    return frozenset(text for text in _texts(values) if len(text) >= _SHORTEST_SECRET)


def formerly_private(
    installed: Mapping[str, Any], values: Mapping[str, Any], private: Mapping[str, Any]
) -> frozenset[str]:
    """Every text in the values of what is installed that is shown nowhere: it stands where something private stands
    now, or where nothing stands any more, as something private may have stood there."""
    return texts(list(_once_private(installed, values, private)))


def _once_private(installed: Any, values: Any, private: Any) -> Iterator[object]:
    if not isinstance(installed, Mapping):
        if private is not _ABSENT or values is _ABSENT:
            yield installed
        return
    for key, item in installed.items():
        yield from _once_private(
            item, *(one.get(key, _ABSENT) if isinstance(one, Mapping) else one for one in (values, private))
        )


def _as_stored(values: Mapping[str, Any]) -> Any:
    """Values as Helm keeps them: as JSON, and every number as a float."""
    return json.loads(json.dumps(values), parse_int=float)


def _differing(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            deeper = f"{path}.{key}" if path else key
            yield from _differing(one.get(key, _ABSENT), other.get(key, _ABSENT), deeper)
    elif isinstance(one, bool) is not isinstance(other, bool) or one != other:
        yield path
    elif isinstance(one, list) and json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        yield path  # a boolean in there equals a number, too


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        yield from (line.strip() for line in value.splitlines())  # in YAML each stands in a place of its own
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield f"{value:.15g}"
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
