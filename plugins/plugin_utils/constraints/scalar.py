# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a reading looks as text: as Go prints it, since recorded constraints were written against that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal


def scalar_text(value: object) -> str:
    """The text of a value as Go's ``%v`` gives it (spec/engine.md 0.5); ``1.0`` is ``1`` and a million ``1e+06``.

    Readings are scalars; a list or a mapping from another program is printed whole, so that it can be shown.
    """
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, list):
        return f"[{' '.join(map(scalar_text, value))}]"
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{scalar_text(value[key])}' for key in sorted(value, key=str))}]"
    return str(value)


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    shortest = Decimal(repr(value))
    exponent = shortest.adjusted()
    if value == 0 or -4 <= exponent < 6:
        return f"{shortest.normalize():f}"
    digits = "".join(map(str, shortest.normalize().as_tuple().digits))
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{'-' if value < 0 else ''}{digits[0]}{fraction}e{exponent:+03d}"
