# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Criteria, snapshot, profile and accounting mode to a recipe: one way for actions, lookups and configuration files."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..artifacts.config import ConfigCriteria, RecipeSection
from ..artifacts.recipe import AXES
from ..artifacts.versions import RELEASE
from ..catalog import Catalog
from ..catalog.criteria import normalize, parse
from ..errors import invalid
from ..ownership import parse_mode
from ..resolution import Resolution, resolve
from .catalogs import catalog as catalog_of
from .options import Options, Spec
from .request import Field, Request, place, read_config, request, word
from .source import read_snapshot


@dataclass(frozen=True)
class Selected:
    """A resolved selection.

    :ivar values: the request: all options, those of a configuration file among them.
    """

    values: Mapping[str, Any]
    catalog: Catalog
    resolution: Resolution
    warnings: tuple[str, ...]
    incomplete: tuple[str, ...]


def select(options: Options, spec: Spec) -> Selected:
    """Resolve what a recipe or a query selects.

    :raises AicrError: what is wrong with the options, the files they name, the catalog, or the selection.
    """
    values = read_request(options, spec)
    catalog = catalog_of(values["catalog"])
    written = {name: value for name, value in (values["criteria"] or {}).items() if value is not None}
    snapshot, notes = (None, []) if values["snapshot"] is None else read_snapshot(values["snapshot"], options)
    mode = values["slurm_accounting_mode"]
    resolution = resolve(
        catalog,
        parse(written, catalog, values["criteria_strict"]),
        accounting_mode=None if mode is None else parse_mode(mode),
        snapshot=snapshot,
        stated=written.keys(),
        profile=values["profile"],
        tool_version=RELEASE,
    )
    return Selected(
        values=values,
        catalog=catalog,
        resolution=resolution,
        warnings=(*values.overruled, *notes, *resolution.warnings),
        incomplete=(snapshot.incomplete or ()) if snapshot else (),
    )


def read_request(options: Options, spec: Spec) -> Request:
    """The options of a selection, those of a configuration file among them; see :func:`request.request`."""
    config = read_config(options)
    section = (config.spec.recipe if config else None) or RecipeSection()
    criteria = section.criteria or ConfigCriteria()
    if section.input and section.input.snapshot and criteria.says_something():
        raise invalid(
            f"{options['config']}: spec.recipe.criteria and spec.recipe.input.snapshot exclude each other in one file",
            "keep one of them there, and give the other as option",
        )
    slurm = section.configuration.slurm if section.configuration else None
    fields = {
        f"criteria.{axis}": Field(
            f"spec.recipe.criteria.{axis}", getattr(criteria, axis) or None, functools.partial(normalize, axis)
        )
        for axis in AXES
    }
    fields["criteria.nodes"] = Field("spec.recipe.criteria.nodes", criteria.nodes or None)
    fields["profile"] = Field("spec.recipe.profile", section.profile or None)
    fields["slurm_accounting_mode"] = Field(
        "spec.recipe.configuration.slurm.accounting.mode",
        slurm.accounting.mode if slurm and slurm.accounting else None,
        word,
    )
    fields["snapshot"] = Field("spec.recipe.input.snapshot", (section.input and section.input.snapshot) or None, place)
    fields["criteria_strict"] = Field("spec.recipe.criteriaStrict", section.criteria_strict)
    fields["catalog"] = Field("spec.recipe.data", section.data or None, place)
    fields["dest"] = Field("spec.recipe.output.path", (section.output and section.output.path) or None, place)
    fields["format"] = Field("spec.recipe.output.format", (section.output and section.output.format) or None, word)
    return request(options, spec, {name: field for name, field in fields.items() if _head(name) in spec})


def _head(name: str) -> str:
    return name.partition(".")[0]
