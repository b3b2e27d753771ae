# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the proxy in front of the API server does to requests is what it was told, and it does it to those alone."""

from __future__ import annotations

import http.client
import time
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, ApiError, Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind
from ansible_collections.aicr.runtime.tests.cluster.bed.tunnel import ForwardProxy, forward

NODES = "/api/v1/nodes"


def api_of(proxy: FaultyApi, tmp_path: Path) -> Api:
    return Api.of_kubeconfig(proxy.kubeconfig(tmp_path / "kubeconfig"))


def test_without_faults_all_passes(bed: Bed, namespace: str, tmp_path: Path) -> None:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    with FaultyApi(bed) as proxy, api_of(proxy, tmp_path) as api:
        assert list(api.items(NODES, limit=2)) == list(bed.api.items(NODES))
        assert api.create(maps, {"metadata": {"name": "a"}, "data": {"k": "v"}})["data"] == {"k": "v"}
        with pytest.raises(ApiError) as refused:
            api.get(f"{maps}/b")
    assert refused.value.code == 404
    assert ("POST", maps) in proxy.requests


def test_a_throttled_client_is_told_when_to_come_again(bed: Bed) -> None:
    with FaultyApi(bed, Fault(Kind.THROTTLED, NODES, times=1, retry_after=3)) as proxy:
        host, _colon, port = proxy.url.removeprefix("https://").partition(":")
        connection = http.client.HTTPSConnection(host, int(port), context=bed.api.tls)
        answers = []
        for _attempt in range(2):
            connection.request("GET", NODES, headers={"Authorization": f"Bearer {bed.settings.tokens['admin']}"})
            answer = connection.getresponse()
            answer.read()
            answers.append((answer.status, answer.getheader("Retry-After")))
        connection.close()
    assert answers == [(429, "3"), (200, None)]


def test_an_answer_without_a_body_leaves_the_connection_usable(bed: Bed) -> None:
    """A 304, which helm is given for the list of kinds that it has kept."""
    token = {
        "Authorization": f"Bearer {bed.settings.tokens['admin']}",
        "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    }
    with FaultyApi(bed) as proxy:
        host, _colon, port = proxy.url.removeprefix("https://").partition(":")
        connection = http.client.HTTPSConnection(host, int(port), context=bed.api.tls)
        answers, known = [], {"If-None-Match": ""}
        for _attempt in range(3):
            connection.request("GET", "/apis", headers=token | known)
            answer = connection.getresponse()
            answer.read()
            answers.append(answer.status)
            known = {"If-None-Match": answer.getheader("ETag") or known["If-None-Match"]}
        connection.close()
    assert answers == [200, 304, 304]


def test_only_what_matches_is_befallen(bed: Bed, tmp_path: Path) -> None:
    fault = Fault(Kind.FAILED, r"/nodes$")
    with FaultyApi(bed, fault) as proxy, api_of(proxy, tmp_path) as api:
        for _attempt in range(2):
            with pytest.raises(ApiError) as failed:
                api.get(NODES)
            assert failed.value.code == 500
        assert api.get("/api/v1/namespaces")["items"]
    assert fault.befallen == 2


def test_the_second_page_of_a_list_is_gone(bed: Bed, tmp_path: Path) -> None:
    with FaultyApi(bed, Fault(Kind.GONE, NODES)) as proxy, api_of(proxy, tmp_path) as api:
        pages = api.items(NODES, limit=2)
        assert [next(pages), next(pages)]
        with pytest.raises(ApiError) as gone:
            next(pages)
    assert (gone.value.code, gone.value.reason) == (410, "Expired")


def test_a_connection_breaks_in_the_middle_of_an_answer(bed: Bed, tmp_path: Path) -> None:
    fault = Fault(Kind.CUT, NODES, first_bytes=1000)
    broken = (ConnectionResetError, http.client.IncompleteRead)
    with FaultyApi(bed, fault) as proxy, api_of(proxy, tmp_path) as api, pytest.raises(broken):
        api.get(NODES)


@pytest.mark.parametrize("kind", [Kind.SILENT, Kind.ENDLESS])
def test_an_answer_does_not_come_to_its_end(bed: Bed, tmp_path: Path, kind: Kind) -> None:
    with FaultyApi(bed, Fault(kind, NODES)) as proxy:
        host, _colon, port = proxy.url.removeprefix("https://").partition(":")
        connection = http.client.HTTPSConnection(host, int(port), context=bed.api.tls, timeout=0.5)
        start = time.monotonic()
        connection.request("GET", NODES)
        if kind is Kind.SILENT:
            with pytest.raises(TimeoutError):
                connection.getresponse()
        else:
            answer = connection.getresponse()
            read = b""
            while time.monotonic() < start + 1:  # never half a second without a byte: such a client has no time-out
                read += answer.read1(1)
            assert read.startswith(b"{ ")
        connection.close()


def test_a_share_of_the_requests_is_befallen_always_the_same(bed: Bed, tmp_path: Path) -> None:
    def failures() -> list[int]:
        with FaultyApi(bed, Fault(Kind.FAILED, percent=30)) as proxy, api_of(proxy, tmp_path) as api:
            failed = []
            for number in range(40):
                try:
                    api.get("/version")
                except ApiError:
                    failed.append(number)
            return failed

    first = failures()
    assert 4 <= len(first) <= 20
    assert failures() == first


def test_a_proxy_url_leads_through_the_proxy(bed: Bed, tmp_path: Path) -> None:
    kubeconfig = bed.write_kubeconfig(tmp_path / "kubeconfig", token=bed.settings.tokens["admin"])
    with ForwardProxy() as proxy:
        text = kubeconfig.read_text().replace("server:", f"proxy-url: {proxy.url}\n    server:")
        kubeconfig.write_text(text)
        assert bed.run("kubectl", "get", "--raw", "/readyz", KUBECONFIG=str(kubeconfig)).stdout == "ok"
    assert proxy.targets == [bed.server.removeprefix("https://")]


def test_a_forward_stands_in_for_another_port(bed: Bed, tmp_path: Path) -> None:
    port = bed.slot.port("kube-apiserver")
    server = forward(("127.0.0.1", 0), ("127.0.0.1", port))
    url = f"https://127.0.0.1:{server.port}"
    kubeconfig = bed.write_kubeconfig(tmp_path / "kubeconfig", url, token=bed.settings.tokens["admin"])
    with Api.of_kubeconfig(kubeconfig) as api:
        assert api.get("/version")["major"] == "1"
    server.stop()
