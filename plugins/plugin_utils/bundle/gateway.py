# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inference gateway is closed to the world unless someone opens it by name (spec/surface.md 1.11)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ..errors import AicrError, invalid
from .value_path import Values, put

GATEWAY = "agentgateway"
RANGES = "allowedSourceRanges"
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_EVERYONE = ("0.0.0.0/0", "::/0")


def close_gateway(name: str, values: Values, problems: list[AicrError], notes: list[str]) -> Values:
    """The values with the private ranges where no range is given; wrong ranges become problems, open ones notes."""
    if name != GATEWAY:
        return values
    ranges = values.get(RANGES)
    if not ranges:
        notes.append(
            f"{GATEWAY}:{RANGES} is empty, so only the private ranges {', '.join(PRIVATE)} may reach the gateway"
        )
        return put(values, (RANGES,), list(PRIVATE))
    problems += _range_problems(ranges)
    if isinstance(ranges, list) and any(one in _EVERYONE for one in ranges):
        notes.append(f"{GATEWAY}:{RANGES} lets the whole Internet reach the inference gateway")
    return values


def _range_problems(ranges: object) -> Iterator[AicrError]:
    place = f"{GATEWAY}:{RANGES}"
    if not isinstance(ranges, list):
        yield invalid(
            f"{place}: must be a list of address ranges", f'use set_json {place}=["10.0.0.0/8"]', component=GATEWAY
        )
        return
    for one in ranges:
        try:
            if str(ipaddress.ip_network(one)) != one:
                raise ValueError(one)
        except (ValueError, TypeError):
            yield invalid(
                f'{place}: "{one}" is no address range',
                "write the network's first address and its length: 10.0.0.0/8",
                component=GATEWAY,
            )
