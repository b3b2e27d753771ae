# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that hand out credentials (client-go's exec plugins), such as ``aws eks get-token``."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import AicrError, Code, invalid

TIMEOUT_SECONDS = 60
_LONG = re.compile(r"[A-Za-z0-9+/=_.~-]{20,}")
_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True)
class Credential:
    """A token, or a client's certificate and key in PEM, or both."""

    token: str | None = field(default=None, repr=False)
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)


def run_exec_plugin(
    spec: Mapping[str, object], place: str, base: Path, environ: Mapping[str, str], cluster: Mapping[str, object]
) -> Credential:
    """Run the plugin that a kubeconfig names and take its credential.

    It gets no terminal: what it would ask there, nobody answers.

    :param spec: the mapping ``exec`` of the user.
    :param base: where the kubeconfig is; a command with a slash starts there.
    :param cluster: the cluster of the context, told to the plugin with ``provideClusterInfo``.
    :raises AicrError: INVALID_REQUEST for a spec that makes no sense, UNAUTHORIZED for a plugin that is missing, fails,
        is late, or answers something else. What a plugin printed is shown without anything that may be a credential.
    """
    command, version = spec.get("command"), spec.get("apiVersion")
    if not isinstance(command, str) or not command or not isinstance(version, str):
        raise invalid(f"{place}: command and apiVersion are due, as text")
    arguments = spec.get("args") or []
    if not isinstance(arguments, list) or not all(isinstance(item, str) for item in arguments):
        raise invalid(f"{place}: args must be a list of texts")
    if spec.get("interactiveMode") == "Always":
        raise invalid(f"{place}: the plugin {command} wants a terminal, and there is none", "use one that needs none")
    program = str(base / command) if os.sep in command else command
    extra = _variables(spec, place)
    try:
        ran = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
            env={**environ, **extra, "KUBERNETES_EXEC_INFO": _info(version, spec, cluster)},
        )
    except subprocess.TimeoutExpired as error:
        raise _failed(place, command, f"gave no answer within {TIMEOUT_SECONDS} s") from error
    except OSError as error:
        hint = spec.get("installHint")
        raise _failed(
            place, command, f"cannot be run: {error.strerror}", hint if isinstance(hint, str) else "install it"
        ) from error
    if ran.returncode:
        said = _said(ran.stderr, extra)
        raise _failed(place, command, f"failed with {ran.returncode}" + (f": {said}" if said else ""))
    return _credential(ran.stdout, version, place, command)


def _variables(spec: Mapping[str, object], place: str) -> dict[str, str]:
    entries = spec.get("env") or []
    found: dict[str, str] = {}
    for entry in entries if isinstance(entries, list) else [entries]:
        name, value = (entry.get("name"), entry.get("value")) if isinstance(entry, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(value, str):
            raise invalid(f"{place}: env must be a list of name and value, both text")
        found[name] = value
    return found


def _info(version: str, spec: Mapping[str, object], cluster: Mapping[str, object]) -> str:
    told: dict[str, object] = {"interactive": False}
    if spec.get("provideClusterInfo"):
        extensions = cluster.get("extensions")
        config = next(
            (
                entry.get("extension")
                for entry in (extensions if isinstance(extensions, list) else [])
                if isinstance(entry, dict) and entry.get("name") == _EXTENSION
            ),
            None,
        )
        told["cluster"] = {key: value for key, value in cluster.items() if key != "extensions"} | {"config": config}
    return json.dumps({"apiVersion": version, "kind": "ExecCredential", "spec": told})


def _credential(output: bytes, version: str, place: str, command: str) -> Credential:
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        raise _failed(place, command, "answered no JSON") from None  # its text may be a token
    status = answer.get("status") if isinstance(answer, dict) else None
    if not isinstance(status, dict):
        raise _failed(place, command, "answered no credential")
    if answer.get("apiVersion") != version:
        raise _failed(place, command, f"answered another apiVersion than {version}", "set the one that it knows")
    token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
    pair = (certificate.encode(), key.encode()) if isinstance(certificate, str) and isinstance(key, str) else None
    if not (isinstance(token, str) and token) and pair is None:
        raise _failed(place, command, "answered neither a token nor a certificate with its key")
    return Credential(token if isinstance(token, str) else None, pair)


def _said(stderr: bytes, variables: Mapping[str, str]) -> str:
    text = " ".join(stderr.decode(errors="replace").split())
    for value in sorted(variables.values(), key=len, reverse=True):
        if len(value) > 3:
            text = text.replace(value, "***")
    return _LONG.sub("***", text)[:300]


def _failed(place: str, command: str, what: str, hint: str = "run it by hand, it may want a new login") -> AicrError:
    return AicrError(Code.UNAUTHORIZED, f"{place}: the plugin {command} {what}", hint, {"command": command})
