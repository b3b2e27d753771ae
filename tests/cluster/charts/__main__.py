# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the charts into a folder, for use by hand."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import charts_folder

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path)
print(charts_folder(parser.parse_args().folder))
