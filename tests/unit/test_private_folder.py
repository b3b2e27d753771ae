# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Temporary folders of processes that are killed: the next one removes them, and none that somebody works in."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import private_folder as folders
from ansible_collections.aicr.runtime.plugins.plugin_utils.private_folder import LOCK, private_folder, sweep


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed(*inherits: list[str]) -> Path:
    """The folder of a process that is killed while it works in it, and may leave another one behind."""
    read, write = os.pipe()
    worker = os.fork()
    if not worker:
        with contextlib.suppress(BaseException), private_folder("test") as folder:
            (folder.path / "kubeconfig-1.json").write_text("a token")
            (folder.path / "cache").mkdir()
            (folder.path / "cache" / "chart").write_text("x")
            for command in inherits:
                subprocess.Popen(command, pass_fds=[folder.lock])
            os.write(write, str(folder.path).encode())
            signal.pause()
        os._exit(0)
    os.close(write)
    path = Path(os.read(read, 4096).decode())
    os.close(read)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    return path


def eventually(holds: Callable[[], object], seconds: float = 10) -> bool:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not holds():
        time.sleep(0.02)
    return bool(holds())


def test_it_is_for_us_alone_and_goes_with_its_block(temporary: Path) -> None:
    with private_folder("test") as folder:
        assert folder.path.parent == temporary and folder.path.name.startswith("aicr-test-")
        assert folder.path.stat().st_mode & 0o777 == 0o700
        assert (folder.path / LOCK).stat().st_mode & 0o777 == 0o600
        assert not os.get_inheritable(folder.lock) and folder.lock >= 10
        (folder.path / "inner").mkdir()
        (folder.path / "inner" / "file").touch()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_has_left_is_removed_by_the_next(temporary: Path) -> None:
    dead = [killed(), killed()]
    assert not dead[0].exists() and dead[1].exists(), "the second one has removed what the first one left"
    with private_folder("other") as folder:
        assert list(temporary.iterdir()) == [folder.path]


def test_one_in_which_somebody_works_is_left(temporary: Path) -> None:
    with private_folder("test") as folder:
        sweep(temporary)
        with private_folder("test"):
            assert (folder.path / LOCK).exists()


def test_a_child_that_outlives_its_killed_process_keeps_the_folder(temporary: Path) -> None:
    child = temporary / "child"
    path = killed(["/bin/sh", "-c", 'echo $$ > "$0"; exec sleep 60', str(child)])
    assert eventually(lambda: child.exists() and child.read_text())
    sweep(temporary)
    assert (path / "kubeconfig-1.json").exists()
    os.kill(int(child.read_text()), signal.SIGKILL)

    def swept() -> bool:
        sweep(temporary)
        return not path.exists()

    assert eventually(swept)


def test_one_that_is_just_being_made_is_left(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock file is not there yet; and it is locked before it has its name."""
    bare = temporary / "aicr-test-bare"
    bare.mkdir()
    flock = fcntl.flock
    seen: list[list[str]] = []

    def watching(descriptor: int, how: int) -> None:
        (made,) = (path for path in temporary.iterdir() if path != bare)
        seen.append(sorted(path.name for path in made.iterdir()))
        with ThreadPoolExecutor(1) as another, monkeypatch.context() as patch:
            patch.setattr(fcntl, "flock", flock)
            another.submit(sweep, temporary).result()
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", watching)
    with private_folder("test") as folder:
        monkeypatch.setattr(fcntl, "flock", flock)
        assert seen and LOCK not in seen[0]
        assert (folder.path / LOCK).exists()
    assert bare.exists()


def test_links_are_not_followed_and_what_is_not_ours_is_left(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = temporary / "elsewhere"
    theirs.mkdir()
    (theirs / LOCK).touch()
    (theirs / "precious").touch()
    (temporary / "aicr-link").symlink_to(theirs)
    linked = temporary / "aicr-linked-lock"
    linked.mkdir()
    (linked / LOCK).symlink_to(theirs / LOCK)
    piped = temporary / "aicr-pipe"
    piped.mkdir()
    os.mkfifo(piped / LOCK)
    (temporary / "aicr-file").touch()
    inner = killed()
    (inner / "link").symlink_to(theirs)
    before = sorted(path.name for path in temporary.iterdir() if path != inner)
    sweep(temporary)
    assert sorted(path.name for path in temporary.iterdir()) == before
    assert (theirs / "precious").exists()
    other = killed()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    sweep(temporary)
    assert other.exists(), "it belongs to another user"


def test_many_sweepers_at_once_end_well(temporary: Path) -> None:
    dead = []
    for _round in range(5):
        path = killed()
        path.rename(temporary / f"kept-{len(dead)}")  # out of the way of the next one
        dead.append(path)
    for index, path in enumerate(dead):
        (temporary / f"kept-{index}").rename(path)
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(sweep, temporary) for _sweeper in range(40)]:
            done.result()
    assert list(temporary.iterdir()) == []


def test_of_two_sweepers_the_later_one_touches_nothing(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has opened a lock file that the other one has removed, and a new folder has the name."""
    path = killed()
    flock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        sweep(temporary)
        path.mkdir()
        (path / LOCK).touch()
        (path / "precious").touch()
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    sweep(temporary)
    assert (path / "precious").exists()


def test_an_error_while_sweeping_is_no_error_of_the_task(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = killed()

    def fails(*_arguments: object, **_options: object) -> None:
        raise PermissionError("no")

    with monkeypatch.context() as patch:
        patch.setattr(folders.shutil, "rmtree", fails)
        with private_folder("test"):
            pass
    assert sorted(one.name for one in path.iterdir()) == [LOCK, "cache"], "what can be removed is, and the lock stays"
    with private_folder("test"):
        assert not path.exists()
    sweep(temporary / "nowhere")


def test_without_locks_a_folder_works_and_is_never_taken(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", unsupported)
        with private_folder("test") as folder:
            sweep(temporary)
            assert folder.path.exists()
    assert list(temporary.iterdir()) == []
