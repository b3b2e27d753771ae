# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read all files of a catalog; every problem of every file is noted where it stands and raised at the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from .. import yamlio
from ..artifacts import codec, versions
from ..errors import AicrError, invalid, raise_all
from .coherence import Loaded, check_components, check_mixins, check_overlays, check_registries
from .effect import files_without_effect
from .overlay import Mixin, Overlay, decode_mixin, decode_overlay
from .provider import MAX_BYTES, REGISTRY, VALIDATORS, Provider, read_text
from .registry import Registry, decode_registry
from .validators import ValidatorEntry, decode_validators

T = TypeVar("T")

_OVERLAYS, _MIXINS = "overlays/", "mixins/"
_CONTENT = ("components/", "checks/", VALIDATORS, REGISTRY)
_OTHER_KINDS = (
    versions.SNAPSHOT,
    versions.RECIPE,
    versions.REGISTRY,
    versions.CONFIG,
    versions.CRITERIA,
    versions.BUNDLE_INFO,
)
_KINDS = sorted((versions.OVERLAY, versions.MIXIN, *_OTHER_KINDS))
_OF_OUR_GROUP = re.compile(rf"^apiVersion:\s*[\"']?{re.escape(versions.GROUP)}/", re.MULTILINE)


@dataclass(frozen=True)
class Parts:
    """What a catalog is made of; mappings are by name and sorted."""

    registry: Registry
    overlays: Mapping[str, Overlay]
    mixins: Mapping[str, Mixin]
    validators: tuple[ValidatorEntry, ...]
    external_overlays: frozenset[str]


def read(provider: Provider) -> Parts:
    """All parts of a catalog.

    :raises AicrError: every problem of every file at once, with file and line.
    """
    files = _Files(provider)
    registries = files.layers(REGISTRY, decode_registry)
    validators = files.layers(VALIDATORS, decode_validators)
    overlays, mixins = files.overlays_and_mixins()
    components = {each.name: each for layer in registries for each in layer.content.components}
    checks = {each.name: each for layer in validators for each in layer.content.validators}
    phases = {check.name: check.phase for check in checks.values()}
    check_registries(registries, provider)
    check_mixins(mixins, provider)
    # A list that could not be read is no reason to doubt the names that stand in it.
    complete = len(validators) == len(provider.layers(VALIDATORS))
    files.problems += check_overlays(overlays, mixins, phases if complete else {}, files.unreadable, provider)
    if len(registries) == len(provider.layers(REGISTRY)):
        check_components(overlays, mixins, components)
    raise_all([*files.problems, *(problem for reading in files.readings for problem in reading.problems)])
    contents: list[Overlay | Mixin] = [each.content for each in overlays]
    contents += [each.content for each in mixins]
    refs = [ref for content in contents for ref in content.component_refs]
    raise_all(files_without_effect(provider, components.values(), refs))
    return Parts(
        registry=Registry(components.values()),
        overlays={each.content.name: each.content for each in sorted(overlays, key=lambda each: each.content.name)},
        mixins={each.content.name: each.content for each in sorted(mixins, key=lambda each: each.content.name)},
        validators=tuple(checks.values()),
        external_overlays=frozenset(each.content.name for each in overlays if each.external),
    )


class _Files:
    """Reads the documents of a catalog and remembers what is wrong with them.

    ``unreadable`` has the names in files with problems, so that whoever refers to them is not blamed as well.
    """

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.problems: list[AicrError] = []
        self.readings: list[codec.Reading] = []
        self.unreadable: set[str] = set()

    def layers(self, path: str, decode: Callable[[object, codec.Reading], T | None]) -> list[Loaded[T]]:
        """The documents of one path that are merged by name, the root's first."""
        loaded: list[Loaded[T]] = []
        for external, file in enumerate(self.provider.layers(path)):
            if opened := self._open(file):
                document, reading = opened
                _keep(loaded, decode(document, reading), reading, bool(external))
        return loaded

    def overlays_and_mixins(self) -> tuple[list[Loaded[Overlay]], list[Loaded[Mixin]]]:
        """All overlays and mixins; the root's first, so that a clash is reported in the file that was laid over it."""
        overlays: list[Loaded[Overlay]] = []
        mixins: list[Loaded[Mixin]] = []
        for path in sorted(self.provider.paths, key=lambda path: (self.provider.is_external(path), path)):
            external = self.provider.is_external(path)
            opened = self._open(self.provider.file(path)) if self._may_be_ours(path) else None
            if opened is None:
                continue
            document, reading = opened
            kind = self._kind(path, document, reading)
            if kind == versions.OVERLAY:
                _keep(overlays, decode_overlay(document, reading), reading, external)
            elif kind == versions.MIXIN:
                _keep(mixins, decode_mixin(document, reading), reading, external)
            if reading.problems:
                self.unreadable.add(_name_of(document) or Path(path).stem)
        return overlays, mixins

    def _open(self, file: Path) -> tuple[object, codec.Reading] | None:
        try:
            text = read_text(file)
            document = yamlio.load(text, str(file), MAX_BYTES)
        except AicrError as error:
            self.problems.append(error)
            self.unreadable.add(file.stem)
            return None
        reading = codec.Reading(str(file), locate=partial(yamlio.line_of, text))
        self.readings.append(reading)
        return document, reading

    def _may_be_ours(self, path: str) -> bool:
        """Overlays and mixins have their folders; elsewhere a document counts that calls itself ours by its version."""
        if path.endswith(".yml") and path.startswith((_OVERLAYS, _MIXINS)):
            self.problems.append(invalid(f"{self.provider.file(path)}: is not read", "let its name end in .yaml"))
        if not path.endswith(".yaml") or path.startswith(_CONTENT):
            return False
        if path.startswith((_OVERLAYS, _MIXINS)):
            return True
        try:
            return _OF_OUR_GROUP.search(self.provider.read_text(path)) is not None
        except AicrError:
            return False

    def _kind(self, path: str, document: object, reading: codec.Reading) -> str | None:
        due = versions.OVERLAY if path.startswith(_OVERLAYS) else versions.MIXIN if path.startswith(_MIXINS) else None
        kind = document.get("kind") if isinstance(document, dict) else None
        if kind in (versions.OVERLAY, versions.MIXIN) and due in (None, kind):
            return str(kind)
        if due:
            return due  # whose decoder says what is wrong
        if kind not in _OTHER_KINDS:
            reading.refuse(("kind",), f'"{kind}" is no kind of {versions.GROUP}', f"kinds: {', '.join(_KINDS)}")
        return None


def _keep(loaded: list[Loaded[T]], content: T | None, reading: codec.Reading, external: bool) -> None:
    if content is not None:
        loaded.append(Loaded(content, reading, external))


def _name_of(document: Any) -> str | None:
    try:
        return str(document["metadata"]["name"])
    except (KeyError, TypeError):
        return None
