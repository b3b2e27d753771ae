# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle read back from its directory by whoever installs it; nothing of it is used before its checksums hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import yamlio
from ..errors import AicrError, invalid, raise_all
from .bundle_info import BUNDLE_INFO
from .deployers.helm import Helm
from .deployers.scripts import takes_over
from .layout import Chart
from .value_path import Path as ValuePath
from .value_path import Values, parse_path
from .verify import verify_bundle

_FOLDER = re.compile(r"[0-9]{3}-[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_AGAIN = "make the bundle again from its recipe"


@dataclass(frozen=True)
class OpenedFolder:
    """One Helm release of a bundle on disk.

    :ivar chart: the upstream chart; ``None`` if the folder is the chart.
    :ivar values: what the bundle fixes, and :ivar cluster_values: what it left open for the installation.
    :ivar take_ownership: whether the chart holds an object that Helm makes before it.
    """

    directory: Path
    component: str
    release: str
    namespace: str
    chart: Chart | None
    values: Values
    cluster_values: Values
    take_ownership: bool

    @property
    def value_files(self) -> tuple[Path, Path]:
        """The files of values, the later one counts."""
        return self.directory / "values.yaml", self.directory / "cluster-values.yaml"


@dataclass(frozen=True)
class OpenedBundle:
    """A bundle that is what was made.

    :ivar digest: of ``checksums.txt``, and so of every file.
    :ivar recipe_digest: of the recipe that it was made from.
    :ivar open_paths: by component the paths that may get a value at the installation.
    :ivar folders: in the order of installation.
    """

    directory: Path
    digest: str
    recipe_digest: str
    open_paths: Mapping[str, tuple[ValuePath, ...]]
    folders: tuple[OpenedFolder, ...]

    @property
    def components(self) -> tuple[str, ...]:
        """The components that have a folder, each once."""
        return tuple(dict.fromkeys(folder.component for folder in self.folders))


def open_bundle(directory: Path) -> OpenedBundle:
    """Verify a bundle of the deployer helm and read it.

    :raises AicrError: NOT_FOUND without such a directory; INVALID_REQUEST with every deviation from its checksums, for
        a bundle of another deployer, or one whose description is none.
    """
    found = verify_bundle(directory)
    raise_all(found.problems)
    info = yamlio.load_file(directory / BUNDLE_INFO)
    build, layout = _mapping(info, "build"), _mapping(info, "layout")
    deployer = build.get("deployer")
    if deployer != Helm.name:
        raise invalid(
            f'{directory}: is a bundle for "{deployer}", which installs it itself',
            f"make one with deployer {Helm.name}, or let {deployer} do its work",
            deployer=deployer,
        )
    settings = build.get("settings")
    return OpenedBundle(
        directory,
        found.digest,
        _text(_mapping(build, "recipe"), "digest"),
        _open_paths(settings.get("dynamic") if isinstance(settings, dict) else None),
        tuple(_folders(directory, layout.get("releases"))),
    )


def _folders(directory: Path, releases: object) -> Iterator[OpenedFolder]:
    if not isinstance(releases, list) or not releases:
        raise _no_description("layout.releases is no list of releases")
    for release in releases:
        if not isinstance(release, dict):
            raise _no_description("layout.releases has an entry that is no release")
        path, names = _text(release, "path"), [_text(release, key) for key in ("component", "name", "namespace")]
        if not _FOLDER.fullmatch(path) or not all(map(_NAME.fullmatch, names)) or not (directory / path).is_dir():
            raise _no_description(f'release "{names[1]}" has no folder "{path}" of its own')
        yield _folder(directory / path, *names)


def _folder(directory: Path, component: str, release: str, namespace: str) -> OpenedFolder:
    upstream = directory / "upstream.env"
    templates = sorted((directory / "templates").glob("*")) if not upstream.is_file() else []
    return OpenedFolder(
        directory,
        component,
        release,
        namespace,
        _chart(upstream) if upstream.is_file() else None,
        _values(directory / "values.yaml"),
        _values(directory / "cluster-values.yaml"),
        takes_over(yamlio.read_bytes(file).decode("utf-8", "replace") for file in templates),
    )


def _chart(file: Path) -> Chart:
    """``upstream.env`` is shell; its three words are read and not run."""
    try:
        words = shlex.split(yamlio.read_bytes(file).decode("utf-8"))
        pairs = {key: value for key, _unused, value in (word.partition("=") for word in words)}
        name, repository, version = pairs["CHART"], pairs["REPO"], pairs["VERSION"]
    except (KeyError, ValueError) as error:
        raise invalid(f"{file}: does not name a chart", _AGAIN) from error
    if name.startswith("oci://"):
        repository, _unused, name = name.rpartition("/")
    return Chart(name, repository, version)


def _values(file: Path) -> Values:
    values = yamlio.load_file(file)
    if not isinstance(values, dict):
        raise invalid(f"{file}: holds no values", _AGAIN)
    return values


def _open_paths(entries: object) -> dict[str, tuple[ValuePath, ...]]:
    if entries is None:
        return {}
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise _no_description("build.settings.dynamic is no list")
    found: dict[str, tuple[ValuePath, ...]] = {}
    for entry in entries:
        component, _unused, path = str(entry).partition(":")
        found[component] = (*found.get(component, ()), parse_path(path, f"{BUNDLE_INFO} {component}"))
    return found


def _mapping(document: Any, key: str) -> dict[str, Any]:
    value = document.get(key) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise _no_description(f"{key} is missing")
    return value


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise _no_description(f"{key} is missing")
    return value


def _no_description(what: str) -> AicrError:
    return invalid(f"{BUNDLE_INFO}: {what}", _AGAIN)
