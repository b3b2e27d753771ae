# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One resource of Slinky and its children, step by step; a step that fails does not keep the next from its work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..bed.api import ApiError, Object
from .loop import Failure
from .objects import Objects, content
from .slurm_events import Events

Step = tuple[str, Callable[[], None]]
_GO = {
    "Service": "*v1.Service",
    "Secret": "*v1.Secret",
    "ConfigMap": "*v1.ConfigMap",
    "StatefulSet": "*v1.StatefulSet",
    "Deployment": "*v1.Deployment",
    "PodDisruptionBudget": "*v1.PodDisruptionBudget",
}
_FIXED = {"StatefulSet": ("serviceName", "podManagementPolicy", "selector", "volumeClaimTemplates")}
"""Fields of a spec that cannot be patched."""


def passes(error: ApiError) -> bool:
    """Whether it is of a namespace or object that goes, or another pass was quicker; a lack of rights is none of it."""
    return error.code in (404, 409) or "being terminated" in str(error)


class Synced:
    """The controller of one kind."""

    kind = ""

    def __init__(self, objects: Objects, events: Events) -> None:
        self.objects, self.events = objects, events

    def steps(self, one: Object) -> Iterable[Step]:
        """What is to be done for it, in order."""
        raise NotImplementedError

    def reconcile(self, namespace: str, name: str) -> float | None:
        """One pass."""
        one = self.objects.find(self.kind, namespace, name)
        if one is not None and "deletionTimestamp" not in one["metadata"]:
            self.bring(one)
        return None

    def bring(self, one: Object) -> None:
        """Do all steps for it.

        :raises Failure: some failed; the others are done.
        """
        failed = []
        for title, step in self.steps(one):
            try:
                step()
            except (Failure, ApiError) as error:
                if isinstance(error, ApiError) and passes(error):
                    continue
                failed.append(f'Failed "{title}" step: {error}')
                self.events.tell(one, "Warning", "SyncFailed", "Sync", failed[-1])
        if failed:
            raise Failure("; ".join(failed))

    def gone(self, one: Object) -> None:
        """It was deleted."""

    def keep(self, one: Object, kind: str, child: Object) -> None:
        """Make a child, which is an event, or bring it up to date, which is none (operators.md 2.2)."""
        namespace, name = child["metadata"]["namespace"], child["metadata"]["name"]
        there = self.objects.find(kind, namespace, name)
        if there is None:
            self.objects.create(kind, child)
            self.events.tell(one, "Normal", "CreateSucceeded", "Create", f"Created {_GO[kind]}: {namespace}/{name}")
            return
        body = {key: value for key, value in child.items() if key != "metadata"}
        if kind in _FIXED:
            body["spec"] = {key: value for key, value in child["spec"].items() if key not in _FIXED[kind]}
        if "template" in body.get("spec", ()):
            template, there_spec = body["spec"]["template"], there["spec"]["template"]["spec"]
            wanted = template["spec"]
            selector = wanted.get("nodeSelector") or {}
            spec = {**_removed(there_spec, wanted), **wanted}
            spec["nodeSelector"] = {**_removed(there_spec.get("nodeSelector") or {}, selector), **selector}
            body["spec"] = {**body["spec"], "template": {**template, "spec": spec}}
        metadata = {key: child["metadata"][key] for key in ("annotations", "labels") if key in child["metadata"]}
        self.objects.patch(kind, namespace, name, {**body, "metadata": metadata})

    def value(self, namespace: str, ref: Object | None) -> bytes | None:
        """What a Secret holds, or nothing as long as it is not there."""
        found = self.objects.find("Secret", namespace, ref["name"]) if ref else None
        return content(found, ref["key"]) if found and ref else None

    def control(self, one: Object, what: str) -> Object:
        """The Controller that it refers to."""
        namespace, name = one["metadata"]["namespace"], one["spec"]["controllerRef"]["name"]
        found = self.objects.find("Controller", namespace, name)
        if found is None:
            raise Failure(f'{what}Controller.slinky.slurm.net "{name}" not found')
        return found


def _removed(there: Object, wanted: Object) -> Object:
    """What is to go, for a merge; a default of the API server comes back, so that it is no change."""
    return {key: None for key in there if key not in wanted}


def key_hashes(synced: Synced, one: Object, hashed: Callable[[str, Any], dict[str, str]]) -> dict[str, str]:
    """The annotations for the two keys; empty, and no event, while a Secret is absent (operators.md 2.3, c5)."""
    namespace, spec = one["metadata"]["namespace"], one["spec"]
    jwt = spec.get("jwtKeyRef") or spec.get("jwtHs256KeyRef")
    slurm = synced.value(namespace, spec.get("slurmKeyRef"))
    return {**hashed("slurm-key-hash", slurm), **hashed("jwt-key-hash", synced.value(namespace, jwt))}
