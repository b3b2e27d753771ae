# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of every lookup: its terms and options in, one engine call, a list out."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ..errors import AicrError, invalid, of_system, raise_all
from .imports import Imports
from .options import Options, Spec, parse
from .plain import plain, text_problem

_display = Display()


class Lookup(LookupBase, abc.ABC):
    """A lookup whose keyword arguments are the options of a specification, checked as an action's are.

    :cvar spec: the options.
    :cvar imports: the guarded imports of the file.
    :cvar term: what a term is, with an example; empty where none is due.
    """

    spec: ClassVar[Spec]
    imports: ClassVar[Imports] = Imports()
    term: ClassVar[str] = ""

    @abc.abstractmethod
    def find(self, terms: Sequence[str], options: Options) -> tuple[list[Any], Sequence[str]]:
        """The values, and warnings about them."""

    def run(self, terms: Sequence[object], variables: object = None, **kwargs: object) -> list[Any]:
        """One lookup; what it depends on stands in its arguments, not in variables.

        :raises AnsibleLookupError: with the code, the message and the way out.
        """
        del variables
        try:
            if self.imports.problem is not None:
                raise self.imports.problem
            options = parse(self.spec, kwargs)
            found, warnings = self.find(self._texts(terms), options)
        except AicrError as error:
            raise AnsibleLookupError(str(error)) from None
        except OSError as error:
            raise AnsibleLookupError(str(of_system(error))) from error
        for warning in warnings:
            _display.warning(warning)
        return found

    def _texts(self, terms: Sequence[object]) -> list[str]:
        if self.term and not terms:
            raise invalid("a term is missing", f"name {self.term}")
        values = [plain(term, "term") for term in terms]
        wrong = [None if isinstance(value, list) else text_problem(value, "term") for value in values]
        raise_all(problem for problem in wrong if problem)
        if not all(isinstance(value, str) for value in values):
            raise invalid(
                "term: must be text, not a list or null", "give the terms one by one, or with * before a list"
            )
        return [str(value) for value in values]
