# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog that a request means."""

from __future__ import annotations

import contextlib

from ..catalog import Catalog, embedded
from ..errors import AicrError
from .path import expanded
from .source import refuse_remote


def catalog(external: str | None) -> Catalog:
    """The collection's own catalog, with a directory laid over it if one is named.

    :raises AicrError: everything that is wrong with either, by file and line.
    """
    if external is None:
        return embedded()
    refuse_remote(external, "catalog")
    return Catalog.load(external=expanded(external))


def warm(*, values: bool = False) -> None:
    """Parse the collection's own catalog now, so that every process that Ansible forks inherits it.

    An error waits for the task that asks for the catalog.

    :param values: the values files of the components as well.
    """
    with contextlib.suppress(AicrError):
        own = embedded()
        if values:
            own.read_values()
