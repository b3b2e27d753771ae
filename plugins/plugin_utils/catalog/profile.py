# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration profile that an overlay declares: its form (spec/engine.md section 6)."""

# pylint: disable=unidiomatic-typecheck  # to isinstance() a boolean is an integer, and a subclass is a builtin
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..artifacts import codec
from ..artifacts.recipe import Constraint
from ..ownership.profile import EXTERNAL, GATES, NAME, NAME_FORM, leaf_paths
from .stated import check_constraints

_EXACT = 2**53 - 1
"""The largest whole number that every program that reads a recipe keeps as it is."""


@dataclass(frozen=True)
class ProfileComponent:
    """What one profile value sets on one component."""

    name: str
    overrides: Mapping[str, object] | None = None


@dataclass(frozen=True)
class ProfileValue:
    """One choice of a profile."""

    advertiser: str | None = None
    constraints: tuple[Constraint, ...] = ()
    readiness_constraints: tuple[Constraint, ...] = ()
    component_refs: tuple[ProfileComponent, ...] = ()


@dataclass(frozen=True)
class Profile:
    """A configuration profile that an overlay declares."""

    name: str
    default: str
    values: Mapping[str, ProfileValue]
    description: str | None = None


def check_profile(profile: Profile, reading: codec.Reading) -> None:
    """Note everything that makes a declaration ambiguous: names, its default, what its values set.

    Every value sets the same paths, so that choosing another one leaves nothing of the first behind.
    """
    at: codec.Path = ("spec", "profile")
    for place, name in [(("name",), profile.name), *((("values", value), value) for value in profile.values)]:
        if not NAME.fullmatch(str(name)):
            reading.refuse((*at, *place), f'"{name}" is no profile name', NAME_FORM)
    if profile.default not in profile.values:
        reading.refuse(
            (*at, "default"),
            f'profile "{profile.name}" has the default "{profile.default}", which is none of its values',
            f"values: {', '.join(map(str, profile.values))}",
        )
    if len({str(value).lower() for value in profile.values}) < len(profile.values):
        reading.refuse((*at, "values"), f'profile "{profile.name}" has values that differ in case alone')
    for value, choice in profile.values.items():
        _check_value(choice, reading, (*at, "values", value))
    _check_totality(profile, reading, at)


def _check_value(choice: ProfileValue, reading: codec.Reading, at: codec.Path) -> None:
    check_constraints(choice.constraints, reading, (*at, "constraints"))
    check_constraints(choice.readiness_constraints, reading, (*at, "readinessConstraints"))
    if choice.advertiser not in (None, "", EXTERNAL):
        reading.refuse((*at, "advertiser"), f'is "{choice.advertiser}", must be "{EXTERNAL}" or absent')
    names = [ref.name for ref in choice.component_refs]
    for index, ref in enumerate(choice.component_refs):
        inside: codec.Path = (*at, "componentRefs", index)
        if ref.name in names[:index]:
            reading.refuse((*inside, "name"), f'component "{ref.name}" is referenced twice')
        for gate in GATES:
            if gate in (ref.overrides or {}):
                reading.refuse((*inside, "overrides", gate), "a profile cannot switch a component on or off")
        for path, what, hint in _faults(ref.overrides or {}, ()):
            reading.refuse((*inside, "overrides", *path), what, hint)


def _faults(value: object, path: codec.Path) -> Iterator[tuple[codec.Path, str, str]]:
    """What cannot be owned by its path, or is not the same value for whoever reads it."""
    if isinstance(value, Mapping):
        if not value and path:
            yield path, "is an empty mapping, which sets nothing", "name what the profile sets, or leave it out"
        for key, item in value.items():
            if not isinstance(key, str) or not key or "." in key:
                yield (*path, str(key)), f'"{key}" can be no step of an owned path', "keys are text without dots"
            else:
                yield from _faults(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, Mapping) or item:
                yield from _faults(item, (*path, index))
    elif type(value) is int and abs(value) > _EXACT:
        yield path, "is a number that not every program keeps as it is", "write it in quotes"


def _check_totality(profile: Profile, reading: codec.Reading, at: codec.Path) -> None:
    sets = {value: _set_paths(choice) for value, choice in profile.values.items()}
    union = set().union(*sets.values())
    for value, paths in sets.items():
        missing = sorted(union - paths)
        if missing:
            reading.refuse(
                (*at, "values", value),
                f'profile value "{value}" does not set {", ".join(missing)}, which another value sets',
                "every value of a profile sets the same paths",
            )


def _set_paths(choice: ProfileValue) -> set[str]:
    return {f"{ref.name}:{path}" for ref in choice.component_refs for path in leaf_paths(ref.overrides)}
