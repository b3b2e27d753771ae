# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a task's options and a configuration file (AICRConfig) become one request: what an option says counts.

Where the file says something else, a warning tells it: nobody should have to guess which of the two won.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import yamlio
from ..artifacts import codec
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


@dataclass(frozen=True)
class Request(Mapping[str, Any]):
    """The values of all options.

    :ivar overruled: a warning for each field of the configuration file that an option contradicts.
    """

    by_name: Mapping[str, Any]
    overruled: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)


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


def request(options: Options, spec: Spec, fields: Mapping[str, Field]) -> Request:
    """The values of all options, those of the configuration file among them where no option says something.

    :param fields: by the option that means the same (``criteria.service`` within a mapping); a field that is absent
        has the value ``None``.
    :raises AicrError: INVALID_REQUEST with every field that is none of an option's choices, or for a destination that
        the task also reads.
    """
    values = {name: dict(value) if isinstance(value, dict) else value for name, value in options.values.items()}
    problems: list[AicrError] = []
    overruled: list[str] = []
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
            overruled.append(
                f"the option {name}{_shown(stated)} counts, not {field.path}{_shown(field.value)} in "
                f"{options['config']}"
            )
        elif stated is None and tail:
            values[head] = {**(values[head] or {}), tail: value}
        elif stated is None:
            values[name] = value
    raise_all(problems)
    refuse_inputs(values)
    return Request(values, tuple(overruled))


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
    value = codec.encode(value)
    return any(map(_asks, value.values())) if isinstance(value, Mapping) else bool(value)


def _choices(spec: Spec, name: str) -> list[str]:
    head, _unused, tail = name.partition(".")
    option = spec[head].get("options", {}).get(tail, {}) if tail else spec[head]
    return list(option.get("choices", ()))


def _shown(value: object) -> str:
    """A value for a message; not that of an override or a document, which may hold what nobody should read."""
    return f" ({value})" if isinstance(value, (str, int)) else ""
