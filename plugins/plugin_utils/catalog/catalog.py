# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog: everything that recipes are made of, read once and never changed."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import yamlio
from ..artifacts import codec
from ..artifacts.recipe import ComponentRef
from ..errors import AicrError, invalid, not_found
from . import criteria, loading
from .merge import merge_values
from .overlay import BASE, Mixin, Overlay
from .provider import MAX_BYTES, Provider
from .registry import ManifestRule, Registry
from .validators import ValidatorEntry

EMBEDDED_ROOT = Path(__file__).parents[3] / "recipes"


@dataclass(frozen=True, eq=False)
class Catalog:
    """Overlays, mixins, components, checks and their files.

    :param base: the root of every chain; not among ``overlays``.
    :param overlays: by name, sorted.
    :param mixins: by name, sorted.
    :param registry: what is known of the components.
    :param validators: the checks in the order of their file.
    """

    base: Overlay
    overlays: Mapping[str, Overlay]
    mixins: Mapping[str, Mixin]
    registry: Registry
    validators: tuple[ValidatorEntry, ...]
    _provider: Provider = field(repr=False)
    _external_overlays: frozenset[str] = frozenset()
    _file_values: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, root: Path | None = None, external: Path | None = None) -> Catalog:
        """Read a whole catalog strictly.

        :param root: the catalog's directory; without it, the one that the collection brings.
        :param external: a directory that is laid over it: files replace those of the same path, registry and checks
            are merged by name.
        :raises AicrError: every problem of every file at once, each with file and line. INVALID_REQUEST; NOT_FOUND if
            all there is are names and files that do not exist.
        """
        provider = Provider(root or EMBEDDED_ROOT, external)
        parts = loading.read(provider)
        overlays = dict(parts.overlays)
        return cls(
            base=overlays.pop(BASE),
            overlays=overlays,
            mixins=parts.mixins,
            registry=parts.registry,
            validators=parts.validators,
            _provider=provider,
            _external_overlays=parts.external_overlays,
        )

    def chain(self, overlay: Overlay) -> tuple[Overlay, ...]:
        """An overlay and what it builds on, the base first.

        :raises AicrError: NOT_FOUND if an overlay that is not from this catalog names an unknown parent.
        """
        links = [overlay]
        while (parent := links[-1].parent) is not None:
            found = self.base if parent == BASE else self.overlays.get(parent)
            if found is None:
                raise not_found(
                    f'{links[-1].source}: overlay "{links[-1].name}" builds on "{parent}", which the catalog'
                    " does not have",
                    overlay=links[-1].name,
                    base=parent,
                )
            links.append(found)
        return tuple(reversed(links))

    def is_external(self, overlay: Overlay) -> bool:
        """Whether an overlay comes from the directory that was laid over the collection's catalog."""
        return overlay.name in self._external_overlays

    def criteria_values(self, strict: bool = False) -> Mapping[str, frozenset[str]]:
        """The valid criteria by axis; ``strict`` leaves out what only an external directory's overlays add."""
        return self._own_criteria_values if strict else self._all_criteria_values

    @functools.cached_property
    def _all_criteria_values(self) -> Mapping[str, frozenset[str]]:
        return criteria.values_of(each.criteria for each in self.overlays.values() if each.criteria)

    @functools.cached_property
    def _own_criteria_values(self) -> Mapping[str, frozenset[str]]:
        return criteria.values_of(
            each.criteria
            for name, each in self.overlays.items()
            if each.criteria and name not in self._external_overlays
        )

    def has(self, path: str) -> bool:
        """Whether the catalog holds a file of this path (``components/…``, ``checks/…``)."""
        return self._provider.has(path)

    def read_text(self, path: str) -> str:
        """The text of a file of the catalog; see :meth:`Provider.read_text` for the errors."""
        return self._provider.read_text(path)

    def manifest_rule(self, component: str, path: str) -> ManifestRule | None:
        """What the registry says about one manifest of a component; ``None`` for one in the reference's format."""
        entry = self.registry.component(component)
        return next((rule for rule in entry.manifests if rule.path == path), None) if entry else None

    def values(self, ref: ComponentRef) -> Mapping[str, Any]:
        """The values that a reference stands for, before any override of a bundle (spec/engine.md 1.15).

        The component's own ``values.yaml`` counts only if the reference names a values file; then that file and the
        reference's overrides are merged over it. A ``null`` deletes. The result is shared: do not change it.

        :raises AicrError: NOT_FOUND for an absent values file, INVALID_REQUEST for one that is not a mapping.
        """
        layer = self._values_of_files(ref.name, ref.values_file) if ref.values_file else {}
        return merge_values(layer, ref.overrides or {})

    def read_values(self) -> None:
        """Read the values files that the overlays name, which else each process reads when it needs them.

        An error waits for who needs that file.
        """
        parts: tuple[Overlay | Mixin, ...] = (self.base, *self.overlays.values(), *self.mixins.values())
        for part in parts:
            for ref in part.component_refs:
                if ref.values_file:
                    with contextlib.suppress(AicrError):
                        self._values_of_files(ref.name, ref.values_file)

    def _values_of_files(self, component: str, path: str) -> Mapping[str, Any]:
        known = self._file_values.get((component, path))
        if known is None:
            own = f"components/{component}/values.yaml"
            known = self._read_values(component, path)
            if path != own and self.has(own):
                known = merge_values(self._read_values(component, own), known)
            self._file_values[component, path] = known
        return known

    def _read_values(self, component: str, path: str) -> Mapping[str, Any]:
        if not self.has(path):
            raise not_found(
                f'component "{component}": values file "{path}" is not in the catalog',
                "name a file by its path within the catalog",
                component=component,
                path=path,
            )
        values = yamlio.load(self.read_text(path), str(self._provider.file(path)), MAX_BYTES)
        if values is None:
            return {}
        if not isinstance(values, dict):
            raise invalid(
                f"{self._provider.file(path)}: values must be a mapping, not {codec.type_name(values)}",
                component=component,
                path=path,
            )
        codec.decode(object, values, codec.Reading(str(self._provider.file(path))))
        return values


@functools.cache
def embedded() -> Catalog:
    """The collection's own catalog, read once in a process; an error is raised again on every call."""
    return Catalog.load()
