# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes a component reference impossible to deploy (spec/engine.md 1.11, spec/surface.md 2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..artifacts.codec import dotted
from ..artifacts.recipe import ComponentRef
from ..catalog import Catalog, syntax
from ..errors import AicrError, invalid
from ..inventory import is_enabled

HELM, KUSTOMIZE = "Helm", "Kustomize"
_SPELLINGS = {kind.lower(): kind for kind in (HELM, KUSTOMIZE)}


def effective_type(ref: ComponentRef, catalog: Catalog) -> str | None:
    """A reference's type in its canonical spelling, the registry's where it has none; ``None`` if nobody knows."""
    if ref.type:
        return _SPELLINGS.get(ref.type.lower(), ref.type)
    entry = catalog.registry.component(ref.name)
    return None if entry is None else KUSTOMIZE if entry.is_kustomize else HELM


def coherence_problems(refs: Iterable[ComponentRef]) -> list[AicrError]:
    """Texts of any component that are not of their form, and every way in which the enabled ones make no sense."""
    problems: list[AicrError] = []
    for ref in refs:
        problems += [_wrong(ref, dotted(fault.path), fault.what, fault.hint) for fault in syntax.faults(ref)]
        problems += _problems(ref) if is_enabled(ref) else ()
    return problems


def _problems(ref: ComponentRef) -> Iterator[AicrError]:
    if ref.patches:
        yield _wrong(ref, "patches", "has patches, which are never applied", "put the change into overrides")
    if ref.version is not None and not syntax.is_pinned(ref.version):
        yield _wrong(
            ref, "version", f'has the version "{ref.version}", which installs whatever is newest', "pin a version"
        )
    if ref.type == HELM:
        yield from _helm_problems(ref)
    elif ref.type == KUSTOMIZE:
        yield from _kustomize_problems(ref)
    elif ref.type:
        yield _wrong(ref, "type", f'has the type "{ref.type}"', f"types are {HELM} and {KUSTOMIZE}")
    else:
        yield _wrong(ref, "type", "has no type, and the registry does not know it", f"set type: {HELM} or {KUSTOMIZE}")


def _helm_problems(ref: ComponentRef) -> Iterator[AicrError]:
    for name in ("tag", "path"):
        if getattr(ref, name):
            yield _wrong(ref, name, f"is of type {HELM} but has a {name}", f"only {KUSTOMIZE} components have one")
    if ref.source and ref.version is None:
        yield _wrong(ref, "version", "has a source but no version", "pin a version")
    if ref.chart and not ref.source and not ref.manifest_files:
        yield _wrong(ref, "source", f'has the chart "{ref.chart}" but no source', "name the chart's repository")
    if not (ref.source or ref.chart or ref.manifest_files):
        yield _wrong(ref, "source", "has neither a chart nor manifestFiles", "give it one of the two")


def _kustomize_problems(ref: ComponentRef) -> Iterator[AicrError]:
    if not ref.path:
        yield _wrong(ref, "path", f"is of type {KUSTOMIZE} but has no path", "name the kustomization's path")
    if ref.tag and not ref.source:
        yield _wrong(ref, "source", "has a tag but no source", "name the repository")
    if ref.manifest_files:
        yield _wrong(
            ref, "manifestFiles", f"is of type {KUSTOMIZE} but has manifestFiles", "let the kustomization hold them"
        )


def _wrong(ref: ComponentRef, path: str, what: str, hint: str) -> AicrError:
    return invalid(f'component "{ref.name}" {what}', hint, component=ref.name, path=path)
