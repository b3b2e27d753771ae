# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Offline stand-in for get-pip.py: install the pip that ansible-test asks for from its wheel beside this file.

tools/sanity puts both into ansible-test's cache.
"""

from __future__ import annotations

import sys
from pathlib import Path

WHEEL = next(Path("~/.ansible/test/cache").expanduser().glob("pip-*.whl"))
PINNED = f"pip=={WHEEL.name.split('-')[1]}"

if __name__ == "__main__":
    sys.path.insert(0, str(WHEEL))
    from pip._internal.cli.main import main

    wanted = [arg for arg in sys.argv[1:] if arg not in ("--no-setuptools", "--no-wheel")]
    sys.exit(main(["install", *(str(WHEEL) if arg == PINNED else arg for arg in wanted)]))
