# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a bundle is what was made: checksums over every file, nothing beside them (case N28, surface.md 1.13)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import yamlio
from ..errors import AicrError, invalid, not_found
from .bundle_info import BUNDLE_INFO, describes_bundle
from .checksums import CHECKSUMS, read_checksums
from .writer import walk


@dataclass(frozen=True)
class Verification:
    """What was found.

    :ivar files: how many files are listed.
    :ivar digest: of the list, equal to that of the bundle when it was made.
    :ivar problems: every deviation, sorted by path.
    """

    files: int
    digest: str
    problems: tuple[AicrError, ...]


def verify_bundle(directory: Path) -> Verification:
    """Compare a bundle with its own list.

    :raises AicrError: NOT_FOUND if there is no such directory, INVALID_REQUEST if it is no bundle or its list cannot
        be read.
    """
    if not directory.is_dir():
        raise not_found(f"{directory}: no such directory", "name the directory of a bundle", path=str(directory))
    listing = directory / CHECKSUMS
    if listing.is_symlink() or not listing.is_file():
        raise invalid(
            f"{directory}: has no {CHECKSUMS}, so it is no bundle or not a whole one",
            "make the bundle again",
            path=str(directory),
        )
    content = yamlio.read_bytes(listing)
    try:
        sums = read_checksums(content.decode("utf-8"), str(listing))
    except UnicodeDecodeError as error:
        raise invalid(f"{listing}: is not UTF-8 text", "make the bundle again") from error
    problems = tuple(sorted(_problems(directory, sums), key=lambda problem: problem.message))
    return Verification(len(sums), "sha256:" + hashlib.sha256(content).hexdigest(), problems)


def _problems(directory: Path, sums: dict[str, str]) -> Iterator[AicrError]:
    if BUNDLE_INFO not in sums or not describes_bundle(directory):
        yield _deviation(BUNDLE_INFO, "is missing or does not describe a bundle")
    folders = {parent.as_posix() for path in sums for parent in Path(path).parents}
    seen = {CHECKSUMS}
    for path, entry in walk(directory):
        if entry.is_symlink():
            seen.add(path)
            yield _deviation(path, "is a link, of which a bundle has none")
        elif entry.is_dir(follow_symlinks=False):
            if path not in folders:
                yield _deviation(path, "is a directory that the list does not know")
        elif path in sums:
            seen.add(path)
            if not entry.is_file(follow_symlinks=False):
                yield _deviation(path, "is no regular file")
            elif _sum(Path(entry.path)) != sums[path]:
                yield _deviation(path, "was changed")
        elif path != CHECKSUMS:
            yield _deviation(path, "is not in the list")
    for path in sums.keys() - seen:
        yield _deviation(path, "is missing")


def _deviation(path: str, what: str) -> AicrError:
    return invalid(f'"{path}" {what}', "make the bundle again from its recipe", path=path)


def _sum(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()
