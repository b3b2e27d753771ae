# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which passwords survive the way to slurmdbd and to the database (spec/slurm-accounting.md 4.4).

Slinky writes the password into ``slurmdbd.conf`` as it is, and mariadb-operator into ``IDENTIFIED BY '…'``: what either
of them reads as something else is refused, by its name, and never shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SHORTEST = 8
SIGNS = "~!@%^&*()_+={}|[]:<>/.,-"
"""Beside letters and digits, what nothing on the way reads as something else."""

_NAMED = {
    "#": ("a #", "slurmdbd.conf takes the rest for a comment"),
    " ": ("a blank", "slurmdbd does not start, and prints what follows the blank in its log"),
    "\t": ("a tab", "slurmdbd does not start, and prints what follows the tab in its log"),
    "\\": ("a backslash", "slurmdbd leaves it out, and SQL takes it for an escape"),
    '"': ('a double quote (")', "slurmdbd takes it for the quoting of the value"),
    "'": ("a single quote (')", "it ends the text in the SQL of the operator"),
}
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


class Flaw(NamedTuple):
    """What is wrong about a password.

    :ivar what: as the rest of a sentence that begins with the password.
    :ivar why: what would become of it.
    :ivar fatal: whether the password cannot be used at all.
    """

    what: str
    why: str
    fatal: bool = True


def password_flaws(password: bytes) -> Iterator[Flaw]:
    """Everything that is wrong about a password; nothing about a good one.

    :param password: as the Secret has it.
    """
    try:
        text = password.decode()
    except UnicodeDecodeError:
        yield Flaw("is no text in UTF-8", "no client sends it as it stands there")
        return
    body = text.rstrip("\r\n")
    if not body:
        yield Flaw("is empty", "slurmdbd does not start")
        return
    if body != text:
        yield Flaw(
            "ends with a line feed",
            "the database takes that for a part of it; `--from-literal` of kubectl adds none, a file may have one",
        )
    if any(sign in body for sign in _LINE_ENDS):
        yield Flaw("holds a line feed", "slurmdbd takes the following lines for configuration")
    for sign, (name, why) in _NAMED.items():
        if sign in body:
            yield Flaw(f"holds {name}", why)
    if any((ord(sign) < 32 or ord(sign) == 127) and sign not in _LINE_ENDS + "\t" for sign in body):
        yield Flaw("holds a control character", "slurmdbd.conf does not carry it")
    if len(body) < SHORTEST:
        yield Flaw(f"is shorter than {SHORTEST} characters", "it is guessed too soon")
    if not body.isascii():
        yield Flaw("holds characters beyond ASCII", "they work only if every part agrees on UTF-8", fatal=False)
