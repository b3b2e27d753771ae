# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a deployment: a verified bundle and its recipe, as the tasks that install it need them. No cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..artifacts.digest import digest
from ..artifacts.recipe import recipe_to_document
from ..bundle.installation import Installation, judge_installation, resolve_name
from ..bundle.opened import OpenedBundle, OpenedFolder, open_bundle
from ..catalog import Catalog
from ..deployment.installed import record
from ..deployment.plan import Plan, Release, make_plan
from ..errors import invalid
from .catalogs import catalog as catalog_of
from .given import given_recipe
from .lease import RUN
from .options import CLUSTER, Options, Spec
from .path import expanded
from .source import refuse_remote

BUNDLE_INPUT: Spec = {
    "bundle": {"type": "path", "required": True},
    "recipe": {"type": "raw", "required": True},
    "values": {"type": "dict"},
    "catalog": {"type": "path"},
}
SPEC: Spec = {
    **CLUSTER,
    **BUNDLE_INPUT,
    "components": {"type": "list", "elements": "str"},
    "lease": RUN["lease"],
}


@dataclass(frozen=True)
class Planned:
    """A plan and what it was made from.

    :ivar values: by component what its charts get.
    :ivar constraints: of the recipe, by the reading's path.
    :ivar namespaces: of all components that the recipe declares.
    :ivar record: the ConfigMap of the deployment once it is done; what is only a part of a bundle is none.
    """

    plan: Plan
    bundle: OpenedBundle
    catalog: Catalog
    values: Mapping[str, Mapping[str, object]]
    constraints: Mapping[str, str]
    namespaces: Mapping[str, str]
    warnings: tuple[str, ...]
    record: Mapping[str, Any] | None

    def deliver(self, **_task: bool) -> dict[str, Any]:
        """The task's result; nothing is written, in check mode or not."""
        plan = self.plan
        return {
            "changed": False,
            "path": str(self.bundle.directory),
            "digest": plan.recipe_digest,
            "summary": {
                "mode": plan.mode.value if plan.mode else None,
                "levels": len(plan.levels),
                "components": len(plan.components),
                "releases": len(list(plan.releases)),
            },
            "warnings": list(self.warnings),
            "plan": to_document(plan) | {"record": self.record},
        }


def plan_deployment(options: Options) -> Planned:
    """Verify a bundle, hold its recipe and the values of now against it, and lay out its deployment.

    :raises AicrError: everything that any gate refuses, before anything is asked of a cluster: see
        :func:`bundle.opened.open_bundle`, :func:`bundle.installation.judge_installation`,
        :func:`deployment.plan.make_plan`; INVALID_REQUEST for the recipe of another bundle.
    """
    refuse_remote(options["bundle"], "bundle")
    bundle = open_bundle(expanded(options["bundle"]))
    catalog = catalog_of(options["catalog"])
    recipe, warnings = given_recipe(options["recipe"], options, "recipe", catalog)
    found = digest(recipe_to_document(recipe))
    if found != bundle.recipe_digest:
        raise invalid(
            f"the recipe ({found}) is not the one that {bundle.directory} was made from ({bundle.recipe_digest})",
            "give that recipe, or make the bundle again; recipe.yaml in a bundle has what runs there alone, so it is "
            "not the whole recipe",
            recipe=found,
            bundle=bundle.recipe_digest,
        )
    installation = judge_installation(bundle, recipe, catalog, options["values"] or {})
    only = [resolve_name(name, recipe, catalog) for name in options.values.get("components") or ()]
    plan = make_plan(
        recipe,
        installation.recipe,
        tuple(_releases(bundle, installation)),
        installation.values,
        recipe_digest=found,
        bundle_digest=bundle.digest,
        only=only,
    )
    constraints = {one.name: one.value for one in recipe.constraints or ()}
    place = options["lease"]
    return Planned(
        plan,
        bundle,
        catalog,
        installation.values,
        constraints,
        {ref.name: ref.namespace or "default" for ref in recipe.component_refs},
        (*warnings, *installation.warnings),
        None if only else record(plan, place["namespace"], place["name"]),
    )


def _releases(bundle: OpenedBundle, installation: Installation) -> Iterator[Release]:
    for folder in bundle.folders:
        yield _release(folder, installation.given.get(folder.component, {}))


def _release(folder: OpenedFolder, given: Mapping[str, object]) -> Release:
    chart = folder.chart
    return Release(
        folder.release,
        folder.namespace,
        folder.component,
        chart.name if chart else str(folder.directory),
        chart.repository if chart else None,
        chart.version if chart else None,
        tuple(map(str, folder.value_files)),
        given,
        folder.take_ownership,
    )


def to_document(plan: Plan) -> dict[str, Any]:
    """A plan in the form in which tasks go through it."""
    return {
        "mode": plan.mode.value if plan.mode else None,
        "recipe_digest": plan.recipe_digest,
        "bundle_digest": plan.bundle_digest,
        "levels": [list(level) for level in plan.levels],
        "components": {
            name: {
                "releases": [release.to_item() for release in component.releases],
                "before": [dict(step) for step in component.before],
                "after": [dict(step) for step in component.after],
            }
            for name, component in plan.components.items()
        },
        "skipped": dict(plan.skipped),
    }
