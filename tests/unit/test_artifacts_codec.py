# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dataclass is the one definition of an artifact: it decodes strictly, says all that is wrong, and encodes back."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts import codec
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.recipe import AccountingMode
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError


@dataclass(frozen=True)
class Wheel:
    name: str
    max_load: int | None = None


@dataclass(frozen=True)
class Cart:
    wheels: tuple[Wheel, ...]
    tags: tuple[str, ...] | None = None
    mode: AccountingMode | None = None
    options: Mapping[str, object] | None = None
    owners: Mapping[str, tuple[str, ...]] | None = None
    notes: tuple[Wheel | str, ...] | None = None
    painted: bool | None = None
    ratio: float | None = None
    source_node: str | None = codec.key("source-node")


@dataclass(frozen=True)
class Open:
    name: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


FULL = {
    "wheels": [{"name": "a", "maxLoad": 3}, {"name": "b"}],
    "tags": [],
    "mode": "aicr-provided",
    "options": {"anything": [1, None, {"x": 1.5}]},
    "owners": {"me": ["x"]},
    "notes": ["text", {"name": "c"}],
    "painted": False,
    "ratio": 2,
    "source-node": "n1",
}


def read(document: object, cls: type = Cart, strict: bool = True) -> object:
    return codec.decode(cls, document, codec.Reading("cart.yaml", strict=strict))


def test_a_document_comes_back_as_it_was() -> None:
    cart = read(FULL)
    assert isinstance(cart, Cart)
    assert cart.wheels[0] == Wheel("a", 3)
    assert cart.tags == ()
    assert cart.mode is AccountingMode.AICR_PROVIDED
    assert codec.encode(cart) == FULL


def test_absent_null_and_empty_are_what_they_are() -> None:
    cart = read({"wheels": [], "tags": None})
    assert isinstance(cart, Cart)
    assert (cart.wheels, cart.tags, cart.painted) == ((), None, None)
    assert codec.encode(cart) == {"wheels": []}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "cart.yaml: must be a mapping, not a list"),
        ({}, 'cart.yaml: key "wheels" is missing'),
        ({"wheels": None}, "cart.yaml: wheels: must be a list, not null"),
        ({"wheels": {}}, "cart.yaml: wheels: must be a list, not a mapping"),
        ({"wheels": [3]}, "cart.yaml: wheels[0]: must be a mapping, not a number"),
        ({"wheels": [{"name": 1.3}]}, "cart.yaml: wheels[0].name: must be text, not a number (1.3)"),
        ({"wheels": [{"name": True}]}, "cart.yaml: wheels[0].name: must be text, not a boolean (True)"),
        ({"wheels": [{"name": "a", "maxLoad": "3"}]}, "cart.yaml: wheels[0].maxLoad: must be a whole number, not text"),
        (
            {"wheels": [{"name": "a", "maxLoad": True}]},
            "cart.yaml: wheels[0].maxLoad: must be a whole number, not a boolean",
        ),
        ({"wheels": [], "painted": "false"}, "cart.yaml: painted: must be true or false, not text"),
        ({"wheels": [], "mode": "Disabled"}, 'cart.yaml: mode: "Disabled" is not one of disabled, customer-managed'),
        ({"wheels": [], "tagz": []}, 'cart.yaml: tagz: unknown key "tagz"'),
        ({"wheels": [], 7: 1}, "cart.yaml: the key 7 is not text"),
    ],
)
def test_a_wrong_document_is_refused_by_name(document: object, message: str) -> None:
    with pytest.raises(AicrError) as caught:
        read(document)
    assert caught.value.message.startswith(message)


def test_a_near_miss_is_guessed() -> None:
    with pytest.raises(AicrError) as caught:
        read({"wheels": [], "tagz": []})
    assert caught.value.hint == 'did you mean "tags"?'


def test_all_problems_are_said_at_once_and_in_order() -> None:
    with pytest.raises(AicrError) as caught:
        read({"wheels": [{"maxLoad": "x"}], "zzz": 1, "painted": 3})
    places = [problem["details"]["path"] for problem in caught.value.details["problems"]]  # type: ignore[attr-defined]
    assert places == ["painted", "wheels[0].maxLoad", "wheels[0]", "zzz"]


def test_a_lenient_document_keeps_what_it_does_not_know_with_a_warning() -> None:
    reading = codec.Reading("open.yaml", strict=False)
    document = {"name": "a", "later": {"x": 1}}
    opened = codec.decode(Open, document, reading)
    assert opened == Open("a", {"later": {"x": 1}})
    assert reading.warnings == ["open.yaml: later: unknown key is kept but has no effect"]
    assert codec.encode(opened) == document


def test_the_line_stands_in_the_message_where_it_is_known() -> None:
    text = "wheels:\n- name: a\n- name: 1.30\n"
    reading = codec.Reading("cart.yaml", locate=lambda path: yamlio.line_of(text, path))
    with pytest.raises(AicrError, match=r"cart.yaml:3: wheels\[1\].name"):
        codec.decode(Cart, yamlio.load(text, "cart.yaml"), reading)


@pytest.mark.parametrize(
    ("key", "shown"),
    [(1, "1"), (1.3, "1.3"), (True, "true"), (None, "null"), (10**5000, "a number of more than 40 digits"), ((1,), "")],
    ids=["whole", "fraction", "boolean", "null", "large", "list"],
)
@pytest.mark.parametrize(
    ("at", "document"),
    [
        ("cart.yaml", {"wheels": []}),
        ("cart.yaml: wheels[0]", {"wheels": [{"name": "a"}]}),
        ("cart.yaml: options", {"wheels": [], "options": {"a": "b"}}),
        ("cart.yaml: options.a[0].b", {"wheels": [], "options": {"a": [{"b": {"c": 1}}]}}),
        ("cart.yaml: owners", {"wheels": [], "owners": {"me": ["x"]}}),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_key_that_is_not_text_is_refused_where_it_stands(
    at: str, document: dict[str, object], key: object, shown: str, strict: bool
) -> None:
    """In every mapping, and at any depth of what is only carried along; JSON has no other keys."""
    document = copy.deepcopy(document)
    found: Any = document
    for step in at.partition(": ")[2].replace("[0]", ".0").split("."):
        found = found[int(step)] if isinstance(found, list) else found[step] if step else found
    found[key] = "x"
    with pytest.raises(AicrError) as caught:
        read(document, strict=strict)
    assert caught.value.message.startswith(f"{at}: the key {shown}")
    assert caught.value.message.endswith(" is not text") and caught.value.hint.startswith("write it in quotes")
    assert len(caught.value.message) < 200


def test_nor_is_one_kept_under_a_key_that_nobody_knows() -> None:
    with pytest.raises(AicrError, match=r"cart.yaml: later\.x: the key 1 is not text"):
        read({"later": {"x": {1: 1}}}, Open, strict=False)
