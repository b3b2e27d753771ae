# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validating webhook of slurm-operator: the answers that were recorded (spec/operators.md 3, case-w2)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ..bed.api import Object
from .session import end_when_told, option
from .webhook import Denied, Webhook, serve

_CERTIFICATES = Path("/tmp/k8s-webhook-server/serving-certs")


def main(arguments: Sequence[str]) -> None:
    end_when_told()
    port = int(option(arguments, "server-addr", ":9443").rpartition(":")[2])
    health = int(option(arguments, "health-addr", ":8081").rpartition(":")[2])
    serve(Webhook(port, health, Path(option(arguments, "cert-dir", str(_CERTIFICATES)))), review)


def review(request: Object) -> None:
    """:raises Denied: a change that slurm-operator refuses. Bindings of pods and all else pass."""
    kind, old = request["kind"]["kind"], request.get("oldObject") or {}
    if kind not in ("Accounting", "Controller") or not old:
        return
    before, after = old["spec"], request["object"]["spec"]
    if kind == "Controller":
        # Also the size of the claim, under the name of its switch.
        for field, name in (("clusterName", "ClusterName"), ("slurmKeyRef", "SlurmKeyRef")):
            if before.get(field) != after.get(field):
                raise Denied(f"cannot change {name} after deployment")
        if before.get("persistence") != after.get("persistence"):
            raise Denied("cannot change persistence.enabled after deployment")
    if _jwt_key(before) != _jwt_key(after):
        raise Denied("the value of JwtKeyRef or JwtHs256KeyRef cannot be modified after deployment")


def _jwt_key(spec: Object) -> Object:
    key: Object = spec.get("jwtKeyRef") or spec.get("jwtHs256KeyRef") or {}
    return key


if __name__ == "__main__":
    main(sys.argv[1:])
