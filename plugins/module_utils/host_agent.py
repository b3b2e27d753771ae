# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the node that a pod runs on, and print what was seen (role ``snapshot_agent``).

A ConfigMap brings this file and the collectors into the pod; the answer goes the way of the pod's log, so that the pod
needs no rights in the cluster. Run as ``python3 -m … ROOT TIMEOUTS``: where the host's files are mounted, and a JSON
object of seconds by collector.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib

from ansible_collections.aicr.runtime.plugins.module_utils import host_collect
from ansible_collections.aicr.runtime.plugins.module_utils.rootfs import RootFs

BEGIN, END = "-----BEGIN AICR NODE-----", "-----END AICR NODE-----"
"""Lines around the answer: whatever else stands in a log is none of it."""

_WIDTH = 76

# A pod has namespaces of its own; under these names the kernel shows whoever asks that of theirs, not the host's.
_OF_THE_POD = re.compile(
    r"/proc/sys/(kernel/(hostname|domainname|pid_max|auto_msgmni|(msg|sem|shm)\w*)|fs/mqueue/\w+)(/.*)?"
)


def observe(root: str, timeouts: dict[str, float]) -> dict[str, object]:
    """What the collectors see of the host, without what a pod can only see of itself."""
    observed = host_collect.observe(RootFs(root), timeouts)
    for measurement in observed["measurements"]:
        for subtype in measurement["subtypes"]:
            if (measurement["type"], subtype["subtype"]) == ("OS", "sysctl"):
                subtype["data"] = {k: v for k, v in subtype["data"].items() if not _OF_THE_POD.fullmatch(k)}
    return observed


def answer(observed: dict[str, object]) -> str:
    """An observation as lines of a log: compressed, in base64, with a hash that a log cut short does not have."""
    packed = zlib.compress(json.dumps(observed, sort_keys=True).encode(), 9)
    text = base64.b64encode(packed).decode("ascii")
    lines = [text[start : start + _WIDTH] for start in range(0, len(text), _WIDTH)]
    return "\n".join(["", BEGIN, *lines, f"sha256:{hashlib.sha256(packed).hexdigest()}", END, ""])


def main(arguments: list[str]) -> None:
    """Print the answer; an error ends the pod with a traceback, which its state then shows."""
    root, timeouts = arguments
    sys.stdout.write(answer(observe(root, json.loads(timeouts))))


if __name__ == "__main__":
    main(sys.argv[1:])
