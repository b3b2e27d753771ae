# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the collectors of a host side by side, each with its own time (spec/engine.md 8.1)."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.aicr.runtime.plugins.module_utils import host_gpu, host_os, host_systemd
from ansible_collections.aicr.runtime.plugins.module_utils.findings import Findings
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

TYPES = {"gpu": "GPU", "os": "OS", "systemd": "SystemD"}
"""The measurement type of each collector."""

DEFAULT_TIMEOUT = 10.0
"""Seconds."""


def collect(fs: RootFs, timeouts: Mapping[str, float]) -> list[Findings]:
    """What the named collectors find, sorted by type.

    :param timeouts: the collectors to run, and how many seconds each may take. One that fails or is late leaves a gap;
        what it had found until then, and all others, stand. A late one is left behind: a read that hangs in the kernel
        cannot be called off.
    """
    runs = []
    for name in sorted(timeouts, key=TYPES.__getitem__):
        found = Findings(TYPES[name])
        thread = threading.Thread(target=_run, args=(name, fs, found, timeouts[name]), daemon=True)
        thread.start()
        runs.append((thread, found, timeouts[name], time.monotonic() + timeouts[name]))
    finished = []
    for thread, found, timeout, deadline in runs:
        thread.join(max(0.0, deadline - time.monotonic()))
        result = Findings(found.type)
        result.subtypes, result.warnings, result.gaps = dict(found.subtypes), list(found.warnings), list(found.gaps)
        if thread.is_alive():
            result.gap(f"was not read to the end within {timeout:g} s")
        finished.append(result)
    return finished


def _run(name: str, fs: RootFs, found: Findings, timeout: float) -> None:
    try:
        if name == "os":
            host_os.collect(fs, found)
        elif name == "systemd":
            # Its own time is a little shorter, so that it can stop its process and say why it is late.
            host_systemd.collect(fs, found, timeout * 0.9)
        else:
            host_gpu.collect(fs, found)
    except Exception as error:  # a collector must not take the others down, whatever happens to it
        found.gap(f"{type(error).__name__}: {error}")


def observe(fs: RootFs, timeouts: Mapping[str, float]) -> dict[str, Any]:
    """What a host says of itself, as the controller makes a Snapshot of it: plain values, ready for JSON.

    :param timeouts: the collectors to run, and how many seconds each may take.
    """
    findings = collect(fs, timeouts)
    return {
        "node": node_name(fs),
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "measurements": measurements(findings),
        "incomplete": [gap for found in findings for gap in found.gaps],
        "notes": [warning for found in findings for warning in found.warnings],
    }


def measurements(findings: Sequence[Findings]) -> list[dict[str, object]]:
    """Findings in the layout of a Snapshot; a type without a reading is left out."""
    return [
        {
            "type": found.type,
            "subtypes": [{"subtype": name, "data": data} for name, data in sorted(found.subtypes.items())],
        }
        for found in findings
        if found.subtypes
    ]


def node_name(fs: RootFs) -> str:
    """The node whose facts these are: what Kubernetes told a pod, else the host's own name (spec/engine.md 8.1)."""
    for variable in ("NODE_NAME", "KUBERNETES_NODE_NAME"):
        if os.environ.get(variable):
            return os.environ[variable]
    try:
        return fs.text("/proc/sys/kernel/hostname").strip()
    except OSError:
        return socket.gethostname()
