# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides over a release: the state that Helm keeps, the chart, the values; and what of it is shown."""

from __future__ import annotations

import base64
import gzip
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fake_api import FakeApi, Request
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.chart_source import Chart, locate
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection, Deadline
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.helm_error import explained
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.presence import Presence
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.read import Reader
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.release import Wanted, plan, reasons
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.release_state import ATTEMPT_LABEL, Installed, find
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.release_values import (
    differences,
    formerly_private,
    merged,
    texts,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.rendered import compared
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

SECRETS = "/api/v1/namespaces/slurm/secrets"


# ---- what Helm keeps


def secret(revision: int, status: str, attempt: str | None = None, **release: Any) -> dict[str, Any]:
    document = {
        "info": {"status": status, "last_deployed": f"2026-11-30T10:00:0{revision}Z"},
        "chart": {"metadata": {"name": "demo", "version": f"1.{revision}.0"}},
        **release,
    }
    packed = base64.b64encode(gzip.compress(json.dumps(document).encode()))
    labels = {"owner": "helm", "name": "demo", "version": str(revision), "status": status}
    return {
        "metadata": {"labels": labels | ({ATTEMPT_LABEL: attempt} if attempt else {})},
        "data": {"release": base64.b64encode(packed).decode()},
    }


def found(*secrets: Mapping[str, Any]) -> Installed | None:
    with FakeApi({SECRETS: list(secrets)}) as api:
        connection = Connection(Access(host=api.url), {})
        installed = find(Reader(connection, Deadline(5)), "slurm", "demo")
        (request,) = [one for one in api.requests if one.path == SECRETS]
    assert request.query["labelSelector"] == "owner=helm,name=demo,status!=superseded"
    assert request.query["fieldSelector"] == "type=helm.sh/release.v1"
    return installed


def test_the_newest_revision_counts_by_number() -> None:
    installed = found(secret(9, "deployed"), secret(10, "failed"), secret(2, "failed"))
    assert installed is not None
    assert (installed.revision, installed.status, installed.version) == (10, "failed", "1.10.0")
    assert installed.last_good == 9


def test_there_may_be_none() -> None:
    assert found() is None


def test_what_its_user_gave_may_be_nothing() -> None:
    installed = found(secret(1, "deployed", config=None))
    assert installed is not None and installed.values == {}


@pytest.mark.parametrize(
    "data", ["", "AAAA", base64.b64encode(base64.b64encode(gzip.compress(b"[]", mtime=0))).decode()]
)
def test_a_secret_that_holds_something_else_is_told(data: str) -> None:
    broken = secret(3, "deployed")
    broken["data"]["release"] = data
    with pytest.raises(AicrError, match="release slurm/demo, revision 3") as caught:
        found(broken)
    assert caught.value.code is Code.SERVICE_UNAVAILABLE


def test_every_release_in_between_is_told_at_once() -> None:
    wanted = [Wanted("slurm", name, name, Chart(name, "1.0.0", name)) for name in ("one", "two")]
    with FakeApi({}) as api:

        def pending(request: Request) -> Any:
            if "name=one" in request.query["labelSelector"]:
                api.objects[SECRETS] = [secret(1, "pending-install")]
            else:
                api.objects[SECRETS] = [secret(4, "deployed"), secret(5, "pending-rollback")]

        api.trouble = pending
        connection = Connection(Access(host=api.url), {})
        problems = []
        for one in wanted:
            with pytest.raises(AicrError) as caught:
                plan(connection, [one])
            problems.append(caught.value)
    assert all(problem.code is Code.CONFLICT for problem in problems)
    assert "`helm uninstall one --namespace slurm`" in problems[0].hint
    assert "`helm rollback two 4 --namespace slurm`" in problems[1].hint


@pytest.mark.parametrize(
    ("secrets", "left"),
    [
        ([secret(1, "pending-install", "run-a")], True),
        ([secret(1, "deployed", "run-a"), secret(2, "pending-upgrade", "run-b")], True),
        ([secret(1, "pending-install", "task-a")], False),  # a role without a Lease
        ([secret(1, "pending-install")], False),
        ([secret(1, "deployed", "run-a"), secret(2, "pending-upgrade", "run-a")], False),  # Helm hands labels on
        ([secret(1, "deployed", "run-a"), secret(2, "pending-rollback", "run-b")], False),
        ([secret(1, "uninstalling", "run-a")], False),
        ([secret(1, "deployed", "run-a")], False),
    ],
)
def test_what_a_run_has_left_in_the_middle_is_told_from_anybody_elses_work(
    secrets: list[dict[str, Any]], left: bool
) -> None:
    installed = found(*secrets)
    assert installed is not None and installed.is_left_by_a_run is left


def test_what_a_run_has_left_is_gone_on_with_only_where_that_is_asked_for() -> None:
    wanted = Wanted("slurm", "demo", "demo", Chart("demo", "1.0.0", "demo"))
    for mark, refused in (("run-a", False), ("task-a", True)):
        with FakeApi({SECRETS: [secret(1, "pending-install", mark)]}) as api:
            connection = Connection(Access(host=api.url), {})
            with pytest.raises(AicrError) as caught:
                plan(connection, [wanted])
            assert ("set recover=true" in caught.value.hint) is not refused
            if refused:
                with pytest.raises(AicrError, match="pending-install"):
                    plan(connection, [wanted], recover=True)
            else:
                (planned,) = plan(connection, [wanted], recover=True)
                assert planned.why[0] == "its revision 1 is pending-install"


# ---- the decision

INSTALLED = Installed(3, "deployed", "demo", "1.0.0", "abc", {"a": 1})
WANTED = Wanted("slurm", "demo", "demo", Chart("demo", "v1.0.0", "demo", None, "abc"), {"a": 1.0})


def lacking(*names: str) -> Presence:
    """What finds every object of a release but these."""
    return cast(Any, SimpleNamespace(missing=lambda _manifest, _namespace: [*names]))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"status": "failed"}, "its revision 3 is failed"),
        ({"status": "superseded"}, "its revision 3 is superseded"),
        ({"status": "uninstalled", "values": {}}, "it is not installed"),
        ({"chart": "other"}, "its chart is other 1.0.0, not demo v1.0.0"),
        ({"version": "1.0.1"}, "its chart is demo 1.0.1, not demo v1.0.0"),
        ({"digest": "abd"}, "the content of its chart differs"),
        ({"digest": None}, "the content of its chart is not known"),
        ({"values": {"a": True}}, "its values differ: a"),
        ({"values": {"a": 1, "b": None}}, "its values differ: b"),
        ({"status": "failed", "values": {}}, "its revision 3 is failed; its values differ: a"),
    ],
)
def test_why_a_release_is_upgraded(change: dict[str, Any], why: str) -> None:
    assert "; ".join(reasons(WANTED, Installed(**{**vars(INSTALLED), **change}), lacking())) == why


def test_a_release_that_lacks_an_object_is_upgraded_and_the_first_are_named() -> None:
    names = [f"Secret s{number}" for number in range(20)]
    (why,) = reasons(WANTED, INSTALLED, lacking(*names))
    assert why.startswith("of its objects there are not: Secret s0, Secret s1")
    assert why.endswith("more")


def test_what_is_private_is_looked_for_as_it_may_be_written() -> None:
    """A number as Helm keeps it, and each line of a text, which YAML moves in."""
    private = {
        "pin": 98765432.0,
        "one": 7,
        "yes": True,
        "key": "-----BEGIN\n  Zm9vYmFy\n-----END\n",
        "list": ["word", "x"],
    }
    found = texts(private)
    assert {"98765432", "-----BEGIN", "Zm9vYmFy", "-----END", "word"} <= found
    assert not {"7", "x", "True", "true", "1"} & found
    shown, _unused = compared("kind: A\nmetadata: {name: a}\nkey: |\n  a\n  Zm9vYmFy\n", "", found)
    assert "Zm9v" not in shown


def test_a_chart_from_afar_is_known_by_name_and_version() -> None:
    wanted = Wanted("slurm", "demo", "demo", Chart("demo", "1.0.0", "oci://example.com/demo"), {"a": 1})
    assert not list(reasons(wanted, INSTALLED, lacking()))


def test_of_many_values_the_first_are_named_and_none_is_shown() -> None:
    wanted = Wanted("slurm", "demo", "demo", WANTED.chart, {f"key{n}": "secret-text" for n in range(20)})
    (why,) = reasons(wanted, INSTALLED, lacking())
    assert "key0" in why and "15 more" in why and "secret-text" not in why


# ---- values

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
VALUES = st.dictionaries(st.text(max_size=4), JSON, max_size=4)


def as_helm_stores(values: Any) -> Any:
    """Go reads every number as a float64, and writes those without a fraction as whole ones."""
    return json.loads(json.dumps(values), parse_int=float)


@given(VALUES)
def test_values_do_not_differ_from_themselves_as_helm_stores_them(values: dict[str, Any]) -> None:
    assert differences(values, as_helm_stores(values)) == []


@given(VALUES, VALUES)
def test_values_differ_if_their_texts_do(one: dict[str, Any], other: dict[str, Any]) -> None:
    stored = [json.dumps(as_helm_stores(values), sort_keys=True).replace("-0.0", "0.0") for values in (one, other)]
    assert (differences(one, other) == []) is (stored[0] == stored[1])


def test_a_file_that_holds_no_mapping_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("- one\n")
    with pytest.raises(AicrError, match="where values are due"):
        merged([file], {})
    with pytest.raises(AicrError) as caught:
        merged([tmp_path / "absent.yaml"], {})
    assert caught.value.code is Code.NOT_FOUND


def test_what_stood_where_a_secret_stands_or_nothing_any_more_is_not_shown() -> None:
    installed = {"a": {"password": "old-password", "image": "old-image"}, "token": ["old-token"], "tag": "v1.2"}
    hidden = formerly_private(
        installed, {"a": {"password": "new", "image": "i"}, "tag": "v1.3"}, {"a": {"password": "new"}}
    )
    assert hidden == {"old-password", "old-token"}


# ---- charts


def make(folder: Path, name: str = "demo", version: str = "1.0.0") -> Path:
    (folder / name / "templates").mkdir(parents=True)
    (folder / name / "Chart.yaml").write_text(f"name: {name}\nversion: {version}\n")
    (folder / name / "templates" / "one.yaml").write_text("kind: ConfigMap\n")
    return folder / name


def pack(chart: Path, archive: Path) -> None:
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(chart, chart.name)


@pytest.mark.parametrize(
    ("chart", "repository", "source", "reference", "repo"),
    [
        ("demo", "https://example.com/charts", None, "demo", "https://example.com/charts"),
        ("demo", "oci://example.com/charts/", None, "oci://example.com/charts/demo", None),
        ("oci://example.com/charts/demo", None, None, "oci://example.com/charts/demo", None),
        ("demo", "https://example.com/charts", "oci://mirror/x/", "oci://mirror/x/demo", None),
        ("oci://example.com/charts/demo", None, "oci://mirror/x", "oci://mirror/x/demo", None),
    ],
)
def test_where_helm_finds_a_chart(chart: str, repository: str, source: str, reference: str, repo: str) -> None:
    assert locate(chart, repository, "1.0.0", source) == Chart("demo", "1.0.0", reference, repo)


@pytest.mark.parametrize(
    ("chart", "repository", "version", "code", "message"),
    [
        ("demo", None, "1.0.0", Code.INVALID_REQUEST, "has no repository"),
        ("demo", "https://example.com", None, Code.INVALID_REQUEST, "has no version"),
        ("demo", "https://me:secret@example.com", "1.0.0", Code.INVALID_REQUEST, "holds credentials"),
        ("./nowhere", None, None, Code.NOT_FOUND, "cannot be read"),
    ],
)
def test_a_chart_that_cannot_be_found(chart: str, repository: str, version: str, code: Code, message: str) -> None:
    with pytest.raises(AicrError, match=message) as caught:
        locate(chart, repository, version)
    assert caught.value.code is code and "secret" not in str(caught.value)


@pytest.mark.parametrize("form", ["demo-1.0.0.tgz", "demo-v1.0.0.tgz", "demo"])
@pytest.mark.parametrize("version", ["1.0.0", "v1.0.0"])
def test_a_folder_holds_charts(tmp_path: Path, form: str, version: str) -> None:
    source = tmp_path / "charts"
    made = make(source if form == "demo" else tmp_path)
    if form != "demo":
        source.mkdir()
        pack(made, source / form)
    chart = locate("oci://example.com/x/demo", None, version, str(source))
    assert (chart.name, chart.version, chart.reference) == ("demo", "1.0.0", str(source / form))


def test_a_chart_is_known_by_its_content_packed_or_not(tmp_path: Path) -> None:
    made = make(tmp_path)
    pack(made, tmp_path / "demo.tgz")
    digests = {locate(str(place), None, None).digest for place in (made, tmp_path / "demo.tgz")}
    assert len(digests) == 1 and len(digests.pop() or "") == 40
    before = locate(str(made), None, None).digest
    (made / "templates" / "one.yaml").rename(made / "templates" / "two.yaml")
    assert locate(str(made), None, None).digest != before


def test_a_folder_without_the_chart_or_with_another_is_told(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="holds no chart demo") as caught:
        locate("demo", None, "1.0.0", str(tmp_path))
    assert "demo-1.0.0.tgz" in caught.value.hint
    pack(make(tmp_path / "other", version="1.0.1"), tmp_path / "demo-1.0.0.tgz")
    with pytest.raises(AicrError, match=r"is demo 1\.0\.1, not demo 1\.0\.0") as caught:
        locate("demo", None, "1.0.0", str(tmp_path))
    assert caught.value.code is Code.CONFLICT
    (tmp_path / "demo-1.0.0.tgz").write_bytes(b"no archive")
    with pytest.raises(AicrError, match="it is no chart"):
        locate("demo", None, "1.0.0", str(tmp_path))


# ---- what is shown

BEFORE = """\
# Source: demo/templates/one.yaml
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {same: c2FtZQ==, other: b25l}
---
kind: ConfigMap
metadata: {name: same}
data: {a: b}
---
kind: ConfigMap
metadata: {name: gone}
data: {a: has-token-xyz}
"""


def test_a_difference_shows_what_differs_and_no_secret() -> None:
    after = BEFORE.replace("b25l", "dHdv").partition("---\nkind: ConfigMap\nmetadata: {name: gone}")[0]
    before, now = compared(BEFORE, after, ["token-xyz"])
    assert "other: '*** (before)'" in before and "other: '*** (after)'" in now
    assert "same: '***'" in before and "same: '***'" in now
    assert "name: same" not in before + now
    assert "name: gone" in before and "name: gone" not in now and "has-***" in before
    assert not [text for text in ("b25l", "dHdv", "c2FtZQ", "token-xyz") if text in before + now]


def test_what_cannot_be_read_is_not_shown() -> None:
    before, now = compared("", "# Source: demo/templates/x.yaml\nkind: Secret\ndata: {a: {{ topsecret }\n")
    assert before == "" and "demo/templates/x.yaml (not shown" in now and "topsecret" not in now


def test_of_a_long_object_it_is_told_that_it_differs() -> None:
    long = "kind: CustomResourceDefinition\nmetadata: {name: m}\nspec: {a: %s}\n"
    before, now = compared(long % ("x" * 40_000), long % ("y" * 40_000))
    assert before != now and "# CustomResourceDefinition m" in now
    assert all("not shown: 4" in text and len(text) < 300 for text in (before, now))


# ---- what helm says

SAID = [
    (
        "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        "in-progress",
        Code.CONFLICT,
    ),
    (
        (
            'Error: Unable to continue with install: ConfigMap "a" in namespace "b" exists and cannot be imported into '
            "the current release: invalid ownership metadata; label validation error: missing key"
        ),
        "not-owned",
        Code.CONFLICT,
    ),
    (
        (
            'Error: unable to build kubernetes objects from release manifest: resource mapping not found for name: "x" '
            'namespace: "" from "": no matches for kind "MariaDB" in version "k8s.mariadb.com/v1alpha1"\n'
            "ensure CRDs are installed first"
        ),
        "kind-not-served",
        Code.CONFLICT,
    ),
    (
        (
            'Error: INSTALLATION FAILED: Internal error occurred: failed calling webhook "vmariadb.kb.io": failed to '
            'call webhook: Post "https://w.svc:443/x": dial tcp 10.0.0.1:443: connect: connection refused'
        ),
        "webhook-down",
        Code.SERVICE_UNAVAILABLE,
    ),
    (
        (
            "Error: UPGRADE FAILED: server-side apply failed for object slurm/slurm: .spec.storageConfig.nosuch: field "
            "not declared in schema"
        ),
        "unknown-field",
        Code.INVALID_REQUEST,
    ),
    ('Error: UPGRADE FAILED: cannot patch "x": spec.clusterName: field is immutable', "immutable", Code.CONFLICT),
    ("Error: failed to authorize: 401 Unauthorized", "unauthorized", Code.UNAUTHORIZED),
    (
        'Error: secrets is forbidden: User "jane" cannot list resource "secrets" in API group ""',
        "forbidden",
        Code.UNAUTHORIZED,
    ),
    (
        (
            'Error: looks like "https://example.com" is not a valid chart repository or cannot be reached: Get "x": '
            "dial tcp: lookup example.com: no such host"
        ),
        "chart-missing",
        Code.NOT_FOUND,
    ),
    (
        "Error: Kubernetes cluster unreachable: Get x: dial tcp: connection refused",
        "unreachable",
        Code.SERVICE_UNAVAILABLE,
    ),
    ("Error: INSTALLATION FAILED: failed pre-install: timed out waiting for the condition", "late", Code.TIMEOUT),
    ("Killed", "killed", Code.SERVICE_UNAVAILABLE),
    (
        (
            'Error: template: slurm/templates/secrets.yaml:6:4: executing "x" at <y>: error calling include: '
            'template: slurm/templates/_slurm:68:14: executing "key" at <lookup "v1" "Secret">: error calling '
            "lookup: unable to get apiresource from unstructured: /v1, Kind=Secret: etcdserver: request timed out"
        ),
        "server-fault",
        Code.SERVICE_UNAVAILABLE,
    ),
    (
        (
            'E0130 18:49:57.531022 20816 request.go:1198] "Unexpected error when reading response body"\n'
            "Error: could not get information about x: unexpected error when reading response body. Please retry."
        ),
        "server-fault",
        Code.SERVICE_UNAVAILABLE,
    ),
    (
        'Error: could not get server version: an error on the server ("unknown") has prevented the request from x',
        "server-fault",
        Code.SERVICE_UNAVAILABLE,
    ),
]


@pytest.mark.parametrize(("said", "reason", "code"), SAID)
def test_what_helm_says_is_explained(said: str, reason: str, code: Code) -> None:
    error = explained(f"WARNING: something\n{said}\n", "release slurm/demo")
    assert (error.details["reason"], error.code) == (reason, code)
    assert error.message.startswith("release slurm/demo: ") and "WARNING" not in error.message and error.hint
    assert "request.go" not in error.message


def test_what_helm_says_is_kept_short_and_without_secrets() -> None:
    error = explained(f"Error: value a-long-secret and {'x' * 5000}", "release slurm/demo", ["a-long-secret", "long"])
    assert "value *** and" in error.message and len(error.message) < 1300
    assert error.code is Code.INTERNAL
