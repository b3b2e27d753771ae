# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at nodes from within: a Job on each, their answers, and nothing of it left behind (role ``snapshot_agent``)."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils.host_agent import BEGIN, END
from ..errors import AicrError, Code, not_found, raise_all
from . import review
from .agent_job import CONTAINER, NODE, Agent
from .apply import apply, path_of
from .connection import Connection, Deadline
from .job import PROGRESS_SECONDS, Objects, trouble
from .k8s import has_gpu
from .nodes import PATH as NODES
from .read import Object, Reader
from .request import ask, is_gap
from .rights import AGENT_CLUSTER_RULES, AGENT_RULES

MAX_LOG_BYTES = 4 * 1024 * 1024
MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""Of what a node says, compressed and not: many times what a node has to say, and no more than a controller bears."""
AT_ONCE = 50
"""So many nodes are looked at side by side."""

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 2.0
_READ_SECONDS = 30.0
_ANSWER = re.compile(rf"^{BEGIN}\n([A-Za-z0-9+/=\n]+)\nsha256:([0-9a-f]{{64}})\n{END}$", re.MULTILINE)
_RIGHTS_HINT = "docs/snapshot-agent-rbac.yaml has all that it takes"


class Node(NamedTuple):
    """A node, as far as it matters to whom wants to look at it."""

    name: str
    has_gpu: bool
    is_ready: bool


class Looked(NamedTuple):
    """What nodes said, by their names, and what could not be removed afterwards."""

    observed: Mapping[str, Mapping[str, Any]]
    left: tuple[str, ...]


def choose(nodes: Sequence[Node], named: Sequence[str], every: bool) -> tuple[str, ...]:
    """The names of the nodes to look at, sorted.

    :param named: those that somebody named; they need no GPU.
    :param every: all nodes with GPUs, and not the first alone. One node is that which a snapshot of the cluster
        samples, too: the first by name that has GPUs or, in a cluster without any, the first of all.
    :raises AicrError: NOT_FOUND for a node that is not there, not Ready, or if there is none to choose.
    """
    ordered = sorted(nodes)
    if named:
        chosen = [node for node in ordered if node.name in named]
        raise_all(
            not_found(f'there is no node "{name}"', "name nodes as `kubectl get nodes` has them")
            for name in sorted(set(named) - {node.name for node in chosen})
        )
    else:
        chosen = [node for node in ordered if node.has_gpu]
        if every and not chosen:
            raise not_found("there is no node with GPUs", "name the nodes to look at")
        if not every:
            chosen = [node for node in chosen or ordered if node.is_ready][:1]
        if not chosen:
            raise not_found("there is no node that is Ready", "see what `kubectl get nodes` says")
    raise_all(
        not_found(f"{node.name}: the node is not Ready, so nothing can run there", "mend it, or name the other nodes")
        for node in chosen
        if not node.is_ready
    )
    return tuple(node.name for node in chosen)


def list_nodes(connection: Connection) -> list[Node]:
    """All nodes; see :func:`request.ask` for what it raises."""

    def take(nodes: list[Node], node: Object) -> None:
        conditions = (node.get("status") or {}).get("conditions") or ()
        ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
        nodes.append(Node(str(node["metadata"]["name"]), has_gpu(node), ready))

    return Reader(connection, Deadline(_READ_SECONDS)).fold(NODES, list, take)


def knows_recursive_mounts(connection: Connection) -> bool:
    """Whether the API server's version is 1.30 or newer; an older one refuses what it does not know."""
    version = Reader(connection, Deadline(_READ_SECONDS)).get("/version")
    numbers = [re.match(r"\d+", str(version.get(part, ""))) for part in ("major", "minor")]
    return tuple(int(number[0]) if number else 0 for number in numbers) >= (1, 30)


def require_rights(connection: Connection, namespace: str) -> None:
    """:raises AicrError: UNAUTHORIZED with every right that the caller lacks."""
    wanted = [*review.rights_of(AGENT_RULES, namespace), *review.rights_of(AGENT_CLUSTER_RULES, None)]
    review.require(connection, wanted, _RIGHTS_HINT)


def rehearse(connection: Connection, agent: Agent, node: str) -> None:
    """Let the server judge what a run would make, and store nothing.

    :raises AicrError: what the server would refuse.
    """
    for manifest in (agent.account(), agent.code(), agent.job(0, node)):
        apply(connection, manifest, dry_run=True)


def look(connection: Connection, agent: Agent, nodes: Sequence[str], tell: Callable[[str], None]) -> Looked:
    """Run the agent on nodes, and wait for all of them.

    Whatever was made is removed, also after a failure; what could not be removed is named.

    :param tell: takes a line about the progress, now and then.
    :raises AicrError: TIMEOUT for the nodes that did not answer in time, SERVICE_UNAVAILABLE for those that failed,
        each with what its pod and the events say; otherwise see :func:`request.ask`.
    """
    objects = Objects(connection)
    with objects.removed() as left:
        objects.make(agent.account())
        objects.make(agent.code())
        observed = _Jobs(connection, agent, objects, nodes, tell).finish()
    return Looked(observed, tuple(left))


class _Running(NamedTuple):
    name: str
    path: str
    uid: str


class _Jobs:
    """The Jobs of one run, a few at a time."""

    def __init__(
        self,
        connection: Connection,
        agent: Agent,
        objects: Objects,
        nodes: Sequence[str],
        tell: Callable[[str], None],
    ) -> None:
        self._connection, self._agent, self._objects, self._tell = connection, agent, objects, tell
        self._waiting = deque(enumerate(nodes))
        self._running: dict[str, _Running] = {}
        self._observed: dict[str, Mapping[str, Any]] = {}
        self._problems: list[AicrError] = []
        self._count = len(nodes)

    def finish(self) -> Mapping[str, Mapping[str, Any]]:
        """Start, wait and read until every node has answered or the time is over."""
        deadline, pause, told = Deadline(self._agent.seconds), _FIRST_PAUSE_SECONDS, time.monotonic()
        pods: Mapping[str, Object] = {}
        while deadline.left and (self._waiting or self._running):
            while self._waiting and len(self._running) < AT_ONCE:
                self._start(*self._waiting.popleft())
            time.sleep(min(pause, deadline.left))
            pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)
            pods = self._pods()
            for node in [node for node in self._running if _phase(pods.get(node)) in ("Succeeded", "Failed")]:
                self._end(node, pods[node])
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                self._tell(self._progress(deadline))
        for node, job in self._running.items():
            self._problems.append(self._late(node, job, pods.get(node)))
        self._problems += [self._late(node, None, None) for _unused, node in self._waiting]
        raise_all(self._problems)
        return dict(sorted(self._observed.items()))

    def _start(self, index: int, node: str) -> None:
        manifest = self._agent.job(index, node)
        uid = str(self._objects.make(manifest)["metadata"]["uid"])
        self._running[node] = _Running(manifest["metadata"]["name"], path_of(manifest), uid)

    def _pods(self) -> dict[str, Object]:
        """The pods of this run by node, without what is not needed of them."""

        def take(pods: dict[str, Object], pod: Object) -> None:
            metadata = pod["metadata"]
            node = (metadata.get("annotations") or {}).get(NODE)
            if node in self._running:
                kept = {"name": str(metadata["name"]), "uid": str(metadata["uid"])}
                pods[node] = {"metadata": kept, "status": pod.get("status") or {}}

        reader = Reader(self._connection, Deadline(_READ_SECONDS))
        query = {"labelSelector": self._agent.selector}
        found: dict[str, Object] = reader.fold(self._path("pods"), dict, take, query)
        return found

    def _end(self, node: str, pod: Object) -> None:
        job = self._running.pop(node)
        if _phase(pod) == "Failed":
            self._problems.append(self._failed(node, job, pod))
        else:
            try:
                self._observed[node] = read_answer(self._log(node, pod["metadata"]["name"]), node)
            except Unusable as error:
                self._problems.append(error)
        self._objects.remove(job.path)

    def _log(self, node: str, pod: str) -> Iterator[bytes]:
        query = {"container": CONTAINER, "limitBytes": str(MAX_LOG_BYTES)}
        try:
            return ask(self._connection, f"{self._path('pods')}/{pod}/log", Deadline(_READ_SECONDS), query).parts()
        except AicrError as error:
            if not is_gap(error):
                raise
            raise Unusable(node, error.message) from error

    def _failed(self, node: str, job: _Running, pod: Object) -> AicrError:
        return AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"{node}: could not be looked at: {trouble(self._connection, self._agent.namespace, job.uid, pod)}",
            "mend what is said of the pod, or name the other nodes",
            {"node": node},
        )

    def _late(self, node: str, job: _Running | None, pod: Object | None) -> AicrError:
        why = trouble(self._connection, self._agent.namespace, job.uid, pod) if job else "its turn had not come"
        return AicrError(
            Code.TIMEOUT,
            f"{node}: was not looked at within {self._agent.seconds:g} s: {why}",
            "mend what is said of the pod, allow more time, or name the other nodes",
            {"node": node},
        )

    def _progress(self, deadline: Deadline) -> str:
        done = self._count - len(self._running) - len(self._waiting)
        counted = f"{done} of {self._count} nodes have been looked at"
        return f"{self._connection.name}: {counted}, {deadline.left:.0f} s are left"

    def _path(self, resource: str) -> str:
        return f"/api/v1/namespaces/{self._agent.namespace}/{resource}"


def _phase(pod: Object | None) -> str:
    return str(pod["status"].get("phase", "")) if pod else ""


class Unusable(AicrError):
    """What a node said is no answer."""

    def __init__(self, node: str, why: str) -> None:
        super().__init__(
            Code.SERVICE_UNAVAILABLE,
            f"{node}: the answer in the log of its pod is of no use: {why}",
            "try again; does anything else write to that log, or cut it?",
            {"node": node},
        )


def read_answer(log: Iterable[bytes], node: str) -> Mapping[str, Any]:
    """What a node says in the log of its pod, which may be anything.

    :param node: its name.
    :raises Unusable: no whole answer, one beyond all measure, one of another node.
    """
    text = bytearray()
    for part in log:
        text += part
        if len(text) > MAX_LOG_BYTES:
            raise Unusable(node, f"it is longer than {MAX_LOG_BYTES} bytes")
    match = _ANSWER.search(text.decode("utf-8", "replace"))
    if match is None:
        raise Unusable(node, "there is none, or not all of it")
    try:
        packed = base64.b64decode(match[1].replace("\n", ""), validate=True)
        unpack = zlib.decompressobj()
        answer = unpack.decompress(packed, MAX_ANSWER_BYTES)
        if hashlib.sha256(packed).hexdigest() != match[2] or not unpack.eof:
            raise ValueError
        observed = json.loads(answer)
    except (ValueError, RecursionError, zlib.error):
        raise Unusable(node, "it is damaged, or larger than any node's") from None
    if not isinstance(observed, dict) or observed.get("node") != node:
        raise Unusable(node, "it speaks of something else")
    return observed
