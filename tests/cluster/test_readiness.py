# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action readiness on a cluster: what counts as ready, what does not, what is said of it, and an API that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import watch as following
from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment import readiness as waiting
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import RECIPE, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.readiness import SPEC, make_readiness
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.tests.cluster.bed import Api, ApiError, Bed
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind
from ansible_collections.aicr.runtime.tests.cluster.conftest import Cluster
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

Object = dict[str, Any]
CRDS = Path(__file__).parent / "charts" / "crds"
APPS = "/apis/apps/v1/namespaces/{}/{}"
MARIADB = "k8s.mariadb.com/v1alpha1"


def check(*operations: Object, timeout: str = "60s") -> str:
    """A health check of one step."""
    spec = {"timeouts": {"assert": timeout}, "steps": [{"name": "look", "try": list(operations)}]}
    document = {"apiVersion": "chainsaw.kyverno.io/v1alpha1", "kind": "Test", "metadata": {"name": "t"}, "spec": spec}
    return yamlio.dump(document)


def resource(api_version: str, kind: str, name: str | None, namespace: str | None, **tree: object) -> Object:
    named = {key: value for key, value in (("name", name), ("namespace", namespace)) if value}
    return {"resource": {"apiVersion": api_version, "kind": kind, "metadata": named, **tree}}


def recipe(namespace: str, *, asserts: str | None = None, **fields: object) -> Object:
    """A recipe of one component, ``thing``."""
    ref: Object = {
        "name": "thing",
        "namespace": namespace,
        "type": "Helm",
        "chart": "thing",
        "source": "https://charts.example.com",
        "version": "1.0.0",
        **fields,
    }
    if asserts:
        ref["healthCheckAsserts"] = asserts
    return {"apiVersion": "aicr.run/v1alpha2", "kind": "RecipeResult", "componentRefs": [ref]}


def ready(
    kubeconfig: Path, document: Object, *, check_mode: bool = False, tell: Callable[[str], None] = print, **options: Any
) -> Object:
    """What the action returns."""
    arguments = {"kubeconfig": str(kubeconfig), "recipe": document, "stable": 0.3, **options}
    made = make_readiness(parse(SPEC, arguments, {}), check_mode=check_mode, tell=tell)
    return made.deliver(check_mode=check_mode, diff=False, return_document=False)


class Meanwhile:
    """Does something once in another thread, as soon as a first line says that it is waited."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=work)
        self.began: float | None = None

    def __call__(self, line: str) -> None:
        """What takes the lines of progress."""
        if self.began is None:
            self.began = time.monotonic()
            self._thread.start()

    def __enter__(self) -> Meanwhile:
        return self

    def __exit__(self, *_unused: object) -> None:
        if self.began is not None:
            self._thread.join(60)


@pytest.fixture(autouse=True)
def lines_come_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TELL_SECONDS", 0.3)


def workload(
    api: Api, namespace: str, kind: str = "Deployment", name: str = "web", replicas: int = 1, **annotations: str
) -> str:
    """Make a workload; returns its path."""
    labels = {"app": name}
    pod = {"metadata": {"labels": labels, "annotations": annotations}, "spec": {"containers": [_CONTAINER]}}
    spec: Object = {"selector": {"matchLabels": labels}, "template": pod}
    if kind != "DaemonSet":
        spec["replicas"] = replicas
    path = APPS.format(namespace, f"{kind.lower()}s")
    api.create(path, {"metadata": {"name": name}, "spec": spec})
    return f"{path}/{name}"


_CONTAINER = {"name": "main", "image": "registry.k8s.io/pause:3.10"}


def available(namespace: str, kind: str = "Deployment", name: str = "web") -> Object:
    return {"assert": resource("apps/v1", kind, name, namespace, status={"(availableReplicas > `0`)": True})}


def release(api: Api, namespace: str) -> None:
    """Let go what ``bed/hold`` holds."""
    for pod in api.items(f"/api/v1/namespaces/{namespace}/pods"):
        api.patch(
            f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}",
            {"metadata": {"annotations": {"bed/hold": None}}},
        )


def test_what_is_there_is_ready_and_says_what_held(cluster: Cluster, namespace: str) -> None:
    workload(cluster.api, namespace)
    result = ready(cluster.kubeconfig, recipe(namespace, asserts=check(available(namespace))))
    assert "failed" not in result and result["changed"] is False
    (thing,) = result["components"].values()
    assert thing["ready"] is True and thing["seconds"] < 30
    assert thing["assertions"] == [
        {
            "object": f"Deployment {namespace}/web",
            "source": "step look",
            "forbidden": False,
            "holds": True,
            "troubles": [],
        }
    ]


def test_an_object_that_comes_late_is_waited_for(cluster: Cluster, namespace: str) -> None:
    with Meanwhile(lambda: workload(cluster.api, namespace)) as later:
        result = ready(cluster.kubeconfig, recipe(namespace, asserts=check(available(namespace))), tell=later)
    assert later.began and result["components"]["thing"]["ready"] is True


def test_a_kind_whose_crd_comes_late_is_waited_for(bed: Bed, namespace: str) -> None:
    name = f"t{namespace[-8:]}"
    group = f"{name}.example.com"
    asserts = check({"assert": resource(f"{group}/v1", "Thing", "one", namespace, status={"state": "good"})})
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }

    def define() -> None:
        bed.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        body = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "one"}, "status": {"state": "good"}}
        eventually(lambda: _made(bed.api, f"/apis/{group}/v1/namespaces/{namespace}/things", body))

    try:
        with Meanwhile(define) as later:
            result = ready(bed.kubeconfig, recipe(namespace, asserts=asserts), tell=later)
        assert later.began and result["components"]["thing"]["ready"] is True
    finally:
        bed.api.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}")


def _made(api: Api, path: str, body: Object) -> bool:
    try:
        api.create(path, body)
    except ApiError:
        return False
    return True


def test_a_timeout_names_object_expectation_conditions_pods_and_events(bed: Bed, namespace: str) -> None:
    workload(bed.api, namespace, **{"bed/hold": "pulling"})
    eventually(lambda: list(bed.api.items(f"/api/v1/namespaces/{namespace}/events")))
    result = ready(bed.kubeconfig, recipe(namespace, asserts=check(available(namespace))), timeout=2)
    assert result["failed"] is True and result["error"]["code"] == "TIMEOUT"
    message = result["error"]["message"]
    assert message.startswith(
        f"not ready after 2 s: thing: Deployment {namespace}/web: status.(availableReplicas > `0`)"
    )
    for words in ("expected true", "found nothing", "Available=False MinimumReplicasUnavailable", "ImagePullBackOff"):
        assert words in message, message
    assert "the image cannot be pulled" in result["error"]["hint"]
    (trouble,) = result["components"]["thing"]["assertions"][0]["troubles"]
    assert trouble["object"] == f"Deployment {namespace}/web"
    assert (trouble["path"], trouble["expected"]) == ("status.(availableReplicas > `0`)", "true")


def test_that_a_pod_once_had_no_node_is_no_reason_any_more(bed: Bed, namespace: str) -> None:
    workload(bed.api, namespace, **{"bed/hold": "unready"})
    pods = f"/api/v1/namespaces/{namespace}/pods"
    (pod,) = eventually(lambda: [one for one in bed.api.items(pods) if one["spec"].get("nodeName")])
    about = {"kind": "Pod", "namespace": namespace, **{key: pod["metadata"][key] for key in ("name", "uid")}}
    event = {"type": "Warning", "reason": "FailedScheduling", "message": "0/3 nodes are available"}
    body = {**event, "metadata": {"name": "before"}, "involvedObject": about}
    bed.api.create(f"/api/v1/namespaces/{namespace}/events", body)
    result = ready(bed.kubeconfig, recipe(namespace, asserts=check(available(namespace))), timeout=1)
    assert "web" in result["error"]["message"]
    assert "0/3 nodes" not in result["error"]["message"]
    assert "no node takes the pod" not in result["error"]["hint"]
    bed.api.patch(
        APPS.format(namespace, "deployments/web"), {"spec": {"template": {"spec": {"nodeSelector": {"no": "such"}}}}}
    )
    eventually(lambda: [one for one in bed.api.items(pods) if not one["spec"].get("nodeName")])
    result = ready(bed.kubeconfig, recipe(namespace, asserts=check(available(namespace))), timeout=2)
    assert "no node takes the pod" in result["error"]["hint"]


def test_an_old_revision_that_is_available_is_not_ready(bed: Bed, namespace: str) -> None:
    """Case N45: the check alone holds of the revision before."""
    path = workload(bed.api, namespace, replicas=2)
    document = recipe(namespace, asserts=check(available(namespace)))
    assert ready(bed.kubeconfig, document)["components"]["thing"]["ready"] is True
    bed.api.patch(path, {"spec": {"template": {"metadata": {"annotations": {"bed/hold": "unready"}}}}})
    eventually(lambda: bed.api.get(path)["status"].get("observedGeneration") == 2)
    result = ready(bed.kubeconfig, document, timeout=2)
    assert bed.api.get(path)["status"]["availableReplicas"] > 0
    assert result["failed"] is True
    assert "of the new revision" in result["error"]["message"]

    bed.api.patch(path, {"spec": {"template": {"metadata": {"annotations": {"bed/hold": None}}}}})
    assert "failed" not in ready(bed.kubeconfig, document)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_nothing_desired_is_not_ready_unless_it_is_asked_for(cluster: Cluster, namespace: str, kind: str) -> None:
    workload(cluster.api, namespace, kind, replicas=0)
    named = [{"kind": kind, "name": "web", "namespace": namespace}]
    result = ready(cluster.kubeconfig, recipe(namespace, expectedResources=named), timeout=1)
    assert f"{kind} {namespace}/web: spec.replicas: expected at least 1, found 0" in result["msg"]
    asked = check({"assert": resource("apps/v1", kind, "web", namespace, spec={"replicas": 0})})
    assert "failed" not in ready(cluster.kubeconfig, recipe(namespace, asserts=asked))


def test_a_daemon_set_names_the_node_that_lacks_it(bed: Bed, namespace: str) -> None:
    """Case K6: which pod, on which node, and that the node is not Ready."""
    path = workload(bed.api, namespace, "DaemonSet", **{"bed/hold": "unready"})
    assert eventually(lambda: bed.api.get(path).get("status", {}).get("currentNumberScheduled", 0) > 1)
    pods = sorted(bed.api.items(f"/api/v1/namespaces/{namespace}/pods"), key=lambda pod: pod["metadata"]["name"])
    node = pods[0]["spec"]["nodeName"]
    for pod in pods[1:]:
        patch = {"metadata": {"annotations": {"bed/hold": None}}}
        bed.api.patch(f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}", patch)
    assert eventually(lambda: bed.api.get(path)["status"]["numberReady"] == len(pods) - 1)
    conditions = [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]
    bed.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {"bed/hold": ""}}})
    try:
        strategic = "application/strategic-merge-patch+json"
        bed.api.patch(f"/api/v1/nodes/{node}/status", {"status": {"conditions": conditions}}, strategic)
        named = [{"kind": "DaemonSet", "name": "web", "namespace": namespace}]
        message = ready(bed.kubeconfig, recipe(namespace, expectedResources=named), timeout=2)["msg"]
    finally:
        bed.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {"bed/hold": None}}})
    assert f"status.numberReady: expected {len(pods)} ready, found {len(pods) - 1}" in message
    assert f"{pods[0]['metadata']['name']} on node {node}, which is not Ready" in message
    assert pods[1]["metadata"]["name"] not in message


def test_an_error_that_matches_ends_only_when_it_is_gone(bed: Bed, namespace: str) -> None:
    workload(bed.api, namespace)
    workload(bed.api, namespace, name="bad", **{"bed/crash": "1"})
    crash = "(length((containerStatuses || `[]`)[?state.waiting.reason == 'CrashLoopBackOff']) > `0`)"
    document = recipe(
        namespace,
        asserts=check(available(namespace), {"error": resource("v1", "Pod", None, namespace, status={crash: True})}),
    )
    eventually(lambda: "CrashLoopBackOff" in str(list(bed.api.items(f"/api/v1/namespaces/{namespace}/pods"))))
    result = ready(bed.kubeconfig, document, timeout=2)
    assert "CrashLoopBackOff" in result["msg"] and f"Pod {namespace}/bad-" in result["msg"]
    with Meanwhile(lambda: bed.api.delete(APPS.format(namespace, "deployments/bad"))) as later:
        assert ready(bed.kubeconfig, document, tell=later)["components"]["thing"]["ready"] is True
    assert later.began


def test_check_mode_looks_once_and_predicts(bed: Bed, namespace: str) -> None:
    document = recipe(namespace, asserts=check(available(namespace)))
    with bed.audit.recording("admin") as requests:
        result = ready(bed.kubeconfig, document, check_mode=True)
    assert "failed" not in result
    assert result["components"]["thing"] | {"assertions": []} == {
        "ready": False,
        "predicted": True,
        "seconds": 0.0,
        "assertions": [],
        "explanations": [],
    }
    assert result["warnings"][-1].startswith("check mode: thing is not ready now: Deployment")
    assert not [request for request in requests if request.writes]
    assert not [request for request in requests if request.verb == "watch"]
    workload(bed.api, namespace)
    eventually(lambda: ready(bed.kubeconfig, document, check_mode=True)["components"]["thing"]["ready"])


def test_progress_is_told_while_it_waits(cluster: Cluster, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TELL_SECONDS", 0.5)
    told: list[str] = []
    ready(cluster.kubeconfig, recipe(namespace, asserts=check(available(namespace))), timeout=2, tell=told.append)
    assert 2 <= len(told) <= 4
    assert told[0].startswith("readiness: 0 of 1 ready; thing waits for Deployment")
    assert told[0].endswith(" s left")


def test_rights_that_are_missing_are_named_at_once(bed: Bed, namespace: str) -> None:
    named = [{"kind": kind, "name": "web", "namespace": namespace} for kind in ("Deployment", "Secret")]
    kubeconfig = bed.write_kubeconfig(bed.directory / f"{namespace}.kubeconfig", token=bed.settings.tokens["nobody"])
    with pytest.raises(AicrError) as caught:
        ready(kubeconfig, recipe(namespace, expectedResources=named))
    assert caught.value.code.value == "UNAUTHORIZED"
    for right in ("list deployments.apps web", "watch deployments.apps web", "list secrets web", "watch secrets web"):
        assert f"{right} in namespace {namespace}" in caught.value.message


def test_no_value_of_a_secret_is_kept(bed: Bed, namespace: str) -> None:
    body = {"metadata": {"name": "pass"}, "stringData": {"password": "s3cr3t-value"}}
    bed.api.create(f"/api/v1/namespaces/{namespace}/secrets", body)
    there = {"assert": resource("v1", "Secret", "pass", namespace, **{"(contains(keys(data), 'password'))": True})}
    wrong = {"assert": resource("v1", "Secret", "pass", namespace, data={"password": "other"})}
    assert "failed" not in ready(bed.kubeconfig, recipe(namespace, asserts=check(there)))
    told = str(ready(bed.kubeconfig, recipe(namespace, asserts=check(wrong)), timeout=1))
    assert "s3cr3t" not in told and "czNjcjN0" not in told and "***" in told


@pytest.mark.parametrize(
    "fault",
    [
        Fault(Kind.GONE, "watch=true", times=3),
        Fault(Kind.CUT, "watch=true", times=4, first_bytes=300),
        Fault(Kind.CUT, "watch=true", times=2, first_bytes=0),
        Fault(Kind.THROTTLED, "watch=true", times=2),
        Fault(Kind.FAILED, "watch=true", times=3),
        Fault(Kind.FAILED, "deployments", times=8),
        Fault(Kind.CUT, "deployments", percent=40, first_bytes=200),
    ],
    ids=["410", "cut", "cut at once", "429", "500", "500 of lists", "a lossy way"],
)
def test_a_watch_that_breaks_goes_on(bed: Bed, namespace: str, tmp_path: Path, fault: Fault) -> None:
    """Nothing is missed, whatever breaks between us and the API server while things change."""

    def change() -> None:
        workload(bed.api, namespace, **{"bed/hold": "unready"})
        time.sleep(1)
        release(bed.api, namespace)

    document = recipe(namespace, asserts=check(available(namespace)))
    with FaultyApi(bed, fault) as proxy:
        kubeconfig = proxy.kubeconfig(tmp_path / "kubeconfig")
        with Meanwhile(change) as later:
            result = ready(kubeconfig, document, tell=later)
    assert fault.befallen
    assert later.began and "failed" not in result, result


def test_a_secret_that_changed_while_its_watch_was_dead_is_seen_before_the_end(
    bed: Bed, namespace: str, tmp_path: Path
) -> None:
    """A connection that died unnoticed says nothing, so all is read once more before it is told to be ready."""
    path = f"/api/v1/namespaces/{namespace}/secrets"
    bed.api.create(path, {"metadata": {"name": "pass"}, "stringData": {"password": "s3cr3t-value"}})
    there = {
        "assert": resource("v1", "Secret", "pass", namespace, **{"(contains(keys(data || `{}`), 'password'))": True})
    }
    fault = Fault(Kind.ENDLESS, "watch=true")

    def take_away() -> None:
        eventually(lambda: fault.befallen)
        bed.api.patch(f"{path}/pass", {"data": None})

    with FaultyApi(bed, fault) as proxy:
        later = threading.Thread(target=take_away)
        later.start()
        kubeconfig = proxy.kubeconfig(tmp_path / "kubeconfig")
        result = ready(kubeconfig, recipe(namespace, asserts=check(there)), stable=3, timeout=5)
        later.join()
    assert result["failed"] is True, "it was told from before the change"
    assert bed.api.get(f"{path}/pass").get("data") is None


def test_an_api_that_is_lost_for_good_ends_in_time_and_says_so(
    bed: Bed, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "WATCH_SECONDS", 1)
    document = recipe(namespace, asserts=check(available(namespace)))
    with FaultyApi(bed) as proxy:
        kubeconfig = proxy.kubeconfig(tmp_path / "kubeconfig")

        with Meanwhile(lambda: proxy.faults.append(Fault(Kind.CUT, first_bytes=0))) as later:
            result = ready(kubeconfig, document, timeout=4, tell=later)
        took = time.monotonic() - (later.began or 0)
    assert result["failed"] is True and took < 40
    assert "expected to be in sight" in result["msg"]


class Flapper:
    """Writes the status of a MariaDB as the real operator does after a corrected root password (operators.md 1.4)."""

    def __init__(self, api: Api, path: str) -> None:
        self._api, self._path, self._stop = api, path, threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Flapper:
        self._thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.wait(0.06):
            set_ready(self._api, self._path, "True", "StatefulSetReady", "Running")
            if self._stop.wait(0.06):
                return
            set_ready(self._api, self._path, "False", "Failed", FAILED_ROOT)


FAILED_ROOT = (
    "Error reconciling Root Password: error creating SQL client for root password update: Error 1045 (28000): Access "
    "denied for user 'root'@'10.0.0.1' (using password: YES)"
)


def set_ready(api: Api, path: str, status: str, reason: str, message: str) -> None:
    condition = {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    api.patch(f"{path}/status", {"status": {"conditions": [condition]}})


@pytest.fixture(scope="module")
def definitions(bed: Bed) -> None:
    """The real CRDs of both operators."""
    root = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for path in sorted(CRDS.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if document and document["kind"] == "CustomResourceDefinition":
                bed.api.apply(f"{root}/{document['metadata']['name']}", document)
    eventually(lambda: bed.api.get(f"/apis/{MARIADB}")["resources"])
    eventually(lambda: bed.api.get("/apis/slinky.slurm.net/v1beta1")["resources"])


@pytest.fixture
def slurm(bed: Bed, definitions: None) -> Iterator[str]:
    """The namespace that a recipe for Slurm works in."""
    bed.api.apply("/api/v1/namespaces/slurm", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "slurm"}})
    yield "slurm"
    for group, plurals in ((MARIADB, ("mariadbs", "databases", "users", "grants")), ("apps/v1", ("statefulsets",))):
        for plural in plurals:
            bed.api.delete(f"/apis/{group}/namespaces/slurm/{plural}")
    bed.api.delete("/apis/slinky.slurm.net/v1beta1/namespaces/slurm/accountings")
    for plural in ("secrets", "services"):
        for one in bed.api.items(f"/api/v1/namespaces/slurm/{plural}"):
            bed.api.delete(f"/api/v1/namespaces/slurm/{plural}/{one['metadata']['name']}")


def slurm_recipe(mode: str) -> Object:
    """A resolved recipe in a mode."""
    criteria = {"service": "eks", "accelerator": "h100", "intent": "training", "os": "ubuntu", "platform": "slurm"}
    made = make_recipe(parse(RECIPE, {"criteria": criteria, "slurm_accounting_mode": mode}, {}))
    document: Object = made.document  # type: ignore[assignment]
    return document


def database(bed: Bed) -> str:
    """The objects of ``aicr-provided`` as operators leave them; returns the path of the MariaDB."""
    spec = {
        "MariaDB": {
            "database": "slurm_acct_db",
            "username": "slurm",
            "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password", "generate": True},
            "cleanupPolicy": "Skip",
            "storage": {"ephemeral": True},
        },
        "Database": {"mariaDbRef": {"name": "mariadb"}},
        "User": {"mariaDbRef": {"name": "mariadb"}},
        "Grant": {"mariaDbRef": {"name": "mariadb"}, "privileges": ["ALL"], "username": "slurm"},
    }
    names = {"MariaDB": "mariadb", "Database": "mariadb-database", "User": "mariadb-user", "Grant": "mariadb-user-all"}
    for kind, name in names.items():
        path = f"/apis/{MARIADB}/namespaces/slurm/{kind.lower()}s"
        bed.api.create(path, {"apiVersion": MARIADB, "kind": kind, "metadata": {"name": name}, "spec": spec[kind]})
        set_ready(bed.api, f"{path}/{name}", "True", "Created", "Created")
    secrets = "/api/v1/namespaces/slurm/secrets"
    bed.api.create(secrets, {"metadata": {"name": "mariadb-password"}, "stringData": {"password": "x"}})
    service = {"metadata": {"name": "mariadb"}, "spec": {"ports": [{"port": 3306}]}}
    bed.api.create("/api/v1/namespaces/slurm/services", service)
    return f"/apis/{MARIADB}/namespaces/slurm/mariadbs/mariadb"


DATABASE = ["slurm-accounting-mariadb"]


def test_a_ready_mariadb_is_not_enough(bed: Bed, slurm: str) -> None:
    """Case M8: the Grant alone is not ready."""
    database(bed)
    document = slurm_recipe("aicr-provided")
    assert "failed" not in ready(bed.kubeconfig, document, components=DATABASE)
    grant = f"/apis/{MARIADB}/namespaces/slurm/grants/mariadb-user-all"
    set_ready(
        bed.api,
        grant,
        "False",
        "Failed",
        "Error connecting to MariaDB: dial tcp 127.0.0.1:3306: connect: connection refused",
    )
    result = ready(bed.kubeconfig, document, components=DATABASE, timeout=2)
    failed = [one["object"] for one in result["components"][DATABASE[0]]["assertions"] if not one["holds"]]
    assert set(failed) == {"Grant slurm/mariadb-user-all"}
    assert "Ready=False Failed: Error connecting to MariaDB" in result["msg"]
    assert "the database does not answer" in result["error"]["hint"]


def test_a_flapping_mariadb_never_counts_and_the_trap_is_named(bed: Bed, slurm: str) -> None:
    path = database(bed)
    document = slurm_recipe("aicr-provided")
    with Flapper(bed.api, path):
        result = ready(bed.kubeconfig, document, components=DATABASE, timeout=5, stable=1)
        assert result["failed"] is True
        assert "expected to last, found a state that changed" in result["msg"]
    set_ready(bed.api, path, "False", "Failed", FAILED_ROOT)
    result = ready(bed.kubeconfig, document, components=DATABASE, timeout=2)
    assert "delete that Secret (kubectl delete secret internal-mariadb)" in result["error"]["hint"]


def test_a_passing_failure_is_not_final(bed: Bed, slurm: str) -> None:
    path = database(bed)
    set_ready(bed.api, path, "False", "Failed", "Error reconciling SQL: error getting mariadb.sys Grant")

    written: list[float] = []

    def go_on() -> None:
        for status in ("True", "False", "True"):
            time.sleep(0.5)
            set_ready(bed.api, path, status, "StatefulSetReady", "Running")
            written.append(time.monotonic())

    with Meanwhile(go_on) as later:
        result = ready(bed.kubeconfig, slurm_recipe("aicr-provided"), components=DATABASE, stable=1, tell=later)
        end = time.monotonic()
    assert result["components"][DATABASE[0]]["ready"] is True
    assert len(written) == 3 and end - written[-1] >= 1


def test_a_secret_without_its_key_and_a_missing_service_are_told(bed: Bed, slurm: str) -> None:
    database(bed)
    bed.api.patch("/api/v1/namespaces/slurm/secrets/mariadb-password", {"data": {"password": None, "other": "eA=="}})
    bed.api.delete("/api/v1/namespaces/slurm/services/mariadb")
    result = ready(bed.kubeconfig, slurm_recipe("aicr-provided"), components=DATABASE, timeout=1)
    assert "Secret slurm/mariadb-password: (length(data." in result["msg"]
    assert "Service slurm/mariadb: expected to exist, found none" in result["msg"]


@pytest.mark.parametrize("mode", ["disabled", "customer-managed"])
def test_a_mode_forbids_what_it_has_not(bed: Bed, slurm: str, mode: str) -> None:
    """A MariaDB of ours is one too many; a customer's own beside Slurm is his business."""
    path = database(bed)
    document = slurm_recipe(mode)

    def forbidden() -> list[str]:
        result = ready(bed.kubeconfig, document, components=["slinky-slurm"], check_mode=True)
        assertions = result["components"]["slinky-slurm"]["assertions"]
        return [
            one["troubles"][0]["object"]
            for one in assertions
            if one["forbidden"] and "MariaDB" in one["object"] and not one["holds"]
        ]

    assert forbidden() == []
    bed.api.patch(path, {"metadata": {"labels": {"app.kubernetes.io/instance": "slurm-accounting-mariadb"}}})
    assert forbidden() == ["MariaDB slurm/mariadb"]


def test_disabled_forbids_accounting_and_slurmdbd(bed: Bed, slurm: str) -> None:
    path = workload(bed.api, slurm, "StatefulSet", "slinky-slurm-accounting")
    bed.api.patch(path, {"metadata": {"labels": {"app.kubernetes.io/name": "slurmdbd"}}})
    eventually(lambda: bed.api.get(path)["status"].get("readyReplicas") == 1)  # a Pending pod is forbidden by itself
    result = ready(bed.kubeconfig, slurm_recipe("disabled"), components=["slinky-slurm"], check_mode=True)
    wrong = [
        str(one["troubles"])
        for one in result["components"]["slinky-slurm"]["assertions"]
        if one["forbidden"] and one["troubles"]
    ]
    assert len(wrong) == 1 and "StatefulSet slurm/slinky-slurm-accounting" in wrong[0]


def test_components_that_do_not_run_are_told_and_others_refused(bed: Bed) -> None:
    document = slurm_recipe("disabled")
    result = ready(bed.kubeconfig, document, components=["mariadb-operator"])
    assert result["components"] == {}
    assert result["warnings"] == ["mariadb-operator does not run by this recipe, so nothing is expected of it"]
    with pytest.raises(AicrError, match='no component "mariadb-operatr"'):
        ready(bed.kubeconfig, document, components=["mariadb-operatr"])


def test_a_crash_loop_of_slurmctld_is_expected_while_slurmdbd_is_down(
    bed: Bed, slurm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case S1: it is said, and waited for no longer than for anything else; why slurmdbd is down is told by its log."""
    monkeypatch.setattr(waiting, "TELL_SECONDS", 0.5)
    said = "slurmdbd: error: mysql_real_connect failed: 1045 Access denied for user 'slurm'@'10.0.0.1'"
    labels = {"app.kubernetes.io/name": "slurmdbd"}
    container = {**_CONTAINER, "name": "slurmdbd", "command": ["sh", "-c", f'echo "{said}"; exit 1']}
    template = {"metadata": {"labels": labels, "annotations": {"bed/execute": ""}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template, "serviceName": "x"}
    body = {"metadata": {"name": "slinky-slurm-accounting"}, "spec": spec}
    bed.api.create(APPS.format(slurm, "statefulsets"), body)
    pods = f"/api/v1/namespaces/{slurm}/pods"
    labels = {"app.kubernetes.io/name": "slurmctld"}
    pod = {"metadata": {"name": "ctld", "labels": labels, "annotations": {"bed/crash": "1"}}, "spec": {}}
    pod["spec"] = {"containers": [_CONTAINER]}
    bed.api.create(pods, pod)
    assert eventually(lambda: str(list(bed.api.items(pods))).count("CrashLoopBackOff") >= 2)
    told: list[str] = []
    try:
        result = ready(
            bed.kubeconfig, slurm_recipe("customer-managed"), components=["slinky-slurm"], timeout=4, tell=told.append
        )
    finally:
        bed.api.delete(f"{pods}/ctld")
    assert any("slurmctld restarts until slurmdbd answers, which is expected" in line for line in told), told
    assert "mysql_real_connect failed: 1045" in result["msg"]
    assert "1045: the database refuses the login" in result["error"]["hint"]


def test_a_warning_about_an_operators_resource_is_told(bed: Bed, slurm: str) -> None:
    """A missing password Secret stands in the events of the Accounting, and nowhere else (operators.md 2.2)."""
    path = f"/apis/slinky.slurm.net/v1beta1/namespaces/{slurm}/accountings"
    key = {"name": "slurm-auth", "key": "slurm.key"}
    spec = {"slurmKeyRef": key, "jwtKeyRef": key, "storageConfig": {"host": "db", "passwordKeyRef": key}}
    about = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Accounting", "name": "slinky-slurm", "namespace": slurm}
    accounting = {"apiVersion": about["apiVersion"], "kind": "Accounting", "metadata": {"name": "slinky-slurm"}}
    made = bed.api.create(path, {**accounting, "spec": spec})
    event = {
        "metadata": {"generateName": "accounting-"},
        "involvedObject": {**about, "uid": made["metadata"]["uid"]},
        "type": "Warning",
        "reason": "SyncFailed",
        "message": 'Failed "Config" step: failed to build: Secret "mariadb-password" not found',
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    bed.api.create(f"/api/v1/namespaces/{slurm}/events", event)
    result = ready(bed.kubeconfig, slurm_recipe("customer-managed"), components=["slinky-slurm"], timeout=1)
    assert "Accounting slurm/slinky-slurm says events: SyncFailed" in result["msg"]
    assert "slurm-operator does not watch the password Secret" in result["error"]["hint"]


def test_a_run_without_its_lease_does_not_begin(bed: Bed, namespace: str) -> None:
    document = recipe(namespace, asserts=check(available(namespace)))
    lease = {"namespace": namespace, "name": "aicr-deployment"}
    with pytest.raises(AicrError, match='the run "mine" does not hold it') as caught:
        ready(bed.kubeconfig, document, run="mine", lease=lease)
    assert caught.value.code.value == "CONFLICT"
    assert ready(bed.kubeconfig, document, run="mine", lease=lease, check_mode=True)["components"]


def test_as_a_task(bed: Bed, namespace: str, ansible: Ansible) -> None:
    """A failing task returns what it saw, so that a playbook can rescue on it; nothing is written."""
    document = recipe(namespace, asserts=check(available(namespace), timeout="1s"))
    (ansible.folder / "recipe.yaml").write_text(yamlio.dump(document), encoding="utf-8")
    task = {
        "name": "Wait",
        "aicr.runtime.readiness": {"kubeconfig": str(bed.kubeconfig), "recipe": "recipe.yaml"},
        "register": "waited",
    }
    rescue = [
        {"ansible.builtin.assert": {"that": ["waited.error.code == 'TIMEOUT'", "not waited.components.thing.ready"]}}
    ]
    with bed.audit.recording("admin") as requests:
        ansible.tasks([{"block": [task], "rescue": rescue}])
    assert not [request for request in requests if request.writes]
