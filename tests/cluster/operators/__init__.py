# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for mariadb-operator 26.6.0, slurm-operator 1.2.1 and cert-manager: programs of pods (docs/testing.md).

They do what the real ones were seen to do, awkward things included; each behaviour names its place in
spec/operators.md. What a test may change about one, it sets in the environment of its pod (session.py).
"""
