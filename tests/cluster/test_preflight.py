# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A preflight on a real API server: what is planted is found, with its way out, and nothing is written for that."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import lease
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.installed import BEGUN
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import failed
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.preflight import SPEC, look_ahead
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.api import ApiError
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bundled import SLURM, Bundled, bundled

SECRET = "planted-7f31d0-secret"
CRDS = Path(__file__).resolve().parent / "charts" / "crds" / "slinky"
DEFAULT = "storageclass.kubernetes.io/is-default-class"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster in which nothing is deployed."""
    bed = Bed.start(tmp_path_factory.mktemp("preflight") / "kind", "kind")
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": "slurm"}})
    yield bed
    bed.stop()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Bundled]:
    """By mode."""
    folder = tmp_path_factory.mktemp("bundles")
    return {mode: bundled(folder / mode, mode) for mode in ("disabled", "customer-managed", "aicr-provided")}


class Preflight:
    """Runs preflights as their action does."""

    def __init__(self, bed: Bed, charts: Path, made: Mapping[str, Bundled]) -> None:
        self.bed, self.charts, self.made = bed, charts, made

    def result(self, mode: str, **options: object) -> dict[str, Any]:
        which = self.made[mode]
        arguments: dict[str, object] = {
            "kubeconfig": str(self.bed.kubeconfig),
            "bundle": str(which.bundle),
            "recipe": str(which.recipe),
            "chart_source": str(self.charts),
            "helm": str(self.bed.programs["helm"]),
            "run": "mine",
            **options,
        }
        try:
            return look_ahead(parse(SPEC, arguments), tell=print).deliver(
                check_mode=True, diff=True, return_document=False
            )
        except AicrError as error:
            return failed(error)

    def found(self, mode: str, **options: object) -> dict[str, str]:
        """Findings by severity and check, as text with the way out."""
        result = self.result(mode, **options)
        assert "findings" in result, result
        errors = [one for one in result["findings"] if one["severity"] == "error"]
        assert bool(errors) == bool(result.get("failed"))
        assert all(one["what"] in result["msg"] for one in errors)
        return {f"{one['severity']} {one['check']}": f"{one['what']} | {one['way_out']}" for one in result["findings"]}


@pytest.fixture
def preflight(own: Bed, charts: Path, made: Mapping[str, Bundled]) -> Preflight:
    return Preflight(own, charts, made)


@contextlib.contextmanager
def present(bed: Bed, path: str, body: Object) -> Iterator[None]:
    """An object, while in the block."""
    bed.api.create(path, body)
    try:
        yield
    finally:
        bed.api.delete(f"{path}/{body['metadata']['name']}")


def secret(name: str, **data: str) -> Object:
    return {"metadata": {"name": name}, "stringData": data}


def helm_release(name: str, chart: str, version: str, status: str, **config: object) -> Object:
    """The Secret in which Helm keeps the first revision of a release."""
    release = {
        "name": name,
        "version": 1,
        "info": {"status": status, "last_deployed": "2026-11-30T10:00:00Z"},
        "chart": {"metadata": {"name": chart, "version": version}},
        "config": config,
    }
    packed = base64.b64encode(gzip.compress(json.dumps(release).encode())).decode()
    labels = {"owner": "helm", "name": name, "status": status, "version": "1"}
    return {
        "metadata": {"name": f"sh.helm.release.v1.{name}.v1", "labels": labels},
        "type": "helm.sh/release.v1",
        "stringData": {"release": packed},
    }


def test_an_empty_cluster_can_take_it_and_only_reads_are_made(own: Bed, preflight: Preflight) -> None:
    with own.audit.recording("admin") as requests:
        for mode in ("disabled", "aicr-provided"):
            assert preflight.found(mode) == {}
    assert requests
    assert {request.verb for request in requests if request.resource != "selfsubjectaccessreviews"} <= {"get", "list"}
    assert not [request for request in requests if request.writes]


def test_what_is_to_be_recorded_comes_with_it(preflight: Preflight) -> None:
    result = preflight.result("disabled")
    assert result["begins"]["data"]["state"] == BEGUN
    assert result["ends"]["data"]["state"] == "deployed"
    assert result["ends"]["data"]["recipe-digest"].startswith("sha256:")
    assert [json.loads(result["ends"]["data"]["releases"])[0]["name"]] == ["cert-manager"]


def test_a_cluster_that_cannot_be_reached_says_so(preflight: Preflight) -> None:
    result = preflight.result("disabled", kubeconfig=None, host="https://127.0.0.1:9", api_key="x")
    assert result["failed"]
    assert result["error"]["code"] == "SERVICE_UNAVAILABLE"


def test_rights_are_asked_for_once_and_named_one_by_one(own: Bed, preflight: Preflight) -> None:
    with own.audit.recording("admin") as requests:
        preflight.found("disabled")
    assert len([one for one in requests if one.resource == "selfsubjectaccessreviews"]) == 1
    found = preflight.found("disabled", impersonate_user="somebody")
    lacking = found["error rights"]
    for right in (
        "create customresourcedefinitions.apiextensions.k8s.io in the cluster",
        "create namespaces in the cluster",
        "patch deployments.apps in namespace slinky",
        "create secrets in namespace slurm",
        "create leases.coordination.k8s.io in namespace default",
        "create controllers.slinky.slurm.net in namespace slurm",
    ):
        assert right in lacking
    assert "mariadbs" not in lacking
    assert "could not be read" in found["warning unknown"]

    def pods(mode: str, restart: bool) -> bool:
        told = preflight.found(mode, impersonate_user="somebody", restart_slurmctld=restart)["error rights"]
        return "delete pods in namespace slurm" in told

    assert [pods("disabled", True), pods("aicr-provided", False), pods("aicr-provided", True)] == [False, False, True]


def test_rights_in_the_namespaces_alone_are_enough_for_what_is_there(own: Bed, preflight: Preflight) -> None:
    """A right in one namespace counts there, though not in the whole cluster."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "local"}]
    bind = {"metadata": {"name": "all"}, "roleRef": role, "subjects": subjects}
    with (
        present(own, f"{rbac}/namespaces/slurm/roles", {"metadata": {"name": "all"}, "rules": rules}),
        present(own, f"{rbac}/namespaces/slurm/rolebindings", bind),
    ):
        lacking = preflight.found("disabled", impersonate_user="local")["error rights"]
    assert "in namespace slurm" not in lacking
    assert "in namespace slinky" in lacking


def test_crds_of_another_release_and_of_none_are_not_taken_over(own: Bed, preflight: Preflight) -> None:
    """Case S3: older CRDs of somebody else than the chart's."""
    crd = yaml.safe_load(next(CRDS.glob("*accountings*")).read_text(encoding="utf-8"))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    owner = {"meta.helm.sh/release-name": "theirs", "meta.helm.sh/release-namespace": "slurm"}
    annotations = crd["metadata"].setdefault("annotations", {})
    for extra, words in ((owner, "the release slurm/theirs (slurm-operator-crds 1.0.4)"), ({}, "no Helm release")):
        crd["metadata"]["annotations"] = {**annotations, **extra}
        state = helm_release("theirs", "slurm-operator-crds", "1.0.4", "deployed")
        with present(own, "/api/v1/namespaces/slurm/secrets", state), present(own, path, crd):
            text = wait_for(preflight, "error crds")
            assert words in text
            assert "accountings.slinky.slurm.net" in text
        gone(own, f"{path}/{crd['metadata']['name']}")


def wait_for(preflight: Preflight, key: str) -> str:
    """A finding that comes once the API serves a new kind."""
    return eventually(lambda: preflight.found("disabled").get(key, ""))


def gone(bed: Bed, path: str) -> None:
    def absent() -> bool:
        try:
            bed.api.get(path)
        except ApiError as error:
            return error.code == 404
        return False

    eventually(absent)


def test_an_interrupted_release_is_explained_and_never_forced(own: Bed, preflight: Preflight) -> None:
    """Case H10."""
    state = helm_release("slinky-slurm", "slurm", "1.2.1", "pending-install")
    with present(own, "/api/v1/namespaces/slurm/secrets", state):
        text = preflight.found("disabled")["error release"]
    assert "slurm/slinky-slurm: its revision 1 is pending-install" in text
    assert "helm uninstall slinky-slurm --namespace slurm" in text


def test_an_older_bundle_is_a_downgrade(own: Bed, preflight: Preflight) -> None:
    state = helm_release("slinky-slurm", "slurm", "9.9.9", "deployed", accounting={"enabled": False})
    with present(own, "/api/v1/namespaces/slurm/secrets", state):
        assert "installed in version 9.9.9, the bundle has 1.2.1" in preflight.found("disabled")["error downgrade"]
        assert list(preflight.found("disabled", allow_downgrade=True)) == ["warning downgrade"]


def test_a_volume_without_its_secrets_is_an_orphan(own: Bed, preflight: Preflight) -> None:
    """Case M9, and the reverse."""
    claim = {
        "metadata": {"name": "storage-mariadb-0"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    secrets, claims = "/api/v1/namespaces/slurm/secrets", "/api/v1/namespaces/slurm/persistentvolumeclaims"
    root, password = secret("mariadb-root-password", root=SECRET), secret("mariadb-password", password=SECRET)
    with present(own, claims, claim):
        text = preflight.found("aicr-provided")["error orphan-volume"]
        assert "slurm/mariadb-password" in text
        assert "slurm/mariadb-root-password" in text
        assert "put the Secrets back" in text
        assert "delete pvc storage-mariadb-0" in text
        with present(own, secrets, root):
            text = preflight.found("aicr-provided")["error orphan-volume"]
            assert "slurm/mariadb-root-password" not in text
            with present(own, secrets, password):
                assert preflight.found("aicr-provided") == {}
    gone(own, f"{claims}/storage-mariadb-0")
    with present(own, secrets, password):
        assert list(preflight.found("aicr-provided")) == ["warning orphan-secret"]
    with present(own, secrets, secret("mariadb-password", other=SECRET)):
        found = preflight.found("aicr-provided")
        assert "has no key password" in found["error secret"]
        assert SECRET not in str(found)


def test_a_storage_class_is_there_by_name_or_by_default(own: Bed, charts: Path, tmp_path: Path) -> None:
    path = "/apis/storage.k8s.io/v1/storageclasses/standard"
    named = bundled(tmp_path / "named", "aicr-provided", scheduling={"storage_class": "nosuch"})
    made = {"named": named, "plain": bundled(tmp_path / "plain", "aicr-provided")}
    preflight = Preflight(own, charts, made)
    assert 'names the StorageClass "nosuch", which is not there' in preflight.found("named")["error storage"]
    own.api.patch(path, {"metadata": {"annotations": {DEFAULT: "false"}}})
    try:
        text = preflight.found("plain")["error storage"]
    finally:
        own.api.patch(path, {"metadata": {"annotations": {DEFAULT: "true"}}})
    assert "slurm-accounting-mariadb" in text
    assert "there are: standard" in text
    assert preflight.found("plain") == {}


def test_cert_manager_is_needed_where_neither_cluster_nor_bundle_has_it(own: Bed, charts: Path, tmp_path: Path) -> None:
    made = {
        "without": bundled(tmp_path / "without", "disabled", without=("cert-manager",)),
        "own": bundled(
            tmp_path / "own",
            "disabled",
            without=("cert-manager",),
            set=["slinky-slurm-operator:certManager.enabled=false"],
        ),
    }
    preflight = Preflight(own, charts, made)
    assert "slinky-slurm-operator wants certificates" in preflight.found("without")["error cert-manager"]
    assert preflight.found("own") == {}


def test_without_crds_in_the_bundle_they_must_be_in_the_cluster(own: Bed, charts: Path, tmp_path: Path) -> None:
    made = {"part": bundled(tmp_path / "part", "disabled", without=("slinky-slurm-operator-crds",))}
    text = Preflight(own, charts, made).found("part")["error crds"]
    assert "need the CRDs of slinky.slurm.net, which are neither in the cluster nor in the bundle" in text


def test_another_mariadb_operator_keeps_ours_away(own: Bed, preflight: Preflight) -> None:
    labels = {"app.kubernetes.io/name": "mariadb-operator"}
    pod = {"containers": [{"name": "x", "image": "stand-in.invalid/x:1"}]}
    deployment = {
        "metadata": {"name": "mariadb-operator", "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
    }
    with present(own, "/apis/apps/v1/namespaces/slurm/deployments", deployment):
        assert "Deployment slurm/mariadb-operator" in preflight.found("aicr-provided")["error mariadb"]
        assert preflight.found("disabled") == {}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, "error secret"),
        ({"other": SECRET}, "error secret"),
        ({"password": f"{SECRET}#1"}, "error password"),
        ({"password": f"{SECRET}\n"}, "error password"),
        ({"password": SECRET}, ""),
    ],
)
def test_the_customers_secret_is_judged_and_never_shown(
    own: Bed, preflight: Preflight, data: dict[str, str] | None, expected: str
) -> None:
    with contextlib.ExitStack() as stack:
        if data:
            stack.enter_context(present(own, "/api/v1/namespaces/slurm/secrets", secret("mariadb-password", **data)))
        result = preflight.result("customer-managed")
        assert [f"{one['severity']} {one['check']}" for one in result["findings"]] == ([expected] if expected else [])
    assert SECRET not in json.dumps(result)


def test_another_run_is_named_and_our_own_is_not(own: Bed, preflight: Preflight) -> None:
    connection = Connection(Access(kubeconfig=str(own.kubeconfig)), {})
    lease.take(connection, "other", lease.Place())
    try:
        text = preflight.found("disabled")["error lease"]
        assert '"other"' in text
        assert "expires at" in text
        assert preflight.found("disabled", run="other") == {}
        assert preflight.found("disabled", lease={"name": "elsewhere"}) == {}
    finally:
        lease.give_back(connection, "other", lease.Place())


def test_another_mode_is_refused_until_it_is_allowed(own: Bed, preflight: Preflight) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    record = preflight.result("aicr-provided")["ends"]
    with present(own, path, {**record, "data": {**record["data"], "time": "2026-11-30T10:00:00Z"}}):
        text = preflight.found("disabled")["error accounting-mode"]
        assert "installed in mode aicr-provided" in text
        assert "kept as they are" in text
        result = preflight.result("disabled", allow_mode_change=True)
        assert [one["severity"] for one in result["findings"]] == ["warning"]
        kept = [one["name"] for one in json.loads(result["ends"]["data"]["kept"])]
        assert kept == ["mariadb-operator", "mariadb-operator-crds", "slurm-accounting-mariadb"] == result["kept"]
        with present(own, "/api/v1/namespaces/slurm/secrets", secret("mariadb-password", password=SECRET)):
            text = preflight.found("customer-managed", allow_mode_change=True)["error accounting-mode"]
        assert "dump slurm_acct_db" in text
        result = preflight.result("aicr-provided")
        assert (result["begins"], result["ends"], result["findings"]) == (None, None, [])
    foreign = {"metadata": {"name": "aicr-deployment"}, "data": {"x": "y"}}
    with present(own, path, foreign):
        assert "is no record" in preflight.found("disabled")["error record"]


def test_a_run_that_died_before_there_was_a_database_locks_no_mode(own: Bed, preflight: Preflight) -> None:
    """Its record is there, and with it a volume or nothing."""
    record = preflight.result("aicr-provided")["begins"]
    volume = {
        "metadata": {"name": "storage-mariadb-0"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    with contextlib.ExitStack() as stack:
        stack.enter_context(present(own, "/api/v1/namespaces/default/configmaps", record))
        password = secret("mariadb-password", password=SECRET)
        stack.enter_context(present(own, "/api/v1/namespaces/slurm/secrets", password))
        found = preflight.found("customer-managed")
        assert list(found) == ["warning accounting-mode"]
        assert "of which nothing is installed" in found["warning accounting-mode"]
        with present(own, "/api/v1/namespaces/slurm/persistentvolumeclaims", volume):
            text = preflight.found("customer-managed", allow_mode_change=True)["error accounting-mode"]
        assert "the PersistentVolumeClaim slurm/storage-mariadb-0 shows" in text


def test_helm_and_charts_must_be_there(preflight: Preflight, tmp_path: Path) -> None:
    found = preflight.found("disabled", helm="/nowhere/helm", chart_source=str(tmp_path))
    assert "/nowhere/helm" in found["error helm"]
    result = preflight.result("disabled", chart_source=str(tmp_path))
    lacking = [one["what"] for one in result["findings"] if one["check"] == "chart"]
    assert len(lacking) == len(SLURM)
    assert any("slurm-operator-crds" in text for text in lacking)


def test_everything_is_told_at_once_and_nothing_is_written(own: Bed, preflight: Preflight) -> None:
    state = helm_release("slinky-slurm", "slurm", "1.2.1", "pending-upgrade")
    connection = Connection(Access(kubeconfig=str(own.kubeconfig)), {})
    lease.take(connection, "other", lease.Place())
    try:
        with present(own, "/api/v1/namespaces/slurm/secrets", state), own.audit.recording("admin") as requests:
            found = preflight.found("customer-managed", helm="/nowhere/helm")
    finally:
        lease.give_back(connection, "other", lease.Place())
    assert {"error helm", "error lease", "error release", "error secret"} <= found.keys()
    assert not [request for request in requests if request.writes]
