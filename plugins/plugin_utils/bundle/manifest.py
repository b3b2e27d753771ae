# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests of components: which ones apply, as templates of a local chart (DESIGN, *No template engine*)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import yamlio
from ..artifacts.recipe import ComponentRef, RecipeResult
from ..catalog import Catalog
from ..errors import AicrError, invalid, raise_all
from ..ownership.paths import segments
from .value_path import Values, find

SERVICE_GKE = "gke"
QUOTA_PATH = "aicr/synthesized/gke-critical-pods-quota.yaml"
_QUOTA_PODS_PER_NODE = 32
_CRITICAL = ("system-node-critical", "system-cluster-critical")


@dataclass(frozen=True)
class Manifest:
    """One manifest of a component.

    :ivar path: within the catalog.
    :ivar pre: whether it goes in before the component's chart.
    :ivar text: the template.
    """

    component: str
    path: str
    pre: bool
    text: str


def collect_manifests(
    recipe: RecipeResult,
    catalog: Catalog,
    values: Mapping[str, Values],
    nodes: int = 0,
) -> tuple[list[Manifest], list[Manifest]]:
    """The manifests that apply, and those in the reference's format, which decide by rendering.

    :raises AicrError: INVALID_REQUEST with every manifest that the catalog does not have.
    """
    ready: list[Manifest] = []
    to_render: list[Manifest] = []
    problems: list[AicrError] = []
    for ref in recipe.component_refs:
        quota = _quota(ref, recipe, catalog, nodes)
        ready += [quota] if quota else []
        for pre, paths in ((True, ref.pre_manifest_files), (False, ref.manifest_files)):
            for path in _sorted(paths):
                if not catalog.has(path):
                    problems.append(
                        invalid(
                            f'component "{ref.name}": the catalog has no manifest "{path}"',
                            "generate the recipe again with this release's catalog",
                            component=ref.name,
                            path=path,
                        )
                    )
                    continue
                rule = catalog.manifest_rule(ref.name, path)
                manifest = Manifest(ref.name, path, pre, catalog.read_text(path))
                if rule is None:
                    to_render.append(manifest)
                elif rule.when is None or find(values[ref.name], segments(rule.when)) is True:
                    ready.append(manifest)
    raise_all(problems)
    return ready, to_render


def _sorted(paths: Sequence[str] | None) -> list[str]:
    return sorted(set(paths or ()))


def _quota(ref: ComponentRef, recipe: RecipeResult, catalog: Catalog, nodes: int) -> Manifest | None:
    """GKE admits critical pods outside of kube-system only where a quota allows them (spec/engine.md 4.6)."""
    entry = catalog.registry.component(ref.name)
    service = recipe.criteria.service if recipe.criteria else None
    if service != SERVICE_GKE or not entry or not entry.gke_critical_priority or not ref.namespace:
        return None
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "aicr-gke-critical-pods", "namespace": ref.namespace},
        "spec": {
            "hard": {"pods": str(_QUOTA_PODS_PER_NODE * max(1, nodes))},
            "scopeSelector": {
                "matchExpressions": [{"operator": "In", "scopeName": "PriorityClass", "values": list(_CRITICAL)}]
            },
        },
    }
    return Manifest(ref.name, QUOTA_PATH, True, yamlio.dump(quota))


_HOOK = re.compile(r"^[ \t]*[\"']?helm\.sh/hook(?:-weight|-delete-policy)?[\"']?[ \t]*:.*\n?", re.MULTILINE)
_NOTHING = re.compile(r"(?:[ \t]*(?:#.*|---[ \t]*)?(?:\n|$))*")


def is_empty(text: str) -> bool:
    """Whether a rendered manifest holds comments and separators alone."""
    return _NOTHING.fullmatch(text) is not None


def without_hooks(text: str) -> str:
    """A rendered manifest as part of its release: hooks would be left behind when the release goes."""
    if not _HOOK.search(text):
        return text
    documents = []
    for document in yamlio.load_all(text, "a rendered manifest"):
        annotations = document.get("metadata", {}).get("annotations") if isinstance(document, dict) else None
        if isinstance(annotations, dict):
            for key in [key for key in annotations if str(key).startswith("helm.sh/hook")]:
                del annotations[key]
        documents += [document] if document else []
    return "---\n".join(map(yamlio.dump, documents))
