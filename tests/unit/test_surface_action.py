# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of every action: changed tells the truth, check mode writes nothing, failures are typed, secrets masked."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import errors, yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.artifacts.digest import without_header
from ansible_collections.aicr.runtime.plugins.plugin_utils.atomic import FileContent
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle import Bundle
from ansible_collections.aicr.runtime.plugins.plugin_utils.bundle.checksums import CHECKSUMS, write_checksums
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.action import Action
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.bundle import Directory
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.imports import Imports
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.kind import KINDS
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import Options, Spec
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.outcome import (
    Document,
    Outcome,
    as_format,
    columns,
)

Make = Callable[[Options], Outcome]


class Toy(Action):
    spec: ClassVar[Spec] = {
        "dest": {"type": "path"},
        "return_document": {"type": "bool", "default": False},
        "token": {"type": "str", "no_log": True},
        "login": {"type": "dict", "options": {"password": {"type": "str", "no_log": True}}},
    }
    work: Make

    def make(self, options: Options) -> Outcome:
        return type(self).work(options)


def run(
    make: Make,
    *,
    check: bool = False,
    diff: bool = False,
    async_val: int = 0,
    imports: Imports | None = None,
    **arguments: object,
) -> dict[str, Any]:
    action = type("Named", (Toy,), {"work": staticmethod(make), "imports": imports or Imports()})
    task = SimpleNamespace(
        action="aicr.runtime.toy", args=arguments, async_val=async_val, check_mode=check, diff=diff, environment=None
    )
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))
    return action(task, connection, SimpleNamespace(), None, None, None).run(task_vars={})


def document(content: dict[str, Any], dest: Path | None, **more: Any) -> Make:
    file = Document(content, yamlio.dump(content), more.pop("essence", None))
    return lambda options: Outcome(file, dest, file.digest, {"keys": len(content)}, document=content, **more)


def test_a_file_is_written_once_and_then_left_alone(tmp_path: Path) -> None:
    dest = tmp_path / "new" / "folder" / "recipe.yaml"
    make = document({"kind": "RecipeResult", "a": 1}, dest)
    first = run(make)
    written = dest.stat().st_mtime_ns
    second = run(make)
    assert (first["changed"], second["changed"]) == (True, False)
    assert dest.read_text() == "a: 1\nkind: RecipeResult\n"
    assert dest.stat().st_mtime_ns == written
    assert {key: first[key] for key in ("path", "summary", "warnings", "incomplete")} == {
        "path": str(dest),
        "summary": {"keys": 2},
        "warnings": [],
        "incomplete": [],
    }
    assert first["digest"] == second["digest"]
    assert "document" not in first


def test_check_mode_predicts_and_writes_nothing(tmp_path: Path) -> None:
    dest = tmp_path / "new" / "recipe.yaml"
    result = run(document({"a": 1}, dest), check=True, diff=True)
    assert result["changed"] is True
    assert result["diff"] == [{"before_header": str(dest), "before": "", "after_header": str(dest), "after": "a: 1\n"}]
    assert list(tmp_path.iterdir()) == []


def test_a_difference_is_shown_only_when_asked_for(tmp_path: Path) -> None:
    dest = tmp_path / "recipe.yaml"
    dest.write_text("a: 0\n")
    assert "diff" not in run(document({"a": 1}, dest), check=True)
    [shown] = run(document({"a": 1}, dest), diff=True)["diff"]
    assert (shown["before"], shown["after"]) == ("a: 0\n", "a: 1\n")


def test_without_dest_nothing_is_written_and_nothing_changes() -> None:
    result = run(document({"a": 1}, None), return_document=True)
    assert (result["changed"], result["path"], result["document"]) == (False, None, {"a": 1})


@pytest.mark.parametrize(
    ("present", "changed"),
    [
        ({"kind": "Snapshot", "metadata": {"timestamp": "yesterday"}, "measurements": [1]}, False),
        ({"kind": "Snapshot", "metadata": {"timestamp": "yesterday"}, "measurements": [2]}, True),
    ],
)
def test_a_file_that_differs_in_its_header_alone_is_not_rewritten(tmp_path: Path, present: Any, changed: bool) -> None:
    dest = tmp_path / "snapshot.yaml"
    dest.write_text(yamlio.dump(present))
    content = {"kind": "Snapshot", "metadata": {"timestamp": "today"}, "measurements": [1]}
    assert run(document(content, dest, essence=without_header))["changed"] is changed
    assert ("today" in dest.read_text()) is changed


ARTIFACTS: dict[str, dict[str, Any]] = {
    "recipe": {"apiVersion": "aicr.run/v1alpha2", "kind": "RecipeResult", "criteria": {"service": "eks"}},
    "snapshot": {"apiVersion": "aicr.run/v1alpha2", "kind": "Snapshot", "measurements": [{"type": "K8s"}]},
    "report": {"reportFormat": "CTRF", "results": {"summary": {"tests": 1}, "kind": "RecipeResult"}},
}
TABLES = {noun: " ".join(next(kind for kind in KINDS if kind.noun == noun).heading) + "\n" for noun in ARTIFACTS}
FORMS = ("yaml", "json", "table")


def as_text(noun: str, form: str) -> str:
    return as_format(ARTIFACTS[noun], form, lambda: TABLES[noun])


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("present", ARTIFACTS)
@pytest.mark.parametrize("noun", ARTIFACTS)
def test_an_artifact_replaces_one_of_its_own_kind_in_any_format_and_no_other(
    tmp_path: Path, noun: str, present: str, form: str, check: bool
) -> None:
    dest = tmp_path / "artifact"
    dest.write_text(as_text(present, form))
    before = dest.read_bytes()
    result = run(document({**ARTIFACTS[noun], "new": True}, dest), check=check)
    if noun == present:
        assert result["changed"] is True
    else:
        assert result["error"]["code"] == "CONFLICT"
        assert f"what stands there is a {present}, not a {noun}" in result["error"]["message"]
        assert "another dest" in result["error"]["hint"]
    assert (dest.read_bytes() == before) is (check or noun != present)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(
    ("foreign", "called"),
    [
        (b"dear diary\n", "something else"),
        (b"\xff{", "something else"),
        (b"[1]", "something else"),
        (b"hosts: {a: {}}\n", "something else"),
        (b"apiVersion: v1\nkind: Config\nusers: [{token: t0ps3cret}]\n", "of kind Config"),
        (b'{\n  "kind": "List",\n  "items": [{"kind": "RecipeResult"}]\n}\n', "of kind List"),
        (b"# How to\n\nWrite this:\n```\nkind: RecipeResult\n```\n", "of kind RecipeResult"),
        (b"a: |\n  kind: RecipeResult\n", "something else"),
        (b"COMPONENT VERSION\n", "something else"),
    ],
)
def test_what_is_no_artifact_is_never_written_over(tmp_path: Path, foreign: bytes, called: str, check: bool) -> None:
    dest = tmp_path / "recipe.yaml"
    dest.write_bytes(foreign)
    result = run(document(ARTIFACTS["recipe"], dest), check=check, diff=True)
    assert result["error"]["code"] == "CONFLICT"
    assert f"what stands there is {called}," in result["error"]["message"]
    assert "t0ps3cret" not in json.dumps(result)
    assert dest.read_bytes() == foreign


def test_a_large_artifact_is_known_by_its_beginning(tmp_path: Path) -> None:
    dest = tmp_path / "snapshot.yaml"
    dest.write_text(as_text("snapshot", "yaml") + "- type: OS\n" * 200_000)
    assert run(document(ARTIFACTS["snapshot"], dest))["changed"] is True
    dest.write_text("- prose\n" * 200_000 + as_text("snapshot", "yaml"))
    assert run(document(ARTIFACTS["snapshot"], dest))["error"]["code"] == "CONFLICT"


@pytest.mark.parametrize("present", ["", "\n", "# a comment\nkind: RecipeResult\napiVersion: x\r\n"])
def test_an_empty_file_or_an_artifact_that_somebody_wrote_is_replaced(tmp_path: Path, present: str) -> None:
    dest = tmp_path / "recipe.yaml"
    dest.write_text(present)
    assert run(document(ARTIFACTS["recipe"], dest))["changed"] is True


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("product", ["file", "bundle"])
def test_check_mode_predicts_that_nothing_can_be_made_there(tmp_path: Path, product: str, check: bool) -> None:
    (tmp_path / "file").write_text("mine")
    for parts in (("file", "x"), ("file", "x", "y"), ("n" * 256,), ("n" * 256, "x"), ("d",) * 3000):
        dest = tmp_path.joinpath(*parts)
        make = directory(TREE, dest) if product == "bundle" else document({"a": 1}, dest)
        error = run(make, check=check)["error"]
        assert (error["code"], "cannot be written" in error["message"]) == ("INVALID_REQUEST", True)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("product", ["file", "bundle"])
def test_check_mode_predicts_that_a_folder_may_not_be_written(
    tmp_path: Path, product: str, check: bool, monkeypatch: Any
) -> None:
    (tmp_path / "locked").mkdir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, *args, **more: path != tmp_path / "locked" and allowed(path, *args))
    dest = tmp_path / "locked" / "new" / "artifact"
    make = directory(TREE, dest) if product == "bundle" else document({"a": 1}, dest)
    assert f"{tmp_path / 'locked'} may not be written" in run(make, check=check)["error"]["message"]
    assert list((tmp_path / "locked").iterdir()) == []


def test_what_is_there_already_needs_no_right_to_write(tmp_path: Path, monkeypatch: Any) -> None:
    makes = [document({"a": 1}, tmp_path / "file"), directory(TREE, tmp_path / "bundle")]
    for make in makes:
        run(make)
    monkeypatch.setattr(os, "access", lambda *args, **more: False)
    assert [run(make)["changed"] for make in makes] == [False, False]


@pytest.mark.parametrize("check", [False, True])
def test_a_pipe_is_no_place_for_a_file(tmp_path: Path, check: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is no regular file" in run(document({"a": 1}, tmp_path / "pipe"), check=check)["error"]["message"]


@pytest.mark.parametrize("target", ["real.yaml", "folder/new.yaml"])
def test_a_link_is_followed_and_stays(tmp_path: Path, target: str) -> None:
    (tmp_path / "real.yaml").touch()
    dest = tmp_path / "link.yaml"
    dest.symlink_to(target)
    result = run(document({"a": 1}, dest))
    assert (result["changed"], result["path"]) == (True, str(dest))
    assert dest.is_symlink()
    assert (tmp_path / target).read_text() == "a: 1\n"
    assert run(document({"a": 1}, dest))["changed"] is False


@pytest.mark.parametrize("check", [False, True])
def test_a_bundle_takes_no_link_for_its_directory(tmp_path: Path, check: bool) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    error = run(directory(TREE, tmp_path / "link"), check=check)["error"]
    assert "is a link" in error["message"]
    assert str(tmp_path / "empty") in error["hint"]


@pytest.mark.parametrize("check", [False, True])
def test_a_directory_where_a_file_is_due_is_refused_in_check_mode_too(tmp_path: Path, check: bool) -> None:
    result = run(document({"a": 1}, tmp_path), check=check)
    assert result["failed"] is True
    assert str(tmp_path) in result["error"]["message"]


def test_a_failure_has_code_message_hint_and_details() -> None:
    def refuse(options: Options) -> Outcome:
        raise errors.conflict("the cluster has an operator of its own", "remove it", component="mariadb-operator")

    result = run(refuse)
    assert result["failed"] is True
    assert result["error"] == {
        "code": "CONFLICT",
        "message": "the cluster has an operator of its own",
        "hint": "remove it",
        "details": {"component": "mariadb-operator"},
    }
    assert "the cluster has an operator of its own" in result["msg"]
    assert "remove it" in result["msg"]


def test_a_failed_validation_fails_the_task_and_still_writes_the_report(tmp_path: Path) -> None:
    dest = tmp_path / "report.json"
    result = run(document({"a": 1}, dest, failure=errors.invalid("readiness check failed")))
    assert dest.exists()
    assert (result["failed"], result["changed"], result["path"]) == (True, True, str(dest))
    assert result["error"]["message"] == "readiness check failed"


@pytest.mark.parametrize(
    ("number", "code", "named"),
    [
        (errno.ENAMETOOLONG, "INVALID_REQUEST", "/tmp/room: File name too long"),
        (errno.ENOSPC, "SERVICE_UNAVAILABLE", "/tmp/room: No space left on device"),
        (errno.EMFILE, "SERVICE_UNAVAILABLE", "/tmp/room: Too many open files"),
    ],
)
def test_what_the_system_refuses_is_no_fault_of_ours(number: int, code: str, named: str) -> None:
    def fail(options: Options) -> Outcome:
        raise OSError(number, os.strerror(number), "/tmp/room")

    result = run(fail)
    assert (result["error"]["code"], result["error"]["message"]) == (code, named)
    assert "report it" not in result["msg"]


def test_a_path_that_is_too_long_is_refused() -> None:
    result = run(lambda options: Path(options["dest"]).stat() and None, dest="x" * 300)
    assert result["error"]["code"] == "INVALID_REQUEST"


def test_a_fault_of_ours_is_internal_and_leaves_its_trace() -> None:
    def fail(options: Options) -> Outcome:
        raise ZeroDivisionError("division by zero")

    result = run(fail)
    assert result["error"]["code"] == "INTERNAL"
    assert "ZeroDivisionError" in result["msg"]
    assert "in fail" in result["exception"]


def test_async_is_refused_with_the_way_out() -> None:
    result = run(document({}, None), async_val=30)
    assert result["error"]["code"] == "INVALID_REQUEST"
    assert "remove async" in result["error"]["hint"]


def test_unknown_options_are_refused() -> None:
    assert "destt" in run(document({}, None), destt="x")["error"]["message"]


@pytest.mark.parametrize("where", ["message", "document", "exception"])
def test_no_secret_leaves_in_anything_that_is_returned(where: str) -> None:
    secrets = ("t0ps3cret", "hunter22")

    def leak(options: Options) -> Outcome:
        text = " ".join(secrets)
        if where == "message":
            raise errors.invalid(f"cannot log in with {text}", text, given=text)
        if where == "exception":
            raise ValueError(text)
        return Outcome(Document({}, "{}\n"), None, "", {"x": [text]}, warnings=[text], document={"deep": [{"a": text}]})

    result = run(leak, token=secrets[0], login={"password": secrets[1]}, return_document=True)
    for secret in secrets:
        assert secret not in json.dumps(result)


def test_a_secret_of_the_wrong_type_is_masked_too() -> None:
    result = run(document({}, None), token=["t0ps3cret"], dest="t0ps3cret", login="password=hunter22")
    assert "t0ps3cret" not in json.dumps(result)


def test_a_missing_package_fails_the_task_with_the_line_that_installs_it() -> None:
    with Imports() as imports:
        import a_package_that_nobody_has  # noqa: F401
    result = run(document({}, None), imports=imports)
    assert result["error"]["details"] == {"package": "a_package_that_nobody_has"}
    assert "python -m pip install a_package_that_nobody_has" in result["error"]["hint"]


def test_a_fault_within_the_collection_is_no_missing_package() -> None:
    with pytest.raises(ImportError), Imports():
        from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import nothing  # noqa: F401


TREE = {
    "bundle-info.yaml": FileContent(b"kind: BundleInfo\n"),
    "values.yaml": FileContent(b"secret: 1\n"),
    "deploy.sh": FileContent(b"#!/bin/sh\n", executable=True),
}


def directory(tree: dict[str, FileContent], dest: Path) -> Make:
    whole = {**tree, CHECKSUMS: FileContent(write_checksums(tree).encode())}
    return lambda options: Outcome(Directory(Bundle(whole, (), (), "sha256:0", {})), dest, "sha256:0", {})


@pytest.mark.parametrize(
    "tree",
    [
        {**TREE, "b.yaml": FileContent(b"")},
        {name: file for name, file in TREE.items() if name != "values.yaml"},
        {**TREE, "values.yaml": FileContent(b"secret: 2\n")},
        {**TREE, "deploy.sh": FileContent(b"#!/bin/sh\n")},
    ],
    ids=["added", "removed", "changed", "mode"],
)
def test_a_bundle_changes_with_any_file_in_it(tmp_path: Path, tree: dict[str, FileContent]) -> None:
    dest = tmp_path / "bundle"
    assert run(directory(TREE, dest))["changed"] is True
    assert run(directory(TREE, dest))["changed"] is False
    assert run(directory(tree, dest), check=True)["changed"] is True
    assert run(directory(TREE, dest))["changed"] is False
    assert run(directory(tree, dest))["changed"] is True


def test_the_difference_of_a_bundle_names_files_and_shows_no_values(tmp_path: Path) -> None:
    dest = tmp_path / "bundle"
    run(directory({**TREE, "recipe.yaml": FileContent(b"a: 0\n")}, dest))
    after = {"values.yaml": FileContent(b"secret: 2\n"), "recipe.yaml": FileContent(b"a: 1\n")}
    files, recipe = run(directory(after, dest), diff=True, check=True)["diff"]
    assert "deploy.sh" in files["before"]
    assert "deploy.sh" not in files["after"]
    assert "secret" not in json.dumps(files)
    assert (recipe["before"], recipe["after"]) == ("a: 0\n", "a: 1\n")


@pytest.mark.parametrize("check", [False, True])
def test_a_directory_that_is_no_bundle_is_refused_in_check_mode_too(tmp_path: Path, check: bool) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    assert run(directory(TREE, tmp_path), check=check)["error"]["code"] == "CONFLICT"
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_columns_are_aligned_and_end_without_blanks() -> None:
    assert columns(("NAME", "N"), [("a", 1), ("long one", 2)]) == "NAME      N\na         1\nlong one  2\n"


def test_each_format_ends_in_one_line_feed() -> None:
    texts = {form: as_format({"a": "1.30"}, form, lambda: "A\n") for form in ("yaml", "json", "table")}
    assert texts == {"yaml": "a: '1.30'\n", "json": '{\n  "a": "1.30"\n}\n', "table": "A\n"}
