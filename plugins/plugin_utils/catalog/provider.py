# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a catalog: a root and, laid over it, an external directory (spec/engine.md 1.4, *Provider layering*)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .. import yamlio
from ..errors import AicrError, invalid, not_found, raise_all

MAX_BYTES = 10 * 1024 * 1024
REGISTRY = "registry.yaml"
VALIDATORS = "validators/catalog.yaml"


class Provider:
    """Looks up files by their path within the catalog; a file of the external directory stands for the root's.

    Only what was found while indexing can be read, so that no path leads out of the catalog. Hidden files and
    directories are not part of it.

    :param root: the catalog; must hold ``registry.yaml``.
    :param external: a directory of the same layout that is laid over it; must hold ``registry.yaml``, too.
    :raises AicrError: NOT_FOUND for an absent directory, INVALID_REQUEST for one without a registry and for links.
    """

    def __init__(self, root: Path, external: Path | None = None) -> None:
        self.root = root
        self.external = external
        problems: list[AicrError] = []
        self._own = _index(root, problems)
        self._external = _index(external, problems) if external else {}
        self._files = {**self._own, **self._external}
        raise_all(problems)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths within the catalog, sorted."""
        return tuple(sorted(self._files))

    def has(self, path: str) -> bool:
        """Whether the catalog holds this file."""
        return path in self._files

    def is_external(self, path: str) -> bool:
        """Whether the file comes from the external directory."""
        return path in self._external

    def file(self, path: str) -> Path:
        """Where the file is."""
        return self._files[path]

    def layers(self, path: str) -> tuple[Path, ...]:
        """The files of this path, the root's first; for what is merged and not replaced."""
        return tuple(files[path] for files in (self._own, self._external) if path in files)

    def read_text(self, path: str) -> str:
        """The text of a file.

        :raises AicrError: NOT_FOUND if the catalog has no such file, INVALID_REQUEST if it cannot be read, is larger
            than 10 MiB or no UTF-8.
        """
        if path not in self._files:
            raise not_found(f'the catalog has no file "{path}"', self._whereabouts(path), path=path)
        return read_text(self._files[path])

    def _whereabouts(self, path: str) -> str:
        if path.startswith("/") or ".." in path.split("/"):
            return "name a file by its path within the catalog"
        return f"looked in {' and '.join(str(place) for place in (self.external, self.root) if place)}"


def read_text(file: Path) -> str:
    """The text of one file of a catalog; see :meth:`Provider.read_text`."""
    content = yamlio.read_bytes(file, MAX_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid(f"{file}: is not UTF-8 text (byte {error.start})") from error


def _index(root: Path, problems: list[AicrError]) -> dict[str, Path]:
    if not root.is_dir():
        problems.append(not_found(f"{root}: no such catalog directory", "name a directory that holds registry.yaml"))
        return {}
    files = dict(_walk(root, "", problems))
    if REGISTRY not in files:
        problems.append(
            invalid(
                f"{root}: holds no {REGISTRY}, which every catalog needs",
                'an external catalog without own components has "components: []" in it',
            )
        )
    return files


def _walk(directory: Path, prefix: str, problems: list[AicrError]) -> Iterator[tuple[str, Path]]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        problems.append(invalid(f"{directory}: cannot be read: {error.strerror}"))
        return
    for entry in entries:
        path = prefix + entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            problems.append(
                invalid(f"{entry.path}: is a link, which may lead out of the catalog", "put the file itself there")
            )
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), path + "/", problems)
        elif entry.is_file(follow_symlinks=False):
            yield path, Path(entry.path)
