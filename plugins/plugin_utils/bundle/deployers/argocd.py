# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argo CD: one Application per folder, in waves, below one parent Application (spec/engine.md 4.5)."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ... import yamlio
from ...artifacts.codec import type_name
from ...atomic import FileContent
from ...errors import AicrError, invalid
from ..layout import Folder, Phase
from .deployer import Deployer, DeployerOptions, Dumper, Plan, chart_files, text_file

DEFAULT_PARENT = "nvidia-stack"
PLACEHOLDER_REPO = "https://github.com/YOUR-ORG/YOUR-REPO.git"
DEFAULT_REVISION = "main"
NAMESPACE = "argocd"
IN_CLUSTER = "https://kubernetes.default.svc"
FINALIZER = "resources-finalizer.argocd.argoproj.io"

MAX_NAME = 53
_WAVES_PER_LEVEL = 4

_PREFIX = re.compile(r"[a-z0-9][a-z0-9-]*")
_SUBDOMAIN = re.compile(r"(?!.{254})[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
_APPLICATION = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_REPOSITORY = re.compile(r"(?:https?|ssh|git|oci)://[^\s'\"]+|[\w.-]+@[\w.-]+:[^\s'\":]+")
_REVISION = re.compile(r"[^\s'\"~^:?*\[\\]+")


@dataclass(frozen=True)
class ArgoCD(Deployer):
    """A parent Application and one for each folder, which Argo CD takes from a Git repository."""

    repo: str = PLACEHOLDER_REPO
    target_revision: str = DEFAULT_REVISION
    serial: bool = False
    app_name: str = DEFAULT_PARENT
    name_prefix: str = ""
    destination_server: str = IN_CLUSTER
    project: str = "default"
    cascade_delete: bool = False

    name = "argocd"
    entrypoint = "app-of-apps.yaml"
    takes_dynamic = False
    keeps_recipe = False

    @classmethod
    def read(cls, options: DeployerOptions, problems: list[AicrError]) -> ArgoCD:
        fields: dict[str, object] = {"serial": options.serial}
        texts = (
            ("repo", options.repo, _REPOSITORY, "an address such as https://git.example.com/clusters.git"),
            ("target_revision", options.target_revision, _REVISION, "a branch, a tag or a commit"),
        )
        for name, text, form, hint in texts:
            if text and form.fullmatch(text) and not _carries_password(text):
                fields[name] = text
            elif text:
                problems.append(invalid(f"{name}: is not {hint}, or carries a password", f"write {hint}", option=name))
        for name, value in options.argocd.items():
            check = _OPTIONS.get(name)
            if check is None:
                problems.append(
                    invalid(f'argocd: unknown option "{name}"', f"options: {', '.join(_OPTIONS)}", option=name)
                )
            elif value is not None and value != "":
                wrong = check(value)
                if wrong:
                    problems.append(
                        invalid(f"argocd.{name}: {wrong}", "see the documentation of this option", option=name)
                    )
                else:
                    fields[name] = value
        return cls(**fields)  # type: ignore[arg-type]

    def problems(self, plan: Plan) -> Iterator[AicrError]:
        for folder in plan.folders:
            name = self._application_name(folder)
            if len(name) > MAX_NAME or not _APPLICATION.fullmatch(name) or name == self.app_name:
                yield invalid(
                    f'component "{folder.component}": "{name}" cannot be the name of an Application: at most '
                    f"{MAX_NAME} lower-case letters, digits and hyphens, and not {self.app_name}",
                    "choose another argocd.name_prefix or argocd.app_name",
                    component=folder.component,
                )

    def warnings(self) -> Iterator[str]:
        if self.repo == PLACEHOLDER_REPO:
            yield (
                f"repo is not given, so the Applications refer to {PLACEHOLDER_REPO}, which Argo CD will not find; "
                "name the repository that will hold the bundle"
            )

    def files(self, plan: Plan) -> Iterator[tuple[str, FileContent]]:
        dump = Dumper()
        for folder in plan.folders:
            yield from chart_files(folder, dump)
            yield f"{folder.path}/application.yaml", text_file(yamlio.dump(self.application(folder)))
        yield self.entrypoint, text_file(yamlio.dump(self.parent()))

    def application(self, folder: Folder) -> dict[str, object]:
        """The Application of one folder."""
        metadata: dict[str, object] = {
            "name": self._application_name(folder),
            "namespace": NAMESPACE,
            "annotations": {"argocd.argoproj.io/sync-wave": str(self.wave(folder))},
        }
        if self.cascade_delete:
            metadata["finalizers"] = [FINALIZER]
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": metadata,
            "spec": {
                "project": self.project,
                **self._sources(folder),
                "destination": {"server": self.destination_server, "namespace": folder.namespace},
                "syncPolicy": {
                    **_AUTOMATED,
                    # Server-side: the CRDs of some charts are too large for the annotation of a client-side apply.
                    "syncOptions": ["CreateNamespace=true", "ServerSideApply=true"],
                },
            },
        }

    def parent(self) -> dict[str, object]:
        """The Application of all Applications; prefix, destination and project are of the children alone."""
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": self.app_name, "namespace": NAMESPACE},
            "spec": {
                "project": "default",
                "source": {
                    "repoURL": self.repo,
                    "targetRevision": self.target_revision,
                    "path": ".",
                    "directory": {"recurse": True, "include": "*/application.yaml"},
                },
                "destination": {"server": IN_CLUSTER, "namespace": NAMESPACE},
                "syncPolicy": dict(_AUTOMATED),
            },
        }

    def wave(self, folder: Folder) -> int:
        """Four waves for each level of dependencies, or one for each folder."""
        return folder.number - 1 if self.serial else folder.level * _WAVES_PER_LEVEL + Phase(folder.phase)

    def settings(self) -> dict[str, object]:
        return {"appName": self.app_name, "repoURL": self.repo, "targetRevision": self.target_revision}

    def release_manifest(self, folder: Folder) -> str | None:
        return f"{folder.path}/application.yaml"

    def _application_name(self, folder: Folder) -> str:
        return self.name_prefix + folder.release

    def _sources(self, folder: Folder) -> dict[str, object]:
        own = {"repoURL": self.repo, "targetRevision": self.target_revision}
        if folder.chart is None:
            return {"source": {**own, "path": folder.path}}
        chart = folder.chart
        upstream: dict[str, object] = {
            "repoURL": chart.address if chart.is_oci else chart.repository,
            "chart": chart.name,
            "targetRevision": chart.version if chart.is_oci else chart.version.removeprefix("v"),
        }
        if self.repo.startswith("oci://"):  # an artifact cannot lend its files to another source, as Git can
            return {"source": {**upstream, "helm": {"valuesObject": dict(folder.values)}}}
        upstream["helm"] = {"valueFiles": [f"$values/{folder.path}/values.yaml"]}
        return {"sources": [upstream, {**own, "ref": "values"}]}


_AUTOMATED: Mapping[str, object] = {"automated": {"prune": True, "selfHeal": True}}


def _carries_password(address: str) -> bool:
    return "://" in address and urllib.parse.urlsplit(address).password is not None


def _text(form: re.Pattern[str], due: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str):
            return f"must be text, not {type_name(value)}"
        return "" if form.fullmatch(value) else f'"{value}" is not {due}'

    return check


def _server(value: object) -> str:
    if not isinstance(value, str):
        return f"must be text, not {type_name(value)}"
    address = urllib.parse.urlsplit(value) if re.fullmatch(r"https://[^\s'\"\x00-\x1f]+", value) else None
    return "" if address and address.hostname and not address.password else "is no https address of an API server"


def _boolean(value: object) -> str:
    return "" if isinstance(value, bool) else f"must be true or false, not {type_name(value)}"


_OPTIONS: Mapping[str, Callable[[object], str]] = {
    "app_name": _text(_SUBDOMAIN, "the name of an Application"),
    "name_prefix": _text(_PREFIX, "lower-case letters, digits and hyphens"),
    "destination_server": _server,
    "project": _text(_SUBDOMAIN, "the name of an AppProject"),
    "cascade_delete": _boolean,
}
