# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests in the reference's format, rendered by the real ``helm template`` (DESIGN, *No template engine*).

Such a manifest reads ``.Values.<component>`` and carries its conditions inside, which no chart of one component could
give it. Each one goes through ``tpl`` with a context of its own, and comes back as one value of a ConfigMap.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .. import yamlio
from ..artifacts.recipe import ComponentRef
from ..errors import AicrError, Code, internal, invalid
from ..private_folder import PrivateFolder, private_folder
from .layout import chart_identity
from .manifest import Manifest, is_empty, without_hooks
from .value_path import ABSENT, Blocked, Values, find, put

TIMEOUT_SECONDS = 120

_CHART = "apiVersion: v2\nname: manifests\nversion: 0.1.0\n"
_TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: manifests
data:
{{- range $key, $one := .Values.manifests }}
{{- $context := dict "Values" $one.values "Release" $one.release "Chart" $one.chart "Template" $.Template
  "Capabilities" $.Capabilities "Files" $.Files }}
  {{ $key }}: {{ tpl $one.text $context | toJson }}
{{- end }}
"""
_BRACES = re.compile(r"\{\{|\}\}")
_ACTION = re.compile(r"\{\{-?\s*(?!/\*)(.*?)-?\}\}", re.DOTALL)
_CHAIN = re.compile(r"(?<![\w.])(?:\$\w*)?((?:\.[A-Za-z_]\w*){2,})")
_OBJECTS = frozenset({"Values", "Release", "Chart", "Template", "Capabilities", "Files"})


def render(
    manifests: Sequence[Manifest], refs: Mapping[str, ComponentRef], values: Mapping[str, Values]
) -> list[Manifest]:
    """The manifests as plain text, without those that render nothing.

    :param values: the effective values by component.
    :raises AicrError: SERVICE_UNAVAILABLE if there is no helm, INVALID_REQUEST if a manifest cannot be rendered.
    """
    if not manifests:
        return []
    rendered = _run(
        {
            f"m{number:04d}": _entry(manifest, refs[manifest.component], values[manifest.component])
            for number, manifest in enumerate(manifests)
        },
        manifests,
    )
    found = []
    for number, manifest in enumerate(manifests):
        text = rendered.get(f"m{number:04d}") or ""
        if not is_empty(text):
            found.append(replace(manifest, text=_as_template(without_hooks(text))))
    return found


def _entry(manifest: Manifest, ref: ComponentRef, values: Values) -> dict[str, object]:
    chart, version = chart_identity(ref)
    return {
        "text": manifest.text,
        "values": {ref.name: _with_sections(values, manifest.text)},
        "release": {"Name": ref.name, "Namespace": ref.namespace or "default", "Service": "Helm"},
        "chart": {"Name": chart, "Version": version, "AppVersion": version},
    }


def _with_sections(values: Values, text: str) -> Values:
    """The values with an empty mapping for every section that a manifest reads from and that is not there.

    The reference reads nothing from a section that is missing, where Helm fails; empty and missing are alike to a
    condition.
    """
    for action in _ACTION.findall(text):
        for chain in _CHAIN.findall(action):
            *sections, _leaf = chain.strip(".").split(".")
            if sections[0] in _OBJECTS:
                continue
            for depth in range(1, len(sections) + 1):
                path = tuple(sections[:depth])
                if find(values, path) in (ABSENT, None):
                    try:
                        values = put(values, path, {})
                    except Blocked:
                        break
    return values


def _as_template(text: str) -> str:
    """Rendered text as a template that Helm gives back as it is."""
    return _BRACES.sub(lambda match: '{{ "' + match[0] + '" }}', text)


def _run(entries: Mapping[str, object], manifests: Sequence[Manifest]) -> Mapping[str, str]:
    helm = find_helm()
    if helm is None:
        names = ", ".join(manifest.path for manifest in manifests)
        raise AicrError(
            Code.SERVICE_UNAVAILABLE,
            f"helm is needed to render {names}, which the catalog holds in the reference's format",
            "put helm 3 or 4 on PATH, or list the manifests in the registry",
        )
    try:
        return _template(helm, entries)
    except _Failed as failed:
        # Helm does not say which of them it refuses, so each is asked for alone.
        for manifest, (key, entry) in zip(manifests, entries.items(), strict=True):
            try:
                _template(helm, {key: entry})
            except _Failed as alone:
                raise invalid(
                    f'manifest "{manifest.path}" of {manifest.component} cannot be rendered: {alone}',
                    "mend the manifest, or the value that it reads",
                    component=manifest.component,
                    path=manifest.path,
                ) from None
        raise internal(f"helm template failed: {failed}") from None


def _template(helm: str, entries: Mapping[str, object]) -> Mapping[str, str]:
    with private_folder("render") as folder:
        chart = folder.path / "chart"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text(_CHART)
        (chart / "templates" / "manifests.yaml").write_text(_TEMPLATE)
        given = folder.path / "values.json"
        given.touch(0o600)
        given.write_text(json.dumps({"manifests": entries}))
        output = _helm([helm, "template", "manifests", str(chart), "--values", str(given)], folder)
    document = yamlio.load(output, "output of helm template")
    if not isinstance(document, dict) or not isinstance(document.get("data"), dict):
        raise internal("helm template gave back no ConfigMap")
    data: Mapping[str, str] = document["data"]
    return data


def _helm(command: list[str], folder: PrivateFolder) -> bytes:
    room = str(folder.path)
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": room,
        **{f"HELM_{kind}_HOME": f"{room}/{kind.lower()}" for kind in ("CACHE", "CONFIG", "DATA")},
    }
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=room,
            env=environment,
            timeout=TIMEOUT_SECONDS,
            check=False,
            pass_fds=[folder.lock],
        )
    except subprocess.TimeoutExpired as error:
        raise AicrError(Code.TIMEOUT, f"helm template did not end within {TIMEOUT_SECONDS} s") from error
    except OSError as error:
        raise AicrError(Code.SERVICE_UNAVAILABLE, f"{command[0]} cannot be run: {error.strerror}") from error
    if run.returncode:
        raise _Failed(run.stderr.decode(errors="replace"))
    return run.stdout


class _Failed(Exception):
    """Helm ended with an error."""

    def __init__(self, said: str) -> None:
        # In front of it Helm quotes the whole manifest, at the end it gives advice for its own command line.
        said = said.partition("\n\nUse --debug")[0]
        for mark in (": executing ", "execution error at "):
            said = said.rpartition(mark)[2]
        super().__init__(" ".join(said.split()) or "no message")


def find_helm() -> str | None:
    """The helm on ``PATH``."""
    return shutil.which("helm")
