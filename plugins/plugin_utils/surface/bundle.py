# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..artifacts.config import BundleInput, BundleOutput, BundleSection, ConfigScheduling, Deployment
from ..bundle import BundleRequest, make_bundle, refuse_destination, write_bundle
from ..errors import invalid
from .catalogs import catalog as catalog_of
from .given import given_recipe
from .options import BUNDLE, Options
from .outcome import Directory, Outcome
from .request import Field, place, read_config, request, unsupported, word
from .source import refuse_remote

_SCHEDULING = tuple(BUNDLE["scheduling"]["options"])


def make(options: Options) -> Outcome:
    """Turn a recipe into a bundle, in memory; nothing is written before every gate has passed.

    :raises AicrError: what is wrong with the options, the files they name, the recipe, an override, or the destination.
    """
    values = _request(options)
