# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a document goes: a file, or a ConfigMap."""

from __future__ import annotations

from pathlib import Path

from ..cluster.address import SCHEME, Address
from .imports import Imports
from .options import Options
from .outcome import Document, Product
from .source import refuse_remote


def destination(
    document: Document, dest: str | None, form: str, options: Options
) -> tuple[Product, Path | Address | None]:
    """The product that stands at a place, and the place.

    :param dest: a path, ``cm://namespace/name``, or ``None`` for nowhere.
    :param form: the format that the document is written in.
    :param options: what says which cluster is meant.
    :raises AicrError: INVALID_REQUEST for any other place, or if no cluster is named for a ConfigMap.
    """
    if dest is None:
        return document, None
    if dest.startswith(SCHEME):
        with Imports() as imports:  # brings the HTTP client along, which no file needs
            from .cluster import in_cluster
        if imports.problem is not None:
            raise imports.problem
        return in_cluster(document, form, options), Address.parse(dest)
    refuse_remote(dest, "dest")
    return document, Path(dest)
