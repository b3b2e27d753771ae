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

    def path(self, resource: str, namespace: str | None = None) -> str:
        """Where the objects of a served resource are listed, in a namespace or all of them."""
        within = f"namespaces/{namespace}/" if namespace else ""
        return f"/apis/{self.name}/{self.resources[resource]}/{within}{resource}"


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


@dataclass(frozen=True)
class Kind:
    """A kind that is served in a version.

    :ivar resource: its name in paths (``mariadbs``).
    """

    api_version: str
    resource: str
    namespaced: bool

    @property
    def group(self) -> str:
        """Its group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    def path(self, namespace: str | None) -> str:
        """Where its objects are listed, in a namespace or all of them."""
        base = _base(self.api_version)
        within = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{base}{within}/{self.resource}"


def find_kind(reader: Reader, api_version: str, kind: str) -> Kind | None:
    """A kind as it is served; ``None`` if it is not.

    :raises AicrError: an answer that is none: what is not known is not absent.
    """
    return kinds(reader, api_version).get(kind)


def kinds(reader: Reader, api_version: str) -> dict[str, Kind]:
    """All kinds of a version by name; none if it is not served.

    :raises AicrError: see :func:`find_kind`.
    """
    served = reader.find(_base(api_version))
    found: dict[str, Kind] = {}
    for resource in (served or {}).get("resources") or ():
        name = str(resource.get("name"))
        if "/" not in name:
            kind = Kind(api_version, name, bool(resource.get("namespaced")))
            found.setdefault(str(resource.get("kind")), kind)
    return found


def _base(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
