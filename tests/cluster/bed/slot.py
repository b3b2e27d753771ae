# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A number by which several beds on one machine keep out of each other's way: ports and addresses derive from it."""

from __future__ import annotations

import fcntl
import os
import socket
from dataclasses import dataclass

from .programs import cache

COUNT = 64
_PROGRAMS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubelet")


@dataclass(frozen=True)
class Slot:
    """One of COUNT numbers; `lock` is an open file whose lock lasts as long as any process holds it."""

    number: int
    lock: int = -1

    def port(self, program: str) -> int:
        """Below 32768, where Linux takes the ports of outgoing connections from."""
        return 16000 + 100 * self.number + 1 + _PROGRAMS.index(program)

    @property
    def service_range(self) -> str:
        """ClusterIPs are loopback addresses: any process can stand behind a Service (spec/testbed.md section 6)."""
        return f"127.{64 + self.number}.0.0/16"

    @property
    def kubernetes_service(self) -> str:
        return f"127.{64 + self.number}.0.1"

    def pod(self, number: int) -> str:
        """An address of its own for an executed pod, behind Services; the API shows another (kubelet.py)."""
        return f"127.{128 + self.number}.{number // 250 % 250}.{1 + number % 250}"

    def outside(self, number: int) -> str:
        """An address for what is no part of the cluster, such as a customer's database."""
        return f"127.{192 + self.number}.{number // 250 % 250}.{1 + number % 250}"


def claim() -> Slot:
    """Take the lowest free number; processes that are to keep it get its lock passed on.

    :raises RuntimeError: as many beds as there are numbers run already.
    """
    folder = cache() / "slots"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(COUNT):
        lock = os.open(folder / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        slot = Slot(number, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        # A bed with another cache, or a stranger, may have the ports all the same.
        if all(_free(slot.port(program)) for program in _PROGRAMS):
            return slot
        os.close(lock)
    raise RuntimeError(f"all {COUNT} places for test beds are taken")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
