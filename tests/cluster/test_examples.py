# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshots in examples/ are what is read off the clusters that they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.digest import without_header
from ansible_collections.aicr.runtime.tests.cluster.bed import Bed
from ansible_collections.aicr.runtime.tests.cluster.examples import CLUSTERS, SNAPSHOTS, take


def essence(file: Path) -> dict[str, Any]:
    """Without the header, and the release of Go that built this machine's API server."""
    document = without_header(yamlio.load_file(file))
    (cluster,) = [one for one in document["measurements"] if one["type"] == "K8s"]
    (server,) = [one for one in cluster["subtypes"] if one["subtype"] == "server"]
    assert server["data"].pop("goVersion").startswith("go1.")
    return document


@pytest.mark.parametrize("name", CLUSTERS)
def test_an_example_is_what_its_cluster_says(bed: Bed, tmp_path: Path, name: str) -> None:
    own = Bed.start(tmp_path / "bed", name)
    try:
        assert take(own, tmp_path / "snapshot.yaml")["changed"] is True
    finally:
        own.stop()
    assert essence(tmp_path / "snapshot.yaml") == essence(SNAPSHOTS / f"{name}.yaml"), "run `make examples`"
