# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a release in between means for a run: one that deploys it, or one that removes it (spec/cases.md H10)."""

from __future__ import annotations

from ..cluster.release_state import Installed, way_out
from .obstacle import Obstacle, warning


def release_in_between(namespace: str, name: str, state: Installed, *, recover: bool, removing: bool) -> Obstacle:
    """The finding for a release that a helm may be at work on.

    :param recover: whether the run may take up what a dead one has left.
    :param removing: whether it shall not be there in the end.
    """
    what = f"release {namespace}/{name}: its revision {state.revision} is {state.status} since {state.changed}"
    if recover and state.is_left_by_a_run:
        then = "this run removes it" if removing else "this run goes on from there"
        return warning("release", f"{what}: a run that died has left it", then)
    return Obstacle(
        "release",
        f"{what}: another helm works on it, or one was ended in the middle",
        way_out(namespace, name, state, "aicr_recover_releases", removing=removing),
    )
