# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API of a cluster: who may ask, how answers come in, and what is read off it (spec/surface.md section 3).

Nothing is imported here: ``connection`` brings urllib3 with it, and a stage that works on files must not pay for that.
"""
