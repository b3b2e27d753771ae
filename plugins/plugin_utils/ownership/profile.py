# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration profiles: what a selected one owns, and what of a bundle it locks (ADR-015, spec/engine.md section 6).

The path model is that of :mod:`paths`, the override policy is the profile's own: an override that says the same passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..artifacts.recipe import SelectedProfile
from ..errors import invalid
from .paths import Ownership, intersects

NAME = re.compile(r"[A-Za-z0-9._-]+")
"""A profile's name, and the name of one of its values."""
NAME_FORM = "letters, digits, dots, hyphens and underscores"
EXTERNAL = "external"
"""The advertiser that is none of the recipe's components: somebody else hands out the GPUs."""
PRESENCE = "enabled"
"""The path that is owned with every component: a profile's component cannot be switched off."""
GATES = (PRESENCE, "install")
"""The paths that decide whether a component runs, which is no choice of a profile."""

_DEVICE_PLUGIN = ("devicePlugin.enabled",)
_DRA = ("resources.gpus.enabled", "gpuResourcesEnabledOverride")
ALLOCATION: Mapping[str, tuple[str, ...]] = {
    "gpu-operator": _DEVICE_PLUGIN,
    "gpu-operator-ocp": _DEVICE_PLUGIN,
    "nvidia-dra-driver-gpu": _DRA,
    "nvidia-dra-driver-gpu-ocp": _DRA,
}
"""The paths by which a component hands out GPUs."""


def parse_selection(text: str) -> tuple[str, str]:
    """The name and the value in ``name=value``.

    :raises AicrError: INVALID_REQUEST for anything else; blanks are no part of either.
    """
    name, _unused, value = text.partition("=")
    if text.count("=") != 1 or not NAME.fullmatch(name) or not NAME.fullmatch(value):
        raise invalid(
            f'profile "{text}" is not of the form name=value', f"name and value are {NAME_FORM}", profile=text
        )
    return name, value


def leaf_paths(overrides: Mapping[str, object] | None, prefix: str = "") -> Iterator[str]:
    """The path of everything in overrides that is no mapping, in their order."""
    for key, value in (overrides or {}).items():
        if isinstance(value, Mapping):
            yield from leaf_paths(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def owned_paths(overrides: Iterable[tuple[str, Mapping[str, object] | None]]) -> dict[str, tuple[str, ...]]:
    """What a profile owns, given what its values set on which component; the presence of each of these as well."""
    owned: dict[str, set[str]] = {}
    for component, values in overrides:
        owned.setdefault(component, {PRESENCE}).update(leaf_paths(values))
    return {component: tuple(sorted(owned[component])) for component in sorted(owned)}


def profile_ownership(profile: SelectedProfile) -> Ownership:
    """What a selected profile owns."""
    return Ownership(f"profile {profile.name}={profile.value}", profile.owned_paths)


def lock(profile: SelectedProfile, enabled: Iterable[str]) -> Ownership:
    """What a bundle must leave as the recipe has it: what the profile owns, and maybe who hands out the GPUs.

    The latter if somebody outside of the recipe does so, or if the profile owns one of the paths that decide over it.

    :param enabled: the components that the recipe runs.
    """
    locked = {component: set(paths) for component, paths in profile.owned_paths.items()}
    decides = any(
        intersects(path, selector)
        for component, paths in profile.owned_paths.items()
        for path in paths
        for selector in ALLOCATION.get(component, ())
    )
    if decides or profile.advertiser == EXTERNAL:
        for component in ALLOCATION.keys() & set(enabled):
            locked.setdefault(component, set()).update((*ALLOCATION[component], PRESENCE))
    return Ownership(
        profile_ownership(profile).owner,
        {component: tuple(sorted(locked[component])) for component in sorted(locked)},
    )
