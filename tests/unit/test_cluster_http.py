# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A document at an address: bounded, from the server that was named, and nothing of a credential in a message."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fake_api import FakeApi, Reply

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.http import Limits, fetch
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface import options
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.validate import make_report

NOBODY: Mapping[str, str] = {}


@pytest.fixture
def server() -> Iterator[FakeApi]:
    with FakeApi({"/here": {"kind": "Here"}}) as running:
        yield running


def refused(address: str, environ: Mapping[str, str] | None = None, limits: Limits | None = None) -> AicrError:
    with pytest.raises(AicrError) as caught:
        fetch(address, NOBODY if environ is None else environ, limits)
    return caught.value


def test_what_is_there_comes_back(server: FakeApi) -> None:
    assert yamlio.load(fetch(f"{server.url}/here?x=1", NOBODY), "here") == {"kind": "Here"}
    assert server.requests[0].query == {"x": "1"}


@pytest.mark.parametrize(("code", "expected"), [
    (404, Code.NOT_FOUND), (410, Code.NOT_FOUND), (401, Code.UNAUTHORIZED), (403, Code.UNAUTHORIZED),
    (500, Code.SERVICE_UNAVAILABLE), (204, Code.SERVICE_UNAVAILABLE),
])  # fmt: skip
def test_an_answer_that_is_no_document_is_told_by_its_class(server: FakeApi, code: int, expected: Code) -> None:
    server.trouble = lambda _request: Reply(code, b"")
    error = refused(f"{server.url}/here?token=s3cret")
    assert error.code is expected
    assert "/here" in error.message
    assert "s3cret" not in str(error.to_result())


def test_a_document_has_a_largest_size(server: FakeApi) -> None:
    server.trouble = lambda _request: Reply(200, b"x" * 1001)
    assert "larger than 1000 bytes" in refused(f"{server.url}/here", limits=Limits(size=1000)).message
    assert len(fetch(f"{server.url}/here", NOBODY, Limits(size=1001))) == 1001


@pytest.mark.parametrize("trouble", [Reply(200, b"x", drip=0.02), Reply(200, b"x", silence=30)])
def test_all_of_it_has_one_limit_of_time(server: FakeApi, trouble: Reply) -> None:
    server.trouble = lambda _request: trouble
    before = time.monotonic()
    error = refused(f"{server.url}/here", limits=Limits(seconds=0.5, silence=20))
    assert error.code is Code.TIMEOUT
    assert time.monotonic() - before < 5


def test_silence_ends_it_before(server: FakeApi) -> None:
    server.trouble = lambda _request: Reply(200, b"x", silence=30)
    assert refused(f"{server.url}/here", limits=Limits(seconds=20, silence=0.3)).code is Code.TIMEOUT


def test_a_body_that_is_cut_is_no_document(server: FakeApi) -> None:
    server.trouble = lambda _request: Reply(200, b"a: 1\nb: 2\n", cut=5)
    assert refused(f"{server.url}/here").code is Code.SERVICE_UNAVAILABLE


def test_it_follows_to_the_same_scheme_alone_and_not_for_ever(server: FakeApi) -> None:
    to = {"/a": "/here", "/b": "https://127.0.0.1/here?token=s3cret", "/c": "file:///etc/passwd", "/d": "/d"}
    server.trouble = lambda request: Reply(302, b"", {"Location": to[request.path]}) if request.path in to else None
    assert b"Here" in fetch(f"{server.url}/a", NOBODY)
    for start, words in (("/b", "another scheme"), ("/c", "another scheme"), ("/d", "more than 5 times")):
        error = refused(f"{server.url}{start}")
        assert error.code is Code.INVALID_REQUEST
        assert words in error.message
        assert "s3cret" not in str(error.to_result())


@pytest.mark.parametrize("address", ["https://", "https://a b/", "https://h:x/", "https://user:s3cret@host/r.yaml"])
def test_an_address_that_is_none_or_holds_a_password_is_refused(address: str) -> None:
    error = refused(address)
    assert error.code is Code.INVALID_REQUEST
    assert "s3cret" not in str(error.to_result())


def test_nobody_there_is_told(server: FakeApi) -> None:
    assert refused("http://127.0.0.1:9/x").code is Code.SERVICE_UNAVAILABLE


def self_signed(folder: Path) -> tuple[Path, ssl.SSLContext]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    today = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    bundle, secret = folder / "ca.pem", folder / "key.pem"
    bundle.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(bundle, secret)
    return bundle, context


def test_a_certificate_is_verified_by_the_bundle_that_is_named(tmp_path: Path) -> None:
    bundle, context = self_signed(tmp_path)
    with FakeApi({"/here": {"kind": "Here"}}, context) as server:
        error = refused(f"{server.url}/here")
        assert "certificate is not trusted" in error.message
        assert error.code is Code.SERVICE_UNAVAILABLE
        assert not server.paths
        assert b"Here" in fetch(f"{server.url}/here", {"SSL_CERT_FILE": str(bundle)})
        port = server.url.rpartition(":")[2]
        assert "not trusted" in refused(f"https://localhost:{port}/here", {"SSL_CERT_FILE": str(bundle)}).message


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://localhost:99999/x", "https://localhost:99999/x"),
        ("https://localhost:99999/x?token=s3cret", "https://localhost:99999/x"),
        ("https://[x/y", "https://[x/y"),
        ("https://", "https://"),
        ("https://a..b/y", "https://a..b/y"),
        ("https://u:p/s3cret@x/y", "https://…"),
        ("https://u:s3cret?@[x", "https://…"),
    ],
)
def test_what_is_no_address_is_named_without_what_may_be_a_password(address: str, shown: str) -> None:
    error = refused(address)
    assert error.message == f"{shown}: is no address" and "s3cret" not in str(error.to_result())


def test_a_proxy_of_the_environment_is_asked_and_its_password_kept(server: FakeApi) -> None:
    server.objects["/there"] = {"kind": "There"}
    environ = {"HTTP_PROXY": server.url.replace("http://", "http://me:s3cret@")}
    assert b"There" in fetch("http://artifacts.example.com/there", environ)
    assert server.requests[0].headers["host"] == ["artifacts.example.com"]
    error = refused("http://artifacts.example.com/none", environ)
    assert error.code is Code.NOT_FOUND
    assert "s3cret" not in str(error.to_result())


@pytest.mark.parametrize("sign", "#/?")
def test_what_is_no_proxy_is_refused_without_a_part_of_its_password(server: FakeApi, sign: str) -> None:
    environ = {"HTTP_PROXY": f"http://me:s3cret{sign}word@127.0.0.1:1"}
    error = refused("http://artifacts.example.com/none", environ)
    assert "is not the URL of an HTTP proxy" in error.message
    assert "s3cret" not in str(error.to_result())


CRITERIA = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu"}


def test_stages_read_an_address_as_they_read_a_file(server: FakeApi, tmp_path: Path) -> None:
    snapshot = {
        "kind": "Snapshot", "apiVersion": "aicr.run/v1alpha2",
        "measurements": [
            {"type": "K8s", "subtypes": [{"subtype": "server", "data": {"version": "v1.34.0"}}]},
            {"type": "OS", "subtypes": [
                {"subtype": "release", "data": {"ID": "ubuntu", "VERSION_ID": "24.04"}},
                {"subtype": "sysctl", "data": {"/proc/sys/kernel/osrelease": "6.8.0"}},
            ]},
        ],
    }  # fmt: skip
    (tmp_path / "snapshot.yaml").write_text(yamlio.dump(snapshot))
    server.objects["/snapshot.yaml"] = snapshot
    asked = {"criteria": CRITERIA}
    by_file = make_recipe(options.parse(options.RECIPE, {**asked, "snapshot": str(tmp_path / "snapshot.yaml")}))
    by_address = make_recipe(options.parse(options.RECIPE, {**asked, "snapshot": f"{server.url}/snapshot.yaml"}))
    assert by_address.digest == by_file.digest
    server.objects["/recipe.json"] = by_file.document
    report = {"recipe": f"{server.url}/recipe.json?sig=s3cret", "snapshot": f"{server.url}/snapshot.yaml"}
    made = make_report(options.parse(options.VALIDATE, report))
    assert made.summary["passed"]
    assert "s3cret" not in str(made.warnings)
