# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which passwords survive the way to slurmdbd and to the database: the table of spec/slurm-accounting.md 4.4."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.aicr.runtime.plugins.plugin_utils.deployment.password import SHORTEST, SIGNS, password_flaws

GOOD = string.ascii_letters + string.digits + SIGNS


@given(st.text(GOOD, min_size=SHORTEST))
def test_a_password_of_the_advised_signs_has_no_flaw(password: str) -> None:
    assert list(password_flaws(password.encode())) == []


@pytest.mark.parametrize("sign", list(";$?`"))
def test_what_neither_part_reads_as_something_else_is_let_through(sign: str) -> None:
    assert list(password_flaws(f"pass{sign}word".encode())) == []


@pytest.mark.parametrize(
    ("password", "what"),
    [
        ("pass#word", "holds a #"),
        ("#password", "holds a #"),
        ("", "is empty"),
        ("\n", "is empty"),
        ("pass word", "holds a blank"),
        ("pass\tword", "holds a tab"),
        ("pass\\word", "holds a backslash"),
        ('pass"word', 'holds a double quote (")'),
        ('"password"', 'holds a double quote (")'),
        ("pass'word", "holds a single quote (')"),
        ("password\n", "ends with a line feed"),
        ("password\r\n", "ends with a line feed"),
        ("pass\nStorageHost=x", "holds a line feed"),
        ("pass\u2028word", "holds a line feed"),
        ("pass\0word", "holds a control character"),
        ("short12", "is shorter than 8 characters"),
    ],
)
def test_each_flaw_of_the_table_has_its_name_and_refuses(password: str, what: str) -> None:
    flaws = [flaw for flaw in password_flaws(password.encode()) if flaw.fatal]
    assert [flaw.what for flaw in flaws] == [what]
    assert flaws[0].why


def test_all_flaws_are_named_at_once() -> None:
    assert [flaw.what for flaw in password_flaws(b"a# '")] == [
        "holds a #",
        "holds a blank",
        "holds a single quote (')",
        "is shorter than 8 characters",
    ]


def test_letters_beyond_ascii_are_a_warning_and_what_is_no_text_is_refused() -> None:
    (flaw,) = password_flaws("pässwörter".encode())
    assert not flaw.fatal
    (flaw,) = password_flaws(b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")
    assert flaw.fatal


@given(st.binary())
def test_no_flaw_repeats_the_password(password: bytes) -> None:
    text = password.decode(errors="replace")
    for flaw in password_flaws(password):
        assert len(text) < 12 or text not in f"{flaw.what} {flaw.why}"
