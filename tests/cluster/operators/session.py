# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a stand-in runs: in a pod of the bed, with the token of its ServiceAccount, or by hand, with a kubeconfig."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from ..bed.api import Api

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def end_when_told() -> None:
    """The first process of a container ignores SIGTERM unless it says otherwise."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: os._exit(0))


def connect() -> Api:
    """A client of its own for each thread that asks."""
    if "KUBECONFIG" in os.environ:
        return Api.of_kubeconfig(Path(os.environ["KUBECONFIG"]))
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    token = (_ACCOUNT / "token").read_text(encoding="ascii")
    return Api.of_token(f"https://{host}:{port}", _ACCOUNT / "ca.crt", token)


def address() -> str:
    """Where it listens: the pod's own address, to which Services lead."""
    return os.environ.get("BED_ADDRESS", "127.0.0.1")


def delay(what: str) -> float:
    """Seconds of BED_DELAY_<what>: MARIADB, DATABASE, USER and GRANT before they turn Ready, NODESET before it has
    nodes, CERTIFICATES before a webhook's authority makes its Secrets, CA_BUNDLE before the webhook configurations
    know it, WEBHOOK before a webhook listens.
    """
    return float(os.environ.get(f"BED_DELAY_{what}", "0"))


def passing_failure() -> bool:
    """Whether a good run shows a passing `Failed`, as it does at times; BED_PASSING_FAILURE=no keeps it out."""
    return os.environ.get("BED_PASSING_FAILURE") != "no"


def option(arguments: Sequence[str], name: str, default: str = "") -> str:
    """The value of a flag, written with an equals sign or as a word of its own."""
    for number, word in enumerate(arguments):
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
        if word == f"--{name}" and number + 1 < len(arguments):
            return arguments[number + 1]
    return default
