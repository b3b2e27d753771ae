# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""spec/engine.md 1.2 to 1.5, 1.9: which overlays make a recipe, in which order, and when criteria are not covered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AXES, ComponentRef, Criteria
from ansible_collections.aicr.runtime.plugins.plugin_utils.catalog import Catalog, Overlay, Registry, embedded
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.resolution import Resolution, resolve

CHECKOUT = Path(__file__).resolve().parents[2]
CHART = ComponentRef("app", type="Helm", source="https://charts", chart="app", version="1")


def catalog_of(overlays: Iterable[Overlay]) -> Catalog:
    return Catalog(
        base=Overlay(name="base", source="base.yaml", component_refs=(CHART,)),
        overlays={overlay.name: overlay for overlay in overlays},
        mixins={},
        registry=Registry([]),
        validators=(),
        _provider=cast(Any, None),
    )


def overlay(name: str, base: str | None = None, **criteria: Any) -> Overlay:
    mark = dataclasses.replace(CHART, version=name)
    return Overlay(name=name, source=f"{name}.yaml", base=base, criteria=Criteria(**criteria), component_refs=(mark,))


def query(**criteria: str) -> Criteria:
    axes: dict[str, Any] = {axis: criteria.get(axis, "any") for axis in AXES}
    return Criteria(**axes)


def applied(resolution: Resolution) -> tuple[str, ...]:
    header = resolution.recipe.metadata
    assert header is not None
    return header.applied_overlays or ()


def test_ancestors_go_with_their_leaf_and_before_it() -> None:
    catalog = catalog_of([
        overlay("eks", service="eks"),
        overlay("eks-training", "eks", service="eks", intent="training"),
        overlay("any-h100", accelerator="h100"),
        overlay("everywhere", intent="any"),
    ])  # fmt: skip
    found = applied(resolve(catalog, query(service="eks", intent="training", accelerator="h100")))
    assert found == ("base", "everywhere", "any-h100", "eks", "eks-training")


def test_a_wildcard_of_the_query_picks_no_named_value() -> None:
    catalog = catalog_of([overlay("eks", service="eks"), overlay("eks-ubuntu", "eks", service="eks", os="ubuntu")])
    assert applied(resolve(catalog, query(service="eks"))) == ("base", "eks")


def test_the_more_specific_overlay_has_the_last_word_and_ties_go_by_name() -> None:
    catalog = catalog_of([
        overlay("z", service="eks", os="ubuntu"),
        overlay("b", service="eks"),
        overlay("a", os="ubuntu"),
    ])  # fmt: skip
    resolution = resolve(catalog, query(service="eks", os="ubuntu"))
    assert applied(resolution) == ("base", "a", "b", "z")
    assert resolution.recipe.component_refs[0].version == "z"


def test_no_criteria_is_no_recipe() -> None:
    with pytest.raises(AicrError, match="no criteria"):
        resolve(catalog_of([]), query())


@pytest.mark.parametrize(("criteria", "said"), [
    ({"service": "metal3"}, ["no recipe provides", 'service "metal3"']),
    ({"service": "eks", "os": "ubuntu"}, ['os "ubuntu"', "also needs intent", "training"]),
    ({"platform": "slurm"}, ['platform "slurm"', "more criteria", "service=eks, intent=training, os=ubuntu"]),
    ({"service": "oke"}, ['service "oke"', "operating system", "valid: ol"]),
])  # fmt: skip
def test_an_uncovered_criterion_is_refused_with_what_would_cover_it(criteria: dict[str, str], said: list[str]) -> None:
    catalog = catalog_of([
        overlay("eks", service="eks"),
        overlay("eks-ubuntu", "eks", service="eks", intent="training", os="ubuntu"),
        overlay("eks-slurm", "eks-ubuntu", service="eks", intent="training", os="ubuntu", platform="slurm"),
        overlay("oke", service="oke", os="ol"),
    ])  # fmt: skip
    with pytest.raises(AicrError) as caught:
        resolve(catalog, query(**criteria))
    assert caught.value.code is Code.INVALID_REQUEST
    assert [text for text in said if text not in str(caught.value)] == []


def test_the_message_that_the_readme_quotes_is_the_message() -> None:
    with pytest.raises(AicrError) as caught:
        resolve(embedded(), query(service="eks", accelerator="h100", intent="training", platform="slurm"))
    assert str(caught.value) in " ".join((CHECKOUT / "README.md").read_text(encoding="utf-8").split())


VALUES: Mapping[str, tuple[str, ...]] = {
    "service": ("eks", "gke"), "accelerator": ("h100", "gb200"), "intent": ("training",), "os": ("ubuntu",),
    "platform": ("kubeflow",),
}  # fmt: skip


def stated() -> st.SearchStrategy[dict[str, str]]:
    axes = {axis: st.sampled_from(values) for axis, values in VALUES.items()}
    return st.fixed_dictionaries({}, optional=axes)


@st.composite
def trees(draw: st.DrawFn) -> list[Overlay]:
    """Overlays that refine each other: a child states what its parent does and perhaps more."""
    made: list[Overlay] = []
    for number in range(draw(st.integers(1, 6))):
        place = draw(st.integers(-1, number - 1))
        parent = made[place] if place >= 0 else None
        above = parent.criteria.stated() if parent and parent.criteria else {}
        made.append(overlay(f"o{number}", parent.name if parent else None, **{**draw(stated()), **above}))
    return made


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Overlay], dict[str, str]]:
    """Overlays, and criteria that one of them often has."""
    overlays = draw(trees())
    place = draw(st.integers(-1, len(overlays) - 1))
    criteria = overlays[place].criteria if place >= 0 else None
    return overlays, criteria.stated() if criteria else draw(stated())


def resolved(overlays: Iterable[Overlay], criteria: dict[str, str]) -> Resolution | AicrError:
    try:
        return resolve(catalog_of(overlays), query(**criteria))
    except AicrError as error:
        return error


@given(questions(), st.randoms())
def test_the_order_of_files_means_nothing(question: tuple[list[Overlay], dict[str, str]], chance: Any) -> None:
    overlays, criteria = question
    shuffled = list(overlays)
    chance.shuffle(shuffled)
    one, other = resolved(overlays, criteria), resolved(shuffled, criteria)
    assert one == other if isinstance(one, Resolution) else str(one) == str(other)


@given(questions())
def test_selection_keeps_the_rule(question: tuple[list[Overlay], dict[str, str]]) -> None:
    """An oracle that knows only the text of the rule: matching leaves with their ancestors, and nothing else."""
    overlays, criteria = question
    outcome = resolved(overlays, criteria)
    assume(isinstance(outcome, Resolution))
    assert isinstance(outcome, Resolution)
    by_name = {one.name: one for one in overlays}

    def line(name: str) -> list[str]:
        parent = by_name[name].base
        return [*(line(parent) if parent else []), name]

    def fits(one: Overlay) -> bool:
        return one.criteria is not None and one.criteria.stated().items() <= criteria.items()

    matching = [one.name for one in overlays if fits(one)]
    leaves = [name for name in matching if not any(name in line(other)[:-1] for other in matching)]
    assert set(applied(outcome)) == {"base"} | {name for leaf in leaves for name in line(leaf)}
    for name in applied(outcome)[1:]:
        assert applied(outcome).index(name) >= len(line(name))
    carried = {
        pair for name in applied(outcome)[1:] for pair in (by_name[name].criteria or Criteria()).stated().items()
    }
    assert set(criteria.items()) <= carried


@given(trees(), stated())
def test_every_refusal_names_what_is_not_covered(overlays: list[Overlay], criteria: dict[str, str]) -> None:
    outcome = resolved(overlays, {**criteria, "platform": "nim"})
    assert isinstance(outcome, AicrError)
    missing_system = "operating system" in outcome.message
    assert 'platform "nim"' in outcome.message or (
        missing_system and f'service "{criteria["service"]}"' in outcome.message
    )


def test_every_leaf_of_our_catalog_resolves() -> None:
    catalog = embedded()
    parents = {one.base for one in catalog.overlays.values()}
    leaves = [
        one for one in catalog.overlays.values() if one.criteria and one.name not in parents and one.criteria.service
    ]
    assert len(leaves) >= 4
    for leaf in leaves:
        assert leaf.criteria is not None
        assert leaf.name in applied(resolve(catalog, query(**leaf.criteria.stated()))) or not leaf.criteria.stated()
