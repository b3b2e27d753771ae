# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How helm is run: which one, with what environment, and how it ends. The programs are scripts, but they are run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster import helm as helms
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.access import Access
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.connection import Connection
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.helm import Settings, Upgrade, open_helm
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.helm_login import kubeconfig_of
from ansible_collections.aicr.runtime.plugins.plugin_utils.cluster.kubeconfig import Login, log_in
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code

UPGRADE = Upgrade("slurm", "demo", "/charts/demo", "1.0.0", {"password": "in-the-values"})
Script = Callable[..., Path]


@pytest.fixture
def connection() -> Connection:
    return Connection(Access(host="https://127.0.0.1:1", api_key="the-token"), {})


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Makes a helm that says its version and then does something."""

    def make(does: str, version: str = "v4.3.1", name: str = "helm") -> Path:
        place = tmp_path / name
        place.write_text(f'#!/bin/sh\nif [ "$1" = version ]; then echo {version}; exit; fi\ncd "{tmp_path}"\n{does}\n')
        place.chmod(0o755)
        return place

    return make


def run(
    connection: Connection,
    settings: Settings,
    environ: dict[str, str] | None = None,
    upgrade: Upgrade = UPGRADE,
    told: list[str] | None = None,
) -> None:
    with open_helm(
        connection, settings, environ or {"PATH": "/usr/bin:/bin"}, [].append if told is None else told.append
    ) as helm:
        helm.upgrade(upgrade)


def eventually(holds: Callable[[], object], seconds: float = 10) -> bool:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not holds():
        time.sleep(0.05)
    return bool(holds())


def ended(file: Path) -> bool:
    """Whether the process whose id stands in a file has ended."""
    try:
        os.kill(int(file.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def processes() -> list[int]:
    return [int(place.name) for place in Path("/proc").glob("[0-9]*")]


def group_of(process: int) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(process)
    return None


def failure(connection: Connection, settings: Settings, environ: dict[str, str] | None = None) -> AicrError:
    with pytest.raises(AicrError) as caught:
        run(connection, settings, environ)
    return caught.value


def test_it_is_the_one_on_path(connection: Connection, script: Script, tmp_path: Path) -> None:
    script("touch ran")
    run(connection, Settings(), {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (tmp_path / "ran").exists()
    refused = failure(connection, Settings(), {"PATH": "/nowhere"})
    assert refused.code is Code.SERVICE_UNAVAILABLE and "on PATH" in refused.message


@pytest.mark.parametrize(
    ("version", "message"),
    [("v3.12.9", "is helm 3.12"), ("v2.17.0", "is helm 2.17"), ("nothing", "does not say its version")],
)
def test_one_that_is_too_old_is_refused(connection: Connection, script: Script, version: str, message: str) -> None:
    refused = failure(connection, Settings(str(script("touch ran", version))))
    assert message in refused.message


def test_objects_are_taken_over_by_a_helm_that_can(connection: Connection, script: Script, tmp_path: Path) -> None:
    upgrade = Upgrade("n", "r", "c", "1", {}, take_ownership=True)
    with pytest.raises(AicrError, match=r"helm 3\.16 cannot take over"):
        run(connection, Settings(str(script("touch ran", "v3.16.4"))), upgrade=upgrade)
    run(connection, Settings(str(script('printf "%s\\n" "$@" > arguments', "v3.17.0"))), upgrade=upgrade)
    assert "--take-ownership" in (tmp_path / "arguments").read_text() and not (tmp_path / "ran").exists()


def test_credentials_and_values_travel_by_files_of_ours_alone(
    connection: Connection, script: Script, tmp_path: Path
) -> None:
    place = script(
        'printf "%s\\n" "$@" > arguments; env > environment\n'
        'for word in "$@"; do case "$word" in\n'
        '--kubeconfig=*) cp -p "${word#*=}" kubeconfig; dirname "${word#*=}" > room;;\n'
        '--values=*) cp -p "${word#*=}" values;; esac; done'
    )
    environ = {
        "PATH": "/usr/bin:/bin",
        "https_proxy": "http://proxy",
        "HELM_DRIVER": "memory",
        "KUBECONFIG": "/x",
        "AWS_SECRET_ACCESS_KEY": "ambient",
    }
    cache = str(tmp_path / "cache")
    (tmp_path / "registry.json").write_text("{}")
    run(connection, Settings(str(place), cache=cache, registry_config=str(tmp_path / "registry.json")), environ)
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[:5] == ["upgrade", "demo", "/charts/demo", "--install", "--reset-values"]
    seen = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert seen["https_proxy"] == "http://proxy" and seen["HELM_CACHE_HOME"] == cache
    assert seen["HELM_REGISTRY_CONFIG"] == str(tmp_path / "registry.json")
    assert not {"HELM_DRIVER", "KUBECONFIG", "AWS_SECRET_ACCESS_KEY"} & seen.keys()
    assert not [word for word in (*arguments, *seen.values()) if "the-token" in word or "in-the-values" in word]
    assert json.loads((tmp_path / "values").read_text()) == {"password": "in-the-values"}
    assert json.loads((tmp_path / "kubeconfig").read_text())["users"][0]["user"] == {"token": "the-token"}
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("values", "kubeconfig")} == {0o600}
    assert not Path((tmp_path / "room").read_text().strip()).exists(), "and they go"


def test_labels_are_set_and_taken_away(connection: Connection, script: Script, tmp_path: Path) -> None:
    place = script('printf "%s\\n" "$@" > arguments')
    run(connection, Settings(str(place)), upgrade=Upgrade("n", "r", "c", "1", {}, labels={"a": "b", "c": None}))
    assert "--labels=a=b,c=null" in (tmp_path / "arguments").read_text()


def test_a_failure_is_explained(connection: Connection, script: Script) -> None:
    refused = failure(connection, Settings(str(script("echo 'Error: x is forbidden' >&2; exit 1"))))
    assert refused.code is Code.UNAUTHORIZED and refused.message.startswith("release slurm/demo: x is forbidden")


def test_one_that_takes_too_long_is_asked_to_end_and_what_it_started_with_it(
    connection: Connection, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helms, "_LATE_SECONDS", 0.0)
    monkeypatch.setattr(helms, "TELL_SECONDS", 0.2)
    place = script("trap 'echo asked >&2; exit 1' TERM\nsleep 60 & echo $! > child; wait")
    told: list[str] = []
    begun = time.monotonic()
    with pytest.raises(AicrError) as caught:
        run(connection, Settings(str(place), timeout=0.7), told=told)
    assert caught.value.code is Code.TIMEOUT and "asked" in caught.value.message
    assert time.monotonic() - begun < 10
    assert told and all("release slurm/demo: helm has worked for" in line for line in told)
    child = int((tmp_path / "child").read_text())
    assert not (Path("/proc") / str(child)).exists() or b"sleep" not in Path(f"/proc/{child}/cmdline").read_bytes()


def test_one_that_will_not_end_is_killed(
    connection: Connection, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helms, "_LATE_SECONDS", 0.0)
    monkeypatch.setattr(helms, "GRACE_SECONDS", 0.3)
    place = script("trap '' TERM\necho $$ > own; while :; do sleep 0.1; done")
    with pytest.raises(AicrError) as caught:
        run(connection, Settings(str(place), timeout=0.5))
    assert caught.value.code is Code.TIMEOUT
    assert eventually(lambda: ended(tmp_path / "own"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_none_outlives_the_process_that_started_it_nor_does_its_room(
    script: Script, tmp_path: Path, number: signal.Signals
) -> None:
    """As Ansible ends a worker at Ctrl-C: by a signal that lets nothing be cleaned up."""
    place = script(
        'trap "echo it is cancelled; echo asked > asked; exit 1" TERM\n'
        'for word in "$@"; do case "$word" in --kubeconfig=*) dirname "${word#*=}" > room;; esac; done\n'
        "echo $$ > own; while :; do sleep 0.1; done"
    )
    worker = os.fork()
    if not worker:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with contextlib.suppress(BaseException):
            run(Connection(Access(host="https://127.0.0.1:1", api_key="t"), {}), Settings(str(place)))
        os._exit(0)
    assert eventually(lambda: (tmp_path / "own").exists() and (tmp_path / "own").read_text())
    room = Path((tmp_path / "room").read_text().strip())
    assert list(room.glob("kubeconfig*"))
    os.kill(worker, number)
    os.waitpid(worker, 0)
    assert eventually((tmp_path / "asked").exists)
    assert eventually(lambda: not room.exists())
    assert eventually(lambda: ended(tmp_path / "own"))


def test_a_room_that_is_left_with_its_credential_goes_when_no_helm_works_in_it_any_more(
    connection: Connection, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever would have removed it is killed as well: first the worker and the watcher, then helm."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    place = script("echo $$ > own; exec sleep 60")
    worker = os.fork()
    if not worker:
        with contextlib.suppress(BaseException):
            run(Connection(Access(host="https://127.0.0.1:1", api_key="t"), {}), Settings(str(place)))
        os._exit(0)
    assert eventually(lambda: (tmp_path / "own").exists() and (tmp_path / "own").read_text())
    helm = int((tmp_path / "own").read_text())
    group = os.getpgid(helm)
    of_group = [one for one in processes() if group_of(one) == group]
    assert len(of_group) >= 3, "helm, its shell, and the watcher"
    for number in (signal.SIGSTOP, signal.SIGKILL):  # nobody is left to clean up after another
        for process in (worker, *(one for one in of_group if one != helm)):
            os.kill(process, number)
    os.waitpid(worker, 0)
    (room,) = temporary.iterdir()
    assert list(room.glob("kubeconfig*"))
    again = Settings(str(script("true", name="another")))
    run(connection, again)
    assert list(room.glob("kubeconfig*")), "a helm works with it"
    os.kill(helm, signal.SIGKILL)

    def gone() -> bool:
        run(connection, again)
        return not room.exists()

    assert eventually(gone)
    assert list(temporary.iterdir()) == []


def test_a_helm_that_ends_at_once_leaves_the_room_to_the_next(connection: Connection, script: Script) -> None:
    """Its watcher may not have begun to watch when it is ended."""
    with open_helm(connection, Settings(str(script("true"))), {"PATH": "/usr/bin:/bin"}, [].append) as helm:
        for _helm in range(60):
            helm.upgrade(UPGRADE)


def test_all_that_are_at_work_can_be_ended_and_none_begins_after_that(
    connection: Connection, script: Script, tmp_path: Path
) -> None:
    place = script("trap 'exit 1' TERM\ntouch began; while :; do sleep 0.1; done")
    with (
        open_helm(connection, Settings(str(place)), {"PATH": "/usr/bin:/bin"}, [].append) as helm,
        ThreadPoolExecutor(1) as pool,
    ):
        at_work = pool.submit(helm.upgrade, UPGRADE)
        assert eventually((tmp_path / "began").exists)
        helm.end()
        assert isinstance(at_work.exception(10), AicrError)
        with pytest.raises(AicrError, match="was not begun"):
            helm.upgrade(UPGRADE)


def test_a_kubeconfig_of_ours_says_what_the_login_does(tmp_path: Path) -> None:
    login = Login(
        "x",
        "https://api:6443",
        ca=b"ca",
        server_name="inner",
        proxy="http://proxy:3128",
        certificate=(b"crt", b"key"),
        as_user="jane",
        as_uid="7",
        as_groups=("ops", "dev"),
        as_extra={"scopes": ("one", "two")},
    )
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(kubeconfig_of(login)))
    again = log_in(Access(kubeconfig=str(file)), {})
    assert vars(again) == {**vars(login), "name": again.name}


def test_a_certificate_that_is_not_checked_names_no_authority() -> None:
    cluster = kubeconfig_of(Login("x", "https://api", ca=b"ca", verify=False, token="t"))["clusters"][0]["cluster"]
    assert cluster == {"server": "https://api", "insecure-skip-tls-verify": True}


def test_a_registry_config_that_is_not_there_is_told(connection: Connection, script: Script) -> None:
    refused = failure(connection, Settings(str(script("true")), registry_config="/nowhere/config.json"))
    assert refused.code is Code.INVALID_REQUEST and "registry_config" in refused.message
