# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the snapshots in examples/ (make examples): of each cluster a bed, its nodes looked at from within."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import SNAPSHOT, SNAPSHOT_AGENT, parse
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot import make_snapshot
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot_agent import make_agent_snapshot
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed

SNAPSHOTS = Path(__file__).resolve().parents[2] / "examples" / "snapshots"
CLUSTERS = ("eks-h100-training", "eks-h100-inference")


def take(bed: Bed, dest: Path) -> dict[str, Any]:
    """A snapshot of a cluster with all its GPU nodes; returns what the action `snapshot` does."""
    cluster = {"kubeconfig": str(bed.kubeconfig), "on_partial": "fail"}
    asked = parse(SNAPSHOT_AGENT, {**cluster, "select": "all"}, {})
    nodes = make_agent_snapshot(asked, check_mode=False, tell=print)
    document = nodes.deliver(check_mode=False, diff=False, return_document=True)["document"]
    taken = make_snapshot(parse(SNAPSHOT, {**cluster, "nodes": [document], "dest": str(dest)}, {}))
    return taken.deliver(check_mode=False, diff=False, return_document=False)


def main() -> None:
    for name in CLUSTERS:
        with tempfile.TemporaryDirectory() as folder:
            bed = Bed.start(Path(folder) / "bed", name)
            try:
                result = take(bed, SNAPSHOTS / f"{name}.yaml")
            finally:
                bed.stop()
        print(f"{result['path']}: {'written' if result['changed'] else 'says the same already'}")


if __name__ == "__main__":
    main()
