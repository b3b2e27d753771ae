# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What helm says when it fails, as an error that names the class of the failure and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import AicrError, Code

_LONGEST = 1200
_ASIDE = re.compile(r"WARNING|[WIE]\d{4} |level=|coalesce\.go")
"""How lines begin that say nothing of why helm ended; letter and date are klog's."""
SERVER_FAULT = "server-fault"
_SERVER_FAULTS = (
    r"an error on the server|Internal error occurred|etcdserver: |unable to handle the request|[Tt]oo many requests"
    r"|request did not complete|unexpected EOF|error when reading response body|http2: |TLS handshake timeout"
)

_KNOWN: tuple[tuple[str, str, Code, str], ...] = (
    (
        "killed",
        r"^Killed$",  # the word of the shell that watches over helm
        Code.SERVICE_UNAVAILABLE,
        "somebody killed helm, or the controller is short of memory: run again",
    ),
    (
        "in-progress",
        r"another operation \(install/upgrade/rollback\) is in progress",
        Code.CONFLICT,
        "another helm has begun to work on the release meanwhile; wait for it, then run again",
    ),
    (
        "not-owned",
        r"invalid ownership metadata|cannot be imported into the current release",
        Code.CONFLICT,
        "the object is there already and is not this release's: remove it, or take it over with take_ownership",
    ),
    (
        "kind-not-served",
        r"no matches for kind|ensure CRDs are installed first|could not find the requested resource",
        Code.CONFLICT,
        "a kind is not served (yet): install the chart with its CRDs first, and wait until they are established",
    ),
    (
        "namespace-missing",
        r"namespaces? \"[^\"]*\" not found",
        Code.NOT_FOUND,
        "make the namespace, or let create_namespace do so",
    ),
    (
        "namespace-ending",
        r"because it is being terminated",
        Code.CONFLICT,
        "wait until the namespace is gone, then run again",
    ),
    (
        "webhook-down",
        r"failed calling webhook|failed to call webhook|no endpoints available for service",
        Code.SERVICE_UNAVAILABLE,
        "an admission webhook does not answer: wait until its pods are ready, then run again",
    ),
    (
        "webhook-denied",
        r"admission webhook \"[^\"]*\" denied the request",
        Code.INVALID_REQUEST,
        "mend the value that the webhook names",
    ),
    (
        "values-refused",
        r"don't meet the specifications of the schema|JSON schema|values\.schema",
        Code.INVALID_REQUEST,
        "the chart's schema refuses a value: mend the one that is named",
    ),
    (
        "unknown-field",
        r"field not declared in schema|unknown field",
        Code.INVALID_REQUEST,
        "the CRD of the cluster does not know the field: is the value misspelt, or the CRD of another version?",
    ),
    (
        "immutable",
        r"field is immutable|updates to statefulset spec for fields other than|may not change once set",
        Code.CONFLICT,
        "the field cannot be changed in place: leave the value as it was, or remove the object, minding its data",
    ),
    (
        "field-conflict",
        r"conflicts? with \"[^\"]*\"|Apply failed with \d+ conflicts?",
        Code.CONFLICT,
        "somebody else has set the field: leave it to them, or have them give it up",
    ),
    (
        "never-deployed",
        r"UPGRADE FAILED: .*has no deployed releases",
        Code.CONFLICT,
        "see `helm history`; helm uninstall removes a release that never was deployed",
    ),
    (
        "chart-refuses",
        # What a template looks up in the cluster may fail for any reason of the cluster's.
        r"^(?!.*error calling lookup).*(?:execution error at|error calling (?:fail|include|required)|parse error at)",
        Code.INVALID_REQUEST,
        "the chart refuses the values: mend the one that it names",
    ),
    (
        "forbidden",
        r"is forbidden",
        Code.UNAUTHORIZED,
        "grant the right, or install as somebody who has it",
    ),
    (
        "unauthorized",
        r"[Uu]nauthorized|\b401\b|403 Forbidden|authentication required|basic credential not found|denied: ",
        Code.UNAUTHORIZED,
        "is it the registry or the cluster? For a registry name a registry_config (helm registry login writes one)",
    ),
    (
        SERVER_FAULT,
        _SERVER_FAULTS,
        Code.SERVICE_UNAVAILABLE,
        "the API server, or the way to it, failed in the middle: see its log, then run again",
    ),
    (
        "chart-missing",
        r"not a valid chart repo|failed to (download|perform|resolve)|no such host|manifest unknown|not found",
        Code.NOT_FOUND,
        "is the chart there, and can it be reached from here? A site without a way out names a chart_source",
    ),
    (
        "unreachable",
        r"[Kk]ubernetes cluster unreachable|connection refused|i/o timeout|connection reset",
        Code.SERVICE_UNAVAILABLE,
        "is the API server reachable from here?",
    ),
    (
        "late",
        r"context deadline exceeded|timed out waiting|timeout",
        Code.TIMEOUT,
        "see what its hooks or the API server wait for, or allow more time",
    ),
)
"""A word for programs, what helm says, and what that means. The first that fits counts."""
PASSING = (SERVER_FAULT, "unreachable", "webhook-down")
"""What only concerns the moment, so that the same helm may succeed in a while."""


def explained(said: str, name: str, secrets: Iterable[str] = ()) -> AicrError:
    """The error of a helm that failed.

    :param said: what it wrote to its standard error.
    :param name: what it worked on.
    :param secrets: texts that must not be shown.
    :returns: an error whose ``details.reason`` tells the known failures apart.
    """
    text = essence(said, secrets)
    for reason, pattern, code, hint in _KNOWN:
        if re.search(pattern, text):
            return AicrError(code, f"{name}: {text}", hint, {"reason": reason})
    return AicrError(Code.INTERNAL, f"{name}: {text}", "this is what helm said; `helm history` may say more")


def essence(said: str, secrets: Iterable[str] = ()) -> str:
    """What helm said, in one line, without warnings, repetitions and secrets; its beginning if it is long."""
    lines = [line.strip() for line in said.splitlines()]
    kept = [line for line in lines if line and not _ASIDE.match(line)]
    text = " ".join(dict.fromkeys(line.removeprefix("Error: ") for line in kept)) or "helm failed without a word"
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
