# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A ConfigMap as destination: what stands there is written over by its own kind alone, as a file is."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.address import Address
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.configmap import Stored
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, invalid, not_found
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import cluster
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import Document, as_format

DEST = Address("gpu", "aicr")
RECIPE = {"kind": "RecipeResult", "a": 1}


def differs(monkeypatch: Any, present: Stored | AicrError, form: str = "yaml") -> bool:
    def load(connection: object, address: Address) -> Stored:
        if isinstance(present, AicrError):
            raise present
        return present

    monkeypatch.setattr(cluster, "load", load)
    document = Document(RECIPE, as_format(RECIPE, form, lambda: ""))
    return cluster.InCluster(document, form, cast(Any, None)).differs(DEST)


def test_the_same_in_the_same_format_is_left_alone(monkeypatch: Any) -> None:
    assert differs(monkeypatch, Stored(yamlio.dump(RECIPE), "yaml")) is False
    assert differs(monkeypatch, Stored(yamlio.dump(RECIPE), "yaml"), "json") is True


@pytest.mark.parametrize("present", [not_found("none"), invalid("holds no artifact")])
def test_where_no_artifact_is_one_is_written(monkeypatch: Any, present: AicrError) -> None:
    assert differs(monkeypatch, present) is True


def test_a_recipe_replaces_another_one_whatever_its_format(monkeypatch: Any) -> None:
    for form in ("yaml", "json"):
        other = as_format({**RECIPE, "a": 2}, form, lambda: "")
        assert differs(monkeypatch, Stored(other, form)) is True
    assert differs(monkeypatch, Stored("COMPONENT  VERSION  NAMESPACE\n", "table")) is True


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_recipe_never_replaces_a_snapshot(monkeypatch: Any, form: str) -> None:
    snapshot = as_format({"kind": "Snapshot", "measurements": []}, form, lambda: "")
    with pytest.raises(AicrError, match="cm://gpu/aicr: what stands there is a snapshot, not a recipe") as caught:
        differs(monkeypatch, Stored(snapshot, form))
    assert caught.value.code.value == "CONFLICT"
