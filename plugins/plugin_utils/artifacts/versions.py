# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every ``apiVersion`` and ``kind`` that is read or written; no other file names one (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import AicrError, invalid

RELEASE = "0.1.0"
"""This release, as galaxy.yml has it (a test holds them equal); stands in the header of what is written."""

GROUP = "aicr.run"
ALPHA2, ALPHA3 = f"{GROUP}/v1alpha2", f"{GROUP}/v1alpha3"
V1, BETA1, BETA2 = f"{GROUP}/v1", f"{GROUP}/v1beta1", f"{GROUP}/v1beta2"

SNAPSHOT, RECIPE, OVERLAY, MIXIN, REGISTRY = (
    "Snapshot",
    "RecipeResult",
    "RecipeMetadata",
    "RecipeMixin",
    "ComponentRegistry",
)
CONFIG, CRITERIA, BUNDLE_INFO = "AICRConfig", "RecipeCriteria", "BundleInfo"

WRITTEN_SNAPSHOT = WRITTEN_PLAIN_RECIPE = ALPHA2
WRITTEN_STRICT_RECIPE = ALPHA3
WRITTEN_BUNDLE_INFO = V1
CATALOG_OF_VALIDATORS = "validator.nvidia.com/v1alpha1"

STRICT_TRACK = (ALPHA3, BETA2)
"""A recipe with ``configuration`` or a selected profile, and an overlay that declares one: decoded strictly."""
PLAIN_TRACK = (ALPHA2, V1)
AUTHORING_TRACK = (ALPHA2, BETA1)

_READ: Mapping[str, tuple[str, ...]] = {
    SNAPSHOT: PLAIN_TRACK,
    CRITERIA: PLAIN_TRACK,
    RECIPE: PLAIN_TRACK + STRICT_TRACK,
    CONFIG: AUTHORING_TRACK,
    REGISTRY: AUTHORING_TRACK,
    MIXIN: AUTHORING_TRACK,
    OVERLAY: AUTHORING_TRACK + STRICT_TRACK,
}
_MAY_BE_EMPTY = (SNAPSHOT, CRITERIA, RECIPE)
_WAY_OUT: Mapping[str, str] = {
    SNAPSHOT: "take the snapshot again with this release",
    RECIPE: "generate the recipe again with this release",
}


ALPHA, STABLE = TRACKS = ("alpha", "stable")
"""The two spellings of a version: what this release writes, and what the reference writes since its v1.0.0."""


def on_track(kind: str, api_version: str, track: str) -> str:
    """A version that is read for a kind, as the other track spells it; one that is there already stays.

    :param track: one of :data:`TRACKS`.
    """
    of_kind = _READ[kind]
    pairs = [tuple(of_kind[start : start + 2]) for start in range(0, len(of_kind), 2)]
    pair = next(pair for pair in pairs if api_version in pair)
    return pair[TRACKS.index(track)]


def kinds() -> tuple[str, ...]:
    """The kinds that have two tracks."""
    return tuple(_READ)


def read(kind: str) -> tuple[str, ...]:
    """The versions of a kind that are read."""
    return _READ[kind]


def is_strict(api_version: str) -> bool:
    """Whether documents of this version are decoded strictly."""
    return api_version in STRICT_TRACK


def version_problem(kind: str, api_version: object, source: str) -> AicrError | None:
    """What is wrong with a document's ``apiVersion``, if anything (spec/engine.md 1.13).

    An empty one passes where older artifacts had none; an unknown or newer one never does.
    """
    if api_version in _READ[kind] or (api_version in (None, "") and kind in _MAY_BE_EMPTY):
        return None
    expected = " or ".join(f'"{version}"' for version in _READ[kind])
    return invalid(
        f'{source}: {kind} has apiVersion "{api_version}", which this release does not read (expected {expected})',
        _WAY_OUT.get(kind, "set one of the expected values"),
        source=source,
        apiVersion=str(api_version),
    )
