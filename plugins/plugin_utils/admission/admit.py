# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admit a recipe from outside: its form, its names, its version against its content (spec/engine.md 1.12)."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..artifacts.recipe import MAX_NODES, ComponentRef, RecipeResult, recipe_from_document
from ..catalog import Catalog, syntax
from ..catalog.registry import RESERVED
from ..constraints import addressability_problem
from ..errors import AicrError, invalid, raise_all
from ..inventory import deployment_order, is_enabled
from ..ownership import artifact_problems
from ..yamlio import NOT_FINITE, not_finite
from .coherence import coherence_problems, effective_type
from .profile import profile_problems


@dataclass(frozen=True)
class Admitted:
    """A recipe that every stage can rely on, and what is odd about it."""

    recipe: RecipeResult
    warnings: tuple[str, ...]


def admit_recipe(document: object, catalog: Catalog, source: str) -> Admitted:
    """Decode a RecipeResult and check everything that can be checked without bundling it. Idempotent.

    :param source: what to call the recipe in messages.
    :raises AicrError: INVALID_REQUEST with every problem at once, each with its component or path.
    """
    recipe, warnings = recipe_from_document(document, source)
    recipe = dataclasses.replace(recipe, component_refs=tuple(_typed(ref, catalog) for ref in recipe.component_refs))
    problems = [
        *_name_problems(recipe),
        *profile_problems(recipe),
        *artifact_problems(recipe),
        *coherence_problems(recipe.component_refs),
        *_constraint_problems(recipe),
        *_criteria_problems(recipe),
        *_number_problems(recipe),
    ]
    order: tuple[str, ...] = ()
    try:
        order = deployment_order(recipe.component_refs)
    except AicrError as error:
        problems.append(error)
    if not problems:  # the order follows from the components: it is judged once these are right
        problems += _order_problems(recipe)
    raise_all(_located(problem, source) for problem in problems)
    if recipe.deployment_order not in (None, order):
        warnings.append(
            f"{source}: deploymentOrder is another possible order than the one that follows from the components, which "
            f"is {', '.join(order)} and counts"
        )
    warnings += [
        f'{source}: component "{ref.name}" is not in the registry: no defaults, no aliases, no scheduling apply to it'
        for ref in recipe.component_refs
        if is_enabled(ref) and catalog.registry.component(ref.name) is None
    ]
    return Admitted(recipe, tuple(warnings))


def _typed(ref: ComponentRef, catalog: Catalog) -> ComponentRef:
    """The reference with its type spelled canonically, and filled in where the registry knows it."""
    kind = effective_type(ref, catalog)
    return ref if kind == ref.type else dataclasses.replace(ref, type=kind)


def _name_problems(recipe: RecipeResult) -> Iterator[AicrError]:
    if not recipe.component_refs:
        yield invalid("has no componentRefs, so nothing would run", "generate the recipe again")
    for name, count in Counter(ref.name for ref in recipe.component_refs).items():
        if not name:
            yield invalid("has a component without a name", "name every entry of componentRefs")
        elif name == RESERVED:
            yield invalid(f'component "{name}" has a reserved name', "call it something else", component=name)
        elif count > 1:
            yield invalid(f'component "{name}" is declared {count} times', "keep one of them", component=name)


def _constraint_problems(recipe: RecipeResult) -> Iterator[AicrError]:
    """Paths that no snapshot can have; the phases after readiness have names of their own (engine.md 1.11)."""
    readiness = recipe.validation.readiness if recipe.validation else None
    for constraint in (*(recipe.constraints or ()), *((readiness.constraints if readiness else None) or ())):
        if not constraint.name.strip() or not constraint.value.strip():
            yield invalid(f'constraint "{constraint.name}" has an empty name or value', "complete or remove it")
            continue
        problem = addressability_problem(constraint.name, constraint.value)
        if problem:
            yield problem


def _criteria_problems(recipe: RecipeResult) -> Iterator[AicrError]:
    if recipe.criteria is None:
        return
    for axis, value in recipe.criteria.stated().items():
        if not syntax.CRITERION.fullmatch(value):
            yield invalid(f'criteria.{axis} "{value}" is no value of a criterion', syntax.CRITERION_FORM, axis=axis)
    nodes = recipe.criteria.nodes
    if nodes is not None and not 0 <= nodes <= MAX_NODES:
        yield invalid(f"criteria.nodes is not from 0 to {MAX_NODES}", "0 or absent says nothing")


def _number_problems(recipe: RecipeResult) -> Iterator[AicrError]:
    """Numbers that are none or infinite, which a recipe that was never a file can hold."""
    for ref in recipe.component_refs:
        for path in not_finite(ref.overrides):
            yield invalid(
                f'component "{ref.name}": override {path} is {NOT_FINITE}',
                "give a number, or text in quotes",
                component=ref.name,
                path=path,
            )


def _order_problems(recipe: RecipeResult) -> Iterator[AicrError]:
    """A recorded order has exactly the components that will run, each after what it needs; an absent one says nothing.

    Whoever reads a recipe believes what it says, and the bundle would be laid out in another order.
    """
    order = recipe.deployment_order
    if order is None:
        return
    hint = "generate the recipe again, or leave deploymentOrder out: it follows from the components"
    enabled = {ref.name: ref for ref in recipe.component_refs if is_enabled(ref)}
    declared = {ref.name for ref in recipe.component_refs}
    for name, count in Counter(order).items():
        if name not in enabled:
            what = "is disabled" if name in declared else "is not declared"
            yield invalid(f'deploymentOrder lists component "{name}", which {what}', hint, component=name)
        elif count > 1:
            yield invalid(f'deploymentOrder lists component "{name}" {count} times', hint, component=name)
    for name in enabled.keys() - set(order):
        yield invalid(f'deploymentOrder lacks component "{name}", which will run', hint, component=name)
    place = {name: number for number, name in enumerate(order)}
    for name, ref in enabled.items():
        for needed in ref.dependency_refs or ():
            if place.get(needed, -1) > place.get(name, len(order)):
                yield invalid(
                    f'deploymentOrder has component "{name}" before "{needed}", which it depends on',
                    hint,
                    component=name,
                )


def _located(problem: AicrError, source: str) -> AicrError:
    return AicrError(problem.code, f"{source}: {problem.message}", problem.hint, problem.details)
