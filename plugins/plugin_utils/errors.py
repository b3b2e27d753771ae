# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception type of the engine, and how several problems become one."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

MAX_SHOWN = 200
"""Characters of a value that a message repeats."""
_MAX_PATH = 4096

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_QUOTED = re.compile(r'"([^"]*)"')
_WORD = re.compile(rf"(?<!\S)(\S{{{_MAX_PATH}}})\S+")


class Code(StrEnum):
    """The class of a failure; a playbook may rescue on it (docs/architecture.md, Errors)."""

    INVALID_REQUEST = "INVALID_REQUEST"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    TIMEOUT = "TIMEOUT"
    UNAUTHORIZED = "UNAUTHORIZED"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
    INTERNAL = "INTERNAL"


class AicrError(Exception):
    """A refusal or failure that names its offender and the way out.

    :param code: the class of the failure.
    :param message: one sentence that names the thing that is wrong.
    :param hint: what the user can do about it; empty if there is nothing to add.
    :param details: small, plain, secret-free facts for programs (names, paths, values of readings).
    """

    def __init__(self, code: Code, message: str, hint: str = "", details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})
        self._parts: Sequence[AicrError] = ()

    def __str__(self) -> str:
        return f"[{self.code.value}] {self.message}" + (f" ({self.hint})" if self.hint else "")

    def __reduce__(self) -> tuple[type[AicrError], tuple[Code, str, str, dict[str, object]]]:
        return type(self), (self.code, self.message, self.hint, self.details)

    @property
    def parts(self) -> Sequence[AicrError]:
        """The problems that it was combined of (:func:`combined`), else itself."""
        return self._parts or (self,)

    def to_result(self) -> dict[str, object]:
        """The ``error`` value of a failed task: ``{code, message, hint, details}``, plain types only."""
        return {"code": self.code.value, "message": self.message, "hint": self.hint, "details": self.details}


def invalid(message: str, hint: str = "", **details: object) -> AicrError:
    """An ``INVALID_REQUEST``: the input is wrong and the user can mend it."""
    return _error(Code.INVALID_REQUEST, message, hint, details)


def not_found(message: str, hint: str = "", **details: object) -> AicrError:
    """A ``NOT_FOUND``: something that was named does not exist."""
    return _error(Code.NOT_FOUND, message, hint, details)


def conflict(message: str, hint: str = "", **details: object) -> AicrError:
    """A ``CONFLICT``: the request is well-formed but contradicts a fact elsewhere."""
    return _error(Code.CONFLICT, message, hint, details)


def internal(message: str, hint: str = "", **details: object) -> AicrError:
    """An ``INTERNAL``: our own fault, never the user's."""
    return _error(Code.INTERNAL, message, hint, details)


def of_system(error: OSError) -> AicrError:
    """What the operating system refused: a name that is too long is the user's, a full disk that of the machine."""
    named = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    message = ": ".join(part for part in (named, error.strerror or str(error) or type(error).__name__) if part)
    if error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP):
        return _error(Code.INVALID_REQUEST, message, "name another path", {})
    hint = "the system of the controller refused this: see its disk, its folder for temporary files, and its limits"
    return _error(Code.SERVICE_UNAVAILABLE, message, hint, {})


def _error(code: Code, message: str, hint: str, details: Mapping[str, object]) -> AicrError:
    """What somebody wrote may be of any length; a message is for people, and a result travels with every task."""
    return AicrError(
        code,
        _shortened(message),
        hint,
        {key: _cut(value, _MAX_PATH) if isinstance(value, str) else value for key, value in details.items()},
    )


def _shortened(message: str) -> str:
    """A message with every long value in it cut to its beginning; a path may be as long as the system lets it.

    Control characters are shown, so that no value moves the cursor of a terminal or feigns a line of a log.
    """
    message = _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), message)
    return _WORD.sub(r"\1…", _QUOTED.sub(lambda match: f'"{_cut(match[1], MAX_SHOWN)}"', message))


def _cut(text: str, length: int) -> str:
    return f"{text[:length]}…" if len(text) > length else text


def combined(problems: Sequence[AicrError]) -> AicrError:
    """One error for everything that a gate found, sorted by message so that every run says the same.

    The code is the one that all share, otherwise ``INVALID_REQUEST``. Each problem stands in ``details.problems``.
    """
    unique = {problem.message: problem for whole in problems for problem in whole.parts}
    ordered = [unique[message] for message in sorted(unique)]
    if len(ordered) == 1:
        return ordered[0]
    codes = {problem.code for problem in ordered}
    hints = dict.fromkeys(problem.hint for problem in ordered if problem.hint)
    error = AicrError(
        codes.pop() if len(codes) == 1 else Code.INVALID_REQUEST,
        f"{len(ordered)} problems: " + "; ".join(problem.message for problem in ordered),
        "; ".join(hints),
        {"problems": [problem.to_result() for problem in ordered]},
    )
    error._parts = ordered
    return error


def raise_all(problems: Iterable[AicrError]) -> None:
    """Raise :func:`combined` if there is any problem, otherwise return."""
    found = list(problems)
    if found:
        raise combined(found)
