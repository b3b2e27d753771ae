# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of seeded faults keeps up with the code that they are seeded into, and with the tests that catch them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.aicr.runtime.tests.seeded_faults import Fault, faults

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name.replace(" ", "-"))
def test_a_fault_can_be_seeded_and_the_test_that_catches_it_is_there(fault: Fault) -> None:
    for edit in fault.edits:
        assert edit.count(CHECKOUT) == 1, f"{edit.file}: {edit.text}"
        assert edit.seeded not in ("", edit.text) or edit.file.endswith(".yaml")
    for test in fault.test.split():
        file, _unused, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (CHECKOUT / file).read_text(encoding="utf-8")
    assert fault.because


def test_each_fault_has_a_name_of_its_own() -> None:
    names = [fault.name for fault in faults()]
    assert len(set(names)) == len(names)
