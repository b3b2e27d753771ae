# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file or directory appears whole or not at all, and nobody else's files are ever touched."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import atomic
from ansible_collections.aicr.runtime.plugins.plugin_utils.atomic import FileContent
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

OLD = {"marker": FileContent(b"ours"), "a/old.txt": FileContent(b"old")}
NEW = {"marker": FileContent(b"ours"), "b/new.sh": FileContent(b"new", executable=True)}


def is_ours(path: Path) -> bool:
    return (path / "marker").exists()


def names(path: Path) -> set[str]:
    return {found.relative_to(path).as_posix() for found in path.rglob("*") if found.is_file()}


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    atomic.write_file(path, b"one")
    atomic.write_file(path, b"two", mode=0o600)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["recipe.yaml"]


def test_text_is_written_as_utf_8_whatever_its_length(tmp_path: Path) -> None:
    text = "§ü€𝔸\n" * 300_000
    atomic.write_file(tmp_path / "long", text)
    assert (tmp_path / "long").read_bytes() == text.encode()
    atomic.write_file(tmp_path / "long", "")
    assert (tmp_path / "long").read_bytes() == b""


def test_text_that_is_none_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    atomic.write_file(path, "one")
    with pytest.raises(UnicodeEncodeError):
        atomic.write_file(path, "x" * 2_000_000 + "\ud800")
    assert (path.read_text(), os.listdir(tmp_path)) == ("one", ["recipe.yaml"])


def test_a_file_cannot_replace_a_directory_or_appear_in_none(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="is a directory"):
        atomic.write_file(tmp_path, b"x")
    with pytest.raises(AicrError, match="cannot be written"):
        atomic.write_file(tmp_path / "absent" / "file", b"x")


def test_a_tree_replaces_the_one_before_with_modes(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "bundle"
    atomic.replace_tree(target, OLD, is_ours)
    atomic.replace_tree(target, NEW, is_ours)
    assert names(target) == {"marker", "b/new.sh"}
    assert os.access(target / "b/new.sh", os.X_OK)
    assert not os.access(target / "marker", os.X_OK)
    assert os.listdir(target.parent) == ["bundle"]


def test_a_directory_of_somebody_else_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "diary.txt").write_text("mine")
    with pytest.raises(AicrError) as caught:
        atomic.replace_tree(tmp_path / "home", NEW, is_ours)
    assert caught.value.code is Code.CONFLICT
    assert names(tmp_path) == {"home/diary.txt"}


def test_a_file_or_link_in_the_place_of_a_tree_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for place in ("file", "link"):
        with pytest.raises(AicrError, match="is not a directory" if place == "file" else "is a link") as caught:
            atomic.replace_tree(tmp_path / place, NEW, is_ours)
        assert caught.value.code is Code.CONFLICT


def test_a_failure_half_way_leaves_the_old_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "bundle"
    atomic.replace_tree(target, OLD, is_ours)

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "_write", full)
    with pytest.raises(AicrError, match="No space left"):
        atomic.replace_tree(target, NEW, is_ours)
    assert names(tmp_path) == {"bundle/marker", "bundle/a/old.txt"}


OUTSIDE = ["", "/etc/x", "../x", "a/../../x", "a/..", "./x", "a//x", "a/", "a\\x", "a\nb", "a\0b", "a\x7f", "x" * 256]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out_of_a_tree(tmp_path: Path, name: str) -> None:
    with pytest.raises(AicrError) as caught:
        atomic.replace_tree(tmp_path / "one" / "bundle", {**NEW, name: FileContent(b"x")}, is_ours)
    assert caught.value.code is Code.INTERNAL
    assert os.listdir(tmp_path) == []


def test_a_place_that_is_no_file_is_refused_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for place in ("pipe", "link", "socket", "/dev/null"):
            with pytest.raises(AicrError, match="is no regular file") as caught:
                atomic.write_file(tmp_path / place, b"x")
            assert caught.value.code is Code.INVALID_REQUEST
            with pytest.raises(AicrError) as caught:
                atomic.replace_tree(tmp_path / place, NEW, is_ours)
            assert caught.value.code is Code.CONFLICT
    assert set(os.listdir(tmp_path)) == {"pipe", "link", "socket"}


@pytest.mark.parametrize("name", ["x" * 300, "x" * 250, "a\0b", "x" * 300 + "/y"])
def test_what_can_be_no_path_is_a_fault_of_the_request(tmp_path: Path, name: str) -> None:
    # A name of 250 is one, but not that of the sibling in which the new content is built.
    for write in (
        lambda: atomic.write_file(tmp_path / name, b"x"),
        lambda: atomic.replace_tree(tmp_path / name, NEW, is_ours),
        lambda: atomic.make_folder(tmp_path / (name + "x" * 10)),
    ):
        with pytest.raises(AicrError) as caught:
            write()
        assert caught.value.code is Code.INVALID_REQUEST
        assert caught.value.hint
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "way_out"),
    [
        (errno.ENOSPC, "make room"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "user who runs Ansible"),
        (errno.ENAMETOOLONG, "255 bytes"),
        (errno.EIO, "check that its folder exists"),
    ],
)
def test_each_reason_has_its_own_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, way_out: str
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic, "_write", refuse)
    for write in (
        lambda: atomic.write_file(tmp_path / "file", b"x"),
        lambda: atomic.replace_tree(tmp_path / "bundle", NEW, is_ours),
    ):
        with pytest.raises(AicrError) as caught:
            write()
        assert way_out in caught.value.hint
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions_are_the_same_under_every_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        atomic.replace_tree(tmp_path / "new" / "bundle", NEW, is_ours)
        atomic.make_folder(tmp_path / "other" / "folder")
        atomic.write_file(tmp_path / "other" / "folder" / "recipe.yaml", b"x")
    finally:
        os.umask(before)
    modes = {found.relative_to(tmp_path).as_posix(): found.stat().st_mode & 0o777 for found in tmp_path.rglob("*")}
    folders = {"new", "new/bundle", "new/bundle/b", "other", "other/folder"}
    assert modes == dict.fromkeys(folders, 0o755) | {
        "new/bundle/marker": 0o644,
        "new/bundle/b/new.sh": 0o755,
        "other/folder/recipe.yaml": 0o644,
    }


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from ansible_collections.aicr.runtime.plugins.plugin_utils import atomic
rename, renames = Path.rename, []
def counting(self, target):
    renames.append(self)
    if len(renames) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
Path.rename = counting
tree = {"marker": atomic.FileContent(b"ours"), "b/new.sh": atomic.FileContent(b"new")}
atomic.replace_tree(Path(sys.argv[1]), tree, lambda path: (path / "marker").exists())
"""


@pytest.mark.parametrize("rename", [1, 2])
def test_a_run_that_is_killed_loses_nothing_and_the_next_one_finishes(tmp_path: Path, rename: int) -> None:
    target = tmp_path / "bundle"
    atomic.replace_tree(target, OLD, is_ours)
    killed = subprocess.run([sys.executable, "-c", KILLED_AT, str(target), str(rename)], check=False)
    assert killed.returncode == -9
    atomic.restore_orphan(target)
    assert names(target) == {"marker", "a/old.txt"}
    atomic.replace_tree(target, NEW, is_ours)
    assert names(target) == {"marker", "b/new.sh"}
    assert os.listdir(tmp_path) == ["bundle"]


def test_a_finished_replacement_whose_clean_up_was_killed_stays_new(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    atomic.replace_tree(target, NEW, is_ours)
    atomic.replace_tree(tmp_path / ".bundle.aicr-old", OLD, is_ours)
    atomic.restore_orphan(target)
    assert names(tmp_path) == {"bundle/marker", "bundle/b/new.sh"}
