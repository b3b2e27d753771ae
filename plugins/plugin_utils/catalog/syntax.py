# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a component's texts may look like: they become folders, releases, addresses and words of a script (CWE-22, -78).

The same for a catalog and for a recipe from anywhere. Whether they make sense together is for others to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..artifacts import codec
from ..artifacts.recipe import ComponentRef

COMPONENT_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,51}[a-z0-9])?")
"""A component's name is a folder and a Helm release."""

_UNPINNED = re.compile(r"[vV]?|latest|.*[*^~<>=|,].*|[vV]?(?:[0-9]+\.)*[xX](?:\.[0-9xX]+)*")
_LABEL = "lower-case letters, digits and hyphens"
_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_CHART = re.compile(rf"{_WORD}(?:/{_WORD})*")
_REPOSITORY = re.compile(
    r"(?:https?|oci)://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?:/[A-Za-z0-9._~/?:@+,=&%-]*)?"
)
_GIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~:/?@+,=&%-]*")
_PASSWORD = re.compile(r"[^/]*//[^/]*:[^/]*@")
_USER = re.compile(r"(?<=//)[^/@]*@")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
_TAG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/+-]*[A-Za-z0-9])?")
_STEP = r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*"
_FILE = re.compile(rf"{_STEP}(?:/{_STEP})*\.(?:yaml|yml|json|tpl)")
_FOLDER = re.compile(rf"\.|(?:\./)?{_STEP}(?:/{_STEP})*/?")

CRITERION = re.compile(_WORD)
"""A value of a criterion; it stands in the README of a bundle."""
CRITERION_FORM = "letters, digits and . _ -"

_NO_CONTENT = ("registry.yaml", "overlays/", "mixins/", "checks/", "validators/")


def is_pinned(version: str) -> bool:
    """Whether a version is of one release: Helm installs the newest that fits an empty one, a range or a wildcard."""
    return not _UNPINNED.fullmatch(version.strip())


@dataclass(frozen=True)
class Fault:
    """One text that cannot be what it stands for.

    :ivar path: its place within the component reference.
    :ivar what: the end of a sentence that begins with the component.
    """

    path: codec.Path
    what: str
    hint: str


def faults(ref: ComponentRef) -> Iterator[Fault]:
    """Every text of a reference that is not of its form; what is absent or empty is for others to miss."""
    if ref.name and not COMPONENT_NAME.fullmatch(ref.name):
        yield Fault(("name",), "has a name that can be no folder and no Helm release", _LABEL)
    if ref.namespace and not _NAMESPACE.fullmatch(ref.namespace):
        yield Fault(
            ("namespace",),
            f'has the namespace "{ref.namespace}", which is no name of a namespace',
            _LABEL,
        )
    if ref.chart and not _CHART.fullmatch(ref.chart):
        yield Fault(
            ("chart",),
            f'has the chart "{ref.chart}", which is no name of a chart',
            "letters, digits and . _ -, with / between parts",
        )
    if ref.source:
        yield from _source_faults(ref, ref.source)
    if ref.version and is_pinned(ref.version) and not _VERSION.fullmatch(ref.version):
        yield Fault(
            ("version",), f'has the version "{ref.version}", which is none', "letters, digits and . _ + -, no blanks"
        )
    if ref.tag and (not _TAG.fullmatch(ref.tag) or ".." in ref.tag):
        yield Fault(
            ("tag",), f'has the tag "{ref.tag}", which is no name of a tag', "letters, digits and . _ / + -, no blanks"
        )
    if ref.path and (not _FOLDER.fullmatch(ref.path) or ".." in ref.path.split("/")):
        yield Fault(
            ("path",),
            f'has the path "{ref.path}", which is no folder within a repository',
            "a relative path without ..",
        )
    if ref.values_file:
        yield from _file_faults(("valuesFile",), ref.values_file)
    yield from _files_faults("manifestFiles", ref.manifest_files)
    yield from _files_faults("preManifestFiles", ref.pre_manifest_files)


def _source_faults(ref: ComponentRef, source: str) -> Iterator[Fault]:
    if _PASSWORD.match(source):
        yield Fault(("source",), "has a password in its source", "log in to the repository where Helm runs")
    elif not (_REPOSITORY if (ref.type or "").lower() == "helm" else _GIT).fullmatch(source):
        shown = _USER.sub("", source.partition("?")[0])
        yield Fault(("source",), f'has the source "{shown}", which is no address', "write https://… or oci://…")


def _files_faults(key: str, paths: Iterable[str] | None) -> Iterator[Fault]:
    for number, path in enumerate(paths or ()):
        yield from _file_faults((key, number), path)


def _file_faults(at: codec.Path, path: str) -> Iterator[Fault]:
    if not _FILE.fullmatch(path):
        yield Fault(
            at,
            f'has the {_called(at)} "{path}", which is no file of a catalog',
            "a path within the catalog, such as components/<name>/values.yaml",
        )
    elif path.startswith(_NO_CONTENT):
        yield Fault(
            at,
            f'has the {_called(at)} "{path}", which is a document of the catalog itself',
            "keep values and manifests of a component below components/",
        )


def _called(at: codec.Path) -> str:
    return "values file" if at[0] == "valuesFile" else "manifest"
