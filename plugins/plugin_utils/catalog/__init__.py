# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog: what recipes are made of, as data (spec/engine.md 1.4 and section 2)."""

from __future__ import annotations

from . import criteria
from .catalog import Catalog, embedded
from .merge import merge_overrides, merge_values
from .overlay import BASE, Mixin, Overlay, overlay_from_document
from .profile import Profile, ProfileComponent, ProfileValue
from .registry import (
    Component,
    ComponentValidation,
    ManifestRule,
    NodeClass,
    NodeScheduling,
    Registry,
    Severity,
)
from .validators import ValidatorEntry

__all__ = [
    "BASE",
    "Catalog",
    "Component",
    "ComponentValidation",
    "ManifestRule",
    "Mixin",
    "NodeClass",
    "NodeScheduling",
    "Overlay",
    "Profile",
    "ProfileComponent",
    "ProfileValue",
    "Registry",
    "Severity",
    "ValidatorEntry",
    "criteria",
    "embedded",
    "merge_overrides",
    "merge_values",
    "overlay_from_document",
]
