# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods on the stand-in kubelet. Those tests that ask for `cluster` hold on real kubelets too (AICR_TEST_KUBECONFIG)."""

from __future__ import annotations

import http.server
import threading
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.tests.cluster.bed import Api, Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually

IMAGE = "busybox:1.37"
LONG = 90
"""Seconds; a real kubelet pulls an image first and backs off longer."""


def make_job(api: Api, namespace: str, script: str, **pod: Any) -> str:
    """Make a Job whose one container runs a script; its path."""
    container = {"name": "main", "image": IMAGE, "command": ["sh", "-ec", script], **pod.pop("container", {})}
    template = {"spec": {"restartPolicy": "Never", "containers": [container], **pod}}
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    api.create(path, {"metadata": {"name": "job"}, "spec": {"backoffLimit": 0, "template": template}})
    return f"{path}/job"


def finished(api: Api, job: str) -> Object:
    """The condition that ends a Job."""

    def ended() -> list[Object]:
        conditions = api.get(job)["status"].get("conditions", ())
        return [c for c in conditions if c["type"] in ("Complete", "Failed") and c["status"] == "True"]

    return eventually(ended, LONG)[0]


def the_pod(api: Api, namespace: str) -> Object:
    """The only pod of a namespace, once it is there."""
    return eventually(lambda: list(api.items(f"/api/v1/namespaces/{namespace}/pods")))[0]


def terminated(api: Api, namespace: str) -> Object:
    state: Object = the_pod(api, namespace)["status"]["containerStatuses"][0]["state"]["terminated"]
    return state


def make_secret(api: Api, namespace: str, **data: str) -> None:
    api.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "login"}, "stringData": data})


def events(api: Api, namespace: str, reason: str) -> list[str]:
    found = api.items(f"/api/v1/namespaces/{namespace}/events")
    return [event["message"] for event in found if event["reason"] == reason]


def test_a_job_is_executed_with_what_it_refers_to(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    make_secret(api, namespace, password="s3cret", user="root")
    config = {"metadata": {"name": "settings"}, "data": {"mode": "fast", "query.sql": "SELECT 1;"}}
    api.create(f"/api/v1/namespaces/{namespace}/configmaps", config)
    script = """
        test "$PASSWORD" = s3cret
        test "$SET_mode" = fast
        test "$BOTH" = 'root:s3cret $(MISSING)'
        test "$NAMESPACE/$POD" = "$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace)/$(hostname)"
        test "$(cat /login/password)" = s3cret
        test "$(cat /sql/one.sql)" = "SELECT 1;"
        test "$(stat -c %a -L /login/password)" = 400
        test "$(cat /labels/job)" = job
        ! touch /login/new 2>/dev/null
        echo left > /shared/x && cat /shared/x
        echo "all is well" > /dev/termination-log
    """
    secret = {"valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}
    user = {"valueFrom": {"secretKeyRef": {"name": "login", "key": "user"}}}
    container = {
        "envFrom": [{"configMapRef": {"name": "settings"}, "prefix": "SET_"}],
        "env": [
            {"name": "PASSWORD", **secret},
            {"name": "LOGIN", **user},
            {"name": "BOTH", "value": "$(LOGIN):$(PASSWORD) $$(MISSING)"},
            {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "volumeMounts": [
            {"name": "login", "mountPath": "/login", "readOnly": True},
            {"name": "sql", "mountPath": "/sql"},
            {"name": "labels", "mountPath": "/labels"},
            {"name": "shared", "mountPath": "/shared"},
        ],
    }
    labels = {"path": "job", "fieldRef": {"fieldPath": "metadata.labels['job-name']"}}
    volumes = [
        {"name": "login", "secret": {"secretName": "login", "defaultMode": 0o400}},
        {"name": "sql", "configMap": {"name": "settings", "items": [{"key": "query.sql", "path": "one.sql"}]}},
        {"name": "labels", "downwardAPI": {"items": [labels]}},
        {"name": "shared", "emptyDir": {}},
    ]
    job = make_job(api, namespace, script, container=container, volumes=volumes)
    assert finished(api, job)["type"] == "Complete", api.text(log_of(api, namespace))
    assert terminated(api, namespace)["message"] == "all is well\n"
    assert terminated(api, namespace)["exitCode"] == 0
    assert the_pod(api, namespace)["status"]["phase"] == "Succeeded"


def log_of(api: Api, namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods/{the_pod(api, namespace)['metadata']['name']}/log"


def test_a_failing_job_tells_its_exit_code_and_its_log(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    script = "echo out; echo 'Access denied' >&2; exit 3"
    container = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    job = make_job(api, namespace, script, container=container)
    assert finished(api, job)["reason"] == "BackoffLimitExceeded"
    state = terminated(api, namespace)
    assert (state["exitCode"], state["reason"], state["message"]) == (3, "Error", "out\nAccess denied\n")
    assert api.text(log_of(api, namespace)) == "out\nAccess denied\n"


def test_a_container_runs_again_where_the_pod_says_so(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    volumes = {"volumes": [{"name": "state", "emptyDir": {}}], "restartPolicy": "OnFailure"}
    container = {"volumeMounts": [{"name": "state", "mountPath": "/state"}]}
    script = "test -e /state/second && exit 0; touch /state/second; exit 1"
    api.create(
        f"/apis/batch/v1/namespaces/{namespace}/jobs",
        {
            "metadata": {"name": "job"},
            "spec": {
                "backoffLimit": 2,
                "template": {
                    "spec": {
                        "containers": [{"name": "main", "image": IMAGE, "command": ["sh", "-ec", script], **container}],
                        **volumes,
                    }
                },
            },
        },
    )
    assert finished(api, f"/apis/batch/v1/namespaces/{namespace}/jobs/job")["type"] == "Complete"
    assert the_pod(api, namespace)["status"]["containerStatuses"][0]["restartCount"] == 1


def test_init_containers_run_first_and_stop_a_pod_that_fails(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    first = {"name": "first", "image": IMAGE, "command": ["sh", "-c", "echo no > /dev/termination-log; exit 7"]}
    job = make_job(api, namespace, "exit 0", initContainers=[first])
    assert finished(api, job)["type"] == "Failed"
    status = the_pod(api, namespace)["status"]
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 7
    assert "terminated" not in status["containerStatuses"][0]["state"]


def test_a_user_without_rights_on_the_machine(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    security = {"runAsUser": 65534, "runAsGroup": 65534, "fsGroup": 4321}
    make_secret(api, namespace, password="s3cret")
    job = make_job(
        api,
        namespace,
        'test "$(id -u):$(id -g)" = 65534:65534; cat /login/password; ! cat /etc/shadow',
        securityContext=security,
        volumes=[{"name": "login", "secret": {"secretName": "login", "defaultMode": 0o400}}],
        container={"volumeMounts": [{"name": "login", "mountPath": "/login"}]},
    )
    assert finished(api, job)["type"] == "Complete", api.text(log_of(api, namespace))


def test_a_pod_waits_for_the_secret_of_its_volume(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    volumes = [{"name": "login", "secret": {"secretName": "login"}}]
    job = make_job(api, namespace, "exit 0", volumes=volumes)
    message = 'MountVolume.SetUp failed for volume "login" : secret "login" not found'
    assert eventually(lambda: message in events(api, namespace, "FailedMount"), LONG)
    status = the_pod(api, namespace)["status"]
    assert status["phase"] == "Pending"
    assert status["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
    make_secret(api, namespace, password="s3cret")
    assert finished(api, job)["type"] == "Complete"


def test_a_pod_waits_for_the_key_of_a_config_map(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "settings"}, "data": {"a": "1"}})
    volume = {"name": "settings", "configMap": {"name": "settings", "items": [{"key": "b", "path": "b"}]}}
    make_job(api, namespace, "exit 0", volumes=[volume])
    assert eventually(
        lambda: [m for m in events(api, namespace, "FailedMount") if "references non-existent config key: b" in m], LONG
    )


def test_a_variable_of_a_missing_secret_keeps_a_container_from_being_made(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    variable = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}
    job = make_job(api, namespace, 'test "$PASSWORD" = s3cret', container={"env": [variable]})

    def waiting() -> Object:
        statuses = the_pod(api, namespace)["status"].get("containerStatuses", ())
        found: Object = statuses[0]["state"].get("waiting", {}) if statuses else {}
        return found

    assert eventually(lambda: waiting().get("reason") == "CreateContainerConfigError", LONG)
    assert waiting()["message"] == 'secret "login" not found'
    make_secret(api, namespace, other="")
    assert eventually(lambda: waiting()["message"] == f"couldn't find key password in Secret {namespace}/login", LONG)
    api.patch(f"/api/v1/namespaces/{namespace}/secrets/login", {"stringData": {"password": "s3cret"}})
    assert finished(api, job)["type"] == "Complete"


def test_a_job_reaches_the_api_with_the_rights_of_its_account(cluster: Any, namespace: str) -> None:
    api: Api = cluster.api
    script = """
        cd /var/run/secrets/kubernetes.io/serviceaccount
        url=https://kubernetes.default.svc/api/v1/namespaces/$(cat namespace)/pods
        python3 - "$url" <<'END'
import ssl, sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer " + open("token").read()})
try:
    urllib.request.urlopen(request, context=ssl.create_default_context(cafile="ca.crt"))
except urllib.error.HTTPError as error:
    open("/dev/termination-log", "w").write(str(error.code))
END
    """
    job = make_job(api, namespace, script, container={"image": "python:3.13-alpine"})
    assert finished(api, job)["type"] == "Complete", api.text(log_of(api, namespace))
    assert terminated(api, namespace)["message"] == "403"


def test_deleting_a_job_ends_its_processes(bed: Bed, namespace: str) -> None:
    job = make_job(bed.api, namespace, "trap 'echo ended; exit 0' TERM; echo begun; sleep 1000 & wait")
    log = log_of(bed.api, namespace)
    assert eventually(lambda: the_pod(bed.api, namespace)["status"]["phase"] == "Running")
    assert eventually(lambda: bed.api.text(log) == "begun\n")
    bed.api.delete(job, {"propagationPolicy": "Foreground"})
    assert eventually(lambda: not list(bed.api.items(f"/api/v1/namespaces/{namespace}/pods")))


def test_a_service_leads_to_a_process_of_this_machine(bed: Bed, namespace: str) -> None:
    service = {"metadata": {"name": "database"}, "spec": {"ports": [{"port": 8080}]}}
    address = bed.api.create(f"/api/v1/namespaces/{namespace}/services", service)["spec"]["clusterIP"]
    assert address.startswith("127.")
    server = http.server.HTTPServer((address, 8080), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    code = "import socket; socket.create_connection(('database', 8080)); print('connected')"
    job = make_job(bed.api, namespace, f'python3 -c "{code}"')
    outcome = finished(bed.api, job)
    server.shutdown()
    server.server_close()
    assert outcome["type"] == "Complete", bed.api.text(log_of(bed.api, namespace))


def test_a_running_job_learns_the_name_of_a_new_service(bed: Bed, namespace: str) -> None:
    job = make_job(bed.api, namespace, "until getent hosts late.example; do sleep 0.1; done".replace(".example", ""))
    assert eventually(lambda: the_pod(bed.api, namespace)["status"]["phase"] == "Running")
    service = {"metadata": {"name": "late"}, "spec": {"ports": [{"port": 8080}]}}
    bed.api.create(f"/api/v1/namespaces/{namespace}/services", service)
    assert finished(bed.api, job)["type"] == "Complete"


def test_a_host_path_is_the_nodes_own(bed: Bed, namespace: str) -> None:
    nodes = list(bed.api.items("/api/v1/nodes"))
    name = next(n["metadata"]["name"] for n in nodes if n["spec"].get("taints"))
    job = make_job(
        bed.api,
        namespace,
        "cat /host/etc/hostname > /dev/termination-log; grep -c ' Live ' /host/proc/modules; ! touch /host/x",
        nodeName=name,
        tolerations=[{"operator": "Exists"}],
        volumes=[{"name": "root", "hostPath": {"path": "/", "type": "Directory"}}],
        container={"volumeMounts": [{"name": "root", "mountPath": "/host", "readOnly": True}]},
    )
    assert finished(bed.api, job)["type"] == "Complete", bed.api.text(log_of(bed.api, namespace))
    assert terminated(bed.api, namespace)["message"] == f"{name}\n"


def test_what_a_job_writes_stays_in_the_job(bed: Bed, namespace: str) -> None:
    job = make_job(bed.api, namespace, "touch /etc/from-a-job /tmp/from-a-job; test -e /etc/from-a-job")
    assert finished(bed.api, job)["type"] == "Complete"
    assert not Path("/etc/from-a-job").exists()
    assert not Path("/tmp/from-a-job").exists()


def make_pod(api: Api, namespace: str, annotations: dict[str, str]) -> str:
    path = f"/api/v1/namespaces/{namespace}/pods"
    spec = {"containers": [{"name": "main", "image": "example/app:1"}]}
    api.create(path, {"metadata": {"name": "pod", "annotations": annotations}, "spec": spec})
    return f"{path}/pod"


def shown(api: Api, pod: str) -> tuple[str, str, str]:
    """Phase, condition Ready and why the container waits."""
    status = api.get(pod)["status"]
    conditions = {condition["type"]: condition["status"] for condition in status.get("conditions", ())}
    (state,) = [one["state"] for one in status.get("containerStatuses", [{"state": {}}])]
    return status["phase"], conditions.get("Ready", ""), state.get("waiting", {}).get("reason", "")


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"bed/hold": "creating"}, ("Pending", "False", "ContainerCreating")),
        ({"bed/hold": "pulling"}, ("Pending", "False", "ImagePullBackOff")),
        ({"bed/hold": "unready"}, ("Running", "False", "")),
        ({"bed/crash": "1"}, ("Running", "False", "CrashLoopBackOff")),
    ],
)
def test_annotations_hold_a_pod_until_they_go(
    bed: Bed, namespace: str, annotations: dict[str, str], expected: tuple[str, str, str]
) -> None:
    pod = make_pod(bed.api, namespace, annotations)
    assert eventually(lambda: shown(bed.api, pod) == expected)
    bed.api.patch(pod, {"metadata": {"annotations": dict.fromkeys(annotations)}})
    assert eventually(lambda: shown(bed.api, pod) == ("Running", "True", ""))


def test_a_pod_of_no_job_is_executed_when_it_asks(bed: Bed, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE, "command": ["true"]}]}
    bed.api.create(path, {"metadata": {"name": "pod", "annotations": {"bed/execute": ""}}, "spec": spec})
    assert eventually(lambda: bed.api.get(f"{path}/pod")["status"]["phase"] == "Succeeded")
