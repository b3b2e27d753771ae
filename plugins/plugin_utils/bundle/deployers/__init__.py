# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployers: how the folders of a bundle become something that installs itself."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import invalid
from .argocd import ArgoCD
from .deployer import Deployer, Plan
from .helm import Helm

DEPLOYERS: Mapping[str, type[Deployer]] = {"helm": Helm, "argocd": ArgoCD}


def deployer_called(name: str) -> type[Deployer]:
    """The deployer of that name; case does not matter.

    :raises AicrError: INVALID_REQUEST for a name that no deployer has.
    """
    found = DEPLOYERS.get(name.strip().lower())
    if found is None:
        raise invalid(f'deployer "{name}" is unknown', f"choose one of {', '.join(DEPLOYERS)}", deployer=name)
    return found


__all__ = ["DEPLOYERS", "Deployer", "Plan", "deployer_called"]
