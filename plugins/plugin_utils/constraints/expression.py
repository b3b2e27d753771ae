# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The expression of a constraint: an operator and a value (spec/engine.md 3.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from ..errors import AicrError, invalid
from .version import Version


class Operator(Enum):
    """How a reading is compared; ``EXACT`` is the absence of an operator."""

    AT_LEAST = ">="
    AT_MOST = "<="
    NOT_EQUAL = "!="
    EQUAL = "=="
    ABOVE = ">"
    BELOW = "<"
    EXACT = ""


_SPELLINGS = {operator.value: operator for operator in Operator if operator.value} | {"=": Operator.EQUAL}
_LONGEST_FIRST = sorted(_SPELLINGS, key=lambda spelling: (-len(spelling), spelling))
_HINT = 'write an operator (>=, <=, >, <, ==, !=) and a value, such as ">= 1.32", or a value alone'


@dataclass(frozen=True)
class Expression:
    """What must be true of a reading."""

    operator: Operator
    value: str

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Read ``>= 1.32.4``, ``!= none`` or ``ubuntu``; blanks around the parts do not count.

        :raises AicrError: INVALID_REQUEST: nothing there, no value, two operators, or an ordering against what is no
            version; such an expression could never be evaluated.
        """
        bare = text.strip()
        if not bare:
            raise invalid("the constraint expression cannot be empty", _HINT)
        spelling = next((spelling for spelling in _LONGEST_FIRST if bare.startswith(spelling)), "")
        value = bare[len(spelling) :].strip()
        if not value:
            raise invalid(f'the constraint value cannot be empty after the operator in "{text}"', _HINT)
        if value[0] in "<>=!":
            raise invalid(f'the constraint expression "{text}" has no operator that exists', _HINT)
        expression = cls(_SPELLINGS.get(spelling, Operator.EXACT), value)
        if expression.orders:
            _version("expected", value).gke_build()
        return expression

    @property
    def orders(self) -> bool:
        """Whether older and newer matter, so that both sides must be versions."""
        return self.operator in (Operator.AT_LEAST, Operator.AT_MOST, Operator.ABOVE, Operator.BELOW)

    def holds(self, actual: str) -> bool:
        """Whether a reading satisfies the expression.

        Without an operator the text must be the same to the letter. ``==`` and ``!=`` compare versions where the
        expected value looks like one and both can be read as one, and text otherwise.

        :raises AicrError: INVALID_REQUEST: an ordering, and the reading is no version. It never just fails.
        """
        if self.orders:
            return self._in_order(_version("actual", actual).compare(Version.parse(self.value)))
        if self.operator is Operator.EXACT:
            return actual == self.value
        return self._same(actual) is (self.operator is Operator.EQUAL)

    def _in_order(self, comparison: int) -> bool:
        return {
            Operator.AT_LEAST: comparison >= 0,
            Operator.AT_MOST: comparison <= 0,
            Operator.ABOVE: comparison > 0,
            Operator.BELOW: comparison < 0,
        }[self.operator]

    def _same(self, actual: str) -> bool:
        if "." in self.value and re.search("[0-9]", self.value):
            try:
                return Version.parse(self.value).equals(Version.parse(actual))
            except AicrError:
                pass
        return actual == self.value


def _version(side: str, text: str) -> Version:
    try:
        return Version.parse(text)
    except AicrError as error:
        hint = "an ordering needs a version on both sides, such as 1.32.4; compare text with == or !="
        raise invalid(f"cannot parse {side} version: {error.message}", hint) from error
