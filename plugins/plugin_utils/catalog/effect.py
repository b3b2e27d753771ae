# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of an external catalog that can have no effect: misspelt ones, which would otherwise be passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..artifacts.recipe import ComponentRef
from ..constraints import nearest
from ..errors import AicrError, invalid
from .provider import Provider
from .registry import Component

_CONTENT = ("components/", "checks/")
_READ = (".yaml", ".yml", ".json", ".tpl")


def files_without_effect(
    provider: Provider, components: Iterable[Component], refs: Iterable[ComponentRef]
) -> Iterator[AicrError]:
    """Files that replace none of the root's, and that no component and no reference names.

    :param refs: all references of overlays and mixins.
    """
    named = {path for component in components for path in _of_component(component)}
    named.update(path for ref in refs for path in _of_reference(ref))
    for path in provider.paths:
        alone = provider.is_external(path) and len(provider.layers(path)) == 1
        if alone and path.startswith(_CONTENT) and path.endswith(_READ) and path not in named:
            meant = nearest(path, (other for other in provider.paths if other != path))
            yield invalid(
                f"{provider.file(path)}: has no effect: it replaces no file of the catalog, and nothing names it",
                f'did you mean "{meant}"?' if meant else "name it in an overlay, or remove it",
                path=path,
            )


def _of_component(component: Component) -> Iterator[str]:
    yield f"components/{component.name}/values.yaml"
    yield from component.manifest_files
    yield from (rule.path for rule in component.manifests)
    if component.health_check and component.health_check.assert_file:
        yield component.health_check.assert_file


def _of_reference(ref: ComponentRef) -> Iterator[str]:
    yield f"components/{ref.name}/values.yaml"
    yield from (ref.values_file,) if ref.values_file else ()
    yield from ref.manifest_files or ()
    yield from ref.pre_manifest_files or ()
