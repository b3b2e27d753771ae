# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod whose containers are executed on this machine, from its volumes to its last phase."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..api import Object
from ..images import Image, Setting, find
from .annotations import crashes, held
from .container import Container, Mount, now
from .environment import Unresolved, environment, expand
from .names import hosts
from .proxy import Endpoint
from .readiness import Readiness
from .status import State, running, status, waiting
from .volumes import Sources, contents

_LONGEST_BACK_OFF = 10.0
_NO_ENTRYPOINT = "the bed has no program for this image, so a container without `command` cannot be executed"


@dataclass(frozen=True)
class Bed:
    """What a pod sees of the bed it runs in."""

    sources: Sources
    services: Callable[[], list[Object]]
    endpoints: Callable[[], list[Endpoint]]
    setting: Callable[[str], Setting]
    """By image."""
    api_service: str
    """The address of the Service `kubernetes`."""


class Run:
    """One executed pod. Everything of it lies in `directory`, but for its logs."""

    def __init__(
        self,
        pod: Object,
        node: Object,
        directory: Path,
        ip: str,
        address: str,
        whole: bool,
        bed: Bed,
        publish: Callable[[Object, Object], None],
        finished: Callable[[Object], None],
    ) -> None:
        self.pod, self.node, self.directory, self.ip, self.address = pod, node, directory, ip, address
        self.logs: dict[str, list[Path]] = {}
        self._whole, self._bed, self._publish, self._finished = whole, bed, publish, finished
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._states: dict[str, State] = {}
        self._last: dict[str, State] = {}
        self._restarts: dict[str, int] = {}
        self._shown: dict[str, State] = {}
        self._unready: set[str] = set()
        self._ready = False
        self._hosts = directory / "hosts"
        self._places: dict[str, Path] = {}
        self._started = time.monotonic()
        self._initialized = self._overdue = False

    def endpoint(self) -> Endpoint:
        """How Services see it."""
        return Endpoint(self.pod, self.address, self._ready and not self._stopping.is_set())

    def stop(self) -> None:
        """Have all containers end within the pod's grace period."""
        self._stopping.set()

    def start(self) -> None:
        """Begin, in a thread of its own."""
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self.directory.mkdir(parents=True)
            self.pod["status"] = {**self.pod.get("status", {}), "podIP": self.ip}
            self._write_hosts()
            for volume in self.pod["spec"].get("volumes", ()):
                self._places[volume["name"]] = self._write_volume(volume)
            succeeded = self._run_all()
            message = "Pod was active on the node longer than the specified deadline"
            late = {"reason": "DeadlineExceeded", "message": message} if self._overdue else {}
            self._tell("Succeeded" if succeeded else "Failed", **late)
        except (Unresolved, OSError) as error:
            names = [one["name"] for one in self.pod["spec"]["containers"]]
            failed = {"exitCode": 128, "reason": "ContainerCannotRun", "message": str(error)}
            self._states.update({name: {"terminated": failed} for name in names if name not in self._states})
            self._tell("Failed")
        finally:
            self._finished(self.pod)
            shutil.rmtree(self.directory, ignore_errors=True)

    def _run_all(self) -> bool:
        spec = self.pod["spec"]
        policy = spec.get("restartPolicy", "Always")
        sidecars = []
        for one in spec.get("initContainers", ()):
            if one.get("restartPolicy") == "Always":
                sidecars.append(self._in_thread(one, "Always", {}))
            elif not self._keep(one, "Never" if policy == "Never" else "OnFailure"):
                return False
        self._initialized = True
        results: dict[str, bool] = {}
        for thread in [self._in_thread(one, policy, results) for one in spec["containers"]]:
            thread.join()
        self._stopping.set()
        for thread in sidecars:
            thread.join()
        return all(results.values()) and len(results) == len(spec["containers"])

    def _in_thread(self, one: Object, policy: str, results: dict[str, bool]) -> threading.Thread:
        def keep() -> None:
            results[one["name"]] = self._keep(one, policy)

        thread = threading.Thread(target=keep, daemon=True)
        thread.start()
        return thread

    def _keep(self, one: Object, policy: str) -> bool:
        """Run a container, again if the policy wants it; whether its last run succeeded."""
        name, back_off = one["name"], 1.0
        while not self._stopping.is_set():
            try:
                state = self._once(one)
            except Unresolved as error:  # it was there when the pod came
                self._states[name] = waiting("CreateContainerConfigError", str(error))
                self._tell()
                self._stopping.wait(1)
                continue
            succeeded = bool(state["terminated"]["exitCode"] == 0)
            self._states[name] = state
            if policy == "Never" or (succeeded and policy == "OnFailure") or self._stopping.is_set():
                self._tell()
                return succeeded
            self._last[name] = state
            self._restarts[name] = self._restarts.get(name, 0) + 1
            message = f"back-off {back_off:.0f}s restarting failed container={name} pod={self.pod['metadata']['name']}"
            self._states[name] = waiting("CrashLoopBackOff", message)
            self._tell()
            self._back_off(back_off)
            back_off = min(2 * back_off, _LONGEST_BACK_OFF)
        return False

    def _back_off(self, seconds: float) -> None:
        """Wait before the next run; while the pod is told to crash there is none, and afterwards it is due at once."""
        end, told = time.monotonic() + seconds, crashes(self.pod) is not None
        while crashes(self.pod) is not None or (not told and time.monotonic() < end):
            if self._stopping.wait(0.05):
                return

    def _once(self, one: Object) -> State:
        name, attempt = one["name"], self._restarts.get(one["name"], 0)
        image = find(one["image"])
        if not self._executes(one, image):
            return self._idle(one)
        metadata, spec = self.pod["metadata"], self.pod["spec"]
        setting = self._bed.setting(one["image"])
        host, port = self._bed.api_service, "443"
        variables = {
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": port,
            "KUBERNETES_PORT": f"tcp://{host}:{port}",
            "BED_ADDRESS": self.address,
            **(image.environment if image else {}),
            **environment(self.pod, self.node, one, self._bed.sources.find),
            **setting.environment,
        }
        log = self.directory.parent / "logs" / metadata["uid"] / name / f"{attempt}.log"
        self.logs.setdefault(name, []).append(log)
        arguments = [expand(word, variables) for word in one.get("args", ())]
        if "command" in one:
            command = [*(expand(word, variables) for word in one["command"]), *arguments]
        elif image and image.start:
            command = [*image.start(self.address, arguments)]
        else:
            return {"terminated": {"exitCode": 128, "reason": "StartError", "message": _NO_ENTRYPOINT}}
        self._states[name] = running()
        self._unready.add(name)
        if setting.delay:
            self._tell()
            if self._stopping.wait(setting.delay):
                return {"terminated": {"exitCode": 143, "reason": "Error", "startedAt": now(), "finishedAt": now()}}
        identity = {**spec.get("securityContext", {}), **one.get("securityContext", {})}
        container = Container.start(
            self.directory / f"{name}-{attempt}",
            log,
            one,
            metadata["name"],
            command,
            variables,
            [
                Mount(self._hosts, "/etc/hosts"),
                Mount(self._resolver(), "/etc/resolv.conf"),
                *(Mount(folder, str(folder), True) for folder in (image.shown if image else ())),
                *self._mounts(one, variables),
            ],
            {} if image and image.as_root else identity,
            image.root if image else Path("/"),
        )
        return self._attend(container, one["name"], log, Readiness(one, self.address, image.port if image else None))

    def _executes(self, one: Object, image: Image | None) -> bool:
        return self._whole or (image is not None and (image.start is not None or "command" in one))

    def _idle(self, one: Object) -> State:
        """What becomes of a container that is not executed, in a pod of which another one is."""
        begin, first = now(), self.pod["spec"].get("initContainers", ())
        if one not in first or one.get("restartPolicy") == "Always":
            self._states[one["name"]] = running()
            self._tell()
            self._stopping.wait()
        return {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": begin, "finishedAt": now()}}

    def _attend(self, container: Container, name: str, log: Path, readiness: Readiness) -> State:
        """Wait for its end, with its readiness and the names of Services kept up to date meanwhile."""
        deadline = self.pod["spec"].get("activeDeadlineSeconds", float("inf"))
        rounds, ready, due = 0, False, 0.0
        while container.process.poll() is None:
            if not ready or time.monotonic() > due:
                ready, due = readiness.holds(), time.monotonic() + readiness.interval
            self._observe(name, ready and held(self.pod) is None)
            if time.monotonic() - self._started > deadline:
                self._overdue = True
                self._stopping.set()
            if self._stopping.is_set():
                grace = self.pod["metadata"].get(
                    "deletionGracePeriodSeconds", self.pod["spec"].get("terminationGracePeriodSeconds", 30)
                )
                container.terminate(grace)
                break
            code = crashes(self.pod)
            if code is not None:
                container.terminate(0)
                state = container.result(log)
                return {"terminated": {**state, "exitCode": code, "reason": "Error" if code else "Completed"}}
            rounds += 1
            time.sleep(min(0.01 * rounds, 0.1))
            if rounds % 10 == 0:
                self._write_hosts()
        return {"terminated": container.result(log)}

    def _observe(self, name: str, ready: bool) -> None:
        state = "running" not in self._shown.get(name, {}), name not in self._unready
        if state != (False, ready):
            (self._unready.discard if ready else self._unready.add)(name)
            self._tell()

    def _tell(self, end: str = "", **more: str) -> None:
        """Publish the states of the containers; `end` is the phase when all is over."""
        with self._lock:
            phase = end or ("Running" if self._initialized else "Pending")
            self._shown = dict(self._states)
            patch = status(
                self.pod,
                phase,
                self._shown,
                unready=self._unready,
                ip=self.ip,
                restarts=self._restarts,
                last=self._last,
            )
            self._ready = any(one["type"] == "Ready" and one["status"] == "True" for one in patch["conditions"])
            self.pod["status"].update(patch)
            self._publish(self.pod, {**patch, **more})

    # ---- files

    def _write_volume(self, volume: Object) -> Path:
        found = contents(self.pod, self.node, volume, self._bed.sources)
        group = self.pod["spec"].get("securityContext", {}).get("fsGroup")
        if isinstance(found, Path):
            if group and "persistentVolumeClaim" in volume:
                shutil.chown(found, group=group)
                found.chmod(0o2775)
            return found
        place: Path = self.directory / "volumes" / volume["name"]
        place.mkdir(parents=True)
        if found is None:
            place.chmod(0o777)
        for file in found or ():
            target = place / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch(mode=0o600)
            target.write_bytes(file.content)
            target.chmod(file.mode | (0o040 if group else 0))
            if group:
                shutil.chown(target, group=group)
        return place

    def _mounts(self, one: Object, variables: Mapping[str, str]) -> list[Mount]:
        mounts = []
        for entry in one.get("volumeMounts", ()):
            place = self._places[entry["name"]]
            below = entry.get("subPath") or expand(entry.get("subPathExpr", ""), variables)
            if below:
                place = place / below
                if not place.exists():
                    place.mkdir(parents=True)
            kept = any(v["name"] == entry["name"] and self._is_read_only(v) for v in self.pod["spec"]["volumes"])
            mounts.append(Mount(place, entry["mountPath"], bool(entry.get("readOnly")) or kept))
        # One mount may lie inside another.
        return sorted(mounts, key=lambda mount: mount.target.count("/"))

    @staticmethod
    def _is_read_only(volume: Object) -> bool:
        return bool(volume.keys() & {"secret", "configMap", "projected", "downwardAPI"})

    def _write_hosts(self) -> None:
        text = hosts(self.pod, self.address, self._bed.services(), self._bed.endpoints())
        if not self._hosts.exists() or self._hosts.read_text(encoding="utf-8") != text:
            self._hosts.write_text(text, encoding="utf-8")  # the same file, since it is mounted
            self._hosts.chmod(0o644)

    def _resolver(self) -> Path:
        """There is no DNS in a bed; a name that is not in the hosts file is unknown at once."""
        place = self.directory / "resolv.conf"
        if not place.exists():
            place.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n", encoding="utf-8")
            place.chmod(0o644)
        return place
