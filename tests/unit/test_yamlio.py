# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML is read as Go's yaml.v3 reads it and written so that neither YAML 1.1 nor 1.2 misreads it."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils import yamlio
from ansible_collections.aicr.runtime.plugins.plugin_utils.errors import AicrError, Code


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("N", "N"),
        ("tRue", "tRue"),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("", None),
        ("12", 12),
        ("-7", -7),
        ("+5", 5),
        ("1_000", 1000),
        ("0", 0),
        ("0x1f", 31),
        ("0b11", 3),
        ("0o17", 15),
        ("0755", 493),
        ("-0b11", -3),
        ("089", "089"),
        ("1.2.3", "1.2.3"),
        ("1.30", 1.3),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-1.5e-3", -0.0015),
        ("2026-01-01", "2026-01-01"),
        ("12:30:45", "12:30:45"),
        ("v1.33.5-eks-3025e55", "v1.33.5-eks-3025e55"),
        ("=", "="),
        ("0x", "0x"),
        ("1__", 1),
    ],
)
def test_a_plain_scalar_is_read_as_go_reads_it(scalar: str, value: object) -> None:
    read = yamlio.load(f"key: {scalar}\n", "text")["key"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("scalar", [".nan", ".NaN", ".inf", "-.Inf", "+.INF", "1e999", "-1.0e400", "!!float inf"])
def test_what_json_has_no_number_for_is_refused_with_its_place(scalar: str) -> None:
    with pytest.raises(AicrError, match="text: line 2, column 8: a number that is none"):
        yamlio.load(f"a: 1\nkey:   {scalar}\n", "text")


@pytest.mark.parametrize("scalar", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_json_has_no_number_for_is_refused_in_json_too(scalar: str) -> None:
    with pytest.raises(AicrError, match=r"text: .*a number that is none"):
        yamlio.load(f'{{"key": [{scalar}]}}', "text")


def test_a_merge_key_is_merged_and_the_own_key_wins() -> None:
    text = "base: &base {a: 1, b: 2}\nover:\n  <<: *base\n  b: 3\n"
    assert yamlio.load(text, "text")["over"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", ['duplicate key "a"', "line 3"]),
        ('{"a": 1, "a": 2}', ['duplicate key "a"']),
        ("outer:\n  x: 1\n  x: 2\n", ['duplicate key "x"', "line 3"]),
        ("a: [1\nb: 2\n", ["line 2"]),
        ("a: 1\n---\nb: 2\n", ["2 documents"]),
        ("a: b: c\n", ["line 1"]),
        ("&a [*a]\n", ["aliases expand"]),
        ("- " * 5000, ["nested deeper"]),
        ("[" * 5000, ["nest"]),
        ("a: !!python/object/apply:os.system [id]\n", ["text"]),
    ],
)
def test_what_is_wrong_with_a_text_is_said_with_its_place(text: str, words: list[str]) -> None:
    with pytest.raises(AicrError) as caught:
        yamlio.load(text, "text")
    assert caught.value.code is Code.INVALID_REQUEST
    assert all(word in caught.value.message for word in ["text", *words])


@pytest.mark.parametrize(
    "tagged", ["!!int hunter2", "!!int ''", "!!int [hunter2]", "!!float hunter2", "!!timestamp hunter2"]
)
def test_a_value_that_is_not_what_its_tag_says_is_not_repeated(tagged: str) -> None:
    with pytest.raises(AicrError, match=r"text: is not valid YAML: a value is not of the type") as caught:
        yamlio.load(f"password: {tagged}\n", "text")
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_few_aliases_cannot_stand_for_billions_of_nodes() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(AicrError, match="aliases expand"):
        yamlio.load("\n".join(lines), "text")


def test_bytes_that_are_no_text_and_texts_that_are_too_long_are_refused() -> None:
    with pytest.raises(AicrError, match="not UTF-8"):
        yamlio.load(b"a: \xff", "text")
    with pytest.raises(AicrError, match="more than the 10"):
        yamlio.load("a: 123456789", "text", max_bytes=10)


def test_files_are_told_apart_by_what_is_wrong_with_them(tmp_path: Path) -> None:
    with pytest.raises(AicrError) as caught:
        yamlio.load_file(tmp_path / "absent.yaml")
    assert caught.value.code is Code.NOT_FOUND
    with pytest.raises(AicrError, match="is a directory"):
        yamlio.load_file(tmp_path)
    (tmp_path / "with-mark.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert yamlio.load_file(tmp_path / "with-mark.yaml") == {"a": 1}
    (tmp_path / "large.yaml").write_text("a: 1\n")
    with pytest.raises(AicrError, match="larger than the 3 bytes"):
        yamlio.load_file(tmp_path / "large.yaml", max_bytes=3)


def test_what_would_be_waited_for_or_never_ends_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for place in ("pipe", "link", "socket", "/dev/zero"):
            with pytest.raises(AicrError, match="is no regular file") as caught:
                yamlio.load_file(tmp_path / place)
            assert caught.value.code is Code.INVALID_REQUEST


def test_a_file_is_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a: 1\n")
    (tmp_path / "link").symlink_to("real")
    assert yamlio.load_file(tmp_path / "link") == {"a": 1}


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_what_can_be_no_path_is_a_fault_of_the_request(tmp_path: Path, name: str) -> None:
    with pytest.raises(AicrError, match="cannot be read") as caught:
        yamlio.load_file(tmp_path / name)
    assert caught.value.code is Code.INVALID_REQUEST


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(
        alphabet=st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(" :-#'\"\n0123456789eExob_.+yYnN~")
    ),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abcnyo019.- ", min_size=1, max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_what_is_written_is_read_back_as_it_was(document: Any) -> None:
    assert yamlio.load_all(yamlio.dump(document), "text").__next__() == document
    assert yamlio.dump(document) == yamlio.dump(document)


@given(DOCUMENTS)
def test_a_large_document_is_written_in_parts_as_if_it_were_whole(document: Any) -> None:
    whole = yamlio.dump(document)
    with pytest.MonkeyPatch.context() as patch:
        for size in (0, 1, 3):
            patch.setattr(yamlio, "PART_NODES", size)
            patch.setattr(yamlio, "RUN_ENTRIES", size + 1)
            assert yamlio.dump(document) == whole


@given(st.text("0123456789eExXobB_.+-:yYnN~=<aflstru", max_size=8) | st.text(max_size=12))
def test_a_text_stays_text_for_readers_of_yaml_1_1(text: str) -> None:
    written = yamlio.dump({"key": text})
    if all(character.isprintable() or character == "\n" for character in text):
        assert yaml.safe_load(written)["key"] == text
        assert not isinstance(yaml.safe_load(written)["key"], bool)


def test_the_layout_of_what_is_written() -> None:
    document = {"b": [1, {"z": 1, "a": 2}], "a": "line\nline\n", "w": "x " * 200}
    expected = "a: |\n  line\n  line\nb:\n- 1\n- a: 2\n  z: 1\nw: '" + "x " * 200 + "'\n"
    assert yamlio.dump(document) == expected


def test_a_shared_part_is_written_twice_and_not_as_an_anchor() -> None:
    shared = {"a": 1}
    assert yamlio.dump([shared, shared]) == "- a: 1\n- a: 1\n"


def test_the_line_of_a_path_is_found() -> None:
    text = "spec:\n  items:\n  - name: a\n  - name: b\n    value: 1\n"
    assert yamlio.line_of(text, ("spec", "items", 1, "value")) == 5
    assert yamlio.line_of(text, ("spec", "items", 1, "absent")) == 4
    assert yamlio.line_of(text, ()) == 1
    assert yamlio.line_of("a: [", ("a",)) is None


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2",
        '{"a": 1, "a": 2}',
        "a: .nan",
        "a: .inf",
        "a: 1e400",
        '{"a": 1e400}',
        '{"a": NaN}',
        b"a: \xff",
        "a: {",
        "a: \x01",
        "a: !!int x",
        "- " * 300,
        "a: 1\n---\nb: 2",
    ],
)
def test_whatever_cannot_be_read_has_a_way_out(text: str | bytes) -> None:
    with pytest.raises(AicrError) as caught:
        yamlio.load(text, "here")
    assert caught.value.hint


def test_whatever_is_no_file_has_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"123")
    for path in (tmp_path, tmp_path / "a\0b", tmp_path / "large"):
        with pytest.raises(AicrError) as caught:
            yamlio.read_bytes(path, 2)
        assert caught.value.hint
