# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validating webhook of mariadb-operator: the answers that were recorded (spec/operators.md 3, case-w1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..bed.api import Object
from .session import option
from .webhook import Denied, Webhook, immutable, serve, shown

_IMMUTABLE = {"MariaDB": ("database", "username", "rootPasswordSecretKeyRef", "storage.ephemeral")}
"""passwordSecretKeyRef, image, tls.enabled and myCnf may change."""


def main(arguments: Sequence[str]) -> None:
    port = int(option(arguments, "port", "9443"))
    health = int(option(arguments, "health-addr", ":8081").rpartition(":")[2])
    serve(Webhook(port, health, Path(option(arguments, "cert-dir"))), review)


def review(request: Object) -> None:
    """:raises Denied: the object, or the change to it, is refused."""
    kind, new = request["kind"]["kind"], request["object"]
    old = request.get("oldObject") or {}
    for field in _IMMUTABLE.get(kind, ()) if old else ():
        before, after = _value(old["spec"], field), _value(new["spec"], field)
        # Not stated is as good as false: the operator patches it in.
        if (before or None) != (after or None):
            raise immutable(f"spec.{field}", after)
    if kind == "MariaDB":
        _review_mariadb(new["spec"])
    if kind == "User":
        _review_user(new["spec"])


def _review_mariadb(spec: Object) -> None:
    storage = spec.get("storage") or {}
    if storage.get("ephemeral") and ("size" in storage or "volumeClaimTemplate" in storage):
        raise _invalid("spec.storage", storage, "either ephemeral or regular storage must be provided")
    apart = any((spec.get(name) or {}).get("enabled") for name in ("replication", "galera"))
    if spec.get("replicas", 1) > 1 and not apart:
        why = "Multiple replicas can only be specified when 'spec.replication' or 'spec.galera' are configured"
        raise _invalid("spec.replicas", spec["replicas"], why)
    if spec.get("rootEmptyPassword") and "rootPasswordSecretKeyRef" in spec:
        why = "'spec.rootEmptyPassword' must be disabled when 'spec.rootPasswordSecretKeyRef' is specified"
        raise _invalid("spec.rootEmptyPassword", True, why)


def _review_user(spec: Object) -> None:
    given = [field for field in ("passwordSecretKeyRef", "passwordHashSecretKeyRef") if spec.get(field)]
    if (spec.get("passwordPlugin") or {}).get("pluginNameSecretKeyRef"):
        given.append("passwordPlugin.pluginNameSecretKeyRef")
    if len(given) > 1:
        why = (
            "Only one of 'spec.passwordSecretKeyRef', 'spec.passwordHashSecretKeyRef', "
            "or 'spec.passwordPlugin.pluginNameSecretKeyRef' can be defined"
        )
        raise _invalid("spec.passwordSecretKeyRef", spec.get("passwordSecretKeyRef"), why)


def _value(spec: Object, field: str) -> object:
    found: object = spec
    for word in field.split("."):
        found = found.get(word) if isinstance(found, dict) else None
    return found


def _invalid(field: str, value: object, why: str) -> Denied:
    return Denied(f"{field}: Invalid value: {shown(value)}: {why}")
