# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold between the files of a catalog; a problem is noted at the file and line that refers to the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..artifacts import codec
from ..artifacts.recipe import PHASES, ComponentRef
from ..constraints import nearest
from ..errors import AicrError, Code, not_found
from ..inventory import deployment_order
from .overlay import BASE, Mixin, Overlay
from .provider import Provider
from .registry import RegistryDocument

T = TypeVar("T")


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """One document of a catalog and where to note what is wrong with it."""

    content: T
    reading: codec.Reading
    external: bool


def check_registries(registries: Iterable[Loaded[RegistryDocument]], provider: Provider) -> None:
    """Files that components name exist; a name or alias stands for one component."""
    owners: dict[str, str] = {}
    for layer in registries:
        components = layer.content.components
        replaced = {component.name for component in components}
        owners = {alias: name for alias, name in owners.items() if name not in replaced}
        for index, component in enumerate(components):
            at: codec.Path = ("components", index)
            if component.health_check and component.health_check.assert_file:
                _check_file(
                    component.health_check.assert_file, layer.reading, (*at, "healthCheck", "assertFile"), provider
                )
            for number, path in enumerate(component.manifest_files):
                _check_file(path, layer.reading, (*at, "manifestFiles", number), provider)
            for number, rule in enumerate(component.manifests):
                _check_file(rule.path, layer.reading, (*at, "manifests", number, "path"), provider)
            for place, alias in component.aliases():
                owner = owners.setdefault(alias, component.name)
                if owner != component.name:
                    layer.reading.refuse(
                        (*at, *place), f'"{alias}" stands for component "{owner}"', "aliases are unique"
                    )


def check_mixins(mixins: Sequence[Loaded[Mixin]], provider: Provider) -> None:
    """Names are unique, and files that mixins name exist."""
    _check_names(mixins, "mixin")
    for each in mixins:
        _check_files(each.content.component_refs, each.reading, provider)


def check_overlays(
    overlays: Sequence[Loaded[Overlay]],
    mixins: Iterable[Loaded[Mixin]],
    checks: Mapping[str, str],
    unreadable: AbstractSet[str],
    provider: Provider,
) -> list[AicrError]:
    """There is a base; parents, mixins, files and checks exist; no circle; no two overlays for the same criteria.

    :param checks: the phase of each check by its name; none if there is no list of checks to hold the names against.
    :param unreadable: names in files with problems of their own, which nobody is blamed for referring to.
    :returns: problems that stand in no file.
    """
    _check_names(overlays, "overlay")
    by_name = {each.content.name: each.content for each in overlays}
    known_mixins = {each.content.name for each in mixins}
    for each in overlays:
        overlay, reading = each.content, each.reading
        if overlay.name == BASE:
            _check_base(overlay, reading)
        elif overlay.parent not in by_name and overlay.parent not in unreadable and overlay.parent != BASE:
            _refuse_unknown(reading, ("spec", "base"), "overlay", str(overlay.parent), by_name)
        elif overlay.name in _ancestors(overlay, by_name):
            reading.refuse(
                ("spec", "base"),
                f'overlay "{overlay.name}" builds on itself by way of "{overlay.base}"',
                "break the circle",
            )
        elif overlay.profile:
            _check_one_profile(overlay, reading, by_name)
        for index, name in enumerate(overlay.mixins):
            if name not in known_mixins and name not in unreadable:
                _refuse_unknown(reading, ("spec", "mixins", index), "mixin", name, known_mixins)
        _check_files(overlay.component_refs, reading, provider)
        if checks:
            check_checks(overlay, reading, checks)
    _check_criteria(overlays, by_name)
    if BASE in by_name or BASE in unreadable:
        return []
    return [not_found(f'{provider.root}: has no overlay "{BASE}", on which all others build', "add overlays/base.yaml")]


def check_components(
    overlays: Iterable[Loaded[Overlay]], mixins: Iterable[Loaded[Mixin]], registered: Iterable[str]
) -> None:
    """Every name of a component means one: it is registered, or some reference says where it comes from."""
    loaded: list[Loaded[Overlay] | Loaded[Mixin]] = [*overlays, *mixins]
    known = {*registered}
    known.update(ref.name for each in loaded for ref in each.content.component_refs if _has_origin(ref))
    for each in loaded:
        for at, name in _component_names(each.content):
            if name not in known:
                _refuse_unknown(each.reading, at, "component", name, known, Code.INVALID_REQUEST)


def _has_origin(ref: ComponentRef) -> bool:
    return bool(ref.source or ref.chart or ref.path or ref.manifest_files)


def _component_names(content: Overlay | Mixin) -> Iterator[tuple[codec.Path, str]]:
    for index, ref in enumerate(content.component_refs):
        yield ("spec", "componentRefs", index, "name"), ref.name
        for number, dependency in enumerate(ref.dependency_refs or ()):
            yield ("spec", "componentRefs", index, "dependencyRefs", number), dependency
    profile = content.profile if isinstance(content, Overlay) else None
    for value, choice in profile.values.items() if profile else ():
        for index, owned in enumerate(choice.component_refs):
            yield ("spec", "profile", "values", value, "componentRefs", index, "name"), owned.name


def _check_names(loaded: Iterable[Loaded[Overlay]] | Iterable[Loaded[Mixin]], what: str) -> None:
    sources: dict[str, str] = {}
    for each in loaded:
        name, source = each.content.name, each.content.source
        if name in sources:
            each.reading.refuse(
                ("metadata", "name"),
                f'{what} "{name}" is already defined in {sources[name]}',
                "give it a name of its own",
            )
        sources.setdefault(name, source)


def _check_base(base: Overlay, reading: codec.Reading) -> None:
    for key in ("base", "criteria"):
        if getattr(base, key) is not None:
            reading.refuse(
                ("spec", key), f'the overlay "{BASE}" is part of every recipe and can have no {key}', "remove it"
            )
    try:
        deployment_order(base.component_refs)
    except AicrError as error:
        reading.refuse(("spec", "componentRefs"), error.message, error.hint)


def _ancestors(overlay: Overlay, by_name: Mapping[str, Overlay]) -> set[str]:
    """The names of all that an overlay builds on; its own is among them if they go in a circle."""
    found: set[str] = set()
    parent = overlay.parent
    while parent is not None and parent not in found:
        found.add(parent)
        parent = by_name[parent].parent if parent in by_name else None
    return found


def _check_criteria(overlays: Iterable[Loaded[Overlay]], by_name: Mapping[str, Overlay]) -> None:
    """Two overlays for the same criteria would both apply, in the order of their names; one may refine the other."""
    first: dict[tuple[tuple[str, str], ...], list[Overlay]] = {}
    for each in overlays:
        overlay = each.content
        if overlay.criteria is None:
            continue
        others = first.setdefault(tuple(overlay.criteria.stated().items()), [])
        for other in others:
            related = overlay.name in _ancestors(other, by_name) or other.name in _ancestors(overlay, by_name)
            if not related and other.name != overlay.name:
                each.reading.refuse(
                    ("spec", "criteria"),
                    f'overlay "{overlay.name}" is for the same {overlay.criteria} as "{other.name}" in {other.source}',
                    f'change the criteria, or build on the other with "base: {other.name}" to refine it',
                )
                break
        others.append(overlay)


def _check_one_profile(overlay: Overlay, reading: codec.Reading, by_name: Mapping[str, Overlay]) -> None:
    """A recipe has one profile, so that two on one chain can make none."""
    for name in sorted(_ancestors(overlay, by_name)):
        if name in by_name and by_name[name].profile:
            reading.refuse(
                ("spec", "profile"),
                f'overlay "{overlay.name}" builds on "{name}", which declares a configuration profile already',
                "declare it in one of the two",
            )


def check_checks(overlay: Overlay, reading: codec.Reading, checks: Mapping[str, str]) -> None:
    """Every check that an overlay names is one of the catalog, in its own phase.

    :param checks: the phase of each check by its name.
    """
    for phase in PHASES:
        stated = getattr(overlay.validation, phase, None)
        for index, name in enumerate((stated.checks if stated else None) or ()):
            at: codec.Path = ("spec", "validation", phase, "checks", index)
            if name not in checks:
                _refuse_unknown(reading, at, "check", name, checks, Code.INVALID_REQUEST)
            elif checks[name] != phase:
                reading.refuse(
                    at, f'check "{name}" belongs to the phase {checks[name]}', f"list it under {checks[name]}"
                )


def _check_files(refs: Iterable[ComponentRef], reading: codec.Reading, provider: Provider) -> None:
    for index, ref in enumerate(refs):
        at: codec.Path = ("spec", "componentRefs", index)
        if ref.values_file:
            _check_file(ref.values_file, reading, (*at, "valuesFile"), provider)
        for key, paths in (("manifestFiles", ref.manifest_files), ("preManifestFiles", ref.pre_manifest_files)):
            for number, path in enumerate(paths or ()):
                _check_file(path, reading, (*at, key, number), provider)


def _check_file(path: str, reading: codec.Reading, at: codec.Path, provider: Provider) -> None:
    if not provider.has(path):
        _refuse_unknown(reading, at, "file", path, provider.paths)


def _refuse_unknown(
    reading: codec.Reading, at: codec.Path, what: str, name: str, known: Iterable[str], code: Code = Code.NOT_FOUND
) -> None:
    meant = nearest(name, known)
    reading.problems.append(
        AicrError(
            code,
            f'{reading.place(at)}: the catalog has no {what} "{name}"',
            f'did you mean "{meant}"?' if meant else f"correct the name or add the {what}",
            {"path": codec.dotted(at), "source": reading.source},
        )
    )
