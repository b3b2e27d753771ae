# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounting lock under many random override sets: the property of tests/unit/test_lock_property.py at length.

AICR_SOAK_SETS says how many, AICR_SOAK_SEED where their numbers begin. One accepted set in a hundred is also written.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lock_sets import try_sets

SETS = int(os.environ.get("AICR_SOAK_SETS", "100000"))
SEED = int(os.environ.get("AICR_SOAK_SEED", "1000000"))
CHUNKS = 20  # what pytest-xdist deals out to the cores
WRITTEN = 100


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_accepted_bundle_contradicts_its_mode(chunk: int, tmp_path: Path) -> None:
    numbers = range(SEED + chunk * SETS // CHUNKS, SEED + (chunk + 1) * SETS // CHUNKS)
    trial = try_sets(numbers, tmp_path, write_every=WRITTEN)
    assert not trial.faults, "\n".join(trial.faults)
    assert trial.accepted + trial.refused == len(numbers)
    assert trial.share >= 0.2
    assert trial.written >= trial.accepted / WRITTEN > 0
