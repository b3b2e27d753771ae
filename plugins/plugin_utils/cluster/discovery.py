# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which groups, versions and resources an API server serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .read import Reader


@dataclass(frozen=True)
class Group:
    """A served API group.

    :ivar resources: by name (``mariadbs``), the version that it is served in: the preferred one, else the newest.
    """

    name: str
    resources: Mapping[str, str]

    def path(self, resource: str) -> str:
        """Where all objects of a served resource are listed."""
        return f"/apis/{self.name}/{self.resources[resource]}/{resource}"


def discover(reader: Reader, name: str) -> Group | None:
    """A group with its resources; ``None`` if it is not served.

    :raises AicrError: an answer that is none, also of one version alone: what is not known is not absent.
    """
    group = reader.find(f"/apis/{name}")
    if group is None:
        return None
    preferred = (group.get("preferredVersion") or {}).get("version")
    versions = [str(entry.get("version")) for entry in group.get("versions") or ()]
    resources: dict[str, str] = {}
    for version in sorted(versions, key=lambda version: version != preferred):
        served = reader.get(f"/apis/{name}/{version}")
        for resource in served.get("resources") or ():
            if "/" not in str(resource.get("name")):
                resources.setdefault(str(resource.get("name")), version)
    return Group(name, resources)
