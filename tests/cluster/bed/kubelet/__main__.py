# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m ...kubelet DIRECTORY`: the kubelet of the bed in that directory; Bed.start starts it."""

from __future__ import annotations

import sys
from pathlib import Path

from ..bed import Bed
from ..nodes import FakeCluster
from ..tunnel import forward
from .kubelet import Kubelet
from .server import serve


def main(directory: Path) -> None:
    bed = Bed.of(directory)
    api = bed.api_as("bed:kubelet")
    kubelet = Kubelet(api, directory, FakeCluster.load(bed.settings.cluster), bed.slot)
    serve(kubelet, bed.slot.port("kubelet"), directory / "pki")
    # Pods find the API server by the Service `kubernetes`.
    try:
        forward((bed.slot.kubernetes_service, 443), ("127.0.0.1", bed.slot.port("kube-apiserver")))
    except PermissionError as error:
        print(f"nothing behind the Service kubernetes: {error}", file=sys.stderr, flush=True)
    kubelet.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
