# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole cluster on loopback: a real control plane, KWOK's nodes and a stand-in kubelet (docs/testing.md).

All that a bed is lies in one directory: keys, data, logs, the list of its processes. Flags and their reasons:
spec/testbed.md section 2.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from . import slot
from .api import Api, ApiError, Object
from .audit import AuditLog
from .certificates import Authority
from .images import ImageSettings
from .nodes import FakeCluster, root_of
from .processes import Processes
from .programs import ensure
from .slot import Slot

_HERE = Path(__file__).parent
_KUBELET = f"{__package__}.kubelet"
_USERS = {
    "admin": "system:masters",
    "bed:setup": "system:masters",
    "bed:kubelet": "system:masters",
    "kwok": "system:masters",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
    "nobody": "",
}
"""Users with a token, and their groups. `nobody` may do what any authenticated user may."""


class BedError(Exception):
    """The bed does not come up; the message names the part and its log."""


@dataclass(frozen=True)
class Settings:
    """What a bed was started with; kept in its directory."""

    cluster: str
    slot: int
    tokens: Mapping[str, str]


@dataclass
class Bed:
    """A running bed. Get one by `start` or `open`."""

    directory: Path
    settings: Settings
    processes: Processes

    # ---- life

    @classmethod
    def start(cls, directory: Path, cluster: str, nodes: int | None = None, workloads: bool = True) -> Bed:
        """Bring up a new bed in a directory that must not exist, and wait until it can be used.

        :param cluster: a name in clusters/.
        :param nodes: how many there shall be, instead of as many as the cluster has.
        :param workloads: whether there are the pods that such a cluster begins with (two for each node).
        :raises BedError: a part of it ended, or was not ready in time; nothing of it is left.
        """
        ensure()
        fake = FakeCluster.load(cluster)
        directory.mkdir(mode=0o700, parents=True)
        place = slot.claim()
        tokens = {user: secrets.token_hex(16) for user in _USERS}
        bed = cls(directory.resolve(), Settings(cluster, place.number, tokens), Processes(directory.resolve()))
        try:
            bed._write_files()
            bed._start_control_plane(place, fake)
            bed._fill(fake, nodes, workloads)
        except BaseException:
            bed.stop()
            raise
        finally:
            os.close(place.lock)  # the processes hold it now
        return bed

    @classmethod
    def open(cls, directory: Path) -> Bed:
        """The bed that runs in a directory.

        :raises BedError: there is none, or a part of it has ended.
        """
        bed = cls.of(directory)
        ended = bed.processes.ended()
        if ended is not None or not bed.processes.all():
            raise BedError(f"{ended.name if ended else 'everything'} of the bed in {directory} has ended")
        return bed

    @classmethod
    def of(cls, directory: Path) -> Bed:
        """The bed of a directory, whether or not all of it runs.

        :raises BedError: there is none.
        """
        place = directory / "bed.json"
        if not place.exists():
            raise BedError(f"there is no bed in {directory}")
        settings = Settings(**json.loads(place.read_text(encoding="utf-8")))
        return cls(directory.resolve(), settings, Processes(directory.resolve()))

    def stop(self) -> None:
        """End what was started, and remove what it left."""
        volumes = self._host_volumes()
        self.close()
        for beside in (self.directory / "databases").glob("*/pids"):
            Processes(beside.parent).stop()
        self.processes.stop()
        for volume in volumes:
            shutil.rmtree(volume, ignore_errors=True)
        shutil.rmtree(self.directory)

    def close(self) -> None:
        """Close the connections to it; it goes on."""
        for name in ("api", "_setup"):
            api: Api | None = self.__dict__.pop(name, None)
            if api is not None:
                api.close()

    # ---- use

    @cached_property
    def programs(self) -> Mapping[str, Path]:
        """kubectl, helm (4), helm3 and the parts of the control plane, by name."""
        return ensure()

    @property
    def slot(self) -> Slot:
        return Slot(self.settings.slot)

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.slot.port('kube-apiserver')}"

    @property
    def authority(self) -> Authority:
        return Authority(self.directory / "pki")

    @property
    def kubeconfig(self) -> Path:
        """That of an administrator."""
        return self._kubeconfig("admin")

    @cached_property
    def api(self) -> Api:
        """As the administrator; its requests stand in the audit log."""
        return self.api_as("admin")

    @cached_property
    def audit(self) -> AuditLog:
        return AuditLog(self.directory / "audit.log", self.api)

    @property
    def images(self) -> ImageSettings:
        """What a test changes about the programs that stand for images."""
        return ImageSettings(self.directory / "images.json")

    def api_as(self, user: str) -> Api:
        """As one of _USERS."""
        return Api.of_token(self.server, self.authority.certificate, self.settings.tokens[user])

    def node(self, name: str) -> Path:
        """The root folder of a node's host."""
        node = self.api.get(f"/api/v1/nodes/{name}")
        return root_of(self.directory / "roots", node, FakeCluster.load(self.settings.cluster))

    def add_nodes(self, total: int, ready: bool = True) -> None:
        """Let the last group of nodes grow until there are so many in all.

        :param ready: whether to wait until they are Ready, which takes longer than to make them.
        """
        self._add_nodes(FakeCluster.load(self.settings.cluster), total, ready)

    def write_kubeconfig(self, place: Path, server: str | None = None, **user: object) -> Path:
        """A kubeconfig of this bed with a user entry of one's own, such as `token=...` or `exec={...}`.

        :param server: where a proxy stands in front of the API server.
        """
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "bed",
            "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": "bed"}}],
            "clusters": [
                {
                    "name": "bed",
                    "cluster": {
                        "server": server or self.server,
                        "certificate-authority": str(self.authority.certificate),
                    },
                }
            ],
            "users": [{"name": "bed", "user": user}],
        }
        place.touch(mode=0o600)
        place.write_text(yaml.safe_dump(document), encoding="utf-8")
        return place

    def service_account_token(self, namespace: str, name: str, seconds: int = 3600) -> str:
        """A token as pods get them; what it may do is the ServiceAccount's rights."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds},
        }
        token: str = self._setup.create(path, request)["status"]["token"]
        return token

    def run(
        self, program: str, *arguments: str, check: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `kubectl`, `helm` (4) or `helm3` as the administrator, with nothing of the user's own configuration.

        :raises subprocess.CalledProcessError: exit code other than 0; not with `check=False`.
        """
        home = self.directory / "home"
        home.mkdir(exist_ok=True)
        settings = {"KUBECONFIG": str(self.kubeconfig), "HOME": str(home), "PATH": os.environ["PATH"], **environment}
        command = [str(self.programs[program]), *arguments]
        return subprocess.run(command, env=settings, check=check, capture_output=True, text=True)

    # ---- how it comes up

    @cached_property
    def _setup(self) -> Api:
        return self.api_as("bed:setup")

    def _kubeconfig(self, user: str) -> Path:
        place = self.directory / f"{user.replace(':', '-')}.kubeconfig"
        return place if place.exists() else self.write_kubeconfig(place, token=self.settings.tokens[user])

    def _write_files(self) -> None:
        (self.directory / "bed.json").write_text(json.dumps(vars(self.settings)), encoding="utf-8")
        (self.directory / "bed.json").chmod(0o600)
        for file in ("audit-policy.yaml", "kwok-stages.yaml"):
            shutil.copy(_HERE / file, self.directory)
        tokens = self.directory / "tokens.csv"
        tokens.touch(mode=0o600)
        lines = [f'{self.settings.tokens[user]},{user},{user},"{groups}"' for user, groups in _USERS.items()]
        tokens.write_text("\n".join(lines) + "\n", encoding="utf-8")
        services = [f"kubernetes{end}" for end in ("", ".default", ".default.svc", ".default.svc.cluster.local")]
        authority = Authority.make(self.directory / "pki")
        authority.server("server", ["127.0.0.1", self.slot.kubernetes_service], ["localhost", *services])

    def _start_control_plane(self, place: Slot, fake: FakeCluster) -> None:
        def start(name: str, *flags: str) -> None:
            # A bed lives for minutes: to collect garbage less often costs memory, and saves a sixth of the work.
            environment = {**os.environ, "GOGC": "400"}
            self.processes.start(name, [str(self.programs[name]), *flags], environment, [place.lock])

        etcd, peer = (f"http://127.0.0.1:{place.port(name)}" for name in ("etcd", "etcd-peer"))
        start(
            "etcd",
            "--name=bed",
            "--data-dir=etcd",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=bed={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )
        serving = ["--tls-cert-file=pki/server.crt", "--tls-private-key-file=pki/server.key"]
        start(
            "kube-apiserver",
            f"--version={fake.version}",
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={place.port('kube-apiserver')}",
            *serving,
            "--client-ca-file=pki/ca.crt",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=pki/sa.pub",
            "--service-account-signing-key-file=pki/sa.key",
            f"--service-cluster-ip-range={place.service_range}",
            "--endpoint-reconciler-type=none",
            "--requestheader-client-ca-file=pki/ca.crt",
            "--requestheader-allowed-names=front-proxy",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--audit-policy-file=audit-policy.yaml",
            "--audit-log-path=audit.log",
            "--enable-priority-and-fairness=false",
            "--allow-privileged=true",
            "--kubelet-preferred-address-types=ExternalDNS",
        )
        self._wait("kube-apiserver", 60, self._answers)

        def configured(program: str, user: str) -> list[str]:
            kubeconfig = self._kubeconfig(user)
            names = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
            return [
                *(f"--{name}={kubeconfig}" for name in names),
                "--leader-elect=false",
                "--bind-address=127.0.0.1",
                f"--secure-port={place.port(program)}",
                *serving,
            ]

        start(
            "kube-controller-manager",
            *configured("kube-controller-manager", "system:kube-controller-manager"),
            "--use-service-account-credentials=true",
            "--service-account-private-key-file=pki/sa.key",
            "--root-ca-file=pki/ca.crt",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            # Leases of thousands of nodes, renewed every ten seconds, would be all that this machine does.
            "--node-monitor-grace-period=1h",
            "--enable-hostpath-provisioner=true",
        )
        start("kube-scheduler", *configured("kube-scheduler", "system:kube-scheduler"))
        start(
            "kwok",
            f"--kubeconfig={self._kubeconfig('kwok')}",
            "--config=kwok-stages.yaml",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=1200",
            f"--server-address=127.0.0.1:{place.port('kwok')}",
        )
        environment = {key: value for key, value in os.environ.items() if key != "AICR_TEST_KUBECONFIG"}
        self.processes.start(
            "kubelet", [sys.executable, "-m", _KUBELET, str(self.directory)], environment, [place.lock]
        )

    def _fill(self, fake: FakeCluster, total: int | None, workloads: bool) -> None:
        self._add_nodes(fake, total)
        self._setup.create("/apis/storage.k8s.io/v1/storageclasses", fake.storage())
        expected = fake.workloads if workloads else ()
        for workload in expected:
            self._setup.create(*fake.workload(workload))
        # Without it no pod of the namespace can be made.
        self._wait(
            "kube-controller-manager", 60, lambda: self._exists("/api/v1/namespaces/default/serviceaccounts/default")
        )
        names = {workload["name"] for workload in expected}
        self._wait("kubelet", 60 + (total or 0) / 10, lambda: self._all_running("kube-system", names))

    def _add_nodes(self, fake: FakeCluster, total: int | None, ready: bool = True) -> None:
        port = self.slot.port("kubelet")
        there = {node["metadata"]["name"] for node in self._setup.items("/api/v1/nodes")}
        wanted = {node["metadata"]["name"]: node for node in fake.nodes(port, total)}
        with ThreadPoolExecutor(4) as pool:
            new = [node for name, node in wanted.items() if name not in there]
            list(pool.map(lambda node: self._setup.create("/api/v1/nodes", node), new))
        if ready:
            self._wait("kwok", 60 + len(wanted) / 50, lambda: all(map(_usable, self._setup.items("/api/v1/nodes"))))

    def _answers(self) -> bool:
        tls = ssl.create_default_context(cafile=str(self.authority.certificate))
        request = urllib.request.Request(
            f"{self.server}/readyz", headers={"Authorization": f"Bearer {self.settings.tokens['bed:setup']}"}
        )
        try:
            with urllib.request.urlopen(request, context=tls, timeout=5) as answer:
                return bool(answer.status == 200)
        except (TimeoutError, urllib.error.URLError, ConnectionError):
            return False

    def _exists(self, path: str) -> bool:
        try:
            self._setup.get(path)
        except ApiError as error:
            if error.code != 404:
                raise
            return False
        return True

    def _all_running(self, namespace: str, workloads: set[str]) -> bool:
        pods = list(self._setup.items(f"/api/v1/namespaces/{namespace}/pods"))
        owners = {pod["metadata"]["labels"].get("k8s-app") for pod in pods}
        return owners >= workloads and all(map(_ready, pods))

    def _wait(self, part: str, seconds: float, ready: Callable[[], bool]) -> None:
        begin = time.monotonic()
        while True:
            asked = time.monotonic()
            if ready():
                return
            ended = self.processes.ended()
            if ended is not None or time.monotonic() > begin + seconds:
                name = ended.name if ended else part
                log = self.processes.log(name)
                last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:] if log.exists() else []
                what = "has ended" if ended else f"is not ready after {seconds:.0f} s"
                raise BedError("\n  ".join([f"{name} of the bed in {self.directory} {what}; its log ends:", *last]))
            time.sleep(max(0.1, time.monotonic() - asked))  # to ask of thousands of objects is work, too

    def _host_volumes(self) -> list[Path]:
        """The folders that the controller-manager's provisioner has made outside of the bed's directory."""
        try:
            volumes = list(self._setup.items("/api/v1/persistentvolumes"))
        except (OSError, ApiError):  # it never came up, or has ended
            return []
        return [Path(volume["spec"]["hostPath"]["path"]) for volume in volumes if _provisioned_here(volume)]


def _ready(thing: Object) -> bool:
    conditions = {condition["type"]: condition["status"] for condition in thing["status"].get("conditions", ())}
    return bool(conditions.get("Ready") == "True")


def _usable(node: Object) -> bool:
    """Ready, and without the taint that each new node has until the controller-manager has seen that it is."""
    taints = [taint["key"] for taint in node["spec"].get("taints", ())]
    return _ready(node) and "node.kubernetes.io/not-ready" not in taints


def _provisioned_here(volume: Object) -> bool:
    by = volume["metadata"].get("annotations", {}).get("pv.kubernetes.io/provisioned-by")
    place = volume["spec"].get("hostPath", {}).get("path", "")
    return bool(by == "kubernetes.io/host-path" and place.startswith("/tmp/hostpath_pv/"))
