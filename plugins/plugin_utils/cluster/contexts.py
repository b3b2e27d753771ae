# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contexts of a kubeconfig: their names, and of which cluster each is. Nothing else of it leaves this file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .. import yamlio
from ..errors import invalid
from .kubeconfig import MAX_KUBECONFIG_BYTES, named


def contexts(path: Path) -> dict[str, str]:
    """The name of the cluster of each context, by the context's name, in the order of the file.

    No API server is asked and no exec plugin is run; users are not looked at.

    :raises AicrError: NOT_FOUND if there is no such file, INVALID_REQUEST if it is no kubeconfig.
    """
    document = yamlio.load_file(path, MAX_KUBECONFIG_BYTES)
    if not isinstance(document, dict) or "clusters" not in document:
        raise invalid(f"{path}: is no kubeconfig", "a kubeconfig has clusters, users and contexts")
    found: dict[str, str] = {}
    for name, entry in named(document, "contexts", str(path)).items():
        context = entry.get("context")
        cluster = context.get("cluster") if isinstance(context, Mapping) else None
        if not isinstance(cluster, str):
            raise invalid(f'{path}: context "{name}": cluster is missing')
        found[name] = cluster
    return found
