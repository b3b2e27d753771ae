# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action snapshot_diff: where snapshots come from, where the report goes, and how drift differs from bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.convert import convert
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.options import (
    CONVERT,
    RECIPE,
    SNAPSHOT_DIFF,
    parse,
)
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.recipe import make_recipe
from ansible_collections.aicr.runtime.plugins.plugin_utils.surface.snapshot_diff import compare_snapshots


def document(**readings: object) -> dict[str, Any]:
    return {
        "kind": "Snapshot",
        "apiVersion": "aicr.run/v1alpha2",
        "measurements": [{"type": "K8s", "subtypes": [{"subtype": "server", "data": readings}]}],
    }


THEN, NOW = document(version="v1.34.1", platform=""), document(version="v1.35.0", new="a\nb")
KEPT = ["modified", "K8s.server.version", "v1.34.1", "v1.35.0"]


def deliver(*, check_mode: bool = False, **options: object) -> dict[str, Any]:
    outcome = compare_snapshots(parse(SNAPSHOT_DIFF, options))
    return outcome.deliver(check_mode=check_mode, diff=True, return_document=True)


def refusal(**options: object) -> AicrError:
    with pytest.raises(AicrError) as caught:
        deliver(**options)
    return caught.value


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in (("then.yaml", THEN), ("now.yaml", NOW)):
        (tmp_path / name).write_text(yamlio.dump(content), encoding="utf-8")
    (tmp_path / "stable.json").write_text(json.dumps({**THEN, "apiVersion": "aicr.run/v1"}), encoding="utf-8")
    return tmp_path


def test_a_report_is_written_once(files: Path) -> None:
    task = {"baseline": "then.yaml", "target": "now.yaml", "dest": "out/drift.yaml"}
    predicted = deliver(check_mode=True, **task)
    assert not (files / "out").exists()
    first, second = deliver(**task), deliver(**task)
    assert [one["changed"] for one in (predicted, first, second)] == [True, True, False]
    assert first["path"] == "out/drift.yaml"
    assert first["summary"] == {"added": 1, "removed": 1, "modified": 1, "total": 3}
    assert first["changes"] == [
        {"kind": "added", "path": "K8s.server.new", "target": "a\nb"},
        {"kind": "removed", "path": "K8s.server.platform", "baseline": ""},
        {"kind": "modified", "path": "K8s.server.version", "baseline": "v1.34.1", "target": "v1.35.0"},
    ]
    written: Any = yamlio.load_file(files / "out" / "drift.yaml")
    assert written == first["document"]
    assert (written["baselineSource"], written["targetSource"]) == ("then.yaml", "now.yaml")


def test_tracks_and_formats_of_the_snapshots_make_no_difference(files: Path) -> None:
    alpha = deliver(baseline="then.yaml", target="now.yaml")
    stable = deliver(baseline="stable.json", target="now.yaml")
    handed = deliver(baseline=THEN, target=NOW)
    assert alpha["changes"] == stable["changes"] == handed["changes"]
    assert alpha["digest"] == stable["digest"] == handed["digest"]
    assert deliver(baseline="stable.json", target="then.yaml")["summary"]["total"] == 0
    assert deliver(baseline="now.yaml", target="then.yaml")["digest"] != alpha["digest"]


def test_a_document_in_place_of_a_file_changes_no_report_and_another_file_does(files: Path) -> None:
    """In check mode a playbook hands over what it has not written."""
    task = {"baseline": "then.yaml", "dest": "drift.yaml"}
    deliver(target="now.yaml", **task)
    assert deliver(target=NOW, check_mode=True, **task)["changed"] is False
    assert deliver(target=THEN, check_mode=True, **task)["changed"] is True
    (files / "other.yaml").write_bytes((files / "now.yaml").read_bytes())
    assert deliver(target="other.yaml", check_mode=True, **task)["changed"] is True


def test_formats_of_the_report(files: Path) -> None:
    task = {"baseline": "then.yaml", "target": "now.yaml", "dest": "drift"}
    assert deliver(**task, format="json")["changed"] is True
    assert json.loads((files / "drift").read_text()) == deliver(**task)["document"]
    assert deliver(**task, format="table")["changed"] is True
    assert (files / "drift").read_text() == (
        "CHANGE    PATH                 BASELINE  TARGET\n"
        "added     K8s.server.new       <nil>     a\\nb\n"
        'removed   K8s.server.platform  ""        <nil>\n'
        "modified  K8s.server.version   v1.34.1   v1.35.0\n"
    )
    assert deliver(**task, format="table")["changed"] is False


def test_drift_fails_with_a_code_that_bad_input_has_not_and_leaves_its_report(files: Path) -> None:
    task = {"baseline": "then.yaml", "target": "now.yaml", "dest": "drift.yaml", "fail_on_drift": True}
    failed = deliver(**task)
    assert (failed["failed"], failed["changed"], failed["error"]["code"]) == (True, True, "CONFLICT")
    assert failed["error"]["details"] == {
        "added": 1,
        "removed": 1,
        "modified": 1,
        "total": 3,
        "paths": ["K8s.server.new", "K8s.server.platform", "K8s.server.version"],
    }
    assert "K8s.server.version" in failed["msg"] and "aicr.runtime.snapshot" in failed["msg"]
    assert (files / "drift.yaml").is_file()
    assert "failed" not in deliver(**{**task, "target": "then.yaml"})
    (files / "broken.yaml").write_text("a: [", encoding="utf-8")
    (files / "recipe.yaml").write_text("kind: RecipeResult\n", encoding="utf-8")
    for wrong in ("absent.yaml", "broken.yaml", "recipe.yaml", "drift.yaml", "", "oci://x/y"):
        for side in ("baseline", "target"):
            assert refusal(**{**task, "dest": "elsewhere.yaml", side: wrong}).code in ("NOT_FOUND", "INVALID_REQUEST")
    assert not (files / "elsewhere.yaml").exists()


@pytest.mark.parametrize(
    ("key", "shown"), [("1", "1"), ("true", "true"), ("1.30", "1.3"), ("~", "null"), ("0x1F", "31")]
)
@pytest.mark.parametrize("side", ["baseline", "target"])
def test_a_key_that_is_not_text_is_refused_where_it_stands(files: Path, key: str, shown: str, side: str) -> None:
    """By every stage that reads the snapshot, and no more by one than by another."""
    text = (files / "then.yaml").read_text(encoding="utf-8")
    (files / "broken.yaml").write_text(text.replace("version: v1", f"{key}: v1"), encoding="utf-8")
    task = {"baseline": "then.yaml", "target": "now.yaml", side: "broken.yaml"}
    for stage in (
        lambda: deliver(**task),
        lambda: convert(parse(CONVERT, {"source": "broken.yaml", "track": "stable"})),
        lambda: make_recipe(parse(RECIPE, {"snapshot": "broken.yaml"})),
    ):
        with pytest.raises(AicrError) as caught:
            stage()
        assert caught.value.code == "INVALID_REQUEST"
        assert caught.value.message == f"broken.yaml: measurements[0].subtypes[0].data: the key {shown} is not text"
        assert caught.value.hint.startswith("write it in quotes")


def test_who_has_no_baseline_is_told_how_to_make_one(files: Path) -> None:
    said = refusal(baseline="absent.yaml", target="now.yaml")
    assert said.code == "NOT_FOUND" and "absent.yaml" in said.message
    assert said.hint.startswith("run aicr.runtime.snapshot first")


@pytest.mark.parametrize("dest", ["then.yaml", "now.yaml", "./now.yaml"])
def test_a_snapshot_that_is_compared_is_not_written_over(files: Path, dest: str) -> None:
    before = (files / dest).read_bytes()
    assert "nothing was touched" in refusal(baseline="then.yaml", target="now.yaml", dest=dest).message
    assert (files / dest).read_bytes() == before


@pytest.mark.parametrize("text", ["kind: Snapshot\n", "# Notes\n\nbaselineSource and more\n", '{"changes": []}\n'])
def test_nor_is_anything_that_is_no_report(files: Path, text: str) -> None:
    (files / "x").write_text(text, encoding="utf-8")
    said = refusal(baseline="then.yaml", target="now.yaml", dest="x", fail_on_drift=True)
    assert said.code == "CONFLICT" and "total" not in said.details
    assert (files / "x").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("dest", ["cm://ops/drift", "https://example.com/drift"])
def test_a_report_goes_to_a_file(files: Path, dest: str) -> None:
    assert refusal(baseline="then.yaml", target="now.yaml", dest=dest).code == "INVALID_REQUEST"


def test_a_task_returns_no_more_than_can_be_read_and_the_report_all(files: Path) -> None:
    many = document(**{f"k{number:03}": "x" * 1000 for number in range(150)})
    found = deliver(baseline=document(version="1"), target=many, dest="drift.yaml", fail_on_drift=True)
    assert (len(found["changes"]), found["summary"]["total"]) == (100, 151)
    assert max(len(change["target"]) for change in found["changes"]) == 201
    assert "51 changes are not returned, but stand in the report" in found["warnings"]
    nowhere = deliver(baseline=document(version="1"), target=many, fail_on_drift=True)
    assert "51 changes are not returned, and there is no report: name a dest for one" in nowhere["warnings"]
    assert "see the report" not in nowhere["msg"] and "name a dest" in nowhere["msg"]
    assert len(found["error"]["details"]["paths"]) == 100 and len(found["msg"]) < 500
    written: Any = yamlio.load_file(files / "drift.yaml")
    assert len(written["changes"]) == 151
    assert {len(change["target"]) for change in written["changes"] if change["kind"] == "added"} == {1000}


def test_what_is_told_first_is_not_what_only_moved() -> None:
    """Labels are items, sorted by name, and readings of the subtype as well."""

    def labels(*names: str) -> dict[str, Any]:
        items = [{"context": {"key": name}, "data": {"node-count": 1}} for name in sorted(names)]
        subtype = {"subtype": "label", "data": dict.fromkeys(names, "x"), "items": items}
        return {"kind": "Snapshot", "measurements": [{"type": "NodeTopology", "subtypes": [subtype]}]}

    found = deliver(baseline=labels("b", "c", "z"), target=labels("b", "c", "y", "z"), fail_on_drift=True)
    assert found["changes"][0] == {"kind": "added", "path": "NodeTopology.label.y", "target": "x"}
    assert found["error"]["details"]["paths"][0] == "NodeTopology.label.y"
    assert "baseline says: NodeTopology.label.y, " in found["msg"]
    paths = [change["path"] for change in found["document"]["changes"]]
    assert paths == sorted(paths) and paths[-1] == "NodeTopology.label.y"


def test_a_terminal_obeys_nothing_of_a_snapshot(files: Path) -> None:
    odd = "a\x1b[2J\x07\u202eb"
    now = {**document(**{odd: odd}), "incomplete": [odd], odd: 1}
    found = deliver(baseline=THEN, target=now, dest="drift", format="table", fail_on_drift=True)
    said = [(files / "drift").read_text(encoding="utf-8").replace("\n", ""), found["msg"], *found["warnings"]]
    assert all(text.isprintable() for text in [*said, *found["incomplete"]])
    assert r'K8s.server["a\u001b[2J\u0007\u202eb"]' in said[0] and r"a\u001b[2J\u0007\u202eb" in said[0]


def test_gaps_are_told_by_the_side_that_has_them() -> None:
    found = deliver(baseline={**THEN, "incomplete": ["K8s.image: a"]}, target={**NOW, "incomplete": ["OS: b"]})
    assert found["incomplete"] == ["baseline: K8s.image: a", "target: OS: b"]
    assert len(found["warnings"]) == 2
