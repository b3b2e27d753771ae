# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle on disk: written whole or not at all, and verified with nothing beside it (case N28, surface.md 1.13)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import atomic
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import (
    Bundle,
    is_bundle,
    verify_bundle,
    write_bundle,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

from .conftest import BundleOf

MANIFEST = "001-nodewright-operator/values.yaml"


@pytest.fixture
def small(bundle_of: BundleOf) -> Bundle:
    return bundle_of("eks", components=["nodewright-operator", "nodewright-customizations"])


@pytest.fixture
def there(tmp_path: Path, small: Bundle) -> Path:
    place = tmp_path / "bundle"
    assert write_bundle(small, place)
    return place


def state(place: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_ino) for path in [place, *place.rglob("*")]}


def test_a_bundle_that_is_there_already_is_left_alone(small: Bundle, there: Path) -> None:
    before = state(there)
    assert not write_bundle(small, there)
    assert state(there) == before


CHANGED: dict[str, Callable[[Path], object]] = {
    "a blank in recipe.yaml": lambda place: (place / "recipe.yaml").write_text(
        (place / "recipe.yaml").read_text() + " "
    ),
    "a blank in README.md": lambda place: (place / "README.md").write_text((place / "README.md").read_text() + " "),
    "a changed manifest": lambda place: (place / MANIFEST).write_text("{}\n"),
    "a file less": lambda place: (place / MANIFEST).unlink(),
}
ADDED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a file more": ("extra.yaml", lambda place: (place / "extra.yaml").write_text("")),
    "a file more in a folder": (
        "001-nodewright-operator/x",
        lambda place: (place / "001-nodewright-operator" / "x").write_text(""),
    ),
    "a hidden file": (".hidden", lambda place: (place / ".hidden").write_text("")),
    "an empty folder": ("999-new/", lambda place: (place / "999-new").mkdir()),
    "a repository": (".git/", lambda place: _files(place / ".git", "HEAD", "objects/ab")),
    "a link more": ("link", lambda place: (place / "link").symlink_to("recipe.yaml")),
    "a link instead of a file": (MANIFEST, lambda place: _link(place / MANIFEST, place / "recipe.yaml")),
    "a link instead of a folder": (
        "001-nodewright-operator",
        lambda place: _link(place / "001-nodewright-operator", place),
    ),
}


def _files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def _link(path: Path, target: Path) -> None:
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("added", ADDED)
def test_what_was_added_is_found_by_name_and_never_lost_by_writing_again(
    small: Bundle, there: Path, added: str
) -> None:
    name, add = ADDED[added]
    add(there)
    before = state(there)
    assert verify_bundle(there).problems
    for refuse in (lambda: write_bundle(small, there), lambda: atomic.refuse_foreign(there, is_bundle)):
        with pytest.raises(AicrError) as refused:
            refuse()
        assert refused.value.code is Code.CONFLICT
        assert (
            refused.value.message
            == f"{there}: the bundle there also holds {name}, which would be lost; nothing was touched"
        )
    assert state(there) == before


def test_many_additions_are_named_by_the_first_of_them(small: Bundle, there: Path) -> None:
    _files(there / "inner", "bundle-info.yaml", "checksums.txt")
    _files(there, *(f"notes-{number}.md" for number in range(9)))
    with pytest.raises(AicrError, match=r"holds inner/, notes-0.md, .*, notes-3.md and 5 more, which would be lost"):
        write_bundle(small, there)


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_bytes(b"\xff")])
def test_without_its_list_nobody_knows_what_was_added_to_a_bundle(
    small: Bundle, there: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(there / "checksums.txt")
    before = state(there)
    with pytest.raises(AicrError, match=r"checksums\.txt of the bundle there cannot be read") as refused:
        write_bundle(small, there)
    assert refused.value.code is Code.CONFLICT
    assert state(there) == before


@pytest.mark.parametrize("change", CHANGED)
def test_every_change_is_found_by_name_and_mended_by_writing_again(small: Bundle, there: Path, change: str) -> None:
    CHANGED[change](there)
    found = verify_bundle(there)
    assert found.problems, change
    assert write_bundle(small, there)
    assert not verify_bundle(there).problems


def test_a_lost_permission_to_run_is_given_back(small: Bundle, there: Path) -> None:
    (there / "deploy.sh").chmod(0o644)
    assert write_bundle(small, there)
    assert (there / "deploy.sh").stat().st_mode & 0o111


def test_each_deviation_is_named_with_its_file(there: Path) -> None:
    (there / "README.md").write_text("x")
    (there / "extra.yaml").write_text("x")
    (there / "recipe.yaml").unlink()
    (there / "link").symlink_to("/etc")
    messages = [problem.message for problem in verify_bundle(there).problems]
    assert messages == [
        '"README.md" was changed',
        '"extra.yaml" is not in the list',
        '"link" is a link, of which a bundle has none',
        '"recipe.yaml" is missing',
    ]


def test_a_right_bundle_has_the_digest_with_which_it_was_made(small: Bundle, there: Path) -> None:
    found = verify_bundle(there)
    assert (found.problems, found.digest, found.files) == ((), small.digest, len(small.tree) - 1)


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("nonsense", "no line of checksums"),
        ("0" * 64 + "  ../outside", "no line of checksums"),
        ("0" * 64 + "  /etc/passwd", "no line of checksums"),
        ("0" * 64 + "  checksums.txt", "no line of checksums"),
        ("0" * 64 + "  README.md", "listed twice"),
    ],
)
def test_a_list_that_cannot_be_right_is_refused_with_its_line(there: Path, line: str, about: str) -> None:
    listing = there / "checksums.txt"
    count = len(listing.read_text().splitlines())
    listing.write_text(listing.read_text() + line + "\n")
    with pytest.raises(AicrError, match=about) as refused:
        verify_bundle(there)
    assert f"checksums.txt:{count + 1}" in refused.value.message


def test_what_is_no_bundle_is_not_verified(tmp_path: Path) -> None:
    with pytest.raises(AicrError) as missing:
        verify_bundle(tmp_path / "none")
    assert missing.value.code is Code.NOT_FOUND
    with pytest.raises(AicrError, match=r"no checksums\.txt"):
        verify_bundle(tmp_path)


def test_a_list_without_a_bundle_is_no_bundle(there: Path) -> None:
    (there / "bundle-info.yaml").write_text("kind: Other\n")
    assert not is_bundle(there)
    assert any("bundle-info.yaml" in problem.message for problem in verify_bundle(there).problems)


def test_a_directory_that_is_no_bundle_is_not_touched(small: Bundle, tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(AicrError) as refused:
        write_bundle(small, tmp_path)
    assert refused.value.code is Code.CONFLICT
    assert [path.name for path in tmp_path.iterdir()] == ["keep.txt"]


def test_another_bundle_takes_the_place_whole(bundle_of: BundleOf, there: Path) -> None:
    assert write_bundle(bundle_of("eks", components=["nfd"]), there)
    assert {path.name for path in there.iterdir() if path.is_dir()} == {"001-nfd"}
    assert not verify_bundle(there).problems
