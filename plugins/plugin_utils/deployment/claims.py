# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the PersistentVolumeClaims are called that StatefulSets of Slurm and its database make, and leave behind."""

from __future__ import annotations

import re

_OF_A_DATABASE = re.compile(r"storage-.+-\d+")


def claim_of_database(server: str) -> str:
    """That of the first replica of a MariaDB (spec/slurm-accounting.md 3.2)."""
    return f"storage-{server}-0"


def claim_of_slurmctld(cluster: str) -> str:
    """That of the first slurmctld of a Slurm, by the name of its chart's objects (spec/slurm-accounting.md 2.6)."""
    return f"statesave-{cluster}-controller-0"


def all_like(first: str) -> re.Pattern[str]:
    """The names of the claims of all replicas, by that of the first one."""
    return re.compile(rf"{re.escape(first.removesuffix('0'))}\d+")


def is_of_database(claim: str) -> bool:
    """Whether a claim is called like one of a MariaDB, by whatever name that goes."""
    return _OF_A_DATABASE.fullmatch(claim) is not None
