# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders of a bundle, the same for every deployer: ``NNN-component[-pre|-post]`` (spec/engine.md 4.5).

A folder is one Helm release: of an upstream chart, or of a local one whose templates are the component's manifests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import PurePosixPath

from .. import yamlio
from ..artifacts.recipe import ComponentRef, RecipeResult
from ..errors import AicrError, invalid, raise_all
from ..inventory import RuntimeInventory
from .manifest import Manifest
from .value_path import ABSENT, Path, Values, drop, find, put

MAX_FOLDERS = 999
MAX_RELEASE = 53
"""Helm takes no longer name for a release."""


class Phase(IntEnum):
    """The place of a folder among those of its component; the value is its offset in a wave."""

    PRE = 0
    PRIMARY = 1
    POST = 2

    @property
    def suffix(self) -> str:
        """What the folder and the release have at the end of their names."""
        return {Phase.PRE: "-pre", Phase.PRIMARY: "", Phase.POST: "-post"}[self]


@dataclass(frozen=True)
class Chart:
    """An upstream chart.

    :ivar repository: its address; for OCI it begins with ``oci://``.
    :ivar version: as the recipe writes it, possibly with a ``v``.
    """

    name: str
    repository: str
    version: str

    @property
    def is_oci(self) -> bool:
        """Whether the chart comes from a registry rather than from an index of charts."""
        return self.repository.startswith("oci://")

    @property
    def address(self) -> str:
        """The whole address in a registry."""
        return f"{self.repository.rstrip('/')}/{self.name}"


@dataclass(frozen=True)
class Folder:
    """One Helm release of a bundle.

    :ivar level: depth of the component in the dependencies, from 0.
    :ivar values: what the bundle fixes.
    :ivar cluster_values: what stands open for the installation.
    :ivar chart: the upstream chart; ``None`` for a local one.
    :ivar templates: the files of the local chart by name.
    """

    number: int
    component: str
    phase: Phase
    namespace: str
    level: int
    values: Values
    cluster_values: Values
    chart: Chart | None = None
    templates: Mapping[str, str] | None = None

    @property
    def release(self) -> str:
        """The name of the Helm release."""
        return self.component + self.phase.suffix

    @property
    def path(self) -> str:
        """The folder's name."""
        return f"{self.number:03d}-{self.release}"


def split_dynamic(values: Values, paths: Iterable[Path]) -> tuple[Values, Values]:
    """Move dynamic paths out of values; one that is not there stands open as empty text."""
    open_values: Values = {}
    for path in sorted(paths, key=len):
        held = find(values, path)
        if held is not ABSENT:
            values = drop(values, path)
        elif find(open_values, path) is not ABSENT:
            continue
        open_values = put(open_values, path, "" if held is ABSENT else held)
    return values, open_values


def lay_out(
    recipe: RecipeResult,
    inventory: RuntimeInventory,
    values: Mapping[str, Values],
    dynamic: Mapping[str, list[Path]],
    manifests: Iterable[Manifest],
) -> tuple[Folder, ...]:
    """All folders in the order in which they are installed.

    :param manifests: those that apply, ready to be templates of a local chart.
    :raises AicrError: INVALID_REQUEST: a folder's name is taken by another component, two manifests of one folder have
        the same name, a component is neither a chart nor manifests, more than 999 folders.
    """
    by_folder: dict[tuple[str, Phase], list[Manifest]] = {}
    for manifest in manifests:
        by_folder.setdefault((manifest.component, Phase.PRE if manifest.pre else Phase.POST), []).append(manifest)
    problems: list[AicrError] = []
    folders: list[Folder] = []
    declared = {ref.name for ref in recipe.component_refs}
    for ref in inventory.components:
        problems += _component_problems(ref)
        fixed, left_open = split_dynamic(values[ref.name], dynamic.get(ref.name, ()))
        for phase, chart, files in _parts(ref, by_folder):
            templates = None if chart else dict(_templates(ref, files, problems))
            folder = Folder(
                len(folders) + 1,
                ref.name,
                phase,
                ref.namespace or "default",
                inventory.level_of(ref.name),
                fixed,
                left_open,
                chart,
                templates,
            )
            if phase is not Phase.PRIMARY and folder.release in declared:
                problems.append(
                    invalid(
                        f'component "{ref.name}" has manifests for a release "{folder.release}", but a component '
                        "of that name is declared as well",
                        "rename the other component",
                        component=ref.name,
                    )
                )
            if len(folder.release) > MAX_RELEASE:
                problems.append(
                    invalid(
                        f'component "{ref.name}" has manifests for a release "{folder.release}", whose name is longer '
                        f"than the {MAX_RELEASE} characters that Helm takes",
                        "give the component a shorter name",
                        component=ref.name,
                    )
                )
            folders.append(folder)
    if len(folders) > MAX_FOLDERS:
        problems.append(
            invalid(
                f"the bundle would have {len(folders)} folders, more than {MAX_FOLDERS}",
                "bundle fewer components at a time, with components",
            )
        )
    raise_all(problems)
    return tuple(folders)


def _parts(
    ref: ComponentRef,
    by_folder: Mapping[tuple[str, Phase], list[Manifest]],
) -> Iterator[tuple[Phase, Chart | None, list[Manifest]]]:
    before, after = by_folder.get((ref.name, Phase.PRE)), by_folder.get((ref.name, Phase.POST))
    if before:
        yield Phase.PRE, None, before
    if ref.source:
        yield Phase.PRIMARY, upstream_chart(ref), []
        if after:
            yield Phase.POST, None, after
    elif after:
        yield Phase.PRIMARY, None, after


def upstream_chart(ref: ComponentRef) -> Chart:
    """The chart that a component refers to; only the last part of its name counts."""
    return Chart((ref.chart or ref.name).rpartition("/")[2], ref.source or "", ref.version or "")


def chart_identity(ref: ComponentRef) -> tuple[str, str]:
    """Name and version by which manifests know their chart: without a leading ``v``, 0.1.0 if there is none."""
    chart = upstream_chart(ref)
    return chart.name, chart.version.removeprefix("v") or "0.1.0"


def _templates(
    ref: ComponentRef, manifests: Iterable[Manifest], problems: list[AicrError]
) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for manifest in manifests:
        name = PurePosixPath(manifest.path).name
        if name in seen:
            problems.append(
                invalid(
                    f'component "{ref.name}": manifests {seen[name]} and {manifest.path} would be one file',
                    "rename one of them",
                    component=ref.name,
                )
            )
        seen[name] = manifest.path
        yield f"templates/{name}", manifest.text


def _component_problems(ref: ComponentRef) -> Iterator[AicrError]:
    if ref.tag or ref.path or (ref.type or "").lower() == "kustomize":
        yield invalid(
            f'component "{ref.name}" is a kustomization, which this release does not bundle',
            "leave it out with components, or use its chart",
            component=ref.name,
        )


def local_chart(folder: Folder) -> str:
    """``Chart.yaml`` of a local chart."""
    return yamlio.dump(
        {
            "apiVersion": "v2",
            "name": folder.release,
            "description": f"The manifests of {folder.component} as a chart.",
            "type": "application",
            "version": "0.1.0",
            "appVersion": "0.1.0",
        }
    )
