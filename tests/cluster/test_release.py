# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helm releases on a real API server, with the real helm 3 and 4: started for what differs, and for nothing else."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import shlex
import signal
import subprocess
import tarfile
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import lease
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import release as release_module
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, conflict
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import failed
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.release import SPEC, make_release
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed, Object
from ansible_collections.aicr.runtime.tests.cluster.bed.eventually import eventually
from ansible_collections.aicr.runtime.tests.cluster.bed.faults import Fault, FaultyApi, Kind
from ansible_collections.aicr.runtime.tests.cluster.deployments import absent
from ansible_collections.aicr.runtime.tests.integration.conftest import Ansible

SECRET = "planted-0b5c9e-secret"

CONFIGMAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  values: {{ .Values | toJson | quote }}
"""
RANDOM = """\
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-random
stringData:
  password: {{ randAlphaNum 20 }}
  given: {{ .Values.given | default "nothing" | quote }}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  ports: [{port: {{ .Values.port }}}]
"""
HOOK = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hook-{{ .Release.Revision }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
spec:
  template:
    metadata:
      annotations: {{ if .Values.hold }}{bed/hold: {{ .Values.hold }}}{{ else }}{}{{ end }}
    spec:
      restartPolicy: Never
      containers: [{name: hook, image: example.com/hook, command: ["true"]}]
"""


def chart(folder: Path, version: str = "1.0.0", name: str = "demo", **templates: str) -> Path:
    """A chart in a folder of its name."""
    place = folder / name
    (place / "templates").mkdir(parents=True, exist_ok=True)
    (place / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: {version}\n")
    (place / "values.yaml").write_text("size: 3\nport: 80\nhold: ''\n")
    for template, text in (templates or {"map": CONFIGMAP, "random": RANDOM}).items():
        (place / "templates" / f"{template}.yaml").write_text(text)
    return place


def packed(place: Path, into: Path, version: str, time: int = 0) -> Path:
    """The chart as helm packs it, as of some time."""
    into.mkdir(exist_ok=True)
    archive = into / f"{place.name}-{version}.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for file in sorted(place.rglob("*"), reverse=bool(time)):
            info = tar.gettarinfo(file, f"{place.name}/{file.relative_to(place)}")
            info.mtime = time
            if file.is_file():
                with file.open("rb") as content:
                    tar.addfile(info, content)
    return archive


@dataclass
class Releases:
    """The action on a bed, and the helms that it starts: each by its arguments."""

    bed: Bed
    folder: Path
    program: Path
    kubeconfig: Path
    namespaces: list[str] = field(default_factory=list)

    @property
    def wrapper(self) -> Path:
        """A helm that notes its arguments and environment, and what its files hold."""
        place = self.folder / "helm"
        if not place.exists():
            place.write_text(
                "#!/bin/sh\n"
                f'printf "%s\\n" "$*" >> {shlex.quote(str(self.folder / "started"))}\n'
                f"echo $$ > {shlex.quote(str(self.folder / 'pid'))}\n"
                f"env >> {shlex.quote(str(self.folder / 'environment'))}\n"
                f'exec {shlex.quote(str(self.program))} "$@"\n'
            )
            place.chmod(0o755)
        return place

    @property
    def started(self) -> list[str]:
        """What helm was started with since this was last asked."""
        place = self.folder / "started"
        lines = place.read_text().splitlines() if place.exists() else []
        place.unlink(missing_ok=True)
        return lines

    def namespace(self) -> str:
        """The name of a namespace that is not there yet."""
        name = f"aicr-release-{uuid.uuid4().hex[:8]}"
        self.namespaces.append(name)
        return name

    def run(self, *releases: dict[str, Any], check: bool = False, diff: bool = False, **options: Any) -> dict[str, Any]:
        """What a task returns, if it fails, too."""
        given = {
            "kubeconfig": str(self.kubeconfig),
            "helm": str(self.wrapper),
            "releases": list(releases),
            "timeout": 60,
            **options,
        }
        try:
            made = make_release(parse(SPEC, given), tell=lambda line: None)
            return made.deliver(check_mode=check, diff=diff, return_document=False)
        except AicrError as error:
            return failed(error)

    def secrets(self, namespace: str, name: str) -> dict[int, Object]:
        """What Helm keeps of a release, by revision."""
        found = self.bed.api.items(f"/api/v1/namespaces/{namespace}/secrets", labelSelector=f"owner=helm,name={name}")
        return {int(one["metadata"]["labels"]["version"]): one for one in found}


@pytest.fixture(params=["helm", "helm3"])
def releases(request: pytest.FixtureRequest, bed: Bed, tmp_path: Path) -> Iterator[Releases]:
    made = Releases(bed, tmp_path, bed.programs[request.param], bed.kubeconfig)
    yield made
    for name in made.namespaces:
        if any(one["metadata"]["name"] == name for one in bed.api.items("/api/v1/namespaces")):
            bed.api.delete(f"/api/v1/namespaces/{name}")


def only(result: dict[str, Any]) -> dict[str, Any]:
    (one,) = result["releases"]
    assert isinstance(one, dict)
    return one


def values_of(bed: Bed, namespace: str, name: str) -> Any:
    """The values that a chart saw."""
    return json.loads(bed.api.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")["data"]["values"])


# ---- what differs


def test_it_is_checked_installed_left_alone_and_upgraded(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    """K1 and K3: a value in set_values alone counts, a random password of the chart does not."""
    namespace = releases.namespace()
    file = tmp_path / "values.yaml"
    file.write_text("size: 5\nlist: [1, null]\nlarge: 8388608\nflag: 'no'\n")
    wanted = {
        "name": "demo",
        "namespace": namespace,
        "chart": str(chart(tmp_path)),
        "values": [str(file)],
    }
    with bed.audit.recording("admin") as requests:
        checked = releases.run(wanted, check=True, diff=True)
    assert checked["changed"] and only(checked)["status"] == "absent"
    assert only(checked)["predicted"] and namespace in only(checked)["unjudged"]
    assert "kind: Secret" in checked["diff"][0]["after"]
    assert requests and not [one for one in requests if one.writes]
    assert len(releases.started) == 2  # its version, and one dry run

    installed = releases.run(wanted)
    assert installed["changed"]
    assert only(installed) == {
        "name": "demo",
        "namespace": namespace,
        "component": "demo",
        "chart": "demo 1.0.0",
        "changed": True,
        "revision": 1,
        "status": "deployed",
        "why": "it is not installed",
    }
    assert len(releases.started) == 2
    labels = bed.api.get(f"/api/v1/namespaces/{namespace}")["metadata"]["labels"]
    assert labels["app.kubernetes.io/managed-by"] == "aicr.runtime"
    assert values_of(bed, namespace, "demo")["size"] == 5
    assert values_of(bed, namespace, "demo")["flag"] == "no"

    with bed.audit.recording("admin") as requests:
        again = releases.run(wanted, diff=True)
        checked = releases.run(wanted, check=True)
    assert not again["changed"] and not checked["changed"] and "diff" not in again
    assert requests and not [one for one in requests if one.writes or one.dry_run]
    assert releases.started == []

    changed = releases.run({**wanted, "set_values": {"given": "something"}}, diff=True)
    assert only(changed)["why"] == "its values differ: given" and only(changed)["revision"] == 2
    assert not releases.run({**wanted, "set_values": {"given": "something"}})["changed"]


def test_objects_that_somebody_has_removed_are_put_back(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    """Helm's record says that all is as it shall be; the cluster does not."""
    namespace = releases.namespace()
    wanted = {"name": "demo", "namespace": namespace, "chart": str(chart(tmp_path))}
    releases.run(wanted)
    place = f"/api/v1/namespaces/{namespace}/configmaps/demo"
    bed.api.delete(place)
    checked = releases.run(wanted, check=True)
    assert checked["changed"] and only(checked)["why"] == "of its objects there are not: ConfigMap demo"
    assert absent(bed, place)
    mended = releases.run(wanted)
    assert mended["changed"] and only(mended)["why"] == only(checked)["why"] and only(mended)["revision"] == 2
    assert not absent(bed, place)
    assert not releases.run(wanted)["changed"]


def test_without_a_helm_nothing_is_done_where_nothing_is_to_be(releases: Releases, tmp_path: Path) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    refused = releases.run(wanted, helm="/nowhere/helm")
    assert refused["error"]["code"] == "SERVICE_UNAVAILABLE" and "/nowhere/helm" in refused["msg"]
    assert releases.run(wanted)["changed"]
    assert not releases.run(wanted, helm="/nowhere/helm")["changed"]


def test_a_later_file_is_laid_over_and_a_null_deletes(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    namespace = releases.namespace()
    files = [tmp_path / name for name in ("one.yaml", "two.yaml", "empty.yaml")]
    files[0].write_text("a: {b: 1, c: 2}\nsize: 4\nlist: [1, 2]\n")
    files[1].write_text("a: {c: 3}\nsize: null\nlist: [9]\n")
    files[2].write_text("# nothing\n")
    wanted = {
        "name": "demo",
        "namespace": namespace,
        "chart": str(chart(tmp_path)),
        "values": [str(file) for file in files],
        "set_values": {"a": {"d": 4}},
    }
    releases.run(wanted)
    seen = values_of(bed, namespace, "demo")
    assert (seen["a"], seen["list"]) == ({"b": 1, "c": 3, "d": 4}, [9])
    assert seen.get("size") is None
    assert not releases.run(wanted)["changed"]
    files[1].write_text("a: {c: 3}\nlist: [9]\n")
    assert only(releases.run(wanted))["why"] == "its values differ: size"
    assert values_of(bed, namespace, "demo")["size"] == 4
    assert not releases.run({**wanted, "values": [str(file) for file in files]})["changed"]


def test_values_that_are_taken_away_are_gone(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    """Helm keeps the old ones unless it is told not to."""
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    releases.run({**wanted, "set_values": {"size": 9}})
    assert releases.run(wanted)["changed"]
    assert values_of(bed, wanted["namespace"], "demo")["size"] == 3
    assert not releases.run(wanted)["changed"]


@pytest.mark.parametrize(("one", "other"), [(1, True), ([], None)])
def test_values_of_other_types_differ(releases: Releases, tmp_path: Path, one: Any, other: Any) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    releases.run({**wanted, "set_values": {"x": one}})
    assert releases.run({**wanted, "set_values": {"x": other}})["changed"]
    assert not releases.run({**wanted, "set_values": {"x": other}})["changed"]


def test_the_version_and_the_content_of_a_chart_count(releases: Releases, tmp_path: Path) -> None:
    place, source = chart(tmp_path), tmp_path / "charts"
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": "demo", "version": "v1.0.0"}
    options = {"chart_source": str(source)}
    packed(place, source, "1.0.0")
    assert releases.run(wanted, **options)["changed"]
    packed(place, source, "1.0.0", time=1700000000)  # other bytes, the same content
    assert not releases.run(wanted, **options)["changed"]
    (place / "templates" / "more.yaml").write_text(CONFIGMAP.replace("Release.Name }}", "Release.Name }}-more"))
    packed(place, source, "1.0.0")
    assert only(releases.run(wanted, **options))["why"] == "the content of its chart differs"
    assert not releases.run(wanted, **options)["changed"]
    chart(tmp_path, "1.1.0")
    packed(place, source, "1.1.0")
    upgraded = releases.run({**wanted, "version": "1.1.0"}, **options)
    assert only(upgraded)["why"] == "its chart is demo 1.0.0, not demo 1.1.0"
    assert only(upgraded)["revision"] == 3
    assert not releases.run({**wanted, "version": "1.1.0"}, **options)["changed"]


def test_a_release_of_helms_own_making_is_taken_on(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    """It has no label of ours, so its chart may be another one of the same version."""
    namespace, place = releases.namespace(), chart(tmp_path)
    command = ["upgrade", "--install", "demo", str(place), f"--namespace={namespace}", "--create-namespace"]
    environment = {"KUBECONFIG": str(bed.kubeconfig), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run([str(releases.program), *command], env=environment, check=True, capture_output=True)
    wanted = {"name": "demo", "namespace": namespace, "chart": str(place)}
    assert only(releases.run(wanted))["why"] == "the content of its chart is not known"
    assert not releases.run(wanted)["changed"]


def test_one_that_was_uninstalled_is_installed_anew(releases: Releases, tmp_path: Path) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    releases.run(wanted)
    environment = {"KUBECONFIG": str(releases.kubeconfig), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    command = [str(releases.program), "uninstall", "demo", "--keep-history", f"--namespace={wanted['namespace']}"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    again = only(releases.run(wanted))
    assert (again["why"], again["status"], again["revision"]) == ("it is not installed", "deployed", 2)
    assert not releases.run(wanted)["changed"]


# ---- what goes wrong


def test_a_failed_release_is_upgraded_again(releases: Releases, tmp_path: Path) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path, service=SERVICE))}
    broken = releases.run({**wanted, "set_values": {"port": 70000}})
    assert broken["failed"]
    assert "its revision 1 is failed" in broken["msg"] and broken["error"]["details"]["status"] == "failed"
    mended = releases.run({**wanted, "set_values": {"port": 8080}})
    assert "its revision 1 is failed" in only(mended)["why"]
    assert (only(mended)["revision"], only(mended)["status"]) == (2, "deployed")
    assert not releases.run({**wanted, "set_values": {"port": 8080}})["changed"]


@pytest.mark.parametrize("operation", ["install", "upgrade"])
def test_h10_a_release_in_between_is_explained_and_never_forced(
    releases: Releases, bed: Bed, tmp_path: Path, operation: str
) -> None:
    namespace = releases.namespace()
    wanted: dict[str, Any] = {"name": "demo", "namespace": namespace, "chart": str(chart(tmp_path, hook=HOOK))}
    if operation == "upgrade":
        assert releases.run({**wanted, "set_values": {"size": 1}})["changed"]
    command = f"upgrade --install demo {wanted['chart']} --namespace {namespace} --create-namespace --set hold=pulling"
    environment = {"KUBECONFIG": str(bed.kubeconfig), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    killed = subprocess.Popen([str(releases.program), *command.split()], env=environment, stdout=subprocess.DEVNULL)
    pods = f"/api/v1/namespaces/{namespace}/pods"
    eventually(lambda: [one for one in bed.api.items(pods) if one["metadata"].get("annotations", {}).get("bed/hold")])
    killed.send_signal(signal.SIGKILL)
    killed.wait()

    for check in (True, False):
        with bed.audit.recording("admin") as requests:
            refused = releases.run(wanted, check=check)
        assert refused["error"]["code"] == "CONFLICT"
        assert f"is pending-{operation} since 2" in refused["msg"]
        assert not [one for one in requests if one.writes]
    assert releases.started == [] or operation == "upgrade"

    way_out = refused["error"]["hint"].split("`")[1]
    assert way_out.startswith("helm uninstall" if operation == "install" else "helm rollback demo 1")
    subprocess.run(
        [str(releases.program), *way_out.split()[1:]], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    assert only(releases.run(wanted))["status"] == "deployed"


def killed(releases: Releases, wanted: dict[str, Any], **options: Any) -> dict[str, Any]:
    """What a task returns whose helm is killed in the middle."""
    pods = f"/api/v1/namespaces/{wanted['namespace']}/pods"

    def kill() -> None:
        eventually(lambda: list(releases.bed.api.items(pods)), 60)
        os.kill(int((releases.folder / "pid").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = releases.run({**wanted, "set_values": {"hold": "pulling"}}, **options)
    killer.join()
    return result


def test_a_helm_that_is_killed_leaves_a_release_that_the_next_run_mends(releases: Releases, tmp_path: Path) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path, hook=HOOK))}
    result = killed(releases, wanted)
    assert result["failed"] and "Killed (its revision 1 is failed)" in result["msg"]
    assert result["error"]["details"]["reason"] == "killed"
    mended = only(releases.run(wanted))
    assert (mended["status"], mended["revision"]) == ("deployed", 2)
    assert not releases.run(wanted)["changed"]


def test_what_a_dead_run_has_left_is_gone_on_with_where_that_is_allowed(
    releases: Releases, bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case H10: the Lease tells that the run is over, and the mark that it was a run's helm."""
    namespace = releases.namespace()
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    wanted = {"name": "demo", "namespace": namespace, "chart": str(chart(tmp_path, hook=HOOK, map=CONFIGMAP))}
    connection, place = Connection(Access(kubeconfig=str(bed.kubeconfig)), {}), lease.Place(namespace)

    def gone(*_given: object) -> None:
        raise conflict("nobody is left to write it down")

    lease.take(connection, "dead", place)
    with monkeypatch.context() as patched:
        patched.setattr(release_module, "mark_failed", gone)
        left = killed(releases, wanted, run="dead", lease={"namespace": namespace})
    assert left["error"]["details"]["status"] == "pending-install" and "recover=true" in left["error"]["hint"]
    lease.give_back(connection, "dead", place)
    lease.take(connection, "next", place)
    options = {"run": "next", "lease": {"namespace": namespace}}
    with bed.audit.recording("admin") as requests:
        refused = releases.run(wanted, **options)
    assert refused["error"]["code"] == "CONFLICT" and "is pending-install since 2" in refused["msg"]
    assert not [one for one in requests if one.writes]
    checked = releases.run(wanted, check=True, recover=True, **options)
    assert only(checked)["predicted"] and only(checked)["why"].startswith("its revision 1 is pending-install")
    assert "name it in run" in releases.run(wanted, recover=True)["error"]["hint"]
    assert "recover=true" in releases.run(wanted, state="absent", **options)["error"]["hint"]
    removal = releases.run(wanted, recover=True, state="absent", check=True, **options)
    assert (removal["changed"], only(removal)["name"]) == (True, "demo")
    mended = only(releases.run(wanted, recover=True, **options))
    assert (mended["status"], mended["revision"]) == ("deployed", 2)
    history = subprocess.run(
        [str(releases.program), "history", "demo", f"--namespace={namespace}"],
        env={"KUBECONFIG": str(bed.kubeconfig), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert "its helm was ended in the middle" in history.stdout
    assert not releases.run(wanted, recover=True, **options)["changed"]
    assert releases.run(wanted, recover=True, state="absent", **options)["changed"]
    assert not releases.run(wanted, recover=True, state="absent", **options)["changed"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(Kind.FAILED, "/configmaps", method="GET|PATCH|POST", times=2),
        Fault(Kind.CUT, "/secrets", method="POST", times=2, first_bytes=5),
        Fault(Kind.FAILED, "/secrets", method="PUT", times=2),
        Fault(Kind.CUT, "/secrets", method="PUT", times=1, first_bytes=5),
    ],
    ids=["before its work", "its first record", "its last two records", "the answer to its last record"],
)
def test_helm_is_started_again_when_the_api_server_fails(
    releases: Releases, bed: Bed, tmp_path: Path, fault: Fault
) -> None:
    """Helm gives up at the first fault, and may then not even be able to write down that it did."""
    fault = dataclasses.replace(fault)  # each helm its own count
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    with FaultyApi(bed, fault) as proxy:
        releases.kubeconfig = proxy.kubeconfig(tmp_path / "faulty")
        result = releases.run(wanted)
        assert not result.get("failed"), result
        assert only(result)["status"] == "deployed"
        assert fault.befallen == fault.times
        assert not releases.run(wanted)["changed"]


def test_a_helm_that_takes_too_long_is_ended_and_its_release_described(
    releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import helm

    monkeypatch.setattr(helm, "_LATE_SECONDS", -3.0)  # before helm's own timeout
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path, hook=HOOK))}
    late = releases.run({**wanted, "set_values": {"hold": "pulling"}}, timeout=8)
    assert late["error"]["code"] == "TIMEOUT"
    assert "was stopped" in late["msg"] and late["error"]["details"]["status"] == "failed"
    assert releases.run(wanted)["releases"][0]["status"] == "deployed"


def test_a_hook_that_takes_too_long_is_told(releases: Releases, tmp_path: Path) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path, hook=HOOK))}
    late = releases.run({**wanted, "set_values": {"hold": "pulling"}}, timeout=3)
    assert late["error"]["code"] == "TIMEOUT" and late["error"]["details"]["status"] == "failed"


def test_what_goes_wrong_with_one_component_keeps_no_other_from_being_installed(
    releases: Releases, bed: Bed, tmp_path: Path
) -> None:
    namespace = releases.namespace()
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    bed.api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "theirs"}, "data": {}})
    place = str(chart(tmp_path))
    broken = str(chart(tmp_path / "broken", service=SERVICE))
    common = {"namespace": namespace, "chart": place}
    result = releases.run(
        {"name": "theirs", "component": "one", **common},
        {"name": "after", "component": "one", **common},
        {"name": "bad", "component": "two", **common, "chart": broken, "set_values": {"port": 70000}},
        {"name": "first", "component": "three", **common},
        {"name": "second", "component": "three", **common},
    )
    assert result["failed"] and result["changed"]
    assert [one["name"] for one in result["error"]["details"]["releases"]] == ["first", "second"]
    assert result["error"]["details"]["not_begun"] == [f"{namespace}/after"]
    problems = {one["details"]["release"]: one for one in result["error"]["details"]["problems"]}
    assert problems.keys() == {"theirs", "bad"}
    assert (problems["theirs"]["code"], problems["theirs"]["details"]["reason"]) == ("CONFLICT", "not-owned")
    assert releases.secrets(namespace, "second")[1]["metadata"]["labels"]["status"] == "deployed"
    assert not releases.secrets(namespace, "after")

    taken = releases.run({"name": "theirs", **common, "take_ownership": True})
    assert only(taken)["status"] == "deployed"


def test_a_kind_that_is_not_there_yet_is_predicted_and_refused(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    custom = "apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: one}\n"
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path, custom=custom))}
    with bed.audit.recording("admin") as requests:
        checked = releases.run(wanted, check=True, diff=True)
    assert only(checked)["changed"] and only(checked)["predicted"] and "Nothing" in only(checked)["unjudged"]
    assert not [one for one in requests if one.writes]
    refused = releases.run(wanted)
    assert refused["error"]["details"]["reason"] == "kind-not-served"


def test_what_a_chart_refuses_is_refused_in_a_check_too(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    place = chart(tmp_path, guard='{{ fail "size must not be 13" }}')
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(place)}
    for check in (True, False):
        refused = releases.run(wanted, check=check)
        assert refused["error"]["code"] == "INVALID_REQUEST" and "size must not be 13" in refused["msg"]


def test_a_schema_refuses_values(releases: Releases, tmp_path: Path) -> None:
    place = chart(tmp_path)
    (place / "values.schema.json").write_text(json.dumps({"properties": {"size": {"type": "integer"}}}))
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(place)}
    refused = releases.run({**wanted, "set_values": {"size": SECRET}})
    assert (refused["error"]["code"], refused["error"]["details"]["reason"]) == ("INVALID_REQUEST", "values-refused")
    assert "size" in refused["msg"] and SECRET not in json.dumps(refused)


def test_a_missing_namespace_is_made_only_where_that_is_wanted(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    namespace = releases.namespace()
    wanted = {"name": "demo", "namespace": namespace, "chart": str(chart(tmp_path)), "create_namespace": False}
    refused = releases.run(wanted)
    assert refused["error"]["code"] == "NOT_FOUND" and f"no namespace {namespace}" in refused["msg"]
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": namespace, "labels": {"app": "theirs"}}})
    before = bed.api.get(f"/api/v1/namespaces/{namespace}")["metadata"]["labels"]
    assert releases.run({**wanted, "create_namespace": True})["changed"]
    assert bed.api.get(f"/api/v1/namespaces/{namespace}")["metadata"]["labels"] == before


# ---- as whom


def test_helm_comes_as_whoever_the_options_name(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    refused = releases.run(wanted, impersonate_user="jane", impersonate_groups=["ops"])
    assert refused["error"]["code"] == "UNAUTHORIZED" and "jane" in refused["msg"]
    with bed.audit.recording("jane") as requests:
        made = releases.run(wanted, impersonate_user="jane", impersonate_groups=["system:masters"])
    assert made["changed"]
    assert [one for one in requests if one.resource == "configmaps" and one.writes], "helm came as jane"


def test_helm_gets_the_token_of_an_exec_plugin(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": bed.settings.tokens["admin"]},
    }
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    plugin.chmod(0o755)
    releases.kubeconfig = bed.write_kubeconfig(
        tmp_path / "exec.kubeconfig",
        exec={"apiVersion": credential["apiVersion"], "command": str(plugin), "interactiveMode": "Never"},
    )
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    assert releases.run(wanted)["changed"]


def test_nothing_ambient_reaches_helm(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    ambient = {
        "KUBECONFIG": "/nowhere",
        "HELM_NAMESPACE": "kube-system",
        "HELM_DRIVER": "memory",
        "HELM_KUBETOKEN": "nobody",
        "HELM_KUBEASUSER": "nobody",
        "HOME": "/root",
    }
    wanted = {"name": "demo", "namespace": releases.namespace(), "chart": str(chart(tmp_path))}
    given = {"kubeconfig": str(bed.kubeconfig), "helm": str(releases.wrapper), "releases": [wanted]}
    made = make_release(parse(SPEC, given, {**ambient, "PATH": "/usr/bin:/bin"}), tell=print)
    result = made.deliver(check_mode=False, diff=False, return_document=False)
    assert only(result)["status"] == "deployed"
    seen = (tmp_path / "environment").read_text()
    assert not [f"{name}={value}" for name, value in ambient.items() if f"{name}={value}\n" in seen]


def test_no_secret_is_seen(releases: Releases, bed: Bed, tmp_path: Path, ansible: Ansible) -> None:
    """K12: not in the output at any verbosity, not in a difference, not among the arguments of a process."""
    namespace = releases.namespace()
    wanted = {"name": "demo", "namespace": namespace, "chart": str(chart(tmp_path)), "set_values": {"given": SECRET}}
    task = {"kubeconfig": str(bed.kubeconfig), "helm": str(releases.wrapper), "releases": [wanted]}
    other = {**task, "releases": [{**wanted, "set_values": {"given": "another-secret-9e"}}]}
    without = {**task, "releases": [{**wanted, "set_values": {}}]}
    steps = [{"name": str(index), "aicr.runtime.release": one} for index, one in enumerate((task, other, without))]
    checked = ansible.tasks(steps[:1], "--check", "--diff", "-vvvv")
    ran = ansible.tasks(steps, "--diff", "-vvvv")
    assert [ran.result(str(index))["changed"] for index in range(3)] == [True, True, True]
    kept = "".join(releases.started) + (tmp_path / "environment").read_text()
    hidden = [SECRET, "another-secret-9e", bed.settings.tokens["admin"]]
    hidden += [base64.b64encode(one.encode()).decode() for one in hidden[:2]]
    for text in (checked.output, ran.output, json.dumps(ran.results), kept):
        assert not [one for one in hidden if one in text]
    assert "*** (before)" in ran.output, "the difference is shown"


# ---- the Lease


def test_a_run_without_its_lease_begins_nothing(releases: Releases, bed: Bed, tmp_path: Path) -> None:
    namespace = releases.namespace()
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    wanted = {"name": "demo", "namespace": namespace, "chart": str(chart(tmp_path))}
    options = {"run": "mine", "lease": {"namespace": namespace}}
    refused = releases.run(wanted, **options)
    assert refused["error"]["code"] == "CONFLICT" and "nobody holds it" in refused["msg"]
    assert not releases.secrets(namespace, "demo") and releases.started == []
    connection, place = Connection(Access(kubeconfig=str(bed.kubeconfig)), {}), lease.Place(namespace)
    lease.take(connection, "mine", place)
    assert releases.run(wanted, **options)["changed"]
    with bed.audit.recording("admin") as requests:
        assert not releases.run(wanted, **options)["changed"]
    assert [one.resource for one in requests if one.writes] == ["leases"], "where nothing is done it is renewed, too"
    lease.give_back(connection, "mine", place)
    assert releases.run(wanted, **options)["error"]["code"] == "CONFLICT"


def test_a_run_that_loses_its_lease_ends_after_the_helm_at_work(
    releases: Releases, bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace, place = releases.namespace(), str(chart(tmp_path, hook=HOOK))
    bed.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    connection, where = Connection(Access(kubeconfig=str(bed.kubeconfig)), {}), lease.Place(namespace)
    lease.take(connection, "mine", where)
    keep = lease.keep
    monkeypatch.setattr(lease, "keep", lambda *given: keep(*given, every=0.2))
    pods = f"/api/v1/namespaces/{namespace}/pods"

    def lose() -> None:
        eventually(lambda: list(bed.api.items(pods)))
        bed.api.patch(where.path, {"spec": {"holderIdentity": "other"}})
        threading.Event().wait(1)
        for pod in bed.api.items(pods):
            bed.api.patch(f"{pods}/{pod['metadata']['name']}", {"metadata": {"annotations": {"bed/hold": None}}})

    thief = threading.Thread(target=lose)
    thief.start()
    result = releases.run(
        {"name": "one", "namespace": namespace, "component": "c", "chart": place, "set_values": {"hold": "pulling"}},
        {"name": "two", "namespace": namespace, "component": "c", "chart": place},
        run="mine",
        lease={"namespace": namespace},
    )
    thief.join()
    assert result["failed"] and result["changed"] and '"other" holds it' in result["msg"]
    assert result["error"]["details"]["not_begun"] == [f"{namespace}/two"]
    assert [one["name"] for one in result["releases"]] == ["one"]
    assert releases.secrets(namespace, "one")[1]["metadata"]["labels"]["status"] == "deployed"
    assert not releases.secrets(namespace, "two")
