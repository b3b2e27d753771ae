# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a chart comes from: its own repository, a place that holds all charts instead, or a folder of a bundle."""

from __future__ import annotations

import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import yamlio
from ..errors import AicrError, conflict, invalid, not_found
from .address import holds_credentials, scheme, spelled

OCI = "oci://"
MAX_CHART_BYTES = 64 * 1024 * 1024
"""Unpacked; the largest one of the catalog has a tenth of it."""
DIGEST_LENGTH = 40
"""Hex digits, since a label holds no more than 63 signs."""


@dataclass(frozen=True)
class Chart:
    """A chart as helm is told to find it.

    :ivar name: what it calls itself.
    :ivar version: as it is asked for, possibly with a ``v``.
    :ivar reference: a path, an address in a registry, or a name in ``repository``.
    :ivar digest: of its content, if it lies here.
    """

    name: str
    version: str
    reference: str
    repository: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def locate(chart: str, repository: str | None, version: str | None, source: str | None = None) -> Chart:
    """Find a chart.

    :param chart: its name in ``repository``, its whole ``oci://`` address, or, with a slash, the path of one.
    :param source: a folder with ``<chart>-<version>.tgz`` files or ``<chart>`` folders, or the beginning of an
        ``oci://`` address. It stands in for every repository; a chart that was named by its path is taken as it is.
    :raises AicrError: NOT_FOUND if a path or the folder holds no such chart, CONFLICT if it is another one,
        INVALID_REQUEST for one without version or repository.
    """
    chart, repository, source = spelled(chart), spelled(repository or ""), spelled(source) if source else None
    for place, text in (("chart", chart), ("its repository", repository), ("chart_source", source or "")):
        if holds_credentials(text):  # it would stand among helm's arguments
            name = chart.partition("?")[0].rstrip("/").rpartition("/")[2]
            raise invalid(
                f'chart "{name}": {place} holds credentials, which every process could see',
                "use a registry with a registry_config, or a chart_source",
            )
        if "://" in text and place != "its repository" and not text.startswith(OCI):
            raise invalid(f"{place}: {scheme(text) or 'such'}:// places hold no charts", "write oci://…, or a path")
    if "/" in chart and not chart.startswith(OCI):
        return _local(Path(os.path.expanduser(chart)), None, version)
    name = chart.rstrip("/").rpartition("/")[2]
    if not version:
        raise invalid(f'chart "{chart}": has no version', "name the one that is meant; the newest is never taken")
    if source is not None and not source.startswith(OCI):
        return _in_folder(Path(os.path.expanduser(source)), name, version)
    if source is not None:
        return Chart(name, version, f"{source.rstrip('/')}/{name}")
    if chart.startswith(OCI):
        return Chart(name, version, chart)
    if not repository:
        raise invalid(f'chart "{chart}": has no repository', "name it, or a chart_source that holds the chart")
    if repository.startswith(OCI):
        return Chart(name, version, f"{repository.rstrip('/')}/{name}")
    return Chart(name, version, name, repository)


def same_version(one: str, other: str) -> bool:
    """Whether two versions are the same but for a ``v`` before them."""
    return one.removeprefix("v") == other.removeprefix("v")


def _in_folder(folder: Path, name: str, version: str) -> Chart:
    if not folder.is_dir():
        raise not_found(f"chart_source: {folder} is no folder", "name a folder with charts, or oci://…")
    bare = version.removeprefix("v")
    places = [folder / f"{name}-{bare}.tgz", folder / f"{name}-v{bare}.tgz", folder / name]
    for place in places:
        if place.exists():
            return _local(place, name, version)
    raise not_found(
        f"chart_source: {folder} holds no chart {name} {version}",
        f"put {places[0].name} there (helm pull), or a folder {name}",
        chart=name,
        version=version,
    )


def _local(path: Path, name: str | None, version: str | None) -> Chart:
    """A chart on this machine, which must be the one that is meant."""
    try:
        hashed, description = hashlib.sha256(), b""
        for inner, content in sorted(_content(path)):
            hashed.update(f"{len(inner)} {inner} {len(content)} ".encode() + content)
            description = content if inner == "Chart.yaml" else description
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else "it is no chart"
        raise not_found(
            f"chart {path}: cannot be read: {what}", "name a folder with a Chart.yaml, or a .tgz"
        ) from error
    own = yamlio.load(description, f"{path}: Chart.yaml") if description else None
    if not isinstance(own, dict) or not isinstance(own.get("name"), str) or not isinstance(own.get("version"), str):
        raise not_found(f"chart {path}: has no Chart.yaml with name and version", "is it a chart?")
    found = Chart(own["name"], own["version"], str(path.absolute()), None, hashed.hexdigest()[:DIGEST_LENGTH])
    if (name and found.name != name) or (version and not same_version(found.version, version)):
        wanted = f"{name or found.name} {version or found.version}"
        raise conflict(f"chart {path}: is {found}, not {wanted}", f"put {wanted} in its place", chart=found.name)
    return found


def _content(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of a chart by its path in it; a packed one has all of them in one folder."""
    size = 0
    for inner, content in _packed(path) if path.is_file() else _unpacked(path):
        size += len(content)
        if size > MAX_CHART_BYTES:
            raise _too_large(path)
        yield inner, content


def _packed(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            if member.isfile():
                if member.size > MAX_CHART_BYTES:
                    raise _too_large(path)
                file = archive.extractfile(member)
                yield member.name.partition("/")[2], file.read() if file else b""


def _unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    if not path.is_dir():
        raise FileNotFoundError(2, os.strerror(2))
    for folder, _unused, files in os.walk(path, followlinks=False):
        for name in files:
            file = Path(folder, name)
            yield str(file.relative_to(path)), yamlio.read_bytes(file, MAX_CHART_BYTES)


def _too_large(path: Path) -> AicrError:
    return invalid(f"chart {path}: is larger than {MAX_CHART_BYTES} bytes", "is it a chart?")
