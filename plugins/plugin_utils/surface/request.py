# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a task's options and a configuration file (AICRConfig) become one request.

An option and a field that say different things are refused: nobody should have to know which of two files won.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import yamlio
from ..artifacts.config import Config, config_from_document
from ..errors import AicrError, invalid, raise_all
from .destination import refuse_inputs
from .options import Options, Spec
from .path import expanded
from .source import refuse_remote


@dataclass(frozen=True)
class Field:
    """A field of a configuration file: its path, its value, and how two spellings of one value compare."""

    path: str
    value: object
    normal: Callable[[Any], object] = lambda value: value


def read_config(options: Options) -> Config | None:
    """The configuration file that the option ``config`` names.

    :raises AicrError: NOT_FOUND, or INVALID_REQUEST for what is not an AICRConfig; it names file and field.
    """
    path = options["config"]
    if path is None:
        return None
    refuse_remote(path, "config")
    return config_from_document(yamlio.load_file(Path(path)), path)


def word(text: str) -> str:
    """A word out of a closed list, as configuration files may spell it."""
    return text.strip().lower()


def place(path: str) -> str:
    """A path, whatever way it is written."""
    return str(expanded(path).absolute())


_PLACES = (
    "say it in one of the two places; the playbooks of this collection say it themselves, by aicr_artifacts_dir, "
    "aicr_recipe and aicr_snapshot"
)


def request(options: Options, spec: Spec, fields: Mapping[str, Field]) -> dict[str, Any]:
    """The values of all options, those of the configuration file among them.

    :param fields: by the option that means the same (``criteria.service`` within a mapping); a field that is absent
        has the value ``None``.
    :raises AicrError: INVALID_REQUEST with every disagreement and every field that is none of an option's choices, or
        for a destination that the task also reads.
    """
    values = {name: dict(value) if isinstance(value, dict) else value for name, value in options.values.items()}
    problems: list[AicrError] = []
    for name, field in fields.items():
        if field.value is None:
            continue
        head, _unused, tail = name.partition(".")
        stated = (options.stated(head) or {}).get(tail) if tail else options.stated(head)
        choices = _choices(spec, name)
        value = field.normal(field.value) if choices else field.value
        wrong = [item for item in (value if isinstance(value, list) else [value]) if choices and item not in choices]
        if wrong:
            problems.append(
                invalid(f'{options["config"]}: {field.path}: "{wrong[0]}" is not one of {", ".join(choices)}')
            )
        elif stated is not None and field.normal(stated) != field.normal(field.value):
            problems.append(
                invalid(
                    f"the option {name}{_shown(stated)} disagrees with {field.path}{_shown(field.value)} "
                    f"in {options['config']}",
                    _PLACES if name in ("recipe", "snapshot", "dest") else "say it in one of the two places",
                    option=name,
                    field=field.path,
                )
            )
        elif stated is None and tail:
            values[head] = {**(values[head] or {}), tail: value}
        elif stated is None:
            values[name] = value
    raise_all(problems)
    refuse_inputs(values)
    return values


def unsupported(config: str, fields: Mapping[str, object]) -> None:
    """Refuse fields that ask for what this release does not do; a default such as ``false`` asks for nothing.

    :raises AicrError: INVALID_REQUEST with every such field.
    """
    raise_all(
        invalid(f"{config}: {path} has no effect in this release", "remove it from the file")
        for path, value in fields.items()
        if _asks(value)
    )


def _asks(value: object) -> bool:
    return any(map(_asks, value.values())) if isinstance(value, Mapping) else bool(value)


def _choices(spec: Spec, name: str) -> list[str]:
    head, _unused, tail = name.partition(".")
    option = spec[head].get("options", {}).get(tail, {}) if tail else spec[head]
    return list(option.get("choices", ()))


def _shown(value: object) -> str:
    """A value for a message; not that of an override or a document, which may hold what nobody should read."""
    return f" ({value})" if isinstance(value, (str, int)) else ""
