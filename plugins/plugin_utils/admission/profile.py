# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A selected profile against the recipe that carries it (spec/engine.md section 6, *Contract check*)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..artifacts import versions
from ..artifacts.recipe import ComponentRef, RecipeResult, SelectedProfile
from ..errors import AicrError, invalid
from ..inventory import is_enabled
from ..ownership.paths import segments
from ..ownership.profile import EXTERNAL, NAME, NAME_FORM, PRESENCE
from .coherence import KUSTOMIZE

_AGAIN = "generate the recipe again"


def profile_problems(recipe: RecipeResult) -> Iterator[AicrError]:
    """Profile against version and components; what it owns must stand in the recipe itself, not in a file beside it."""
    profile = recipe.metadata.selected_profile if recipe.metadata else None
    if profile is None:
        return
    named = f"metadata.selectedProfile {profile.name}={profile.value}"
    if recipe.api_version not in versions.STRICT_TRACK:
        yield invalid(
            f'{named} stands in a recipe of apiVersion "{recipe.api_version}", which does not carry it',
            _AGAIN,
            apiVersion=recipe.api_version,
        )
    yield from _form_problems(profile, named)
    for component, paths in profile.owned_paths.items():
        ref = recipe.component(component)
        if ref is None or not is_enabled(ref):
            state = "disabled" if ref else "missing"
            yield invalid(f'{named} needs component "{component}", which is {state}', _AGAIN, component=component)
        else:
            yield from _path_problems(ref, paths, named)


def _form_problems(profile: SelectedProfile, named: str) -> Iterator[AicrError]:
    if not NAME.fullmatch(profile.name) or not NAME.fullmatch(profile.value):
        yield invalid(f"{named}: is no name and value of a profile", NAME_FORM)
    if profile.advertiser not in (None, EXTERNAL):
        yield invalid(f'{named}: advertiser is "{profile.advertiser}", must be "{EXTERNAL}" or absent', _AGAIN)
    if not profile.owned_paths:
        yield invalid(f"{named} owns no paths", _AGAIN)
    for component, paths in profile.owned_paths.items():
        if list(paths) != sorted(set(paths)) or PRESENCE not in paths:
            yield invalid(
                f'{named}: the owned paths of "{component}" are not sorted, not unique or lack "{PRESENCE}"',
                _AGAIN,
                component=component,
            )


def _path_problems(ref: ComponentRef, paths: Sequence[str], named: str) -> Iterator[AicrError]:
    values = [path for path in paths if path != PRESENCE]
    if values and ref.type == KUSTOMIZE:
        yield invalid(
            f'{named} owns values of component "{ref.name}", which is of type {KUSTOMIZE} and has none',
            _AGAIN,
            component=ref.name,
        )
        return
    for path in values:
        fault = _fault(ref.overrides or {}, path)
        if fault:
            yield invalid(
                f"{named} owns {ref.name}:{path}, {fault}",
                f"{_AGAIN}; what a profile owns is not inherited from a values file",
                component=ref.name,
                path=path,
            )


def _fault(overrides: Mapping[str, object], path: str) -> str | None:
    found: object = overrides
    for key in segments(path):
        if not isinstance(found, Mapping):
            return f'which cannot lie there: what stands above "{key}" is no mapping'
        if key not in found:
            return "which the recipe's overrides do not set"
        found = found[key]
    return None
