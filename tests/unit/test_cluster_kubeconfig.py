# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way to log in that a kubeconfig knows reaches the server as it should, and none of its secrets gets out."""

from __future__ import annotations

import base64
import copy
import datetime
import ipaddress
import json
import pickle
import socket
import ssl
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fake_api import FakeApi, Request, status

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import exec_plugin, kubeconfig
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import request as requests
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection, Deadline, TransportLost
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.request import get
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError

SECRET = "sesame-0123456789-abcdef"


@dataclass(frozen=True)
class Pair:
    certificate: bytes
    key: bytes


class Authority:
    """Signs with a certificate that lacks an Authority Key Identifier, as those of many clusters do."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name.from_rfc4514_string("CN=ca")
        signed = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(True, None), True)
        self.certificate = self._pem(signed)

    def issue(self, name: str, *names: x509.GeneralName) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name.from_rfc4514_string(f"CN={name}"), key)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Pair(self._pem(builder), private)

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
        )

    def _pem(self, builder: x509.CertificateBuilder) -> bytes:
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def api(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeApi]:
    folder = tmp_path_factory.mktemp("tls")
    server = authority.issue("server", x509.DNSName("api.internal"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    for name, content in (("crt", server.certificate), ("key", server.key), ("ca", authority.certificate)):
        (folder / name).write_bytes(content)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.load_cert_chain(folder / "crt", folder / "key")
    context.verify_mode = ssl.CERT_OPTIONAL
    with FakeApi({"/version": {"gitVersion": "v1.34.1"}}, context) as api:
        yield api


@pytest.fixture(autouse=True)
def _fresh(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api.requests.clear()
    api.trouble = lambda request: None
    monkeypatch.setattr(requests, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(requests, "LONGEST_PAUSE_SECONDS", 0.02)


def base64_of(content: bytes) -> str:
    return base64.b64encode(content).decode()


Config = Callable[..., dict[str, Any]]


@pytest.fixture
def config(api: FakeApi, authority: Authority) -> Config:
    def make(user: Mapping[str, object] | None = None, **cluster: object) -> dict[str, Any]:
        server = {"server": api.url, "certificate-authority-data": base64_of(authority.certificate), **cluster}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "one",
            "clusters": [{"name": "c", "cluster": server}],
            "users": [{"name": "u", "user": dict(user or {})}],
            "contexts": [
                {"name": "one", "context": {"cluster": "c", "user": "u"}},
                {"name": "two", "context": {"cluster": "c"}},
            ],
        }

    return make


def ask(api: FakeApi, access: Access, environ: Mapping[str, str] | None = None) -> Request:
    """Ask once; returns what the server was asked."""
    assert get(Connection(access, environ or {}), "/version", Deadline(5)) == {"gitVersion": "v1.34.1"}
    return api.requests[-1]


def refusal(document: object, **more: Any) -> AicrError:
    with pytest.raises(AicrError) as caught:
        Connection(Access(kubeconfig=document, **more), {})  # type: ignore[arg-type]
    assert SECRET not in str(caught.value) + json.dumps(caught.value.to_result())
    return caught.value


def test_a_token(api: FakeApi, config: Config) -> None:
    asked = ask(api, Access(kubeconfig=config({"token": SECRET})))
    assert asked.headers["authorization"] == [f"Bearer {SECRET}"]


def test_the_token_of_a_file_counts_and_its_line_feed_does_not(api: FakeApi, config: Config, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    (tmp_path / "config").write_text(yamlio.dump(config({"token": "old", "tokenFile": "token"})))
    asked = ask(api, Access(kubeconfig=str(tmp_path / "config")))
    assert asked.headers["authorization"] == [f"Bearer {SECRET}"]


def test_name_and_password(api: FakeApi, config: Config) -> None:
    asked = ask(api, Access(kubeconfig=config({"username": "me", "password": SECRET})))
    assert asked.headers["authorization"] == ["Basic " + base64_of(f"me:{SECRET}".encode())]


def test_a_host_with_a_token_and_a_ca_bundle(api: FakeApi, authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    environ = {
        "K8S_AUTH_HOST": api.url,
        "K8S_AUTH_API_KEY": SECRET,
        "K8S_AUTH_VERIFY_SSL": "True",
        "K8S_AUTH_SSL_CA_CERT": str(tmp_path / "ca.pem"),
    }
    assert ask(api, Access(), environ).headers["authorization"] == [f"Bearer {SECRET}"]


def test_a_pods_own_credentials_if_they_are_asked_for(
    api: FakeApi, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    (tmp_path / "token").write_text(SECRET)
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": api.url.rpartition(":")[2]}
    assert ask(api, Access(in_cluster=True), environ).headers["authorization"] == [f"Bearer {SECRET}"]
    with pytest.raises(AicrError, match="no pod"):
        Connection(Access(in_cluster=True), {})


@pytest.mark.parametrize("as_files", [False, True])
def test_a_client_certificate(
    api: FakeApi, authority: Authority, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_files: bool
) -> None:
    pair = authority.issue("someone")
    files: list[tuple[Path, int]] = []
    load = ssl.SSLContext.load_cert_chain

    def spy(self: ssl.SSLContext, certfile: Any, keyfile: Any, *args: Any, **kwargs: Any) -> None:
        files.extend((Path(file), stat.S_IMODE(Path(file).stat().st_mode)) for file in (certfile, keyfile))
        load(self, certfile, keyfile, *args, **kwargs)

    user = {"client-certificate-data": base64_of(pair.certificate), "client-key-data": base64_of(pair.key)}
    if as_files:
        (tmp_path / "crt").write_bytes(pair.certificate)
        (tmp_path / "key").write_bytes(pair.key)
        user = {"client-certificate": "crt", "client-key": "key"}
    (tmp_path / "config").write_text(yamlio.dump(config(user)))
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", spy)
    ask(api, Access(kubeconfig=str(tmp_path / "config")))
    assert [mode for _unused, mode in files] == [0o600, 0o600]
    assert not [path for path, _unused in files if path.exists()], "private keys were left behind"


def plugin(folder: Path, script: str) -> dict[str, Any]:
    path = folder / "plugin"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys\n{script}\n")
    path.chmod(0o755)
    return {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "IfAvailable"}


def prints(**credential: str) -> str:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": credential}
    return f"print({json.dumps(answer)!r})"


def test_an_exec_plugin_with_arguments_variables_and_the_cluster(api: FakeApi, config: Config, tmp_path: Path) -> None:
    spec = plugin(
        tmp_path,
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "assert sys.argv[1:] == ['get-token', 'x'] and not sys.stdin.read() and info['spec']['interactive'] is False\n"
        f"assert info['spec']['cluster']['server'] == {api.url!r} and os.environ['FROM_PLAY'] == 'yes'\n"
        "print(json.dumps({'apiVersion': info['apiVersion'], 'kind': 'ExecCredential',"
        " 'status': {'token': os.environ['TOKEN']}}))",
    )
    spec |= {"args": ["get-token", "x"], "env": [{"name": "TOKEN", "value": SECRET}], "provideClusterInfo": True}
    (tmp_path / "config").write_text(yamlio.dump(config({"exec": spec})))
    asked = ask(api, Access(kubeconfig=str(tmp_path / "config")), {"FROM_PLAY": "yes"})
    assert asked.headers["authorization"] == [f"Bearer {SECRET}"]


def test_an_exec_plugin_may_answer_a_certificate(
    api: FakeApi, authority: Authority, config: Config, tmp_path: Path
) -> None:
    pair = authority.issue("someone")
    spec = plugin(tmp_path, prints(clientCertificateData=pair.certificate.decode(), clientKeyData=pair.key.decode()))
    (tmp_path / "config").write_text(yamlio.dump(config({"exec": spec})))
    connection = Connection(Access(kubeconfig=str(tmp_path / "config")), {})
    assert connection.login.certificate == (pair.certificate, pair.key)
    get(connection, "/version", Deadline(5))


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("sys.exit('the SSO session has expired')", "the SSO session has expired"),
        (f"print({SECRET!r})", "answered no JSON"),
        ("print('{}')", "answered no credential"),
        (prints(expirationTimestamp="x"), "neither a token nor a certificate"),
        (prints(token=SECRET).replace("k8s.io/v1", "k8s.io/v1alpha1"), "another apiVersion"),
        (f"print({SECRET!r}, os.environ['PASSWORD'], file=sys.stderr); sys.exit(3)", "failed with 3: *** ***"),
    ],
)
def test_an_exec_plugin_that_fails_ends_the_matter(
    api: FakeApi, config: Config, tmp_path: Path, script: str, told: str
) -> None:
    """Never a request without credentials in its place."""
    spec = plugin(tmp_path, script) | {"env": [{"name": "PASSWORD", "value": "hunter2"}]}
    (tmp_path / "config").write_text(yamlio.dump(config({"exec": spec})))
    error = refusal(str(tmp_path / "config"))
    assert error.code.value == "UNAUTHORIZED"
    assert told in error.message
    assert "hunter2" not in error.message
    assert api.requests == []


def test_an_exec_plugin_that_hangs_is_ended(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_plugin, "TIMEOUT_SECONDS", 0.3)
    spec = plugin(tmp_path, "import time; time.sleep(60)")
    (tmp_path / "config").write_text(yamlio.dump(config({"exec": spec})))
    assert "no answer within" in refusal(str(tmp_path / "config")).message


def test_an_exec_plugin_that_is_missing_says_how_to_install_it(config: Config) -> None:
    spec = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin", "installHint": "get it"}
    error = refusal(config({"exec": spec}))
    assert "no-such-plugin" in error.message
    assert error.hint == "get it"


def test_credentials_that_expired_are_read_again_once(api: FakeApi, config: Config, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    connection = Connection(Access(kubeconfig=config({"tokenFile": str(tmp_path / "token")})), {})
    api.trouble = lambda request: None if request.headers["authorization"] == ["Bearer new"] else status(401)
    with pytest.raises(AicrError, match="not accepted"):
        get(connection, "/version", Deadline(5))
    assert len(api.requests) == 1
    (tmp_path / "token").write_text("new")
    get(connection, "/version", Deadline(5))
    assert [request.headers["authorization"] for request in api.requests[1:]] == [["Bearer old"], ["Bearer new"]]


def test_impersonation(api: FakeApi, config: Config) -> None:
    user = {"token": SECRET, "as": "viewer", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"x/y": ["z"]}}
    headers = ask(api, Access(kubeconfig=config(user))).headers
    told = {name: value for name, value in headers.items() if name.startswith("impersonate")}
    assert told == {
        "impersonate-user": ["viewer"],
        "impersonate-uid": ["7"],
        "impersonate-group": ["a", "b"],
        "impersonate-extra-x%2fy": ["z"],
    }
    headers = ask(api, Access(kubeconfig=config(user), impersonate_user="other", impersonate_groups=("c",))).headers
    assert (headers["impersonate-user"], headers["impersonate-group"]) == (["other"], ["c"])
    assert "impersonate-uid" not in headers


class Proxy:
    """A proxy that connects, and remembers what it was asked."""

    def __init__(self, target: str) -> None:
        self.heads: list[str] = []
        host, _unused, port = target.partition("://")[2].partition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            client, _unused = self._listener.accept()
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            self.heads.append(head.decode())
            server = socket.create_connection(self._target)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def test_a_proxy_of_the_kubeconfig(api: FakeApi, config: Config) -> None:
    proxy = Proxy(api.url)
    document = config({"token": SECRET}, **{"proxy-url": f"http://me:{SECRET}@{proxy.address}"})
    ask(api, Access(kubeconfig=document))
    assert proxy.heads[0].startswith(f"CONNECT {api.url.partition('://')[2]} ")
    assert "Basic " + base64_of(f"me:{SECRET}".encode()) in proxy.heads[0]
    assert len(api.requests) == 1


def test_a_proxy_that_is_gone_is_named_without_its_password(config: Config) -> None:
    document = config({"token": SECRET}, **{"proxy-url": f"http://me:{SECRET}@127.0.0.1:1"})
    with pytest.raises(TransportLost, match="the proxy of context") as caught:
        get(Connection(Access(kubeconfig=document), {}), "/version", Deadline(5))
    assert SECRET not in str(caught.value)


NO_PROXIES = [
    f"http://me:{SECRET}#word@127.0.0.1:1",
    f"http://me:{SECRET}/word@127.0.0.1:1",
    f"http://me:{SECRET}?word@127.0.0.1:1",
    f"http://me:1/{SECRET}@127.0.0.1:1",
    f"socks5://me:{SECRET}#word@127.0.0.1:1",
    f"http://me:{SECRET}@127.0.0.1:31x",
    f"http://me:{SECRET}@[::1",
    "http://",
    "ftp://127.0.0.1:1",
]


@pytest.mark.parametrize("proxy", NO_PROXIES)
def test_what_is_no_proxy_is_refused_without_a_part_of_its_password(config: Config, proxy: str) -> None:
    """A sign that ends the password too soon would make a host of what stands before it, and tell that."""
    error = refusal(config(**{"proxy-url": proxy}))
    assert "its proxy is not the URL of one" in error.message
    assert SECRET not in str(error.to_result())


def test_a_connection_that_is_refused_is_told_as_that(config: Config) -> None:
    with pytest.raises(TransportLost, match="Connection refused"):
        get(Connection(Access(kubeconfig=config(server="https://127.0.0.1:1")), {}), "/version", Deadline(5))


@pytest.mark.parametrize("server", ["https://[::1", "https://127.0.0.1:99999", "https://x:port"])
def test_a_server_that_no_connection_could_lead_to_is_refused(config: Config, server: str) -> None:
    assert "is not the URL of an API server" in refusal(config(server=server)).message


def test_comments_of_a_ca_bundle_may_be_in_any_letters(api: FakeApi, authority: Authority, config: Config) -> None:
    bundle = "# Főtanúsítvány\n".encode() + authority.certificate
    ask(api, Access(kubeconfig=config(**{"certificate-authority-data": base64_of(bundle)})))
    assert len(api.requests) == 1


def test_a_home_that_nobody_has_is_no_file(tmp_path: Path) -> None:
    assert refusal("~nosuchuser/config").code.value == "NOT_FOUND"


def test_a_proxy_of_the_environment_as_kubectl_takes_it(api: FakeApi, config: Config) -> None:
    proxy = Proxy(api.url)
    document = config(server="https://api.internal:6443")
    environ = {"HTTPS_PROXY": f"http://{proxy.address}"}
    ask(api, Access(kubeconfig=document), environ)
    assert proxy.heads[0].startswith("CONNECT api.internal:6443 ")
    for no_proxy in ("api.internal", ".internal", "*"):
        with pytest.raises(TransportLost, match=r"cannot be (resolved|reached)"):
            get(Connection(Access(kubeconfig=document), {**environ, "NO_PROXY": no_proxy}), "/version", Deadline(5))


def test_a_socks_proxy_needs_a_package(config: Config) -> None:
    assert "PySocks" in refusal(config(**{"proxy-url": "socks5://127.0.0.1:1"})).message


def test_a_certificate_of_someone_else_is_refused(api: FakeApi, config: Config) -> None:
    other = base64_of(Authority().certificate)
    with pytest.raises(TransportLost, match="not trusted"):
        ask(api, Access(kubeconfig=config(**{"certificate-authority-data": other})))
    assert api.requests == []
    ask(api, Access(kubeconfig=config(**{"certificate-authority-data": other, "insecure-skip-tls-verify": True})))


def test_the_name_in_the_certificate_is_checked(api: FakeApi, config: Config) -> None:
    document = config(server=api.url.replace("127.0.0.1", "localhost"))
    with pytest.raises(TransportLost, match="not trusted"):
        ask(api, Access(kubeconfig=document))
    ask(
        api,
        Access(
            kubeconfig=config(
                server=document["clusters"][0]["cluster"]["server"], **{"tls-server-name": "api.internal"}
            )
        ),
    )


@pytest.mark.parametrize("form", ["json", "yaml", "base64"])
def test_the_content_of_a_kubeconfig_is_no_path_and_is_not_shown(config: Config, form: str) -> None:
    document = config({"token": SECRET, "client-certificate-data": "x" * 4000})
    text = json.dumps(document)
    given = {"json": text, "yaml": yamlio.dump(document), "base64": base64.b64encode(text.encode()).decode()}[form]
    with pytest.raises(AicrError, match="is the content of a kubeconfig") as caught:
        Connection(Access(kubeconfig=given), {})
    assert "from_yaml" in str(caught.value.hint)
    assert given[:40] not in f"{caught.value}{caught.value.details}{Access(kubeconfig=given)!r}"


def test_a_missing_context_names_those_that_exist(config: Config) -> None:
    error = refusal(config(), context="three")
    assert error.code.value == "NOT_FOUND"
    assert '"three"' in error.message
    assert error.hint == "it has: one, two"
    document = config()
    del document["current-context"]
    assert refusal(document).hint == "it has: one, two"


def test_the_context_that_is_named_counts(api: FakeApi, config: Config) -> None:
    assert "authorization" not in ask(api, Access(kubeconfig=config({"token": SECRET}), context="two")).headers


def broken(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def apply(document: dict[str, Any]) -> dict[str, Any]:
        document = copy.deepcopy(document)
        change(document)
        return document

    return apply


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.pop("clusters"), "is no kubeconfig"),
        (lambda d: d["contexts"][0]["context"].update(cluster="x"), 'its cluster "x" is missing'),
        (lambda d: d["contexts"][0]["context"].update(user="x"), 'its user "x" is missing'),
        (lambda d: d["clusters"][0]["cluster"].pop("server"), "server is missing"),
        (lambda d: d["clusters"][0]["cluster"].update(server="ftp://x"), "is not the URL of an API server"),
        (lambda d: d["clusters"][0]["cluster"].update({"certificate-authority-data": "%"}), "is not base64"),
        (lambda d: d["clusters"][0]["cluster"].update({"certificate-authority-data": "AAAA"}), "no certificate"),
        (lambda d: d["users"][0]["user"].update({"client-key-data": base64_of(SECRET.encode())}), "go together"),
        (lambda d: d["users"][0]["user"].update(tokenFile="/nowhere"), "no such file"),
        (lambda d: d["users"][0]["user"].update(token=5), "token must be text"),
        (lambda d: d["users"][0]["user"].update(token=f"{SECRET}\nX-Y: z"), "no header can carry"),
        (lambda d: d["users"][0]["user"].update({"auth-provider": {"name": "gcp"}}), 'provider "gcp"'),
        (lambda d: d.update(users=[SECRET]), "users must be a list"),
    ],
)
def test_a_kubeconfig_that_makes_no_sense_is_refused_by_place(
    config: Config, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    assert told in refusal(broken(change)(config({}))).message


def test_a_kubeconfig_that_is_missing_is_not_found(tmp_path: Path) -> None:
    assert refusal(str(tmp_path / "none")).code.value == "NOT_FOUND"


def test_nothing_shows_a_credential(config: Config) -> None:
    connection = Connection(Access(kubeconfig=config({"token": SECRET, "username": "u", "password": SECRET})), {})
    assert SECRET not in repr(connection.login) + connection.name


def test_a_lost_transport_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(TransportLost("gone", "look", certain=True)))
    assert (error.message, error.hint, error.certain) == ("gone", "look", True)
