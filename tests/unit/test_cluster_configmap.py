# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An artifact in a ConfigMap has the keys, labels and manager that the reference reads, and fits or is not sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_api import FakeApi, status

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.address import Address
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.configmap import MAX_BYTES, Stored, load, store
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

ADDRESS = Address("gpu-operator", "aicr-snapshot")
HEADER = {"timestamp": "2026-11-30T10:30:00Z", "tool_version": "0.1.0"}


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi({}) as api:
        yield api


@pytest.fixture
def connection(api: FakeApi) -> Connection:
    return Connection(Access(host=api.url), {})


@pytest.mark.parametrize(
    ("kind", "form", "key"),
    [
        ("Snapshot", "yaml", "snapshot.yaml"),
        ("Snapshot", "json", "snapshot.json"),
        ("Snapshot", "table", "snapshot.txt"),
        ("RecipeResult", "yaml", "recipe.yaml"),
    ],
)
def test_what_is_stored_is_what_is_loaded(api: FakeApi, connection: Connection, kind: str, form: str, key: str) -> None:
    store(connection, ADDRESS, kind, Stored("kind: x\n", form), **HEADER)
    (request,) = api.requests
    assert (request.method, request.path) == ("PATCH", "/api/v1/namespaces/gpu-operator/configmaps/aicr-snapshot")
    assert request.query == {"fieldManager": "aicr", "force": "true"}
    assert request.headers["content-type"] == ["application/apply-patch+yaml"]
    assert api.stored[request.path] == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "aicr-snapshot",
            "namespace": "gpu-operator",
            "labels": {
                "app.kubernetes.io/name": "aicr",
                "app.kubernetes.io/component": kind,
                "app.kubernetes.io/version": "0.1.0",
            },
        },
        "data": {key: "kind: x\n", "format": form, "timestamp": "2026-11-30T10:30:00Z"},
    }
    assert load(connection, ADDRESS) == Stored("kind: x\n", form)


def test_a_rehearsal_stores_nothing(api: FakeApi, connection: Connection) -> None:
    store(connection, ADDRESS, "Snapshot", Stored("a", "yaml"), **HEADER, dry_run=True)
    assert api.requests[0].query["dryRun"] == "All"
    assert api.stored == {}


def test_what_is_too_large_is_never_sent(api: FakeApi, connection: Connection) -> None:
    extra = len("yaml") + len(HEADER["timestamp"])
    store(connection, ADDRESS, "Snapshot", Stored("ä" * ((MAX_BYTES - extra) // 2), "yaml"), **HEADER)
    assert len(api.requests) == 1
    with pytest.raises(AicrError, match="more than the 1048576") as caught:
        store(connection, ADDRESS, "Snapshot", Stored("ä" * ((MAX_BYTES - extra) // 2 + 1), "yaml"), **HEADER)
    assert len(api.requests) == 1
    assert "max_nodes_per_entry" in caught.value.hint
    assert caught.value.code.value == "INVALID_REQUEST"


def test_a_missing_namespace_or_configmap_is_named(api: FakeApi, connection: Connection) -> None:
    with pytest.raises(AicrError, match="no such ConfigMap") as caught:
        load(connection, ADDRESS)
    assert caught.value.code.value == "NOT_FOUND"
    api.trouble = lambda request: status(404, 'namespaces "gpu-operator" not found')
    with pytest.raises(AicrError, match="no namespace gpu-operator"):
        store(connection, ADDRESS, "Snapshot", Stored("a", "yaml"), **HEADER)


@pytest.mark.parametrize(
    ("data", "told"),
    [({}, "no artifact"), ({"a.yaml": "", "b.json": ""}, "several artifacts"), ({"format": "yaml"}, "no artifact")],
)
def test_a_configmap_of_something_else_is_refused(
    api: FakeApi, connection: Connection, data: dict[str, str], told: str
) -> None:
    api.objects[ADDRESS.path] = {"kind": "ConfigMap", "data": data}
    with pytest.raises(AicrError, match=told):
        load(connection, ADDRESS)


@pytest.mark.parametrize("text", ["cm://", "cm://a", "cm://a/", "cm:///b", "cm://A/b", "cm://a/b/c", "cm://a/B", "a/b"])
def test_what_names_no_configmap_is_refused(text: str) -> None:
    with pytest.raises(AicrError, match="names no ConfigMap"):
        Address.parse(text)


def test_an_address_is_written_as_it_is_read() -> None:
    assert str(Address.parse("cm://gpu-operator/aicr.snapshot-1")) == "cm://gpu-operator/aicr.snapshot-1"
