# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An artifact in the other track's spelling: alpha, which this release writes, or stable (spec/surface.md 2.0)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..artifacts import codec, versions
from ..artifacts.config import config_from_document
from ..artifacts.recipe import recipe_from_document
from ..artifacts.snapshot import snapshot_from_document
from ..catalog import overlay_from_document
from ..catalog.overlay import decode_mixin
from ..catalog.registry import decode_registry
from ..errors import invalid, raise_all
from .destination import destination
from .options import Options
from .outcome import Document, Outcome, as_format
from .source import Source, read


def convert(options: Options) -> Outcome:
    """Spell the version of an artifact as the other track does, and change nothing else.

    What is converted is read as the stages read it first, so that nothing comes out that they would refuse. The digest
    stays (:func:`artifacts.digest.digest`), and where there is nothing to convert the text does, too.

    :raises AicrError: INVALID_REQUEST for what is no artifact of a kind with two tracks, or not of its form.
    """
    source = read(options["source"], "source", options)
    document = source.document
    kind: Any = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(document, dict) or kind not in _DECODERS:
        shown = f'of kind "{kind}"' if isinstance(kind, str) else codec.type_name(document)
        raise invalid(
            f"{source.name}: is {shown}, which has no tracks", f"kinds with two tracks: {', '.join(sorted(_DECODERS))}"
        )
    warnings = _DECODERS[kind](document, source.name)
    converted = _on_track(document, options["track"], source.name)
    kept = _text_in(source, options["format"]) if converted == document else None
    product = Document(converted, kept or as_format(converted, options["format"], str))
    stored, dest = destination(product, options["dest"], options["format"], options)
    return Outcome(
        product=stored,
        dest=dest,
        digest=product.digest,
        summary={"kind": kind, "from": document.get("apiVersion"), "to": converted.get("apiVersion")},
        warnings=warnings,
        document=converted,
    )


def _on_track(document: dict[str, Any], track: str | None, name: str) -> dict[str, Any]:
    if track is None:
        return document
    present = document.get("apiVersion")
    if not present:
        raise invalid(f"{name}: has no apiVersion, so nobody knows what it is", "write it again with a release")
    return {**document, "apiVersion": versions.on_track(document["kind"], str(present), track)}


def _text_in(source: Source, form: str) -> str | None:
    """The text of a source that is in this format already."""
    text = (source.text or b"").decode("utf-8-sig")
    return text if text.lstrip().startswith("{") == (form == "json") else None


def _snapshot(document: object, source: str) -> list[str]:
    return snapshot_from_document(document, source)[1]


def _recipe(document: object, source: str) -> list[str]:
    return recipe_from_document(document, source)[1]


def _config(document: object, source: str) -> list[str]:
    config_from_document(document, source)
    return []


def _overlay(document: object, source: str) -> list[str]:
    overlay_from_document(document, source)
    return []


def _of_catalog(decode: Callable[[object, codec.Reading], object]) -> Callable[[object, str], list[str]]:
    def read_strictly(document: object, source: str) -> list[str]:
        reading = codec.Reading(source)
        decode(document, reading)
        raise_all(reading.problems)
        return []

    return read_strictly


_DECODERS: Mapping[Any, Callable[[object, str], list[str]]] = {
    versions.SNAPSHOT: _snapshot,
    versions.RECIPE: _recipe,
    versions.CONFIG: _config,
    versions.OVERLAY: _overlay,
    versions.MIXIN: _of_catalog(decode_mixin),
    versions.REGISTRY: _of_catalog(decode_registry),
}
