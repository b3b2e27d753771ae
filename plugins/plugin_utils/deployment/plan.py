# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bundle's deployment does, as data: levels of components, their releases, what comes before and after each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..artifacts.recipe import AccountingMode, ComponentRef, RecipeResult
from ..errors import invalid, raise_all
from ..inventory import is_enabled, runtime_inventory
from ..ownership.accounting import DATABASE_STACK, SLURM
from .accounting_steps import accounting_is_on, steps_after, steps_before

Values = Mapping[str, object]


@dataclass(frozen=True)
class Release:
    """One Helm release, in the form that the action ``release`` takes.

    :ivar chart: the chart's name in a repository, or the folder of a local chart.
    :ivar repository: its address, ``oci://…`` for a registry; ``None`` for a local chart, which has no version either.
    :ivar values: files, the later one counts.
    :ivar set_values: what is laid over them.
    :ivar take_ownership: whether the chart holds an object that is there before it.
    """

    name: str
    namespace: str
    component: str
    chart: str
    repository: str | None
    version: str | None
    values: tuple[str, ...]
    set_values: Values
    take_ownership: bool = False

    def to_item(self) -> dict[str, object]:
        """The release as an item of the action's list."""
        item: dict[str, object] = {
            "name": self.name,
            "namespace": self.namespace,
            "component": self.component,
            "chart": self.chart,
            "values": list(self.values),
        }
        for key, value in (("repository", self.repository), ("version", self.version)):
            if value:
                item[key] = value
        if self.set_values:
            item["set_values"] = dict(self.set_values)
        if self.take_ownership:
            item["take_ownership"] = True
        return item


Step = Mapping[str, object]
"""An action by its name under ``action``, beside its options."""


@dataclass(frozen=True)
class ComponentPlan:
    """What one component takes.

    :ivar before: what must have succeeded before its releases are touched.
    :ivar after: what proves it once its releases are ready.
    """

    releases: tuple[Release, ...]
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A deployment.

    :ivar mode: of Slurm accounting; ``None`` without Slurm.
    :ivar levels: the components by depth of dependency; a level needs nothing but earlier ones.
    :ivar skipped: why a component that the recipe declares is left out.
    """

    mode: AccountingMode | None
    recipe_digest: str
    bundle_digest: str
    levels: tuple[tuple[str, ...], ...]
    components: Mapping[str, ComponentPlan]
    skipped: Mapping[str, str]

    @property
    def releases(self) -> Iterator[Release]:
        """All releases in the order of installation."""
        for level in self.levels:
            for name in level:
                yield from self.components[name].releases


def make_plan(
    declared: RecipeResult,
    bundled: RecipeResult,
    releases: Sequence[Release],
    values: Mapping[str, Values],
    *,
    recipe_digest: str,
    bundle_digest: str,
    only: Iterable[str] = (),
) -> Plan:
    """The deployment of a bundle.

    :param declared: the recipe that the bundle was made from.
    :param bundled: what of it the bundle holds.
    :param releases: of the bundle, in the order of installation.
    :param values: by component what its charts get.
    :param only: the names of the components that are meant; empty means all.
    :raises AicrError: INVALID_REQUEST for a name in ``only`` that the recipe does not declare.
    """
    wanted = tuple(dict.fromkeys(only)) or tuple(ref.name for ref in declared.component_refs)
    known = {ref.name: ref for ref in declared.component_refs}
    raise_all(
        invalid(
            f'components: unknown component "{name}"', f"the recipe declares {', '.join(sorted(known))}", component=name
        )
        for name in wanted
        if name not in known
    )
    mode = plan_mode(declared, values)
    levels = tuple(
        kept for level in runtime_inventory(bundled).levels if (kept := tuple(name for name in level if name in wanted))
    )
    present = [name for level in levels for name in level]
    return Plan(
        mode,
        recipe_digest,
        bundle_digest,
        levels,
        {
            name: ComponentPlan(
                tuple(release for release in releases if release.component == name),
                steps_before(name, known[name].namespace, values, mode),
                steps_after(name, known[name].namespace, values),
            )
            for name in present
        },
        {name: _reason(known[name], mode) for name in wanted if name not in present},
    )


def plan_mode(recipe: RecipeResult, values: Mapping[str, Values]) -> AccountingMode | None:
    """The mode that a recipe records, or what one from before the feature can only mean (spec/engine.md 5.6)."""
    if recipe.accounting_mode is not None or not recipe.is_slurm:
        return recipe.accounting_mode
    on = accounting_is_on(values.get(SLURM, {}))
    return AccountingMode.CUSTOMER_MANAGED if on else AccountingMode.DISABLED


def _reason(ref: ComponentRef, mode: AccountingMode | None) -> str:
    if ref.name in DATABASE_STACK and mode not in (None, AccountingMode.AICR_PROVIDED):
        return f"Slurm accounting mode {mode} installs no database"
    if not is_enabled(ref):
        return "the recipe disables it: the platform has it already, or nobody wants it"
    return "the bundle was made without it"
