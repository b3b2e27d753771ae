# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts from a registry that stands in for all repositories, as a site without a way out has one: TLS and a login."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import failed
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.release import SPEC, make_release
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.test_release import chart, packed

LOGIN = "puller:planted-registry-password"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.cncf.helm.config.v1+json"
_CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class Registry:
    """The part of a registry that `helm pull` asks, for whoever has the password."""

    def __init__(self, bed: Bed) -> None:
        self.contents: dict[str, tuple[str, bytes]] = {}
        self.asked: list[str] = []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                registry.asked.append(self.path)
                login = "Basic " + base64.b64encode(LOGIN.encode()).decode()
                if self.headers.get("Authorization") != login:
                    self.answer(401, "application/json", b"{}", {"WWW-Authenticate": 'Basic realm="charts"'})
                elif self.path == "/v2/":
                    self.answer(200, "application/json", b"{}")
                elif self.path in registry.contents:
                    kind, content = registry.contents[self.path]
                    self.answer(200, kind, content, {"Docker-Content-Digest": digest_of(content)})
                else:
                    self.answer(404, "application/json", b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}')

            do_HEAD = do_GET

            def answer(self, code: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
                self.send_response(code)
                for name, value in {"Content-Type": kind, "Content-Length": len(body), **(headers or {})}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

        bed.authority.server("registry", ["127.0.0.1"], ["localhost"])
        pki = bed.directory / "pki"
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(pki / "registry.crt", pki / "registry.key")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def hold(self, repository: str, archive: Path, name: str, version: str) -> None:
        """Keep a chart under its version, as `helm push` does."""
        config = json.dumps({"name": name, "version": version, "apiVersion": "v2"}).encode()
        layer = archive.read_bytes()
        parts = [
            {"mediaType": kind, "digest": digest_of(content), "size": len(content)}
            for kind, content in ((_CONFIG, config), (_CHART, layer))
        ]
        manifest = json.dumps(
            {"schemaVersion": 2, "mediaType": _MANIFEST, "config": parts[0], "layers": parts[1:]}
        ).encode()
        place = f"/v2/{repository}/{name}"
        self.contents[f"{place}/manifests/{version}"] = (_MANIFEST, manifest)
        self.contents[f"{place}/manifests/{digest_of(manifest)}"] = (_MANIFEST, manifest)
        for content in (config, layer):
            self.contents[f"{place}/blobs/{digest_of(content)}"] = ("application/octet-stream", content)
        tags = json.dumps({"name": f"{repository}/{name}", "tags": [version]}).encode()
        self.contents[f"{place}/tags/list"] = ("application/json", tags)


@pytest.fixture(scope="module")
def registry(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    folder = tmp_path_factory.mktemp("charts")
    made = Registry(bed)
    made.hold("mirror/charts", packed(chart(folder), folder, "1.0.0"), "demo", "1.0.0")
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("program", ["helm", "helm3"])
def test_charts_come_from_a_registry_with_a_login(
    bed: Bed, registry: Registry, namespace: str, tmp_path: Path, program: str
) -> None:
    config = tmp_path / "registry.json"
    config.write_text(json.dumps({"auths": {registry.host: {"auth": base64.b64encode(LOGIN.encode()).decode()}}}))
    environ = {"PATH": "/usr/bin:/bin", "SSL_CERT_FILE": str(bed.authority.certificate)}

    def run(check: bool = False, version: str = "1.0.0", **options: Any) -> dict[str, Any]:
        wanted = {
            "name": "demo",
            "namespace": namespace,
            "chart": "demo",
            "repository": "https://charts.example.com",
            "version": version,
        }
        given = {
            "kubeconfig": str(bed.kubeconfig),
            "helm": str(bed.programs[program]),
            "chart_source": f"oci://{registry.host}/mirror/charts",
            "releases": [wanted],
            **options,
        }
        try:
            made = make_release(parse(SPEC, given, environ), tell=print)
            return made.deliver(check_mode=check, diff=False, return_document=False)
        except AicrError as error:
            return failed(error)

    refused = run()
    assert refused["error"]["code"] == "UNAUTHORIZED", refused
    assert "registry_config" in refused["error"]["hint"]
    assert run(True, registry_config=str(config))["changed"]
    installed = run(registry_config=str(config))
    assert installed["releases"][0]["status"] == "deployed", installed
    registry.asked.clear()
    assert not run(registry_config=str(config))["changed"]
    assert registry.asked == [], "nothing is asked of the registry where nothing is to be done"
    absent = run(version="9.9.9", registry_config=str(config))
    assert (absent["error"]["code"], absent["error"]["details"]["reason"]) == ("NOT_FOUND", "chart-missing")
    assert absent["error"]["details"]["status"] == "deployed", "what is installed stays"
    assert LOGIN.partition(":")[2] not in str([refused, installed, absent])
